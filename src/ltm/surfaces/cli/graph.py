"""`ltm graph`: how memories hang together."""

from __future__ import annotations

import click

from ltm.recall.graph import FORMS, graph
from ltm.surfaces.cli import output
from ltm.surfaces.cli.work import Work, kind_option, tag_option, wanted
from ltm.surfaces.cli.work import command as make


@make("graph")
@kind_option
@tag_option
@click.option("--all", "everything", is_flag=True, help="Also what was replaced or forgotten.")
@click.option(
    "--format",
    "form",
    type=click.Choice(list(FORMS)),
    default="text",
    show_default=True,
    help="A tree, or the language of a program that draws.",
)
def command(
    work: Work, kinds: tuple[str, ...], tags: tuple[str, ...], everything: bool, form: str
) -> None:
    """Draw which memory follows, replaces, was merged from, links to or is like which.

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
