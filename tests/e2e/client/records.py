"""What the recorders wrote about one run of the client: hooks, event payloads, MCP calls.

Imports: the standard library.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Record = dict[str, Any]


@dataclass(frozen=True, slots=True)
class HookRun:
    """One run of a hook of the plugin. `rc` is None when it was killed, or has not ended yet."""

    event: str
    command: str
    payload: dict[str, Any]
    env: Mapping[str, str]
    rc: int | None = None
    ms: float | None = None
    stdout: str = ""
    stderr: str = ""


@dataclass(frozen=True, slots=True)
class McpCall:
    """One tools/call: what the client asked and what the server said.

    `text` is the text of the result, `failed` is true for a tool error and for a JSON-RPC error
    (`error`); `answered` is false when the server never replied.
    """

    server: str
    name: str
    arguments: Mapping[str, Any]
    answered: bool
    text: str
    failed: bool
    result: Mapping[str, Any]
    error: Mapping[str, Any]


def read_jsonl(path: Path) -> list[Record]:
    """The records of a JSON-lines file that may not exist, or is still being written."""
    if not path.exists():
        return []
    records = []
    for line in path.read_text("utf-8", "replace").splitlines():
        try:
            records.append(json.loads(line))
        except ValueError:
            continue  # the last line of a file in use, or plain text between the records
    return [record for record in records if isinstance(record, dict)]


def payloads(records: Sequence[Record], event: str = "") -> list[dict[str, Any]]:
    """Payloads of the hook events that fired, as the client sent them, in order."""
    spied = [r["payload"] for r in records if r["record"] == "spy"]
    return [p for p in spied if not event or p.get("hook_event_name") == event]


def hook_runs(records: Sequence[Record], event: str = "") -> list[HookRun]:
    """Runs of the plugin's own hooks, in the order they started."""
    ends = {r["pid"]: r for r in records if r["record"] == "hook_end"}
    runs = []
    for start in records:
        if start["record"] != "hook_start" or event not in ("", start["event"]):
            continue
        end = ends.get(start["pid"], {})
        done = {key: end[key] for key in ("rc", "ms", "stdout", "stderr") if key in end}
        about = {key: start[key] for key in ("event", "command", "payload", "env")}
        runs.append(HookRun(**about, **done))
    return runs


def mcp_calls(records: Sequence[Record], tool: str = "") -> list[McpCall]:
    """The tool calls that reached an MCP server, in order."""
    # Ids are unique within one process of a server; a restarted server begins anew.
    answers = {
        (r["pid"], r["message"].get("id")): r["message"]
        for r in records
        if r["record"] == "mcp" and r["sender"] == "server" and isinstance(r["message"], dict)
    }
    calls = []
    for r in records:
        if r["record"] != "mcp" or r["sender"] != "client" or not isinstance(r["message"], dict):
            continue
        asked = r["message"]
        if asked.get("method") != "tools/call" or tool not in ("", asked["params"]["name"]):
            continue
        answer = answers.get((r["pid"], asked["id"]))
        calls.append(_call(r["server"], asked["params"], answer))
    return calls


def _call(server: str, params: Mapping[str, Any], answer: Mapping[str, Any] | None) -> McpCall:
    result = (answer or {}).get("result", {})
    error = (answer or {}).get("error", {})
    return McpCall(
        server=server,
        name=params["name"],
        arguments=params.get("arguments") or {},
        answered=answer is not None,
        text="\n".join(c["text"] for c in result.get("content", []) if c.get("type") == "text"),
        failed=bool(error) or bool(result.get("isError")),
        result=result,
        error=error,
    )


def tools_listed(records: Sequence[Record]) -> dict[str, list[str]]:
    """Tools each MCP server has listed so far, by the server's name."""
    listed: dict[str, list[str]] = {}
    for r in records:
        if r["record"] != "mcp" or r["sender"] != "server" or not isinstance(r["message"], dict):
            continue
        result = r["message"].get("result")
        if isinstance(result, dict) and "tools" in result:
            listed[r["server"]] = [tool["name"] for tool in result["tools"]]
    return listed
