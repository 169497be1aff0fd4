"""`ltm forget` and `ltm restore`."""

from __future__ import annotations

import sys

import click

from ltm.cli import output
from ltm.cli.command import Number, Work, command
from ltm.cli.sync import write
from ltm.decisions import Forget, Purge, Restore
from ltm.errors import LtmError, StorageFailed, WrongUsage
from ltm.text.display import counted, one_line
from ltm.upkeep.purge import purge_copies, purge_traces


@command("forget")
@click.argument("memory_id", metavar="ID")
@click.option("--purge", is_flag=True, help="Erase it everywhere: no archive, no undo.")
@click.option("--yes", "-y", is_flag=True, help="Do not ask before purging; --json never asks.")
def forget_command(work: Work, memory_id: str, purge: bool, yes: bool) -> None:
    """Forget the memory ID. `ltm restore ID` brings it back, unless it was purged.

    \b
    ltm forget 4kqtxqcl
    ltm forget 4kqtxqcl --purge

    --purge also erases what ltm kept about it from this project's sessions, notes, stashes and
    corrections, and does not learn it again from the same messages.
    """
    stored = work.store.read(memory_id)
    if purge and not yes and not work.as_json:
        confirm(f"Erase '{stored.memory.title}' for good?")
    # Its traces first: while the memory is there, an interrupted purge can be repeated.
    passages, transcript = purge_traces(stored.memory, work.places) if purge else (0, "")
    applied = work.store.apply(Purge(stored.memory.id) if purge else Forget(stored.memory.id))
    if purge:
        try:
            write(work)  # the views quote it too
            purge_copies(stored.memory, work.places)
        except LtmError as error:
            raise StorageFailed(
                f"the memory is purged, but the views may still quote it: {error.message}",
                path=error.path,
                hint="run 'ltm sync' when that is mended",
            ) from error
    if work.as_json:
        value = {"id": stored.memory.id, "status": applied.action}
        output.emit({**value, "passages": passages} if purge else value)
        return
    if not purge:
        output.say(f"Forgot {stored.memory.id} ({stored.memory.title})")
        output.say(f"  bring it back with: ltm restore {stored.memory.id}")
        return
    output.say(f"Purged {stored.memory.id}")
    if passages:
        output.say(f"  and {counted(passages, 'passage')} of sessions that said it")
    if transcript:
        output.note(
            f"The client's own transcript still has it, until the client deletes it: {transcript}"
        )
    if stored.vault == "shared":
        output.note("What was committed before stays in git's history until you rewrite it.")


def confirm(question: str) -> None:
    """Ask before something is erased; without a terminal, name the option that confirms."""
    asked = one_line(question)
    if not sys.stdin.isatty():
        raise WrongUsage(f"no terminal to ask: {asked}", hint="to confirm, add --yes")
    click.confirm(asked, abort=True, err=True)


@command("restore")
@click.argument("memory_id", metavar="ID")
@click.option(
    "--version",
    metavar="N",
    type=Number(1),
    default=None,
    help="An earlier version; `ltm show ID` lists them.",
)
@click.option("--phase", type=click.Choice(["0"]), default="0", help="0: the full text.")
def restore_command(work: Work, memory_id: str, version: int | None, phase: str) -> None:
    """Bring the memory ID back, active and with its full text.

    \b
    ltm restore 4kqtxqcl                it was forgotten, replaced or shortened
    ltm restore 4kqtxqcl --version 1    what it said before it was changed
    """
    stored = work.store.apply(
        Restore(work.store.read(memory_id).memory.id, version=version or 0)
    ).stored
    if work.as_json:
        output.emit({"id": stored.memory.id, "status": str(stored.memory.status)})
        return
    output.say(f"Restored {stored.memory.id} ({output.memory_headline(stored.memory)})")
