"""`ltm recall` with options; a question in plain words goes straight to `hits`."""

from __future__ import annotations

import sys
from datetime import datetime
from typing import Any

import click

from ltm.cli.command import Number, Work, command, filter_options, wanted
from ltm.cli.hits import MOST, answer, say_hits
from ltm.model import Status, Stored


@command("recall")
@click.argument("query", nargs=-1)
@click.option(
    "--limit",
    "-n",
    metavar="N",
    type=Number(1, MOST),
    help="At most this many; the option recall.limit if not given.",
)
@click.option("--sessions/--no-sessions", default=True, help="Also search sessions.")
@click.option(
    "--as-of",
    type=click.DateTime(["%Y-%m-%d"]),
    metavar="DAY",
    help="Answer as of that day (2026-03-31), without anything later.",
)
@click.option("--quarantined", is_flag=True, help="Also what waits for approval, marked.")
@filter_options
def recall_command(
    work: Work,
    query: tuple[str, ...],
    limit: int | None,
    sessions: bool,
    as_of: datetime | None,
    quarantined: bool,
    **filters: Any,
) -> None:
    """Find what answers QUERY: any words, a path, an identifier, an error message.

    \b
    ltm recall                        search as you type, on a terminal
    ltm recall why not SQLite
    ltm recall retry_delay --kind decision --kind gotcha
    ltm recall "what did we decide last week" --json | jq -r '.hits[].title'

    Searches memories and the text of this project's sessions. Filters such as --kind apply to
    memories and leave sessions out. What waits for `ltm approve` is found only with --quarantined.
    """
    chosen = wanted(work, **filters)._replace(teams=True)
    if quarantined:
        chosen = chosen._replace(statuses=(*chosen.statuses, Status.QUARANTINED))
    if not query and not work.as_json and sys.stdin.isatty() and sys.stdout.isatty():
        from ltm.cli.picker import pick
        from ltm.cli.show import show

        found = pick(work, chosen)
        if isinstance(found, Stored):
            show(work, found)
        elif found is not None:
            say_hits(work, [found], "")
        return
    answer(work, " ".join(query), chosen, limit, sessions=sessions, as_of=as_of)
