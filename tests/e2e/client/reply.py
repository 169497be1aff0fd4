"""The words a test puts into the model's mouth.

Plain data: a reply, a tool call, a rule that says which request a reply is for. Imports: request.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .request import Kind


@dataclass(frozen=True, slots=True)
class ToolUse:
    """One tool call of the model.

    A name that starts with "*" stands for the offered tool with that ending, so that a test need
    not know the client's prefix: "*recall" becomes "mcp__plugin_NAME_SERVER__recall".
    """

    name: str
    inputs: Mapping[str, Any] = field(default_factory=dict)


def use(name: str, /, **inputs: Any) -> ToolUse:
    """A tool call with its inputs as keywords: `use("Bash", command="ls")`."""
    return ToolUse(name, inputs)


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer of the model: thinking, then text, then tool calls, or an HTTP error.

    In `text` and in tool inputs, "{{re:PATTERN}}" becomes the last match of PATTERN in the
    conversation (its first group, if it has one), so a later call can name an id that an earlier
    result gave. With `hold`, the answer stops in the middle of its text until the event is set: a
    test presses Esc, types a second message or kills the client there.
    """

    text: str = ""
    thinking: str = ""
    tools: tuple[ToolUse, ...] = ()
    hold: threading.Event | None = None
    status: int = 200
    error: str = ""


# What a test may write where a reply is wanted: a string is a text, a ToolUse is one tool call.
Scripted = str | ToolUse | Reply


def as_reply(scripted: Scripted) -> Reply:
    """The full form of what a test wrote."""
    if isinstance(scripted, str):
        return Reply(text=scripted)
    if isinstance(scripted, ToolUse):
        return Reply(tools=(scripted,))
    return scripted


@dataclass(frozen=True, slots=True)
class Rule:
    """A reply for the requests that match, before the ordered replies are looked at.

    `kind` must be equal (see request.Kind); `user`, `system` and `result` are regular expressions
    on the last user text, the system prompt and the last tool results, and match everything when
    empty. `times` limits how often the rule answers.
    """

    reply: Scripted
    kind: Kind = "main"
    user: str = ""
    system: str = ""
    result: str = ""
    times: int | None = None
