"""`ltm recall` with options; a question in plain words goes to `hits` without this module."""

from __future__ import annotations

from datetime import datetime

import click

from ltm.cli.command import Work, filter_options, wanted
from ltm.cli.command import command as make
from ltm.cli.hits import MOST, answer
from ltm.model import Status


@make("recall")
@click.argument("query", nargs=-1, required=True)
@click.option(
    "--limit",
    "-n",
    metavar="N",
    type=click.IntRange(1, MOST),
    help="How many at the most; the option recall.limit if not given.",
)
@click.option("--sessions/--no-sessions", default=True, help="Also what was said in sessions.")
@click.option(
    "--as-of",
    type=click.DateTime(["%Y-%m-%d"]),
    metavar="DAY",
    help="Answer as on that day (2026-03-31): leave out what was said later.",
)
@click.option("--quarantined", is_flag=True, help="Also what waits for approval, marked.")
@filter_options
def command(
    work: Work,
    query: tuple[str, ...],
    limit: int | None,
    sessions: bool,
    as_of: datetime | None,
    quarantined: bool,
    kinds: tuple[str, ...],
    tags: tuple[str, ...],
    phase: int | None,
    status: str | None,
    scope: str | None,
    state: str | None,
) -> None:
    """Find what answers QUERY: any words, a path, an identifier, an error message.

    \b
    ltm recall why not SQLite
    ltm recall retry_delay --kind decision --kind gotcha
    ltm recall "what did we decide last week" --json | jq -r '.hits[].title'

    Memories, and what was said in the project's sessions. Options that choose among memories leave
    sessions out. What waits for `ltm approve` is not found, in sessions either, unless you ask for
    it.
    """
    chosen = wanted(work, kinds, tags, phase, status, scope, state)
    if quarantined:
        chosen = chosen._replace(statuses=(*chosen.statuses, Status.QUARANTINED))
    answer(work, " ".join(query), chosen, limit, sessions=sessions, as_of=as_of)
