"""`ltm list`: memories in a table."""

from __future__ import annotations

from typing import Any

import click

from ltm.cli import output
from ltm.cli.command import Number, Work, command, filter_options, limit_option, wanted
from ltm.model import Filter, Status, now
from ltm.store.trust import waiting
from ltm.text.display import counted

_ALL = Filter(statuses=(Status.ACTIVE,), untrusted=True, teams=True)


@command("list")
@limit_option(50)
@click.option("--offset", metavar="N", type=Number(0), default=0, help="Skip the first N.")
@filter_options
def list_command(work: Work, limit: int, offset: int, **filters: Any) -> None:
    """List memories, newest first.

    \b
    ltm list --kind decision --tag auth
    ltm list --kind issue --state open
    ltm list --status forgotten
    ltm list --json | jq -r '.memories[].path'

    At a terminal, ids are shortened to their last characters, which every command accepts.
    """
    chosen = wanted(work, **filters)._replace(untrusted=True, teams=True)
    page = work.store.list(chosen, limit, offset)
    more = offset + len(page.items) < page.total
    if work.as_json:
        output.emit(
            {
                "memories": [output.record(each) for each in page.items],
                "total": page.total,
                "has_more": more,
            }
        )
        return
    if not page.items:
        held, _ = waiting(work.store, work.places)
        if held and chosen == _ALL:
            approve = f"ltm approve --team {work.team}" if work.team else "ltm approve"
            output.note(f"Nothing in use yet; {counted(held, 'memory')} to approve: {approve}")
        else:
            output.nothing(filtered=bool(page.total) or chosen != _ALL, team=work.team)
        return
    usage = work.store.usage(each.memory.id for each in page.items)
    at = now()
    mark = output.marker(work.places.home)
    output.table(
        ("id", "kind", "impact", "phase", "uses", "age", "title"),
        [
            (
                output.shown_id(each.memory.id),
                each.memory.kind,
                str(each.memory.impact) + (" pinned" if each.memory.pinned else ""),
                str(int(each.memory.phase)),
                str(usage[each.memory.id].uses if each.memory.id in usage else 0),
                output.ago(each.memory.created, at),
                f"{mark(each)}{each.memory.title}",
            )
            for each in page.items
        ],
    )
    if more:
        output.note(
            f"{page.total - offset - len(page.items)} more; go on with --offset {offset + limit}"
        )
