"""What a session teaches: read on in its transcript and keep that.

For the steps of a drain, for `ltm capture` and for reflection. Loads the rules that find something
worth keeping, which takes longer than all else that follows from most events.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import datetime

from ltm.capture.decide import Candidate
from ltm.capture.pipeline import Captured, capture
from ltm.capture.remember import note_likely, settle_known
from ltm.history.db import passages_of
from ltm.model import Status, utc
from ltm.sessions import stats
from ltm.sessions.sources import file_of
from ltm.sessions.transcript import Lines, LineSource
from ltm.state.candidates import Candidates
from ltm.state.session_log import Session, SessionLog
from ltm.store.project import OpenProject
from ltm.upkeep import consolidate, plan
from ltm.worker.session_end import write_project_views

_CAPTURES = "captures"
"""Under this name the log keeps how many captures a project had since it was consolidated."""


def begin(
    log: SessionLog,
    path: str,
    session: str,
    project: str,
    cwd: str,
    started: str,
    *,
    client: str = "",
    lines: LineSource = Lines,
) -> Session:
    """Note a session that no hook reported, from its transcript, with its figures."""
    try:
        at = utc(started)
    except ValueError:
        at = datetime.fromtimestamp(os.stat(file_of(path)).st_mtime).astimezone()
    with log.transaction():
        log.begin(session, project, cwd, path, at, client)
    known = log.get(session)
    assert known is not None
    stats.update(log, known, at, lines=lines)
    return log.get(session) or known


def learn_from(
    project: OpenProject, session: Session, now: datetime, *, lines: LineSource = Lines
) -> Captured:
    """Read on in a session's transcript and keep what it taught, in the project it ran in."""
    store, log, project_id = project.store, project.log, project.places.project.id
    candidates = Candidates(project.places.private)

    def noted(likely: Sequence[Candidate]) -> None:
        if not passages_of(project, readonly=True).is_purged(session.id):
            note_likely(store, candidates, likely, now)

    done = capture(
        store,
        log,
        session.id,
        session.transcript,
        now=now,
        difficulty=session.difficulty,
        folder=session.cwd,
        lines=lines,
        note_likely=noted,
    )
    if done.added:
        settle_known(candidates, (store.read(each).memory for each in done.added))
    if done.added and _is_time(project):
        _, held = consolidate.run(store, now, least=consolidate.LEAST)
        plan.note_masses(log, project_id, plan.CONSOLIDATE, held)
    if done.added or done.superseded:
        write_project_views(project, now)
    return done


def _is_time(project: OpenProject) -> bool:
    """Whether a capture is the tenth since the last time, or there are many memories."""
    log, project_id = project.log, project.places.project.id
    number = int(log.cursor("", _CAPTURES, project_id) or 0) + 1
    with log.transaction():
        log.keep_cursor("", _CAPTURES, project_id, str(number % consolidate.OFTEN))
    counts = project.store.counts()
    active = sum(count for _, _, status, _, count in counts if status == Status.ACTIVE)
    return number >= consolidate.OFTEN or active > consolidate.MANY
