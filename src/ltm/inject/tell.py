"""What a session in this project is told now: the composer with the project's own settings.

Owns the budget that follows from the options, where the client's own instructions are, and the line
that says what is kept back. The hook, `ltm inject` and the demo all tell the same through here.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING

from ltm.core.counting import counted
from ltm.core.model import Memory
from ltm.inject.compose import SHORT_CHARS, SHORT_TOKENS, Injection, compose
from ltm.inject.loaded import loaded_text
from ltm.storage import keyfile
from ltm.storage.foreign import Foreign, foreign
from ltm.storage.home import loads_agents_md
from ltm.storage.plainfile import is_inside
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
        claude_md_text=loaded_text(
            places.project.root, client_folder(), agents_md=loads_agents_md()
        ),
        is_tampered=doubt(places),
        notice="" if short else notice(store, places),
    )


def doubt(places: Places) -> Callable[[Memory], bool] | None:
    """Whether a memory is not as it was signed; None without a key."""
    key = keyfile.load(places.home)
    return None if key is None else key.is_doubtful


def notice(store: Store, places: Places) -> str:
    """What waits for the user, in one line: memories kept back, those of other tools, and many
    stashes; else nothing."""
    parts = []
    quarantined, untrusted = waiting(store, places)
    if quarantined:
        parts.append(f"{counted(quarantined, 'memory')} from untrusted sources (ltm approve)")
    if untrusted:
        parts.append(f"{counted(untrusted, 'memory')} that came with this repository (ltm trust)")
    if places.untrusted_agent:
        parts.append("memories of the agent that files of this repository name (ltm trust)")
    if places.project.claimed:
        parts.append("memories of the project this folder says to be (ltm trust --same-project)")
    said = [f"Not told until the user decides: {', '.join(parts)}."] if parts else []
    offers = [_offer(each, places.project.root) for each in foreign(places) if each.is_new]
    if offers:
        left = "Memories of other tools, left alone until the user decides:"
        said.append(f"{left} {'; '.join(offers)}.")
    stashes = Stashes(places.project.root, places.private).waiting()
    if stashes >= MANY:
        said.append(f"{stashes} stashes wait to be remembered (ltm consolidate --all).")
    return " ".join(said)


def _offer(found: Foreign, root: str) -> str:
    """Where another tool keeps memories, and the command that takes them in."""
    line = f" line {found.line}" if found.line else ""
    return (
        f"{_shown(found.path, root)}{line} (ltm import {shlex.quote(_shown(found.source, root))})"
    )


def _shown(path: str, root: str) -> str:
    return os.path.relpath(path, root) if is_inside(path, root) else path


def client_folder() -> str:
    """The client's own configuration folder, or nothing when there is no home."""
    from ltm.storage.home import client_folder as folder_in

    return folder_in(os.environ)
