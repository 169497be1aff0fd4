"""An MCP server in a few lines, for when the real one cannot or must not serve.

Owns the answers every server owes its client: to its greeting, to pings, and to what it has to
offer. Standard library only, and any Python from 3.8.
"""

from __future__ import annotations

import json
import sys

from ltm import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LISTS = ("tools", "prompts", "resources")
_NOT_FOUND = -32601


def understood(line: bytes) -> dict[str, Any] | None:
    """The request in a line; None for anything that wants no answer."""
    try:
        message = json.loads(line)
    except ValueError:
        return None
    is_request = isinstance(message, dict) and "id" in message and "method" in message
    return message if is_request else None


def answer(
    request: dict[str, Any], *, tools: tuple[dict[str, Any], ...] = (), instructions: str = ""
) -> dict[str, Any]:
    """The answer to a request, by a server that offers these tools and knows no call of them."""
    method = str(request["method"])
    if method == "initialize":
        asked = request.get("params")
        result: dict[str, Any] = {
            "protocolVersion": asked.get("protocolVersion") if isinstance(asked, dict) else "",
            "capabilities": {name: {"listChanged": True} for name in LISTS},
            "serverInfo": {"name": "ltm", "version": __version__},
        }
        if instructions:
            result["instructions"] = instructions
    elif method == "ping":
        result = {}
    elif method == "tools/list":
        result = {"tools": list(tools)}
    elif method in ("prompts/list", "resources/list"):
        result = {method.partition("/")[0]: []}
    elif method == "resources/templates/list":
        result = {"resourceTemplates": []}
    else:
        error = {"code": _NOT_FOUND, "message": f"{method[:80]} is not served here"}
        return {"jsonrpc": "2.0", "id": request["id"], "error": error}
    return {"jsonrpc": "2.0", "id": request["id"], "result": result}


def written(message: dict[str, Any]) -> bytes:
    """A message as a line."""
    return json.dumps(message).encode() + b"\n"


def serve_nothing() -> None:
    """Serve on stdin and stdout, without a tool, until the client goes."""
    for line in iter(sys.stdin.buffer.readline, b""):
        request = understood(line)
        if request is not None:
            sys.stdout.buffer.write(written(answer(request)))
            sys.stdout.buffer.flush()
