"""Changing memory files: what each decision does to the disk, and in which order.

Owns the order of things in a change: lock, read the file as it is, compare, archive, sign, write
the file, note it in the index. A crash between any two of these leaves either the old or the new
state, because files are the truth and the index follows them. Where a key is set, what is written
is signed, unless it was made from something that did not fit its signature.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import TypeAlias

from ltm.core import decision as change
from ltm.core import phases
from ltm.core.decision import Applied, Decision
from ltm.core.errors import Conflict, NotFound, Refused
from ltm.core.model import Memory, Phase, Scope, Status, Stored
from ltm.storage import codec, frontmatter
from ltm.storage.index import Index
from ltm.storage.memoryfiles import MemoryFiles
from ltm.storage.sealing import Seals
from ltm.storage.state import State
from ltm.storage.store import Version
from ltm.storage.vault import Vault, etag
from ltm.storage.vaults import Vaults
from ltm.storage.vectorfile import forget_memory

_Former: TypeAlias = tuple[Vault, str, bytes, Memory]
"""A memory's vault, the name and bytes of its file, and what they say."""


class Changes:
    """Makes decisions happen in vaults of files."""

    def __init__(
        self,
        vaults: Vaults,
        homes: Mapping[Scope, Vault],
        state: State,
        clock: Callable[[], datetime],
        introduce: Callable[[], None],
    ) -> None:
        self._vaults = vaults
        self._seals = Seals(vaults)
        self._files = MemoryFiles(vaults, self._seals)
        self._homes = homes
        self._state = state
        self._clock = clock
        self._introduce = introduce

    def apply(self, decision: Decision) -> Applied:
        """Make one change happen, whole and durably, or raise and change nothing."""
        try:
            return self._apply(decision)
        except Conflict:
            self._vaults.look_again()
            raise

    def _apply(self, decision: Decision) -> Applied:
        match decision:
            case change.Add():
                return self._add(decision)
            case change.Adopt():
                return self._adopt(decision)
            case change.Supersede():
                return self._supersede(decision)
            case change.Contradict():
                return self._contradict(decision)
            case change.Settle():
                return self._settle(decision)
            case change.Merge():
                return self._merge(decision)
            case change.Reduce():
                return self._reduce(decision)
            case change.Restore():
                return self._restore(decision)
            case change.Sign():
                return self._sign(decision)
            case change.Purge():
                return self._purge(decision)
            case change.Reinforce():
                return self._reinforce(decision)
            case change.Forget():
                done = self._rewrite(decision)
                self._release(done.stored.memory)
                return done
            case change.Revise():
                return self._rewrite(decision)

    def _add(self, decision: change.Add) -> Applied:
        memory = decision.memory
        vault = self._homes[memory.scope]
        self._introduce()
        vault.prepare()
        with self._vaults.locked(vault) as (index,):
            return Applied("added", self._write_new(vault, index, memory))

    def _write_new(self, vault: Vault, index: Index, memory: Memory) -> Stored:
        if index.get(memory.id):
            raise Refused(f"a memory with the id {memory.id} is already there")
        linked = memory._replace(previous=memory.previous or index.newest(memory.kind))
        return self._files.write(vault, index, self._seals.new(vault, linked))

    def _adopt(self, decision: change.Adopt) -> Applied:
        """Check and encode all, then write each, its kept versions first."""
        self._introduce()
        for copy in decision.copies:
            self._homes[copy.memory.scope].prepare()
        there = [vault for vault in self._vaults.trusted if vault.exists()]
        with self._vaults.locked(*there) as locked:
            indexes = dict(zip(there, locked, strict=True))
            former = {copy.memory.id: self._former(copy, indexes) for copy in decision.copies}
            for copy in decision.copies:
                for memory in (copy.memory, *copy.kept):
                    codec.to_bytes(memory, kinds=self._vaults.kinds)
            for copy in decision.copies:
                stored = self._take(copy, former[copy.memory.id], indexes)
            return Applied("adopted", stored)

    def _former(self, copy: change.Copy, indexes: Mapping[Vault, Index]) -> _Former | None:
        """The memory here that a copy takes the place of; refused if there is one unasked for."""
        held = [vault for vault, index in indexes.items() if index.get(copy.memory.id)]
        if held and not copy.over:
            raise Refused(f"a memory with the id {copy.memory.id} is already there")
        if not copy.over:
            return None
        vault = held[0] if held else self._homes[copy.memory.scope]
        return vault, *self._files.current(vault, copy.memory.id, copy.over)

    def _take(
        self, copy: change.Copy, former: _Former | None, indexes: Mapping[Vault, Index]
    ) -> Stored:
        vault = former[0] if former else self._homes[copy.memory.scope]
        for kept in copy.kept:
            vault.archive(copy.memory.id, kept.version, codec.to_bytes(kept))
        taken = self._seals.adopted(vault, copy.memory)
        if former is None:
            return self._files.write(vault, indexes[vault], taken)
        _, name, data, memory = former
        return self._files.replace(vault, indexes[vault], name, data, memory, taken, seal=False)

    def _reinforce(self, decision: change.Reinforce) -> Applied:
        """Confirm a memory, and keep the words in which it was confirmed if they are others."""
        vault, _ = self._vaults.find(decision.id)
        with self._vaults.locked(vault) as (index,):
            name, data, memory = self._files.current(vault, decision.id, decision.expected)
            at = self._clock()
            after = change.reinforced(memory, decision.source, at)
            wording = decision.wording
            if wording is not None and wording.text.strip() != memory.text.strip():
                kept = [each.memory for each in self._vaults.versions(vault, memory.id)]
                whole = phases.whole(memory, kept)
                texts = {whole.text.strip(), *(each.text.strip() for each in kept)}
                if wording.text.strip() not in texts:
                    said = self._seals.new(vault, change.reworded(whole, wording))
                    vault.archive(memory.id, said.version, codec.to_bytes(said))
                    after = after._replace(
                        content=whole.content, phase=Phase.FULL, version=said.version + 1
                    )
            after = change.revised(after, decision.changes, at)
            stored = self._files.replace(vault, index, name, data, memory, after)
            return Applied("reinforced", stored)

    def _release(self, *gone: Memory) -> None:
        """Let the memories that were in conflict with these stand alone again."""
        ids = {each.id for each in gone}
        for name in {one for each in gone for one in each.conflicts} - ids:
            try:
                vault, _ = self._vaults.find(name)
            except NotFound:
                continue
            with self._vaults.locked(vault) as (index,):
                try:
                    file, data, memory = self._files.current(vault, name, "")
                except Conflict:
                    continue
                after = change.settled(memory, ids, self._clock(), all_hold=False)
                self._files.replace(vault, index, file, data, memory, after)

    def _rewrite(self, decision: change.Revise | change.Forget) -> Applied:
        """Change one memory in place, keeping the former version when its text changes."""
        vault, _ = self._vaults.find(decision.id)
        with self._vaults.locked(vault) as (index,):
            name, data, memory = self._files.current(vault, decision.id, decision.expected)
            at = self._clock()
            match decision:
                case change.Revise(changes=changes):
                    whole = memory
                    if memory.phase is not Phase.FULL:
                        kept = [each.memory for each in self._vaults.versions(vault, memory.id)]
                        whole = phases.whole(memory, kept)
                    action, after = "revised", change.revised(memory, changes, at, whole=whole)
                case change.Forget():
                    action, after = "forgotten", change.forgotten(memory, at)
            edited = decision.edited if isinstance(decision, change.Revise) else b""
            stored = self._files.replace(vault, index, name, data, memory, after, edited=edited)
            return Applied(action, stored)

    def _supersede(self, decision: change.Supersede) -> Applied:
        """Keep the new one first: a crash in between leaves two memories, never none."""
        found = [self._vaults.find(each)[0] for each in decision.ids]
        home = self._homes[decision.by.scope]
        self._introduce()
        home.prepare()
        with self._vaults.locked(home, *found) as indexes:
            at = self._clock()
            old = [
                (vault, index, *self._files.current(vault, each, decision.expected))
                for each, vault, index in zip(decision.ids, found, indexes[1:], strict=True)
            ]
            ids = tuple(memory.id for *_, memory in old)
            newer = decision.by._replace(
                supersedes=tuple(dict.fromkeys((*decision.by.supersedes, *ids))),
                previous=decision.by.previous or indexes[0].newest(decision.by.kind),
                version=max([memory.version for *_, memory in old], default=0) + 1,
            )
            stored = self._files.write(home, indexes[0], self._seals.new(home, newer))
            for vault, index, name, data, memory in old:
                after = change.superseded(memory, newer.id, at)
                self._files.replace(vault, index, name, data, memory, after, archive=True)
        self._release(*(each[-1] for each in old))
        return Applied("superseded", stored, ids)

    def _contradict(self, decision: change.Contradict) -> Applied:
        """Keep the new one first, as when it supersedes."""
        found = [self._vaults.find(each)[0] for each in decision.ids]
        home = self._homes[decision.by.scope]
        self._introduce()
        home.prepare()
        with self._vaults.locked(home, *found) as indexes:
            at = self._clock()
            old = [
                (vault, index, *self._files.current(vault, each, decision.etags.get(each, "")))
                for each, vault, index in zip(decision.ids, found, indexes[1:], strict=True)
            ]
            stored = self._disputed(home, indexes[0], decision, [each[-1].id for each in old], at)
            newer = stored.memory
            for vault, index, name, data, memory in old:
                after = change.contradicted(memory, [newer.id], at)
                self._files.replace(vault, index, name, data, memory, after)
            return Applied("contradicted", stored)

    def _disputed(
        self, home: Vault, index: Index, decision: change.Contradict, ids: list[str], at: datetime
    ) -> Stored:
        """The memory that contradicts others, written with their ids."""
        by = decision.by
        if index.get(by.id) is None:
            newer = change.contradicted(by, ids, at)._replace(updated=by.updated)
            return self._write_new(home, index, newer)
        name, data, memory = self._files.current(home, by.id, "")
        after = change.contradicted(memory, ids, at)
        return self._files.replace(home, index, name, data, memory, after)

    def _settle(self, decision: change.Settle) -> Applied:
        """End a conflict on both sides, the memory that is named first."""
        ids = (decision.id, *decision.others)
        found = [self._vaults.find(each)[0] for each in ids]
        with self._vaults.locked(*found) as indexes:
            at = self._clock()
            (vault, index, name, data, memory), *others = [
                (vault, index, *self._files.current(vault, each, ""))
                for each, vault, index in zip(ids, found, indexes, strict=True)
            ]
            gone = tuple(each[-1].id for each in others)
            after = change.settled(memory, gone, at, all_hold=decision.all_hold)
            if not decision.all_hold:
                names = tuple(dict.fromkeys((*memory.supersedes, *gone)))
                after = after._replace(supersedes=names, confirmed=at, updated=at)
            stored = self._files.replace(vault, index, name, data, memory, after)
            for vault, index, name, data, other in others:
                if decision.all_hold:
                    after = change.settled(other, {memory.id}, at, all_hold=True)
                else:
                    after = change.superseded(other, memory.id, at)
                archive = not decision.all_hold
                self._files.replace(vault, index, name, data, other, after, archive=archive)
        if not decision.all_hold:
            self._release(*(each[-1] for each in others))
        return Applied("settled", stored, () if decision.all_hold else gone)

    def _merge(self, decision: change.Merge) -> Applied:
        """Write the one that takes in first: a crash in between leaves too many, never too few."""
        ids = (decision.into, *decision.ids)
        found = [self._vaults.find(each)[0] for each in ids]
        with self._vaults.locked(*found) as indexes:
            at = self._clock()
            current = [
                (vault, index, *self._files.current(vault, each, decision.etags.get(each, "")))
                for each, vault, index in zip(ids, found, indexes, strict=True)
            ]
            (vault, index, name, data, memory), *others = current
            parts = [each[-1] for each in others]
            after = change.merged(memory, parts, decision.content, at)
            seal = self._seals.fit(*parts)
            stored = self._files.replace(vault, index, name, data, memory, after, seal=seal)
            for vault, index, name, data, other in others:
                gone = change.superseded(other, memory.id, at)
                self._files.replace(vault, index, name, data, other, gone, archive=True)
        self._release(*parts)
        return Applied("merged", stored, decision.ids)

    def _reduce(self, decision: change.Reduce) -> Applied:
        """Keep the original first, then write what the phase leaves of it."""
        vault, _ = self._vaults.find(decision.id)
        with self._vaults.locked(vault) as (index,):
            name, data, memory = self._files.current(vault, decision.id, decision.expected)
            kept = [each.memory for each in self._vaults.versions(vault, memory.id)]
            original, is_kept = phases.original(memory, kept)
            after = change.reduced(memory, original, decision.phase)
            if after == memory:
                return Applied("reduced", Stored(memory, vault.name, vault.path(name), etag(data)))
            vouched = self._seals.fit(memory) and self._seals.cover(memory, original)
            if not is_kept:
                base = frontmatter.parse(data, vault.path(name))
                kept_as = self._seals.new(vault, original) if vouched else original
                whole = codec.to_bytes(kept_as, base, self._vaults.kinds)
                vault.archive(original.id, original.version, whole)
            # Noted before it happens: a crash in between delays the next step and never doubles it.
            self._state.stepped(memory.id)
            after = self._seals.new(vault, after) if vouched else after
            stored = self._files.write(vault, index, after, name=name, over=data, former=data)
            return Applied("reduced", stored)

    def _restore(self, decision: change.Restore) -> Applied:
        vault, _ = self._vaults.find(decision.id)
        with self._vaults.locked(vault) as (index,):
            name, data, memory = self._files.current(vault, decision.id, decision.expected)
            kept = self._vaults.versions(vault, memory.id)
            original = _original(memory, kept, decision.version)
            same = [each.memory.status for each in kept if each.version == memory.version]
            was = same[-1] if same and memory.status is not Status.ACTIVE else memory.status
            after = change.restored(memory, original, self._clock(), was=was)
            vouched = (
                original is None
                or self._seals.cover(memory, original)
                or (original.id == memory.id and self._seals.fit(original))
            )
            stored = self._files.replace(vault, index, name, data, memory, after, seal=vouched)
            return Applied("restored", stored)

    def _sign(self, decision: change.Sign) -> Applied:
        """Vouch for a memory as it is; nothing else about it changes."""
        vault, _ = self._vaults.find(decision.id)
        with self._vaults.locked(vault) as (index,):
            name, data, memory = self._files.current(vault, decision.id, decision.expected)
            after, former = self._seals.looked_at(vault, memory, data)
            if (after, former) == (memory, data):
                return Applied("signed", Stored(memory, vault.name, vault.path(name), etag(data)))
            stored = self._files.write(vault, index, after, name=name, over=data, former=former)
            return Applied("signed", stored)

    def _purge(self, decision: change.Purge) -> Applied:
        vault, stored = self._vaults.find(decision.id)
        with self._vaults.locked(vault) as (index,):
            name, _, memory = self._files.current(vault, decision.id, decision.expected)
            # The file goes last: while it is there, a purge that was cut short can be said again.
            self._state.forget(memory.id)
            forget_memory(vault.local, memory.id)
            try:
                index.drop(name)
                vault.purge(name, memory.id)
            except sqlite3.Error:
                vault.purge(name, memory.id)
                index.rebuild()
        self._release(memory)
        return Applied("purged", stored)


def _original(memory: Memory, kept: Sequence[Version], version: int) -> Memory | None:
    """The text to bring back: the version asked for, else the newest that is whole."""
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
    return phases.whole(memory, [each.memory for each in kept])
