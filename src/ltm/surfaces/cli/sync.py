"""`ltm sync`: bring the files that show memories up to date."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ltm.core.model import now
from ltm.surfaces.cli import output
from ltm.surfaces.cli.work import Work
from ltm.surfaces.cli.work import command as make

if TYPE_CHECKING:
    from ltm.inject.publish import Published


@make("sync")
def command(work: Work) -> None:
    """Write MEMORY.md, and the block in CLAUDE.md or AGENTS.md where its markers ask for one.

    Everything outside the markers stays as it is. `ltm init --claude-md` places them.
    """
    done = write(work)
    if work.as_json:
        output.emit(
            {
                "written": list(done.written),
                "problems": [
                    {"path": each.path, "line": each.line, "message": each.message}
                    for each in done.problems
                ],
            }
        )
        return
    for path in done.written:
        output.say(f"wrote {path}")
    for problem in done.problems:
        output.note(f"problem: {problem.path}: {problem.message}")
    if not done.written and not done.problems:
        output.note("Everything is up to date.")


def write(work: Work) -> Published:
    """Write the views of this project."""
    from ltm.inject.publish import write_views
    from ltm.storage.opening import vaults_of

    return write_views(work.store, vaults_of(work.places), work.places.project.root, now=now())
