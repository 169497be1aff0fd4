"""`ltm upkeep`: let what is never needed fade."""

from __future__ import annotations

import click

from ltm.core.model import now
from ltm.surfaces.cli import output
from ltm.surfaces.cli.work import Work
from ltm.surfaces.cli.work import command as make


@make("upkeep")
@click.option("--dry-run", "-n", is_flag=True, help="Only say what would happen.")
def command(work: Work, dry_run: bool) -> None:
    """Shorten memories that were not needed for long, least needed first. All of it can be undone.

    It happens by itself at the end of sessions. Critical and pinned memories never fade.
    """
    from ltm.upkeep.apply import Outcome, run
    from ltm.upkeep.plan import limits_of, plan

    limits = limits_of(work.config)
    if dry_run:
        outcome = Outcome(tuple(plan(work.store, now=now(), limits=limits)))
    else:
        outcome = run(work.store, now=now(), limits=limits)
    actions = outcome.done
    if work.as_json:
        skipped = [{**action.as_record(), "skipped": why} for action, why in outcome.skipped]
        output.emit({"actions": [each.as_record() for each in actions], "skipped": skipped})
        return
    for action, why in outcome.skipped:
        output.note(f"{output.shown_id(action.id)} was left as it is: {why}")
    if not actions:
        output.note("Nothing is due.")
        return
    output.table(
        ("id", "action", "phase", "reason"),
        [
            (
                output.shown_id(each.id),
                each.action,
                f"{int(each.from_phase)} to {int(each.to_phase)}",
                each.reason,
            )
            for each in actions
        ],
    )
    output.note("Nothing was changed." if dry_run else "Undo one with: ltm restore ID")
