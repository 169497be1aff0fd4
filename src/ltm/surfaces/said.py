"""What was said in sessions: kept after events, let go of when it is old or too much, and purged.

Owns when that happens and to which project's file. Nothing here may hold up the work of a drain:
what cannot be kept now is read the next time, from where the file itself says. The drain calls
`keep_said` as a step; `ltm capture` uses the same `keep_session`.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from ltm.capture.verbatim import keep_verbatim
from ltm.core.errors import LtmError, NotFound
from ltm.core.model import Filter, Memory, Status, iso
from ltm.core.passage import Header
from ltm.recall.forgotten import LeftOut
from ltm.storage import hooklog
from ltm.storage.config import load
from ltm.storage.opening import open_store
from ltm.storage.passages import Passages
from ltm.storage.places import SESSIONS, Places, places
from ltm.storage.sessionlog import Session, SessionLog
from ltm.surfaces.learn import sessions_to_read

if TYPE_CHECKING:
    from ltm.storage.config import Config
    from ltm.surfaces.steps import StepContext

_MEGABYTE = 1_000_000


def keep_said(work: StepContext) -> None:
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
    with closing(Passages(where.sessions_db)) as passages:
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
    with closing(Passages(where.sessions_db)) as passages:
        return passages.prune(before=before, most=most)


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


def headers_of(here: Places, sessions: Sequence[Session]) -> dict[str, Header]:
    """What is kept of sessions, whatever project they ran in; no title says what is left out."""
    found: dict[str, Header] = {}
    for project in dict.fromkeys(session.project for session in sessions):
        own = [session for session in sessions if session.project == project]
        with closing(Passages(file_of(here.home, project), readonly=True)) as passages:
            headers = list(filter(None, (passages.header(session.id) for session in own)))
            hidden = LeftOut(_left_out_of(here, own) if headers else ())
            found.update((each.id, hidden.titled(passages, each)) for each in headers)
    return found


def _left_out_of(here: Places, sessions: Sequence[Session]) -> list[Memory]:
    """The memories left out of answers in the project some sessions ran in; none where its folder
    is gone."""
    where = here
    if sessions[0].project != here.project.id:
        cwd = next((each.cwd for each in sessions if each.cwd and os.path.isdir(each.cwd)), "")
        if not cwd:
            return []
        where = places(cwd, environ={**os.environ, "LTM_HOME": here.home})
    with closing(open_store(where, load(where.home, where.settings))) as store:
        gone = store.list(Filter(statuses=(Status.FORGOTTEN, Status.QUARANTINED))).items
        return [each.memory for each in gone]


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
