"""What the model costs and what it could not do, as `status`, `stats` and `ltm_status` tell it."""

from __future__ import annotations

from typing import Any

from ltm.core.counting import counted
from ltm.core.model import now
from ltm.llm.model import OFF
from ltm.storage.config import Config
from ltm.storage.modellog import spent_and_waiting
from ltm.storage.places import Places


def model_figures(places: Places, config: Config) -> dict[str, Any]:
    """Calls and tokens today, their caps, and what waits or was given up."""
    backend = config.own("llm.backend")
    spent, unheard = spent_and_waiting(places.state_db, now())
    on = backend != OFF
    waiting = [note for note in unheard if not note.given_up]
    return {
        "backend": backend,
        "calls_today": spent.calls,
        "tokens_today": spent.tokens,
        "cap": config.own("llm.daily_calls") if on else 0,
        "tokens_cap": config.own("llm.daily_tokens") if on else 0,
        "waiting": len(waiting),
        "error": next((note.error for note in waiting if note.error), ""),
        "given_up": [
            {"session": note.session, "lines": note.lines, "error": note.error}
            for note in unheard
            if note.given_up
        ],
    }


def model_lines(figures: dict[str, Any]) -> list[str]:
    """The same for a reader: one line, and more only when something waits or failed."""
    if figures["backend"] == OFF and not figures["calls_today"]:
        return ["none configured, 0 calls today"]
    lines = [
        f"{figures['backend']}, {figures['calls_today']} of {figures['cap']} calls and"
        f" {figures['tokens_today']:,} of {figures['tokens_cap']:,} tokens today"
    ]
    if figures["waiting"]:
        why = f": {figures['error']}" if figures["error"] else ""
        lines.append(f"{counted(figures['waiting'], 'session')} waiting to be read{why}")
    for note in figures["given_up"]:
        part = f"lines {note['lines']} of " if note["lines"] else ""
        lines.append(
            f"gave up on {part}session {note['session']}: {note['error']}"
            " (ltm capture with its transcript tries again)"
        )
    return lines
