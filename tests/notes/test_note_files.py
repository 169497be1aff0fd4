"""Notes of sessions as files: what is cleared can be taken back once."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from ltm.errors import Busy, NotFound
from ltm.files import lock
from ltm.notes.session_notes import LATEST, OLD, SessionNotes

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def write(notes: SessionNotes, session: str) -> None:
    """A note of a session; all of them began in the same minute."""
    assert notes.write(session, "2026-01-02T03:04:05Z", lambda _: f"# {session}\n")


def test_nothing_is_taken_back_where_nothing_was_cleared(tmp_path: Path) -> None:
    notes = SessionNotes(str(tmp_path))
    with pytest.raises(NotFound, match="nothing was cleared"):
        notes.undo()
    assert list(tmp_path.iterdir()) == []


def test_what_was_cleared_comes_back_next_to_what_was_written_since(tmp_path: Path) -> None:
    notes = SessionNotes(str(tmp_path))
    write(notes, "one")
    write(notes, "two")
    assert notes.clear(NOW) == 2
    assert list(notes.every()) == []
    write(notes, "three")
    assert notes.undo() == 2
    assert sorted(note.session for note in notes.every()) == ["one", "three", "two"]
    with pytest.raises(NotFound):
        notes.undo()


def test_archives_that_were_cleared_come_back_into_those_written_since(tmp_path: Path) -> None:
    notes = SessionNotes(str(tmp_path))
    write(notes, "one")
    later = NOW + 2 * OLD
    assert len(notes.compress(later)) == 1
    notes.clear(later)
    write(notes, "two")
    notes.compress(later)
    notes.undo()
    assert list(notes.every()) == []
    found = {note.session: note.text.strip() for note in notes.every(archived=True)}
    assert found == {"one": "# one", "two": "# two"}


def test_only_what_was_cleared_last_can_be_taken_back(tmp_path: Path) -> None:
    notes = SessionNotes(str(tmp_path))
    write(notes, "one")
    notes.clear(NOW)
    write(notes, "two")
    assert notes.clear(NOW.replace(hour=4)) == 1
    assert notes.undo() == 1
    assert [note.session for note in notes.every()] == ["two"]


def test_a_session_whose_beginning_is_not_known_is_noted_all_the_same(tmp_path: Path) -> None:
    notes = SessionNotes(str(tmp_path))
    note = notes.write("one", "whenever", lambda name: f"# {name}\n")
    assert note is not None
    assert (note.name, note.day) == ("1970-01-01_0000", "1970-01-01")
    assert Path(note.path).read_text().startswith("# 1970-01-01_0000\n")


def test_a_note_that_says_what_it_said_is_not_written_again(tmp_path: Path) -> None:
    notes = SessionNotes(str(tmp_path))
    write(notes, "one")
    (note,) = notes.every()
    before = Path(note.path).stat()
    write(notes, "one")
    assert Path(note.path).stat().st_ino == before.st_ino
    assert notes.write("one", "2026-01-02T03:04:05Z", lambda _: "# more\n") is not None
    (note,) = notes.every()
    assert (note.text.strip(), note.edited) == ("# more", False)


def test_a_note_a_person_edited_is_theirs_and_stays_theirs_in_the_archive(tmp_path: Path) -> None:
    notes = SessionNotes(str(tmp_path))
    write(notes, "one")
    (note,) = notes.every()
    path = Path(note.path)
    path.write_text(path.read_text().replace("# one", "# mine"))
    assert notes.write("one", "2026-01-02T03:04:05Z", lambda _: "# ours\n") is None
    assert "# mine" in path.read_text()
    notes.compress(NOW + 2 * OLD)
    assert notes.write("one", "2026-01-02T03:04:05Z", lambda _: "# ours\n") is None
    assert [note.text.strip() for note in notes.every(archived=True)] == ["# mine"]


def test_only_notes_of_thirty_days_fold_and_only_once(tmp_path: Path) -> None:
    notes = SessionNotes(str(tmp_path))
    write(notes, "one")
    assert notes.compress(NOW + OLD - timedelta(days=1)) == []
    assert len(notes.compress(NOW + OLD)) == 1
    assert notes.compress(NOW + OLD) == []
    assert SessionNotes(str(tmp_path / "nothing")).compress(NOW) == []
    assert not (tmp_path / "nothing").exists()


def test_the_summary_is_the_latest_notes_and_rests_while_they_do(tmp_path: Path) -> None:
    notes = SessionNotes(str(tmp_path))
    for number in range(LATEST + 2):
        text = f"# s\n\n## Summary\n- about s{number}\n- done\n- more\n"
        notes.write(f"s{number}", f"2026-01-01T00:{number:02}:00Z", text.format)
    notes.summarise()
    path = tmp_path / "sessions" / "summary.md"
    lines = path.read_text().splitlines()
    latest = LATEST + 1
    assert lines[:2] == ["# Latest sessions", ""]
    assert lines[2] == f"- 2026-01-01 00{latest}: about s{latest} – done"
    assert len(lines) == 2 + LATEST
    assert lines[-1].endswith(": about s2 – done")
    before = path.stat()
    notes.summarise()
    assert path.stat().st_ino == before.st_ino
    notes.write("new", "2026-02-01T00:00:00Z", lambda _: "other words\n")
    notes.summarise()
    assert path.read_text().splitlines()[2] == "- 2026-02-01 0000: other words"


def test_without_any_note_the_summary_is_a_heading(tmp_path: Path) -> None:
    notes = SessionNotes(str(tmp_path))
    notes.summarise()
    assert (tmp_path / "sessions" / "summary.md").read_text() == "# Latest sessions\n\n"


def test_a_purged_session_is_gone_from_notes_archives_and_trash(tmp_path: Path) -> None:
    notes = SessionNotes(str(tmp_path))
    for session in ("one", "two"):
        write(notes, session)
    notes.compress(NOW + 2 * OLD)
    assert notes.purge("one") == 1
    (left,) = notes.every(archived=True)
    assert (left.session, left.text.strip(), left.archived) == ("two", "# two", True)
    assert Path(left.path).read_text().startswith("# Sessions of 2026-01\n")
    notes.clear(NOW)
    write(notes, "three")
    assert notes.purge("two") == 1
    assert notes.purge("three") == 1
    assert notes.purge("three") == 0
    words = [path.read_text() for path in tmp_path.rglob("*.md")]
    assert not any(name in text for text in words for name in ("# one", "# two", "# three"))


def test_purging_waits_for_who_folds_notes_into_an_archive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An archive that was read before a note was folded in, and written after, lost that note."""
    notes = SessionNotes(str(tmp_path))
    write(notes, "one")
    monkeypatch.setattr(lock, "PATIENCE", 0.0)
    with lock.Lock(str(tmp_path / "sessions.lock")):
        with pytest.raises(Busy):
            notes.purge("one")
        with pytest.raises(Busy):
            notes.rewrite(lambda line: False)
    assert notes.purge("one") == 1


def test_purging_where_nothing_was_noted_leaves_nothing_behind(tmp_path: Path) -> None:
    notes = SessionNotes(str(tmp_path))
    assert (notes.purge("one"), notes.rewrite(lambda line: False)) == (0, 0)
    assert list(tmp_path.iterdir()) == []


def test_lines_that_must_go_are_dropped_everywhere_and_nothing_else(tmp_path: Path) -> None:
    notes = SessionNotes(str(tmp_path))
    notes.write("one", "2026-01-02T03:04:05Z", lambda _: "# one\na secret\nkept\n")
    notes.clear(NOW)
    notes.write("two", "2026-01-02T03:04:05Z", lambda _: "a secret\na secret\n")
    notes.write("three", "2026-01-02T03:05:05Z", lambda _: "# three\n")
    strange = tmp_path / "sessions" / "strange.md"
    strange.write_bytes(b"a secret \xff\n")
    untouched = next(note for note in notes.every() if note.session == "three")
    before = Path(untouched.path).stat()
    assert notes.rewrite(lambda line: "secret" not in line) == 3
    assert Path(untouched.path).stat().st_ino == before.st_ino
    assert strange.read_bytes() == b"a secret \xff\n"
    notes.undo()
    texts = sorted(note.text.strip() for note in notes.every())
    assert texts == ["", "# one\nkept", "# three"]


def test_what_is_cleared_a_second_time_is_gone_for_good(
    tmp_path: Path,
) -> None:
    notes = SessionNotes(str(tmp_path))
    assert notes.clear(NOW) == 0
    assert list(tmp_path.iterdir()) == []
    write(notes, "one")
    notes.clear(NOW)
    write(notes, "two")
    notes.clear(NOW.replace(hour=5))
    assert len(list((tmp_path / "sessions-trash").iterdir())) == 1
    assert not any("# one" in path.read_text() for path in tmp_path.rglob("*.md"))


def test_a_summary_that_was_cleared_does_not_take_the_place_of_the_newer_one(
    tmp_path: Path,
) -> None:
    notes = SessionNotes(str(tmp_path))
    write(notes, "one")
    notes.summarise()
    notes.clear(NOW)
    write(notes, "two")
    notes.summarise()
    path = tmp_path / "sessions" / "summary.md"
    newer = path.read_text()
    assert notes.undo() == 1
    assert path.read_text() == newer
    assert sorted(note.session for note in notes.every()) == ["one", "two"]
    assert sorted(each.name for each in (tmp_path / "sessions").iterdir()) == [
        "2026-01-02_0304.md",
        "2026-01-02_0304_2.md",
        "archive",
        "summary.md",
    ]
