"""When a model reads a session, if one is switched on: seldom, later, and never in anybody's way.

Owns which events make a session due for a model (before the context goes, at the end, or when a lot
was said) and the work itself, which `ltm drain` does after everything else, under a lock of its
own: a slow model holds up no event and no memory. `ltm capture` reads with `hear_session`.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Mapping
from datetime import UTC, datetime

from ltm.capture.model_extract import READER, Replaceable, hear
from ltm.capture.pipeline import Captured
from ltm.config.config import load
from ltm.errors import LtmError
from ltm.files.lock import Lock
from ltm.llm.model import OFF, Model, open_model
from ltm.project.layout import STATE, Places, places
from ltm.sessions.stats import has_grown, is_there
from ltm.spool import hook_log
from ltm.state.model_log import ModelLog
from ltm.state.session_log import Session, SessionLog
from ltm.store.open import open_store, vaults_of

LOCK = "llm.lock"

_ENOUGH = {"Stop": 100_000}
"""Bytes a transcript must have grown by since a model last read it, for events that come often."""

_TURN = 0.2


def note_due(home: str, log: SessionLog, session: Session, event: str) -> None:
    """Note that a model is to read on in a session, if one is switched on and it is worth it."""
    if load(home).own("llm.backend") == OFF:
        return
    if not has_grown(log, session, READER, _ENOUGH.get(event, 1)):
        return
    models = ModelLog(os.path.join(home, STATE))
    try:
        models.note_unheard(session.id)
    finally:
        models.close()


def is_due(home: str) -> bool:
    """Whether there is something for a model to read now. Cheap where none is switched on."""
    if load(home).own("llm.backend") == OFF:
        return False
    models = ModelLog(os.path.join(home, STATE))
    try:
        return bool(models.due(datetime.now(UTC)))
    finally:
        models.close()


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
    log: SessionLog,
    session: Session,
    now: datetime,
    environ: Mapping[str, str],
    *,
    where: Places | None = None,
    replaceable: Replaceable | None = None,
) -> Captured:
    """Let the model read on in one session, and once more what it could not answer before."""
    found = where or places(session.cwd, environ=environ)
    models = ModelLog(found.state_db)
    try:
        model = open_model(load(found.home), found.home, models, environ)
        if model is None:
            return Captured()
        lock = Lock(os.path.join(found.home, LOCK))
        if not lock.acquire(patience=_TURN):
            return Captured(llm_error="another process is asking the model at the moment")
        try:
            return _hear(log, models, model, session, found, now, replaceable, again=True)
        finally:
            lock.release()
    finally:
        models.close()


def _hear_all(
    home: str, environ: Mapping[str, str], done: Captured, replaceable: Replaceable
) -> None:
    from ltm.hook.answer import compose_brief

    state = os.path.join(home, STATE)
    log, models = SessionLog(state), ModelLog(state)
    try:
        model = open_model(load(home), home, models, environ)
        if model is None:
            return
        for note in models.due(datetime.now(UTC)):
            session = log.get(note.session)
            if session is None or not is_there(session):
                models.forget_unheard(note)
                continue
            found = places(session.cwd, environ=environ)
            done += _hear(log, models, model, session, found, datetime.now(UTC), replaceable)
            compose_brief(session.cwd, environ, readonly=False)
            if done.llm_error:
                return  # the next would fare no better
    finally:
        models.close()
        log.close()


def _hear(
    log: SessionLog,
    models: ModelLog,
    model: Model,
    session: Session,
    found: Places,
    now: datetime,
    replaceable: Replaceable | None,
    *,
    again: bool = False,
) -> Captured:
    from ltm.inject.memory_md import write_views

    now = now.replace(microsecond=0)
    store = open_store(found, load(found.home, found.settings))
    try:
        done = hear(
            store, log, models, model, session, now=now, again=again, replaceable=replaceable
        )
        if done.added or done.superseded:
            write_views(store, vaults_of(found), found.project.root, now=now)
    finally:
        store.close()
    return done
