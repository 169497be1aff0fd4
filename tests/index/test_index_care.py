"""Taking care of an index: checked once a day, rebuilt when it is wrong, done without at need."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from ltm.errors import Busy
from ltm.index import full_text, search
from ltm.index import index as index_
from ltm.index.index import Index
from ltm.kinds import Kinds
from ltm.model import Filter, Memory
from ltm.vault import codec
from ltm.vault.vault import Vault
from tests.stores import make


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    made = Vault("private", str(tmp_path / "vault"))
    made.prepare()
    return made


@pytest.fixture
def indexed(vault: Vault) -> Iterator[Index]:
    """An index of three memories."""
    for number in range(3):
        write(vault, make(f"Title {number}", f"word{number} and more"))
    opened = Index(vault, Kinds())
    opened.refresh()
    yield opened
    opened.close()


def write(vault: Vault, memory: Memory) -> None:
    """A file as another program puts it there."""
    Path(vault.path(f"{memory.title}.md")).write_bytes(codec.to_bytes(memory))


def titles(index: Index) -> list[str]:
    return sorted(stored.memory.title for stored in index.page(Filter(), -1, 0)[0])


ALL = ["Title 0", "Title 1", "Title 2"]


def change(index: Index, statement: str) -> None:
    """Change the index behind its back, as a bit that falls over does."""
    with closing(sqlite3.connect(index.path)) as db, db:
        db.execute(statement)


def marked(index: Index) -> str:
    """A second name for the file of an index, by which it is known: numbers are given again."""
    os.link(index.path, f"{index.path}.same")
    return f"{index.path}.same"


@contextmanager
def held(index: Index) -> Iterator[None]:
    """Another process writes to the index, and is not waited for."""
    index._db.execute("PRAGMA busy_timeout = 0")
    with closing(sqlite3.connect(index.path, isolation_level=None)) as db:
        db.execute("BEGIN IMMEDIATE")
        yield


DAMAGES = {
    "a letter of a text": "UPDATE texts SET data = replace(data, 'word1', 'word9')",
    "a column": "UPDATE memories SET kind = 'decision'",
    "a text": "DELETE FROM texts WHERE row = (SELECT max(row) FROM texts)",
    "a count": "UPDATE meta SET value = 7 WHERE name = 'memories'",
    "words": "DELETE FROM words_data WHERE id > 10",
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_what_no_question_would_show_is_found_by_looking_at_all_of_it(
    indexed: Index, damage: str
) -> None:
    change(indexed, DAMAGES[damage])
    indexed.check(at_once=True)
    assert titles(indexed) == ALL
    assert indexed.search(["word1"], Filter(), 5).total == 1
    assert {each.memory.kind for each in indexed.page(Filter(), -1, 0)[0]} == {"fact"}


@pytest.mark.parametrize("how", ["check", "rebuild"])
def test_a_page_that_is_none_any_more_is_found_too(indexed: Index, how: str) -> None:
    with closing(sqlite3.connect(indexed.path)) as db:
        size = db.execute("PRAGMA page_size").fetchone()[0]
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        (page,) = db.execute("SELECT rootpage FROM sqlite_master WHERE name = 'texts'").fetchone()
    with open(indexed.path, "r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\xa5" * size)
    before = marked(indexed)
    if how == "check":
        indexed.check(at_once=True)
    else:
        indexed.rebuild()
    assert not os.path.samefile(indexed.path, before)
    assert titles(indexed) == ALL


def test_made_again_it_knows_of_nothing_that_is_gone(indexed: Index, vault: Vault) -> None:
    os.unlink(vault.path("Title 1.md"))
    indexed.rebuild()
    assert titles(indexed) == ["Title 0", "Title 2"]
    with closing(sqlite3.connect(indexed.path)) as db:
        assert db.execute("SELECT count(*) FROM files").fetchone() == (2,)
    assert indexed.search(["word1"], Filter(), 5).total == 0


def test_it_is_looked_at_once_a_day(indexed: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    day = 1_800_000_000
    monkeypatch.setattr("ltm.index.index.time.time", lambda: day)
    indexed.check()
    change(indexed, DAMAGES["a letter of a text"])
    indexed.check()
    assert any("word9" in each.memory.content for each in indexed.page(Filter(), -1, 0)[0])
    monkeypatch.setattr("ltm.index.index.time.time", lambda: day + 86_400)
    indexed.check()
    assert not any("word9" in each.memory.content for each in indexed.page(Filter(), -1, 0)[0])


def test_a_sound_one_is_left_as_it_is(indexed: Index) -> None:
    before = marked(indexed)
    indexed.check(at_once=True)
    assert os.path.samefile(indexed.path, before)


def test_while_another_writes_nothing_is_checked_rebuilt_or_thrown_away(
    indexed: Index, vault: Vault
) -> None:
    write(vault, make("Title 3"))
    before = marked(indexed)
    with held(indexed):
        indexed.check(at_once=True)
        indexed.refresh()
        assert titles(indexed) == ALL  # what is known, at once
        with pytest.raises(Busy):
            indexed.rebuild()
    assert os.path.samefile(indexed.path, before)
    indexed.refresh()
    assert titles(indexed) == [*ALL, "Title 3"]


def test_an_index_that_is_wrong_is_not_replaced_while_a_vault_is_written(
    indexed: Index, vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_, "PATIENCE", 0.0)
    change(indexed, DAMAGES["a text"])
    with Vault("private", vault.folder).lock, pytest.raises(Busy):
        indexed.check(at_once=True)
    indexed.check(at_once=True)
    assert titles(indexed) == ALL


def test_an_index_that_was_never_filled_waits_for_the_writer_rather_than_say_nothing_is_there(
    vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_, "PATIENCE", 0.0)
    monkeypatch.setattr(index_, "_SHORT_WAIT", 0.0)
    write(vault, make("Title 0"))
    fresh = Index(vault, Kinds())
    other = Vault("private", vault.folder).lock
    with other, pytest.raises(Busy):
        fresh.refresh()
    fresh.refresh()
    assert titles(fresh) == ["Title 0"]
    write(vault, make("Title 1"))
    with other:
        fresh.refresh()  # the writer brings it up to date
        assert titles(fresh) == ["Title 0"]
    fresh.close()


def test_on_a_disk_that_takes_nothing_more_what_is_new_is_found_all_the_same(
    indexed: Index, vault: Vault
) -> None:
    write(vault, make("Title 3"))
    indexed._db.execute("PRAGMA query_only = ON")
    indexed.refresh()
    assert titles(indexed) == [*ALL, "Title 3"]
    with closing(Index(vault, Kinds())) as other:
        assert titles(other) == ALL, "the file is as it was"


def test_a_check_on_a_disk_that_takes_nothing_more_hurts_no_one(indexed: Index) -> None:
    indexed._db.execute("PRAGMA query_only = ON")
    indexed.check(at_once=True)
    assert titles(indexed) == ALL


def test_where_no_index_can_be_there_is_one_in_memory(vault: Vault) -> None:
    write(vault, make("Title 0"))
    os.mkdir(os.path.join(vault.local, "index.db"))
    with closing(Index(vault, Kinds())) as fresh:
        fresh.refresh()
        assert titles(fresh) == ["Title 0"]
        fresh._db.execute("DELETE FROM texts")
        fresh.check(at_once=True)
        assert titles(fresh) == ["Title 0"]


def test_where_no_lock_can_be_no_one_writes_and_no_one_is_waited_for(vault: Vault) -> None:
    write(vault, make("Title 0"))
    os.mkdir(vault.lock.path)
    with closing(Index(vault, Kinds())) as fresh:
        fresh.refresh()
        assert titles(fresh) == ["Title 0"]


def test_whether_files_came_or_went_shows_in_the_folder(indexed: Index, vault: Vault) -> None:
    assert indexed.is_current()
    write(vault, make("Title 3"))
    assert not indexed.is_current()
    indexed.refresh()
    assert indexed.is_current()


def test_a_large_vault_can_be_closed_while_another_writes(
    vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_, "STAT_BUDGET", 1)
    for number in range(3):
        write(vault, make(f"Title {number}"))
    fresh = Index(vault, Kinds())
    for _ in range(2):
        fresh.refresh()
    with held(fresh):
        fresh.close()
    with closing(Index(vault, Kinds())) as other:
        other.refresh()
        assert titles(other) == ALL


class TestSearchingMany:
    """Above so many postings, words that are too common bring nothing in by themselves."""

    @pytest.fixture
    def large(self, vault: Vault, monkeypatch: pytest.MonkeyPatch) -> Iterator[Index]:
        monkeypatch.setattr(full_text, "POSTINGS", 4)
        monkeypatch.setattr(search, "CANDIDATES", 2)
        for number in range(10):
            rare = "rare" if number < 2 else ""
            write(vault, make(f"Title {number}", f"common {rare} number{number}"))
        write(vault, make("Common ground", "something else"))
        opened = Index(vault, Kinds())
        opened.refresh()
        yield opened
        opened.close()

    def found(self, index: Index, *words: str, limit: int = 2) -> list[str]:
        found = index.search(words, Filter(), limit)
        return sorted(index.stored(each).memory.title for each in found.candidates)

    def test_rare_words_alone_find_what_has_them(self, large: Index) -> None:
        assert self.found(large, "rare") == ["Title 0", "Title 1"]
        assert self.found(large, "number7") == ["Title 7"]

    def test_common_words_rank_what_rare_ones_found(self, large: Index) -> None:
        assert self.found(large, "rare", "common", limit=10) == ["Title 0", "Title 1"]

    def test_common_words_alone_find_titles_first_and_then_the_newest(self, large: Index) -> None:
        found = self.found(large, "common", limit=10)
        assert found == ["Common ground", *(f"Title {number}" for number in range(5, 10))]
        assert self.found(large, "common", limit=2) == ["Common ground", "Title 9"]

    def test_what_no_one_said_is_not_found_and_its_rarity_known(self, large: Index) -> None:
        found = large.search(["nowhere", "rare"], Filter(), 5)
        assert (found.holders, found.memories) == ({"nowhere": 0, "rare": 2}, 11)
        assert self.found(large, "nowhere") == []

    def test_more_matches_than_are_shown_are_counted(self, indexed: Index) -> None:
        found = indexed.search(["more"], Filter(), 1)
        assert found.total == 3
