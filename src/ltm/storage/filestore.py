"""The file-backed store: vaults of Markdown files, each with its derived index beside it.

Owns the order of things in a change: lock, read the file as it is, compare, archive, write the
file, note it in the index. A crash between any two of these leaves either the old or the new
state, because files are the truth and the index follows them.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from ltm.core import decision as change
from ltm.core import phases
from ltm.core.decision import Applied, Decision
from ltm.core.errors import Ambiguous, Conflict, LtmError, NotFound, Refused
from ltm.core.kinds import Kinds
from ltm.core.model import Filter, Memory, Page, Phase, Problem, Scope, Stored, Usage, now
from ltm.core.relevance import relevance
from ltm.core.words import query_terms
from ltm.storage.index import Index
from ltm.storage.state import State
from ltm.storage.store import Match, Matches, Version
from ltm.storage.vault import Vault, etag


@dataclass(frozen=True, slots=True)
class Compared:
    """A file and what the index holds of it, for whoever checks that the two agree."""

    vault: Vault
    name: str
    said: Memory | LtmError
    """What the file says, or why it cannot be read."""
    etag: str
    held: Stored | None


_MOST_WORDS = 64  # of a long question, which may be a whole text


class FileStore:
    """All vaults one project and agent can see, as one store."""

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
    ) -> None:
        """`vaults` are read, `homes` says in which of them a new memory of a scope is kept.

        `introduce` is called before something new is kept, so that the project is known again
        after it was renamed. With `readonly`, answers come from the indexes as they are: nothing
        is brought up to date, written or waited for, and a vault without a usable index is empty.
        """
        self.kinds = kinds
        self.vaults = tuple(vaults)
        self._homes = dict(homes)
        self._state = state
        self._project = project
        self._clock = clock
        self._introduce = introduce
        self._readonly = readonly
        self._indexes: dict[str, Index] = {}

    # -- reading ---------------------------------------------------------------------------------

    def read(self, memory_id: str) -> Stored:
        return self._find(memory_id)[1]

    def list(self, wanted: Filter, limit: int | None = None, offset: int = 0) -> Page:
        most = -1 if limit is None else limit + offset
        items = []
        total = 0
        for _, index in self._fresh():
            page, count = index.page(wanted, most, 0)
            items.extend(page)
            total += count
        items.sort(key=lambda each: (each.memory.created, each.memory.id), reverse=True)
        end = None if limit is None else offset + limit
        return Page(tuple(items[offset:end]), total)

    def search(self, query: str, wanted: Filter, limit: int) -> Matches:
        words = query_terms(query)[:_MOST_WORDS]
        found = [(index, index.search(words, wanted, limit)) for _, index in self._fresh()]
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

    def versions(self, memory_id: str) -> Sequence[Version]:
        vault, stored = self._find(memory_id)
        return self._versions(vault, stored.memory.id)

    def problems(self) -> Sequence[Problem]:
        return [problem for _, index in self._fresh() for problem in index.problems()]

    def counts(self) -> Sequence[tuple[str, str, str, int, int]]:
        return [row for _, index in self._fresh() for row in index.counts()]

    def usage(self, ids: Iterable[str]) -> dict[str, Usage]:
        return self._state.usage(ids, self._project)

    def used(self, ids: Iterable[str]) -> None:
        self._state.used(ids, self._clock())

    def seen(self, ids: Iterable[str]) -> None:
        self._state.seen(ids)

    def sessions(self) -> int:
        return self._state.sessions(self._project)

    def active_days_since(self, moment: datetime) -> int:
        return self._state.active_days_since(self._project, moment)

    def batch_taken(self, vault: str) -> bool:
        return self._state.batch_taken(self._project, vault)

    def take_batch(self, vault: str) -> None:
        self._state.take_batch(self._project, vault)

    def compare(self) -> Iterator[Compared]:
        """Every file of every vault, read anew, beside what the index holds of it."""
        for vault, index in self._fresh():
            held = {
                os.path.basename(each.path): each
                for each in index.page(Filter(statuses=()), -1, 0)[0]
            }
            for name in sorted({*vault.names(), *held}):
                try:
                    data = vault.read(name)
                    said: Memory | LtmError = self._decode(data, vault.path(name))
                except LtmError as error:
                    data, said = b"", error
                yield Compared(vault, name, said, etag(data), held.get(name))

    def rebuild(self) -> None:
        """Derive every index anew from the files."""
        for _, index in self._fresh():
            index.rebuild()

    def is_current(self) -> bool:
        """Whether every vault that exists has an index that knows its files, at first sight."""
        known = {vault.folder: index for vault, index in self._fresh()}
        return all(
            vault.folder in known and known[vault.folder].is_current()
            for vault in self.vaults
            if vault.exists()
        )

    def close(self) -> None:
        for index in self._indexes.values():
            index.close()
        self._indexes.clear()
        self._state.close()

    # -- changing --------------------------------------------------------------------------------

    def create(self, memory: Memory) -> Stored:
        return self.apply(change.Add(memory)).stored

    def update(self, memory_id: str, changes: Mapping[str, Any], expected: str = "") -> Stored:
        return self.apply(change.Revise(memory_id, changes, expected)).stored

    def delete(self, memory_id: str, *, purge: bool = False) -> None:
        self.apply(change.Purge(memory_id) if purge else change.Forget(memory_id))

    def apply(self, decision: Decision) -> Applied:
        match decision:
            case change.Add():
                return self._add(decision)
            case change.Supersede():
                return self._supersede(decision)
            case change.Reduce():
                return self._reduce(decision)
            case change.Restore():
                return self._restore(decision)
            case change.Purge():
                return self._purge(decision)
            case change.Revise() | change.Reinforce() | change.Forget():
                return self._rewrite(decision)

    def _add(self, decision: change.Add) -> Applied:
        memory = decision.memory
        vault = self._homes[memory.scope]
        self._introduce()
        vault.prepare()
        with self._locked(vault) as (index,):
            if index.get(memory.id):
                raise Refused(f"a memory with the id {memory.id} is already there")
            linked = replace(memory, previous=memory.previous or index.newest(memory.kind))
            return Applied("added", self._write(vault, index, linked))

    def _rewrite(self, decision: change.Revise | change.Reinforce | change.Forget) -> Applied:
        """Change one memory in place, keeping the former version when its text changes."""
        vault, _ = self._find(decision.id)
        with self._locked(vault) as (index,):
            name, data, memory = self._current(vault, decision.id, decision.expected)
            at = self._clock()
            match decision:
                case change.Revise(changes=changes):
                    action, after = "revised", change.revised(memory, changes, at)
                case change.Reinforce(source=source):
                    action, after = "reinforced", change.reinforced(memory, source, at)
                case change.Forget():
                    action, after = "forgotten", change.forgotten(memory, at)
            edited = decision.edited if isinstance(decision, change.Revise) else b""
            stored = self._replace(vault, index, name, data, memory, after, edited=edited)
            return Applied(action, stored)

    def _supersede(self, decision: change.Supersede) -> Applied:
        """Keep the new one first: a crash in between leaves two memories, never none."""
        found = [self._find(each)[0] for each in decision.ids]
        home = self._homes[decision.by.scope]
        self._introduce()
        home.prepare()
        with self._locked(home, *found) as indexes:
            at = self._clock()
            old = [
                (vault, index, *self._current(vault, each, decision.expected))
                for each, vault, index in zip(decision.ids, found, indexes[1:], strict=True)
            ]
            ids = tuple(memory.id for *_, memory in old)
            newer = replace(
                decision.by,
                supersedes=tuple(dict.fromkeys((*decision.by.supersedes, *ids))),
                previous=decision.by.previous or indexes[0].newest(decision.by.kind),
                version=max([memory.version for *_, memory in old], default=0) + 1,
            )
            stored = self._write(home, indexes[0], newer)
            for vault, index, name, data, memory in old:
                after = change.superseded(memory, newer.id, at)
                self._replace(vault, index, name, data, memory, after, archive=True)
            return Applied("superseded", stored, ids)

    def _reduce(self, decision: change.Reduce) -> Applied:
        """Keep the original first, then write what the phase leaves of it."""
        from ltm.storage import codec, frontmatter

        vault, _ = self._find(decision.id)
        with self._locked(vault) as (index,):
            name, data, memory = self._current(vault, decision.id, decision.expected)
            kept = [each.memory for each in self._versions(vault, memory.id)]
            original, is_kept = phases.original(memory, kept)
            after = change.reduced(memory, original, decision.phase)
            if after == memory:
                return Applied("reduced", Stored(memory, vault.name, vault.path(name), etag(data)))
            if not is_kept:
                base = frontmatter.parse(data, vault.path(name))
                whole = codec.to_bytes(original, base, self.kinds)
                vault.archive(original.id, original.version, whole)
            # Noted before it happens: a crash in between delays the next step and never doubles it.
            self._state.shortened(memory.id)
            return Applied("reduced", self._write(vault, index, after, name=name, former=data))

    def _restore(self, decision: change.Restore) -> Applied:
        vault, _ = self._find(decision.id)
        with self._locked(vault) as (index,):
            name, data, memory = self._current(vault, decision.id, decision.expected)
            original = self._original(vault, memory, decision.version)
            after = change.restored(memory, original, self._clock())
            return Applied("restored", self._replace(vault, index, name, data, memory, after))

    def _purge(self, decision: change.Purge) -> Applied:
        vault, stored = self._find(decision.id)
        with self._locked(vault) as (index,):
            name, _, memory = self._current(vault, decision.id, decision.expected)
            vault.purge(name, memory.id)
            self._state.forget(memory.id)
            index.drop(name)
        return Applied("purged", stored)

    # -- one file --------------------------------------------------------------------------------

    def _current(self, vault: Vault, memory_id: str, expected: str) -> tuple[str, bytes, Memory]:
        """The name, bytes and memory as they are on the disk now, with the lock held."""
        stored = self._index(vault).get(memory_id)
        if stored is None:
            raise Conflict(f"{memory_id} was removed meanwhile", hint="run 'ltm list'")
        name = os.path.basename(stored.path)
        data = vault.read(name)
        if expected and etag(data) != expected:
            raise Conflict(
                f"{memory_id} was changed by somebody else meanwhile",
                path=stored.path,
                hint=f"look at it with 'ltm show {memory_id}', then make your change again",
            )
        return name, data, self._decode(data, stored.path)

    def _replace(
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
    ) -> Stored:
        if after == before and edited in (b"", data):
            return Stored(before, vault.name, vault.path(name), etag(data))
        if archive or any(getattr(before, field) != getattr(after, field) for field in change.TEXT):
            vault.archive(before.id, before.version, data)
        return self._write(vault, index, after, name=name, former=edited or data)

    def _write(
        self, vault: Vault, index: Index, memory: Memory, *, name: str = "", former: bytes = b""
    ) -> Stored:
        from ltm.storage import codec, frontmatter  # YAML is slow to load and reading needs none

        name = name or codec.file_name(memory)
        path = vault.path(name)
        base = frontmatter.parse(former, path) if former else None
        data = codec.to_bytes(memory, base)
        stamp = vault.stamp()
        seen = vault.write(name, data)
        try:
            index.put(seen, etag(data), memory, stamp)
        except sqlite3.Error:
            pass  # the file is the truth and it is safe; the next refresh reads it
        return Stored(memory, vault.name, path, etag(data))

    def _decode(self, data: bytes, path: str) -> Memory:
        from ltm.storage import codec, frontmatter

        return codec.decode(frontmatter.parse(data, path), path, self.kinds)

    def _versions(self, vault: Vault, memory_id: str) -> Sequence[Version]:
        kept = []
        for version, path in vault.archived(memory_id):
            try:
                kept.append(Version(version, path, self._decode(vault.read_archive(path), path)))
            except LtmError:
                continue  # a damaged archive is for doctor to report, not in the way of the others
        return kept

    def _original(self, vault: Vault, memory: Memory, version: int) -> Memory | None:
        """The text to bring back: the version asked for, else the newest that is whole."""
        kept = self._versions(vault, memory.id)
        if version:
            wanted = [each.memory for each in kept if each.version == version]
            for each in reversed(wanted):
                if each.phase is Phase.FULL:
                    return each
            if wanted:
                return wanted[-1]
            numbers = ", ".join(str(each.version) for each in kept) or "none"
            raise NotFound(
                f"{memory.id} has no kept version {version}", hint=f"kept versions: {numbers}"
            )
        if memory.phase is Phase.FULL and memory.text:
            return None
        memories = [each.memory for each in kept]
        # A tombstone has no text of its own left: the last one kept is what it was.
        last = memory if memory.text or not memories else memories[-1]
        return phases.original(last, memories)[0]

    # -- vaults ----------------------------------------------------------------------------------

    def _find(self, text: str) -> tuple[Vault, Stored]:
        """The memory a full or short id means, and the vault it is in."""
        fresh = tuple(self._fresh())
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

    def _fresh(self) -> Iterator[tuple[Vault, Index]]:
        """Every vault that exists, its index brought up to date."""
        for vault in self.vaults:
            if vault.exists():
                try:
                    index = self._index(vault)
                except sqlite3.Error:
                    if self._readonly:
                        continue
                    raise
                if not self._readonly:
                    index.refresh()
                yield vault, index

    def _index(self, vault: Vault) -> Index:
        index = self._indexes.get(vault.folder)
        if index is None:
            index = Index(vault, self.kinds, readonly=self._readonly)
            self._indexes[vault.folder] = index
        return index

    @contextmanager
    def _locked(self, *vaults: Vault) -> Iterator[Sequence[Index]]:
        """The write locks of vaults, taken in one order everywhere so that nobody waits in a ring,
        and their indexes, brought up to date under the locks."""
        with ExitStack() as stack:
            for folder in sorted({vault.folder for vault in vaults}):
                stack.enter_context(next(v.lock for v in vaults if v.folder == folder))
            indexes = [self._index(vault) for vault in vaults]
            for index in indexes:
                index.refresh()
            yield indexes
