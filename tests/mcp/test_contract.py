"""The official SDK judges the server: its client, its types, and its own server for comparison.

`ltm mcp` speaks MCP by itself. Whatever it answers must be what the SDK's types say a server of
that revision answers, and what the SDK's server answers in its place.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mcp import Client, StdioServerParameters, stdio_client
from mcp_types import CLIENT_CAPABILITIES_META_KEY, PROTOCOL_VERSION_META_KEY
from mcp_types.jsonrpc import JSONRPCError, JSONRPCResponse
from mcp_types.methods import SPEC_CLIENT_METHODS, serialize_server_result
from mcp_types.version import (
    HANDSHAKE_PROTOCOL_VERSIONS,
    KNOWN_PROTOCOL_VERSIONS,
    MODERN_PROTOCOL_VERSIONS,
)

from ltm.mcp.protocol import ENVELOPES, HANDSHAKES, METHODS
from ltm.mcp.tools import TOOLS
from tests.mcp.wire import INITIALIZE, Wire, environment

JUDGE = """
import anyio
from mcp.server.stdio import stdio_server
from ltm.http.app import mcp_server
from ltm.mcp.server import Lifetime

async def main():
    server = mcp_server("", Lifetime())
    async with stdio_server() as streams:
        await server.run(*streams, server.create_initialization_options())

anyio.run(main)
"""
"""The SDK's own server over the same pipes, with LTM's results."""


def envelope(version: str) -> dict[str, Any]:
    """What a request of a revision carries: nothing, or the newer era's envelope."""
    if version in HANDSHAKE_PROTOCOL_VERSIONS:
        return {}
    return {"_meta": {PROTOCOL_VERSION_META_KEY: version, CLIENT_CAPABILITIES_META_KEY: {}}}


class Judged:
    """A conversation in one revision, every answer of which the SDK's types have seen."""

    def __init__(self, wire: Wire, version: str) -> None:
        self.wire = wire
        self.version = version

    def answer(self, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        answer = self.wire.ask(method, {**(params or {}), **envelope(self.version)})
        if "error" in answer:
            assert JSONRPCError.model_validate(answer).model_dump(exclude_unset=True) == answer
            return answer
        assert JSONRPCResponse.model_validate(answer).model_dump(exclude_unset=True) == answer
        seen = serialize_server_result(method, self.version, answer["result"])
        assert seen == answer["result"]
        return answer

    def result(self, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        result: dict[str, Any] = self.answer(method, params)["result"]
        return result

    def call(self, tool: str, **arguments: Any) -> str:
        result = self.result("tools/call", {"name": tool, "arguments": arguments})
        text: str = result["content"][0]["text"]
        assert not result["isError"], text
        return text


def test_the_revisions_are_those_the_sdk_knows() -> None:
    assert HANDSHAKES == HANDSHAKE_PROTOCOL_VERSIONS
    assert ENVELOPES == MODERN_PROTOCOL_VERSIONS
    assert set(METHODS) <= {*SPEC_CLIENT_METHODS, "server/discover"}


@pytest.mark.parametrize("version", KNOWN_PROTOCOL_VERSIONS)
def test_every_answer_is_one_of_its_revision(tmp_path: Path, version: str) -> None:
    with Wire(tmp_path, tmp_path) as wire:
        judged = Judged(wire, version)
        if version in HANDSHAKE_PROTOCOL_VERSIONS:
            hello = judged.result("initialize", {**INITIALIZE, "protocolVersion": version})
            assert hello["protocolVersion"] == version
            assert judged.result("ping") == {}
        else:
            hello = judged.result("server/discover")
            assert hello["supportedVersions"] == [version]
        assert "recall BEFORE" in hello["instructions"]
        names = [tool["name"] for tool in judged.result("tools/list", {"cursor": "x"})["tools"]]
        assert names == [tool.name for tool in TOOLS]

        first = judged.call("store_memory", content="We chose port 8081 because 8080 is taken.")
        memory = first.split("mem_")[1].split()[0].strip(".,;:()'\"")
        called: dict[str, dict[str, Any]] = {
            "update_memory": {"id": memory, "tags": ["port"]},
            "recall": {"query": "port"},
            "get_memory": {"id": memory},
            "list_memories": {},
            "memory_search": {"query": "port"},
            "memory_related": {"id": memory},
            "memory_timeline": {},
            "memory_ask": {"question": "which port?"},
            "review_candidates": {},
            "forget": {"id": memory},
            "restore": {"id": memory},
            "ltm_status": {},
            "ltm_check": {},
            "ltm_fix": {},
        }
        assert {"store_memory", *called} == set(names)
        for tool, arguments in called.items():
            assert judged.call(tool, **arguments)

        (listed,) = judged.result("resources/list")["resources"]
        (content,) = judged.result("resources/read", {"uri": listed["uri"]})["contents"]
        assert "8081" in content["text"]
        assert judged.result("resources/templates/list")["resourceTemplates"]
        for prompt in judged.result("prompts/list")["prompts"]:
            (argument,) = prompt["arguments"]
            asked = {"name": prompt["name"], "arguments": {argument["name"]: "the port"}}
            assert judged.result("prompts/get", asked)["messages"]

        older = version in HANDSHAKE_PROTOCOL_VERSIONS
        for method, params, code in (
            ("prompts/get", {"name": "no such"}, -32602),
            ("resources/read", {"uri": "ltm://memory/mem_none"}, -32002 if older else -32602),
            ("tools/call", {}, -32602),
            ("logging/setLevel", {"level": "info"}, -32601),
            ("server/discover" if older else "ping", {}, -32601),
        ):
            assert judged.answer(method, params)["error"]["code"] == code


@pytest.mark.parametrize("mode", ["legacy", "auto", *MODERN_PROTOCOL_VERSIONS])
def test_the_official_client_works_with_it_in_both_eras(tmp_path: Path, mode: Any) -> None:
    async def conversation() -> tuple[list[str], list[str]]:
        parameters = StdioServerParameters(
            command=sys.executable,
            args=["-m", "ltm", "mcp"],
            env=environment(tmp_path),
            cwd=tmp_path,
        )
        texts = []
        async with Client(stdio_client(parameters), mode=mode) as client:
            tools = [tool.name for tool in (await client.list_tools()).tools]
            for name, arguments in (
                ("store_memory", {"content": "The kettle whistles at noon."}),
                ("recall", {"query": "kettle"}),
                ("list_memories", {}),
            ):
                found = await client.call_tool(name, arguments)
                assert found.structured_content is None
                (block,) = found.content
                assert block.type == "text"
                texts.append(block.text)
            (resource,) = (await client.list_resources()).resources
            read = await client.read_resource(resource.uri)
            texts.append(read.contents[0].text)  # type: ignore[union-attr]
            got = await client.get_prompt("recall", {"query": "the kettle"})
            texts.append(got.messages[0].content.text)  # type: ignore[union-attr]
        return tools, texts

    tools, texts = anyio.run(conversation)
    assert tools == [tool.name for tool in TOOLS]
    assert all("kettle" in text for text in texts)


@contextmanager
def both(folders: pytest.TempPathFactory) -> Iterator[tuple[Wire, Wire]]:
    """Our server and the SDK's, in the same project and home."""
    project, home = folders.mktemp("project"), folders.mktemp("home")
    with (
        Wire(project, home) as ours,
        Wire(project, home, command=(sys.executable, "-c", JUDGE)) as judge,
    ):
        yield ours, judge


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Wire, Wire]]:
    """Both servers after the handshake of the older era, with one memory."""
    with both(tmp_path_factory) as (ours, judge):
        ours.initialize()
        ours.call("store_memory", content="The lighthouse blinks twice a minute.")
        judge.initialize()
        yield ours, judge


@pytest.fixture(scope="module")
def newer_pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Wire, Wire]]:
    """Both servers in the newer era, which a connection of the SDK's server keeps to."""
    with both(tmp_path_factory) as wires:
        for wire in wires:
            assert wire.ask("server/discover", envelope(ENVELOPES[0]))["result"]
        yield wires


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
READING = [tool.name for tool in TOOLS if tool.effect.reads_only and tool.name != "ltm_check"]
PARAMS = st.fixed_dictionaries(
    {},
    optional={
        "name": st.sampled_from([*READING, "recall", "remember", "none"]) | JUNK,
        "arguments": st.dictionaries(
            st.sampled_from(["query", "content", "limit", "id", "question", "kind"]) | st.text(),
            st.text() | st.integers(0, 60) | JUNK,
            max_size=3,
        )
        | JUNK,
        "uri": st.sampled_from(["ltm://memory/x", "file:///etc/passwd", "nothing"]) | JUNK,
        "cursor": st.text() | JUNK,
        "more": JUNK,
    },
)
METHOD = st.sampled_from(sorted(SPEC_CLIENT_METHODS - {"initialize"})) | st.text()


def agree(pair: tuple[Wire, Wire], method: str, params: dict[str, Any]) -> None:
    """Whether both servers give the same result to a request, or refuse it both."""
    ours, theirs = (wire.ask(method, params) for wire in pair)
    assert ours.keys() == theirs.keys(), (ours, theirs)
    assert ours.get("result") == theirs.get("result")
    if "error" in ours and method in METHODS:
        assert ours["error"]["code"] == theirs["error"]["code"], (ours, theirs)


@settings(
    max_examples=300,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(method=METHOD, params=PARAMS)
def test_any_request_is_answered_as_the_sdk_answers_it(
    pair: tuple[Wire, Wire], method: str, params: dict[str, Any]
) -> None:
    agree(pair, method, params)


@settings(
    max_examples=300,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    method=METHOD,
    params=PARAMS,
    meta=st.just(envelope(ENVELOPES[0])["_meta"])
    | st.fixed_dictionaries(
        {
            PROTOCOL_VERSION_META_KEY: st.sampled_from([*KNOWN_PROTOCOL_VERSIONS, "3026-01-01"])
            | JUNK
        },
        optional={CLIENT_CAPABILITIES_META_KEY: st.just({})},
    ),
)
def test_any_request_of_the_newer_era_is_answered_as_the_sdk_answers_it(
    newer_pair: tuple[Wire, Wire], method: str, params: dict[str, Any], meta: Mapping[str, Any]
) -> None:
    agree(newer_pair, method, {**params, "_meta": meta})


@settings(
    max_examples=200,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    line=st.binary(max_size=200).map(lambda data: data.replace(b"\n", b" "))
    | JUNK.map(lambda value: json.dumps(value).encode())
    | st.fixed_dictionaries(
        {},
        optional={
            "jsonrpc": st.just("2.0") | JUNK,
            "id": JUNK,
            "method": st.sampled_from(["ping", "tools/list", "notifications/cancelled"]) | JUNK,
            "params": JUNK,
            "result": JUNK,
            "error": JUNK,
        },
    ).map(lambda value: json.dumps(value).encode())
)
def test_no_line_ends_the_conversation(pair: tuple[Wire, Wire], line: bytes) -> None:
    ours = pair[0]
    ours.raw(line + b"\n")
    assert ours.ask("ping")["result"] == {}
