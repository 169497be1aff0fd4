"""`ltm inject`: the memories that the next session starts with."""

from __future__ import annotations

import click

from ltm.cli import output
from ltm.cli.command import Number, Work, command
from ltm.inject.session_start import tell
from ltm.model import now


@command("inject")
@click.option("--format", "format_", type=click.Choice(["dsl", "markdown"]), help="The format.")
@click.option("--budget", type=Number(0), metavar="TOKENS", help="At most this many tokens.")
@click.option("--why", is_flag=True, help="Show each line with its reason and its cost.")
def inject_command(work: Work, format_: str | None, budget: int | None, why: bool) -> None:
    """Print the memories that the next session in this project starts with.

    \b
    ltm inject
    ltm inject --why
    ltm inject --format markdown --budget 2000
    """
    injection = tell(work.store, work.places, work.config, now(), style=format_, budget=budget)
    output.say_injection(work, injection, why=why)
