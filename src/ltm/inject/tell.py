"""What a session in this project is told now: the composer with the project's own settings.

Owns which files count as read by the client already, and the budget that follows from the options.
The hook, `ltm inject` and the demo all tell the same through here.
"""

from __future__ import annotations

import os
from datetime import datetime
from typing import TYPE_CHECKING

from ltm.inject.compose import SHORT_CHARS, SHORT_TOKENS, Injection, compose

if TYPE_CHECKING:
    from ltm.storage.config import Config
    from ltm.storage.places import Places
    from ltm.storage.store import Store

_INSTRUCTIONS = ("CLAUDE.md", os.path.join(".claude", "CLAUDE.md"), "CLAUDE.local.md")
_MAX_READ = 200_000


def tell(
    store: Store,
    places: Places,
    config: Config,
    now: datetime,
    *,
    format: str | None = None,
    budget: int | None = None,
    short: bool = False,
) -> Injection:
    """The text for a session's start; `short` is for a sub-agent."""
    percent = config.get("inject.budget_percent") / 100
    tokens = int(config.get("inject.context_window") * percent) if budget is None else budget
    chars = config.get("inject.max_chars")
    return compose(
        store,
        agent=places.agent,
        project=places.project.name,
        now=now,
        sessions=store.sessions(),
        format=format or config.get("inject.format"),
        budget_tokens=min(tokens, SHORT_TOKENS) if short else tokens,
        max_chars=min(chars, SHORT_CHARS) if short else chars,
        claude_md_text=instructions(places.project.root),
    )


def instructions(root: str) -> str:
    """What the client reads by itself at the start of a session in this project."""
    texts: list[str] = []
    for name in _INSTRUCTIONS:
        try:
            with open(os.path.join(root, name), encoding="utf-8", errors="replace") as file:
                texts.append(file.read(_MAX_READ))
        except OSError:
            continue
    return "\n\n".join(texts)
