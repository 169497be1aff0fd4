"""What a client sees of the server before and around its tools."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import ltm
from ltm.project.layout import places
from ltm.text.display import estimate
from ltm.vault.vault import Vault
from tests.mcp.wire import INITIALIZE, Wire, environment

TOOLS = {
    "store_memory",
    "recall",
    "list_memories",
    "get_memory",
    "review_candidates",
    "forget",
    "restore",
    "ltm_status",
    "update_memory",
    "ltm_check",
    "ltm_fix",
    "memory_search",
    "memory_related",
    "memory_timeline",
    "memory_ask",
}

SOURCE = str(Path(ltm.__file__).parents[1])
NEEDED_BY_CALLS = ("capture", "history", "index", "inject", "notes", "recall", "state", "vault")
"""Packages that no client waits for before it calls a tool."""


@pytest.fixture(scope="module")
def wire(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Wire]:
    project, home = tmp_path_factory.mktemp("project"), tmp_path_factory.mktemp("home")
    with Wire(project, home) as running:
        running.initialize()
        yield running


@pytest.fixture(scope="module")
def listed(wire: Wire) -> list[dict[str, Any]]:
    tools: list[dict[str, Any]] = wire.ask("tools/list")["result"]["tools"]
    return tools


def test_the_handshake_names_the_server_and_says_when_to_use_which_memory(tmp_path: Path) -> None:
    with Wire(tmp_path, tmp_path) as wire:
        result = wire.initialize()
    assert result["serverInfo"]["name"] == "ltm"
    assert result["protocolVersion"] == "2025-11-25"
    instructions = result["instructions"]
    assert len(instructions) < 2_000
    for word in ("recall", "store_memory", "auto memory", "MEMORY.md"):
        assert word in instructions


def test_every_tool_is_there_and_nothing_else(listed: list[dict[str, Any]]) -> None:
    assert {tool["name"] for tool in listed} == TOOLS


def test_the_whole_list_of_tools_costs_at_most_2650_tokens(wire: Wire) -> None:
    text = json.dumps(wire.ask("tools/list")["result"], ensure_ascii=False)
    assert estimate(text) <= 2_650
    assert len(text) / 3.5 <= 2_650


def test_schemas_are_short_and_promise_no_structured_result(listed: list[dict[str, Any]]) -> None:
    for tool in listed:
        assert "outputSchema" not in tool
        schema = json.dumps(tool["inputSchema"])
        assert tool["inputSchema"]["type"] == "object"
        for noise in ('"title": "', "$defs", "$ref", "anyOf"):
            assert noise not in schema, tool["name"]
        assert len(tool["description"]) < 400


def test_tools_are_found_by_the_words_people_search_with(listed: list[dict[str, Any]]) -> None:
    """Codex, Qwen Code and Claude Code hide tools behind a search for words, and Copilot CLI drops
    the instructions: so a description holds both words and when to use it."""
    words = {
        tool["name"]: set(re.findall(r"[a-z-]+", f"{tool['name']} {tool['description']}".lower()))
        for tool in listed
    }
    for name, wanted in {
        "store_memory": "remember save store memory notes decision lesson preference instead",
        "recall": "search memory long-term past conversations sessions decided error",
        "memory_timeline": "history",
        "forget": "delete forget",
        "restore": "undo",
    }.items():
        assert set(wanted.split()) <= {*words[name], *name.split("_")}, name


def test_every_tool_says_what_it_does_to_the_memories(listed: list[dict[str, Any]]) -> None:
    effects = {tool["name"]: tool["annotations"] for tool in listed}
    changing = {
        "store_memory",
        "update_memory",
        "review_candidates",
        "forget",
        "restore",
        "ltm_fix",
    }
    assert {name for name, each in effects.items() if not each.get("readOnlyHint")} == changing
    assert {name for name in changing if effects[name]["destructiveHint"]} == {"forget"}
    assert {name for name in changing if "idempotentHint" not in effects[name]} == {"store_memory"}
    assert not any(each["openWorldHint"] for each in effects.values())


def test_no_argument_has_a_default_that_hides_a_computed_value(
    listed: list[dict[str, Any]],
) -> None:
    """traps 2.1 #19: a difficulty of 0.5 in the schema hid the computed one."""
    for tool in listed:
        assert '"default"' not in json.dumps(tool["inputSchema"])


def test_results_are_text_alone(wire: Wire) -> None:
    result = wire.result("ltm_status")
    assert result.keys() <= {"content", "isError", "resultType"}
    assert [block["type"] for block in result["content"]] == ["text"]


def test_an_unknown_tool_is_a_tool_error_that_names_the_known_ones(wire: Wire) -> None:
    text = wire.error("memory_palace")
    assert "memory_palace" in text
    assert "store_memory" in text


def test_lines_that_are_no_messages_are_passed_over(wire: Wire) -> None:
    for junk in (
        b"\xff\xfe\x00\n",
        b"not json\n",
        b"\n",
        b"{}\n",
        b"[]\n",
        b'{"jsonrpc": "2.0"}\n',
        b'{"jsonrpc": "2.0", "id": {}, "method": 7}\n',
        b"[" * 200_000 + b"\n",
        b'"' + b"x" * 2_000_000 + b'"\n',
    ):
        wire.raw(junk)
    assert wire.ask("ping")["result"] == {}


def test_a_request_the_protocol_does_not_know_is_refused_and_the_next_is_answered(
    wire: Wire,
) -> None:
    assert wire.ask("memories/steal")["error"]["code"] == -32601
    assert wire.ask("tools/call", {"name": "recall", "arguments": [1, 2]})["error"]
    assert wire.ask("ping")["result"] == {}


def test_two_hundred_calls_at_once_are_all_answered(wire: Wire) -> None:
    ids: dict[int, str] = {}
    for number in range(100):
        word = f"zone{number}alpha keel{number}beta mast{number}gamma"
        arguments: dict[str, Any] = {"content": f"{word} is a harbour", "tags": ["harbour"]}
        ids[wire.start("tools/call", {"name": "store_memory", "arguments": arguments})] = "stored"
        arguments = {"query": f"keel{number}beta"}
        ids[wire.start("tools/call", {"name": "recall", "arguments": arguments})] = "asked"
    for number in ids:
        result = wire.answer(number)["result"]
        assert not result.get("isError"), result
    assert "100 memories in all" in wire.call("list_memories", tag="harbour")


def test_messages_are_answered_while_a_call_waits_for_the_disk(tmp_path: Path) -> None:
    home = tmp_path / "home"
    project = tmp_path / "project"
    home.mkdir()
    project.mkdir()
    with Wire(project, home) as wire:
        wire.initialize()
        wire.call("store_memory", content="The first memory makes the vault.")
        vault = Vault("private", places(str(project), environ=environment(home)).private)
        with vault.lock:
            waiting = wire.start(
                "tools/call",
                {"name": "store_memory", "arguments": {"content": "Bread needs salt."}},
            )
            # Had the call been answered before the lock is given up, the lock would be no lock.
            assert wire.ask("ping")["result"] == {}
            assert wire.ask("tools/list")["result"]["tools"]
            assert not wire.is_answered(waiting)
        assert "Bread needs salt" in wire.answer(waiting)["result"]["content"][0]["text"]


def test_before_the_first_call_only_the_standard_library_is_loaded_and_little_of_it(
    tmp_path: Path,
) -> None:
    start = f"import sys; sys.path.insert(0, {SOURCE!r}); sys.argv[1:] = ['mcp']; "
    start += "from ltm.cli.main import main; main()"
    command = (sys.executable, "-I", "-S", "-X", "importtime", "-c", start)
    with Wire(tmp_path, tmp_path, command=command) as wire:
        # Without the note that the handshake is over, so that the drain does not begin either.
        assert wire.ask("initialize", INITIALIZE)["result"]
        assert wire.ask("tools/list")["result"]["tools"]
        assert wire.ask("prompts/list")["result"]["prompts"]
        before = modules(wire.errors())
        wire.call("list_memories")
        after = modules(wire.errors())
    assert {name.split(".")[0] for name in before} <= {*sys.stdlib_module_names, "ltm"}
    heavy = {
        name
        for name in before
        if name.split(".")[0] in {"sqlite3", "tomllib", "asyncio", "dataclasses", "logging"}
        or name in {"importlib.metadata", "inspect"}
        or name.startswith(tuple(f"ltm.{package}." for package in NEEDED_BY_CALLS))
    }
    assert heavy == set()
    assert "ltm.mcp.server" in before
    assert {"sqlite3", "ltm.store.file_store"} <= after


def modules(report: str) -> set[str]:
    """The modules a report of `-X importtime` names."""
    return set(re.findall(r"^import time:.*\| *(\S+)$", report, re.MULTILINE)) - {"package"}


def test_a_memory_can_be_read_as_a_resource(wire: Wire) -> None:
    stored = wire.call("store_memory", content="The lighthouse blinks twice a minute.")
    found = re.search(r"mem_\w+", stored)
    assert found
    uri = f"ltm://memory/{found[0]}"
    listed = wire.ask("resources/list")["result"]["resources"]
    assert len(listed) <= 20
    assert uri in [each["uri"] for each in listed]
    content = wire.ask("resources/read", {"uri": uri})["result"]["contents"][0]
    assert "> The lighthouse blinks twice a minute." in content["text"]
    templates = wire.ask("resources/templates/list")["result"]["resourceTemplates"]
    assert [each["uriTemplate"] for each in templates] == ["ltm://memory/{id}"]


@pytest.mark.parametrize("uri", ["ltm://memory/mem_missing", "file:///etc/passwd", "ltm://x"])
def test_a_resource_that_is_not_there_is_refused(wire: Wire, uri: str) -> None:
    assert wire.ask("resources/read", {"uri": uri})["error"]["code"] == -32002


def test_prompts_say_which_tool_to_call(wire: Wire) -> None:
    names = [each["name"] for each in wire.ask("prompts/list")["result"]["prompts"]]
    assert names == ["recall", "remember"]
    got = wire.ask("prompts/get", {"name": "recall", "arguments": {"query": "the {port}"}})
    (message,) = got["result"]["messages"]
    assert message["role"] == "user"
    assert "recall tool" in message["content"]["text"]
    assert "the {port}" in message["content"]["text"]
    assert wire.ask("prompts/get", {"name": "recall"})["error"]["code"] == -32602
    assert wire.ask("prompts/get", {"name": "no such"})["error"]["code"] == -32602
