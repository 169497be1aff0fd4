"""`ltm achievements`: what the git history says was achieved."""

from __future__ import annotations

import click

from ltm.capture.discoveries import from_git
from ltm.capture.pipeline import Captured, keep
from ltm.capture.provenance import Evidence
from ltm.cli import output
from ltm.cli.command import Work
from ltm.cli.command import command as make
from ltm.model import Filter, Status, now
from ltm.text.display import counted


@make("achievements")
@click.option(
    "--since",
    "hours",
    type=int,
    default=24,
    show_default=True,
    metavar="HOURS",
    help="How far to look back.",
)
@click.option("--dry-run", "-n", is_flag=True, help="Only say what would happen.")
def command(work: Work, hours: int, dry_run: bool) -> None:
    """Keep the releases, features and migrations of the last HOURS from git, each commit once.

    \b
    ltm achievements --since 168        of the last week
    """
    kind = work.config.kinds.parse("achievements")
    known = " ".join(
        each.memory.text
        for each in work.store.list(Filter(kinds=(kind.name,), statuses=tuple(Status))).items
    )
    found = [
        each
        for each in from_git(work.places.project.root, hours)
        if each.source.tool.removeprefix("git ")[:8] not in known
    ]
    done = Captured()
    if not dry_run:
        keep(work.store, found, done, evidence=Evidence(), now=now())
    if work.as_json:
        output.emit(
            {
                "found": [each.title for each in found],
                "added": done.added,
                "reinforced": done.reinforced,
                "superseded": done.superseded,
            }
        )
        return
    for each in found:
        output.say(f"{each.impact}: {each.text}")
    if not found:
        output.note(f"No new achievement among the commits of the last {counted(hours, 'hour')}.")
