"""What a session leaves behind: memories kept, upkeep done if it is over, views up to date.

Owns when an event makes us learn: at the end of a turn when there is enough to read, at every so
many tool calls of a long one, before the context goes, at the end of a session, and when a session
begins and an earlier one died unheard.
The drain calls it as a step; `ltm capture` uses the same `learn_from`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING

from ltm.capture.pipeline import READER, Captured, capture
from ltm.clients.events import TOOL_EVENTS
from ltm.core.errors import Busy, LtmError, StorageFailed
from ltm.core.model import Status, utc
from ltm.sessions import figures
from ltm.sessions.growth import has_grown
from ltm.storage import hooklog
from ltm.storage.config import load
from ltm.storage.opening import open_store, vaults_of
from ltm.storage.places import Places, places
from ltm.storage.sessionlog import Session, SessionLog
from ltm.surfaces import masses
from ltm.surfaces.hear import note_due
from ltm.upkeep import consolidate

if TYPE_CHECKING:
    from ltm.storage.config import Config
    from ltm.storage.store import Store
    from ltm.surfaces.steps import StepContext

_LEARNING = ("Stop", "PreCompact", "SessionEnd", "SessionStart")
_LEAST_BYTES = {"Stop": 600}
"""A turn that added less than about three lines waits for the next."""

_CAPTURES = "captures"
"""Under this name the log keeps how many captures a project had since it was consolidated."""


def learn(work: StepContext) -> None:
    """Keep what the event's session taught, and sessions that died before they ended."""
    event = work.event
    sessions = sessions_to_read(work)
    environ = {**work.environ, "LTM_HOME": work.home} if sessions else {}
    for session in sessions:
        if has_grown(work.log, session, READER, _LEAST_BYTES.get(event.event, 1)):
            learn_from(work.log, session, work.at, environ)
        if event.event not in TOOL_EVENTS:  # within a turn no model is asked for anything
            note_due(work.home, work.log, session, event.event)
        if event.event == "SessionEnd":
            _tidy_up(work.log, session, work.at, environ)


def sessions_to_read(work: StepContext) -> list[Session]:
    """The sessions an event makes us read: its own, or when it begins those that died unheard."""
    reads = work.event.event in _LEARNING or _is_save(work)
    session = work.log.get(work.event.session) if reads else None
    if session is None:
        return []
    return [session] if work.event.event != "SessionStart" else work.log.unended(session)


def _is_save(work: StepContext) -> bool:
    """Whether an event is one of the tool calls at which a long turn is saved."""
    if work.event.event not in TOOL_EVENTS:
        return False
    interval = int(load(work.home).own("hooks.save_interval"))
    return work.log.live_calls(work.event.session) % interval == 0


def learn_from(
    log: SessionLog,
    session: Session,
    now: datetime,
    environ: Mapping[str, str],
    *,
    where: Places | None = None,
) -> Captured:
    """Read on in a session's transcript and keep what it taught, in the project it ran in."""
    found = where or places(session.cwd, environ=environ)
    config = load(found.home, found.settings)
    store = open_store(found, config)
    try:
        done = capture(
            store,
            log,
            session.id,
            session.transcript,
            now=now,
            difficulty=session.difficulty,
            folder=session.cwd,
        )
        if done.added and _is_time(log, found.project.id, store):
            _, held = consolidate.run(store, now, least=consolidate.LEAST)
            masses.note(log, found.project.id, masses.CONSOLIDATE, held)
        if done.added or done.superseded:
            _write_views(store, found, now)
    finally:
        store.close()
    return done


def _is_time(log: SessionLog, project: str, store: Store) -> bool:
    """Whether a capture is the tenth since the last time, or there are many memories."""
    number = int(log.cursor("", _CAPTURES, project) or 0) + 1
    with log.transaction():
        log.keep_cursor("", _CAPTURES, project, str(number % consolidate.OFTEN))
    active = sum(count for _, _, status, _, count in store.counts() if status == Status.ACTIVE)
    return number >= consolidate.OFTEN or active > consolidate.MANY


def begin(
    log: SessionLog, path: str, session: str, project: str, cwd: str, started: str
) -> Session:
    """Note a session that no hook reported, from its transcript, with its figures."""
    try:
        at = utc(started)
    except ValueError:
        at = datetime.fromtimestamp(os.stat(path).st_mtime).astimezone()
    with log.transaction():
        log.begin(session, project, cwd, path, at)
    known = log.get(session)
    assert known is not None
    figures.update(log, known, at)
    return log.get(session) or known


def _tidy_up(log: SessionLog, session: Session, now: datetime, environ: Mapping[str, str]) -> None:
    """At the end of a session: one memory where several say the same, then what fades."""
    from ltm.upkeep.apply import run
    from ltm.upkeep.plan import limits_of

    if not session.cwd or not os.path.isdir(session.cwd):
        return
    found = places(session.cwd, environ=environ)
    config: Config = load(found.home, found.settings)
    store = open_store(found, config)
    try:
        merged, held = consolidate.run(store, now, least=consolidate.LEAST)
        masses.note(log, found.project.id, masses.CONSOLIDATE, held)
        done = 0
        try:
            faded = run(store, now=now, limits=limits_of(config))
            masses.note(log, found.project.id, masses.UPKEEP, faded.held)
            done = len(faded.done)
        except (Busy, StorageFailed):
            raise
        except LtmError as error:
            # Such as a plugged-in strategy that fails: a session's end does not wait for it.
            hooklog.note(found.home, "upkeep", error)
        if done or merged:
            _write_views(store, found, now)
    finally:
        store.close()


def _write_views(store: Store, found: Places, now: datetime) -> None:
    from ltm.inject.publish import write_views

    write_views(store, vaults_of(found), found.project.root, now=now)
