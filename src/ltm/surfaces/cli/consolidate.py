"""`ltm consolidate`: one memory where several say the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ltm.core.model import now
from ltm.surfaces.cli import output
from ltm.surfaces.cli.work import Work
from ltm.surfaces.cli.work import command as make

if TYPE_CHECKING:
    from ltm.upkeep.consolidate import Step


@make("consolidate")
@click.option("--dry-run", "-n", is_flag=True, help="Only say what would happen.")
def command(work: Work, dry_run: bool) -> None:
    """Merge memories that say the same, and archive what has long been out of date.

    By rules; where you switched a model on (see llm.backend), it may then propose more, of which
    only what can be checked is done. The best wording stays and gains what the others add; the
    others are kept, marked as replaced, and come back with `ltm restore`. It happens by itself at
    the end of sessions, by rules.
    """
    from ltm.upkeep.consolidate import apply, plan

    steps = plan(work.store, now())
    if not dry_run:
        steps = apply(work.store, steps)
        steps += apply(work.store, _proposed(work))
    if work.as_json:
        output.emit({"actions": [step.as_record() for step in steps]})
        return
    if not steps:
        output.note("Nothing says the same twice.")
        return
    output.table(
        ("id", "action", "takes in", "reason"),
        [
            (
                output.shown_id(step.id),
                step.action,
                ", ".join(map(output.shown_id, step.ids)),
                step.reason,
            )
            for step in steps
        ],
    )
    output.note("Nothing was changed." if dry_run else "Undo one with: ltm restore ID")


def _proposed(work: Work) -> list[Step]:
    """What the user's model proposes on top, if one is switched on and answers."""
    from ltm.core.errors import ModelFailed
    from ltm.llm.model import open_model
    from ltm.storage.modellog import ModelLog
    from ltm.upkeep.partition import propose

    log = ModelLog(work.places.state_db)
    try:
        model = open_model(work.config, work.places.home, log)
        return propose(work.store, model) if model is not None else []
    except ModelFailed as error:
        output.note(f"The model did not help: {error}")
        return []
    finally:
        log.close()
