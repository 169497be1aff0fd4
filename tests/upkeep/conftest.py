"""A store on real files with a clock and sessions the test decides about."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from ltm.kinds import Kinds
from ltm.model import Memory, Scope, new_id
from ltm.state.usage import State
from ltm.store.file_store import FileStore
from ltm.vault.vault import Vault
from tests.stores import begin

START = datetime(2026, 1, 5, 9, tzinfo=UTC)
DAY = timedelta(days=1)


class World:
    """A project with its vaults and its calendar."""

    def __init__(self, folder: Path, project: str = "p") -> None:
        self.folder = folder
        self.now = START
        self.project = project
        self.state = State(str(folder / "state.db"))
        self._opened: list[FileStore] = []
        self.store = self.another_store()

    def another_store(self) -> FileStore:
        """A second store on the same files, as another process would open it."""
        private = Vault("private", str(self.folder / "project"))
        agent = Vault("agent", str(self.folder / "agent"))
        homes = {Scope.PROJECT: private, Scope.AGENT: agent}
        state = State(str(self.folder / "state.db"))
        store = FileStore(
            (private, agent), homes, state, Kinds(), project=self.project, clock=lambda: self.now
        )
        self._opened.append(store)
        return store

    def session(self, days: float = 1) -> None:
        """So many days later a new session begins."""
        self.now += days * DAY
        begin(self.state, f"session of {self.now.isoformat()}", self.project, self.now)

    def sessions(self, count: int) -> None:
        """One session on each of so many days."""
        for _ in range(count):
            self.session()

    def remember(self, title: str = "Use ruff for linting", **fields: object) -> Memory:
        """Keep a memory, made now unless it says otherwise."""
        values: dict[str, object] = {
            "id": new_id(self.now),
            "kind": "fact",
            "title": title,
            "summary": f"{title}. Everybody does.",
            "content": f"First paragraph on {title}.\n\nSecond paragraph.\n\nThird paragraph.",
            "created": self.now,
            "updated": self.now,
            "confirmed": self.now,
            **fields,
        }
        return self.store.create(Memory(**values)).memory  # type: ignore[arg-type]

    def read(self, memory_id: str) -> Memory:
        """A memory as its file has it now."""
        return self.store.read(memory_id).memory

    def close(self) -> None:
        for store in self._opened:
            store.close()
        self.state.close()


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path)
    yield made
    made.close()
