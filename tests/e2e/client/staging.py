"""A copy of a plugin with recorders put around its command hooks and stdio MCP servers.

The plugin itself is never touched. Imports: tap.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import tap

TAP = [sys.executable, "-I", "-S", str(Path(tap.__file__).resolve())]
NOT_SHIPPED = shutil.ignore_patterns(".git", "__pycache__", "node_modules", ".venv")


@dataclass(frozen=True, slots=True)
class Staged:
    """A staged plugin: its name, its folder, and the permission rules of its MCP servers."""

    name: str
    folder: Path
    rules: tuple[str, ...]


def stage(plugin: Path, into: Path, *, tapped: bool = True) -> Staged:
    """Copy `plugin` to a folder of its name below `into`; `tapped` puts the recorders in."""
    name = plugin_name(plugin)
    folder = into / name
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(plugin, folder, ignore=NOT_SHIPPED)
    rules: list[str] = []

    def each_hook_table(table: dict[str, Any]) -> None:
        if tapped:
            tap_hooks(table)

    def each_server_table(table: dict[str, Any]) -> None:
        for server, entry in table.items():
            rules.append(re.sub(r"[^A-Za-z0-9_-]", "_", f"mcp__plugin_{name}_{server}"))
            if tapped:
                _tap_server(server, entry)

    _edit(folder, "hooks", "hooks/hooks.json", each_hook_table)
    _edit(folder, "mcpServers", ".mcp.json", each_server_table)
    return Staged(name, folder, tuple(rules))


def plugin_name(plugin: Path) -> str:
    """The name in the plugin's manifest, or that of its folder."""
    manifest = plugin / ".claude-plugin" / "plugin.json"
    return str(_load(manifest)["name"]) if manifest.exists() else plugin.name


def spy_hooks(events: tuple[str, ...]) -> dict[str, Any]:
    """A hooks table that records the payload of every event.

    Without `timeout`: one on a settings hook would raise the time that SessionEnd gives to all.
    """
    hook = {"type": "command", "command": shlex.join([*TAP, "spy"])}
    return {event: [{"hooks": [hook]}] for event in events}


def tap_hooks(table: dict[str, Any]) -> None:
    """Put a recorder around every command hook of a hooks table, in place."""
    for event, groups in table.items():
        for hook in (hook for group in groups for hook in group.get("hooks", [])):
            if hook.get("type") != "command":
                continue
            if "args" in hook:
                own = [hook["command"], *hook["args"]]
                hook["args"] = [*TAP[1:], "hook", event, "--exec", "--", *own]
                hook["command"] = TAP[0]
            else:
                # One quoted argument: the recorder's own shell expands its variables.
                hook["command"] = shlex.join([*TAP, "hook", event, "--", hook["command"]])


def _tap_server(server: str, entry: dict[str, Any]) -> None:
    if entry.get("type", "stdio") == "stdio" and "command" in entry:
        own = [entry["command"], *entry.get("args", [])]
        entry["args"] = [*TAP[1:], "mcp", server, "--", *own]
        entry["command"] = TAP[0]


def _edit(folder: Path, key: str, default: str, change: Callable[[dict[str, Any]], None]) -> None:
    """Change every table of `key`, wherever the manifest keeps it: inline, in named files, or in
    the default file."""
    path = folder / ".claude-plugin" / "plugin.json"
    manifest = _load(path) if path.exists() else {}
    given = manifest.get(key, [])
    files = {(folder / default).resolve()}
    for item in given if isinstance(given, list) else [given]:
        if isinstance(item, dict):
            change(item.get(key, item))
        else:
            files.add((folder / item).resolve())
    if manifest:
        _save(path, manifest)
    for file in sorted(file for file in files if file.exists()):
        data = _load(file)
        change(data.get(key, data))
        _save(file, data)


def _load(path: Path) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return data


def _save(path: Path, data: dict[str, Any]) -> None:
    path.write_text(json.dumps(data, indent=1), "utf-8")
