"""Where each client keeps servers and hooks on this machine, and what is written there.

The rows of `table` say what differs. Hooks run a launcher: whichever client runs it, no shell
interprets the event, and whatever is missing on the machine, a hook is silent and succeeds.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from importlib.resources import files
from typing import Any

import ltm
from ltm.clients.settings import (
    SERVER,
    STATUS_LINE,
    FileChange,
    SettingsEntry,
    SettingsFile,
    entries_in,
    settings_text_in,
)
from ltm.clients.settings_text import value_of
from ltm.clients.table import BY_NAME, CLIENTS, EVENT_OPTION, SHARED, Client
from ltm.clients.wire import PLUGIN, PLUGIN_EVENTS, is_plugin_active
from ltm.config.config import Config
from ltm.errors import LtmError, Refused, WrongUsage
from ltm.files.atomic import read_plain
from ltm.project.home import path_of

WANTED = (
    ("recall.per_prompt", "UserPromptSubmit"),
    ("inject.news_per_prompt", "UserPromptSubmit"),
    ("inject.subagents", "SubagentStart"),
    ("hooks.tools", "PostToolUse"),
    ("hooks.tools", "PostToolUseFailure"),
)
"""Options, and the events that only matter when they are on."""

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


_SCRIPT = """\
#!/bin/sh
# Passes an event of {title}, JSON on standard input, to LTM. {owner}, removed by `ltm uninstall`.
{command}
"""


def find(name: str) -> Client:
    """The client of a name; `WrongUsage` lists the names there are."""
    client = BY_NAME.get(name.lower())
    if client is None:
        names = ", ".join(client.name for client in CLIENTS)
        raise WrongUsage(f"there is no client '{name}'", hint=f"there are: {names}")
    return client


def installed(environ: Mapping[str, str]) -> list[Client]:
    """The clients that this machine has: their program is on the PATH, or they left a folder."""
    path = environ.get("PATH", "")
    return [
        client
        for client in CLIENTS
        if any(shutil.which(each, path=path) for each in client.programs)
        or any(os.path.exists(path_of(each, environ)) for each in client.folders)
    ]


def has_plugin(client: Client, project: str, environ: Mapping[str, str]) -> bool:
    """Whether our plugin is installed and switched on in a client, as its own files say."""
    if client.has_registry:
        return is_plugin_active(environ, project)
    if not client.plugin_noted:
        return False
    path = path_of(client.plugin_noted, environ)
    if not client.plugin_noted_at:
        return os.path.exists(path)
    try:
        syntax = "toml" if path.endswith(".toml") else "jsonc"
        noted = value_of(settings_text_in(path), syntax)
    except ValueError:
        return False
    plugins = noted.get(client.plugin_noted_at)
    states = plugins.items() if isinstance(plugins, dict) else ()
    ours = (state for key, state in states if key.startswith(f"{PLUGIN}@"))
    return any((each.get("enabled") if isinstance(each, dict) else each) is True for each in ours)


def settings_files_of(
    client: Client, project: str, environ: Mapping[str, str]
) -> list[SettingsFile]:
    """The settings that hold a client's hooks and servers: two files, one for both, or one."""
    hooks, servers = (each(client, project, environ) for each in (hooks_file, servers_file))
    if hooks and servers and hooks.path == servers.path:
        return [replace(hooks, servers=servers.servers)]
    return [file for file in (hooks, servers) if file]


def servers_file(client: Client, project: str, environ: Mapping[str, str]) -> SettingsFile | None:
    """The file that holds a client's servers: the project's if one is given, else the person's."""
    if not project:
        paths = [path_of(template, environ) for template in client.servers]
        path = next((each for each in paths if os.path.exists(each)), paths[0])
        return SettingsFile(path, client.syntax, client.servers_at)
    if not client.project_servers:
        return None
    path = os.path.join(project, *client.project_servers.split("/"))
    return SettingsFile(path, client.syntax, client.servers_at, shared=True)


def hooks_file(client: Client, project: str, environ: Mapping[str, str]) -> SettingsFile | None:
    """The settings that hold a client's hooks, if it keeps them in settings."""
    path = _hooks_path(client, project, environ)
    if not path or client.hooks_form not in ("groups", "list", "named"):
        return None
    base = json.dumps(client.hooks_base) if client.hooks_base else ""
    named = SERVER if client.hooks_form == "named" else ""
    return SettingsFile(
        path, client.hooks_syntax, hooks=True, shared=bool(project), base=base, named=named
    )


def status_line_entry(
    file: SettingsFile, command: Sequence[str], *, wanted: bool
) -> list[SettingsEntry]:
    """LTM's line in a client's status line, if it is wanted or there already."""
    there = [each for each in entries_in(file) if each.steps == (STATUS_LINE,)]
    if not wanted:
        return there
    value = {"type": "command", "command": shlex.join((*command, "statusline"))}
    return [SettingsEntry((STATUS_LINE,), value)]


def server_entry(client: Client, command: Sequence[str], *, shared: bool = False) -> SettingsEntry:
    where = ["--project", client.project_argument] if shared and client.project_argument else []
    words = [*command, *where]
    return SettingsEntry((*client.servers_at, SERVER), _filled(client.server, words))


def _filled(template: Any, words: Sequence[str]) -> Any:
    """A template of the table with the words of a command in their places."""
    if isinstance(template, Mapping):
        return {key: _filled(value, words) for key, value in template.items()}
    if template == "{words}":
        return list(words)
    if template == "{program}":
        return words[0]
    if isinstance(template, str) and template.startswith("{arguments}"):
        return [*words[1:], *template.split()[1:]]
    return list(template) if isinstance(template, tuple) else template


def hook_events(client: Client, config: Config, *, plugin: bool = False) -> list[str]:
    """The events a client is to report, by its own names; with the `plugin` those it does not."""
    ours = set() if plugin else set(PLUGIN_EVENTS)
    ours |= {event for option, event in WANTED if config.own(option)}
    return [theirs for theirs, event in client.events.items() if event in ours]


def hook_entries(
    client: Client, events: Sequence[str], home: str, *, shared: bool
) -> list[SettingsEntry]:
    """What belongs into a client's settings for these events.

    `shared` is for a file that others read too: it names no path of this machine.
    """
    hooks = {event: _hook(client, event, home, shared) for event in events}
    if client.hooks_form == "named":
        lists = {event: [hook] for event, hook in hooks.items()}
        return [SettingsEntry((SERVER,), lists)] if lists else []
    if client.hooks_form == "groups":
        hooks = {event: {"hooks": [hook]} for event, hook in hooks.items()}
    return [SettingsEntry(("hooks", event), hook, listed=True) for event, hook in hooks.items()]


def own_files(
    client: Client, events: Sequence[str], home: str, project: str, environ: Mapping[str, str]
) -> Iterator[tuple[str, str, int]]:
    """The files with hooks that are ours alone: the path, the text and the mode of each."""
    path, shared = _hooks_path(client, project, environ), bool(project)
    if not path or not events:
        return
    scripts = [event for event in events if event in client.script_events]
    if scripts:
        folder = path_of(client.scripts, environ)
        if shared:
            folder = os.path.join(project, *client.project_scripts.split("/"))
        for event in scripts:
            command = hook_command(client, event, home, shared=shared)
            text = _SCRIPT.format(title=client.title, owner=_OWNER, command=command)
            yield os.path.join(folder, event), text, 0o755
    if len(scripts) == len(events):
        return
    if client.hooks_form == "module":
        parts = ("module.js", f"module-{client.module}.js")
        text = "".join((files(ltm) / "clients" / each).read_text("utf-8") for each in parts)
        words = json.dumps([*client.hook_words, *([SHARED] if shared else [])])
        yield path, text.replace("%OWNER%", _OWNER).replace('["%WORDS%"]', words), 0o644
    elif client.hooks_form == "triggers":
        hooks = [
            {
                "name": f"ltm: {event}. {_OWNER}",
                "trigger": event,
                "action": _hook(client, event, home, shared),
                "enabled": True,
            }
            for event in events
        ]
        yield path, json.dumps({"version": "v1", "hooks": hooks}, indent=2) + "\n", 0o644


def own_paths(client: Client, project: str, environ: Mapping[str, str]) -> Iterator[str]:
    """Where those files would be, for every event of the client."""
    for path, _, _ in own_files(client, list(client.events), "/", project, environ):
        yield path


def own_change(path: str, after: str | None, mode: int = 0o644) -> FileChange | None:
    """What it takes to have this text, or none, in a file of our own; None if that is so."""
    before = _own_text(path, "a hook of LTM") if after is not None else _ours_or_none(path)
    if before == after:
        return None
    put = ((0, len(after)),) if after is not None else ()
    return FileChange(path, before=before, after=after, inserted=put, mode=mode)


def _hooks_path(client: Client, project: str, environ: Mapping[str, str]) -> str:
    if project:
        parts = client.project_hooks.split("/")
        return os.path.join(project, *parts) if client.project_hooks else ""
    return path_of(client.hooks, environ) if client.hooks else ""


def launcher_path(home: str) -> str:
    """The program that hooks run. Its path outlives versions of LTM: some clients ask the person
    to trust a hook again when its command changes."""
    return os.path.join(home, "bin", "ltm-hook")


def new_launcher(home: str) -> FileChange | None:
    """What it takes to have a launcher of the `ltm` that is running; None if it is there."""
    path = launcher_path(home)
    python, hook = map(shlex.quote, (sys.executable, _hook_program()))
    before, after = (
        _own_text(path, "the one for hooks"),
        _LAUNCHER.format(owner=_OWNER, python=python, hook=hook),
    )
    if before == after and os.access(path, os.X_OK):
        return None
    return FileChange(path, before=before, after=after, mode=0o700)


def no_launcher(home: str) -> FileChange | None:
    """What it takes to have no launcher; None if there is none, or another program in its place."""
    before = _ours_or_none(launcher_path(home))
    return None if before is None else FileChange(launcher_path(home), before=before, after=None)


def launcher_trouble(home: str) -> str:
    """Why hooks cannot run the launcher; '' if they can, and where there is none."""
    path = launcher_path(home)
    if os.name == "nt":
        return ""
    if not os.access(path, os.X_OK):
        return "hooks cannot run it: it is not there or not executable"
    try:
        words = shlex.split(_own_text(path, "the one for hooks") or "", comments=True)
    except (LtmError, ValueError):
        return "is another program than the one hooks are to run"
    programs = [word.partition("=")[2] for word in words if word.startswith(("python=", "hook="))]
    missing = [each for each in programs if not os.path.exists(each)]
    return f"runs {missing[0]}, which is not there, so hooks do nothing" if missing else ""


def _own_text(path: str, what: str) -> str | None:
    """The text of our own file, if it is there; another file in its place is refused."""
    try:
        text = read_plain(path).decode("utf-8", "surrogateescape")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Refused(f"cannot be read: {error.strerror}", path=path) from error
    if _OWNER not in text:
        raise Refused(
            f"another program stands where {what} would be written",
            path=path,
            hint="move it, or point LTM_HOME to another folder",
        )
    return text


def _ours_or_none(path: str) -> str | None:
    try:
        return _own_text(path, "one")
    except Refused:
        return None


def _hook_program() -> str:
    package = os.path.dirname(os.path.abspath(ltm.__file__))
    return os.path.join(package, "hook", "main.py")


def hook_command(client: Client, event: str, home: str, *, shared: bool) -> str:
    """The whole hook as one string: some clients ignore `args` and write the event to what is
    left, which a shell would execute. Once the launcher is gone, the shell's own exit code would
    be shown as an error."""
    programs = [shlex.quote(launcher_path(home))]
    if shared:
        programs = ['"${LTM_HOME:-$HOME/.ltm}/bin/ltm-hook"', "ltm-hook"]
    words = " ".join(_hook_words(client, event, shared))
    tries = [f"{program} {words} 2>/dev/null" for program in programs]
    return " || ".join([*tries, "exit 0"])


def _hook_words(client: Client, event: str, shared: bool) -> list[str]:
    is_named = client.event_field and event not in client.script_events
    named = [] if is_named else [EVENT_OPTION, event]
    return [*client.hook_words, *named, *([SHARED] if shared else [])]


def _hook(client: Client, event: str, home: str, shared: bool) -> dict[str, Any]:
    row = {**client.hook, **client.hook_for.get(event, {})}
    command = hook_command(client, event, home, shared=shared)
    if os.name != "nt":
        filled = {key: command if value == "{command}" else value for key, value in row.items()}
    else:
        words = ["ltm-hook"] if shared else [sys.executable, "-I", "-S", _hook_program()]
        words += _hook_words(client, event, shared)
        filled = {**row, "command": words[0], "args": words[1:]}
    return {key: value for key, value in filled.items() if value is not None}
