"""Whatever an agent or a page may send to a tool or a route: an answer or a refusal (S5, S8).

Nothing else is allowed: no crash, no answer of 5xx, nothing read or written outside.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ltm.core.errors import LtmError, WrongUsage
from ltm.surfaces.mcp.arguments import checked
from ltm.surfaces.mcp.call import Call
from ltm.surfaces.mcp.server import _answer
from ltm.surfaces.mcp.table import tools
from ltm.surfaces.mcp.tool import Tool
from tests.figures import count
from tests.surfaces.hook_runner import Hooks
from tests.surfaces.http_runner import JSON, Server

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
            return _answer(call, name, given_)
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
