"""What can happen in a session, one value each, whatever client wrote it down.

A `UserText` holds the user's own words and nothing else does: whatever a client puts in the user's
mouth (reminders, command bodies, notices, LTM's own memories) is an `Aside`. A turn never changes
once handed out. They are not frozen all the same: one is made for every line of a transcript, and
a frozen one takes four times as long to make (1.6 against 0.4 µs), 2 % of reading a session.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

TurnPlace: TypeAlias = tuple[str, str, int, str, bool]
"""What all turns of an entry have in common, in the order of their fields."""


@dataclass(slots=True)
class _Turn:
    uuid: str = ""
    at: str = ""
    """When, as the client wrote it: ISO 8601, UTC."""
    line: int = 0
    """Line of the transcript, counted from 1."""
    agent: str = ""
    """The sub-agent at work, '' for the main conversation."""
    sidechain: bool = False
    """Whether it happened outside the main conversation, in a sub-agent."""


@dataclass(slots=True, kw_only=True)
class UserText(_Turn):
    """The user's own words."""

    text: str
    queued: bool = False
    """Whether it was typed while the agent was at work."""


@dataclass(slots=True, kw_only=True)
class AssistantText(_Turn):
    text: str
    model: str = ""
    broken_off: bool = False
    """Whether the user stopped it in the middle."""


@dataclass(slots=True, kw_only=True)
class ToolUse(_Turn):
    id: str
    tool: str
    input: Mapping[str, Any] = field(default_factory=dict)


@dataclass(slots=True, kw_only=True)
class ToolResult(_Turn):
    id: str
    tool: str = ""
    """The tool's name; '' when its call was read in an earlier stretch."""
    text: str = ""
    failed: bool = False
    judged: bool = True
    """Whether the client said if it failed; old ones and some tools leave it open."""
    refused: bool = False
    """Whether the user did not let it run or stopped it, which is not a failure."""


@dataclass(slots=True, kw_only=True)
class Commit(_Turn):
    hash: str
    branch: str
    subject: str
    own: bool = True
    """Whether the subject stands in the command, so that the agent wrote it."""


@dataclass(slots=True, kw_only=True)
class Interruption(_Turn):
    in_tool: bool = False


@dataclass(slots=True, kw_only=True)
class Compaction(_Turn):
    """The conversation so far was replaced by a summary."""

    trigger: str = ""
    tokens: int = 0
    """Tokens there were before."""


@dataclass(slots=True, kw_only=True)
class Summary(_Turn):
    """The summary that took the place of a conversation, in the model's words."""

    text: str


@dataclass(slots=True, kw_only=True)
class Command(_Turn):
    """The user called a command of the client, such as `/compact`."""

    name: str
    arguments: str = ""


@dataclass(slots=True, kw_only=True)
class Aside(_Turn):
    """Text in the conversation that neither the user nor the agent said."""

    what: str
    """What it is: `meta`, `reminder`, `notice`, `shell`, `output`, `error`, `agent` or
    `attachment`."""
    text: str = ""


Turn: TypeAlias = (
    UserText
    | AssistantText
    | ToolUse
    | ToolResult
    | Commit
    | Interruption
    | Compaction
    | Summary
    | Command
    | Aside
)
