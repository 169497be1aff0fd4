"""`ltm inject`: what the next session would be told."""

from __future__ import annotations

import click

from ltm.cli import output
from ltm.cli.command import Work
from ltm.cli.command import command as make
from ltm.inject.session_start import tell
from ltm.model import now


@make("inject")
@click.option("--format", "format_", type=click.Choice(["dsl", "markdown"]), help="How it is told.")
@click.option("--budget", type=click.IntRange(0), metavar="TOKENS", help="At most so many tokens.")
def command(work: Work, format_: str | None, budget: int | None) -> None:
    """Print what the next session in this project would be told at its start.

    \b
    ltm inject
    ltm inject --format markdown --budget 2000
    """
    told = tell(work.store, work.places, work.config, now(), style=format_, budget=budget)
    if work.as_json:
        output.emit(
            {
                "text": told.text,
                "tokens": told.tokens,
                "shown": list(told.shown),
                "left_out": told.left_out,
            }
        )
    elif told.text:
        output.say(told.text)
    else:
        output.note('Nothing to tell yet. Keep something with: ltm remember "some text"')
