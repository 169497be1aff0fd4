"""Where imported memories go: each to its own project and agent, and nowhere else.

Owns the way from what a source says of a memory's project and agent to the store it belongs in.
Imports core and storage.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass

from ltm.core.counting import counted
from ltm.core.errors import WrongUsage
from ltm.core.model import Problem, Scope
from ltm.storage.config import load
from ltm.storage.opening import open_store
from ltm.storage.option import agent_name
from ltm.storage.places import Places, places
from ltm.storage.store import Store
from ltm.transfer.item import Item
from ltm.transfer.known import StoreMemories


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
        self._here = where
        self._remap = agent_name(remap_agent) if remap_agent else ""
        self._only = source_project
        self._reusing = reusing
        self._found: dict[tuple[str, str], Target] = {}
        self._folders: dict[str, str | None] = {}
        self._opened: list[Store] = []
        self._current = store
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
                same = places(path).project.id == self._here.project.id
                found = "" if same else path
            self._folders[path] = found
        return self._folders[path]

    def _target(self, folder: str, agent: str) -> Target:
        key = folder, agent
        if key not in self._found:
            store = self._open(folder, agent) if folder or agent else self._current
            self._found[key] = Target(store, StoreMemories(store, self._reusing), agent or folder)
        return self._found[key]

    def _open(self, folder: str, agent: str) -> Store:
        where = places(folder or self._here.project.root, agent or self._here.agent)
        store = open_store(where, load(where.home, where.settings))
        self._opened.append(store)
        return store


def _safe_name(name: str) -> str:
    """An agent's name as we can keep it; what else stands in a foreign one becomes hyphens."""
    plain = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:50]
    for each in (name, plain, f"agent-{plain}"):
        try:
            return agent_name(each)
        except WrongUsage:
            continue
    return "imported"
