"""The steps of the drain and their context.

One thing a client told us, as the steps of a drain and plugged-in handlers see it.

Owns the shape of an event after it was kept in the spool. Imports the standard library only.

What follows from an event: the steps of a drain.

Owns `STEPS`, the place where more work is hung in: a step gets a `StepContext` and is called once
per event, after the session log knows of it. What a step needs is loaded when there is an event.

What a session leaves behind: memories kept, upkeep done if it is over, views up to date.

Owns when an event makes us learn: at the end of a turn when there is enough to read, at every so
many tool calls of a long one, before the context goes, at the end of a session, and when a session
begins and an earlier one died unheard.
The drain calls it as a step; `ltm capture` uses the same `learn_from`.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from functools import cache, partial
from typing import TYPE_CHECKING

from ltm.capture import review
from ltm.capture.decide import Candidate
from ltm.capture.pipeline import READER, Captured, capture
from ltm.clients.wire import TOOL_EVENTS
from ltm.config.config import load
from ltm.errors import Busy, LtmError, StorageFailed
from ltm.history.db import Passages
from ltm.history.ingest import keep_session, let_go
from ltm.model import Status, utc
from ltm.notes.session_notes import note_session, tidy_notes
from ltm.project.identity import identify
from ltm.project.layout import Places, places
from ltm.sessions import stats
from ltm.sessions.stats import has_grown
from ltm.sessions.transcript import origin
from ltm.spool import hook_log
from ltm.state.candidates import Candidates
from ltm.state.session_log import Session, SessionLog
from ltm.store.open import open_store, vaults_of
from ltm.upkeep import consolidate, plan
from ltm.worker.model_queue import note_due

if TYPE_CHECKING:
    from ltm.config.config import Config
    from ltm.store.store import Store


@dataclass(frozen=True, slots=True)
class Event:
    """An event of a session. Fields a client did not send are empty."""

    key: str
    """Unique and the same at every attempt: who must act only once remembers it."""
    event: str
    """Its name, such as `SessionStart` or `Stop`."""
    session: str
    at: float = 0.0
    """When the client told us, in seconds since 1970."""
    cwd: str = ""
    transcript: str = ""
    source: str = ""
    """How a session began: `startup`, `resume`, `clear`, `compact` or `fork`."""
    reason: str = ""
    """How it ended."""
    trigger: str = ""
    """Who asked for a compaction: `manual` or `auto`."""
    agent: str = ""
    agent_type: str = ""
    agent_transcript: str = ""
    tool: str = ""
    ok: bool = True
    """Whether the tool did its work."""


def from_record(key: str, record: Mapping[str, object]) -> Event | None:
    """The event of a spooled record; None when it lacks what makes an event."""
    if not isinstance(record.get("event"), str) or not isinstance(record.get("session"), str):
        return None
    known = {
        field.name: record[field.name]
        for field in fields(Event)
        if isinstance(record.get(field.name), str | bool)
    }
    seconds = key.partition("-")[0]
    known["at"] = int(seconds) / 1e9 if seconds.isdigit() else 0.0
    return Event(**{**known, "key": key})  # type: ignore[arg-type]  # checked field by field above


_AT_BEGINNINGS = ("SessionStart", "UserPromptSubmit")


@dataclass(frozen=True, slots=True)
class StepContext:
    """One event, and what a step may use to act on it."""

    event: Event
    home: str
    log: SessionLog
    environ: Mapping[str, str]
    at: datetime
    projects: dict[str, str]
    """The ids of projects this drain met already, by folder."""


Step = Callable[[StepContext], None]


def log_event(work: StepContext) -> None:
    """What the session log learns from an event, whatever its transcript will say."""
    event, log = work.event, work.log
    moment = begun = datetime.fromtimestamp(event.at, UTC)
    cwd, is_end = event.cwd, event.event == "SessionEnd"
    # Looked up before: no disk may be waited for while the database is held.
    if is_end and log.get(event.session) is None:
        # The only event of it that arrived: the transcript has what the others would have told.
        if not os.path.isfile(event.transcript):
            return
        first = origin(event.transcript)
        cwd = cwd or first.cwd
        try:
            begun = min(moment, utc(first.started))
        except ValueError:
            pass  # it does not say when
    project = work.projects.get(cwd)
    if project is None:
        project = work.projects[cwd] = identify(cwd or os.sep, work.home).id
    with log.transaction():
        log.begin(event.session, project, cwd, event.transcript, begun)
        if is_end:
            log.end(event.session, event.reason, moment)
        else:
            if event.event in _AT_BEGINNINGS:
                log.reopen(event.session, moment)
            if event.event in TOOL_EVENTS:
                log.count_live(event.session, ok=int(event.ok), failed=int(not event.ok))
            elif event.event == "PreCompact":
                log.count_live(event.session, compactions=1)
        log.note_progress(event.key, 1, 0)


def count(work: StepContext) -> None:
    """Bring the figures of the event's session up to date, and of sessions that never ended.

    Not at each call of a tool: those are counted as they come, and an agent makes hundreds before
    anybody asks for figures.
    """
    session = work.log.get(work.event.session) if work.event.event not in TOOL_EVENTS else None
    if session is None:
        return
    stats.update(work.log, session, work.at)
    if work.event.event == "SessionStart":
        for other in work.log.unended(session):
            stats.update(work.log, other, work.at)


def tell_handlers(work: StepContext) -> None:
    """Hand the event to what other packages plugged in; their errors are theirs alone."""
    for name, handler in handlers().items():
        try:
            handler(work.event)
        except Exception as error:
            hook_log.note(work.home, f"handler {name}", error)


@cache
def handlers() -> Mapping[str, Callable[[Event], object]]:
    """What is plugged in to hear of events; looked up once, because it takes a while."""
    from ltm.config.extensions import named, names

    found: dict[str, Callable[[Event], object]] = {}
    for name in names("ltm.events"):
        try:
            found[name] = named("ltm.events", name)
        except LtmError as error:
            found[name] = partial(_complain, error)
    return found


def _complain(error: LtmError, event: Event) -> None:
    raise error


_LEARNING = ("Stop", "PreCompact", "SessionEnd", "SessionStart")
_LEAST_BYTES = {"Stop": 600}
"""A turn that added less than about three lines waits for the next."""

_OVER = ("SessionEnd", "SessionStart")
_NOTED = "note"
"""Under this name the log keeps how long a transcript was when its note was written."""

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
    candidates = Candidates(found.private)

    def note_likely(likely: Sequence[Candidate]) -> None:
        with closing(Passages(found.sessions_db, readonly=True)) as passages:
            purged = passages.is_purged(session.id)
        if not purged:
            review.note_likely(store, candidates, likely, now)

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
            note_likely=note_likely,
        )
        if done.added:
            review.settle_known(candidates, (store.read(each).memory for each in done.added))
        if done.added and _is_time(log, found.project.id, store):
            _, held = consolidate.run(store, now, least=consolidate.LEAST)
            plan.note(log, found.project.id, plan.CONSOLIDATE, held)
        if done.added or done.superseded:
            _write_views(store, found, now)
    finally:
        store.close()
    return done


def offer(work: StepContext) -> None:
    """When a session begins, note which candidates it was offered.

    One that is resumed has in its transcript what it was told, and is offered nothing.
    """
    event = work.event
    if event.event != "SessionStart" or event.source == "resume" or not os.path.isdir(event.cwd):
        return
    found = places(event.cwd, environ={**work.environ, "LTM_HOME": work.home})
    candidates = Candidates(found.private)
    if candidates.waiting():
        most = int(load(found.home, found.settings).get("capture.offer"))
        candidates.note_offered(event.at, most)


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
    stats.update(log, known, at)
    return log.get(session) or known


def _tidy_up(log: SessionLog, session: Session, now: datetime, environ: Mapping[str, str]) -> None:
    """At the end of a session: one memory where several say the same, then what fades."""
    from ltm.upkeep.plan import limits_of, run

    if not session.cwd or not os.path.isdir(session.cwd):
        return
    found = places(session.cwd, environ=environ)
    config: Config = load(found.home, found.settings)
    store = open_store(found, config)
    try:
        merged, held = consolidate.run(store, now, least=consolidate.LEAST)
        plan.note(log, found.project.id, plan.CONSOLIDATE, held)
        done = 0
        try:
            faded = run(store, now=now, limits=limits_of(config))
            plan.note(log, found.project.id, plan.UPKEEP, faded.held)
            done = len(faded.done)
        except (Busy, StorageFailed):
            raise
        except LtmError as error:
            # Such as a plugged-in strategy that fails: a session's end does not wait for it.
            hook_log.note(found.home, "upkeep", error)
        if done or merged:
            _write_views(store, found, now)
    finally:
        store.close()


def _write_views(store: Store, found: Places, now: datetime) -> None:
    from ltm.inject.memory_md import write_views

    write_views(store, vaults_of(found), found.project.root, now=now)


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
            hook_log.note(work.home, "keeping a session", error)


def note(work: StepContext) -> None:
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


STEPS: tuple[Step, ...] = (count, learn, offer, keep_said, note, tell_handlers)
"""What follows from every event, in this order."""
