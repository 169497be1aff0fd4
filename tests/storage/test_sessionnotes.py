"""Notes of sessions as files: what is cleared can be taken back once."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from ltm.core.errors import NotFound
from ltm.storage.sessionnotes import OLD, SessionNotes

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def write(notes: SessionNotes, session: str) -> None:
    """A note of a session; all of them began in the same minute."""
    assert notes.write(session, "2026-01-02T03:04:05Z", lambda _: f"# {session}\n")


def test_nothing_is_taken_back_where_nothing_was_cleared(tmp_path: Path) -> None:
    notes = SessionNotes(str(tmp_path))
    with pytest.raises(NotFound, match="nothing was cleared"):
        notes.undo()
    assert list(tmp_path.iterdir()) == []


def test_what_was_cleared_comes_back_beside_what_was_written_since(tmp_path: Path) -> None:
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
