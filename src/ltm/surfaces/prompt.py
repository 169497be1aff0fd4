"""What a hook adds to a prompt, if the user wants that: memories that fit it well, each once.

Owns what a session has been told: at its start and with its prompts nothing is told twice, also not
after it was resumed. Read without writing to the store, refreshing or waiting. Loaded only where
the option is on.
"""

from __future__ import annotations

import os

from ltm.storage.home import loads_agents_md
from ltm.storage.told import mark_of, note_told, told

TYPE_CHECKING = False  # without `typing`, which alone costs a hook half its time
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from ltm.core.model import Memory, Stored
    from ltm.storage.config import Config

_CHARS = 1_500
_NO_PROMPT = ("/", "<", "!")  # how commands, notices of the client and shell lines begin


def at_prompt(
    record: Mapping[str, object], prompt: str, environ: Mapping[str, str] = os.environ
) -> str:
    """The memories that fit a prompt and were not told yet; mostly none."""
    if not prompt.strip() or prompt.lstrip().startswith(_NO_PROMPT):
        return ""
    from ltm.core.model import now
    from ltm.recall.prompted import fitting
    from ltm.storage.config import load
    from ltm.storage.opening import BUILT_IN, open_files
    from ltm.storage.places import places
    from ltm.surfaces.answer import folder_of

    found = places(folder_of(record), environ=environ)
    config = load(found.home, found.settings)
    if not config.get("recall.per_prompt") or config.get("store") != BUILT_IN:
        return ""
    session = str(record.get("session", ""))
    known = told(found.home, session) if session else set()
    at = now()
    store = open_files(found, config, readonly=True)
    try:
        fit = fitting(store, prompt, at.date(), known)
    finally:
        store.close()
    if not fit:
        return ""  # as mostly: what composes a text is not loaded then
    from ltm.inject.compose import SHORT_TOKENS, composed
    from ltm.inject.loaded import loaded_text
    from ltm.inject.tell import client_folder, doubt

    tampered = doubt(found)
    fresh = [each for each in fit if mark_of(_line(each, config, at, tampered)) not in known]
    if not fresh:
        return ""
    injection = composed(
        fresh,
        {},
        config.kinds,
        agent=found.agent,
        project=found.project.name,
        now=at,
        sessions=0,
        format=config.get("inject.format"),
        budget_tokens=SHORT_TOKENS,
        max_chars=_CHARS,
        claude_md_text=loaded_text(
            found.project.root, client_folder(), agents_md=loads_agents_md(environ)
        ),
        is_tampered=tampered,
    )
    if not injection.shown:
        return ""
    if session:
        note_told(found.home, session, injection.shown)
    return injection.text


def note_start(home: str, session: str, text: str) -> None:
    """Note what a session is told at its start."""
    if session and text:
        note_told(home, session, map(mark_of, text.split("\n")))


def _line(
    stored: Stored, config: Config, at: datetime, tampered: Callable[[Memory], bool] | None
) -> str:
    """A memory as the start of a session tells it."""
    from ltm.core import policy
    from ltm.inject.render import InjectionItem, find_format

    memory, kind = stored.memory, config.kinds[stored.memory.kind]
    doubtful = tampered is not None and tampered(memory)
    item = InjectionItem(memory, kind, policy.confidence(memory, kind, at), doubtful)
    return find_format(config.get("inject.format")).line(item)
