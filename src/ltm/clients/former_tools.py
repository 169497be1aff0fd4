"""What other memory tools left in Claude Code's settings, and taking it out.

Two memories at once tell a session everything twice, and one of them may pay a model for each turn.
Hooks and servers are known by words of their commands, plugins by their names. Nothing here is
changed unless a person asks for it by the tool's name: `ltm uninstall --tool NAME`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ltm.clients import settings_text
from ltm.clients.clients import servers_file
from ltm.clients.settings import (
    FileChange,
    SettingsEntry,
    hook_words,
    is_our_hook,
    is_our_server,
    settings_in,
    settings_text_in,
)
from ltm.clients.settings_text import Steps, Unreadable, look, value_of
from ltm.clients.table import CLAUDE_CODE
from ltm.clients.wire import settings_files
from ltm.errors import Conflict, NotFound, Refused
from ltm.files.atomic import is_inside, write_file
from ltm.model import Problem
from ltm.project.home import client_folder
from ltm.project.layout import Places


@dataclass(frozen=True, slots=True)
class FormerTool:
    """A memory tool and the words by which its entries are known."""

    name: str
    """The name of its importer."""
    title: str
    commands: tuple[str, ...]
    """Words in the commands of its hooks and servers."""
    plugins: tuple[str, ...] = ()
    """How the names of its plugins begin."""

    def runs(self, entry: object) -> bool:
        """Whether a hook or server starts it."""
        if not isinstance(entry, dict) or is_our_hook(entry) or is_our_server(entry):
            return False
        words = " ".join(hook_words(entry)).replace("\\", "/")
        return any(each in words for each in self.commands)


TOOLS = (
    FormerTool("claude-ltm", "claude-ltm", ("claude-ltm", "ltm-mcp-server"), ("ltm@claude-ltm",)),
    FormerTool(
        "anima",
        "LTM/Anima",
        ("ltm.hooks.session_start", "ltm.hooks.session_end", "ltm.tools.detect_achievements"),
    ),
    FormerTool("memory-mcp", "memory-mcp", ("memory-mcp", "claude-code-memory")),
    FormerTool("memory-keeper", "Memory Keeper", ("memory-keeper",), ("memory-keeper@",)),
)


@dataclass(frozen=True, slots=True)
class FormerEntry:
    """One thing of a tool in the client's settings."""

    tool: FormerTool
    path: str
    what: str
    """Such as "the hooks on Stop, SessionEnd"."""
    remedy: str
    """The line that takes it out."""

    @property
    def problem(self) -> Problem:
        """The same as doctor shows it: worth knowing, and nothing that is broken."""
        message = f"{self.what} of {self.tool.title} still at work (take out: {self.remedy})"
        return Problem(self.path, message, ill=False)


def former_entries(
    places: Places, environ: Mapping[str, str] = os.environ
) -> Iterator[FormerEntry]:
    """Hooks, servers and plugins of other memory tools in the settings that count here."""
    folder, root = client_folder(environ), places.project.root
    if not folder:
        return
    for path in settings_files(folder, root):
        value = settings_in(path)
        for tool in TOOLS:
            events = ", ".join(each.steps[-1] for each in _hooks(value, tool))
            if events:
                yield FormerEntry(tool, path, f"hooks on {events}", _line(tool))
            plugins = value.get("enabledPlugins")
            for name, on in plugins.items() if isinstance(plugins, dict) else ():
                if on is True and name.startswith(tool.plugins or ("\0",)):
                    remedy = f"claude plugin uninstall {name}"
                    yield FormerEntry(tool, path, f"the plugin {name}", remedy)
    for path, steps in _server_tables(root, environ):
        value = settings_in(path)
        for tool in TOOLS:
            names = ", ".join(each.steps[-1] for each in _servers(value, steps, tool))
            if names:
                yield FormerEntry(tool, path, f"the server {names}", _line(tool))


def former_tool(name: str) -> FormerTool:
    for tool in TOOLS:
        if name.strip().lower() in (tool.name, tool.title.lower()):
            return tool
    known = ", ".join(tool.name for tool in TOOLS)
    raise NotFound(f"'{name}' is not a tool ltm knows hooks of", hint=f"use one of: {known}")


def removals(
    tool: FormerTool, places: Places, environ: Mapping[str, str] = os.environ
) -> list[FileChange]:
    """The changes that take a tool's hooks and servers out of the client's settings."""
    folder, root = client_folder(environ), places.project.root
    changes: dict[str, FileChange] = {}
    for path in settings_files(folder, root):
        _plan(changes, path, lambda text: _without_hooks(text, tool), root)
    for path, steps in _server_tables(root, environ):

        def without(text: str, steps: tuple[str, ...] = steps) -> tuple[str, list[SettingsEntry]]:
            gone = _servers(value_of(text, "json"), steps, tool)
            for each in gone:
                text = settings_text.remove(text, each.steps)
            return text, gone

        _plan(changes, path, without, root)
    return list(changes.values())


def remove(change: FileChange) -> None:
    """Write a file without what is to go, if it is still as it was when that was planned."""
    path = os.path.realpath(change.path)
    if settings_text_in(path, "surrogateescape") != change.before:
        raise Conflict("was changed meanwhile, so nothing was written", path=path, hint="try again")
    mode = os.stat(path).st_mode & 0o777
    write_file(path, (change.after or "").encode("utf-8", "surrogateescape"), mode=mode)


def _plan(changes: dict[str, FileChange], path: str, without: Any, root: str) -> None:
    before = settings_text_in(path, "surrogateescape")
    if not before or (path.startswith(root + os.sep) and not is_inside(path, root)):
        return
    planned = changes.get(path)
    try:
        after, gone = without(planned.after if planned else before)
    except Unreadable as error:
        hint = "mend the file by hand; it was left as it is"
        raise Refused(f"cannot be read: {error}", path=path, line=error.line, hint=hint) from None
    if gone:
        removed = (*(planned.removed if planned else ()), *gone)
        changes[path] = FileChange(path, before, after, removed=removed)


def _without_hooks(text: str, tool: FormerTool) -> tuple[str, list[SettingsEntry]]:
    gone = _hooks(value_of(text, "json"), tool)
    for entry in gone:
        groups = look(text, entry.steps)
        for number in reversed(range(len(groups.children) if groups else 0)):
            way: Steps = (*entry.steps, number, "hooks")
            shorter = settings_text.remove_items(text, way, tool.runs)
            left = look(shorter, way)
            if shorter != text and left is not None and not left.children:
                shorter = settings_text.remove(shorter, (*entry.steps, number))
            text = shorter
        text = settings_text.remove_if_empty(text, entry.steps)
    return (settings_text.remove_if_empty(text, ("hooks",)) if gone else text), gone


def _hooks(value: Mapping[str, Any], tool: FormerTool) -> list[SettingsEntry]:
    """A tool's hooks, an entry for each event."""
    found = []
    events = value.get("hooks")
    for event, groups in events.items() if isinstance(events, dict) else ():
        hooks = [
            hook
            for group in (groups if isinstance(groups, list) else ())
            for hook in (group.get("hooks") or () if isinstance(group, dict) else ())
            if tool.runs(hook)
        ]
        if hooks:
            found.append(SettingsEntry(("hooks", event), hooks, listed=True))
    return found


def _servers(
    value: Mapping[str, Any], steps: tuple[str, ...], tool: FormerTool
) -> list[SettingsEntry]:
    table: Any = value
    for step in steps:
        table = table.get(step) if isinstance(table, dict) else None
    entries = table.items() if isinstance(table, dict) else ()
    return [SettingsEntry((*steps, name), entry) for name, entry in entries if tool.runs(entry)]


def _server_tables(root: str, environ: Mapping[str, str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The files and tables in which the client looks for servers."""
    files = (servers_file(CLAUDE_CODE, each, environ) for each in ("", root))
    for file in filter(None, files):
        yield file.path, file.servers
        if not file.shared:
            yield file.path, ("projects", root, *file.servers)


def _line(tool: FormerTool) -> str:
    return f"ltm uninstall --tool {tool.name}"
