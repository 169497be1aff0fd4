"""The vaults a store sees, each with its index: finding a memory among them, and locking them.

Owns which index belongs to which vault and that it is up to date when it is asked. What is read and
what is changed is `filestore`'s and `changing`'s business.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager

from ltm.core.errors import Ambiguous, LtmError, NotFound
from ltm.core.kinds import Kinds
from ltm.core.model import Memory, Stored
from ltm.storage.index import Index
from ltm.storage.store import Version
from ltm.storage.vault import Vault, modified


class Vaults:
    """Vaults in the order they are read, and their indexes, opened when first needed."""

    def __init__(self, vaults: Sequence[Vault], kinds: Kinds, *, readonly: bool = False) -> None:
        """With `readonly`, indexes are used as they are and a vault without one is empty."""
        self.all = tuple(vaults)
        self.kinds = kinds
        self._readonly = readonly
        self._indexes: dict[str, Index] = {}

    def close(self) -> None:
        """Give back what is open."""
        for index in self._indexes.values():
            index.close()
        self._indexes.clear()

    def find(self, text: str) -> tuple[Vault, Stored]:
        """The memory a full or short id means, and the vault it is in."""
        fresh = tuple(self.fresh())
        for vault, index in fresh:
            stored = index.get(text)
            if stored is not None:
                return vault, stored
        matches = [
            (vault, index, each)
            for vault, index in fresh
            if len(text) >= 3
            for each in index.ids_like(text, most=6)
        ]
        if len(matches) > 1:
            shown = ", ".join(each for _, _, each in matches[:5])
            raise Ambiguous(f"'{text}' fits several memories: {shown}", hint="type more of the id")
        for vault, index, each in matches:
            stored = index.get(each)
            if stored is not None:
                return vault, stored
        raise NotFound(
            f"there is no memory '{text}' in this project",
            hint="find it with 'ltm recall WORDS' or 'ltm list'",
        )

    def fresh(self) -> Iterator[tuple[Vault, Index]]:
        """Every vault that exists, its index brought up to date."""
        for vault in self.all:
            if not self._readonly:
                vault.sweep()
            if vault.exists():
                try:
                    index = self.index(vault)
                except sqlite3.Error:
                    if self._readonly:
                        continue
                    raise
                if not self._readonly:
                    index.refresh()
                yield vault, index

    def index(self, vault: Vault) -> Index:
        """The index of a vault."""
        index = self._indexes.get(vault.folder)
        if index is None:
            index = Index(vault, self.kinds, readonly=self._readonly)
            self._indexes[vault.folder] = index
        return index

    @contextmanager
    def locked(self, *vaults: Vault) -> Iterator[Sequence[Index]]:
        """The write locks of vaults, taken in one order everywhere so that nobody waits in a ring,
        and their indexes, brought up to date under the locks."""
        with ExitStack() as stack:
            for folder in sorted({vault.folder for vault in vaults}):
                stack.enter_context(next(v.lock for v in vaults if v.folder == folder))
            indexes = [self.index(vault) for vault in vaults]
            for index in indexes:
                index.refresh()
            yield indexes

    def decode(self, data: bytes, path: str) -> Memory:
        """What a file says; raises `BadFile`."""
        from ltm.storage import codec, frontmatter  # YAML is slow to load, and often not needed

        document = frontmatter.parse(data, path)
        return codec.decode(document, path, self.kinds, seen=modified(path))

    def versions(self, vault: Vault, memory_id: str) -> list[Version]:
        """The kept versions of a memory, oldest first."""
        kept: list[Version] = []
        for version, path in vault.archived(memory_id):
            try:
                kept.append(Version(version, path, self.decode(vault.read_archive(path), path)))
            except LtmError:
                continue  # a damaged archive is for doctor to report, not in the way of the others
        return kept
