"""The file-backed store: vaults of Markdown files, each with its derived index.

Owns answering from all vaults as one. How a decision reaches the disk is in `changing`, which is
loaded with the first change: most calls only ask.
"""

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from ltm.errors import LtmError
from ltm.kinds import Kinds
from ltm.model import Filter, Memory, Page, Problem, Scope, Stored, Usage, now
from ltm.state.usage import State
from ltm.store.vaults import Vaults
from ltm.vault.vault import Vault, etag

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from ltm.decisions import Applied, Decision
    from ltm.index.vectors import MemoryVectors
    from ltm.store.apply import Changes
    from ltm.store.store import Matches, Version
    from ltm.vault.signing import Key


class Compared(NamedTuple):
    """A file and what the index holds of it, to check that the two agree."""

    vault: Vault
    name: str
    said: Memory | LtmError
    """What the file says, or why it cannot be read."""
    etag: str
    held: Stored | None


_MOST_WORDS = 64  # of a long question, which may be a whole text


class FileStore:
    """All vaults one project and agent can see, as one store.

    The methods of the port are described there (`store.Store`); the others are for
    users of the files themselves: the doctor, vectors, and the text of a session's start.
    """

    def __init__(
        self,
        vaults: Sequence[Vault],
        homes: Mapping[Scope, Vault],
        state: State,
        kinds: Kinds,
        *,
        project: str = "",
        clock: Callable[[], datetime] = now,
        introduce: Callable[[], None] = lambda: None,
        readonly: bool = False,
        key: "Key | None" = None,
    ) -> None:
        """`vaults` are read, `homes` says in which of them a new memory of a scope is kept.

        `introduce` is called before something new is kept, so that the project is known again
        after it was renamed. With `readonly`, answers come from the indexes as they are: nothing
        is brought up to date, written or waited for, and a vault without a usable index is empty.
        With a `key`, whatever is written is signed.
        """
        self.kinds = kinds
        self._vaults = Vaults(vaults, kinds, readonly=readonly, key=key)
        self.vaults = self._vaults.trusted
        self._homes = dict(homes)
        self._state = state
        self._project = project
        self._clock = clock
        self._introduce = introduce
        self._vectors: dict[str, MemoryVectors] = {}

    # -- reading ---------------------------------------------------------------------------------

    def read(self, memory_id: str) -> Stored:
        return self._vaults.find(memory_id)[1]

    def list(self, wanted: Filter, limit: int | None = None, offset: int = 0) -> Page:
        most = -1 if limit is None else limit + offset
        items = []
        total = 0
        for index in self._vaults.asked(wanted):
            page, count = index.page(wanted, most, 0)
            items.extend(page)
            total += count
        items.sort(key=lambda each: (each.memory.created, each.memory.id), reverse=True)
        end = None if limit is None else offset + limit
        return Page(tuple(items[offset:end]), total)

    def every(self, wanted: Filter) -> Iterator[Stored]:
        from heapq import merge

        walks = [index.every(wanted) for index in self._vaults.asked(wanted)]
        last = ""
        for stored in merge(*walks, key=lambda each: each.memory.id):
            if stored.memory.id != last:  # a move that was cut short leaves a copy behind
                last = stored.memory.id
                yield stored

    def search(self, query: str, wanted: Filter, limit: int) -> "Matches":
        from ltm.store.store import Match, Matches
        from ltm.text.bm25 import relevance  # not needed to list
        from ltm.text.terms import query_terms

        words = query_terms(query)[:_MOST_WORDS]
        asked = self._vaults.asked(wanted)
        found = [(index, index.search(words, wanted, limit)) for index in asked]
        memories = sum(part.memories for _, part in found)
        holders = {word: sum(part.holders[word] for _, part in found) for word in words}
        scored = []
        for index, part in found:
            for each in part.candidates:
                title, tags, text = each.title.split(), each.tags.split(), each.text.split()
                score, matched = relevance(words, title, tags, text, holders, memories)
                scored.append((score, matched, index, each))
        scored.sort(key=lambda item: (item[0], item[3].file), reverse=True)
        items = tuple(
            Match(index.stored(each), score, matched)
            for score, matched, index, each in scored[:limit]
        )
        return Matches(items, sum(part.total for _, part in found))

    def in_a_row(self) -> "AbstractContextManager[None]":
        return self._vaults.in_a_row()

    def versions(self, memory_id: str) -> "Sequence[Version]":
        vault, stored = self._vaults.find(memory_id)
        return self._vaults.versions(vault, stored.memory.id)

    def histories(self, ids: Collection[str]) -> "Mapping[str, Sequence[Version]]":
        found: dict[str, Sequence[Version]] = {}
        for vault in reversed(self.vaults):  # what the first of them has, counts
            found |= self._vaults.histories(vault, ids)
        return found

    def problems(self) -> Sequence[Problem]:
        return [problem for _, index in self._vaults.fresh() for problem in index.problems()]

    def counts(self) -> Sequence[tuple[str, str, str, int, int]]:
        return [row for _, index in self._vaults.fresh() for row in index.counts()]

    def usage(self, ids: Iterable[str]) -> dict[str, Usage]:
        return self._state.usage(ids, self._project)

    def used_again(self) -> Collection[str]:
        return self._state.used_again()

    def used(self, ids: Iterable[str]) -> None:
        self._state.used(ids, self._clock())

    def seen(self, ids: Iterable[str]) -> None:
        self._state.seen(ids, self._project)

    def sessions(self) -> int:
        return self._state.sessions(self._project)

    def active_days_since(self, moment: datetime) -> int:
        return self._state.active_days_since(self._project, moment)

    def batch_taken(self, vault: str) -> bool:
        return self._state.batch_taken(self._project, vault)

    def take_batch(self, vault: str) -> None:
        self._state.take_batch(self._project, vault)

    def compare(self) -> Iterator[Compared]:
        """Every file of every vault, read again, with what the index holds of it."""
        for vault, index in self._vaults.fresh():
            held = {
                os.path.basename(each.path): each
                for each in index.page(Filter(statuses=()), -1, 0)[0]
            }
            for name in sorted({*vault.names(), *held}):
                try:
                    data = vault.read(name)
                    said: Memory | LtmError = self._vaults.decode(data, vault.path(name))
                except LtmError as error:
                    data, said = b"", error
                yield Compared(vault, name, said, etag(data), held.get(name))

    def vectors(self, model: str, dimensions: int) -> "Sequence[MemoryVectors]":
        """The vectors a model made of each vault's memories, good until the store is closed."""
        from ltm.index.vector_file import VECTORS_FILE
        from ltm.index.vectors import MemoryVectors

        opened = []
        for vault, index in self._vaults.fresh():
            path = os.path.join(vault.local, VECTORS_FILE)
            vectors = self._vectors.get(path)
            if vectors is None or not vectors.is_of(model, dimensions):
                if vectors is not None:
                    vectors.close()
                vectors = self._vectors[path] = MemoryVectors(index, path, model, dimensions)
            opened.append(vectors)
        return opened

    def rebuild(self) -> None:
        """Rebuild every index from the files."""
        for _, index in self._vaults.fresh():
            index.rebuild()

    def check(self, *, at_once: bool = False) -> None:
        """Check that the indexes are as they were written, and rebuild those that are not: once
        a day, because it reads all of them."""
        for _, index in self._vaults.fresh():
            index.check(at_once=at_once)

    def is_current(self) -> bool:
        """Whether every vault that exists has an index that knows its files, at first sight."""
        known = {vault.folder: index for vault, index in self._vaults.fresh()}
        return all(
            vault.folder in known and known[vault.folder].is_current()
            for vault in self.vaults
            if vault.exists()
        )

    def close(self) -> None:
        for vectors in self._vectors.values():
            vectors.close()
        self._vectors.clear()
        self._vaults.close()
        self._state.close()

    # -- changing --------------------------------------------------------------------------------

    @cached_property
    def _changes(self) -> "Changes":
        from ltm.store.apply import Changes

        return Changes(self._vaults, self._homes, self._state, self._clock, self._introduce)

    def create(self, memory: Memory) -> Stored:
        from ltm.decisions import Add

        return self.apply(Add(memory)).stored

    def update(self, memory_id: str, changes: Mapping[str, Any], expected: str = "") -> Stored:
        from ltm.decisions import Revise

        return self.apply(Revise(memory_id, changes, expected)).stored

    def delete(self, memory_id: str, *, purge: bool = False) -> None:
        from ltm.decisions import Forget, Purge

        self.apply(Purge(memory_id) if purge else Forget(memory_id))

    def apply(self, decision: "Decision") -> "Applied":
        return self._changes.apply(decision)
