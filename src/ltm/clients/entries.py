"""Recognise ltm's own entries in a client's settings.

Owns the shape of an entry and of a settings file, and the marks by which a hook or a server is
known as ours, written by this version, an older one, or by hand. Pure.
"""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ltm.clients import tomltext
from ltm.clients.jsonread import Unreadable, read

SERVER = "ltm"
"""The name of our server in a client's settings."""


@dataclass(frozen=True, slots=True)
class SettingsEntry:
    """One of our entries: a member at the end of a way, or an item of the list there."""

    steps: tuple[str, ...]
    value: Any
    listed: bool = False

    def __str__(self) -> str:
        return f"{'.'.join(self.steps)}: {json.dumps(self.value, ensure_ascii=False)}"


@dataclass(frozen=True, slots=True)
class SettingsFile:
    """A file we may have entries in: where it is, how it is written, and where ours would be."""

    path: str
    syntax: str = "json"
    """`json`, `jsonc` (comments allowed) or `toml`."""
    servers: tuple[str, ...] = ()
    """The way to the table of MCP servers, if the file has one."""
    hooks: bool = False
    """Whether it may hold hooks."""
    shared: bool = False
    """Whether it belongs to a repository and is read by others."""


def ours(text: str, file: SettingsFile) -> Iterator[SettingsEntry]:
    """Our entries in a file's text."""
    if not text.lstrip("\ufeff").strip():
        return
    value = value_of(text, file)
    servers: Any = value
    for step in file.servers:
        servers = servers.get(step) if isinstance(servers, dict) else None
    if file.servers and isinstance(servers, dict) and is_our_server(servers.get(SERVER)):
        yield SettingsEntry((*file.servers, SERVER), servers[SERVER])
    if file.hooks:
        for event, groups in _dict(value.get("hooks")).items():
            for group in groups if isinstance(groups, list) else ():
                hooks = [hook for hook in _list(_dict(group).get("hooks")) if is_our_hook(hook)]
                if hooks:
                    yield SettingsEntry(("hooks", event), {**group, "hooks": hooks}, listed=True)


def is_our_server(value: object) -> bool:
    """Whether a server's entry starts ours."""
    words = _words(value)
    named = [os.path.splitext(word.replace("\\", "/").rpartition("/")[2])[0] for word in words]
    return "mcp" in words and "ltm" in named


def is_our_hook(value: object) -> bool:
    """Whether a hook's entry runs ours."""
    said = " ".join(_words(value)).replace("\\", "/")
    return "ltm-hook" in said or "ltm/surfaces/hook.py" in said


def is_older_hook(hook: dict[str, Any]) -> bool:
    """Whether a hook has the form of an older version, unsafe in clients that ignore `args`."""
    return os.name != "nt" and bool(hook.get("args"))


def hook_words(hook: dict[str, Any]) -> list[str]:
    """The words of a hook's command, as a shell would read them."""
    words = _words(hook)
    if len(words) == 1:
        try:
            return shlex.split(words[0])
        except ValueError:
            pass  # written by hand, and no shell understands it
    return words


def _words(value: object) -> list[str]:
    entry = _dict(value)
    command = entry.get("command")
    words = command if isinstance(command, list) else [command]
    return [str(word) for word in (*words, *_list(entry.get("args"))) if word]


def value_of(text: str, file: SettingsFile) -> dict[str, Any]:
    """What a file's text says."""
    if file.syntax == "toml":
        return tomltext.read(text)
    node = read(text, comments=file.syntax == "jsonc")
    if not isinstance(node.value, dict):
        raise Unreadable("holds no object", 1)
    return node.value


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
