"""How long a client waits for our MCP server, beside a bare server of the official SDK.

Measured from starting the process to the answer of `initialize`, and to the answer of `tools/list`.
Both servers take turns in the same run, so that the machine's mood is the same for both. Run it
with `python -m benchmarks.mcp_start`; `--json FILE` keeps the figures.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.report import keep, percentile, table

BARE, OURS = "bare SDK server", "ltm mcp"

GOAL = 1.3
"""Ours may take this many times as long as a bare server until `initialize` is answered."""

BARE_SERVER = """
import anyio
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

async def list_tools(context, params):
    return types.ListToolsResult(tools=[types.Tool(name="echo", input_schema={"type": "object"})])

async def call_tool(context, params):
    return types.CallToolResult(content=[types.TextContent(type="text", text="echo")])

async def main():
    server = Server("bare", on_list_tools=list_tools, on_call_tool=call_tool)
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())

anyio.run(main)
"""

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "benchmark", "version": "1"},
    },
}
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}
LIST = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}


def start(command: list[str], folder: str, home: str) -> tuple[float, float]:
    """Milliseconds from the start of a server to its first answer, and to its list of tools."""
    environment = {**os.environ, "HOME": home, "LTM_HOME": os.path.join(home, ".ltm")}
    environment.pop("CLAUDE_PROJECT_DIR", None)
    began = time.perf_counter()
    server = subprocess.Popen(
        command, cwd=folder, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert server.stdin
    assert server.stdout
    with server.stdin, server.stdout:
        server.stdin.write(_line(INITIALIZE))
        server.stdin.flush()
        assert json.loads(server.stdout.readline())["result"]
        first = time.perf_counter()
        server.stdin.write(_line(INITIALIZED) + _line(LIST))
        server.stdin.flush()
        assert json.loads(server.stdout.readline())["result"]["tools"]
        listed = time.perf_counter()
    server.wait()
    return (first - began) * 1000, (listed - began) * 1000


def _line(message: dict[str, Any]) -> bytes:
    return json.dumps(message).encode() + b"\n"


def measure(runs: int) -> dict[str, list[tuple[float, float]]]:
    """The times of both servers, taking turns; the first turn of each only warms the disk."""
    with tempfile.TemporaryDirectory(prefix="ltm-mcp-") as home:
        bare = Path(home, "bare.py")
        bare.write_text(BARE_SERVER)
        folder = Path(home, "project")
        folder.mkdir()
        commands = {
            BARE: [sys.executable, str(bare)],
            OURS: [sys.executable, "-m", "ltm", "mcp"],
        }
        taken: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
        for turn in range(runs + 1):
            order = list(commands.items())
            for name, command in order if turn % 2 else reversed(order):
                times = start(command, str(folder), home)
                if turn:
                    taken[name].append(times)
    return taken


def main() -> None:
    """Measure, print a table, and keep the figures if asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=15, help="turns per server (default 15)")
    parser.add_argument("--json", metavar="FILE", help="write the figures to this file too")
    given = parser.parse_args()
    taken = measure(max(1, given.runs))
    first = {name: [initialized for initialized, _ in each] for name, each in taken.items()}
    listed = {name: [tools for _, tools in each] for name, each in taken.items()}
    medians = {name: percentile(each, 0.5) for name, each in first.items()}
    table(
        f"MCP start (goal: initialize at most {GOAL} times bare)",
        ["server", "initialize ms", "least", "most", "times bare", "tools/list ms"],
        [
            [
                name,
                medians[name],
                min(first[name]),
                max(first[name]),
                medians[name] / medians[BARE],
                percentile(listed[name], 0.5),
            ]
            for name in taken
        ],
    )
    keep(
        given.json,
        "mcp_start",
        {
            "runs": given.runs,
            "initialize_ms": first,
            "tools_list_ms": listed,
            "median_ms": medians,
            "times_bare": medians[OURS] / medians[BARE],
            "goal": GOAL,
        },
    )


if __name__ == "__main__":
    main()
