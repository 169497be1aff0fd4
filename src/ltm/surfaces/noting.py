"""Session notes: written when a session ends, read for facts, searched.

Owns when a note is written and what becomes of notes people write or change themselves: their
decisions, patterns and issues become memories, once.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from ltm.capture.evidence import Evidence
from ltm.capture.late import keep_late
from ltm.capture.noted import SUMMARY, note_text, read, taught
from ltm.capture.pipeline import Captured
from ltm.core.kinds import Kinds
from ltm.core.model import Source, Trust, iso
from ltm.core.sentences import shortened
from ltm.core.words import query_terms, terms
from ltm.storage.config import load
from ltm.storage.notefile import Note
from ltm.storage.passages import Passages
from ltm.storage.places import Places, places
from ltm.storage.sessionlog import Session
from ltm.storage.sessionnotes import SessionNotes
from ltm.storage.store import Store
from ltm.surfaces.learn import sessions_to_read
from ltm.surfaces.stashing import outline_in

if TYPE_CHECKING:
    from ltm.surfaces.steps import StepContext

_OVER = ("SessionEnd", "SessionStart")
_NOTED = "note"
"""Under this name the log keeps how long a transcript was when its note was written."""

_LINE = 160
_SHOWN = 3


@dataclass(frozen=True, slots=True)
class NoteMatch:
    """A note that has some of the words, and its lines that do."""

    note: Note
    score: float
    lines: tuple[str, ...]


def note_over(work: StepContext) -> None:
    """Write the note of a session that ended, and of those that died unheard when one begins.

    A session is read for it once, and again only when it said more.
    """
    if work.event.event not in _OVER:
        return
    for session in sessions_to_read(work):
        try:
            size = str(os.stat(session.transcript).st_size)
        except (OSError, ValueError):
            continue
        known = work.log.cursor(session.id, _NOTED, session.transcript)
        if known == size or not os.path.isdir(session.cwd):
            continue
        where = places(session.cwd, environ={**work.environ, "LTM_HOME": work.home})
        note_session(where, session, load(where.home, where.settings).kinds)
        tidy_notes(where, work.at)
        with work.log.transaction():
            work.log.keep_cursor(session.id, _NOTED, session.transcript, size)


def note_session(where: Places, session: Session, kinds: Kinds) -> Note | None:
    """Write the note of a session; None if there is nothing to say, or a person's words stand."""
    with closing(Passages(where.sessions_db, readonly=True)) as passages:
        purged = passages.is_purged(session.id)
    outline = outline_in(session.transcript, session.id, kinds, where.state_db)
    if purged or not (outline.asked or outline.found):
        return None
    notes = SessionNotes(where.private)
    note = notes.write(
        session.id,
        outline.started or session.started,
        lambda name: note_text(outline, kinds, name=name),
    )
    notes.summarise(line_of)
    return note


def tidy_notes(where: Places, now: datetime) -> list[str]:
    """Fold old notes into their archives and bring the summary up to date; what was folded."""
    notes = SessionNotes(where.private)
    folded = notes.compress(now)
    if folded:
        notes.summarise(line_of)
    return folded


def facts_from(store: Store, notes: Sequence[Note], now: datetime) -> Captured:
    """Keep what notes hold that no session taught: only a person's or an agent's own notes.

    What we wrote ourselves was heard in its session. Doing it again adds nothing.
    """
    done = Captured()
    for note in notes:
        if note.edited:
            source = Source(Trust.ASSISTANT, note.session, tool=f"note {note.name}")
            found = taught(note.text, store.kinds, source, _moment(note))
            keep_late(store, found, done, evidence=Evidence(), now=now)
    return done


def search(notes: Sequence[Note], words: str, limit: int) -> list[NoteMatch]:
    """The notes that have most of the words, the rarest words counting most."""
    wanted = set(query_terms(words))
    had = [wanted & set(terms(note.text)) for note in notes]
    common = Counter(word for each in had for word in each)
    found = [
        NoteMatch(note, sum(1 / common[word] for word in each), _telling(note, each))
        for note, each in zip(notes, had, strict=True)
        if each
    ]
    return sorted(found, key=lambda each: (-each.score, each.note.name))[:limit]


def line_of(note: Note) -> str:
    """A note in one line: what its session was about, and how it ended."""
    lines = read(note.text).lines(SUMMARY) or read(note.text).lines("")
    return shortened(" – ".join(lines[:2]), _LINE)


def _telling(note: Note, words: set[str]) -> tuple[str, ...]:
    lines = [line.strip() for line in note.text.split("\n") if line.strip()]
    ranked = sorted(
        (line for line in lines if not line.startswith("#")),
        key=lambda line: -len(words & set(terms(line))),
    )
    return tuple(line for line in ranked[:_SHOWN] if words & set(terms(line)))


def _moment(note: Note) -> str:
    """When a note's session began, by its name."""
    try:
        moment = datetime.strptime(note.name[:15], "%Y-%m-%d_%H%M")
    except ValueError:
        return ""
    return iso(moment.replace(tzinfo=UTC))
