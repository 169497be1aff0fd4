"""The clients we can be entered into: one row each, and nothing else differs between them.

Owns where each keeps its MCP servers, for a person and for a project, and how one is written there.
Imports core and storage's small readers.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ltm.clients.entries import SERVER, SettingsEntry, SettingsFile
from ltm.clients.plugin import UNLESS_PLUGIN
from ltm.core.errors import WrongUsage
from ltm.storage.home import client_folder


def _plain(command: Sequence[str]) -> dict[str, Any]:
    return {"command": command[0], "args": list(command[1:])}


def _typed(command: Sequence[str]) -> dict[str, Any]:
    return {"type": "stdio", **_plain(command)}


def _always_loaded(command: Sequence[str]) -> dict[str, Any]:
    # Without `alwaysLoad` this client hides the tools from its model until it searches for them.
    return {**_typed([*command, UNLESS_PLUGIN]), "alwaysLoad": True}


def _with_tools(command: Sequence[str]) -> dict[str, Any]:
    return {"type": "local", **_plain(command), "tools": ["*"]}


def _one_list(command: Sequence[str]) -> dict[str, Any]:
    return {"type": "local", "command": list(command), "enabled": True}


@dataclass(frozen=True, slots=True)
class Client:
    """One client. Paths begin with a word in braces that `_folders` explains."""

    name: str
    title: str
    user: tuple[str, ...]
    """Where a person's servers are; the first that exists, or the first."""
    project: str = ""
    """The same inside a project; '' when the client has no such thing."""
    servers: tuple[str, ...] = ("mcpServers",)
    syntax: str = "json"
    entry: Callable[[Sequence[str]], dict[str, Any]] = _plain
    user_hooks: str = ""
    """Where a person's hooks are, for a client that has hooks."""
    project_hooks: str = ""


CLAUDE_CODE = Client(
    "claude-code",
    "Claude Code",
    ("{claude-state}",),
    ".mcp.json",
    entry=_always_loaded,
    user_hooks="{claude}/settings.json",
    project_hooks=".claude/settings.json",
)

CLIENTS = (
    CLAUDE_CODE,
    Client(
        "claude-desktop",
        "Claude Desktop",
        ("{application}/Claude/claude_desktop_config.json",),
    ),
    Client(
        "codex",
        "Codex",
        ("{codex}/config.toml",),
        ".codex/config.toml",
        servers=("mcp_servers",),
        syntax="toml",
    ),
    Client(
        "copilot",
        "GitHub Copilot CLI",
        ("{home}/.copilot/mcp-config.json",),
        entry=_with_tools,
    ),
    Client(
        "crush",
        "Crush",
        ("{config}/crush/crush.json",),
        "crush.json",
        servers=("mcp",),
        entry=_typed,
    ),
    Client("cursor", "Cursor", ("{home}/.cursor/mcp.json",), ".cursor/mcp.json"),
    Client("gemini", "Gemini CLI", ("{home}/.gemini/settings.json",), ".gemini/settings.json"),
    Client("kiro", "Kiro", ("{home}/.kiro/settings/mcp.json",), ".kiro/settings/mcp.json"),
    Client(
        "opencode",
        "OpenCode",
        ("{config}/opencode/opencode.json", "{config}/opencode/opencode.jsonc"),
        "opencode.json",
        servers=("mcp",),
        syntax="jsonc",
        entry=_one_list,
    ),
    Client("qwen", "Qwen Code", ("{home}/.qwen/settings.json",), ".qwen/settings.json"),
    Client(
        "vscode",
        "VS Code",
        ("{application}/Code/User/mcp.json",),
        ".vscode/mcp.json",
        servers=("servers",),
        syntax="jsonc",
        entry=_typed,
    ),
    Client("windsurf", "Windsurf", ("{home}/.codeium/windsurf/mcp_config.json",)),
    Client(
        "zed",
        "Zed",
        ("{zed}/settings.json",),
        ".zed/settings.json",
        servers=("context_servers",),
        syntax="jsonc",
    ),
)


def find(name: str) -> Client:
    """The client of a name; `WrongUsage` lists the names there are."""
    for client in CLIENTS:
        if client.name == name.lower():
            return client
    names = ", ".join(client.name for client in CLIENTS)
    raise WrongUsage(f"there is no client '{name}'", hint=f"there are: {names}")


def servers_file(client: Client, project: str, environ: Mapping[str, str]) -> SettingsFile:
    """The file that holds a client's servers: the project's if one is given, else the person's."""
    if not project:
        paths = [_path(template, environ) for template in client.user]
        path = next((each for each in paths if os.path.exists(each)), paths[0])
        return SettingsFile(path, client.syntax, client.servers)
    if not client.project:
        raise WrongUsage(
            f"{client.title} knows no settings for one project",
            hint=f"enter it for yourself: ltm setup --client {client.name}",
        )
    path = os.path.join(project, *client.project.split("/"))
    return SettingsFile(path, client.syntax, client.servers, shared=True)


def hooks_file(client: Client, project: str, environ: Mapping[str, str]) -> SettingsFile | None:
    """The file that holds a client's hooks, if it has hooks."""
    if not client.user_hooks:
        return None
    if not project:
        return SettingsFile(_path(client.user_hooks, environ), client.syntax, hooks=True)
    path = os.path.join(project, *client.project_hooks.split("/"))
    return SettingsFile(path, client.syntax, hooks=True, shared=True)


def server_entry(client: Client, command: Sequence[str]) -> SettingsEntry:
    """Our server as this client writes it."""
    return SettingsEntry((*client.servers, SERVER), client.entry(command))


def _path(template: str, environ: Mapping[str, str]) -> str:
    folder, *rest = template.split("/")
    return os.path.normpath(os.path.join(_folders(environ)[folder], *rest))


def _folders(environ: Mapping[str, str]) -> dict[str, str]:
    """What the words in the table stand for on this machine."""
    home = environ.get("USERPROFILE" if os.name == "nt" else "HOME", "")
    if not os.path.isabs(home):
        raise WrongUsage("HOME names no folder", hint="set HOME to your home folder")
    config = environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config")
    application, zed = config, os.path.join(config, "zed")
    if sys.platform == "darwin":
        application = os.path.join(home, "Library", "Application Support")
    elif os.name == "nt":
        application = environ.get("APPDATA") or os.path.join(home, "AppData", "Roaming")
        zed = os.path.join(application, "Zed")
    state_folder = environ.get("CLAUDE_CONFIG_DIR") or home
    return {
        "{home}": home,
        "{config}": config,
        "{application}": application,
        "{zed}": zed,
        "{codex}": environ.get("CODEX_HOME") or os.path.join(home, ".codex"),
        "{claude}": client_folder(environ),
        "{claude-state}": os.path.join(state_folder, ".claude.json"),
    }
