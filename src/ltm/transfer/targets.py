"""The stores an import fills, and what each holds already, so that nothing is taken in twice.

Every memory goes to its own project and agent, and nowhere else. A memory is recognized by its id,
by the id it has in its source, or by its text: one walk over the store, then look-ups only.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from ltm.config.config import load
from ltm.config.options import agent_name
from ltm.errors import WrongUsage
from ltm.model import Filter, Memory, Problem, Scope, Stored, Trust, as_record
from ltm.policy import is_active
from ltm.project.layout import Places, places
from ltm.store.open import open_store
from ltm.store.store import Store
from ltm.text.display import counted
from ltm.transfer.item import Item

_VOLATILE = frozenset(
    "created updated confirmed version previous signature shown_signature".split()  # noqa: SIM905
)


@dataclass(frozen=True, slots=True)
class Held:
    """A memory of the store, as far as an import needs it."""

    id: str
    updated: datetime
    created: datetime
    version: int
    scope: Scope
    etag: str
    active: bool
    """Whether it is in use: in force, and not archived."""
    exact: bytes
    """Fingerprint of every field."""
    sense: bytes
    """Fingerprint of what it means, whenever it was changed."""


class StoreMemories:
    """The memories of one store, to be looked up in."""

    def __init__(self, store: Store, reusing: Collection[str] = ()) -> None:
        """`reusing` are the sources whose ids can mean another memory later on."""
        self.ids: dict[str, Held] = {}
        self._reusing = reusing
        self._legacy: dict[tuple[str, str, str], Held] = {}
        self._texts: dict[bytes, Held] = {}
        self._active: Counter[Scope] = Counter()
        for stored in store.every(Filter(statuses=())):
            self._add(stored)
        self.was_empty = not self._active.total()

    def active(self, scope: Scope) -> int:
        """How many memories of a scope are in use."""
        return self._active[scope]

    def by_legacy(self, source: str, legacy_id: str, created: datetime) -> Held | None:
        """The memory that was taken in from there under this id."""
        return self._legacy.get(self._key(source, legacy_id, created))

    def by_text(self, memory: Memory) -> Held | None:
        """A memory with just this text."""
        return self._texts.get(text_fingerprint(memory.text))

    def add(self, memory: Memory) -> None:
        """Hold a memory from now on."""
        self._add(Stored(memory, "", "", ""))

    def _add(self, stored: Stored) -> None:
        memory = stored.memory
        held = Held(
            memory.id,
            memory.updated,
            memory.created,
            memory.version,
            memory.scope,
            stored.etag,
            is_active(memory),
            exact_fingerprint(memory),
            sense_fingerprint(memory),
        )
        self.ids[memory.id] = held
        self._active[memory.scope] += held.active
        if memory.source.trust is Trust.IMPORT and memory.legacy_id:
            key = self._key(memory.source.tool, memory.legacy_id, memory.created)
            self._legacy.setdefault(key, held)
        if memory.text.strip():
            self._texts.setdefault(text_fingerprint(memory.text), held)

    def _key(self, source: str, legacy_id: str, created: datetime) -> tuple[str, str, str]:
        day = created.date().isoformat() if source in self._reusing else ""
        return source, legacy_id, day


@dataclass(frozen=True, slots=True)
class Target:
    """A store and what it holds already."""

    store: Store
    known: StoreMemories
    whose: str = ""
    """The agent or the project's folder, if it is not the one that imports."""


class Targets:
    """The stores an import fills, opened when first needed. Close it afterwards."""

    def __init__(
        self,
        store: Store,
        where: Places,
        *,
        remap_agent: str = "",
        source_project: str = "",
        reusing: Collection[str] = (),
    ) -> None:
        """`store` is that of the current project and agent, and stays open."""
        self._current = store
        self._here = where
        self._remap = agent_name(remap_agent) if remap_agent else ""
        self._only = source_project
        self._reusing = reusing
        self._found: dict[tuple[str, str], Target] = {}
        self._folders: dict[str, str | None] = {}
        self._opened: list[Store] = []
        self._left_out: Counter[tuple[str, str, str]] = Counter()

    def close(self) -> None:
        """Close what was opened here."""
        for store in self._opened:
            store.close()

    def here(self) -> Target:
        """The store of the current project and agent."""
        return self._target("", "")

    def of_agent(self, name: str) -> Target:
        """The store for memories of an agent's own; '' is the agent that imports."""
        agent = self._remap or (_safe_name(name) if name else "")
        return self._target("", "" if agent == self._here.agent else agent)

    def of_item(self, item: Item) -> Target | None:
        """The store an item belongs in; None, and noted, when its project is not on this machine.

        A project is found by its folder, else by its name if that is the current project's.
        """
        if item.scope is Scope.AGENT:
            return self.of_agent(item.agent)
        if not item.belongs_elsewhere:
            return None if self._only else self.here()
        name = item.project_name or os.path.basename(item.project)
        if self._only:
            return self.here() if self._only in (name, item.project) else None
        folder = self._folder(item.project)
        if folder is not None:
            return self._target(folder, "")
        if self._here.project.name in (name, name.split("/")[0]):
            return self.here()
        self._left_out[item.path, name, item.project] += 1
        return None

    def left_out(self) -> list[Problem]:
        """What found no project here, and how to take it in all the same."""
        return [
            Problem(
                path,
                f"{counted(count, 'memory')} of the project '{name}'"
                f"{f' ({folder})' if folder else ''} left out:"
                f" run this in its folder with --source-project '{name}'",
            )
            for (path, name, folder), count in sorted(self._left_out.items())
        ]

    def _folder(self, path: str) -> str | None:
        """A project's folder if it is there, '' for the current project's."""
        if path not in self._folders:
            found: str | None = None
            if path and os.path.isdir(path):
                found = "" if places(path).project.id == self._here.project.id else path
            self._folders[path] = found
        return self._folders[path]

    def _target(self, folder: str, agent: str) -> Target:
        key = folder, agent
        if key not in self._found:
            store = self._current
            if folder or agent:
                where = places(folder or self._here.project.root, agent or self._here.agent)
                store = open_store(where, load(where.home, where.settings))
                self._opened.append(store)
            self._found[key] = Target(store, StoreMemories(store, self._reusing), agent or folder)
        return self._found[key]


def text_fingerprint(text: str) -> bytes:
    """The same for texts that differ in blanks only; any other difference counts."""
    return _digest(" ".join(text.split()))


def exact_fingerprint(memory: Memory) -> bytes:
    """The same for memories that are equal."""
    return _digest(json.dumps(as_record(memory)))


def sense_fingerprint(memory: Memory) -> bytes:
    """The same for memories that mean the same, however they came to it."""
    record = as_record(memory)
    return _digest(json.dumps({key: record[key] for key in record if key not in _VOLATILE}))


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=16).digest()


def _safe_name(name: str) -> str:
    """An agent's name as it can be kept; what else stands in a foreign one becomes hyphens."""
    plain = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:50]
    for each in (name, plain, f"agent-{plain}"):
        try:
            return agent_name(each)
        except WrongUsage:
            continue
    return "imported"
