"""`ltm stash`: save the state of a session to a file."""

from __future__ import annotations

import os

import click

from ltm.cli import output
from ltm.cli.command import Work, command
from ltm.errors import WrongUsage
from ltm.model import now
from ltm.notes.stash import MANY, Stashes, stash
from ltm.project.git_command import is_ignored
from ltm.text.display import counted


@command("stash")
@click.argument("name", nargs=-1)
@click.option("--session", default="", metavar="ID", help="Another session than the current one.")
@click.option("--transcript", default="", type=click.Path(), metavar="FILE", help="Its transcript.")
@click.option("--list", "listing", is_flag=True, help="List stashes.")
def stash_command(
    work: Work, name: tuple[str, ...], session: str, transcript: str, listing: bool
) -> None:
    """Save the state of the current session to .claude/stash/NAME.md, to continue later.

    \b
    ltm stash
    ltm stash "login rewrite"
    ltm stash --list

    It holds goal, state, decisions, next steps, open ends and files, taken from the transcript
    without a model; a model improves the wording if you configured one (llm.backend). Without NAME
    the subject of the session is the name; a taken name gets a number. `ltm consolidate --all`
    makes memories of stashes.
    """
    if listing:
        if name or session or transcript:
            raise WrongUsage("--list takes no name", hint="try: ltm stash --list")
        _list(work)
        return
    done = stash(
        work.places,
        work.config,
        name=" ".join(name),
        session=session,
        transcript=transcript,
        at=now(),
    )
    waiting = _stashes(work).waiting()
    if work.as_json:
        output.emit(
            {
                "name": done.stash.name,
                "path": done.stash.path,
                "renamed": done.stash.name != done.wanted,
                "session": done.session,
                "turns": done.turns,
                "model": done.model,
                "waiting": waiting,
            }
        )
        return
    output.say(
        f"Stashed {counted(done.turns, 'turn')} as {done.stash.name},"
        f" in {_shown(work, done.stash.path)}"
    )
    if done.stash.name != done.wanted:
        output.note(f"The name {done.wanted} is taken, so it is {done.stash.name}.")
    project = work.places.project
    if project.common_dir and not is_ignored(project.root, done.stash.path):
        output.note("git does not ignore it: see .claude/stash/.gitignore before you commit.")
    if done.model not in ("none", "worded"):
        output.note(f"The model did not help: {done.model}")
    nudge(waiting)


def nudge(waiting: int) -> None:
    """Say that many stashes wait, if many do."""
    if waiting >= MANY:
        output.note(f"{waiting} stashes to make memories of: ltm consolidate --all")


def _list(work: Work) -> None:
    stashes = _stashes(work)
    found = stashes.every()
    if work.as_json:
        output.emit(
            {
                "stashes": [
                    {
                        "name": each.name,
                        "path": each.path,
                        "processed": each.processed,
                        "ours": each.ours,
                    }
                    for each in found
                ],
                "waiting": sum(not each.processed for each in found),
                "problems": [
                    {"path": path, "message": message} for path, message in stashes.problems
                ],
            }
        )
        return
    for path, message in stashes.problems:
        output.note(f"problem: {path}: {message}")
    if not found:
        output.note("There are no stashes. Save a session with: ltm stash [NAME]")
        return
    output.table(
        ("stash", "state", "file"),
        [
            (each.name, "remembered" if each.processed else "waits", _shown(work, each.path))
            for each in found
        ],
    )
    nudge(sum(not each.processed for each in found))


def _stashes(work: Work) -> Stashes:
    return Stashes(work.places.project.root, work.places.private)


def _shown(work: Work, path: str) -> str:
    return os.path.relpath(path, work.places.project.root)
