"""What `ltm serve` answers, described as OpenAPI for a fuzzer of web APIs (row S8).

The server publishes no such description, since nobody but its own hooks and an MCP client talks to
it. This one is made from the routes of the application itself, so that a new route is fuzzed too.
"""

from __future__ import annotations

import re
from typing import Any

from starlette.applications import Starlette
from starlette.routing import Route

from ltm.clients.table import CLAUDE_CODE
from ltm.clients.wire import FIELDS
from ltm.http.address import AllowedNames, Running
from ltm.http.app import KEY, application
from ltm.mcp.server import Lifetime
from ltm.mcp.tools import tools

_REFUSALS = (400, 401, 403, 404, 405, 406, 408, 413, 415)
_ANSWERS = (200, 202, 204, *_REFUSALS)
_MCP_METHODS = ("initialize", "ping", "tools/list", "resources/list", "resources/read", "nonsense")


def description(home: str) -> dict[str, Any]:
    """Every route of the server, with what its clients send to it."""
    server = Running("127.0.0.1", 0, "token", "challenge", "proof", 1, "")
    app = application(home, home, AllowedNames((), ()), server, Lifetime()).app
    assert isinstance(app, Starlette)
    paths: dict[str, dict[str, Any]] = {}
    for route in app.routes:
        assert isinstance(route, Route), f"{route} is of a sort that is not described here"
        for method in sorted((route.methods or set()) - {"HEAD"}):
            paths.setdefault(route.path, {})[method.lower()] = _operation(route, method)
    return {
        "openapi": "3.1.0",
        "info": {"title": "ltm serve", "version": "1"},
        "security": [{"token": []}],
        "components": {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
        "paths": paths,
    }


def _operation(route: Route, method: str) -> dict[str, Any]:
    answers = {str(status): {"description": "an answer"} for status in _ANSWERS}
    operation: dict[str, Any] = {"operationId": f"{method} {route.path}", "responses": answers}
    if method != "POST":
        return operation
    is_hook = route.path.startswith("/hook/")
    schema = _event(route.name) if is_hook else _mcp()
    operation["requestBody"] = {
        "required": True,
        "content": {"application/json": {"schema": schema}},
    }
    header = KEY if is_hook else "Accept"
    likely = ["", "00000000000000000000-0000001-0123abcd"] if is_hook else ["application/json"]
    operation["parameters"] = [
        {"name": header, "in": "header", "schema": {"type": "string", "examples": likely}}
    ]
    return operation


def _event(name: str) -> dict[str, Any]:
    """The message of a client about an event: every field a text, and any other beside them."""
    event_field, table = CLAUDE_CODE.event_field, FIELDS
    own = next(fields for event, fields in table.items() if _snake(event) == name)
    names = (event_field, *table["*"].values(), *own.values())
    return {"type": "object", "properties": {each: {"type": "string"} for each in names}}


def _snake(event: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", event).lower()


def _mcp() -> dict[str, Any]:
    """Calls of every tool, and some other requests of the protocol."""
    calls = [
        _request(
            {"const": "tools/call"},
            {
                "type": "object",
                "properties": {"name": {"const": tool.name}, "arguments": tool.schema},
                "required": ["name", "arguments"],
            },
        )
        for tool in tools().by_name.values()
    ]
    return {"anyOf": [*calls, _request({"enum": list(_MCP_METHODS)}, {"type": "object"})]}


def _request(method: dict[str, Any], params: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {
            "jsonrpc": {"const": "2.0"},
            "id": {"type": ["integer", "string"]},
            "method": method,
            "params": params,
        },
        "required": ["jsonrpc", "id", "method", "params"],
    }
