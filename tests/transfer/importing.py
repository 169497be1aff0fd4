"""A person's machine for tests of moving in: an own LTM_HOME, a project, and a way to import."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ltm.config.config import load
from ltm.model import Filter, Memory
from ltm.project.layout import places
from ltm.store.open import open_store
from ltm.store.store import Store
from ltm.store.trust import record_trust
from ltm.transfer.import_ import ImportReport, ImportRequest, import_memories

NOW = datetime(2026, 11, 15, 16, 22, tzinfo=UTC)


@dataclass
class Machine:
    """Stores are opened again for every look, as another process would."""

    home: Path
    project: Path
    _open: list[Store] = field(default_factory=list)

    def store(self, agent: str | None = None, project: Path | None = None) -> Store:
        """The store of the project and the agent."""
        where = places(str(project or self.project), agent)
        store = open_store(where, load(where.home, where.settings))
        self._open.append(store)
        return store

    def take(self, path: Path | str, source: str = "", **wish: Any) -> ImportReport:
        """Import a path."""
        at = wish.pop("at", NOW)
        return import_memories(
            ImportRequest(str(path), source, **wish), self.store(), places(str(self.project)), at=at
        )

    def memories(self, agent: str | None = None, project: Path | None = None) -> list[Memory]:
        """Everything that is kept, whatever its status, the oldest first."""
        found = [each.memory for each in self.store(agent, project).every(Filter(statuses=()))]
        return sorted(found, key=lambda memory: (memory.created, memory.title))

    def by_legacy(self, **where: Any) -> dict[str, Memory]:
        """The same by the id they had before."""
        return {memory.legacy_id: memory for memory in self.memories(**where)}

    def originals(self, memory: Memory) -> list[Memory]:
        """The versions that are kept of a memory."""
        return [each.memory for each in self.store().versions(memory.id)]

    def trust(self) -> None:
        """Say that the vault in the project's folder is trusted, as `ltm trust` does."""
        where = places(str(self.project))
        record_trust(where.private, where.project, where.shared, True)

    def close(self) -> None:
        for store in self._open:
            store.close()


def counts(report: ImportReport) -> tuple[int, int, int]:
    """(added, updated, skipped), and no problem at all."""
    assert report.problems == []
    return report.added, report.updated, report.skipped


def mapped(report: ImportReport) -> dict[tuple[str, str], int]:
    """How many of the source's words became which kind."""
    return {(word, kind): count for (_, word, kind), count in report.mapped.items()}


def write(path: Path, text: str | bytes | dict[str, Any] | list[Any]) -> Path:
    """A file with its folders; JSON for a value."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(text, bytes):
        path.write_bytes(text)
    else:
        path.write_text(text if isinstance(text, str) else json.dumps(text), encoding="utf-8")
    return path


def snapshot(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Every file below a folder with its bytes and its time, to prove that nothing touched it."""
    return {
        str(path.relative_to(folder)): (path.read_bytes(), path.stat().st_mtime_ns)
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def machine(tmp_path: Path) -> Iterator[Machine]:
    """A machine whose LTM_HOME the caller has set to `home` below the folder."""
    (tmp_path / "app").mkdir()
    made = Machine(tmp_path / "home", tmp_path / "app")
    yield made
    made.close()


def at(text: str) -> datetime:
    """A moment of UTC."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC)
