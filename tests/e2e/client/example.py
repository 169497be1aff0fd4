"""A tiny plugin, written where a test wants it: hooks, an MCP server and a slash command.

It remembers notes for as long as its server runs, and says so at the start of a session. The
harness's own tests and the recorded transcripts use it. Imports: the standard library.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

NAME = "notebook"
SERVER = "notes"

HOOK = '''\
"""Gives the model a line at the start of a session and after a failed tool."""
import json
import sys

event = json.load(sys.stdin)
lines = {
    "SessionStart": f"The notebook is open ({event.get('source')}).",
    "PostToolUseFailure": f"The notebook saw {event.get('tool_name')} fail.",
}
name = event["hook_event_name"]
if name in lines:
    output = {"hookEventName": name, "additionalContext": lines[name]}
    print(json.dumps({"hookSpecificOutput": output}))
'''

SERVER_PROGRAM = '''\
"""A server for the Model Context Protocol over stdio with two tools."""
import json
import sys

notes = []


def tool(name, argument):
    schema = {"type": "object", "properties": {argument: {"type": "string"}}}
    return {"name": name, "description": name, "inputSchema": {**schema, "required": [argument]}}


def call(name, arguments):
    if name == "write_note":
        notes.append(arguments["note"])
        return f"written as note-{len(notes)}"
    found = [note for note in notes if arguments["word"] in note]
    if not found:
        raise LookupError(f"no note has the word {arguments['word']}")
    return "; ".join(found)


def answer(method, params):
    if method == "initialize":
        info = {"name": "notes", "version": "1"}
        version = params["protocolVersion"]
        return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}
    if method == "tools/list":
        return {"tools": [tool("write_note", "note"), tool("find_note", "word")]}
    if method == "tools/call":
        try:
            text, failed = call(params["name"], params["arguments"]), False
        except LookupError as problem:
            text, failed = str(problem), True
        return {"content": [{"type": "text", "text": text}], "isError": failed}
    return {}


for line in sys.stdin:
    message = json.loads(line)
    if "id" in message and "method" in message:
        result = answer(message["method"], message.get("params") or {})
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
'''

COMMAND = """\
---
description: Write something into the notebook
---
Write this with the write_note tool: $ARGUMENTS
"""

EVENTS = ("SessionStart", "PostToolUseFailure", "Stop", "PreCompact", "SessionEnd")


def write_plugin(folder: Path, version: str = "1.0.0") -> Path:
    """Write the plugin into a folder of its name below `folder`, and return that."""
    root = folder / NAME
    program = ["-I", "-S", "${CLAUDE_PLUGIN_ROOT}/server.py"]
    server = {"command": "python3", "args": program, "alwaysLoad": True}
    described = {"description": "A notebook for tests", "author": {"name": "e2e"}}
    files: dict[str, Any] = {
        ".claude-plugin/plugin.json": {"name": NAME, "version": version, **described},
        "hooks/hooks.json": {"hooks": {event: [{"hooks": [_hook(event)]}] for event in EVENTS}},
        ".mcp.json": {"mcpServers": {SERVER: server}},
        "hook.py": HOOK,
        "server.py": SERVER_PROGRAM,
        "commands/note.md": COMMAND,
    }
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        text = content if isinstance(content, str) else json.dumps(content, indent=1)
        path.write_text(text, "utf-8")
    return root


def _hook(event: str) -> dict[str, Any]:
    """A command hook: in shell form for the start, in exec form for the rest, to have both."""
    program = "${CLAUDE_PLUGIN_ROOT}/hook.py"
    if event == "SessionStart":
        return {"type": "command", "command": f'python3 -I -S "{program}"'}
    return {"type": "command", "command": "python3", "args": ["-I", "-S", program]}
