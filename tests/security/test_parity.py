"""One verdict whichever way somebody comes: terminal, MCP, MCP over HTTP (reliability S3).

Each operation on each kind of memory is asked for in all three ways, each time in a fresh copy of
the same home, one after the other; done or refused must be the same, and so must what it left.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from ltm.config.config import load
from ltm.mcp.tools import tools
from ltm.model import Filter, Source, Status, Trust
from ltm.project.layout import places
from ltm.store.file_store import FileStore
from ltm.store.open import open_files
from tests.figures import count
from tests.hook.runner import Hooks
from tests.http.runner import JSON, Server
from tests.mcp.wire import Wire
from tests.project.repos import git, make_repo
from tests.stores import make

ANY = Filter(statuses=tuple(Status))
IDS = {
    "active": "mem_aactive",
    "quarantined": "mem_bwaiting",
    "superseded": "mem_creplaced",
    "forgotten": "mem_dforgotten",
    "missing": "mem_zmissing",
    "ambiguous": "mem_",
    "a path": "../../project",
    "empty": "",
}


@dataclass(frozen=True)
class Operation:
    """Something that can be asked for in more than one way."""

    tool: str
    arguments: Callable[[str], dict[str, object]]
    words: Callable[[str], list[str]]


OPERATIONS = {
    "look at": Operation("get_memory", lambda i: {"id": i}, lambda i: ["show", "--", i]),
    "forget": Operation("forget", lambda i: {"id": i}, lambda i: ["forget", "--", i]),
    "restore": Operation("restore", lambda i: {"id": i}, lambda i: ["restore", "--", i]),
    "relatives of": Operation(
        "memory_related", lambda i: {"id": i}, lambda i: ["related", "--", i]
    ),
    "replace": Operation(
        "store_memory",
        lambda i: {"content": "A newer text entirely", "replaces": i},
        lambda i: ["remember", "A newer text entirely", "--replaces", i],
    ),
}


def opened(hooks: Hooks) -> FileStore:
    where = places(str(hooks.project), environ=hooks.environ)
    return open_files(where, load(where.home, where.shared))


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with a memory of every status."""
    hooks = Hooks(tmp_path_factory.mktemp("template"))
    # Known by its remote, a copy of the project is the same one wherever it lies.
    hooks.project.rmdir()
    make_repo(hooks.project)
    git(hooks.project, "remote", "add", "origin", "https://example.invalid/team/parity.git")
    store = opened(hooks)
    for name, status, trust in (
        ("active", Status.ACTIVE, Trust.USER),
        ("quarantined", Status.QUARANTINED, Trust.TOOL),
        ("superseded", Status.SUPERSEDED, Trust.USER),
    ):
        title = f"A memory that is {name}"
        store.create(make(title, id=IDS[name], status=status, source=Source(trust)))
    store.create(make("A memory that is forgotten", id=IDS["forgotten"]))
    store.delete(IDS["forgotten"])
    store.close()
    return hooks.top


def left(hooks: Hooks) -> dict[str, str]:
    """What a home holds: each memory's status, by what it says."""
    store = opened(hooks)
    try:
        return {each.memory.title: str(each.memory.status) for each in store.list(ANY).items}
    finally:
        store.close()


def by_terminal(hooks: Hooks, operation: Operation) -> list[bool]:
    verdicts: list[bool] = []
    for memory_id in IDS.values():
        done = hooks.ltm(*operation.words(memory_id))
        assert "Traceback" not in done.stderr
        verdicts.append(done.returncode == 0)
    return verdicts


def by_mcp(hooks: Hooks, operation: Operation) -> list[bool]:
    with Wire(hooks.project, hooks.user_home, env={**hooks.environ}) as wire:
        wire.initialize()
        asked = [operation.arguments(each) for each in IDS.values()]
        return [not wire.result(operation.tool, **each).get("isError") for each in asked]


def by_http(hooks: Hooks, operation: Operation) -> list[bool]:
    with Server(hooks) as server:
        asked = [operation.arguments(each) for each in IDS.values()]
        return [
            not server.call("tools/call", name=operation.tool, arguments=each).get("isError")
            for each in asked
        ]


WAYS = {"terminal": by_terminal, "mcp": by_mcp, "http": by_http}


@pytest.mark.parametrize("name", OPERATIONS)
def test_all_ways_lead_to_the_same_verdict(name: str, template: Path, tmp_path: Path) -> None:
    verdicts: dict[str, list[bool]] = {}
    homes: dict[str, dict[str, str]] = {}
    for way, ask in WAYS.items():
        shutil.copytree(template, tmp_path / way)
        hooks = Hooks(tmp_path / way)
        assert len(left(hooks)) == 4
        verdicts[way] = ask(hooks, OPERATIONS[name])
        homes[way] = left(hooks)
    told = {state: {way: verdicts[way][number] for way in WAYS} for number, state in enumerate(IDS)}
    different = {state: each for state, each in told.items() if len(set(each.values())) > 1}
    count("S3", operations=len(WAYS) * len(IDS), different_verdicts=len(different))
    assert different == {}
    assert homes["mcp"] == homes["http"] == homes["terminal"]
    assert told["active"]["terminal"]
    assert not told["missing"]["terminal"]


@pytest.mark.parametrize("token", [None, "", "wrong"])
def test_who_has_no_token_may_use_no_tool_at_all(tmp_path: Path, token: str | None) -> None:
    """There is one right, to everything, and one token for it: reading is refused like forgetting.

    The terminal and a server on a pipe are the user's own; whoever has those has the files too.
    """
    answered = 0
    with Server(Hooks(tmp_path)) as server:
        headers = [JSON, ("Accept", "application/json, text/event-stream")]
        headers += [("Authorization", f"Bearer {token}")] if token is not None else []
        for name in tools().by_name:
            params = {"name": name, "arguments": {}}
            call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
            answer = server.ask("POST", "/mcp", headers, json.dumps(call).encode())
            answered += answer.status != 401 or answer.body != b""
    count("S3", tools_without_a_token=len(tools().by_name), answered_without_a_token=answered)
    assert answered == 0
