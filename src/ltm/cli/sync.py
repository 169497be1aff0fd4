"""`ltm sync`: update the files that show memories."""

from __future__ import annotations

import os
import shlex
from contextlib import suppress

import click

from ltm.cli import output
from ltm.cli.command import Work, command
from ltm.errors import WrongUsage
from ltm.files.atomic import read_plain, write_file
from ltm.files.block import TARGETS, find_block, place_block
from ltm.inject.memory_md import Published, block, give_back, write_views
from ltm.model import now
from ltm.store.open import vaults_of
from ltm.store.other_tools import answer, as_answered, foreign


@command("sync")
@click.option(
    "--take-over",
    is_flag=True,
    help="Also replace a block that ltm did not write; a copy is kept.",
)
@click.option("--give-back", is_flag=True, help="Put back what --take-over replaced.")
@click.option("--claude-md", is_flag=True, help="First add the markers to CLAUDE.md.")
@click.option("--agents-md", is_flag=True, help="First add the markers to AGENTS.md.")
def sync_command(
    work: Work, take_over: bool, give_back: bool, claude_md: bool, agents_md: bool
) -> None:
    """Update MEMORY.md, and the block between markers in CLAUDE.md or AGENTS.md.

    Text outside the markers is not touched; --claude-md and --agents-md add the markers. A block
    that ltm did not write is replaced only with --take-over, and --give-back undoes that. With
    `ltm config sync.imports true` the block is the line `@…/MEMORY.md` instead of a copy.
    """
    for name, wanted in (("CLAUDE.md", claude_md), ("AGENTS.md", agents_md)):
        if wanted:
            place_markers(work, name)
    if take_over and give_back:
        raise WrongUsage("--take-over and --give-back are opposites", hint="give one of them")
    theirs = {each.path: each for each in foreign(work.places)}
    done = _give_back(work) if give_back else write(work, take_over=take_over)
    problems = as_answered(work.places, done.problems)
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
    return write_views(
        work.store,
        vaults_of(work.places),
        work.places.project.root,
        now=now(),
        max_lines=work.config.get("claude_md.lines"),
        imports=work.config.own("sync.imports"),
        take_over=take_over,
    )


def place_markers(work: Work, name: str = "CLAUDE.md") -> str:
    """Add the markers to a file of the project; its path, or '' if it has them."""
    path = os.path.join(work.places.project.root, name)
    try:
        with open(path, "rb") as file:
            before = file.read()
    except FileNotFoundError:
        before = b""
    placed = before
    if find_block(before) is None:
        placed = place_block(before, block((), work.config.kinds, now()))
    if placed == before:
        return ""
    write_file(path, placed, mode=0o644)
    return path


def has_markers(work: Work) -> bool:
    """Whether a file of the project asks for the block."""
    for name in TARGETS:
        with suppress(OSError):
            if find_block(read_plain(os.path.join(work.places.project.root, name))) is not None:
                return True
    return False


def _give_back(work: Work) -> Published:
    """Put back what was taken over, and stop offering it: who wants it back, keeps it."""
    done = give_back(vaults_of(work.places), work.places.project.root)
    back = [each for each in foreign(work.places) if each.path in done.written and each.is_new]
    answer(work.places.home, back, ignored=True)
    return done
