"""The index follows the files, whatever happens to either."""

from __future__ import annotations

import errno
import json
import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ltm.decisions import Reinforce
from ltm.errors import Conflict, NotFound
from ltm.files import sqlite
from ltm.files.atomic import failed
from ltm.index import index
from ltm.kinds import Kinds
from ltm.model import Filter, Memory, Scope, Status, Stored, as_record, new_id, now
from ltm.state.usage import State
from ltm.store.file_store import FileStore
from ltm.vault import codec
from ltm.vault.vault import Vault
from tests.stores import make

ALL = Filter(statuses=tuple(Status))


def open_store(folder: Path) -> FileStore:
    vault = Vault("private", str(folder))
    return FileStore(
        (vault,),
        {Scope.PROJECT: vault, Scope.AGENT: vault},
        State(str(folder.parent / "state.db")),
        Kinds(),
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "vault"


@pytest.fixture
def store(folder: Path) -> Iterator[FileStore]:
    opened = open_store(folder)
    yield opened
    opened.close()


def memory(title: str = "a title", content: str = "some content") -> Memory:
    at = now()
    return Memory(new_id(at), "fact", title, title, content, at, at, at)


def filled(store: FileStore) -> list[Stored]:
    """More memories than one look takes in, here with a budget of 20."""
    return [store.create(memory(f"title {n}", f"word{n}")) for n in range(25)]


def settled(store: FileStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same, read a quarter of an hour after the last write, as is every read that follows."""
    filled(store)
    clock = iter(range(time.time_ns() + 10**12, 10**20, 10**12))
    monkeypatch.setattr(time, "time_ns", lambda: next(clock))
    store.list(ALL)


def view(store: FileStore) -> str:
    """Everything a store shows, in a form that can be compared."""
    return json.dumps(
        {
            "memories": [
                (as_record(each.memory), each.path, each.etag) for each in store.list(ALL).items
            ],
            "problems": sorted((each.path, each.line, each.message) for each in store.problems()),
            "found": sorted(
                each.stored.memory.id for each in store.search("title content", ALL, 100).items
            ),
            "counts": sorted(store.counts()),
        }
    )


def test_an_edit_by_hand_is_seen_at_the_next_question(store: FileStore) -> None:
    path = store.create(memory(content="old words")).path
    text = Path(path).read_text()
    Path(path).write_text(text.replace("old words", "fresh vocabulary"))
    assert store.search("vocabulary", Filter(), 5).total == 1
    assert store.search("old", Filter(), 5).total == 0


def test_an_edit_of_the_same_size_at_the_same_moment_is_seen(store: FileStore) -> None:
    """A clock tick can hide a second edit: size and time alone are not proof."""
    path = Path(store.create(memory(content="aaaa")).path)
    for word in ("bbbb", "cccc", "dddd"):
        text = path.read_text()
        path.write_text(text.replace(text.split("## Content\n\n")[1].strip(), word))
        assert store.search(word, Filter(), 5).total == 1, word


def test_added_renamed_and_removed_files_are_seen(store: FileStore, folder: Path) -> None:
    one = Path(store.create(memory("one")).path)
    other = memory("two")
    (folder / "memories" / "by-hand.md").write_bytes(codec.to_bytes(other))
    assert store.list(Filter()).total == 2
    one.rename(one.with_name("renamed.md"))
    assert store.read(other.id).memory == other
    assert {Path(each.path).name for each in store.list(Filter()).items} == {
        "renamed.md",
        "by-hand.md",
    }
    (folder / "memories" / "renamed.md").unlink()
    assert store.list(Filter()).total == 1


def test_a_deleted_index_costs_nothing_but_time(store: FileStore, folder: Path) -> None:
    for n in range(5):
        store.create(memory(f"title {n}"))
    before = view(store)
    store.close()
    for path in folder.glob("index.db*"):
        path.unlink()
    fresh = open_store(folder)
    assert view(fresh) == before
    fresh.close()


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: b"not a database at all, but long enough to look like one" * 40,
        lambda data: data[: len(data) // 2],
        lambda data: data[:100] + bytes(len(data) - 100),
        lambda data: data[:20] + b"\xff" * 40 + data[60:],
        lambda data: data[:4096] + bytes(b ^ 0xA5 for b in data[4096:]),
    ],
)
def test_a_damaged_index_mends_itself(
    store: FileStore, folder: Path, damage: Callable[[bytes], bytes]
) -> None:
    for n in range(30):
        store.create(memory(f"title {n}", "content " * 50))
    before = view(store)
    store.close()
    with sqlite3.connect(folder / "index.db") as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()
    path = folder / "index.db"
    path.write_bytes(damage(path.read_bytes()))
    fresh = open_store(folder)
    assert view(fresh) == before
    fresh.close()


@pytest.mark.parametrize("table", ["words_data", "texts", "tags", "memories_newest"])
def test_damage_that_shows_only_to_a_question_is_mended_then(
    store: FileStore, folder: Path, table: str
) -> None:
    """A look at the files finds nothing wrong, and the answer would still have been an error."""
    for n in range(30):
        store.create(memory(f"title {n}", "content " * 50)._replace(tags=("some", f"tag{n}")))
    before = view(store)
    store.close()
    with sqlite3.connect(folder / "index.db") as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        size = db.execute("PRAGMA page_size").fetchone()[0]
        found = db.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)).fetchone()
    db.close()
    data = bytearray((folder / "index.db").read_bytes())
    start = (found[0] - 1) * size
    data[start : start + size] = b"\xa5" * size
    (folder / "index.db").write_bytes(data)
    fresh = open_store(folder)
    assert fresh.list(Filter(tags=("tag3",))).total == 1
    assert view(fresh) == before
    fresh.close()


def test_an_index_of_another_schema_is_made_again(store: FileStore, folder: Path) -> None:
    store.create(memory())
    before = view(store)
    store.close()
    with sqlite3.connect(folder / "index.db") as db:
        db.execute("PRAGMA user_version = 999")
    db.close()
    fresh = open_store(folder)
    assert view(fresh) == before
    fresh.close()


def test_a_bad_file_is_a_problem_and_hides_no_other(store: FileStore, folder: Path) -> None:
    good = store.create(memory()).memory
    bad = folder / "memories" / "bad.md"
    bad.write_bytes(b"---\nid: [unclosed\n---\n")
    assert [each.memory for each in store.list(Filter()).items] == [good]
    (problem,) = store.problems()
    assert problem.path == str(bad)
    assert problem.line > 0
    assert bad.read_bytes() == b"---\nid: [unclosed\n---\n"
    bad.write_bytes(codec.to_bytes(memory("mended")))
    assert store.problems() == []
    assert store.list(Filter()).total == 2


def test_links_folders_and_devices_are_problems_not_memories(
    store: FileStore, folder: Path, tmp_path: Path
) -> None:
    store.create(memory())
    secret = tmp_path / "secret.md"
    secret.write_bytes(codec.to_bytes(memory("secret outside")))
    inside = folder / "memories"
    (inside / "link.md").symlink_to(secret)
    (inside / "folder.md").mkdir()
    os.mkfifo(inside / "pipe.md")
    (inside / "giant.md").write_bytes(b"x" * (2 * 1024 * 1024))
    assert store.search("secret outside", ALL, 5).total == 0
    assert {Path(each.path).name for each in store.problems()} == {
        "link.md",
        "folder.md",
        "pipe.md",
        "giant.md",
    }


def test_two_files_with_one_id_are_told_and_the_first_name_holds_it(
    store: FileStore, folder: Path
) -> None:
    one = memory("the one")
    for name in ("b.md", "a.md", "c.md"):
        (folder / "memories").mkdir(parents=True, exist_ok=True)
        (folder / "memories" / name).write_bytes(codec.to_bytes(one))
        store.list(ALL)
    assert Path(store.read(one.id).path).name == "a.md"
    assert sorted(Path(each.path).name for each in store.problems()) == ["b.md", "c.md"]
    (folder / "memories" / "a.md").unlink()
    assert Path(store.read(one.id).path).name == "b.md"


def test_unfinished_writes_are_swept_away(store: FileStore, folder: Path) -> None:
    store.create(memory())
    leftover = folder / "memories" / ".x.md.0123456789ab.tmp"
    leftover.write_bytes(b"half")
    fresh = open_store(folder)
    fresh.list(Filter())
    fresh.close()
    assert not leftover.exists()


def test_a_vault_that_cannot_be_written_can_still_be_read(
    store: FileStore, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = store.create(memory()).memory
    store.close()
    monkeypatch.setattr(index, "connect", _as_on_a_read_only_disk)
    fresh = open_store(folder)
    assert fresh.read(kept.id).memory == kept
    fresh.close()


def _as_on_a_read_only_disk(path: str, schema: sqlite.Schema) -> sqlite3.Connection:
    return sqlite.copy(path, schema)


def test_nothing_is_created_by_looking(tmp_path: Path) -> None:
    store = open_store(tmp_path / "vault")
    assert store.list(ALL).total == 0
    assert store.search("x", ALL, 5).total == 0
    assert store.problems() == []
    store.close()
    assert list(tmp_path.iterdir()) == []


def test_a_purged_text_is_in_no_file(store: FileStore, folder: Path) -> None:
    """traps 2.1 #20: what was forgotten stayed in the archive, secrets and all."""
    kept = store.create(memory("kept", "harmless words")).memory
    gone = store.create(memory("gone", "zanzibarquux secret")).memory
    store.update(gone.id, {"content": "zanzibarquux other"})
    store.delete(gone.id)
    store.delete(gone.id, purge=True)
    found = [
        path
        for path in folder.rglob("*")
        if path.is_file() and b"zanzibarquux" in path.read_bytes()
    ]
    assert found == []
    assert store.read(kept.id).memory == kept


def test_an_index_that_others_have_open_is_rebuilt_under_their_feet(
    store: FileStore, folder: Path
) -> None:
    """SQLite deletes a log by its name: whoever has an older file open must not find another."""
    kept = [store.create(memory(f"title {n}")).memory for n in range(5)]
    other = open_store(folder)
    assert other.list(ALL).total == 5
    number = (folder / "index.db").stat().st_ino
    store.rebuild()
    assert (folder / "index.db").stat().st_ino == number
    before = view(store)
    assert view(other) == before
    other.create(memory("one more"))
    other.close()
    assert store.list(ALL).total == 6
    store.delete(kept[0].id, purge=True)
    fresh = open_store(folder)
    assert view(fresh) == view(store)
    fresh.close()


class Failing(Vault):
    """A vault on a disk that sometimes does not give a file out."""

    fails = False

    def read(self, name: str) -> bytes:
        if self.fails:
            raise failed(OSError(errno.EIO, "broken"), "read the file", self.path(name))
        return super().read(name)


def test_a_file_the_disk_does_not_give_out_is_tried_again(folder: Path) -> None:
    """A read error is not an empty file: what is known stays, and the next look asks again."""
    vault = Failing("private", str(folder))
    homes = {Scope.PROJECT: vault, Scope.AGENT: vault}
    store = FileStore((vault,), homes, State(str(folder.parent / "state.db")), Kinds())
    path = Path(store.create(memory(content="old words")).path)
    path.write_text(path.read_text().replace("old words", "new words"))
    vault.fails = True
    for _ in range(2):
        assert store.search("old", Filter(), 5).total == 1
        (problem,) = store.problems()
        assert "input/output error" in problem.message
    vault.fails = False
    assert store.search("new", Filter(), 5).total == 1
    assert store.search("old", Filter(), 5).total == 0
    assert store.problems() == []
    store.close()


class TestManyFiles:
    """Vaults too large to look at whole in every refresh."""

    @pytest.fixture(autouse=True)
    def small_budget(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(index, "STAT_BUDGET", 20)
        monkeypatch.setattr(index, "SLICE", 10)

    def test_new_replaced_and_removed_files_are_seen_at_once(
        self, store: FileStore, folder: Path
    ) -> None:
        made = filled(store)
        assert store.list(ALL).total == 25
        extra = memory("by hand", "handwritten")
        (folder / "memories" / "zz.md").write_bytes(codec.to_bytes(extra))
        assert store.search("handwritten", ALL, 5).total == 1
        replaced = folder / "memories" / "zz.tmp"
        replaced.write_bytes(codec.to_bytes(memory("by hand", "rewritten")))
        replaced.rename(folder / "memories" / "zz.md")
        assert store.search("rewritten", ALL, 5).total == 1
        Path(made[3].path).unlink()
        assert store.list(ALL).total == 25

    def test_a_vault_that_grew_by_our_own_writes_is_looked_at_in_slices_too(
        self, store: FileStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        filled(store)
        store.list(ALL)
        looked: list[int] = []
        look = Vault.is_as

        def is_as(vault: Vault, known: list[tuple[str, int, int]]) -> bool:
            looked.append(len(known))
            return look(vault, known)

        monkeypatch.setattr(Vault, "is_as", is_as)
        store.list(ALL)
        assert looked
        assert max(looked) <= 10

    def test_edits_in_place_are_seen_within_one_round(self, store: FileStore) -> None:
        made = filled(store)
        for _ in range(3):
            store.list(ALL)
        for each in (made[0], made[12], made[24]):
            path = Path(each.path)
            path.write_text(path.read_text().replace("word", "edited"))
        rounds = [store.search("edited0 edited12 edited24", ALL, 5).total for _ in range(4)]
        assert rounds[-1] == 3

    @pytest.mark.parametrize("edited", [0, 12, 24])
    def test_a_single_edit_in_place_is_seen_within_one_round(
        self, store: FileStore, edited: int
    ) -> None:
        made = filled(store)
        old = time.time() - 3600
        for each in made:
            os.utime(each.path, (old, old))
        for _ in range(3):
            store.list(ALL)
        path = Path(made[edited].path)
        path.write_text(path.read_text().replace("word", "edited"))
        rounds = [store.search(f"edited{edited}", ALL, 5).total for _ in range(3)]
        assert rounds[-1] == 1

    def test_each_process_goes_on_where_the_last_one_stopped(
        self, store: FileStore, folder: Path
    ) -> None:
        made = filled(store)
        store.list(ALL)
        path = Path(made[24].path)
        path.write_text(path.read_text().replace("word", "edited"))
        found = []
        for _ in range(3):
            other = open_store(folder)
            found.append(other.search("edited24", ALL, 5).total)
            other.close()
        assert found[-1] == 1

    def test_a_file_that_came_within_the_same_tick_is_seen(
        self, store: FileStore, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        hour = 3_600_000_000_000
        monkeypatch.setattr(index, "RACY_NS", hour)  # however long it takes, it is the same tick
        filled(store)
        store.list(ALL)
        stamp = store.vaults[0].stamp()
        (folder / "memories" / "late.md").write_bytes(codec.to_bytes(memory("late", "tardy")))
        monkeypatch.setattr(Vault, "stamp", lambda vault: stamp)
        later = time.time_ns() + 2 * hour
        monkeypatch.setattr(time, "time_ns", lambda: later)
        assert store.search("tardy", ALL, 5).total == 1

    def test_when_no_one_waits_more_files_are_looked_at(self, store: FileStore) -> None:
        made = filled(store)
        store.list(ALL)
        path = Path(made[24].path)
        path.write_text(path.read_text().replace("word", "edited"))
        store.check()
        assert store.search("edited24", ALL, 5).total == 1

    def test_processes_that_are_killed_leave_how_far_they_came(
        self, store: FileStore, folder: Path
    ) -> None:
        for n in range(105):
            store.create(memory(f"title {n}", "word"))
        store.close()
        path = sorted((folder / "memories").iterdir())[-1]
        path.write_text(path.read_text().replace("word", "edited"))
        killed = [open_store(folder) for _ in range(3)]
        found = [each.search("edited", ALL, 5).total for each in killed for _ in range(8)]
        assert found[-1] == 1
        for each in killed:
            each.close()

    def test_after_our_own_writes_the_folder_is_not_listed_and_other_files_still_show(
        self, store: FileStore, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        settled(store, monkeypatch)
        with monkeypatch.context() as context:
            context.setattr(Vault, "names", lambda vault: pytest.fail("the folder is listed"))
            for n in range(10):
                store.create(memory(f"ours {n}"))
                assert store.list(ALL).total == 26 + n
        for n in range(10):  # within the same tick of the disk's clock as our own file
            store.create(memory(f"again {n}"))
            (folder / "memories" / f"{n}.md").write_bytes(codec.to_bytes(memory(f"theirs {n}")))
            assert f"theirs {n}" in [each.memory.title for each in store.list(ALL).items]

    def test_a_file_that_came_before_the_seal_is_found_when_names_are_counted(
        self, store: FileStore, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        filled(store)
        store.list(ALL)
        seal = Vault.seal

        def late(vault: Vault) -> str:
            (folder / "memories" / "a.md").write_bytes(codec.to_bytes(memory("in between")))
            return seal(vault)

        monkeypatch.setattr(Vault, "seal", late)
        store.create(memory("ours"))
        store.check()
        assert store.search("in between", ALL, 5).total == 1

    def test_where_the_folder_cannot_be_sealed_names_are_counted(
        self, store: FileStore, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        settled(store, monkeypatch)
        monkeypatch.setattr(Vault, "seal", lambda vault: "")
        store.create(memory("ours"))
        stamp = store.vaults[0].stamp()
        (folder / "memories" / "late.md").write_bytes(codec.to_bytes(memory("late", "tardy")))
        monkeypatch.setattr(Vault, "stamp", lambda vault: stamp)
        assert store.search("tardy", ALL, 5).total == 1


_STEP = st.tuples(
    st.sampled_from(["create", "update", "forget", "restore", "hand", "break", "remove", "copy"]),
    st.integers(0, 5),
    st.sampled_from(["alpha", "beta content", "title gamma", "数据库"]),
)


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(steps=st.lists(_STEP, max_size=12))
def test_a_rebuilt_index_equals_the_one_kept_step_by_step(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, int, str]]
) -> None:
    folder = tmp_path_factory.mktemp("vault") / "vault"
    store = open_store(folder)
    for action, pick, text in steps:
        files = sorted((folder / "memories").glob("*.md")) if folder.exists() else []
        kept = [each.memory.id for each in store.list(ALL).items]
        match action:
            case "create":
                store.create(memory(text, text))
            case "update" if kept:
                store.update(kept[pick % len(kept)], {"content": text})
            case "forget" if kept:
                store.delete(kept[pick % len(kept)])
            case "restore" if kept:
                from ltm.decisions import Restore

                store.apply(Restore(kept[pick % len(kept)]))
            case "hand" if files:
                path = files[pick % len(files)]
                path.write_bytes(path.read_bytes() + text.encode())
            case "break" if files:
                files[pick % len(files)].write_bytes(b"\0")
            case "remove" if files:
                files[pick % len(files)].unlink()
            case "copy" if files:
                path = files[pick % len(files)]
                (path.parent / f"copy-{pick}.md").write_bytes(path.read_bytes())
    step_by_step = view(store)
    store.rebuild()
    assert view(store) == step_by_step
    store.close()


def test_a_note_written_by_hand_without_dates_is_as_old_as_its_file(
    store: FileStore, folder: Path
) -> None:
    (folder / "memories").mkdir(parents=True)
    path = folder / "memories" / "note.md"
    path.write_text("---\nid: mem_by_hand\nkind: fact\ntitle: By hand\n---\n\nJust a note.\n")
    os.utime(path, (1_700_000_000, 1_700_000_000))
    memory = store.read("mem_by_hand").memory
    assert memory.created.timestamp() == 1_700_000_000
    assert store.update("mem_by_hand", {"tags": ("x",)}).memory.content == "Just a note."


def test_in_a_row_of_changes_what_a_person_saves_is_neither_lost_nor_overlooked(
    folder: Path, store: FileStore
) -> None:
    saved, removed = (store.create(make(title)) for title in ("saved", "removed"))
    with store.in_a_row():
        assert store.list(Filter()).total == 2
        with open(saved.path, "a", encoding="utf-8") as file:
            file.write("A line by hand.\n")
        os.unlink(removed.path)
        for stored in (saved, removed):
            with pytest.raises((Conflict, NotFound)):
                store.apply(Reinforce(stored.memory.id, expected=stored.etag))
        # The change that failed makes the row look again.
        assert "A line by hand." in store.read(saved.memory.id).memory.content
        assert store.list(Filter()).total == 1
        store.apply(Reinforce(saved.memory.id))
    assert "A line by hand." in Path(saved.path).read_text(encoding="utf-8")


def test_a_row_of_questions_looks_at_the_files_once(
    store: FileStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.create(make("one"))
    looks: list[Vault] = []
    is_as = Vault.is_as

    def counted(vault: Vault, known: list[tuple[str, int, int]]) -> bool:
        looks.append(vault)
        return is_as(vault, known)

    monkeypatch.setattr(Vault, "is_as", counted)
    with store.in_a_row():
        for number in range(5):
            store.create(make(f"number {number}"))
            store.search("number", Filter(), 5)
    assert len(looks) == 1
    store.list(Filter())
    assert len(looks) == 2
