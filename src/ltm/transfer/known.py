"""What a store holds already, so that nothing is taken in twice.

Owns the three ways of knowing a memory again: by its id, by the id it has in its source, by what it
says. One walk over the store, then look-ups only. Imports core and the store's port.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from ltm.core.model import Filter, Memory, Scope, Stored, Trust
from ltm.core.policy import is_active
from ltm.core.record import as_record
from ltm.storage.store import Store

_DATES = ("created", "updated", "confirmed")
_VOLATILE = (*_DATES, "version", "previous", "signature", "shown_signature")


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
            self._note(stored)
        self.was_empty = not self._active.total()

    def active(self, scope: Scope) -> int:
        """How many memories of a scope are in use."""
        return self._active[scope]

    def by_legacy(self, source: str, legacy_id: str, created: datetime) -> Held | None:
        """The memory that was taken in from there under this id."""
        return self._legacy.get(self._key(source, legacy_id, created))

    def by_text(self, memory: Memory) -> Held | None:
        """A memory that says just this."""
        return self._texts.get(text_key(memory.text))

    def add(self, memory: Memory) -> None:
        """Know a memory from now on."""
        self._note(Stored(memory, "", "", ""))

    def _note(self, stored: Stored) -> None:
        memory = stored.memory
        held = Held(
            memory.id,
            memory.updated,
            memory.created,
            memory.version,
            memory.scope,
            stored.etag,
            is_active(memory),
            exact(memory),
            sense(memory),
        )
        self.ids[memory.id] = held
        self._active[memory.scope] += held.active
        if memory.source.trust is Trust.IMPORT and memory.legacy_id:
            key = self._key(memory.source.tool, memory.legacy_id, memory.created)
            self._legacy.setdefault(key, held)
        if memory.text.strip():
            self._texts.setdefault(text_key(memory.text), held)

    def _key(self, source: str, legacy_id: str, created: datetime) -> tuple[str, str, str]:
        day = created.date().isoformat() if source in self._reusing else ""
        return source, legacy_id, day


def text_key(text: str) -> bytes:
    """The same for texts that differ in blanks only: whatever else differs is kept."""
    return _digest(" ".join(text.split()))


def exact(memory: Memory) -> bytes:
    """The same for memories that are equal."""
    return _digest(json.dumps(as_record(memory)))


def sense(memory: Memory) -> bytes:
    """The same for memories that mean the same, however they came to it."""
    record = as_record(memory)
    return _digest(json.dumps({key: record[key] for key in record if key not in _VOLATILE}))


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=16).digest()
