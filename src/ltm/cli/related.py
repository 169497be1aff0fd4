"""`ltm related` and `ltm graph`: the links between memories."""

from __future__ import annotations

import click

from ltm.cli import output
from ltm.cli.command import Work, command, kind_option, limit_option, tag_option, wanted
from ltm.recall.related import FORMS, graph, related


@command("related")
@click.argument("memory_id", metavar="ID")
@limit_option(10, most=200)
def related_command(work: Work, memory_id: str, limit: int) -> None:
    """List what the memory ID replaces, follows and links to, and what is on the same subject.

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
        output.note(f"Nothing is related to '{centre.memory.title}'.")
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


@command("graph")
@kind_option
@tag_option
@click.option("--all", "everything", is_flag=True, help="Also replaced and forgotten memories.")
@click.option(
    "--format",
    "form",
    type=click.Choice(list(FORMS)),
    default="text",
    show_default=True,
    help="A text tree, or the input of a drawing program.",
)
def graph_command(
    work: Work, kinds: tuple[str, ...], tags: tuple[str, ...], everything: bool, form: str
) -> None:
    """Draw which memories replace, contradict, link to or resemble which, by subject.

    \b
    ltm graph --kind decision
    ltm graph --format dot | dot -Tsvg > memories.svg
    """
    asked = wanted(work, kinds, tags, status="all" if everything else None)
    shown = graph(each.memory for each in work.store.list(asked).items)
    if not shown.memories and not work.as_json:
        output.nothing(filtered=bool(kinds or tags))
        return
    output.say(FORMS["json" if work.as_json else form](shown))
