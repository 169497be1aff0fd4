"""Transcripts of sessions that no hook reported: learned from, and made searchable.

This is the use case of `ltm capture`. Reading continues where it stopped, so that repeating it adds
nothing.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing

from ltm.capture.model_extract import Replaceable
from ltm.capture.pipeline import Captured
from ltm.history.ingest import keep_session
from ltm.model import now
from ltm.record import NamedTuple
from ltm.sessions.transcript import Transcripts, origin, unpacked
from ltm.store.project import OpenProject
from ltm.worker.learning import begin, learn_from
from ltm.worker.model_queue import hear_session
from ltm.worker.steps import is_wanted

SKIPPED = {
    "folder_gone": "the project's folder is gone",
    "client_left_out": "their client is not among capture.clients",
    "folder_unknown": "their client did not note the folder; capture them inside their project",
}
"""Why sessions are not read."""


class SessionsRead(NamedTuple):
    captured: Captured
    sessions: int
    passages: int
    skipped: Mapping[str, int]
    """How many were not read, by the keys of `SKIPPED`."""


def read_sessions(
    project: OpenProject,
    paths: Sequence[str],
    *,
    own_project: bool,
    tick: Callable[[], None],
    environ: Mapping[str, str],
) -> SessionsRead:
    """Learn from transcripts, each for the project it ran in with `own_project`, else for this one.

    `tick` is called for each transcript.
    """
    done, sessions, passages = Captured(), 0, 0
    skipped = dict.fromkeys(SKIPPED, 0)
    replaceable, log, user = Replaceable(), project.log, project.user
    with closing(Transcripts()) as transcripts, ExitStack() as opened:
        for path in paths:
            tick()
            with unpacked(path) as plain:
                began = origin(plain, transcripts.lines)
                if own_project:
                    if began.is_subagent:
                        continue  # what it found stands in the session that asked it
                    if not is_wanted(user, began.client):
                        skipped["client_left_out"] += 1
                        continue
                    if not os.path.isdir(began.cwd):
                        skipped["folder_gone" if began.cwd else "folder_unknown"] += 1
                        continue
                    if project.folder != began.cwd:
                        opened.close()
                        project = OpenProject(began.cwd, user=user, log=log)
                        opened.enter_context(project)
                where = project.places.project
                session = begin(
                    log,
                    plain,
                    origin(path).session if plain != path else began.session,
                    where.id,
                    began.cwd or where.root,
                    began.started,
                    client=began.client,
                    lines=transcripts.lines,
                )
                done += learn_from(project, session, now(), lines=transcripts.lines)
                passages += keep_session(
                    project, session, now(), known_as=path, lines=transcripts.lines
                )
                if not done.llm_error:
                    done += hear_session(project, session, now(), environ, replaceable)
                if plain != path:  # the copy goes: what is noted is where it came from
                    with log.transaction():
                        log.begin(session.id, session.project, session.cwd, path, now())
            sessions += 1
    return SessionsRead(done, sessions, passages, skipped)
