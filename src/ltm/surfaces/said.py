"""What was said in sessions: kept after events, let go of when it is old or too much, and purged.

Owns when that happens and to which project's file. Nothing here may hold up the work of a drain:
what cannot be kept now is read the next time, from where the file itself says. The drain calls
`keep_said` as a step; `ltm capture` uses the same `keep_session`.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from ltm.capture.verbatim import keep_verbatim, passages_behind
from ltm.core.errors import LtmError, NotFound
from ltm.core.model import iso
from ltm.core.passage import Header
from ltm.storage import hooklog
from ltm.storage.config import load
from ltm.storage.passages import Passages
from ltm.storage.places import SESSIONS, Places, places
from ltm.storage.sessionlog import Session, SessionLog
from ltm.surfaces.learn import sessions_to_read

if TYPE_CHECKING:
    from ltm.core.model import Memory
    from ltm.storage.config import Config
    from ltm.surfaces.drain import Work

_MEGABYTE = 1_000_000


def keep_said(work: Work) -> None:
    """Keep what was said in the event's session, and in sessions that died before they ended."""
    for session in sessions_to_read(work):
        if not session.transcript or not session.cwd or not os.path.isdir(session.cwd):
            continue
        try:
            found = places(session.cwd, environ={**work.environ, "LTM_HOME": work.home})
            keep_session(session, found, work.at)
            if work.event.event == "SessionEnd":
                let_go(found, work.at)
        except (LtmError, OSError, sqlite3.Error) as error:
            hooklog.note(work.home, "keeping a session", error)


def keep_session(session: Session, where: Places, now: datetime, *, known_as: str = "") -> int:
    """Read on in a session's transcript and keep what was said; how many passages were new.

    `known_as` is the transcript's own path, where it lies elsewhere while it is read.
    """
    config = load(where.home, where.settings)
    if not config.get("sessions.keep"):
        return 0
    with _opened(where.sessions_db) as passages:
        return keep_verbatim(
            passages,
            session.id,
            session.transcript,
            session.cwd,
            since=_oldest(config, now),
            known_as=known_as,
        )


def let_go(where: Places, now: datetime) -> int:
    """Let go of what is older, or more, than the options say; how many passages went."""
    config = load(where.home, where.settings)
    before, most = _oldest(config, now), int(config.get("sessions.megabytes")) * _MEGABYTE
    if not (before or most) or not os.path.exists(where.sessions_db):
        return 0
    with _opened(where.sessions_db) as passages:
        return passages.prune(before=before, most=most)


def purge_source(memory: Memory, where: Places) -> tuple[int, str]:
    """Delete for good what was said where a memory came from, and wherever the same was said.

    How many passages there were, and the client's own transcript, which is not ours to change.
    """
    session = _session(memory.source.session, where)
    paths = [where.sessions_db, *([_file(where.home, session.project)] if session else ())]
    gone = 0
    for path in dict.fromkeys(paths):
        if os.path.exists(path):
            with _opened(path) as passages:
                gone += passages.purge(passages_behind(passages, memory))
    return gone, _transcript(session)


def purge_session(name: str, where: Places) -> tuple[int, str]:
    """Delete for good what was said in a session; nothing of it is kept again.

    How many passages there were, and the client's own transcript, which is not ours to change.
    """
    session = _session(name, where)
    path = _file(where.home, session.project) if session else where.sessions_db
    known = session is not None
    if not known and os.path.exists(path):
        with _opened(path, readonly=True) as passages:
            known = passages.header(name) is not None
    if not known:
        raise NotFound(f"there is no session '{name}'", hint="list them with: ltm sessions")
    with _opened(path) as passages:
        return passages.purge_session(name), _transcript(session)


def headers_of(home: str, sessions: Sequence[Session]) -> dict[str, Header]:
    """What is kept of sessions, whatever project they ran in."""
    found: dict[str, Header] = {}
    for project in dict.fromkeys(session.project for session in sessions):
        with _opened(_file(home, project), readonly=True) as passages:
            for session in sessions:
                header = passages.header(session.id) if session.project == project else None
                if header is not None:
                    found[session.id] = header
    return found


@contextmanager
def _opened(path: str, *, readonly: bool = False) -> Iterator[Passages]:
    passages = Passages(path, readonly=readonly)
    try:
        yield passages
    finally:
        passages.close()


def _session(name: str, where: Places) -> Session | None:
    if not name or not os.path.exists(where.state_db):
        return None
    log = SessionLog(where.state_db)
    try:
        return log.get(name)
    finally:
        log.close()


def _file(home: str, project: str) -> str:
    return os.path.join(home, "projects", project, SESSIONS)


def _transcript(session: Session | None) -> str:
    """The client's transcript of a session, if it is still there."""
    path = session.transcript if session else ""
    return path if path and os.path.exists(path) else ""


def _oldest(config: Config, now: datetime) -> str:
    """The moment before which nothing is kept; '' when everything is."""
    days = int(config.get("sessions.days"))
    return iso(now - timedelta(days=days)) if days else ""
