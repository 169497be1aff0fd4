"""`ltm sync`: update the files that show memories."""

from __future__ import annotations

import shlex

import click

from ltm.cli import output
from ltm.cli.command import Work, command
from ltm.errors import WrongUsage
from ltm.inject.memory_md import Published, give_back, write_views
from ltm.model import now
from ltm.store.open import vaults_of
from ltm.store.other_tools import answer, foreign


@command("sync")
@click.option(
    "--take-over",
    is_flag=True,
    help="Also replace a block that ltm did not write; a copy is kept.",
)
@click.option("--give-back", is_flag=True, help="Put back what --take-over replaced.")
def sync_command(work: Work, take_over: bool, give_back: bool) -> None:
    """Update MEMORY.md, and the block between markers in CLAUDE.md or AGENTS.md.

    Text outside the markers is not touched; `ltm init --claude-md` adds the markers. A block that
    ltm did not write is replaced only with --take-over, and --give-back undoes that.
    """
    if take_over and give_back:
        raise WrongUsage("--take-over and --give-back are opposites", hint="give one of them")
    theirs = {each.path: each for each in foreign(work.places)}
    done = _give_back(work) if give_back else write(work, take_over=take_over)
    problems = [
        theirs[each.path].problem if each.path in theirs and not each.ill else each
        for each in done.problems
    ]
    if work.as_json:
        output.emit(
            {
                "written": list(done.written),
                "kept": [{"path": path, "copy": copy} for path, copy in done.kept],
                "problems": [
                    {"path": each.path, "line": each.line, "message": each.message}
                    for each in problems
                ],
            }
        )
        return
    for path in done.written:
        output.say(f"wrote {path}")
    for path, copy in done.kept:
        output.note(f"what was not from ltm in {path} is kept in {copy}")
    if take_over and done.kept:
        output.note("Put it back with: ltm sync --give-back")
    for path in done.written if take_over else ():
        if path in theirs and theirs[path].is_new:
            output.note(
                "Its memories were not imported. To do that: ltm sync --give-back,"
                f" ltm import {shlex.quote(theirs[path].source)}, ltm sync --take-over"
            )
    for problem in problems:
        output.note(output.problem(problem))
    if not done.written and not problems:
        output.note("There is nothing to put back." if give_back else "Everything is up to date.")


def write(work: Work, *, take_over: bool = False) -> Published:
    """Write the views of this project."""
    vaults, root = vaults_of(work.places), work.places.project.root
    return write_views(work.store, vaults, root, now=now(), take_over=take_over)


def _give_back(work: Work) -> Published:
    """Put back what was taken over, and stop offering it: who wants it back, keeps it."""
    done = give_back(vaults_of(work.places), work.places.project.root)
    back = [each for each in foreign(work.places) if each.path in done.written and each.is_new]
    answer(work.places.home, back, ignored=True)
    return done
