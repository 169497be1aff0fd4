"""Calls of tools in one vocabulary, whatever a client calls its tools and their arguments.

The rest of LTM knows Claude Code's names: `Bash` with a `command`, `Edit` or `Write` with a
`file_path`, our own tools with `mcp__ltm__`. An unknown tool keeps its name. None is taken for one
that asks the user: a server may call its tools as it likes, so what it gives back counts as given
to the session.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping
from typing import Any

MEMORY = "mcp__ltm__"
_SERVER = "ltm"
_OWN = re.compile(r"(?:mcp_{1,2})?ltm(?:__|_|-|/)(\w+)\Z")
_KNOWN = {
    name: tool
    for tool, names in {
        "Bash": "bash shell Shell local_shell exec_command run_shell_command run_commands"
        " execute_command run_command run_in_terminal",
        "PowerShell": "powershell",
        "Edit": "edit replace str_replace StrReplace apply_patch replace_file_content"
        " multi_replace_file_content edit_file replace_in_file",
        "Write": "write write_file write_to_file create create_file",
        "Read": "read read_file read_files read_many_files view view_file",
        "Grep": "grep grep_search search_file_content",
        "Glob": "glob find_files",
        "LS": "ls list list_dir list_directory list_files tree",
        "WebFetch": "web_fetch webfetch fetch",
        "TodoWrite": "todowrite todo_write write_todos update_plan",
        "Task": "task delegate spawn_agent",
        "ToolSearch": "tool_search",
    }.items()
    for name in names.split()
}
_SHELLS = ("Bash", "PowerShell")
_COMMANDS = ("command", "cmd", "CommandLine", "commands")
_FILES = ("path", "filePath", "absolute_path", "target_file", "TargetFile", "file")
_SAME = {
    "oldString": "old_string",
    "newString": "new_string",
    "old_str": "old_string",
    "new_str": "new_string",
    "contents": "content",
    "file_text": "content",
}
_RUNNERS = ("sh", "bash", "zsh", "dash", "fish")
_EXIT = re.compile(r"(?:exited with code|Exit Code:|exit code:?)\s*(-?\d{1,9})\b")
_PATCHED = re.compile(r"^\*\*\* (?:Update|Add|Delete) File: (.{1,4000})$", re.MULTILINE)
_PATCH = 100_000
_CHANGES = 100


def tool_name(name: str, server: str = "") -> str:
    """The name of a tool in our vocabulary; `server` is the MCP server it belongs to, if known."""
    own = _OWN.match(name)
    if server:
        bare = name.removeprefix(f"mcp__{server}__").removeprefix(f"{server}-")
        return f"mcp__{server}__{bare}"
    return MEMORY + own[1] if own else _KNOWN.get(name, name)


def arguments(tool: str, given: Any) -> dict[str, Any]:
    """What a tool was called with, in our vocabulary; JSON in a text is read."""
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except (ValueError, RecursionError):
            given = {"input": given}
    if not isinstance(given, dict):
        return {}
    found: dict[str, Any] = {_SAME.get(str(key), str(key)): each for key, each in given.items()}
    if tool in _SHELLS:
        named = next((key for key in _COMMANDS if found.get(key)), None)
        if named is not None:
            found["command"] = command_line(found.pop(named))
    elif tool in ("Edit", "Write", "Read") and "file_path" not in found:
        named = next((key for key in _FILES if isinstance(found.get(key), str)), None)
        if named is not None:
            found["file_path"] = found.pop(named)
        elif patched := _PATCHED.search(str(found.get("input", ""))[:_PATCH]):
            found["file_path"] = patched[1].strip()
    elif tool == "TodoWrite" and "todos" not in found and isinstance(found.get("plan"), list):
        found["todos"] = [
            {"content": each.get("step"), "status": each.get("status")}
            for each in found["plan"]
            if isinstance(each, dict)
        ]
        del found["plan"]
    return found


def command_line(given: Any) -> str:
    """A command as one would type it: a text, or a list of words with or without a shell."""
    if isinstance(given, str):
        return given
    words = [each for each in given if isinstance(each, str)] if isinstance(given, list) else []
    is_shell = words and words[0].rpartition("/")[2] in _RUNNERS
    if is_shell and len(words) > 2 and words[1].startswith("-") and words[1].endswith("c"):
        return words[2]
    return shlex.join(words) if len(words) > 1 else "".join(words)


def exit_code(text: str) -> int | None:
    """The exit code that a client wrote into the text of a result, if it did."""
    found = _EXIT.search(text)
    return int(found[1]) if found else None


def changed_files(changes: Any) -> list[str]:
    """The paths of a set of changes, a hundred at the most."""
    return list(changes)[:_CHANGES] if isinstance(changes, Mapping) else []
