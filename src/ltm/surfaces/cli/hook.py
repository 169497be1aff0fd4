"""`ltm hook`: what a client runs at the events of a session; the same program as `ltm-hook`."""

from __future__ import annotations

import click


@click.command("hook", context_settings={"ignore_unknown_options": True})
@click.argument("event", nargs=-1, type=click.UNPROCESSED, metavar="[EVENT]")
def command(event: tuple[str, ...]) -> None:
    """Take a client's event, JSON on standard input, and print what the session is to be told.

    \b
    ltm hook < event.json

    Clients run this, or `ltm-hook`, which is the same: `ltm setup` enters it in their settings.
    Which event it is stands in the JSON (hook_event_name), so EVENT need not be named. It never
    hurts a session: it ends within a second, with 0, and prints JSON or nothing.
    """
    from ltm.surfaces.hook import main

    main()
