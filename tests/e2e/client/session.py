"""One run of the client, readable while it goes on and after it has ended.

Imports: api, context, deadline, records, request.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import context, records
from .api import Channel
from .context import Context, Injection
from .deadline import PATIENCE, wait_until
from .records import HookRun, McpCall, Record
from .request import Request

TAP_LOG = "tap.jsonl"
DEBUG_LOG = "debug.log"
API_LOG = "api.jsonl"


class ScriptError(AssertionError):
    """The script asked for a tool or a text that the conversation did not have."""


@dataclass(frozen=True, slots=True)
class Launch:
    """How to start the client once: command, environment, folder, its line to the model, and the
    beginning of its logs' names. `spied` says whether its hook events are recorded."""

    argv: Sequence[str]
    env: Mapping[str, str]
    folder: Path
    channel: Channel
    logs: str
    spied: bool

    def log(self, what: str) -> Path:
        """The path of one of its logs."""
        return Path(f"{self.logs}-{what}")


class Session(ABC):
    """What a run of the client asked the model, which events it fired, what the plugin did."""

    def __init__(self, launch: Launch) -> None:
        self.launch = launch
        self.channel = launch.channel

    @property
    def records(self) -> list[Record]:
        """Everything the recorders wrote so far."""
        return records.read_jsonl(self.launch.log(TAP_LOG))

    @property
    def requests(self) -> list[Request]:
        """The requests of the main conversation: what the model was asked, and knew."""
        return self.channel.of_kind("main")

    @property
    def session_id(self) -> str:
        """The client's id of the session it started with."""
        ids = [payload.get("session_id", "") for payload in self.fired()]
        ids += [request.session_id for request in self.channel.requests]
        return next((str(found) for found in ids if found), "")

    def fired(self, event: str = "") -> list[dict[str, Any]]:
        """Payloads of the hook events so far, whether or not the plugin listens to them."""
        return records.payloads(self.records, event)

    def hooks(self, event: str = "") -> list[HookRun]:
        """Runs of the plugin's own command hooks so far."""
        return records.hook_runs(self.records, event)

    def mcp_calls(self, tool: str = "") -> list[McpCall]:
        """Tool calls that reached the plugin's MCP servers so far."""
        return records.mcp_calls(self.records, tool)

    def contexts(self) -> list[Context]:
        """Every text the client itself put before the model, each once."""
        return context.contexts(self.channel.requests)

    def injections(self, hook: str = "") -> list[Injection]:
        """Every text that hooks put before the model, each once."""
        return context.injections(self.channel.requests, hook)

    def wait_fired(self, event: str, count: int = 1, timeout: float = PATIENCE) -> dict[str, Any]:
        """Wait for the `count`-th time that an event fires; returns its payload."""
        self.wait(lambda: len(self.fired(event)) >= count, f"{event} number {count}", timeout)
        return self.fired(event)[count - 1]

    def wait_tools(self, server: str, timeout: float = PATIENCE) -> list[str]:
        """Wait until the plugin's MCP server has listed its tools; returns their names.

        The interactive client does not wait for servers: a prompt sent at once goes without.
        """
        listed = f"the tools of {server}"
        self.wait(lambda: server in records.tools_listed(self.records), listed, timeout)
        return records.tools_listed(self.records)[server]

    def wait(self, condition: Callable[[], object], what: str, timeout: float = PATIENCE) -> None:
        """Wait for a condition, no longer than the client lives."""
        wait_until(lambda: condition() or self.ended, what, timeout, self.describe)
        assert condition(), f"the client ended before {what}\n{self.describe()}"

    @property
    @abstractmethod
    def rc(self) -> int | None:
        """The client's exit code, None while it runs; negative: the signal that ended it."""

    @property
    def ended(self) -> bool:
        """Whether the client is no longer there."""
        return self.rc is not None

    def describe(self) -> str:
        """How the session stands, for the one who reads a failure."""
        events = [payload.get("hook_event_name") for payload in self.fired()]
        asked = [f"{r.number} {r.kind} {r.user_text[:80]!r}" for r in self.channel.requests]
        return (
            f"exit code: {self.rc}\nevents: {events}\nrequests: {asked}\nlogs: {self.launch.logs}-*"
        )

    def check_script(self) -> None:
        """Fail when a scripted reply could not be said as it was written."""
        if self.channel.script.problems:
            problems = "; ".join(self.channel.script.problems)
            raise ScriptError(f"{problems}\n{self.describe()}")
