"""Whether the client runs our plugin, as its settings say.

Hooks that `ltm setup` entered ask this before each event and do nothing if it does: an event must
not count twice. Standard library and our smallest readers only: hooks load this.
"""

from __future__ import annotations

import os

from ltm.core.quickjson import read_object
from ltm.storage.home import client_folder
from ltm.storage.plainfile import read_plain

TYPE_CHECKING = False  # without `typing`, which alone costs a hook half its time
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

NAME = "ltm"
EVENTS = ("SessionStart", "PreCompact", "Stop", "SubagentStop", "SessionEnd")
"""The events the plugin's own hooks listen to; a test compares them with its `hooks.json`."""

UNLESS_PLUGIN = "--unless-plugin"
"""Tells what `ltm setup` entered to do nothing where the plugin does it."""

_MARK = f'"{NAME}@'.encode()
_LIMIT = 4 * 1024 * 1024


def is_active(environ: Mapping[str, str], project: str) -> bool:
    """Whether our plugin is installed and switched on for sessions in a project's folder."""
    folder = client_folder(environ)
    installed = _read(os.path.join(folder, "plugins", "installed_plugins.json"))
    if _MARK not in installed:
        return False
    on: dict[str, object] = {}
    for path in settings_files(folder, project):
        data = _read(path)
        if _MARK in data:
            found = read_object(data.decode("utf-8", "replace")).get("enabledPlugins")
            if isinstance(found, dict):
                on.update(found)
    return any(value is True for key, value in on.items() if key.startswith(f"{NAME}@"))


def settings_files(folder: str, project: str) -> Iterator[str]:
    """The client's settings, those that are overruled first."""
    yield os.path.join(folder, "settings.json")
    if project:
        yield os.path.join(project, ".claude", "settings.json")
        yield os.path.join(project, ".claude", "settings.local.json")


def _read(path: str) -> bytes:
    try:
        return read_plain(path, limit=_LIMIT)
    except (OSError, ValueError):
        return b""
