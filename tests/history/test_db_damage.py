"""What was said, when the file is busy, read-only or no longer what it was; folders and names."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from ltm.errors import StorageFailed
from ltm.history.db import Passages
from ltm.history.passage import Header
from tests.history.test_db import ONE, passage


@pytest.fixture
def passages(tmp_path: Path) -> Iterator[Passages]:
    opened = Passages(str(tmp_path / "project" / "sessions.db"))
    opened.add(ONE, [passage(1, "how do we retry?"), passage(2, "and then?")])
    yield opened
    opened.close()


def spoil(path: str) -> None:
    """Make the page of texts unreadable; opening the file does not show it."""
    with closing(sqlite3.connect(path)) as db:
        size = db.execute("PRAGMA page_size").fetchone()[0]
        root = db.execute("SELECT rootpage FROM sqlite_master WHERE name = 'texts'").fetchone()[0]
    data = bytearray(Path(path).read_bytes())
    data[(root - 1) * size : root * size] = b"\xa5" * size
    Path(path).write_bytes(data)


def test_who_only_looks_changes_nothing_and_is_told(passages: Passages) -> None:
    looking = Passages(passages.path, readonly=True)
    changes: tuple[Callable[[], int], ...] = (
        lambda: looking.add(ONE, [passage(3, "more")]),
        lambda: looking.purge([1]),
        lambda: looking.purge_session("one"),
        lambda: looking.prune(before="2027"),
    )
    for change in changes:
        with pytest.raises(StorageFailed, match="cannot be changed here"):
            change()
    assert len(looking.read([1, 2])) == 2
    looking.close()


def test_where_no_file_can_be_made_there_is_nothing_to_read_and_nothing_pretends(
    tmp_path: Path,
) -> None:
    (tmp_path / "file").write_text("")
    nowhere = Passages(str(tmp_path / "file" / "sessions.db"))
    assert nowhere.sessions() == []
    with pytest.raises(StorageFailed):
        nowhere.add(ONE, [passage(1, "words")])
    nowhere.close()


def test_a_change_that_meets_damage_puts_the_file_aside_and_says_that_it_failed(
    passages: Passages,
) -> None:
    passages.close()
    spoil(passages.path)
    again = Passages(passages.path)
    with pytest.raises(StorageFailed):
        again.add(ONE, [passage(3, "words")])
    assert again.problem is not None
    assert "damaged" in again.problem.message
    assert os.path.exists(f"{passages.path}.damaged1")
    assert again.add(ONE, [passage(3, "words")]) == 1, "and the next one is kept"
    again.close()


def test_who_meets_the_damage_second_goes_on_with_the_file_that_the_first_began(
    passages: Passages,
) -> None:
    """It was put aside as well, with all that the first had kept in it by then."""
    passages.close()
    spoil(passages.path)
    first, second = Passages(passages.path), Passages(passages.path)
    for each, turn in ((first, 3), (second, 4)):
        with pytest.raises(StorageFailed):
            each.add(ONE, [passage(turn, f"words {turn}")])
        assert each.add(ONE, [passage(turn, f"words {turn}")]) == 1
        each.close()
    assert not os.path.exists(f"{passages.path}.damaged2")
    with closing(Passages(passages.path)) as again:
        assert [each.turn for each in again.of_session(ONE.id)] == [3, 4]


def test_what_was_said_of_a_folder_is_found_by_any_file_in_it(passages: Passages) -> None:
    for turn, path in ((11, "src/app/a.py"), (12, "src/app/deep/b.py"), (13, "src/apple/c.py")):
        passages.add(ONE, [passage(turn, f"look at it {turn}", files=(path,))])
    found = [each.turn for each in passages.in_folder("src/app")]
    assert found == [12, 11]
    assert [each.turn for each in passages.in_folder("src/app", limit=1)] == [12]
    assert passages.in_folder("tests") == []


def test_only_the_newest_of_a_file_are_given_when_few_are_wanted(passages: Passages) -> None:
    for turn in (11, 12, 13):
        passages.add(ONE, [passage(turn, f"look {turn}", files=("src/a.py",))])
    assert [each.turn for each in passages.naming_file("a.py", limit=2)] == [13, 12]


def test_a_session_is_known_by_the_beginning_of_its_id_if_only_one_fits(
    passages: Passages,
) -> None:
    for name in ("abc-1", "abc-2", "abc"):
        passages.add(Header(name, "/p", f"/t/{name}.jsonl"), [passage(1, f"words of {name}")])
    assert passages.known_as("abc-1") == ["abc-1"]
    assert passages.known_as("abc-") == ["abc-1", "abc-2"]
    assert passages.known_as("abc") == ["abc"], "the whole of an id is that one"
    assert passages.known_as("x") == []


def test_a_question_of_no_words_is_said_by_no_one(passages: Passages) -> None:
    assert passages.saying("  …  ") == []
    assert len(passages.saying("retry")) == 1
