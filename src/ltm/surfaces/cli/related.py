"""`ltm related`: what belongs to a memory."""

from __future__ import annotations

import click

from ltm.recall.related import related
from ltm.surfaces.cli import output
from ltm.surfaces.cli.work import Work, limit_option
from ltm.surfaces.cli.work import command as make


@make("related")
@click.argument("memory_id", metavar="ID")
@limit_option(10, most=200)
def command(work: Work, memory_id: str, limit: int) -> None:
    """Show what the memory ID replaces, follows and links to, and what shares its subject.

    \b
    ltm related 4kqtxqcl
    """
    centre, relations = related(work.store, memory_id, limit)
    if work.as_json:
        output.emit(
            {
                "id": centre.memory.id,
                "related": [{**output.record(each.stored), "how": each.how} for each in relations],
            }
        )
        return
    if not relations:
        output.note(f"Nothing is related to '{centre.memory.title}' yet.")
        return
    output.table(
        ("id", "how", "kind", "title"),
        [
            (
                output.shown_id(each.stored.memory.id),
                each.how,
                each.stored.memory.kind,
                each.stored.memory.title,
            )
            for each in relations
        ],
    )
