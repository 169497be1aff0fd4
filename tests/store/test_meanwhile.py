"""What others do to files while a store is at work: removed, damaged, refused, made just now."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ltm.config.config import parse_toml
from ltm.decisions import Purge, Restore, Revise
from ltm.errors import Conflict, NotFound, Refused
from ltm.model import Filter
from ltm.notes.stash import Stashes
from ltm.project import layout
from ltm.project.git import find, resolve_remote
from ltm.project.identity import identify, record
from ltm.spool.hook_log import RUNTIME_FILE, note_runtime, runtime
from ltm.state.model_log import ModelLog, Spent, spent_and_waiting
from ltm.store.apply import state_of
from ltm.store.file_store import FileStore
from ltm.store.trust import record_trust
from ltm.vault.merge import merge_lines
from ltm.vault.signing import Key, SignatureState
from tests.project.repos import git, make_repo
from tests.stores import file_store, make

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[FileStore]:
    opened = file_store(tmp_path)
    yield opened
    opened.close()


def test_a_memory_that_was_removed_at_this_moment_is_not_changed(store: FileStore) -> None:
    kept = store.create(make())
    with store.in_a_row():
        store.read(kept.memory.id)
        os.unlink(kept.path)
        with pytest.raises(Conflict, match="removed meanwhile"):
            store.apply(Revise(kept.memory.id, {"title": "Other"}))
        with pytest.raises(NotFound):  # the disk is asked again
            store.read(kept.memory.id)


def test_an_index_that_takes_no_note_loses_no_file(store: FileStore) -> None:
    store.list(Filter())
    first = store.create(make("First"))
    index = store._vaults.index(store.vaults[0])
    index._db.execute("PRAGMA query_only = ON")
    second = store.create(make("Second"))
    assert os.path.exists(second.path)
    assert {each.memory.title for each in store.list(Filter()).items} == {"First", "Second"}
    assert store.read(first.memory.id).memory.title == "First"


def test_what_is_kept_during_a_check_is_not_taken_for_damage(
    store: FileStore, tmp_path: Path
) -> None:
    store.create(make("First"))
    index = store._vaults.index(store.vaults[0])
    same = index.rows_name()  # an index that is made again gets another
    with closing(file_store(tmp_path)) as other:
        left = ["Third", "Second"]

        def meanwhile(statement: str) -> None:
            if statement.startswith(("SELECT count(*) FROM texts", "SELECT kind")) and left:
                other.create(make(left.pop()))

        other.list(Filter())
        index._db.set_trace_callback(meanwhile)
        store.check(at_once=True)
        index._db.set_trace_callback(None)
    assert not left
    assert index.rows_name() == same
    assert store.list(Filter()).total == 3


def test_a_purge_that_the_index_refuses_deletes_the_files_all_the_same(store: FileStore) -> None:
    kept = store.create(make("Purged words"))
    store.apply(Revise(kept.memory.id, {"content": "other"}))
    index = store._vaults.index(store.vaults[0])
    index._db.execute("DROP TABLE names")
    done = store.apply(Purge(kept.memory.id))
    assert (done.action, done.stored.memory.id) == ("purged", kept.memory.id)
    assert not os.path.exists(kept.path)
    assert os.listdir(store.vaults[0].archives) == []
    assert store.list(Filter()).total == 0


def test_a_version_that_was_never_kept_cannot_be_brought_back(store: FileStore) -> None:
    kept = store.create(make())
    with pytest.raises(NotFound, match="no kept version 7") as caught:
        store.apply(Restore(kept.memory.id, version=7))
    assert caught.value.hint == "kept versions: none"
    store.apply(Revise(kept.memory.id, {"content": "second"}))
    with pytest.raises(NotFound) as caught:
        store.apply(Restore(kept.memory.id, version=7))
    assert caught.value.hint == "kept versions: 1"
    assert store.apply(Restore(kept.memory.id, version=1)).stored.memory.content == (
        kept.memory.content
    )


def test_all_indexes_of_a_store_are_checked(store: FileStore) -> None:
    store.create(make("Kept", "word"))
    index = store._vaults.index(store.vaults[0])
    with closing(sqlite3.connect(index.path)) as db, db:
        db.execute("UPDATE texts SET data = replace(data, 'word', 'other')")
    store.check(at_once=True)
    assert store.list(Filter()).items[0].memory.content == "word"


def test_a_match_whose_row_is_damaged_is_read_from_its_file(store: FileStore) -> None:
    store.create(make("Kept", "word"))
    index = store._vaults.index(store.vaults[0])
    (candidate,) = index.search(["word"], Filter(), 5).candidates
    broken = candidate._replace(data="{")
    assert index.stored(broken).memory.title == "Kept"
    with pytest.raises(ValueError, match=r"."):
        index.stored(broken._replace(file="gone.md"))


def test_a_signed_memory_whose_file_is_gone_is_judged_by_what_is_known(tmp_path: Path) -> None:
    key = Key.of(bytes(range(32)))
    with closing(file_store(tmp_path)) as store:
        kept = store.create(make())
        whole = key.signed(kept.memory, kept.memory)
        assert (
            state_of(key, kept._replace(memory=whole, path="/nowhere"), store) is SignatureState.OK
        )


def test_a_file_made_at_the_very_moment_of_stashing_is_not_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "root").mkdir()
    stashes = Stashes(str(tmp_path / "root"), str(tmp_path / "private"))
    stashes.put("first", "text")
    taken = Path(stashes.folder, "login.md")
    monkeypatch.setattr(stashes, "_note", lambda *_, **__: taken.write_text("theirs"))
    with pytest.raises(Refused, match="just now"):
        stashes.put("login", "ours")
    assert taken.read_text() == "theirs"


def test_a_spend_that_cannot_be_read_is_shown_as_none(tmp_path: Path) -> None:
    path = str(tmp_path / "state.db")
    log = ModelLog(path)
    log.reserve(NOON, 10, calls_cap=3, tokens_cap=100)
    log.close()
    assert spent_and_waiting(path, NOON)[0].calls == 1
    with closing(sqlite3.connect(path)) as db:
        db.execute("DROP TABLE spend")
    assert spent_and_waiting(path, NOON) == (Spent(), [])
    os.unlink(path)
    os.mkdir(path)
    assert spent_and_waiting(path, NOON) == (Spent(), [])


def test_a_note_that_cannot_be_written_stops_no_one(tmp_path: Path) -> None:
    os.mkdir(tmp_path / RUNTIME_FILE)
    note_runtime(str(tmp_path), "1.0")
    assert runtime(str(tmp_path)) == {}


def test_an_answer_about_trust_can_be_given_changed_and_taken_back(tmp_path: Path) -> None:
    private, shared = str(tmp_path / "private"), str(tmp_path / "repo" / ".claude" / "ltm")
    os.makedirs(shared)
    Path(shared, "index.db").write_text("planted")
    project = identify(str(tmp_path / "repo"), str(tmp_path / "home"))
    assert layout.trust_answer(private, project, shared) is None
    record_trust(private, project, shared, False)
    assert layout.trust_answer(private, project, shared) is False
    assert Path(shared, "index.db").exists(), "only who trusts it uses its place"
    os.makedirs(os.path.join(private, f"{layout.ASIDE}1"))
    record_trust(private, project, shared, True)
    assert layout.trust_answer(private, project, shared) is True
    assert not Path(shared, "index.db").exists(), "what was planted is not believed"
    assert not os.path.exists(os.path.join(private, f"{layout.ASIDE}1"))
    Path(shared, "index.db").write_text("ours by now")
    record_trust(private, project, shared, True)
    assert Path(shared, "index.db").exists()
    record_trust(private, project, shared, None)
    assert layout.trust_answer(private, project, shared) is None


@pytest.mark.parametrize(
    ("name", "line"), [("a", 1), ("b.c", 3), ("b.d.e", 4), ("b.x", 2), ("z", 0), ("f.g", 5)]
)
def test_the_line_that_sets_an_option_is_known_or_the_nearest_above(name: str, line: int) -> None:
    file = parse_toml("a = 1\n[ 'b' ]\nc = 2\nd = {e = 1}\n[f]\n", "x")
    assert file.line(name) == line


@pytest.mark.parametrize(
    ("base", "older", "newer", "merged"),
    [
        ("a", "a", "b", "b"),
        ("a", "b", "a", "b"),
        ("a", "b", "b", "b"),
        (None, "a", "a", "a"),
        ("1\n2\n3\n4", "0\n1\n2\n3\n4", "1\n2\n3\n4\n5", "0\n1\n2\n3\n4\n5"),
        ("1\n2\n3\n4", "2\n3\n4", "1\n2\n3\n4\n5", "2\n3\n4\n5"),
        (None, "a", "b", "a\nb"),
        ("", "a", "b", "a\nb"),
    ],
)
def test_lines_of_both_sides_are_kept_but_for_what_one_removed(
    base: str | None, older: str, newer: str, merged: str
) -> None:
    assert merge_lines(base, older, newer) == merged


@pytest.mark.usefixtures("user_home")
def test_a_remote_on_this_machine_is_found_with_and_without_its_ending(user_home: Path) -> None:
    git(user_home, "init", "-q", "--bare", "hub.git")
    hub = str(user_home / "hub")
    for number, address in enumerate((hub, f"{hub}/", f"{hub}.git", f"{hub}.git/", "../hub")):
        repo = find(str(make_repo(user_home / f"clone{number}", address)))
        assert repo is not None
        name, trail = resolve_remote(repo)
        assert name == f"file:{user_home / 'hub.git'}"
        assert len(trail) == 2
    for address, named in (("/nowhere/at/all", "file:/nowhere/at/all"), ("//host/share", "")):
        repo = find(str(make_repo(user_home / f"lost{len(address)}", address)))
        assert repo is not None
        assert resolve_remote(repo)[0].startswith(named or "file:")
        assert len(resolve_remote(repo)[1]) == 1


@pytest.mark.usefixtures("user_home")
def test_a_project_that_is_known_by_two_names_is_recorded_under_both_once(
    user_home: Path, tmp_path: Path
) -> None:
    home = str(tmp_path / "ltm")
    repo = make_repo(user_home / "app")
    first = identify(str(repo), home)
    record(first, home)
    git(repo, "remote", "add", "origin", "https://example.org/org/app.git")
    second = identify(str(repo), home)
    assert second.id == first.id
    record(second, home)
    clone = make_repo(user_home / "elsewhere", "https://example.org/org/app.git")
    assert identify(str(clone), home).id == first.id
