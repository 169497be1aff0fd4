"""What a session in this project is told now: the composer with the project's own settings.

Owns the budget that follows from the options, and where the client's own instructions are. The
hook, `ltm inject` and the demo all tell the same through here.
"""

from __future__ import annotations

import os
from datetime import datetime
from typing import TYPE_CHECKING

from ltm.inject.compose import SHORT_CHARS, SHORT_TOKENS, Injection, compose
from ltm.inject.loaded import loaded_text

if TYPE_CHECKING:
    from ltm.storage.config import Config
    from ltm.storage.places import Places
    from ltm.storage.store import Store


def tell(
    store: Store,
    places: Places,
    config: Config,
    now: datetime,
    *,
    style: str | None = None,
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
        format=style or config.get("inject.format"),
        budget_tokens=min(tokens, SHORT_TOKENS) if short else tokens,
        max_chars=min(chars, SHORT_CHARS) if short else chars,
        claude_md_text=loaded_text(places.project.root, client_folder()),
    )


def client_folder() -> str:
    """The client's own configuration folder, or nothing when there is no home."""
    chosen = os.environ.get("CLAUDE_CONFIG_DIR", "")
    home = os.environ.get("HOME", "")
    return chosen or (os.path.join(home, ".claude") if home else "")
