"""Keys and signatures: what they cover, how a change keeps them, and what no change launders."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltm.decisions import (
    Add,
    Adopt,
    Contradict,
    Copy,
    Forget,
    Merge,
    Reduce,
    Reinforce,
    Restore,
    Revise,
    Sign,
    Supersede,
)
from ltm.errors import Refused, StorageFailed
from ltm.kinds import Kinds
from ltm.model import Filter, Impact, Memory, Phase, Scope, Source, Status, as_record, new_id
from ltm.state.usage import State as Usage
from ltm.store.apply import state_of
from ltm.store.file_store import FileStore
from ltm.vault import codec, frontmatter, key_file, signing
from ltm.vault.fields import FIELDS
from ltm.vault.signing import Key, SignatureState
from ltm.vault.vault import Vault
from tests.project.repos import git, make_repo
from tests.stores import START, make
from tests.vault.strategies import memories

KEY = Key.of(bytes(range(32)))
OTHER = Key.of(bytes(32))
TEXT = "We retry three times.\n\nThe gateway drops 1 %.\n\nMeasured in March."


def open_store(folder: Path, key: Key | None = KEY) -> FileStore:
    vault = Vault("private", str(folder / "project"))
    agent = Vault("agent", str(folder / "agent"))
    homes = {Scope.PROJECT: vault, Scope.AGENT: agent}
    state = Usage(str(folder / "state.db"))
    return FileStore((vault, agent), homes, state, Kinds(), project="p", key=key)


@pytest.fixture
def store(tmp_path: Path) -> FileStore:
    return open_store(tmp_path)


def states(store: FileStore, key: Key = KEY) -> dict[str, SignatureState]:
    everything = store.every(Filter(statuses=tuple(Status)))
    return {each.memory.id: state_of(key, each, store) for each in everything}


def all_ok(store: FileStore) -> bool:
    found = states(store)
    return bool(found) and set(found.values()) == {SignatureState.OK}


def tamper(store: FileStore, memory: Memory, old: str = "three", new: str = "nine") -> None:
    """Change the file of a memory behind the store's back."""
    path = Path(store.read(memory.id).path)
    changed = path.read_text().replace(old, new)
    assert changed != path.read_text()
    path.write_text(changed)


def archives(store: FileStore) -> list[Path]:
    return sorted(Path(store.vaults[0].archives).glob("*.md"))


# -- what is covered ---------------------------------------------------------------------------


def test_every_field_of_a_memory_is_covered_under_the_name_it_has_in_the_file() -> None:
    """Traps 2.3 #8: impact and superseded_by were signed by nothing."""
    record = as_record(make())
    names = record.keys() - {"source"} | record["source"].keys()
    assert names == {field.key for field in FIELDS} | {"summary", "content"}
    assert {*Memory._fields} == record.keys()


@given(memories)
def test_a_signed_memory_fits_after_any_way_through_a_file(memory: Memory) -> None:
    signed = KEY.signed(memory, memory)
    kinds = Kinds()
    written = codec.to_bytes(memory)
    for base in (None, written, written.replace(b"\n", b"\r\n")):
        document = None if base is None else frontmatter.parse(base, "x.md")
        data = codec.to_bytes(signed, document, kinds)
        found = codec.decode(frontmatter.parse(data, "x.md"), "x.md", kinds)
        assert KEY.state(found, found) is SignatureState.OK


@given(memories, st.data())
def test_no_other_value_of_any_field_fits(memory: Memory, data: st.DataObject) -> None:
    signed = KEY.signed(memory, memory)
    other = data.draw(memories)
    name = data.draw(st.sampled_from(Memory._fields))
    changed = signed._replace(**{name: getattr(other, name)})
    if getattr(changed, name) != getattr(signed, name):
        assert KEY.state(changed, changed) is not SignatureState.OK


def test_what_stands_in_one_field_cannot_be_moved_into_the_next() -> None:
    """Traps 2.3 #8: fields joined with a bar could be cut elsewhere."""
    one = KEY.signed(make(title="a|b", summary="c"), None)
    assert not KEY.fits(one._replace(title="a", summary="b|c"))
    cut = [signing.canonical("x", each) for each in ({"a": "b", "c": ""}, {"a": "", "c": "b"})]
    assert cut[0] != cut[1]
    assert signing.canonical("x", {}) != signing.canonical("y", {})


def test_a_moment_is_the_same_in_every_time_zone() -> None:
    """Traps 2.3 #8: naive and aware times were written differently."""
    signed = KEY.signed(make(), make())
    east = timezone(timedelta(hours=9))
    moved = signed._replace(
        created=signed.created.astimezone(east),
        updated=signed.updated.replace(microsecond=7),
        difficulty=int(signed.difficulty),
    )
    assert KEY.fits(moved)
    assert b"2026-01-01T00:00:00Z" in signing.canonical("x", as_record(moved))


def test_a_memory_of_another_key_is_unsigned_and_a_forged_one_changed() -> None:
    memory = make()
    assert KEY.state(memory) is SignatureState.UNSIGNED
    assert KEY.state(OTHER.signed(memory, memory), memory) is SignatureState.UNSIGNED
    signed = KEY.signed(memory, memory)
    assert KEY.state(signed, memory) is SignatureState.OK
    assert KEY.state(signed._replace(title="Other"), memory) is SignatureState.CHANGED
    for gone in ("signature", "shown_signature"):
        assert KEY.state(signed._replace(**{gone: ""}), memory) is SignatureState.CHANGED  # type: ignore[arg-type]


def test_the_id_of_a_key_gives_nothing_away() -> None:
    assert KEY.id != OTHER.id
    assert KEY.id not in KEY.secret.hex()
    assert KEY.secret.hex()[:8] not in repr(KEY)


# -- the key -----------------------------------------------------------------------------------


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_only_its_owner_can_read_a_key(tmp_path: Path, umask: int) -> None:
    """Traps 2.3 #7: keys lay in plain text in agents' files and in the database."""
    before = os.umask(umask)
    try:
        key = signing.make(str(tmp_path / "home"))
    finally:
        os.umask(before)
    path = Path(key_file.path_in(str(tmp_path / "home")))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert key_file.load(str(tmp_path / "home")) == key
    assert sorted(each.name for each in path.parent.iterdir()) == [".gitignore", "signing.key"]


def test_a_key_is_never_overwritten(tmp_path: Path) -> None:
    key = signing.make(str(tmp_path))
    with pytest.raises(Refused, match="already") as refused:
        signing.make(str(tmp_path))
    assert "ltm sign --all" in refused.value.hint
    assert key_file.load(str(tmp_path)) == key


def test_of_many_who_make_a_key_at_once_one_does(tmp_path: Path) -> None:
    program = f"from ltm.vault import signing; print(signing.make({str(tmp_path)!r}).id)"
    running = [
        subprocess.Popen(
            [sys.executable, "-c", program],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        for _ in range(6)
    ]
    said = [process.communicate()[0].strip() for process in running]
    key = key_file.load(str(tmp_path))
    assert key is not None
    assert [each for each in said if each] == [key.id]


def test_where_the_disk_refuses_no_key_and_no_half_of_one_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(errno.EPERM, "no links on this disk")

    monkeypatch.setattr(os, "link", refuse)
    with pytest.raises(StorageFailed, match="could not write the key") as caught:
        signing.make(str(tmp_path))
    assert caught.value.path == key_file.path_in(str(tmp_path))
    assert os.listdir(tmp_path) == [".gitignore"]


def test_a_key_is_not_made_where_git_would_commit_it(tmp_path: Path) -> None:
    repo = make_repo(tmp_path / "app")
    home = repo / "own" / "ltm"
    with pytest.raises(Refused, match="repository"):
        signing.make(str(home))
    assert not home.exists()
    (repo / ".gitignore").write_text("/own/\n")
    signing.make(str(home))
    git(repo, "add", "-A")
    assert "signing.key" not in git(repo, "ls-files")


def test_a_folder_that_is_put_under_git_later_leaves_the_key_out(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / ".gitignore").write_text("*.db")
    signing.make(str(home))
    git(home, "init", "-q")
    git(home, "add", "-A")
    assert git(home, "ls-files").split() == [".gitignore"]
    assert (home / ".gitignore").read_text() == "*.db\n/signing.key*\n"


@pytest.mark.parametrize("content", [b"", b"hello\n", b"00" * 31, b"\xff\xfe", b"00" * 4096])
def test_what_is_not_a_key_vouches_for_nothing(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "signing.key").write_bytes(content)
    key = key_file.load(str(tmp_path))
    assert key is not None
    memory = make()
    assert key.signed(memory, memory) == memory
    assert key.state(memory, memory) is SignatureState.UNSIGNED
    assert not key.fits(memory._replace(shown_signature="."))


def test_a_home_without_a_key_has_none(tmp_path: Path) -> None:
    assert key_file.load(str(tmp_path)) is None
    assert key_file.load(str(tmp_path / "nowhere")) is None


# -- every change signs ------------------------------------------------------------------------

Change = Callable[[FileStore, Memory], object]


def _merge(store: FileStore, memory: Memory) -> None:
    other = store.create(make("We back off", "Another.", kind="decision"))
    store.apply(Merge(memory.id, (other.memory.id,), content="Both.\n\nTogether."))


def _restore_older(store: FileStore, memory: Memory) -> None:
    store.apply(Revise(memory.id, {"content": "Newer."}))
    store.apply(Restore(memory.id, version=1))


def _fade_and_return(store: FileStore, memory: Memory) -> None:
    for phase in (Phase.HINT, Phase.ABSTRACT, Phase.ARCHIVED, Phase.FULL):
        store.apply(Reduce(memory.id, phase))


def _edit_while_short(store: FileStore, memory: Memory) -> None:
    store.apply(Reduce(memory.id, Phase.HINT))
    store.apply(Revise(memory.id, {"impact": Impact.HIGH, "tags": ("x",)}))


def _forget_while_short(store: FileStore, memory: Memory) -> None:
    store.apply(Reduce(memory.id, Phase.ABSTRACT))
    store.apply(Forget(memory.id))


def _forget_and_restore(store: FileStore, memory: Memory) -> None:
    _forget_while_short(store, memory)
    assert len(store.apply(Restore(memory.id)).stored.memory.content) >= len(TEXT) - 1


CHANGES: dict[str, Change] = {
    "add": lambda store, memory: None,
    "revise a text": lambda store, memory: store.apply(Revise(memory.id, {"content": "New."})),
    "revise a mark": lambda store, memory: store.apply(Revise(memory.id, {"pinned": True})),
    "reinforce": lambda store, memory: store.apply(Reinforce(memory.id, Source())),
    "supersede": lambda store, memory: store.apply(Supersede((memory.id,), make("Newer"))),
    "contradict": lambda store, memory: store.apply(Contradict((memory.id,), make("Not so"))),
    "merge": _merge,
    "forget": lambda store, memory: store.apply(Forget(memory.id)),
    "reduce": lambda store, memory: store.apply(Reduce(memory.id, Phase.HINT)),
    "fade and return": _fade_and_return,
    "edit while short": _edit_while_short,
    "forget while short": _forget_while_short,
    "forget and restore": _forget_and_restore,
    "restore an older version": _restore_older,
}


def remembered(store: FileStore) -> Memory:
    return store.create(make("Retries back off", TEXT, kind="decision")).memory


@pytest.mark.parametrize("name", CHANGES)
def test_whatever_happens_to_a_memory_it_is_signed(store: FileStore, name: str) -> None:
    """Traps 2.3 #8: rows written by forget, achievements and import were unsigned."""
    CHANGES[name](store, remembered(store))
    assert all_ok(store)


@pytest.mark.parametrize("name", CHANGES)
def test_without_a_key_nothing_is_signed(tmp_path: Path, name: str) -> None:
    store = open_store(tmp_path, None)
    CHANGES[name](store, remembered(store))
    everything = store.every(Filter(statuses=tuple(Status)))
    assert {(each.memory.signature, each.memory.shown_signature) for each in everything} == {
        ("", "")
    }


def test_a_shorter_phase_keeps_the_first_signature_and_makes_the_second_again(
    store: FileStore,
) -> None:
    memory = remembered(store)
    after = store.apply(Reduce(memory.id, Phase.HINT)).stored.memory
    assert after.signature == memory.signature
    assert after.shown_signature != memory.shown_signature


def test_what_is_imported_is_signed_unless_it_says_it_was(store: FileStore) -> None:
    mine = KEY.signed(make("Mine"), make("Mine"))
    theirs = OTHER.signed(make("Theirs"), make("Theirs"))
    forged = KEY.signed(make("Forged"), make("Forged"))._replace(title="Forged indeed")
    old = make("Short", "First.", phase=Phase.HINT)
    whole = old._replace(content="First.\n\nSecond.", phase=Phase.FULL)
    store.apply(Adopt((Copy(mine), Copy(theirs), Copy(forged), Copy(old, (whole,)))))
    assert store.read(mine.id).memory == mine
    assert states(store) == {
        mine.id: SignatureState.OK,
        theirs.id: SignatureState.OK,
        forged.id: SignatureState.CHANGED,
        old.id: SignatureState.OK,
    }


def test_a_memory_is_signed_as_it_is(tmp_path: Path) -> None:
    bare = open_store(tmp_path, None)
    memory = remembered(bare)
    bare.apply(Reduce(memory.id, Phase.ABSTRACT))
    other = bare.create(make("Gone")).memory
    bare.apply(Forget(other.id))
    bare.close()
    store = open_store(tmp_path)
    assert set(states(store).values()) == {SignatureState.UNSIGNED}
    for each in (memory, other):
        before = store.read(each.id).memory
        after = store.apply(Sign(each.id)).stored.memory
        assert after._replace(signature="", shown_signature="") == before
    assert all_ok(store)
    once = Path(store.read(memory.id).path).read_bytes()
    store.apply(Sign(memory.id))
    assert Path(store.read(memory.id).path).read_bytes() == once


def test_without_a_key_there_is_nothing_to_sign_with(tmp_path: Path) -> None:
    store = open_store(tmp_path, None)
    memory = remembered(store)
    with pytest.raises(Refused) as refused:
        store.apply(Sign(memory.id))
    assert "ltm keygen" in refused.value.hint


# -- no change launders ------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in CHANGES if name != "add"])
def test_no_change_through_the_store_hides_one_outside(store: FileStore, name: str) -> None:
    memory = remembered(store)
    tamper(store, memory)
    assert states(store)[memory.id] is SignatureState.CHANGED
    CHANGES[name](store, memory)
    assert states(store)[memory.id] is SignatureState.CHANGED
    store.apply(Sign(memory.id))
    assert states(store)[memory.id] is SignatureState.OK


def test_a_memory_that_takes_in_a_forged_one_is_not_signed(store: FileStore) -> None:
    memory = remembered(store)
    forged = store.create(make("Also three retries", "three", kind="decision")).memory
    tamper(store, forged)
    store.apply(Merge(memory.id, (forged.id,), content="nine retries"))
    assert states(store)[memory.id] is SignatureState.CHANGED


def test_an_original_that_was_changed_in_the_archive_is_seen(store: FileStore) -> None:
    memory = remembered(store)
    store.apply(Reduce(memory.id, Phase.HINT))
    (path,) = archives(store)
    path.write_text(path.read_text().replace("March", "April"))
    assert states(store)[memory.id] is SignatureState.CHANGED
    for decision in (Reduce(memory.id, Phase.FULL), Restore(memory.id)):
        after = store.apply(decision).stored.memory
        assert "April" in after.content
        assert states(store)[memory.id] is SignatureState.CHANGED


def test_an_original_that_was_deleted_from_the_archive_is_missed(store: FileStore) -> None:
    memory = remembered(store)
    store.apply(Reduce(memory.id, Phase.HINT))
    for path in archives(store):
        path.unlink()
    assert states(store)[memory.id] is SignatureState.CHANGED
    store.apply(Forget(memory.id))
    assert states(store)[memory.id] is SignatureState.CHANGED


def test_an_older_version_that_was_forged_is_not_signed_when_it_comes_back(
    store: FileStore,
) -> None:
    memory = remembered(store)
    store.apply(Revise(memory.id, {"content": "Newer."}))
    (path,) = archives(store)
    path.write_text(path.read_text().replace("three", "nine"))
    assert all_ok(store)  # nothing that is in force rests on it
    store.apply(Restore(memory.id, version=1))
    assert states(store)[memory.id] is SignatureState.CHANGED


def test_a_memory_whose_tampering_is_undone_fits_again(store: FileStore) -> None:
    memory = remembered(store)
    tamper(store, memory)
    tamper(store, memory, "nine", "three")
    assert all_ok(store)


def test_a_copy_of_another_memory_is_not_brought_back_in_its_name(store: FileStore) -> None:
    memory, other = remembered(store), store.create(make("Other", "Evil.")).memory
    store.apply(Revise(memory.id, {"content": "Newer."}))
    (path,) = archives(store)
    path.write_bytes(Path(store.read(other.id).path).read_bytes())
    store.apply(Restore(memory.id, version=1))
    assert states(store)[memory.id] is SignatureState.CHANGED


# -- merging -----------------------------------------------------------------------------------


@pytest.mark.parametrize("tampered", [False, True])
def test_git_merges_what_one_key_signed_on_two_machines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tampered: bool
) -> None:
    home = tmp_path / "home"
    monkeypatch.setenv("LTM_HOME", str(home))
    key = signing.make(str(home))
    base = KEY_memory(key)
    kinds = Kinds()
    ours = key.signed(base._replace(tags=("a",), updated=later(1)), base)
    theirs = key.signed(base._replace(observations=4, updated=later(2)), base)
    if tampered:
        theirs = theirs._replace(reason="because I say so")
    files = []
    for name, memory in (("base", base), ("ours", ours), ("theirs", theirs)):
        path = tmp_path / name
        path.write_bytes(codec.to_bytes(memory))
        files.append(str(path))
    done = subprocess.run(
        [sys.executable, "-m", "ltm.vault.merge", *files, f".claude/ltm/memories/x.{base.id}.md"],
        check=False,
    )
    assert done.returncode == 0
    merged = codec.decode(frontmatter.parse((tmp_path / "ours").read_bytes(), "x"), "x", kinds)
    assert (merged.tags, merged.observations) == (("a",), 4)
    assert key.state(merged, merged) is (SignatureState.CHANGED if tampered else SignatureState.OK)


def KEY_memory(key: Key) -> Memory:
    memory = make("Retries back off", TEXT, id=new_id(START))
    return key.signed(memory, memory)


def later(days: int) -> datetime:
    return datetime(2026, 1, 1 + days, tzinfo=UTC)


# -- being no burden ---------------------------------------------------------------------------


def test_a_store_without_a_key_loads_no_cryptography(tmp_path: Path) -> None:
    program = (
        "import sys; from ltm.vault import key_file; key = key_file.load(sys.argv[1]);"
        "sys.exit('hmac' in sys.modules or '_hashlib' in sys.modules or key is not None)"
    )
    subprocess.run([sys.executable, "-I", "-c", program, str(tmp_path)], check=True)


def test_adding_is_the_same_with_a_key_but_for_the_signatures(tmp_path: Path) -> None:
    memory = make("Retries back off", TEXT)
    plain = open_store(tmp_path / "one", None).apply(Add(memory)).stored.memory
    signed = open_store(tmp_path / "two").apply(Add(memory)).stored.memory
    assert signed._replace(signature="", shown_signature="") == plain


@pytest.mark.parametrize("text", ["One. Two. Three.", "# Head\n\nOne. Two."])
def test_a_file_without_sections_that_was_signed_with_its_first_sentence_fits(text: str) -> None:
    former = make("Head", text, summary="One.")
    signed = KEY.signed(former, former)
    found = signed._replace(summary="One. Two.")  # as it is read now
    assert KEY.state(found, found) is SignatureState.OK
    assert KEY.state(found._replace(summary="Two."), found) is SignatureState.CHANGED
    assert KEY.state(found._replace(content=f"{text} Four."), found) is SignatureState.CHANGED
