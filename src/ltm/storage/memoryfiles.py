"""The files of memories as a change finds and leaves them, with the vault's lock held.

Owns how one is read for a change, put in the place of its former self, and noted in the index.
Which change it is and what it does to others is `changing`'s business.
"""

from __future__ import annotations

import os
import sqlite3

from ltm.core.decision import TEXT
from ltm.core.errors import Conflict
from ltm.core.model import Memory, Stored
from ltm.storage import codec, frontmatter
from ltm.storage.index import Index
from ltm.storage.sealing import Seals
from ltm.storage.vault import Vault, etag
from ltm.storage.vaults import Vaults


class MemoryFiles:
    """Reads and writes the files of some vaults."""

    def __init__(self, vaults: Vaults, seals: Seals) -> None:
        self._vaults = vaults
        self._seals = seals

    def current(self, vault: Vault, memory_id: str, expected: str) -> tuple[str, bytes, Memory]:
        """The name, bytes and memory as they are on the disk now, with the lock held."""
        stored = self._vaults.index(vault).get(memory_id)
        if stored is None or not os.path.lexists(stored.path):
            raise Conflict(f"{memory_id} was removed meanwhile", hint="run 'ltm list'")
        name = os.path.basename(stored.path)
        data = vault.read(name)
        if expected and etag(data) != expected:
            raise Conflict(
                f"{memory_id} was changed elsewhere meanwhile",
                path=stored.path,
                hint=f"look at it with 'ltm show {memory_id}', then make your change again",
            )
        return name, data, self._vaults.decode(data, stored.path)

    def replace(
        self,
        vault: Vault,
        index: Index,
        name: str,
        data: bytes,
        before: Memory,
        after: Memory,
        *,
        archive: bool = False,
        edited: bytes = b"",
        seal: bool = True,
    ) -> Stored:
        """Put a memory in the place of its former self; `seal=False` leaves it as it is signed."""
        if after == before and edited in (b"", data):
            return Stored(before, vault.name, vault.path(name), etag(data))
        if archive or any(getattr(before, field) != getattr(after, field) for field in TEXT):
            vault.archive(before.id, before.version, data)
        if seal:
            after = self._seals.after(vault, after, before)
        return self.write(vault, index, after, name=name, over=data, former=edited or data)

    def write(
        self,
        vault: Vault,
        index: Index,
        memory: Memory,
        *,
        name: str = "",
        over: bytes | None = None,
        former: bytes = b"",
    ) -> Stored:
        """Write a memory's file, `over` the bytes that are there, with the lines of `former`."""
        name = name or codec.file_name(memory)
        path = vault.path(name)
        base = frontmatter.parse(former, path) if former else None
        data = codec.to_bytes(memory, base, self._vaults.kinds)
        stamp = vault.stamp()
        seen = vault.write(name, data, over=over)
        try:
            index.put(seen, etag(data), memory, stamp)
        except sqlite3.Error:
            pass  # the file is the truth and it is safe; the next refresh reads it
        return Stored(memory, vault.name, path, etag(data))
