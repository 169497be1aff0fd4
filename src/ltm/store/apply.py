"""What each decision does on disk, in which order; signing.

Signing at the door: which of the memories a change writes are signed, and over which text.

Owns the rule that a change never turns what was tampered with into something that looks signed: it
signs what it writes only if all it was made from fitted its signatures. Without a key nothing is
signed and nothing fits. Imports core and storage.

The files of memories as a change finds and leaves them, with the vault's lock held.

Owns how one is read for a change, put in the place of its former self, and noted in the index.
Which change it is and what it does to others is `changing`'s business.

Changing memory files: what each decision does to the disk, and in which order.

Owns the order of things in a change: lock, read the file as it is, compare, archive, sign, write
the file, note it in the index. A crash between any two of these leaves either the old or the new
state, because files are the truth and the index follows them. Where a key is set, what is written
is signed, unless it was made from something that did not fit its signature.

How a memory stands to a key, looked at closely: its file as it is now, and its original.

Owns the check behind `ltm verify` and the doctor. The check at the start of a session reads no
file and is `Key.fits`. Imports core and storage.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import TypeAlias

from ltm import decisions, policy
from ltm.decisions import TEXT, Applied, Decision
from ltm.errors import Conflict, LtmError, NotFound, Refused
from ltm.files.atomic import read_plain
from ltm.index.index import Index
from ltm.index.vector_file import forget_memory
from ltm.model import Memory, Phase, Scope, Status, Stored
from ltm.state.usage import State
from ltm.store.store import Store, Version
from ltm.store.vaults import Vaults
from ltm.vault import codec, frontmatter
from ltm.vault.signing import Key, SignatureState
from ltm.vault.vault import MAX_FILE, Vault, etag


class Seals:
    """Signs memories of some vaults with the key that is set, if one is."""

    def __init__(self, vaults: Vaults) -> None:
        self._vaults = vaults
        self._key = vaults.key

    def new(self, vault: Vault, memory: Memory) -> Memory:
        """The memory, signed."""
        if self._key is None:
            return memory
        return self._key.signed(memory, self._whole(vault, memory))

    def after(self, vault: Vault, memory: Memory, before: Memory) -> Memory:
        """The memory, signed if its former self was, with the original that goes with it."""
        stood = self.fit(before) and (
            _says_all(before) or self.cover(before, self._whole(vault, before))
        )
        return self.new(vault, memory) if stood else memory

    def adopted(self, vault: Vault, memory: Memory) -> Memory:
        """Sign a memory from elsewhere: its importer vouches for it, unless it says that this key
        did, and does not fit."""
        if self._key is None or self._key.state(memory) is not SignatureState.UNSIGNED:
            return memory
        return self.new(vault, memory)

    def looked_at(self, vault: Vault, memory: Memory, data: bytes) -> tuple[Memory, bytes]:
        """A memory a person vouches for, and its file with every key that signed files have."""
        if self._key is None or not self._key.secret:
            raise Refused("there is no key to sign with", hint="make one with: ltm keygen")
        document = frontmatter.parse(data, memory.id)
        return self.new(vault, memory), codec.completed(document, memory).to_bytes()

    def fit(self, *memories: Memory) -> bool:
        """Whether each of them is as it was signed."""
        return self._key is not None and all(self._key.fits(memory) for memory in memories)

    def cover(self, memory: Memory, original: Memory) -> bool:
        """Whether a memory's signature stands for this original text."""
        return self._key is not None and self._key.covers(memory, original)

    def _whole(self, vault: Vault, memory: Memory) -> Memory:
        if _says_all(memory):
            return memory
        return policy.whole(
            memory, [each.memory for each in self._vaults.versions(vault, memory.id)]
        )


def _says_all(memory: Memory) -> bool:
    """Whether nothing of its text is in the archive only."""
    return memory.phase is Phase.FULL and bool(memory.text)


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
            case decisions.Add():
                return self._add(decision)
            case decisions.Adopt():
                return self._adopt(decision)
            case decisions.Supersede():
                return self._supersede(decision)
            case decisions.Contradict():
                return self._contradict(decision)
            case decisions.Settle():
                return self._settle(decision)
            case decisions.Merge():
                return self._merge(decision)
            case decisions.Reduce():
                return self._reduce(decision)
            case decisions.Restore():
                return self._restore(decision)
            case decisions.Sign():
                return self._sign(decision)
            case decisions.Purge():
                return self._purge(decision)
            case decisions.Reinforce():
                return self._reinforce(decision)
            case decisions.Forget():
                done = self._rewrite(decision)
                self._release(done.stored.memory)
                return done
            case decisions.Revise():
                return self._rewrite(decision)

    def _add(self, decision: decisions.Add) -> Applied:
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

    def _adopt(self, decision: decisions.Adopt) -> Applied:
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

    def _former(self, copy: decisions.Copy, indexes: Mapping[Vault, Index]) -> _Former | None:
        """The memory here that a copy takes the place of; refused if there is one unasked for."""
        held = [vault for vault, index in indexes.items() if index.get(copy.memory.id)]
        if held and not copy.over:
            raise Refused(f"a memory with the id {copy.memory.id} is already there")
        if not copy.over:
            return None
        vault = held[0] if held else self._homes[copy.memory.scope]
        return vault, *self._files.current(vault, copy.memory.id, copy.over)

    def _take(
        self, copy: decisions.Copy, former: _Former | None, indexes: Mapping[Vault, Index]
    ) -> Stored:
        vault = former[0] if former else self._homes[copy.memory.scope]
        for kept in copy.kept:
            vault.archive(copy.memory.id, kept.version, codec.to_bytes(kept))
        taken = self._seals.adopted(vault, copy.memory)
        if former is None:
            return self._files.write(vault, indexes[vault], taken)
        _, name, data, memory = former
        return self._files.replace(vault, indexes[vault], name, data, memory, taken, seal=False)

    def _reinforce(self, decision: decisions.Reinforce) -> Applied:
        """Confirm a memory, and keep the words in which it was confirmed if they are others."""
        vault, _ = self._vaults.find(decision.id)
        with self._vaults.locked(vault) as (index,):
            name, data, memory = self._files.current(vault, decision.id, decision.expected)
            at = self._clock()
            after = decisions.reinforced(memory, decision.source, at)
            wording = decision.wording
            if wording is not None and wording.text.strip() != memory.text.strip():
                kept = [each.memory for each in self._vaults.versions(vault, memory.id)]
                whole = policy.whole(memory, kept)
                texts = {whole.text.strip(), *(each.text.strip() for each in kept)}
                if wording.text.strip() not in texts:
                    said = self._seals.new(vault, decisions.reworded(whole, wording))
                    vault.archive(memory.id, said.version, codec.to_bytes(said))
                    after = after._replace(
                        content=whole.content, phase=Phase.FULL, version=said.version + 1
                    )
            after = decisions.revised(after, decision.changes, at)
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
                after = decisions.settled(memory, ids, self._clock(), all_hold=False)
                self._files.replace(vault, index, file, data, memory, after)

    def _rewrite(self, decision: decisions.Revise | decisions.Forget) -> Applied:
        """Change one memory in place, keeping the former version when its text changes."""
        vault, _ = self._vaults.find(decision.id)
        with self._vaults.locked(vault) as (index,):
            name, data, memory = self._files.current(vault, decision.id, decision.expected)
            at = self._clock()
            match decision:
                case decisions.Revise(changes=changes):
                    whole = memory
                    if memory.phase is not Phase.FULL:
                        kept = [each.memory for each in self._vaults.versions(vault, memory.id)]
                        whole = policy.whole(memory, kept)
                    action, after = "revised", decisions.revised(memory, changes, at, whole=whole)
                case decisions.Forget():
                    action, after = "forgotten", decisions.forgotten(memory, at)
            edited = decision.edited if isinstance(decision, decisions.Revise) else b""
            stored = self._files.replace(vault, index, name, data, memory, after, edited=edited)
            return Applied(action, stored)

    def _supersede(self, decision: decisions.Supersede) -> Applied:
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
                after = decisions.superseded(memory, newer.id, at)
                self._files.replace(vault, index, name, data, memory, after, archive=True)
        self._release(*(each[-1] for each in old))
        return Applied("superseded", stored, ids)

    def _contradict(self, decision: decisions.Contradict) -> Applied:
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
                after = decisions.contradicted(memory, [newer.id], at)
                self._files.replace(vault, index, name, data, memory, after)
            return Applied("contradicted", stored)

    def _disputed(
        self,
        home: Vault,
        index: Index,
        decision: decisions.Contradict,
        ids: list[str],
        at: datetime,
    ) -> Stored:
        """The memory that contradicts others, written with their ids."""
        by = decision.by
        if index.get(by.id) is None:
            newer = decisions.contradicted(by, ids, at)._replace(updated=by.updated)
            return self._write_new(home, index, newer)
        name, data, memory = self._files.current(home, by.id, "")
        after = decisions.contradicted(memory, ids, at)
        return self._files.replace(home, index, name, data, memory, after)

    def _settle(self, decision: decisions.Settle) -> Applied:
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
            after = decisions.settled(memory, gone, at, all_hold=decision.all_hold)
            if not decision.all_hold:
                names = tuple(dict.fromkeys((*memory.supersedes, *gone)))
                after = after._replace(supersedes=names, confirmed=at, updated=at)
            stored = self._files.replace(vault, index, name, data, memory, after)
            for vault, index, name, data, other in others:
                if decision.all_hold:
                    after = decisions.settled(other, {memory.id}, at, all_hold=True)
                else:
                    after = decisions.superseded(other, memory.id, at)
                archive = not decision.all_hold
                self._files.replace(vault, index, name, data, other, after, archive=archive)
        if not decision.all_hold:
            self._release(*(each[-1] for each in others))
        return Applied("settled", stored, () if decision.all_hold else gone)

    def _merge(self, decision: decisions.Merge) -> Applied:
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
            after = decisions.merged(memory, parts, decision.content, at)
            seal = self._seals.fit(*parts)
            stored = self._files.replace(vault, index, name, data, memory, after, seal=seal)
            for vault, index, name, data, other in others:
                gone = decisions.superseded(other, memory.id, at)
                self._files.replace(vault, index, name, data, other, gone, archive=True)
        self._release(*parts)
        return Applied("merged", stored, decision.ids)

    def _reduce(self, decision: decisions.Reduce) -> Applied:
        """Keep the original first, then write what the phase leaves of it."""
        vault, _ = self._vaults.find(decision.id)
        with self._vaults.locked(vault) as (index,):
            name, data, memory = self._files.current(vault, decision.id, decision.expected)
            kept = [each.memory for each in self._vaults.versions(vault, memory.id)]
            original, is_kept = policy.original(memory, kept)
            after = decisions.reduced(memory, original, decision.phase)
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

    def _restore(self, decision: decisions.Restore) -> Applied:
        vault, _ = self._vaults.find(decision.id)
        with self._vaults.locked(vault) as (index,):
            name, data, memory = self._files.current(vault, decision.id, decision.expected)
            kept = self._vaults.versions(vault, memory.id)
            original = _original(memory, kept, decision.version)
            same = [each.memory.status for each in kept if each.version == memory.version]
            was = same[-1] if same and memory.status is not Status.ACTIVE else memory.status
            after = decisions.restored(memory, original, self._clock(), was=was)
            vouched = (
                original is None
                or self._seals.cover(memory, original)
                or (original.id == memory.id and self._seals.fit(original))
            )
            stored = self._files.replace(vault, index, name, data, memory, after, seal=vouched)
            return Applied("restored", stored)

    def _sign(self, decision: decisions.Sign) -> Applied:
        """Vouch for a memory as it is; nothing else about it changes."""
        vault, _ = self._vaults.find(decision.id)
        with self._vaults.locked(vault) as (index,):
            name, data, memory = self._files.current(vault, decision.id, decision.expected)
            after, former = self._seals.looked_at(vault, memory, data)
            if (after, former) == (memory, data):
                return Applied("signed", Stored(memory, vault.name, vault.path(name), etag(data)))
            stored = self._files.write(vault, index, after, name=name, over=data, former=former)
            return Applied("signed", stored)

    def _purge(self, decision: decisions.Purge) -> Applied:
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
        # A background process may have kept a text of what it read before the file was gone.
        self._state.forget(memory.id)
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
    return policy.whole(memory, [each.memory for each in kept])


def state_of(key: Key, stored: Stored, store: Store) -> SignatureState:
    """Whether a memory is what was signed, with the text that is kept of it in the archive.

    A file that says the same as it did but lacks a line that signing always writes was edited too.
    """
    memory = stored.memory
    kept = []
    if memory.phase is not Phase.FULL or not memory.text:
        kept = [each.memory for each in store.versions(memory.id)]
    state = key.state(memory, policy.whole(memory, kept))
    return SignatureState.CHANGED if state is SignatureState.OK and _was_cut(stored.path) else state


def _was_cut(path: str) -> bool:
    try:
        document = frontmatter.parse(read_plain(path, limit=MAX_FILE), path)
    except (OSError, LtmError):
        return False  # gone or unreadable by now: not what the question was about
    return bool(codec.lacking(document))
