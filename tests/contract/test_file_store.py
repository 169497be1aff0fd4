"""The file-backed store keeps the contract."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ltm.core.kinds import Kinds
from ltm.core.model import Scope
from ltm.storage.filestore import FileStore
from ltm.storage.state import State
from ltm.storage.store import Store
from ltm.storage.vault import Vault
from tests.contract.store_contract import Open, StoreContract


class TestFileStore(StoreContract):
    """Memories as Markdown files."""

    @pytest.fixture
    def open(self, tmp_path: Path) -> Iterator[Open]:
        opened: list[Store] = []

        def open_store() -> Store:
            project = Vault("private", str(tmp_path / "project"))
            agent = Vault("agent", str(tmp_path / "agent"))
            store = FileStore(
                (project, agent),
                {Scope.PROJECT: project, Scope.AGENT: agent},
                State(str(tmp_path / "state.db")),
                Kinds(),
                project="p",
            )
            opened.append(store)
            return store

        yield open_store
        for store in opened:
            store.close()
