"""What follows from an event: the steps of a drain.

Owns `STEPS`, the place where more work is hung in: a step gets a `StepContext` and is called once
per event, after the session log knows of it. What a step needs is loaded when there is an event.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache, partial

from ltm.clients.events import TOOL_EVENTS
from ltm.core.errors import LtmError
from ltm.core.model import utc
from ltm.sessions import figures
from ltm.sessions.event import Event
from ltm.sessions.origin import origin
from ltm.storage import hooklog
from ltm.storage.project import identify
from ltm.storage.sessionlog import SessionLog

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
    figures.update(work.log, session, work.at)
    if work.event.event == "SessionStart":
        for other in work.log.unended(session):
            figures.update(work.log, other, work.at)


def tell_handlers(work: StepContext) -> None:
    """Hand the event to what other packages plugged in; their errors are theirs alone."""
    for name, handler in handlers().items():
        try:
            handler(work.event)
        except Exception as error:
            hooklog.note(work.home, f"handler {name}", error)


@cache
def handlers() -> Mapping[str, Callable[[Event], object]]:
    """What is plugged in to hear of events; looked up once, because it takes a while."""
    from ltm.storage.extensions import named, names

    found: dict[str, Callable[[Event], object]] = {}
    for name in names("ltm.events"):
        try:
            found[name] = named("ltm.events", name)
        except LtmError as error:
            found[name] = partial(_complain, error)
    return found


def _complain(error: LtmError, event: Event) -> None:
    raise error


def learn(work: StepContext) -> None:
    """Keep what the session taught, as `surfaces.learn` says."""
    from ltm.surfaces.learn import learn as keep

    keep(work)


def keep_said(work: StepContext) -> None:
    """Keep what was said, word for word, as `surfaces.said` says."""
    from ltm.surfaces.said import keep_said as keep

    keep(work)


def note(work: StepContext) -> None:
    """Write the note of a session that is over, as `surfaces.noting` says."""
    from ltm.surfaces.noting import note_over

    note_over(work)


STEPS: tuple[Step, ...] = (count, learn, keep_said, note, tell_handlers)
"""What follows from every event, in this order."""
