"""Let the model, if one is switched on, read the sessions that are due.

`ltm drain` does it after everything else and under a lock of its own, so that a slow model delays
no event and no memory. `ltm capture` reads with `hear_session`.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from datetime import UTC, datetime

from ltm.capture.model_extract import Replaceable, hear
from ltm.capture.pipeline import Captured
from ltm.config.config import load
from ltm.errors import LtmError
from ltm.files.lock import Lock
from ltm.hook.answer import compose_brief
from ltm.llm.model import Model, open_model
from ltm.project.layout import STATE
from ltm.sessions.stats import is_there
from ltm.spool import hook_log
from ltm.state.model_log import ModelLog
from ltm.state.session_log import Session, SessionLog
from ltm.store.project import OpenProject
from ltm.worker.drain import is_due
from ltm.worker.session_end import write_project_views

LOCK = "llm.lock"

_TURN = 0.2


def hear_due(home: str, environ: Mapping[str, str] = os.environ) -> Captured:
    """Let the model read what is due, then return; at once when another process is at it."""
    done, replaceable = Captured(), Replaceable()
    lock = Lock(os.path.join(home, LOCK))
    # Another process may have noted a session for us while we released the lock.
    while not done.llm_error and is_due(home) and lock.acquire(patience=_TURN):
        before = done.llm_calls
        try:
            _hear_all(home, {**environ, "LTM_HOME": home}, done, replaceable)
        except (OSError, sqlite3.Error, LtmError) as error:
            hook_log.note(home, "model", error)
        finally:
            lock.release()
        if done.llm_calls == before:
            break
    return done


def hear_session(
    project: OpenProject,
    session: Session,
    now: datetime,
    environ: Mapping[str, str],
    replaceable: Replaceable,
) -> Captured:
    """Let the model read on in one session, and once more what it could not answer before."""
    home = project.places.home
    with closing(ModelLog(project.places.state_db)) as models:
        model = open_model(project.user, home, models, environ)
        if model is None:
            return Captured()
        lock = Lock(os.path.join(home, LOCK))
        if not lock.acquire(patience=_TURN):
            return Captured(llm_error="another process is asking the model at the moment")
        try:
            return _hear(project, models, model, session, now, replaceable, again=True)
        finally:
            lock.release()


def _hear_all(
    home: str, environ: Mapping[str, str], done: Captured, replaceable: Replaceable
) -> None:
    state, user = os.path.join(home, STATE), load(home)
    with closing(SessionLog(state)) as log, closing(ModelLog(state)) as models:
        model = open_model(user, home, models, environ)
        if model is None:
            return
        for note in models.due(datetime.now(UTC)):
            session = log.get(note.session)
            if session is None or not is_there(session):
                models.forget_unheard(note)
                continue
            with OpenProject(session.cwd, environ=environ, user=user, log=log) as project:
                done += _hear(project, models, model, session, datetime.now(UTC), replaceable)
            # The model may have taken minutes: the text is composed with what holds now.
            with OpenProject(session.cwd, environ=environ) as project:
                compose_brief(project, session.cwd, environ)
            if done.llm_error:
                return  # the next would fare no better


def _hear(
    project: OpenProject,
    models: ModelLog,
    model: Model,
    session: Session,
    now: datetime,
    replaceable: Replaceable,
    *,
    again: bool = False,
) -> Captured:
    now = now.replace(microsecond=0)
    store, log = project.store, project.log
    done = hear(store, log, models, model, session, now=now, again=again, replaceable=replaceable)
    if done.added or done.superseded:
        write_project_views(project, now)
    return done
