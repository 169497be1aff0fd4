"""The agent's session as far as the hooks know it: its id, and how hard it has been.

A client tells a server the id of the session that started it, and says nothing when a new one takes
its place (`/clear`). The session log knows. Nothing here may keep a memory from being stored.
"""

from __future__ import annotations

import os
import sqlite3
from dataclasses import dataclass

from ltm.core.errors import LtmError
from ltm.core.model import now
from ltm.sessions import figures
from ltm.storage.places import Places
from ltm.storage.sessionlog import Session, SessionLog

LONGEST = 64 * 1024 * 1024
"""Bytes of a transcript that is read up to this moment; of a longer one the last figures hold."""

_RECENT = 20


@dataclass(frozen=True, slots=True)
class Current:
    """A session, and how hard it has been; None where that was not counted."""

    id: str = ""
    difficulty: float | None = None
    transcript: str = ""
    cwd: str = ""


def current(places: Places) -> Current:
    """The session this server's agent is in, with its figures up to this moment."""
    named = os.environ.get("CLAUDE_CODE_SESSION_ID", "")
    if not named or not os.path.exists(places.state_db):
        return Current(named)
    try:
        log = SessionLog(places.state_db)
        try:
            return _current(log, named, places.project.id)
        finally:
            log.close()
    except (LtmError, OSError, sqlite3.Error):
        return Current(named)


def _current(log: SessionLog, named: str, project: str) -> Current:
    session = log.get(named)
    if session is None:
        return Current(named)
    if session.ended:
        session = _successor(log, session, project)
    if _size(session.transcript) <= LONGEST:
        figures.update(log, session, now())
        session = log.get(session.id) or session
    return Current(session.id, session.difficulty, session.transcript, session.cwd)


def _successor(log: SessionLog, ended: Session, project: str) -> Session:
    """The session that took the place of one that ended while its client lives."""
    going_on = [each for each in log.sessions(project, _RECENT) if not each.ended]
    later = [each for each in going_on if each.started >= ended.ended]
    return min(later, key=lambda each: each.started) if later else ended


def _size(path: str) -> int:
    try:
        return os.path.getsize(path)
    except OSError:
        return 0
