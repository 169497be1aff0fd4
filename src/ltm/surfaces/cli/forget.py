"""`ltm forget`: out of sight, or gone for good."""

from __future__ import annotations

import sys

import click

from ltm.core.decision import Forget, Purge
from ltm.core.errors import WrongUsage
from ltm.core.screen import one_line
from ltm.surfaces.cli import output
from ltm.surfaces.cli.work import Work
from ltm.surfaces.cli.work import command as make


@make("forget")
@click.argument("memory_id", metavar="ID")
@click.option("--purge", is_flag=True, help="Leave no byte of it: no archive, no index, no undo.")
@click.option("--yes", "-y", is_flag=True, help="Do not ask before purging.")
def command(work: Work, memory_id: str, purge: bool, yes: bool) -> None:
    """Forget the memory ID. `ltm restore ID` brings it back, unless it was purged."""
    stored = work.store.read(memory_id)
    if purge and not yes and not work.as_json:
        _confirm(f"Purge '{stored.memory.title}' for good?")
    applied = work.store.apply(Purge(stored.memory.id) if purge else Forget(stored.memory.id))
    if work.as_json:
        output.emit({"id": stored.memory.id, "status": applied.action})
        return
    if not purge:
        output.say(f"Forgot {stored.memory.id} ({stored.memory.title})")
        output.say(f"  bring it back with: ltm restore {stored.memory.id}")
        return
    output.say(f"Purged {stored.memory.id}")
    if stored.vault == "shared":
        output.note("What was committed before stays in git's history until you rewrite it.")


def _confirm(question: str) -> None:
    if not sys.stdin.isatty():
        raise WrongUsage("purging asks first, and nobody is here to answer", hint="add --yes")
    click.confirm(one_line(question), abort=True, err=True)
