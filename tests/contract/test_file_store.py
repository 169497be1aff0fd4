"""The file-backed store keeps the contract."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ltm.store.store import Store
from tests.contract.store_contract import Open, StoreContract
from tests.stores import file_store


class TestFileStore(StoreContract):
    """Memories as Markdown files."""

    @pytest.fixture
    def reopen(self, tmp_path: Path) -> Iterator[Open]:
        opened: list[Store] = []

        def open_store() -> Store:
            store = file_store(tmp_path)
            opened.append(store)
            return store

        yield open_store
        for store in opened:
            store.close()
