"""What each decision does on disk, in which order; signing.

A change takes the vault's lock, reads the file as it is, compares, archives, signs, writes the file
and notes it in the index. A crash between any two of these leaves either the old or the new state,
because files are the truth and the index follows them.

A change never makes something that was tampered with look signed: it signs what it writes only if
all it was made from fitted its signatures. Without a key nothing is signed and nothing fits.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ltm import decisions, policy
from ltm.decisions import TEXT, Applied, Decision
from ltm.errors import Conflict, LtmError, NotFound, Refused
from ltm.files.atomic import read_plain
from ltm.index.index import Index, forget_vectors
from ltm.model import Memory, Phase, Scope, Status, Stored
from ltm.state.usage import State
from ltm.store.file_store import Vaults
from ltm.store.store import Store, Version
from ltm.vault import codec, frontmatter
from ltm.vault.signing import Key, SignatureState
from ltm.vault.vault import MAX_FILE, Vault, etag


@dataclass(frozen=True, slots=True)
class _LockedMemory:
    """A memory as its file has it now, with the vault's lock held."""

    vault: Vault
    index: Index
    name: str
    data: bytes
    memory: Memory

    @property
    def stored(self) -> Stored:
        path = self.vault.path(self.name)
        return Stored(self.memory, self.vault.name, path, etag(self.data))


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
        self._key = vaults.key
        self._homes = homes
        self._state = state
        self._clock = clock
        self._introduce = introduce
        self._is_introduced = False
        self._changes: Mapping[type[Decision], Callable[[Any], Applied]] = {
            decisions.Add: self._add,
            decisions.Adopt: self._adopt,
            decisions.Revise: self._revise,
            decisions.Reinforce: self._reinforce,
            decisions.Supersede: self._supersede,
            decisions.Contradict: self._contradict,
            decisions.Settle: self._settle,
            decisions.Merge: self._merge,
            decisions.Forget: self._forget,
            decisions.Reduce: self._reduce,
            decisions.Restore: self._restore,
            decisions.Sign: self._sign,
            decisions.Purge: self._purge,
        }

    def apply(self, decision: Decision) -> Applied:
        """Make one change happen, whole and durably, or raise and change nothing."""
        try:
            return self._changes[type(decision)](decision)
        except Conflict:
            self._vaults.look_again()
            raise

    # -- the decisions ---------------------------------------------------------------------------

    def _add(self, decision: decisions.Add) -> Applied:
        vault = self._homes[decision.memory.scope]
        self._name_project()
        vault.prepare()
        with self._vaults.locked(vault) as (index,):
            return Applied("added", self._write_new(vault, index, decision.memory))

    def _adopt(self, decision: decisions.Adopt) -> Applied:
        """Check and encode all, then write each, its kept versions first."""
        self._name_project()
        for copy in decision.copies:
            self._homes[copy.memory.scope].prepare()
        there = [vault for vault in self._vaults.trusted if vault.exists()]
        with self._vaults.locked(*there) as locked:
            indexes = dict(zip(there, locked, strict=True))
            former = [self._former(copy, indexes) for copy in decision.copies]
            for copy in decision.copies:
                for memory in (copy.memory, *copy.kept):
                    codec.to_bytes(memory, kinds=self._vaults.kinds)
            for copy, held in zip(decision.copies, former, strict=True):
                vault = held.vault if held else self._homes[copy.memory.scope]
                for kept in copy.kept:
                    vault.archive(copy.memory.id, kept.version, codec.to_bytes(kept))
                taken = copy.memory
                # Its importer vouches for it, unless it says that this key did, and does not fit.
                if self._key and self._key.state(taken) is SignatureState.UNSIGNED:
                    taken = self._signed(vault, taken)
                if held is None:
                    stored = self._write(vault, indexes[vault], taken)
                else:
                    stored = self._replace(held, taken, seal=False)
            return Applied("adopted", stored)

    def _former(self, copy: decisions.Copy, indexes: Mapping[Vault, Index]) -> _LockedMemory | None:
        """The memory here that a copy takes the place of; refused if there is one unasked for."""
        held = [vault for vault, index in indexes.items() if index.get(copy.memory.id)]
        if held and not copy.over:
            raise Refused(f"a memory with the id {copy.memory.id} is already there")
        if not copy.over:
            return None
        vault = held[0] if held else self._homes[copy.memory.scope]
        return self._current(vault, copy.memory.id, copy.over)

    def _revise(self, decision: decisions.Revise) -> Applied:
        with self._holding((decision.id,), decision.expected) as (held,):
            memory = whole = held.memory
            if memory.phase is not Phase.FULL:
                whole = policy.whole(memory, self._kept(held))
            after = decisions.revised(memory, decision.changes, self._clock(), whole=whole)
            return Applied("revised", self._replace(held, after, edited=decision.edited))

    def _forget(self, decision: decisions.Forget) -> Applied:
        with self._holding((decision.id,), decision.expected) as (held,):
            stored = self._replace(held, decisions.forgotten(held.memory, self._clock()))
        self._release(stored.memory)
        return Applied("forgotten", stored)

    def _reinforce(self, decision: decisions.Reinforce) -> Applied:
        """Confirm a memory, and keep the words in which it was confirmed if they are others."""
        with self._holding((decision.id,), decision.expected) as (held,):
            memory, at, wording = held.memory, self._clock(), decision.wording
            after = decisions.reinforced(memory, decision.source, at)
            if wording is not None and wording.text.strip() != memory.text.strip():
                kept = self._kept(held)
                whole = policy.whole(memory, kept)
                if wording.text.strip() not in {each.text.strip() for each in (whole, *kept)}:
                    other = self._signed(held.vault, decisions.reworded(whole, wording))
                    held.vault.archive(memory.id, other.version, codec.to_bytes(other))
                    after = after._replace(
                        content=whole.content, phase=Phase.FULL, version=other.version + 1
                    )
            after = decisions.revised(after, decision.changes, at)
            return Applied("reinforced", self._replace(held, after))

    def _supersede(self, decision: decisions.Supersede) -> Applied:
        """Keep the new one first: a crash in between leaves two memories, never none."""
        by, home = decision.by, self._homes[decision.by.scope]
        with self._holding(decision.ids, decision.expected, home) as old:
            index = self._vaults.index(home)
            ids = tuple(each.memory.id for each in old)
            newer = by._replace(
                supersedes=tuple(dict.fromkeys((*by.supersedes, *ids))),
                previous=by.previous or index.newest(by.kind),
                version=max([each.memory.version for each in old], default=0) + 1,
            )
            stored = self._write(home, index, self._signed(home, newer))
            self._retire(old, newer.id, self._clock())
        self._release(*(each.memory for each in old))
        return Applied("superseded", stored, ids)

    def _contradict(self, decision: decisions.Contradict) -> Applied:
        """Keep the new one first, as when it supersedes."""
        by, home = decision.by, self._homes[decision.by.scope]
        with self._holding(decision.ids, decision.etags, home) as old:
            at, index = self._clock(), self._vaults.index(home)
            ids = [each.memory.id for each in old]
            if index.get(by.id) is None:
                newer = decisions.contradicted(by, ids, at)._replace(updated=by.updated)
                stored = self._write_new(home, index, newer)
            else:
                held = self._current(home, by.id, "")
                stored = self._replace(held, decisions.contradicted(held.memory, ids, at))
            for each in old:
                self._replace(each, decisions.contradicted(each.memory, [stored.memory.id], at))
            return Applied("contradicted", stored)

    def _settle(self, decision: decisions.Settle) -> Applied:
        """End a conflict on both sides, the memory that is named first."""
        with self._holding((decision.id, *decision.others)) as (held, *others):
            at, memory, both = self._clock(), held.memory, decision.all_hold
            gone = tuple(each.memory.id for each in others)
            after = decisions.settled(memory, gone, at, all_hold=both)
            if not both:
                names = tuple(dict.fromkeys((*memory.supersedes, *gone)))
                after = after._replace(supersedes=names, confirmed=at, updated=at)
            stored = self._replace(held, after)
            if not both:
                self._retire(others, memory.id, at)
            for each in others if both else ():
                self._replace(each, decisions.settled(each.memory, {memory.id}, at, all_hold=True))
        if both:
            return Applied("settled", stored)
        self._release(*(each.memory for each in others))
        return Applied("settled", stored, gone)

    def _merge(self, decision: decisions.Merge) -> Applied:
        """Write the one that takes in first: a crash in between leaves too many, never too few."""
        with self._holding((decision.into, *decision.ids), decision.etags) as (held, *others):
            at, parts = self._clock(), [each.memory for each in others]
            after = decisions.merged(held.memory, parts, decision.content, at)
            stored = self._replace(held, after, seal=self._fit(*parts))
            self._retire(others, held.memory.id, at)
        self._release(*parts)
        return Applied("merged", stored, decision.ids)

    def _retire(self, old: Sequence[_LockedMemory], by: str, at: datetime) -> None:
        for each in old:
            self._replace(each, decisions.superseded(each.memory, by, at), archive=True)

    def _release(self, *gone: Memory) -> None:
        """Let the memories that were in conflict with these stand alone again."""
        ids = {each.id for each in gone}
        for name in {one for each in gone for one in each.conflicts} - ids:
            with suppress(NotFound, Conflict), self._holding((name,)) as (held,):
                after = decisions.settled(held.memory, ids, self._clock(), all_hold=False)
                self._replace(held, after)

    def _reduce(self, decision: decisions.Reduce) -> Applied:
        """Keep the original first, then write what the phase leaves of it."""
        with self._holding((decision.id,), decision.expected) as (held,):
            vault, memory = held.vault, held.memory
            original, is_kept = policy.original(memory, self._kept(held))
            after = decisions.reduced(memory, original, decision.phase)
            if after == memory:
                return Applied("reduced", held.stored)
            vouched = self._fit(memory) and self._covers(memory, original)
            if not is_kept:
                base = frontmatter.parse(held.data, vault.path(held.name))
                kept_as = self._signed(vault, original) if vouched else original
                whole = codec.to_bytes(kept_as, base, self._vaults.kinds)
                vault.archive(original.id, original.version, whole)
            # Noted before it happens: a crash in between delays the next step and never doubles it.
            self._state.stepped(memory.id)
            after = self._signed(vault, after) if vouched else after
            return Applied("reduced", self._write(vault, held.index, after, held))

    def _restore(self, decision: decisions.Restore) -> Applied:
        with self._holding((decision.id,), decision.expected) as (held,):
            memory = held.memory
            kept = self._vaults.versions(held.vault, memory.id)
            original = _original(memory, kept, decision.version)
            same = [each.memory.status for each in kept if each.version == memory.version]
            was = same[-1] if same and memory.status is not Status.ACTIVE else memory.status
            after = decisions.restored(memory, original, self._clock(), was=was)
            vouched = (
                original is None
                or self._covers(memory, original)
                or (original.id == memory.id and self._fit(original))
            )
            return Applied("restored", self._replace(held, after, seal=vouched))

    def _sign(self, decision: decisions.Sign) -> Applied:
        """Vouch for a memory as it is; nothing else about it changes.

        Its file gets every key that signed files have.
        """
        with self._holding((decision.id,), decision.expected) as (held,):
            if self._key is None or not self._key.secret:
                raise Refused("there is no key to sign with", hint="make one with: ltm keygen")
            document = frontmatter.parse(held.data, held.memory.id)
            after = self._signed(held.vault, held.memory)
            former = codec.completed(document, held.memory).to_bytes()
            if (after, former) == (held.memory, held.data):
                return Applied("signed", held.stored)
            return Applied("signed", self._write(held.vault, held.index, after, held, former))

    def _purge(self, decision: decisions.Purge) -> Applied:
        with self._holding((decision.id,), decision.expected) as (held,):
            vault, memory = held.vault, held.memory
            # The file goes last: while it is there, a purge that was cut short can be run again.
            self._state.forget(memory.id)
            forget_vectors(vault.local, memory.id)
            try:
                held.index.drop(held.name)
                vault.purge(held.name, memory.id)
            except sqlite3.Error:
                vault.purge(held.name, memory.id)
                held.index.rebuild()
        # A background process may have kept a text of what it read before the file was gone.
        self._state.forget(memory.id)
        self._release(memory)
        return Applied("purged", held.stored)

    def _name_project(self) -> None:
        """See to it that the project is known again; what it gains later can wait."""
        if self._is_introduced:
            self._vaults.afterwards(self._introduce)
        else:
            self._introduce()
            self._is_introduced = True

    # -- files -----------------------------------------------------------------------------------

    @contextmanager
    def _holding(
        self, ids: Sequence[str], expected: str | Mapping[str, str] = "", home: Vault | None = None
    ) -> Iterator[list[_LockedMemory]]:
        """Memories as they are on the disk now, their vaults and `home` locked.

        `expected` are their etags, or the one etag that each of them must have.
        """
        etags = dict.fromkeys(ids, expected) if isinstance(expected, str) else expected
        vaults = [self._own(each) for each in ids]
        if home is not None:
            self._name_project()
            home.prepare()
        with self._vaults.locked(*vaults, *([home] if home else [])):
            yield [
                self._current(vault, each, etags.get(each, ""))
                for vault, each in zip(vaults, ids, strict=True)
            ]

    def _own(self, memory_id: str) -> Vault:
        """The vault of a memory, which is not a team's."""
        vault = self._vaults.find(memory_id)[0]
        if vault in self._vaults.teams:
            team = vault.name.partition(":")[2]
            raise Refused(
                f"{memory_id} is a memory of the team {team}",
                hint=f"name the team in the same command: --team {team}",
            )
        return vault

    def _current(self, vault: Vault, memory_id: str, expected: str) -> _LockedMemory:
        index = self._vaults.index(vault)
        stored = index.get(memory_id)
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
        return _LockedMemory(vault, index, name, data, self._vaults.decode(data, stored.path))

    def _kept(self, held: _LockedMemory) -> list[Memory]:
        return [each.memory for each in self._vaults.versions(held.vault, held.memory.id)]

    def _replace(
        self,
        held: _LockedMemory,
        after: Memory,
        *,
        archive: bool = False,
        edited: bytes = b"",
        seal: bool = True,
    ) -> Stored:
        """Put a memory in the place of its former self; `seal=False` leaves it as it is signed."""
        before, vault = held.memory, held.vault
        if after == before and edited in (b"", held.data):
            return held.stored
        if archive or any(getattr(before, field) != getattr(after, field) for field in TEXT):
            vault.archive(before.id, before.version, held.data)
        if (
            seal
            and self._fit(before)
            and (_is_whole(before) or self._covers(before, self._whole(vault, before)))
        ):
            after = self._signed(vault, after)
        return self._write(vault, held.index, after, held, edited)

    def _write_new(self, vault: Vault, index: Index, memory: Memory) -> Stored:
        if index.get(memory.id):
            raise Refused(f"a memory with the id {memory.id} is already there")
        linked = memory._replace(previous=memory.previous or index.newest(memory.kind))
        return self._write(vault, index, self._signed(vault, linked))

    def _write(
        self,
        vault: Vault,
        index: Index,
        memory: Memory,
        over: _LockedMemory | None = None,
        former: bytes = b"",
    ) -> Stored:
        """Write a memory's file, `over` what is there, with the lines of that or of `former`."""
        name = over.name if over else codec.file_name(memory)
        path = vault.path(name)
        former = former or (over.data if over else b"")
        base = frontmatter.parse(former, path) if former else None
        data = codec.to_bytes(memory, base, self._vaults.kinds)
        stamp = vault.stamp()
        seen = vault.write(name, data, over=over.data if over else None)
        self._vaults.note(index, seen, etag(data), memory, stamp, vault.seal())
        return Stored(memory, vault.name, path, etag(data))

    # -- signatures ------------------------------------------------------------------------------

    def _signed(self, vault: Vault, memory: Memory) -> Memory:
        """The memory, signed if there is a key."""
        return self._key.signed(memory, self._whole(vault, memory)) if self._key else memory

    def _fit(self, *memories: Memory) -> bool:
        """Whether each of them is as it was signed."""
        return self._key is not None and all(self._key.fits(memory) for memory in memories)

    def _covers(self, memory: Memory, original: Memory) -> bool:
        """Whether a memory's signature stands for this original text."""
        return self._key is not None and self._key.covers(memory, original)

    def _whole(self, vault: Vault, memory: Memory) -> Memory:
        """The memory with the text that may be in the archive only."""
        if _is_whole(memory):
            return memory
        kept = [each.memory for each in self._vaults.versions(vault, memory.id)]
        return policy.whole(memory, kept)


def _is_whole(memory: Memory) -> bool:
    """Whether nothing of its text is in the archive only."""
    return memory.phase is Phase.FULL and bool(memory.text)


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
    if _is_whole(memory):
        return None
    return policy.whole(memory, [each.memory for each in kept])


def state_of(key: Key, stored: Stored, store: Store) -> SignatureState:
    """Whether a memory is what was signed, with the text that is kept of it in the archive.

    A file that says the same as it did but lacks a line that signing always writes was edited too.
    """
    memory = stored.memory
    kept = [] if _is_whole(memory) else [each.memory for each in store.versions(memory.id)]
    state = key.state(memory, policy.whole(memory, kept))
    if state is not SignatureState.OK:
        return state
    try:
        document = frontmatter.parse(read_plain(stored.path, limit=MAX_FILE), stored.path)
    except (OSError, LtmError):
        return state  # gone or unreadable by now: not what the question was about
    return SignatureState.CHANGED if codec.lacking(document) else state
