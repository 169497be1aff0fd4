"""`ltm inject`: the memories that the next session starts with."""

from __future__ import annotations

from typing import Any

import click

from ltm.cli import output
from ltm.cli.command import Number, Work, command
from ltm.inject.session_start import tell
from ltm.model import now
from ltm.text.display import counted


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
    if work.as_json:
        record: dict[str, Any] = {
            "text": injection.text,
            "tokens": injection.tokens,
            "shown": list(injection.shown),
            "left_out": injection.left_out,
        }
        if why:
            record["lines"] = [
                {"ids": list(each.ids), "reason": each.reason, "tokens": each.tokens}
                | {"text": each.text}
                for each in injection.lines
            ]
        output.emit(record)
    elif why and injection.lines:
        output.table(
            ("tokens", "why", "line"),
            [(str(each.tokens), each.reason, each.text) for each in injection.lines],
        )
        output.note(
            f"{counted(injection.tokens, 'token')} with the frame, {len(injection.text):,}"
            f" characters; {counted(injection.left_out, 'memory')} left out."
        )
    elif injection.text:
        output.say(injection.text)
    elif injection.left_out:
        left_out = counted(injection.left_out, "memory")
        output.note(f"The budget is too small: {left_out} left out. Try: --budget 2000")
    else:
        output.note('Nothing to print yet. Keep something with: ltm remember "some text"')
