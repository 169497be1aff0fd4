"""`ltm upkeep`: let what is never needed fade."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ltm.cli import output
from ltm.cli.command import Work
from ltm.cli.command import command as make
from ltm.model import now
from ltm.upkeep import plan

if TYPE_CHECKING:
    from ltm.upkeep.plan import Upkeep


@make("upkeep")
@click.option("--dry-run", "-n", is_flag=True, help="Only say what would happen.")
@click.option("--yes", "-y", is_flag=True, help="Also what would archive very many at once.")
def command(work: Work, dry_run: bool, yes: bool) -> None:
    """Shorten memories that were not needed for long, least needed first. All of it can be undone.

    It happens by itself at the end of sessions. Critical and pinned memories never fade. More than
    30 % of the active memories are archived at once only with --yes.
    """
    from ltm.upkeep.plan import Upkeep, due, let_through, limits_of, run

    limits = limits_of(work.config)
    if dry_run:
        actions = due(work.store, now=now(), limits=limits)
        outcome = Upkeep(tuple(actions), held=let_through(work.store, actions, consent=yes)[1])
    else:
        outcome = run(work.store, now=now(), limits=limits, consent=yes)
        plan.note_masses_in(work.places, plan.UPKEEP, outcome.held)
    if work.as_json:
        skipped = [{**action.as_record(), "skipped": why} for action, why in outcome.skipped]
        output.emit(
            {
                "actions": [each.as_record() for each in outcome.done],
                "skipped": skipped,
                "held": [each.as_record() for each in outcome.held],
            }
        )
    else:
        _show(outcome, dry_run)
    if outcome.held and not dry_run:
        click.get_current_context().exit(1)


def _show(outcome: Upkeep, dry_run: bool) -> None:
    actions = outcome.done
    for action, why in outcome.skipped:
        output.note(f"{output.shown_id(action.id)} was left as it is: {why}")
    for mass in outcome.held:
        output.note(plan.mass_message(plan.UPKEEP, str(mass)))
    if not actions:
        if not outcome.held:
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
