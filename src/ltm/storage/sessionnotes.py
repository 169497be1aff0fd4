"""Session notes: a readable file for each session, a rolling summary, an archive by month.

    sessions/2026-11-15_1022.md     one session, by when it began (UTC)
    sessions/summary.md             the latest of them in a line each, made from the notes
    sessions/archive/2026-11.md     notes that are older than a month
    sessions-trash/…                what was cleared, until it is cleared again

Owns these files, in the project's private folder. A note a person edited is never overwritten, an
archive is whole before a note is deleted, and what is cleared can be taken back. Imports storage's
durable writes.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta

from ltm.core.errors import NotFound
from ltm.core.model import utc
from ltm.storage.durable import failed, make_folder, remove_file, write_file
from ltm.storage.lock import Lock
from ltm.storage.notefile import LARGEST, Note, key, marked, note_in, notes_in, part
from ltm.storage.plainfile import read_plain

FOLDER, ARCHIVE, TRASH = "sessions", "archive", "sessions-trash"
SUMMARY = "summary.md"

OLD = timedelta(days=30)
"""The age from which a note goes into the archive of its month."""

LATEST = 50
"""Notes in the summary."""

_NAME = re.compile(r"\A(\d{4}-\d\d-\d\d_\d{4})(?:_\d+)?\Z")
_MONTH = re.compile(r"\A\d{4}-\d\d\Z")


class SessionNotes:
    """The notes in a project's private folder."""

    def __init__(self, private: str) -> None:
        self._private = private
        self.folder = os.path.join(private, FOLDER)

    # -- looking ---------------------------------------------------------------------------------

    def every(self, *, archived: bool = False) -> Iterator[Note]:
        """All notes, the newest first; with `archived` those in archives as well."""
        for name in sorted(_names(self.folder, _NAME), reverse=True):
            note = self._read(name)
            if note is not None:
                yield note
        if archived:
            folder = os.path.join(self.folder, ARCHIVE)
            for month in sorted(_names(folder, _MONTH), reverse=True):
                yield from notes_in(os.path.join(folder, f"{month}.md"))

    def of_session(self, session: str) -> Note | None:
        """The note of a session, if it has one in a file of its own."""
        return next((each for each in self.every() if each.session == key(session)), None)

    # -- writing ---------------------------------------------------------------------------------

    def write(self, session: str, started: str, compose: Callable[[str], str]) -> Note | None:
        """Write the note of a session, in the text `compose` gives for its name.

        None when a person edited it, or when it is archived or cleared: those words stand.
        """
        make_folder(self.folder)
        with self._lock():
            former = self.of_session(session)
            if former is None and self._is_put_away(session):
                return None
            if former is not None and former.edited:
                return None
            name = former.name if former is not None else self._free(_name_for(started))
            text = compose(name)
            note = Note(name, self._path(name), text, session)
            if former is None or former.text.strip() != text.strip():
                write_file(note.path, marked(text, session).encode())
        return note

    def summarise(self, line_of: Callable[[Note], str]) -> str:
        """Write the rolling summary, a line for each of the latest notes; its path."""
        path = os.path.join(self.folder, SUMMARY)
        make_folder(self.folder)
        # Notes that are purged between the look at them and the write would leave their lines.
        with self._lock():
            lines = []
            for note in self.every(archived=True):
                lines.append(f"- {note.name.replace('_', ' ', 1)}: {line_of(note)}")
                if len(lines) == LATEST:
                    break
            data = ("# Latest sessions\n\n" + "".join(f"{line}\n" for line in lines)).encode()
            try:
                if read_plain(path, follow=False) == data:
                    return path
            except OSError:
                pass  # not there yet, or something else has its name: it is written again
            write_file(path, data)
        return path

    def compress(self, now: datetime) -> list[str]:
        """Fold notes older than a month into the archives of their months; their names.

        The archive is written whole before a note goes. After a crash in between, the note is
        found in the archive and only deleted.
        """
        done: list[str] = []
        if not os.path.isdir(self.folder):
            return done
        with self._lock():
            oldest = f"{now - OLD:%Y-%m-%d}"
            months: dict[str, list[Note]] = {}
            for note in reversed(list(self.every())):
                if note.day <= oldest:
                    months.setdefault(note.name[:7], []).append(note)
            for month, notes in months.items():
                self._fold(month, notes)
                done += [note.name for note in notes]
        return done

    def _fold(self, month: str, notes: list[Note]) -> None:
        folder = os.path.join(self.folder, ARCHIVE)
        make_folder(folder)
        path = os.path.join(folder, f"{month}.md")
        there = {(each.name, each.text.strip()) for each in notes_in(path)}
        try:
            data = read_plain(path, limit=LARGEST, follow=False)
        except FileNotFoundError:
            data = f"# Sessions of {month}\n".encode()
        except OSError as error:
            raise failed(error, "read the archive", path) from error
        for note in notes:
            if (note.name, note.text.strip()) not in there:
                data += part(note).encode()
        write_file(path, data)
        for note in notes:
            remove_file(note.path)

    # -- clearing --------------------------------------------------------------------------------

    def clear(self, now: datetime) -> int:
        """Put all notes, archives and the summary away, where `undo` finds them; how many notes."""
        count = sum(1 for _ in self.every(archived=True))
        if not count:
            return 0
        with self._lock():
            trash = os.path.join(self._private, TRASH)
            make_folder(trash)
            for name in os.listdir(trash):  # what was cleared before is cleared for good
                shutil.rmtree(os.path.join(trash, name), ignore_errors=True)
            try:
                os.rename(self.folder, os.path.join(trash, f"{now:%Y-%m-%d_%H%M%S}"))
            except OSError as error:
                raise failed(error, "clear the notes", self.folder) from error
        return count

    def undo(self) -> int:
        """Take back what was cleared last; notes written since stay. How many came back."""
        trash = os.path.join(self._private, TRASH)
        cleared = sorted(_folders(trash))
        if not cleared:
            raise NotFound("nothing was cleared, so nothing can be taken back", path=trash)
        make_folder(os.path.join(self.folder, ARCHIVE))
        count = 0
        with self._lock():
            top = os.path.join(trash, cleared[-1])
            for folder, _, names in os.walk(top):
                for name in names:
                    self._take_back(os.path.join(folder, name), os.path.relpath(folder, top))
                    count += name.endswith(".md") and name != SUMMARY
            shutil.rmtree(top, ignore_errors=True)
        return count

    def _take_back(self, path: str, where: str) -> None:
        """Put a cleared file back next to what has taken its name since."""
        name = os.path.basename(path)
        stem = name.removesuffix(".md")
        here = os.path.join(self.folder, where, name)
        if not os.path.lexists(here):
            os.rename(path, here)
        elif where == ARCHIVE:
            self._fold(stem, list(notes_in(path)))
        elif name != SUMMARY:  # which is made again from the notes
            begun = _NAME.match(stem)
            os.rename(path, self._path(self._free(begun[1] if begun else stem)))

    def purge(self, session: str) -> int:
        """Delete for good the note of a session, wherever it is; how many there were.

        Summaries go as well: a line of the note stands in them, and `summarise` makes them.
        """
        if not self._has_any():
            return 0
        trash = os.path.join(self._private, TRASH)
        with self._lock():
            tops = [self.folder, *(os.path.join(trash, each) for each in _folders(trash))]
            for top in tops:
                remove_file(os.path.join(top, SUMMARY))
            gone = [note for top in tops for note in self._in(top) if note.session == key(session)]
            for note in gone:
                if note.archived:
                    left = [each for each in notes_in(note.path) if each.session != key(session)]
                    text = f"# Sessions of {note.name[:7]}\n{''.join(map(part, left))}"
                    write_file(note.path, text.encode())
                else:
                    remove_file(note.path)
        return len(gone)

    def rewrite(self, keep: Callable[[str], bool]) -> int:
        """Drop lines from every note, archive and summary that must not be kept; how many."""
        if not self._has_any():
            return 0
        dropped = 0
        with self._lock():
            for folder, _, names in (each for top in self._tops() for each in os.walk(top)):
                for name in names:
                    if name.endswith(".md"):
                        dropped += _drop_lines(os.path.join(folder, name), keep)
        return dropped

    def _tops(self) -> list[str]:
        return [os.path.join(self._private, name) for name in (FOLDER, TRASH)]

    def _has_any(self) -> bool:
        """Whether there ever was a note; where there was none, nothing is made for looking."""
        return any(map(os.path.isdir, self._tops()))

    def _is_put_away(self, session: str) -> bool:
        """Whether a session's note is in an archive, or was cleared and not taken back."""
        trash = os.path.join(self._private, TRASH)
        places = [os.path.join(trash, each) for each in _folders(trash)]
        away = (SessionNotes._in(place) for place in places)
        archived = (each for each in self.every(archived=True) if each.archived)
        return any(
            each.session == key(session) for group in (archived, *away) for each in group if session
        )

    @classmethod
    def _in(cls, folder: str) -> Iterator[Note]:
        notes = cls(os.path.dirname(folder))
        notes.folder = folder
        return notes.every(archived=True)

    def _read(self, name: str) -> Note | None:
        path = self._path(name)
        try:
            text = read_plain(path, follow=False).decode("utf-8", "replace")
        except OSError:
            return None
        return note_in(name, path, text)

    def _path(self, name: str) -> str:
        return os.path.join(self.folder, f"{name}.md")

    def _free(self, name: str) -> str:
        number, free = 1, name
        while os.path.lexists(self._path(free)):
            number += 1
            free = f"{name}_{number}"
        return free

    def _lock(self) -> Lock:
        make_folder(self._private)
        return Lock(os.path.join(self._private, "sessions.lock"))


def _drop_lines(path: str, keep: Callable[[str], bool]) -> int:
    """Take the lines out of a file that must not be kept; how many."""
    try:
        lines = read_plain(path, limit=LARGEST, follow=False).decode().splitlines(True)
    except (OSError, UnicodeDecodeError):
        return 0  # not one of our notes, or one we could not have written
    kept = [line for line in lines if keep(line)]
    if len(kept) < len(lines):
        write_file(path, "".join(kept).encode())
    return len(lines) - len(kept)


def _name_for(started: str) -> str:
    try:
        return f"{utc(started):%Y-%m-%d_%H%M}"
    except ValueError:
        return "1970-01-01_0000"


def _names(folder: str, form: re.Pattern[str]) -> list[str]:
    try:
        names = os.listdir(folder)
    except OSError:
        return []
    stems = (name.removesuffix(".md") for name in names if name.endswith(".md"))
    return [stem for stem in stems if form.match(stem)]


def _folders(folder: str) -> list[str]:
    try:
        return [name for name in os.listdir(folder) if os.path.isdir(os.path.join(folder, name))]
    except OSError:
        return []
