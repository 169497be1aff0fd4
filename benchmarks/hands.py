"""The ways in which a memory can be changed, each with the same few words.

The library in this process, the installed `ltm` (a process for each change), an agent's own `ltm
mcp`, and the one `ltm serve` that all agents share. Used by `benchmarks.writers`, which says what
is to happen and checks what became of it.
"""

from __future__ import annotations

import json
import re
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

from ltm.capture.remember import RememberRequest, remember
from ltm.config.config import load
from ltm.decisions import Forget, Reinforce, Restore, Revise
from ltm.errors import Conflict
from ltm.http import address
from ltm.model import Filter, Status
from ltm.project.layout import places
from ltm.store.file_store import FileStore
from ltm.store.open import open_files
from tests.faults.person import LTM
from tests.hook.runner import Hooks
from tests.mcp.wire import Wire

SHARED, COUNTER = "shared", "counter"
"""Tags of the memories that everybody confirms, and of the one whose number all raise."""

_ID = re.compile(r"\bmem_\w+")


@dataclass(frozen=True)
class World:
    """A home and a project that all writers share."""

    top: Path

    @property
    def hooks(self) -> Hooks:
        return Hooks(self.top)

    def open(self) -> FileStore:
        """The project's store."""
        where = places(str(self.hooks.project), environ=self.hooks.environ)
        return open_files(where, load(where.home, where.shared))

    def tagged(self, tag: str) -> dict[str, str]:
        """The texts of the memories that have a tag, by id."""
        store = self.open()
        found = store.list(Filter(tags=(tag,), statuses=tuple(Status))).items
        store.close()
        return {each.memory.id: each.memory.content for each in found}


class Hands(ABC):
    """One writer's way of changing memories. What was not done raises."""

    STEPS: tuple[str, ...] = ("remember", "confirm", "edit", "forget", "restore")
    """What it does, over and over."""

    @abstractmethod
    def remember(self, text: str) -> str:
        """Keep a text; the id it got."""

    @abstractmethod
    def confirm(self, memory_id: str, text: str) -> None:
        """Say once more what is known."""

    @abstractmethod
    def edit(self, memory_id: str, text: str) -> str:
        """Give a memory another text; the id that has it now."""

    @abstractmethod
    def forget(self, memory_id: str) -> None:
        """Put a memory out of sight."""

    @abstractmethod
    def restore(self, memory_id: str) -> None:
        """Bring a memory back."""

    def tag(self, memory_id: str, tag: str) -> None:
        """Give a memory one tag and no other."""
        raise NotImplementedError

    def count(self, memory_id: str) -> None:
        """Raise the number a memory holds by one, never from an older number."""
        raise NotImplementedError

    @abstractmethod
    def close(self) -> None:
        """Give back what was opened."""


class Library(Hands):
    """Changes through the library."""

    STEPS = ("remember", "confirm", "edit", "tag", "count", "forget", "restore")

    def __init__(self, world: World) -> None:
        self.store = world.open()

    def remember(self, text: str) -> str:
        wish = RememberRequest(text, kind="fact", scope="project")
        return remember(self.store, wish).applied.stored.memory.id

    def confirm(self, memory_id: str, text: str) -> None:
        self.store.apply(Reinforce(memory_id))

    def edit(self, memory_id: str, text: str) -> str:
        expected = self.store.read(memory_id).etag  # it is ours: nobody else may have touched it
        self.store.apply(Revise(memory_id, {"content": text}, expected=expected))
        return memory_id

    def tag(self, memory_id: str, tag: str) -> None:
        self.store.apply(Revise(memory_id, {"tags": (tag,)}))

    def count(self, memory_id: str) -> None:
        while True:
            seen = self.store.read(memory_id)
            higher = {"content": str(int(seen.memory.content) + 1)}
            try:
                self.store.apply(Revise(memory_id, higher, expected=seen.etag))
            except Conflict:
                continue
            return

    def forget(self, memory_id: str) -> None:
        self.store.apply(Forget(memory_id))

    def restore(self, memory_id: str) -> None:
        self.store.apply(Restore(memory_id))

    def close(self) -> None:
        self.store.close()


class CommandLine(Hands):
    """Changes through the installed `ltm`, one process for each."""

    STEPS = ("remember", "confirm", "edit", "tag", "forget", "restore")

    def __init__(self, world: World) -> None:
        self.hooks = world.hooks

    def remember(self, text: str) -> str:
        return str(self._run("remember", text, "--kind", "fact", "--scope", "project")["id"])

    def confirm(self, memory_id: str, text: str) -> None:
        said = self._run("remember", text, "--kind", "fact", "--scope", "project")
        if (said["id"], said["action"]) != (memory_id, "confirmed"):
            raise RuntimeError(f"{memory_id} was to be confirmed: {said}")

    def edit(self, memory_id: str, text: str) -> str:
        self._run("edit", memory_id, "--content", text)
        return memory_id

    def tag(self, memory_id: str, tag: str) -> None:
        self._run("edit", memory_id, "--tags", tag)

    def forget(self, memory_id: str) -> None:
        self._run("forget", memory_id)

    def restore(self, memory_id: str) -> None:
        self._run("restore", memory_id)

    def _run(self, *said: str) -> Any:
        done = subprocess.run(
            [LTM, *said, "--json"],
            cwd=self.hooks.project,
            env=self.hooks.environ,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(done.stderr)
        return json.loads(done.stdout)

    def close(self) -> None:
        """Each process has ended."""


class Agent(Hands):
    """Changes through the tools of an MCP server; a correction is a memory that replaces."""

    def remember(self, text: str) -> str:
        return self._named(self.use("store_memory", content=text, kind="fact", scope="project"))

    def confirm(self, memory_id: str, text: str) -> None:
        said = self.use("store_memory", content=text, kind="fact", scope="project")
        if not said.startswith("Known already") or self._named(said) != memory_id:
            raise RuntimeError(f"{memory_id} was to be confirmed: {said}")

    def edit(self, memory_id: str, text: str) -> str:
        given = {"content": text, "kind": "fact", "scope": "project", "replaces": memory_id}
        return self._named(self.use("store_memory", **given))

    def forget(self, memory_id: str) -> None:
        self.use("forget", id=memory_id)

    def restore(self, memory_id: str) -> None:
        self.use("restore", id=memory_id)

    def use(self, tool: str, **arguments: str) -> str:
        """What a tool said; its error is raised."""
        result = self.call({"name": tool, "arguments": arguments})
        text = str(result["content"][0]["text"])
        if result.get("isError"):
            raise RuntimeError(text)
        return text

    @abstractmethod
    def call(self, params: Mapping[str, Any]) -> Any:
        """The result of a tool."""

    @staticmethod
    def _named(said: str) -> str:
        found = _ID.search(said)
        if found is None:
            raise RuntimeError(f"no id in: {said}")
        return found[0]


class Mcp(Agent):
    """An agent with a server of its own, over pipes."""

    def __init__(self, world: World) -> None:
        self.wire = Wire(world.hooks.project, world.hooks.user_home)
        self.wire.initialize()

    def call(self, params: Mapping[str, Any]) -> Any:
        return self.wire.ask("tools/call", dict(params))["result"]

    def close(self) -> None:
        self.wire.close()


class Http(Agent):
    """An agent that uses the server which runs already."""

    def __init__(self, world: World) -> None:
        server = address.load(str(world.hooks.home))
        assert server is not None
        self.wire = HTTPConnection(server.host, server.port, timeout=120)
        self.headers = {
            "Authorization": f"Bearer {server.token}",
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
        }

    def call(self, params: Mapping[str, Any]) -> Any:
        asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        self.wire.request("POST", "/mcp", json.dumps(asked), self.headers)
        answer = self.wire.getresponse()
        body = answer.read()
        if answer.status != 200:
            raise RuntimeError(f"{answer.status} {body[:200]!r}")
        return json.loads(body)["result"]

    def close(self) -> None:
        self.wire.close()


WAYS: dict[str, type[Library | CommandLine | Mcp | Http]] = {
    "library": Library,
    "MCP": Mcp,
    "HTTP": Http,
    "command line": CommandLine,
}
