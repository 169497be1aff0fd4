"""Session notes: a readable file for each session, a rolling summary, an archive by month.

    sessions/2026-11-15_1022.md     one session, by when it began (UTC)
    sessions/summary.md             the latest of them in a line each, made from the notes
    sessions/archive/2026-11.md     notes that are older than a month
    sessions-trash/…                what was cleared, until it is cleared again

They lie in the project's private folder. A note that a person edited is never overwritten: a mark
at the end has the sum of what was written. An archive is whole before a note is deleted, and what
is cleared can be taken back. Decisions, patterns and issues that a person writes into a note become
memories, once.
"""

from __future__ import annotations

import os
import re
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from itertools import islice, zip_longest

from ltm.capture.pipeline import Captured, keep_late
from ltm.capture.provenance import evidence_of
from ltm.errors import NotFound
from ltm.files.atomic import failed, make_folder, read_plain, remove_file, write_file
from ltm.files.lock import Lock
from ltm.history.db import passages_of
from ltm.model import Source, Trust, iso, utc
from ltm.notes.markdown import note_text, read, taught
from ltm.notes.outline import outline_in
from ltm.notes.recent import FOLDER, SUMMARY
from ltm.project.layout import Places
from ltm.sessions.transcript import Lines, LineSource
from ltm.state.session_log import Session, SessionLog
from ltm.store.project import OpenProject
from ltm.store.store import Store
from ltm.text.sentences import shortened
from ltm.text.terms import query_terms, terms

ARCHIVE, TRASH = "archive", "sessions-trash"
SUMMARY_FILE = "summary.md"

LARGEST = 64 * 1024 * 1024
"""Bytes of an archive that are read."""

OLD = timedelta(days=30)
"""The age from which a note goes into the archive of its month."""

LATEST = 50
"""Notes in the summary."""

_NAME = re.compile(r"\A(\d{4}-\d\d-\d\d_\d{4})(?:_\d+)?\Z")
_MONTH = re.compile(r"\A\d{4}-\d\d\Z")
_OURS = re.compile(r"\n<!-- ltm: session (\S*), sum ([0-9a-f]{16}) -->\n\Z")
_NOT_PLAIN = re.compile(r"[^\w.:-]")
_PART = re.compile(r"^<!-- note (\S+) -->\n", re.MULTILINE)
_LINE = 160
_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Note:
    """One note, in a file of its own or in an archive."""

    name: str
    path: str
    text: str
    """Without the mark at its end."""
    session: str = ""
    edited: bool = False
    """Whether a person changed or wrote it."""
    archived: bool = False

    @property
    def day(self) -> str:
        return self.name[:10]


@dataclass(frozen=True, slots=True)
class NoteMatch:
    """A note that has some of the words, and its lines that do."""

    note: Note
    score: float
    lines: tuple[str, ...]


def note_in(name: str, path: str, text: str, *, archived: bool = False) -> Note:
    """The note a text is; one without the mark, or with another sum, was edited by a person."""
    ours = _OURS.search(text)
    if ours is None:
        return Note(name, path, text, edited=True, archived=archived)
    own = text[: ours.start()] + "\n"
    return Note(name, path, own, ours[1], edited=_sum(own) != ours[2], archived=archived)


def notes_in(path: str) -> Iterator[Note]:
    """The notes in an archive."""
    try:
        text = read_plain(path, limit=LARGEST, follow=False).decode("utf-8", "replace")
    except OSError:
        return
    marks = list(_PART.finditer(text))
    for mark, after in zip_longest(marks, marks[1:]):
        body = text[mark.end() : after.start() if after else len(text)]
        yield note_in(mark[1], path, body.removesuffix("\n---\n\n"), archived=True)


def marked(text: str, session: str) -> str:
    """A note's text with its mark: the session, and the sum of the text as it was written."""
    end = f"\n\n<!-- ltm: session {key(session) or '-'}, sum {_sum(text)} -->\n"
    return text.rstrip("\n") + end


def part(note: Note) -> str:
    """A note as a part of an archive."""
    return f"\n---\n\n<!-- note {note.name} -->\n{marked(note.text, note.session)}"


def key(session: str) -> str:
    """A session's id as it stands in a mark, which nothing in it can end."""
    return _NOT_PLAIN.sub("_", session)[:100]


def _sum(text: str) -> str:
    return blake2b(text.strip().encode(), digest_size=8).hexdigest()


class SessionNotes:
    """The notes in a project's private folder."""

    def __init__(self, private: str) -> None:
        self._private = private
        self.folder = os.path.join(private, FOLDER)

    # -- looking ---------------------------------------------------------------------------------

    def every(self, *, archived: bool = False) -> Iterator[Note]:
        """All notes, the newest first; with `archived` those in archives as well."""
        for name in sorted(_names(self.folder, _NAME), reverse=True):
            path = self._path(name)
            try:
                text = read_plain(path, follow=False).decode("utf-8", "replace")
            except OSError:
                continue
            yield note_in(name, path, text)
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
            if former.edited if former else self._is_put_away(session):
                return None
            name = former.name if former else self._free(_name_for(started))
            text = compose(name)
            note = Note(name, self._path(name), text, session)
            if former is None or former.text.strip() != text.strip():
                write_file(note.path, marked(text, session).encode())
        return note

    def summarise(self) -> None:
        """Write the rolling summary, a line for each of the latest notes."""
        path = os.path.join(self.folder, SUMMARY_FILE)
        make_folder(self.folder)
        # Notes that are purged between the look at them and the write would leave their lines.
        with self._lock():
            latest = islice(self.every(archived=True), LATEST)
            lines = (f"- {each.name.replace('_', ' ', 1)}: {line_of(each)}\n" for each in latest)
            data = ("# Latest sessions\n\n" + "".join(lines)).encode()
            try:
                if read_plain(path, follow=False) == data:
                    return
            except OSError:
                pass  # not there yet, or something else has its name: it is written again
            write_file(path, data)

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
        cleared = self._cleared()
        if not cleared:
            raise NotFound("nothing was cleared, so nothing can be taken back", path=trash)
        make_folder(os.path.join(self.folder, ARCHIVE))
        count = 0
        with self._lock():
            top = max(cleared)
            for folder, _, names in os.walk(top):
                where = os.path.relpath(folder, top)
                for name in names:
                    path, stem = os.path.join(folder, name), name.removesuffix(".md")
                    here = os.path.join(self.folder, where, name)
                    if not os.path.lexists(here):
                        os.rename(path, here)
                    elif where == ARCHIVE:
                        self._fold(stem, list(notes_in(path)))
                    elif name != SUMMARY_FILE:  # which is made again from the notes
                        begun = _NAME.match(stem)
                        os.rename(path, self._path(self._free(begun[1] if begun else stem)))
                    count += name.endswith(".md") and name != SUMMARY_FILE
            shutil.rmtree(top, ignore_errors=True)
        return count

    def purge(self, session: str) -> int:
        """Delete for good the note of a session, wherever it is; how many there were.

        Summaries go as well: a line of the note stands in them, and `summarise` makes them.
        """
        if not self._has_any():
            return 0
        with self._lock():
            tops = [self.folder, *self._cleared()]
            for top in tops:
                remove_file(os.path.join(top, SUMMARY_FILE))
            gone = [note for top in tops for note in _in(top) if note.session == key(session)]
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
        """Whether a session's note is in an archive, or was cleared and not taken back.

        Asked where it has no note in a file of its own.
        """
        away = (each for top in (self.folder, *self._cleared()) for each in _in(top))
        return bool(session) and any(each.session == key(session) for each in away)

    def _cleared(self) -> list[str]:
        """The folders of what was cleared."""
        trash = os.path.join(self._private, TRASH)
        try:
            paths = [os.path.join(trash, name) for name in os.listdir(trash)]
        except OSError:
            return []
        return [path for path in paths if os.path.isdir(path)]

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
        return 0  # LTM did not write it
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


def _in(folder: str) -> Iterator[Note]:
    """The notes in a folder of notes, which may be one that was cleared."""
    notes = SessionNotes(os.path.dirname(folder))
    notes.folder = folder
    return notes.every(archived=True)


def note_session(
    project: OpenProject, session: Session, *, lines: LineSource = Lines
) -> Note | None:
    """Write the note of a session; None if there is nothing to say, or a person's words stand."""
    if passages_of(project, readonly=True).is_purged(session.id):
        return None
    kinds = project.config.kinds
    outline = outline_in(session.transcript, session.id, kinds, project.log, lines=lines)
    if not (outline.asked or outline.found):
        return None
    notes = SessionNotes(project.places.private)
    note = notes.write(
        session.id,
        outline.started or session.started,
        lambda name: note_text(outline, kinds, name=name),
    )
    notes.summarise()
    return note


def tidy_notes(where: Places, now: datetime) -> list[str]:
    """Fold old notes into their archives and bring the summary up to date; what was folded."""
    notes = SessionNotes(where.private)
    folded = notes.compress(now)
    if folded:
        notes.summarise()
    return folded


def facts_from(store: Store, log: SessionLog, notes: Sequence[Note], now: datetime) -> Captured:
    """Keep what notes hold that no session taught: only a person's or an agent's own notes.

    What LTM wrote was captured from its session. Doing it again adds nothing.
    """
    done = Captured()
    for note in notes:
        if note.edited:
            source = Source(Trust.ASSISTANT, note.session, tool=f"note {note.name}")
            try:
                begun = datetime.strptime(note.name[:15], "%Y-%m-%d_%H%M")
                at = iso(begun.replace(tzinfo=UTC))
            except ValueError:
                at = ""
            found = taught(note.text, store.kinds, source, at)
            evidence = evidence_of(log, note.session, verbatim=True)
            keep_late(store, found, done, evidence=evidence, now=now)
    return done


def search(notes: Sequence[Note], words: str, limit: int) -> list[NoteMatch]:
    """The notes that have most of the words, the rarest words counting most."""
    wanted = set(query_terms(words))
    had = [wanted & set(terms(note.text)) for note in notes]
    common = Counter(word for each in had for word in each)
    found: list[NoteMatch] = []
    for note, words_had in zip(notes, had, strict=True):
        if words_had:
            lines = (line.strip() for line in note.text.split("\n"))
            hits = {
                line: len(words_had & set(terms(line)))
                for line in lines
                if not line.startswith("#")
            }
            best = sorted(filter(hits.get, hits), key=lambda line: -hits[line])
            score = sum(1 / common[word] for word in words_had)
            found.append(NoteMatch(note, score, tuple(best[:_SHOWN])))
    return sorted(found, key=lambda each: (-each.score, each.note.name))[:limit]


def line_of(note: Note) -> str:
    """A note in one line: what its session was about, and how it ended."""
    lines = read(note.text).lines(SUMMARY) or read(note.text).lines("")
    return shortened(" – ".join(lines[:2]), _LINE)
