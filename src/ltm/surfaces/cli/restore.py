"""`ltm restore`: undo forgetting, fading and editing."""

from __future__ import annotations

import click

from ltm.core.decision import Restore
from ltm.surfaces.cli import output
from ltm.surfaces.cli.work import Work
from ltm.surfaces.cli.work import command as make


@make("restore")
@click.argument("memory_id", metavar="ID")
@click.option(
    "--version",
    metavar="N",
    type=click.IntRange(1),
    default=None,
    help="A kept version to go back to; `ltm show ID` lists them.",
)
@click.option("--phase", type=click.Choice(["0"]), default="0", help="0: the full text.")
def command(work: Work, memory_id: str, version: int | None, phase: str) -> None:
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
    output.say(f"Restored {stored.memory.id} ({output.headline(stored.memory)})")
