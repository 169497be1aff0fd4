"""Keep sessions word for word in a project's `sessions.db`, let go of them, and purge them.

A transcript is read on from where the project's own file says, cut into passages without secrets,
and kept with the place in one transaction. Memory is bounded at any size, and the cost is the new
part of the transcript. What cannot be kept now is read the next time.

A memory is purged while the client's transcript still has its words, and every later reader (the
note at the end of a session, a model, capture) would keep them once more. So the messages that say
the same are found while the memory is there to compare with, and only their ids are noted.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import datetime
from typing import Any

from ltm.errors import Conflict, NotFound
from ltm.history.db import Passages, oldest_kept, passages_of
from ltm.history.passage import Header, Passage, line_range
from ltm.history.split import Cutter, sound
from ltm.model import Memory
from ltm.project.layout import Places, sessions_file
from ltm.sessions.sources import is_transcript
from ltm.sessions.transcript import (
    IN_ONE,
    Cursor,
    Lines,
    LineSource,
    Recent,
    Unknown,
    cursor_of,
    read,
)
from ltm.sessions.turns import Turn
from ltm.state.session_log import BY_MODEL, BY_RULES, Session, SessionLog
from ltm.store.project import OpenProject
from ltm.text.sentences import sentences
from ltm.text.similarity import jaccard, tokens_of
from ltm.text.terms import query_terms

_BATCH = 400_000  # characters that are held before they are kept
_ATTEMPTS = 5
_TELLING = 4  # words that are not said by chance


def keep_verbatim(
    passages: Passages,
    session: str,
    transcript: str,
    cwd: str,
    *,
    since: str = "",
    known_as: str = "",
    lines: LineSource = Lines,
) -> int:
    """Keep what a session's transcript says since it was last read; how many passages were new.

    What was said before `since` (ISO 8601, UTC) is left out. `known_as` is the transcript's own
    path, where it lies elsewhere while it is read. Sub-agents' own transcripts are not read, as
    capture does not read them either: what they answered is in the session's.
    """
    header = Header(sound(session), sound(cwd), known_as or transcript)
    for _ in range(_ATTEMPTS):
        if passages.is_purged(session):
            return 0
        try:
            return _read_on(passages, header, transcript, since, lines)
        except Conflict:
            continue  # another process reads the same session: go on from where it is now
    return 0


def passages_behind(passages: Passages, memory: Memory) -> list[int]:
    """The rows of what a memory came from: the lines it names, and wherever the same was said.

    What a purged memory says must not be found again: not in the agent's answer either, and not
    where it was said again. A sentence of few words is too common for that.
    """
    found = [each.row for each in passages.at_lines(memory.source.session, memory.source.lines)]
    for sentence in {memory.title, *sentences(memory.text)}:
        if len(query_terms(sentence)) >= _TELLING:
            found += passages.saying(sentence)
    return list(dict.fromkeys(found))


def _read_on(
    passages: Passages, header: Header, transcript: str, since: str, lines: LineSource
) -> int:
    former = passages.cursor(header.id, header.transcript)
    cursor, state = _parsed(former)
    unread = Unknown(passages.known_messages)
    reading = read(transcript, cursor, unread, lines=lines)
    cutter = Cutter(header.cwd, state)
    held: list[Passage] = []
    size = added = 0

    def settle() -> None:
        nonlocal former, size, added
        place = _written(reading.cursor, cutter.state())
        if held or place != former:
            added += passages.add(header, held, after=former, cursor=place)
            former = place
        held.clear()
        unread.forget()
        size = 0

    for turns in reading.messages():
        for passage in cutter.cut(turns):
            if passage.at >= since or not passage.at:
                held.append(passage)
                size += len(passage.text)
        if size >= _BATCH:
            settle()
    settle()
    return added


def _parsed(text: str) -> tuple[Cursor, Any]:
    try:
        place = json.loads(text)
        return cursor_of(json.dumps(place["at"])), place["state"]
    except (ValueError, KeyError, TypeError):
        return Cursor(), None


def _written(cursor: Cursor, state: dict[str, Any]) -> str:
    return json.dumps({"at": json.loads(cursor.text()), "state": state}, separators=(",", ":"))


def keep_session(
    project: OpenProject,
    session: Session,
    now: datetime,
    *,
    known_as: str = "",
    lines: LineSource = Lines,
) -> int:
    """Read on in a session's transcript and keep what was said; how many passages were new.

    `known_as` is the transcript's own path, where it lies elsewhere while it is read.
    """
    if not project.config.get("sessions.keep"):
        return 0
    return keep_verbatim(
        passages_of(project),
        session.id,
        session.transcript,
        session.cwd,
        since=oldest_kept(project.config, now),
        known_as=known_as,
        lines=lines,
    )


def purge_session(name: str, where: Places) -> tuple[int, str, str]:
    """Delete for good what was said in a session; nothing of it is kept again.

    How many passages there were, the client's own transcript, which is not ours to change, and the
    file that held them.
    """
    session = _session(name, where)
    path = sessions_file(where.home, session.project) if session else where.sessions_db
    known = session is not None
    if not known and os.path.exists(path):
        with closing(Passages(path, readonly=True)) as passages:
            known = passages.header(name) is not None
    if not known:
        raise NotFound(f"there is no session '{name}'", hint="list them with: ltm sessions")
    with closing(Passages(path)) as passages:
        return passages.purge_session(name), transcript_of(session), path


def _session(name: str, where: Places) -> Session | None:
    if not name or not os.path.exists(where.state_db):
        return None
    with closing(SessionLog(where.state_db)) as log:
        return log.get(name)


def transcript_of(session: Session | None) -> str:
    """The client's transcript of a session, if it is still there."""
    path = session.transcript if session else ""
    return path if is_transcript(path) else ""


# -- messages that quote a purged memory -----------------------------------------------------------

UNSAID = "unsaid"
"""Under this name, next to those of the readers, the log keeps messages to skip."""

_QUOTED = 0.6
"""Share of a memory's words from which a line quotes it."""

_LOOKED_AT = 200_000
"""Characters of a message that are compared."""


def quoting(memory: Memory) -> Callable[[str], bool]:
    """Whether a line says what a memory says."""
    words = tokens_of(memory.text)

    def quotes(line: str) -> bool:
        said = tokens_of(line)
        if not said or not words:
            return False
        return max(len(said & words) / len(words), jaccard(said, words)) >= _QUOTED

    return quotes


def messages_quoting(memory: Memory, session: str, transcript: str) -> list[str]:
    """The messages of a session's transcript that say what a memory says, or that it came from."""
    quotes = quoting(memory)
    own = session == memory.source.session
    first, last = line_range(memory.source.lines) if own else (0, 0)
    return [
        turns[0].uuid
        for turns in read(transcript).messages()
        if turns[0].uuid
        and ((first and first <= turns[0].line <= last) or any(map(quotes, _lines(turns))))
    ]


def note_unsaid(log: SessionLog, messages: list[str], at: datetime) -> None:
    """Make readers that have not read these messages yet skip them."""
    with log.transaction():
        for reader in (UNSAID, BY_RULES, BY_MODEL):
            read_by = log.turns_read(reader, at)
            for message in messages:
                read_by.is_new(message)


class Unpurged(Unknown):
    """Each message once, without those to skip."""

    def __init__(self, log: SessionLog, at: datetime) -> None:
        super().__init__(log.turns_read(UNSAID, at).known)
        self._recent = Recent(IN_ONE)

    def is_new(self, uuid: str) -> bool:
        """Whether this message is met for the first time, and may be told."""
        return self._recent.is_new(uuid) and not self.is_known(uuid)


def _lines(turns: list[Turn]) -> Iterator[str]:
    """What a message says, in lines and sentences, as notes would quote it."""
    for turn in turns:
        text = getattr(turn, "text", "") or getattr(turn, "subject", "")
        given = getattr(turn, "input", None) or {}
        words = (text, getattr(turn, "arguments", ""), *map(str, given.values()))
        for line in (line for each in words for line in each[:_LOOKED_AT].split("\n")):
            yield line
            yield from sentences(line)
