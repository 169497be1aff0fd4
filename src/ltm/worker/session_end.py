"""What is done at the end of a session, whether it taught anything: upkeep, and the views.

Apart from `learning`, which takes far longer to load.
"""

from __future__ import annotations

from datetime import datetime

from ltm.inject.memory_md import Published, write_views
from ltm.store.open import vaults_of
from ltm.store.project import OpenProject
from ltm.upkeep import consolidate, plan


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
    where = project.places
    return write_views(
        project.store,
        vaults_of(where),
        where.project.root,
        now=now,
        max_lines=project.config.get("claude_md.lines"),
        imports=project.config.own("sync.imports"),
    )
