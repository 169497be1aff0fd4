"""The drain: process every event that hooks left for later, in order, each step of it once.

One drain is at work at a time. An event's file is deleted only when all that follows from it (see
`steps`) is done. Runs detached, in a thread of the MCP server, or before a command.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime

from ltm import __version__
from ltm.config.config import load
from ltm.config.options import OFF
from ltm.embed.update import embed_new
from ltm.errors import Busy, LtmError, StorageFailed
from ltm.files.atomic import make_folder
from ltm.files.lock import Lock
from ltm.hook.answer import compose_brief
from ltm.hook.receive import LOCK
from ltm.project.layout import STATE
from ltm.remote.contents import mark_due
from ltm.spool import events, hook_log, session_text
from ltm.spool.events import Finished, in_order
from ltm.state.model_log import ModelLog
from ltm.state.session_log import DONE, SessionLog
from ltm.worker.steps import STEPS, OpenProjects, Step, StepContext, from_record, log_event

SETTLE = 1.0
"""Seconds after which a client has written what it said: at the end of a turn it is behind."""

TRIES = 3
"""Times a step may fail before the event goes on without it."""

_BEHIND = ("Stop", "SubagentStop", "PreCompact")
_AT_ENDS = ("SessionStart", "PreCompact", "Stop", "SessionEnd")
_AT_REMOTE = ("SessionStart", "SessionEnd")
_TROUBLE = (sqlite3.Error, StorageFailed)
_TURN = 0.2  # seconds a drain tries to get its turn: hooks look at the lock for a moment


@dataclass(slots=True)
class Drained:
    events: int = 0
    errors: int = 0
    folders: dict[str, None] = field(default_factory=dict)
    """Where sessions ran, whose text for the next start is composed at the end."""


def drain(
    home: str,
    *,
    environ: Mapping[str, str] = os.environ,
    steps: Sequence[Step] | None = None,
    settle: float = SETTLE,
    again: bool = True,
    patience: float = _TURN,
) -> Drained:
    """Process every waiting event, then return; or after `patience` while another drain is at work.

    What cannot be done now (a full disk, a locked database) stays where it is for the next time.
    So does what came meanwhile if the caller looks `again` anyway.
    """
    done, steps = Drained(), STEPS if steps is None else steps
    # A hook may have put an event between our last look and our letting go of the lock, seen
    # the lock, and left it to us: so look again without it.
    while events.is_waiting(home, environ):
        before = done.events
        lock = Lock(os.path.join(home, LOCK))
        try:
            make_folder(home)  # it may have been missing or unusable when the events came
            if not lock.acquire(patience):
                return done
            try:
                if not _empty(home, environ, steps, settle, done):
                    return done
            finally:
                lock.release()
        except (OSError, sqlite3.Error, LtmError) as error:
            hook_log.note(home, "drain", error)
            done.errors += 1
            return done
        if done.events == before or not again:
            return done
    return done


def _empty(
    home: str, environ: Mapping[str, str], steps: Sequence[Step], settle: float, done: Drained
) -> bool:
    """Process the events that wait; False when a writer was in the way of some of them."""
    finished = Finished()
    with closing(SessionLog(os.path.join(home, STATE))) as log:
        projects = OpenProjects(home, environ, log)
        with closing(projects):
            log.relax()
            try:
                stuck = _process(home, environ, steps, settle, projects, log, done, finished)
                log.prune(datetime.now(UTC))
            finally:
                # What events told is on the disk before their files are gone. All at once, because
                # each by itself waits for the disk. Whatever happens before this, an event that
                # comes again goes on behind the step that counted it.
                with log.transaction():
                    log.finish_events(finished.keys)
                log.settle()
                events.remove(finished.paths)
            _refresh(home, environ, projects, done)
    events.sweep(home, environ)
    return not stuck


def _process(
    home: str,
    environ: Mapping[str, str],
    steps: Sequence[Step],
    settle: float,
    projects: OpenProjects,
    log: SessionLog,
    done: Drained,
    finished: Finished,
) -> set[str]:
    """Process what waits, noting in `finished` what is done; the folders a writer kept locked."""
    stuck: set[str] = set()
    halted: set[str] = set()  # sessions of which an event waits for a better disk
    for spooled in in_order(home, environ):
        if spooled.trouble is not None:
            hook_log.note(home, "drain", spooled.trouble)
            done.errors += 1
            continue
        event = from_record(spooled.key, spooled.record)
        if event is None:
            finished.add(spooled)
            continue
        if event.cwd in stuck:
            continue  # what kept an event of this folder waiting would keep this one as long
        if event.session in halted:
            continue  # an end that overtakes its beginning is the end of no session
        if event.event in _BEHIND:
            time.sleep(min(settle, max(0.0, event.at + settle - time.time())))
        work = StepContext(event, home, log, datetime.now(UTC), projects)
        try:
            begun, tries = (DONE, 0) if event.key in finished.keys else log.progress(event.key)
            is_done = begun >= DONE or _is_done(work, steps, begun, tries, done)
        except (*_TROUBLE, Busy) as error:
            # Not the event's fault: when the disk is better, it goes on from here.
            if isinstance(error, Busy):
                stuck.add(event.cwd)
            else:
                halted.add(event.session)
            if isinstance(error, Busy) or not done.errors:
                hook_log.note(home, "drain", error)
            done.errors += 1
            continue
        if is_done:
            finished.add(spooled)
            done.events += begun < DONE
            if event.cwd and event.event in _AT_ENDS:
                done.folders[event.cwd] = None
            if event.event in _AT_ENDS:
                mark_due(home, spaced=event.event not in _AT_REMOTE)
    return stuck


def _is_done(
    work: StepContext, steps: Sequence[Step], begun: int, tries: int, done: Drained
) -> bool:
    """Take an event's steps from where it stands; False when it must be tried again later, which
    also goes for `Busy` and `_TROUBLE`. A step that fails again and again is left out.

    Where it stands is noted with what is counted, which must not happen twice, and when a step
    fails. All other steps may be taken again after a crash: they know what they have done.
    """
    for number, step in enumerate((log_event, *steps)):
        if number < begun:
            continue
        try:
            step(work)
        except (*_TROUBLE, Busy):
            work.projects.close()  # whatever was in the way, the next event opens its files again
            raise
        except Exception as error:
            work.projects.close()
            hook_log.note(work.home, f"drain, {getattr(step, '__name__', 'step')}", error)
            done.errors += 1
            if tries + 1 < TRIES:
                work.log.note_progress(work.event.key, number, tries + 1)
                return False
        tries = 0
    return True


def _refresh(home: str, environ: Mapping[str, str], projects: OpenProjects, done: Drained) -> None:
    """Indexes and the texts for the next sessions, once for all that happened."""
    environ = {**environ, "LTM_HOME": home}
    for folder in done.folders:
        try:
            project = projects.open_current(folder)
            compose_brief(project, folder, environ)
            embed_new(project, environ)
        except Exception as error:
            hook_log.note(home, "drain, refresh", error)
            projects.close()
            done.errors += 1
    done.folders.clear()
    session_text.clear(home, days=30)
    hook_log.note_runtime(home, __version__, projects.user.own("hooks.save_interval"))


def is_due(home: str) -> bool:
    """Whether there is something for a model to read now. Cheap where none is switched on."""
    if load(home).own("llm.backend") == OFF:
        return False
    with closing(ModelLog(os.path.join(home, STATE))) as models:
        return bool(models.due(datetime.now(UTC)))
