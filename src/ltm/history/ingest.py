"""Keep a session word for word; retention.

Keeping what was said in a session, word for word, so that it can be searched like memories.

Owns the flow: read on from where the project's own file says, cut into passages without secrets,
keep them and the place together. Bounded memory at any size, and the cost is the new part of the
transcript, whatever is kept already. Imports core, `sessions`, `storage` and this package.

What was said in sessions: kept after events, let go of when it is old or too much, and purged.

Owns when that happens and to which project's file. Nothing here may hold up the work of a drain:
what cannot be kept now is read the next time, from where the file itself says. The drain calls
`keep_said` as a step; `ltm capture` uses the same `keep_session`.
"""

from __future__ import annotations

import json
import os
from contextlib import closing
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from ltm.errors import Conflict, NotFound
from ltm.history.db import Passages
from ltm.history.passage import Header, Passage
from ltm.history.split import Cutter, sound
from ltm.model import Memory, iso
from ltm.project.layout import SESSIONS, Places
from ltm.sessions.transcript import Cursor, Lines, LineSource, Unknown, cursor_of, read
from ltm.state.session_log import Session, SessionLog
from ltm.store.project import OpenProject
from ltm.text.sentences import sentences
from ltm.text.terms import query_terms

if TYPE_CHECKING:
    from ltm.config.config import Config


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


_MEGABYTE = 1_000_000


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
        since=_oldest(project.config, now),
        known_as=known_as,
        lines=lines,
    )


def let_go(project: OpenProject, now: datetime) -> int:
    """Let go of what is older, or more, than the options say; how many passages went."""
    config = project.config
    before, most = _oldest(config, now), int(config.get("sessions.megabytes")) * _MEGABYTE
    if not (before or most) or not os.path.exists(project.places.sessions_db):
        return 0
    return passages_of(project).prune(before=before, most=most)


def passages_of(project: OpenProject, *, readonly: bool = False) -> Passages:
    """What was said in a project's sessions, open until the project is closed.

    With `readonly` no file is made where there is none.
    """
    path = project.places.sessions_db
    if readonly and not project.has("passages"):
        return project.part("passages to read", lambda: Passages(path, readonly=True))
    return project.part("passages", lambda: Passages(path))


def purge_session(name: str, where: Places) -> tuple[int, str, str]:
    """Delete for good what was said in a session; nothing of it is kept again.

    How many passages there were, the client's own transcript, which is not ours to change, and the
    file that held them.
    """
    session = _session(name, where)
    path = file_of(where.home, session.project) if session else where.sessions_db
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


def file_of(home: str, project: str) -> str:
    """Where what was said in a project is kept."""
    return os.path.join(home, "projects", project, SESSIONS)


def transcript_of(session: Session | None) -> str:
    """The client's transcript of a session, if it is still there."""
    path = session.transcript if session else ""
    return path if path and os.path.exists(path) else ""


def _oldest(config: Config, now: datetime) -> str:
    """The moment before which nothing is kept; '' when everything is."""
    days = int(config.get("sessions.days"))
    return iso(now - timedelta(days=days)) if days else ""
