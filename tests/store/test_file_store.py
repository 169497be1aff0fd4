"""Vaults as one store: short ids, checked indexes, and vaults that are not trusted yet."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from ltm.decisions import Add
from ltm.errors import Ambiguous, NotFound
from ltm.kinds import Kinds
from ltm.model import Filter, Memory, Scope
from ltm.state.usage import State
from ltm.store.file_store import FileStore
from ltm.vault import codec
from ltm.vault.signing import Key
from ltm.vault.vault import Vault
from tests.stores import file_store, make

KEY = Key.of(bytes(range(32)))
ASKED = Filter(untrusted=True)

Open = Callable[[Key | None], FileStore]


@pytest.fixture
def reopen(tmp_path: Path) -> Iterator[Open]:
    """A store of a private vault and one that came along with a clone."""
    opened: list[FileStore] = []

    def open_(key: Key | None) -> FileStore:
        private = Vault("private", str(tmp_path / "private"))
        theirs = Vault("shared", str(tmp_path / "theirs"), aside=str(tmp_path / "aside"))
        homes = {Scope.PROJECT: private, Scope.AGENT: private}
        state = State(str(tmp_path / "state.db"))
        opened.append(FileStore((private, theirs), homes, state, Kinds(), key=key))
        return opened[-1]

    yield open_
    for store in opened:
        store.close()


def bring(folder: Path, *memories: Memory) -> None:
    """Files as they come with a clone."""
    (folder / "theirs" / "memories").mkdir(parents=True, exist_ok=True)
    for memory in memories:
        path = folder / "theirs" / "memories" / codec.file_name(memory)
        path.write_bytes(codec.to_bytes(memory))


def titles(store: FileStore, wanted: Filter) -> list[str]:
    listed = sorted(each.memory.title for each in store.list(wanted).items)
    walked = sorted(each.memory.title for each in store.every(wanted))
    found = sorted(each.stored.memory.title for each in store.search("words", wanted, 10).items)
    assert listed == walked == found
    assert store.list(wanted).total == store.search("words", wanted, 10).total == len(listed)
    return listed


@pytest.fixture
def three(tmp_path: Path, reopen: Open) -> None:
    """One memory of ours, one of theirs, one of theirs that our key signed on another machine."""
    reopen(None).create(make("Ours", "words of ours"))
    signed = make("Signed", "words we signed")
    bring(tmp_path, make("Theirs", "words of theirs"), KEY.signed(signed, signed))


@pytest.mark.usefixtures("three")
def test_without_a_key_theirs_are_there_for_who_asks_and_no_one_else(reopen: Open) -> None:
    assert titles(reopen(None), Filter()) == ["Ours"]
    assert titles(reopen(None), ASKED) == ["Ours", "Signed", "Theirs"]


@pytest.mark.usefixtures("three")
def test_what_our_key_vouches_for_is_as_good_as_ours(reopen: Open) -> None:
    store = reopen(KEY)
    assert titles(store, Filter()) == ["Ours", "Signed"]
    assert titles(store, ASKED) == ["Ours", "Signed", "Theirs"]
    trusted = {each.memory.title: each.trusted for each in store.list(ASKED).items}
    assert trusted == {"Ours": True, "Signed": True, "Theirs": False}
    found = store.search("words", ASKED, 10).items
    assert {each.stored.memory.title: each.stored.trusted for each in found} == trusted
    assert titles(reopen(Key.of(bytes(32))), Filter()) == ["Ours"], "another's key is not ours"


@pytest.mark.usefixtures("three")
def test_who_has_an_id_may_read_it_and_is_told(reopen: Open) -> None:
    store = reopen(KEY)
    listed = [each.memory for each in store.list(ASKED).items]
    told = {memory.title: store.read(memory.id).trusted for memory in listed}
    assert told == {"Ours": True, "Signed": True, "Theirs": False}


def test_no_id_of_theirs_gets_in_the_way_of_those_here(tmp_path: Path, reopen: Open) -> None:
    ours = reopen(None).create(make("Ours")).memory
    bring(tmp_path, make("Forged", id=ours.id))
    assert reopen(None).read(ours.id).memory.title == "Ours"
    assert reopen(None).read(ours.id[:12]).memory.title == "Ours"
    with pytest.raises(NotFound):
        reopen(None).read("mem_unknown")


@pytest.mark.usefixtures("three")
def test_pages_of_theirs_are_cut_like_any(reopen: Open) -> None:
    store = reopen(None)
    first, second = store.list(ASKED, 2), store.list(ASKED, 2, 2)
    assert (first.total, second.total) == (3, 3)
    seen = [each.memory.title for page in (first, second) for each in page.items]
    assert sorted(seen) == ["Ours", "Signed", "Theirs"]


@pytest.mark.usefixtures("three")
def test_nothing_made_here_is_kept_among_their_files(tmp_path: Path, reopen: Open) -> None:
    titles(reopen(KEY), ASKED)
    assert [each.name for each in (tmp_path / "theirs").iterdir()] == ["memories"]
    assert (tmp_path / "aside" / "index.db").exists()


def test_three_letters_of_an_id_are_enough_if_they_fit_one_memory(tmp_path: Path) -> None:
    store = file_store(tmp_path)
    for name in ("abc1234567", "abd1234567"):
        store.apply(Add(make(name, id=f"mem_{name}")))
    store.apply(Add(make("far", id="mem_xyz1234567", scope=Scope.AGENT)))
    assert store.read("mem_abc").memory.title == "abc1234567"
    assert store.read("abd").memory.title == "abd1234567"
    assert store.read("xyz").memory.title == "far"
    with pytest.raises(NotFound):
        store.read("xy")
    with pytest.raises(NotFound):
        store.read("abz")
    with pytest.raises(Ambiguous, match="'mem_ab' fits several") as caught:
        store.read("mem_ab")
    assert caught.value.hint == "type more of the id"
    store.close()


def test_a_whole_id_is_never_ambiguous_and_of_many_five_are_shown(tmp_path: Path) -> None:
    store = file_store(tmp_path)
    for end in ("", *"0123456789"):
        store.apply(Add(make(f"number {end}", id=f"mem_abcdef{end}")))
    assert store.read("mem_abcdef").memory.title.strip() == "number"
    with pytest.raises(Ambiguous) as caught:
        store.read("mem_abcde")
    assert str(caught.value).count("mem_abcdef") == 5
    store.close()


@pytest.mark.parametrize("folder", ["project", "agent"])
def test_the_index_of_every_vault_is_checked(tmp_path: Path, folder: str) -> None:
    store = file_store(tmp_path)
    store.apply(Add(make("near", "some words")))
    store.apply(Add(make("far", "some words", scope=Scope.AGENT)))
    store.close()
    path = tmp_path / folder / "index.db"
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("UPDATE texts SET data = replace(data, 'some words', 'other lies')")
    store = file_store(tmp_path)
    store.check(at_once=True)
    store.close()
    with closing(sqlite3.connect(path)) as db:
        (data,) = db.execute("SELECT data FROM texts").fetchone()
    assert "some words" in data
    assert "other lies" not in data
