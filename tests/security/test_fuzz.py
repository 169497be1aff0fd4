"""Whatever an agent or a page may send to a tool or a route: an answer or a refusal (S5, S8).

Nothing else is allowed: no crash, no answer of 5xx, nothing read or written outside.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchmarks.soak.environments import NotTried
from benchmarks.soak.fuzz import held
from benchmarks.soak.fuzz_confusion import confused
from benchmarks.soak.fuzz_openapi import description
from benchmarks.soak.fuzz_seeds import seeds
from benchmarks.soak.fuzz_targets import OF_JSON, TARGETS
from benchmarks.soak.fuzz_tools import judged
from ltm.errors import LtmError, WrongUsage
from ltm.mcp.call import Call, answer
from ltm.mcp.tools import Tool, checked, tools
from tests.figures import VARIABLE, count
from tests.hook.runner import Hooks
from tests.http.runner import JSON, Server

ALL = os.environ.get("LTM_FAULTS") == "all"
TOOLS = sorted(tools().by_name)
MANY = settings(
    max_examples=200 if ALL else 25,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=True)
    | st.text(max_size=60)
    | st.sampled_from(
        ["mem_", "../../etc/passwd", "\x00", "ltm://memory/x", "a" * 5_000, "%00", "~"]
    )
)
VALUES = st.recursive(
    SCALARS, lambda each: st.lists(each) | st.dictionaries(st.text(), each), max_leaves=8
)
PATHS = [
    *("../" * depth + "etc/passwd" for depth in (1, 3, 12)),
    *("..%2f..%2fetc%2fpasswd", "..\\..\\windows\\win.ini", "\\\\server\\share", "//etc/passwd"),
    *("/etc/passwd", "~/.ssh/id_rsa", "$HOME/.ssh/id_rsa", "file:///etc/passwd", "C:\\x"),
    *("a\x00b", "a\nb", "\x1b[2J", "．．／etc", "..\u2215etc", "con", "aux.md", ".", "..", ""),
    *(
        "mem_" + "a" * 4_000,
        "mem_/../../x",
        "mem_*",
        "mem_?",
        "mem_[a]",
        "-rf",
        "--help",
        "a" * 9_000,
    ),
]


@pytest.fixture(scope="module")
def hooks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hooks]:
    """A home with a memory in it, in which this process works too."""
    made = Hooks(tmp_path_factory.mktemp("fuzz"))
    made.remember("The gateway drops one request in a hundred")
    (made.top / "secret.md").write_text("---\nid: mem_outside\n---\n## Summary\n\nstolen words\n")
    with pytest.MonkeyPatch.context() as patch:
        for name in ("LTM_HOME", "LTM_AGENT", "CLAUDE_CONFIG_DIR", "XDG_RUNTIME_DIR"):
            patch.delenv(name, raising=False)
        for name, value in made.environ.items():
            patch.setenv(name, value)
        yield made


def asked(hooks: Hooks, name: str, given_: Mapping[str, Any]) -> str:
    """What a tool answers, or how it refuses."""
    with Call(name, str(hooks.project)) as call:
        try:
            return answer(call, name, given_)
        except LtmError as error:
            return str(error)


def arguments(tool: Tool) -> st.SearchStrategy[dict[str, Any]]:
    """Arguments by the names a tool knows, and by some it does not."""
    names = st.sampled_from([*tool.properties, *tool.aliases, "nonsense"])
    return st.dictionaries(names, VALUES, max_size=5)


@pytest.mark.parametrize("name", TOOLS)
@MANY
@given(data=st.data())
def test_a_tool_answers_anything_or_refuses_it(
    hooks: Hooks, name: str, data: st.DataObject
) -> None:
    """Any exception but ours ends the test."""
    asked(hooks, name, data.draw(arguments(tools().by_name[name])))
    count("S8", tool_calls=1)


WRONG = {
    "string": [1, True, [], {}, 1.5],
    "integer": ["1", "x", [], {}, 1.5, True],
    "number": ["1", "x", [], {}, True],
    "boolean": ["true", 1, [], {}],
    "array": ["x", 1, {}, True],
}


def test_arguments_of_another_type_are_refused() -> None:
    refused = tried = 0
    for tool in tools().by_name.values():
        right = dict.fromkeys(tool.required, "x")
        for name, schema in tool.properties.items():
            for value in WRONG.get(str(schema.get("type")), []):
                tried += 1
                try:
                    checked(tool, {**right, name: value})
                except WrongUsage:
                    refused += 1
    count("S8", wrong_arguments=tried, wrong_arguments_refused=refused)
    assert tried > 100
    assert refused == tried


@pytest.mark.parametrize("name", TOOLS)
def test_no_path_in_any_argument_leads_outside(hooks: Hooks, name: str) -> None:
    """S5: ids, tags and paths that try to be more than that."""
    tool = tools().by_name[name]
    before = {path: path.stat().st_mtime_ns for path in hooks.top.iterdir() if path.is_file()}
    for path in [*PATHS, str(hooks.top / "secret.md"), "../../secret.md", "../secret"]:
        for argument, schema in tool.properties.items():
            value: Any = [path] if schema.get("type") == "array" else path
            text = asked(hooks, name, {**dict.fromkeys(tool.required, path), argument: value})
            assert "stolen words" not in text
            assert "root:x:0:0" not in text
            count("S5", paths=1)
    after = {path: path.stat().st_mtime_ns for path in hooks.top.iterdir() if path.is_file()}
    assert after == before
    memories = {path for path in hooks.top.rglob("*.md") if path.name != "secret.md"}
    assert all(path.is_relative_to(hooks.home) for path in memories)


FOUND = [
    ("transcript", b'{"type": {"role": "user"}, "uuid": "u1"}\n{"type": []}\n'),
]
"""What fuzzers found, and which target found it."""

SEEDS = {target: seeds(target) for target in TARGETS}


@pytest.mark.parametrize(("target", "data"), FOUND)
def test_what_a_fuzzer_found_is_found_no_more(target: str, data: bytes) -> None:
    TARGETS[target](data)


@pytest.mark.parametrize("target", TARGETS)
def test_what_the_fuzzer_begins_with_is_in_order(target: str) -> None:
    assert SEEDS[target]
    for data in SEEDS[target]:
        TARGETS[target](data)
    count("S8", parser_inputs=len(SEEDS[target]))


@pytest.mark.parametrize("target", TARGETS)
@MANY
@given(data=st.data())
def test_a_parser_takes_any_bytes(target: str, data: st.DataObject) -> None:
    """Pieces of real inputs in any order, with anything between them."""
    whole = data.draw(st.sampled_from(SEEDS[target]))
    pieces = data.draw(st.lists(st.tuples(st.integers(0, len(whole)), st.binary(max_size=8))))
    for place, put in pieces:
        whole = whole[:place] + put + whole[place + len(put) :]
    TARGETS[target](whole)
    count("S8", parser_inputs=1)


@pytest.mark.parametrize("target", sorted(OF_JSON))
@MANY
@given(seed=st.integers(0, 2**32), times=st.integers(1, 5))
def test_no_value_of_a_wrong_sort_is_an_error(target: str, seed: int, times: int) -> None:
    chance = Random(seed)
    whole = chance.choice(SEEDS[target])
    for _ in range(times):
        whole = confused(whole, chance)
    TARGETS[target](whole)
    count("S8", parser_inputs=1)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with Server(Hooks(tmp_path_factory.mktemp("routes"))) as running:
        yield running


BODIES = (
    st.binary(max_size=200)
    | VALUES.map(lambda value: json.dumps(value).encode())
    | st.dictionaries(
        st.sampled_from(["session_id", "cwd", "hook_event_name", "transcript_path", "source", "x"]),
        VALUES,
    ).map(lambda value: json.dumps(value).encode())
)
ROUTES = (
    "/health",
    "/mcp",
    "/",
    "/hook/x",
    *(
        f"/hook/{event}"
        for event in (
            "session_start",
            "post_tool_use",
            "post_tool_use_failure",
            "pre_compact",
            "stop",
            "session_end",
        )
    ),
)


@settings(parent=MANY, max_examples=1_000 if ALL else 150)
@given(
    route=st.sampled_from(ROUTES),
    method=st.sampled_from(["GET", "POST", "PUT", "DELETE", "OPTIONS", "HEAD", "TRACE", "X"]),
    body=BODIES,
)
def test_a_route_answers_anything_or_refuses_it(
    server: Server, route: str, method: str, body: bytes
) -> None:
    answer = server.ask(method, route, [server.authorized, JSON], body)
    count("S8", requests=1, answers_5xx=int(answer.status >= 500))
    assert answer.status < 500, (method, route, body)


def test_the_server_is_well_after_all_that(server: Server) -> None:
    assert server.ask("GET", "/health", [server.authorized]).status == 200


def message(way: str, text: str | dict[str, Any], at: float = 0.0) -> str:
    return json.dumps([way, at, text if isinstance(text, str) else json.dumps(text)])


def called(number: int, arguments: object, **answer: Any) -> list[str]:
    """A call of a tool that takes one text, and its answer."""
    params = {"name": "t", "arguments": arguments}
    asked = {"id": number, "method": "tools/call", "params": params}
    return [message(">", asked), message("<", {"id": number, **answer}, 0.5)]


SCHEMA = {"type": "object", "properties": {"q": {"type": "string"}}}
LISTED = [
    message(">", {"id": 0, "method": "tools/list"}),
    message("<", {"id": 0, "result": {"tools": [{"name": "t", "inputSchema": SCHEMA}]}}),
]
TAKEN = {"result": {"isError": False}}
REFUSED = {"result": {"isError": True}}


def test_arguments_outside_of_the_schema_that_are_taken_are_seen() -> None:
    calls = [called(1, {"q": "x"}, **TAKEN), called(2, {"q": 1}, **TAKEN)]
    calls += [called(3, {"other": 1}, **REFUSED), called(4, [], error={"code": -32602})]
    found = judged([*LISTED, *(line for call in calls for line in call)])
    assert (found.calls, found.requests, found.wrong, found.refused) == (4, 5, 3, 2)
    assert (len(found.taken), found.slowest, found.hangs, found.crashes) == (1, 0.5, 0, [])


def test_a_server_that_hangs_dies_or_stumbles_is_seen() -> None:
    assert judged([*LISTED, called(1, {})[0]]).hangs == 1
    assert judged([message(">", ""), message("!", "0")]).crashes == []
    assert len(judged([message("!", "-11"), message(">", "")]).crashes) == 1
    told = {"result": {"content": [{"text": "this should not have happened: KeyError"}]}}
    assert len(judged([*LISTED, *called(1, {}, **told)]).crashes) == 1


def test_a_part_that_could_not_be_tried_has_not_held(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)  # this is no part, and does not count as one

    def run() -> bool:
        raise NotTried("there is no wheel of it")

    assert not held("tools", run)
    assert capsys.readouterr().out == "tools: NOT TRIED: there is no wheel of it\n"
    assert held("tools", lambda: True)
    assert not held("tools", lambda: False)


def test_every_route_is_described_to_the_fuzzer(server: Server, hooks: Hooks) -> None:
    """Each that the hypothesis tests know, and the description leaves no event out."""
    paths = description(str(hooks.home))["paths"]
    assert {route for route in ROUTES if route not in ("/", "/hook/x")} <= set(paths)
    for path, methods in paths.items():
        for method in methods:
            answer = server.ask(method.upper(), path, [server.authorized, JSON])
            assert answer.status not in (404, 405)
