"""`ltm timeline`: sessions and memories by date."""

from __future__ import annotations

from datetime import timedelta

import click

from ltm.cli import output
from ltm.cli.command import Work, command, limit_option
from ltm.cli.output import memory_record
from ltm.errors import WrongUsage
from ltm.history.passage import Header
from ltm.model import Stored, now
from ltm.recall.passages import passage_record
from ltm.recall.timeline import TimelineEvent, around, retell
from ltm.text.dates import day_span
from ltm.text.display import counted, one_line
from ltm.text.sentences import shortened

_LONG = 160


@command("timeline")
@click.argument("words", nargs=-1)
@click.option("--since", metavar="DAY", help="From this day: 2026-03-01, 'last week' or 2w.")
@click.option("--until", metavar="DAY", help="Up to and including this day.")
@click.option("--session", metavar="ID", help="The text of this session.")
@click.option("--around", "hit", metavar="HIT", help="The text around a hit of `ltm recall`.")
@limit_option(50, most=10_000)
def timeline_command(
    work: Work,
    words: tuple[str, ...],
    since: str | None,
    until: str | None,
    session: str | None,
    hit: str | None,
    limit: int,
) -> None:
    """List sessions and the memories made in them, by date.

    \b
    ltm timeline --since 'last week'
    ltm timeline retry backoff
    ltm timeline --around 3f2a41c7:120

    With WORDS, only what matches them. HIT is the id of a memory or a citation such as
    3f2a41c7:120; the turns before and after it are shown.
    """
    if sum(map(bool, (words, session, hit))) > 1:
        raise WrongUsage("WORDS, --session and --around exclude each other", hint="use one of them")
    today = now().date()
    first = day_span(since, today).start if since else None
    last = day_span(until, today).end - timedelta(days=1) if until else None
    if first and last and last < first:
        raise WrongUsage("--until is before --since", hint="swap the two")
    if hit:
        found = around(work.store, work.said, hit)
    else:
        found = retell(
            work.store,
            work.said,
            limit,
            words=" ".join(words),
            since=first,
            until=last,
            session=session or "",
        )
    if work.as_json:
        output.emit({"events": [_record(each) for each in found.events], "total": found.total})
        return
    if not found.events:
        output.note("Nothing found. For everything, type: ltm timeline")
        return
    if found.total > len(found.events):
        earlier = found.total - len(found.events)
        output.note(f"{earlier} earlier; see all with --limit {found.total}")
    output.table(("when", "what", "id", "about"), [_row(each) for each in found.events])


def _row(event: TimelineEvent) -> tuple[str, str, str, str]:
    when = event.at[:16].replace("T", " ")
    what = event.what
    if isinstance(what, Header):
        about = f"{what.title} ({counted(what.turns, 'turn')})"
        return when, "session", what.id, about
    if isinstance(what, Stored):
        memory = what.memory
        return when, "memory", output.shown_id(memory.id), output.memory_headline(memory)
    return when, what.role, what.citation, shortened(one_line(what.text), _LONG)


def _record(event: TimelineEvent) -> dict[str, object]:
    what = event.what
    if isinstance(what, Header):
        names = ("id", "title", "started", "ended", "turns")
        return {"at": event.at, "what": "session"} | {name: getattr(what, name) for name in names}
    if isinstance(what, Stored):
        return {"at": event.at, "what": "memory", **memory_record(what)}
    return {"what": "said", **passage_record(what)}
