"""What is done at the end of a session, whether it taught anything: upkeep, and the views.

Apart from `learning`, which takes far longer to load.
"""

from __future__ import annotations

from datetime import datetime

from ltm.inject.memory_md import Published, write_views
from ltm.spool.session_text import stamp
from ltm.store.open import vaults_of
from ltm.store.project import OpenProject
from ltm.upkeep import consolidate, plan

_VIEWS = "views"
"""Under this name the log keeps how a project's memories were when its views were written."""


def tidy_up(project: OpenProject, now: datetime) -> None:
    """At the end of a session: one memory where several say the same, then what fades."""
    store, log, project_id = project.store, project.log, project.places.project.id
    merged, held = consolidate.run(store, now, least=consolidate.LEAST)
    plan.note_masses(log, project_id, plan.CONSOLIDATE, held)
    faded = plan.run(store, now=now, limits=plan.limits_of(project.config))
    plan.note_masses(log, project_id, plan.UPKEEP, faded.held)
    if faded.done or merged:
        write_project_views(project, now)


def write_project_views(project: OpenProject, now: datetime) -> Published:
    """Bring MEMORY.md and the blocks in files of the project up to date."""
    where, there = project.places, _stamps(project)
    written = write_views(
        project.store,
        vaults_of(where),
        where.project.root,
        now=now,
        max_lines=project.config.get("claude_md.lines"),
        imports=project.config.own("sync.imports"),
    )
    with project.log.transaction():
        project.log.keep_cursor("", _VIEWS, where.project.id, there)
    return written


def refresh_views(project: OpenProject, now: datetime) -> None:
    """The same, if memories were changed since."""
    if project.log.cursor("", _VIEWS, project.places.project.id) != _stamps(project):
        write_project_views(project, now)


def _stamps(project: OpenProject) -> str:
    return " ".join(stamp(vault.memories) for vault in vaults_of(project.places))
