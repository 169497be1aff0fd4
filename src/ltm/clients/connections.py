"""What each client on this machine has of LTM: server, hooks, trust, and its last report.

It only looks. Whatever is missing comes with what to do about it.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ltm.clients.clients import (
    has_plugin,
    hook_events,
    installed,
    launcher_path,
    launcher_trouble,
    own_files,
    settings_files_of,
)
from ltm.clients.diagnose import common_trouble, is_entered, why_not_working
from ltm.clients.settings import (
    STATUS_LINE,
    SettingsEntry,
    SettingsFile,
    our_entries,
    settings_text_in,
)
from ltm.clients.settings_text import Unreadable, value_of
from ltm.clients.table import CLIENTS, Client
from ltm.clients.wire import PLUGIN_EVENTS
from ltm.config.config import Config
from ltm.model import Problem
from ltm.project.home import path_of
from ltm.project.layout import Places


@dataclass(frozen=True, slots=True)
class ClientState:
    client: Client
    plugin: bool = False
    """Whether our plugin is installed and switched on in it."""
    server: str = ""
    """The file our server is entered in."""
    hooks: tuple[str, ...] = ()
    """The events of which it reports to us, by its own names."""
    last_event: str = ""
    """When it last reported one; '' if it never did."""
    missing: tuple[str, ...] = field(default=())
    """What keeps it from having a memory, each with what to do."""

    @property
    def is_entered(self) -> bool:
        return bool(self.plugin or self.server or self.hooks)

    @property
    def is_diagnosed(self) -> bool:
        """Whether `diagnose` says what is missing, because it knows more of this client."""
        return self.client.has_registry

    def as_record(self) -> dict[str, Any]:
        return {
            "client": self.client.name,
            "plugin": self.plugin,
            "server": self.server or None,
            "hooks": list(self.hooks),
            "last_event": self.last_event or None,
            "missing": list(self.missing),
        }


@dataclass(frozen=True, slots=True)
class ClientHealth:
    """Whether sessions get memories, over all clients."""

    connected: bool
    trouble: tuple[Problem, ...]
    """Why they get none: what is wrong where a client is connected, else why none is, as far as
    more than that is known."""
    is_sound: bool
    """Whether nothing is wrong or missing in any client that LTM was entered into."""


def client_health(
    places: Places, found: Sequence[ClientState], environ: Mapping[str, str] = os.environ
) -> ClientHealth:
    """How things stand with the clients that were `found`.

    Who works with other clients need not have the one that `diagnose` knows more of, though a
    project's settings may enter LTM into it for everyone.
    """
    others = [each for each in found if each.is_entered and not each.is_diagnosed]
    diagnosed = [each for each in found if each.is_diagnosed]
    is_in_it = is_entered(places, environ) or any(each.is_entered for each in diagnosed)
    has_it = any(each.client in installed(environ) for each in diagnosed)
    trouble: Sequence[Problem] = ()
    if others and not (has_it and is_in_it):
        trouble = common_trouble(places.home)
    elif has_it or is_in_it or not found:
        trouble = why_not_working(places, environ)
    connected = is_in_it or bool(others)
    lacks = any(each.missing for each in others)
    return ClientHealth(connected, tuple(trouble), not (connected and (trouble or lacks)))


def connections(
    places: Places,
    config: Config,
    last_events: Mapping[str, str],
    environ: Mapping[str, str] = os.environ,
) -> list[ClientState]:
    """What every client has that is on this machine, or that LTM was entered in."""
    here = {client.name for client in installed(environ)}
    found = (_connection(each, places, config, last_events, environ) for each in CLIENTS)
    return [each for each in found if each.client.name in here or each.is_entered]


def _connection(
    client: Client,
    places: Places,
    config: Config,
    last_events: Mapping[str, str],
    environ: Mapping[str, str],
) -> ClientState:
    root, last = places.project.root, last_events.get(client.name, "")
    plugin = has_plugin(client, root, environ)
    if plugin and client.plugin_serves:
        return ClientState(client, plugin=True, hooks=_plugin_events(client), last_event=last)
    setup = f"ltm setup --client {client.name}"
    server, hooks, missing = "", dict[str, tuple[str, Any]](), list[str]()
    for project in ("", root):
        for file in settings_files_of(client, project, environ):
            try:
                entries = _entries(file)
            except Unreadable as error:
                missing.append(f"{file.path} cannot be read ({error}): mend it by hand")
                continue
            for entry in entries:
                if entry.steps[-1] == "ltm" and entry.steps[:-1] == file.servers:
                    server = server or file.path
                elif entry.steps != (STATUS_LINE,):
                    events = entry.value if file.named else {entry.steps[-1]: entry.value}
                    hooks |= {event: (file.path, value) for event, value in events.items()}
        for event, path in _own_events(client, config, places.home, project, environ):
            hooks.setdefault(event, (path, None))
    wanted = [event for event in hook_events(client, config) if _has_hooks(client, root)]
    if plugin:
        lack = () if server else (f"its plugin brings no tools for agents: {setup}",)
        return ClientState(client, True, server, _plugin_events(client), last, (*missing, *lack))
    if not server and not hooks:
        return ClientState(client, last_event=last, missing=(*missing, f"not set up: {setup}"))
    if not server and not any("cannot be read" in each for each in missing):
        missing.append(f"our server is not entered, so agents have no tools: {setup}")
    lacking = [event for event in wanted if event not in hooks]
    if lacking and (client.hooks or hooks):
        missing.append(f"no hook for {', '.join(lacking)}: {setup}")
    trouble = launcher_trouble(places.home)
    if trouble and any(not path.startswith(root + os.sep) for path, _ in hooks.values()):
        missing.append(f"{launcher_path(places.home)}: {trouble} (run 'ltm doctor --fix')")
    doubted = list(_untrusted(client, hooks, environ)) if client.trust_noted else []
    if doubted:
        missing.append(f"hooks that are not trusted ({', '.join(doubted)}): {client.trust}")
    return ClientState(client, False, server, tuple(hooks), last, tuple(missing))


def _plugin_events(client: Client) -> tuple[str, ...]:
    return tuple(theirs for theirs, ours in client.events.items() if ours in PLUGIN_EVENTS)


def _has_hooks(client: Client, root: str) -> bool:
    return bool(client.hooks or (root and client.project_hooks))


def _entries(file: SettingsFile) -> list[SettingsEntry]:
    return list(our_entries(settings_text_in(file.path), file))


def _own_events(
    client: Client, config: Config, home: str, project: str, environ: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    """The events for which a file of our own is there, and the file."""
    for event in hook_events(client, config):
        for path, _, _ in own_files(client, [event], home, project, environ):
            if "ltm-hook" in settings_text_in(path):
                yield event, path


def _untrusted(
    client: Client, hooks: Mapping[str, tuple[str, Any]], environ: Mapping[str, str]
) -> Iterator[str]:
    """The events whose hooks the person has not trusted as they are now.

    The client notes a hash of each hook it was told to trust, under the hook's place.
    """
    try:
        state = value_of(settings_text_in(path_of(client.trust_noted, environ)), "toml")
    except Unreadable:
        state = {}
    noted = state.get("hooks", {}).get("state", {})
    for event, (path, group) in hooks.items():
        name = re.sub(r"(?<!^)(?=[A-Z])", "_", event).lower()
        trusted = {
            each.get("trusted_hash")
            for key, each in noted.items()
            if isinstance(each, dict) and key.startswith(f"{path}:{name}:")
        }
        hashes = {trust_hash(name, hook) for hook in (group or {}).get("hooks", ())}
        if not hashes <= trusted:
            yield event


def trust_hash(event: str, hook: Mapping[str, Any]) -> str:
    """The hash by which a client knows a hook it was told to trust."""
    identity = {"event_name": event, "hooks": [{"async": False, **hook}]}
    data = json.dumps(identity, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return f"sha256:{hashlib.sha256(data.encode()).hexdigest()}"
