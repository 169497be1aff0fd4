"""The hooks `ltm setup` enters: for which events, and how they are run.

Owns the list of events beside the plugin's own that a person can switch on, and the form of a hook:
no shell reads a text of anybody's, and whatever is missing on the machine, a hook is silent and
succeeds. Imports core and storage.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from ltm.clients.entries import Entry
from ltm.clients.plugin import EVENTS, UNLESS_PLUGIN

if TYPE_CHECKING:
    from ltm.storage.config import Config

WANTED = (
    ("recall.per_prompt", "UserPromptSubmit"),
    ("inject.subagents", "SubagentStart"),
    ("hooks.tools", "PostToolUse"),
    ("hooks.tools", "PostToolUseFailure"),
)
"""Options, and the events that only matter when they are on."""

_TIMEOUT = 10
_QUIET = '"$@" 2>/dev/null || exit 0'


def hook_entries(config: Config, *, plugin: bool, shared: bool) -> list[Entry]:
    """What belongs into a client's hooks; with the `plugin` only what it does not do itself.

    `shared` is for a file that others read too: there everybody's own `ltm-hook` is meant.
    """
    events = [] if plugin else list(EVENTS)
    events += [event for option, event in WANTED if config.own(option)]
    command = ["ltm-hook"] if shared else _this_hook()
    return [
        Entry(("hooks", event), {"hooks": [_hook(event, command)]}, listed=True) for event in events
    ]


def _this_hook() -> list[str]:
    import ltm

    package = os.path.dirname(os.path.abspath(ltm.__file__))
    return [sys.executable, "-I", "-S", os.path.join(package, "surfaces", "hook.py")]


def _hook(event: str, command: list[str]) -> dict[str, Any]:
    words = [*command, UNLESS_PLUGIN]
    if os.name != "nt":
        # Once the environment of this `ltm` is gone, Python's own exit code would block the agent.
        words = ["sh", "-c", _QUIET, "ltm", *words]
    hook: dict[str, Any] = {"type": "command", "command": words[0], "args": words[1:]}
    # A time limit here would change how long the client waits for everybody's hooks at the end.
    return hook if event == "SessionEnd" else {**hook, "timeout": _TIMEOUT}
