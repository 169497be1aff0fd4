"""What a session in this project is told now: the composer with the project's own settings.

Owns the budget that follows from the options, where the client's own instructions are, and the line
that says what is kept back. The hook, `ltm inject` and the demo all tell the same through here.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING

from ltm.core.counting import counted
from ltm.core.model import Memory
from ltm.inject.compose import SHORT_CHARS, SHORT_TOKENS, Injection, compose
from ltm.inject.loaded import loaded_text
from ltm.storage import keyfile
from ltm.storage.stashes import MANY, Stashes
from ltm.storage.waiting import waiting

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
        is_tampered=doubt(places),
        notice="" if short else notice(store, places),
    )


def doubt(places: Places) -> Callable[[Memory], bool] | None:
    """Whether a memory is not as it was signed; None where nobody set a key."""
    key = keyfile.load(places.home)
    return None if key is None else key.is_doubtful


def notice(store: Store, places: Places) -> str:
    """What waits for the user, in one line: memories kept back, and many stashes; else nothing."""
    parts = []
    quarantined, untrusted = waiting(store, places)
    if quarantined:
        parts.append(
            f"{counted(quarantined, 'memory')} from sources nobody vouches for (ltm approve)"
        )
    if untrusted:
        parts.append(f"{counted(untrusted, 'memory')} that came with this repository (ltm trust)")
    said = [f"Not told until the user decides: {', '.join(parts)}."] if parts else []
    stashes = Stashes(places.project.root, places.private).waiting()
    if stashes >= MANY:
        said.append(f"{stashes} stashes wait to be remembered (ltm consolidate --all).")
    return " ".join(said)


def client_folder() -> str:
    """The client's own configuration folder, or nothing when there is no home."""
    from ltm.storage.home import client_folder as folder_in

    return folder_in(os.environ)
