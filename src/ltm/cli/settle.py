"""`ltm settle`: say which of two memories that do not agree holds."""

from __future__ import annotations

import click

from ltm.cli import output
from ltm.cli.command import Work
from ltm.cli.command import command as make
from ltm.decisions import Settle
from ltm.errors import Refused, WrongUsage
from ltm.inject.select import disputes
from ltm.model import Filter, Stored
from ltm.text.display import counted, one_line


@make("settle")
@click.argument("memory_id", metavar="[ID]", required=False)
@click.argument("others", metavar="[OTHER]...", nargs=-1)
@click.option("--both", is_flag=True, help="All of them hold: keep them apart from now on.")
def command(work: Work, memory_id: str | None, others: tuple[str, ...], both: bool) -> None:
    """Let the memory ID hold instead of those it does not agree with, or of OTHER.

    \b
    ltm settle                      what is open
    ltm settle 4kqtxqcl             this one holds; the others are replaced by it
    ltm settle 4kqtxqcl 7hwz0d1m    the same for one that is not known to disagree
    ltm settle 4kqtxqcl --both      both hold

    What is replaced is kept: `ltm restore` brings it back.
    """
    if memory_id is None:
        if both:
            raise WrongUsage("which memories hold both?", hint="try: ltm settle ID --both")
        _list(work)
        return
    kept = work.store.read(memory_id)
    rivals = [work.store.read(each).memory.id for each in others] or _rivals(work, kept)
    if not rivals:
        raise Refused(
            f"{kept.memory.id} is in conflict with no memory",
            hint="name the other one: ltm settle ID OTHER",
        )
    if kept.memory.id in rivals:
        raise WrongUsage("a memory cannot take its own place", hint="name two memories")
    done = work.store.apply(Settle(kept.memory.id, tuple(rivals), all_hold=both))
    if work.as_json:
        output.emit(
            {
                "id": kept.memory.id,
                "action": "both" if both else "settled",
                "superseded": list(done.superseded),
                "distinct": list(done.stored.memory.distinct),
            }
        )
        return
    if both:
        output.say(f"Both hold: {', '.join((kept.memory.id, *rivals))}")
        return
    output.say(f"{kept.memory.id} holds ({output.memory_headline(kept.memory)})")
    for each in done.superseded:
        output.say(f"  replaced: {each} (bring it back with: ltm restore {each})")


def _rivals(work: Work, kept: Stored) -> list[str]:
    """The memories in force that one is in conflict with."""
    for group in disputes(work.store.list(Filter()).items).values():
        ids = [each.memory.id for each in group]
        if kept.memory.id in ids:
            return [each for each in ids if each != kept.memory.id]
    return []


def _list(work: Work) -> None:
    groups = list(disputes(work.store.list(Filter()).items).values())
    if work.as_json:
        output.emit({"conflicts": [[output.record(each) for each in group] for group in groups]})
        return
    if not groups:
        output.note("No memories disagree.")
        return
    for group in groups:
        for each in group:
            memory = each.memory
            output.say(f"{memory.id}  {memory.created:%Y-%m-%d}  {one_line(memory.text)}")
        output.say("")
    count = counted(len(groups), "conflict")
    output.note(f"{count}. The one that holds: ltm settle ID. If all hold: ltm settle ID --both")
