"""The drain inside the server: what hooks left to do is done while the agent thinks.

Owns the thread and its pace. It begins when the client is served, waits while a call is at work,
and loads nothing as long as nothing waits. What goes wrong in it stands in the log of the hooks.
"""

from __future__ import annotations

import os
import threading

from ltm.surfaces.mcp.lifetime import Lifetime

FIRST = 1.0
"""Seconds until the first look: the client is busy asking for tools, and it shall not wait."""

INTERVAL = 3.0


class Background:
    """A thread that drains, started once and ended with the process."""

    def __init__(self, lifetime: Lifetime) -> None:
        self._lifetime = lifetime
        self._thread = threading.Thread(target=self._run, name="ltm-drain", daemon=True)

    def begin(self) -> None:
        """Start, unless it runs already."""
        if self._thread.ident is None:
            self._thread.start()

    def _run(self) -> None:
        waiting = threading.Event()
        waiting.wait(FIRST)
        while True:
            if self._lifetime.is_idle:
                drain_once()
            waiting.wait(INTERVAL)


def drain_once() -> None:
    """Drain what waits, if anything does. Never raises."""
    from ltm.core.errors import LtmError
    from ltm.storage import hooklog, spool
    from ltm.storage.home import home as find_home

    try:
        home = find_home(os.environ)
    except LtmError:
        return  # every call of a tool says so
    try:
        if spool.is_waiting(home):
            from ltm.surfaces.detach import start_drain
            from ltm.surfaces.drain import drain
            from ltm.surfaces.hear import is_due

            # Events that never cease to come would keep it going for ever, a few at a time.
            drain(home, again=False)
            if is_due(home):
                # A model may take longer than this server lives: that is for a process of its own.
                start_drain(home)
    except Exception as error:
        hooklog.note(home, "drain in the server", error)
