"""The clients LTM can be set up in: where each keeps servers and hooks, and what is written there.

A client is a row of `CLIENTS`; nothing else differs between them. Hooks run a launcher: whichever
client runs it, no shell interprets the event, and whatever is missing on the machine, a hook is
silent and succeeds.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import ltm
from ltm.clients.settings import SERVER, FileChange, SettingsEntry, SettingsFile
from ltm.clients.wire import PLUGIN_EVENTS, UNLESS_PLUGIN
from ltm.config.config import Config
from ltm.errors import Refused, WrongUsage
from ltm.files.atomic import read_plain
from ltm.project.home import client_folder

WANTED = (
    ("recall.per_prompt", "UserPromptSubmit"),
    ("inject.news_per_prompt", "UserPromptSubmit"),
    ("inject.subagents", "SubagentStart"),
    ("hooks.tools", "PostToolUse"),
    ("hooks.tools", "PostToolUseFailure"),
)
"""Options, and the events that only matter when they are on."""

_TIMEOUT = 10
_OWNER = "Written by `ltm setup`"
_LAUNCHER = """\
#!/bin/sh
# Passes an event of a client, JSON on standard input, to LTM. {owner}, removed by
# `ltm uninstall`. If the Python named here is gone or broken, the next one is tried; if the program
# is gone, it does nothing.
python={python}
hook={hook}
pythons=${{hook%/*}}/pythons.sh
if [ -r "$hook" ] && [ -r "$pythons" ]; then
  . "$pythons"
  begin_hook
  {{ [ -x "$python" ] && run_hook "$hook" "$@"; }} || each_python run_hook "$hook" "$@"
fi
exit 0
"""


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

# fmt: off
CLIENTS = (
    CLAUDE_CODE,
    Client("claude-desktop", "Claude Desktop",
           ("{application}/Claude/claude_desktop_config.json",)),
    Client("codex", "Codex", ("{codex}/config.toml",), ".codex/config.toml",
           servers=("mcp_servers",), syntax="toml"),
    Client("copilot", "GitHub Copilot CLI", ("{home}/.copilot/mcp-config.json",),
           entry=_with_tools),
    Client("crush", "Crush", ("{config}/crush/crush.json",), "crush.json",
           servers=("mcp",), entry=_typed),
    Client("cursor", "Cursor", ("{home}/.cursor/mcp.json",), ".cursor/mcp.json"),
    Client("gemini", "Gemini CLI", ("{home}/.gemini/settings.json",), ".gemini/settings.json"),
    Client("kiro", "Kiro", ("{home}/.kiro/settings/mcp.json",), ".kiro/settings/mcp.json"),
    Client("opencode", "OpenCode",
           ("{config}/opencode/opencode.json", "{config}/opencode/opencode.jsonc"), "opencode.json",
           servers=("mcp",), syntax="jsonc", entry=_one_list),
    Client("qwen", "Qwen Code", ("{home}/.qwen/settings.json",), ".qwen/settings.json"),
    Client("vscode", "VS Code", ("{application}/Code/User/mcp.json",), ".vscode/mcp.json",
           servers=("servers",), syntax="jsonc", entry=_typed),
    Client("windsurf", "Windsurf", ("{home}/.codeium/windsurf/mcp_config.json",)),
    Client("zed", "Zed", ("{zed}/settings.json",), ".zed/settings.json",
           servers=("context_servers",), syntax="jsonc"),
)
# fmt: on


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


def hook_entries(config: Config, home: str, *, plugin: bool, shared: bool) -> list[SettingsEntry]:
    """What belongs into a client's hooks; with the `plugin` only what it does not do itself.

    `shared` is for a file that others read too: it names no path of this machine.
    """
    events = [] if plugin else list(PLUGIN_EVENTS)
    events += dict.fromkeys(event for option, event in WANTED if config.own(option))
    return [
        SettingsEntry(("hooks", event), {"hooks": [_hook(event, home, shared)]}, listed=True)
        for event in events
    ]


def launcher_path(home: str) -> str:
    """The program that hooks run. Its path outlives versions of LTM: some clients ask the person
    to trust a hook again when its command changes."""
    return os.path.join(home, "bin", "ltm-hook")


def new_launcher(home: str) -> FileChange | None:
    """What it takes to have a launcher of the `ltm` that is running; None if it is there."""
    path = launcher_path(home)
    python, hook = map(shlex.quote, (sys.executable, _hook_program()))
    before, after = _launcher(path), _LAUNCHER.format(owner=_OWNER, python=python, hook=hook)
    if before == after and os.access(path, os.X_OK):
        return None
    return FileChange(path, before=before, after=after, mode=0o700)


def no_launcher(home: str) -> FileChange | None:
    """What it takes to have no launcher; None if there is none, or another program in its place."""
    path = launcher_path(home)
    try:
        before = _launcher(path)
    except Refused:
        before = None
    return None if before is None else FileChange(path, before=before, after=None)


def missing_programs(home: str) -> list[str]:
    """What the launcher is to run and is not there."""
    words = shlex.split(_launcher(launcher_path(home)) or "", comments=True)
    paths = [word.partition("=")[2] for word in words if word.startswith(("python=", "hook="))]
    return [path for path in paths if not os.path.exists(path)]


def _launcher(path: str) -> str | None:
    """The text of the launcher, if there is one; another program in its place is refused."""
    try:
        text = read_plain(path).decode("utf-8", "surrogateescape")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Refused(f"cannot be read: {error.strerror}", path=path) from error
    if _OWNER not in text:
        raise Refused(
            "another program stands where the one for hooks would be written",
            path=path,
            hint="move it, or point LTM_HOME to another folder",
        )
    return text


def _hook_program() -> str:
    package = os.path.dirname(os.path.abspath(ltm.__file__))
    return os.path.join(package, "hook", "main.py")


def _hook(event: str, home: str, shared: bool) -> dict[str, Any]:
    hook: dict[str, Any] = {"type": "command"}
    if os.name == "nt":
        words = ["ltm-hook"] if shared else [sys.executable, "-I", "-S", _hook_program()]
        hook |= {"command": words[0], "args": [*words[1:], UNLESS_PLUGIN]}
    else:
        # The whole hook as one string: some clients ignore `args` and write the event to what is
        # left, which a shell would execute. Once the launcher is gone, the shell's own exit code
        # would be shown as an error.
        programs = [shlex.quote(launcher_path(home))]
        if shared:
            programs = ['"${LTM_HOME:-$HOME/.ltm}/bin/ltm-hook"', "ltm-hook"]
        tries = [f"{program} {UNLESS_PLUGIN} 2>/dev/null" for program in programs]
        hook["command"] = " || ".join([*tries, "exit 0"])
    # A time limit here would change how long the client waits for all hooks at the end.
    return hook if event == "SessionEnd" else {**hook, "timeout": _TIMEOUT}
