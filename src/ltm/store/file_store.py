"""The file-backed store: vaults of Markdown files, each with its derived index, as one store.

A vault that is not trusted yet is read only where it is wanted, unless the user's key vouches for a
memory in it. How a decision reaches the disk is in `apply`, which is loaded with the first change:
most calls only ask.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from datetime import datetime
from functools import cached_property

from ltm.errors import Ambiguous, LtmError, NotFound
from ltm.files.atomic import make_folder
from ltm.index.index import VECTORS_FILE, Index, vectors_meta
from ltm.kinds import Kinds
from ltm.model import Filter, Memory, Page, Phase, Problem, Scope, Stored, Trust, Usage, now
from ltm.record import NamedTuple
from ltm.state.usage import State
from ltm.store.trust import Guarded
from ltm.vault.vault import Vault, etag, modified

TYPE_CHECKING = False
if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from typing import Any

    from ltm.decisions import Applied, Decision
    from ltm.index.vectors import MemoryVectors
    from ltm.store.apply import Changes
    from ltm.store.store import Matches, Version
    from ltm.vault.signing import Key


class Vaults:
    """Vaults in the order they are read, and their indexes, opened when first needed."""

    def __init__(
        self,
        vaults: Sequence[Vault],
        kinds: Kinds,
        *,
        readonly: bool,
        key: Key | None,
        teams: Sequence[Vault] = (),
        answers_first: bool = False,
    ) -> None:
        """With `readonly`, indexes are used as they are and a vault without one is empty.

        The replicas of `teams` are read where a filter wants them, and not changed. With
        `answers_first`, what can wait for the answer waits for `finish`.
        """
        self.trusted = tuple(vault for vault in vaults if vault.trusted)
        self.untrusted = tuple(vault for vault in vaults if not vault.trusted)
        self.teams = tuple(teams)
        self.kinds = kinds
        self.key = key
        self._readonly = readonly
        self._indexes: dict[str, Index] = {}
        self._in_a_row = 0
        self._looked: set[str] = set()
        self._answers_first = answers_first
        self._unnoted: list[Callable[[], None]] = []
        self._unfinished: list[Callable[[], None]] = []

    def close(self) -> None:
        """Give back what is open."""
        self.catch_up()
        for index in self._indexes.values():
            index.close()
        self._indexes.clear()

    def is_in_place(self) -> bool:
        """Whether every index that is open is still the file that has its name."""
        return all(index.is_in_place() for index in self._indexes.values())

    @contextmanager
    def in_a_row(self) -> Iterator[None]:
        """Within this, the files of a vault are looked at once, and not before each question.

        What is on the disk is still what counts: every change reads its file under the lock, and
        one that meets something unexpected makes us look again.
        """
        self._in_a_row += 1
        try:
            yield
        finally:
            self._in_a_row -= 1
            if not self._in_a_row:
                self.look_again()

    def look_again(self) -> None:
        """Ask the disk before going on, as a change found that a file has changed."""
        self._looked.clear()
        for vault in (*self.trusted, *self.teams, *self.untrusted):
            vault.list_again()

    def afterwards(self, work: Callable[[], None]) -> None:
        """Do something that the answer need not wait for, and that is done again if it fails."""
        if self._answers_first:
            self._unfinished.append(work)
        else:
            work()

    def note(self, index: Index, *written: Any) -> None:
        """Note a file in an index, as `Index.put` does, before anyone asks that index again.

        A process that is killed before leaves an index that lacks the file: the next refresh, of
        whatever process, takes it in.
        """
        if self._answers_first and written[-1]:  # without a seal, others' files would be missed
            self._unnoted.append(lambda: index.put(*written, late=True))
            return
        self._note_now()
        with suppress(sqlite3.Error):  # the file is the truth and it is safe
            index.put(*written)

    def _note_now(self) -> None:
        while self._unnoted:
            with suppress(sqlite3.Error, LtmError):
                self._unnoted.pop(0)()

    def catch_up(self) -> None:
        """Do all of that now which may make a difference to what is asked next."""
        self._note_now()
        while self._unfinished:
            with suppress(sqlite3.Error, LtmError):
                self._unfinished.pop(0)()

    def finish(self) -> None:
        """Do what was left for the time after the answer. What fails is left to the next look."""
        self.catch_up()
        for index in self._indexes.values():
            with suppress(sqlite3.Error, LtmError):
                index.look()

    def _refresh(self, vault: Vault, index: Index) -> None:
        if vault.folder not in self._looked:
            index.refresh(later=self._answers_first)
        if self._in_a_row:
            self._looked.add(vault.folder)

    def find(self, text: str) -> tuple[Vault, Stored]:
        """The memory a full or short id means, and the vault it is in.

        An untrusted vault is asked last, so that no id in it can get in the way of another.
        """
        for vaults in (self.trusted, self.teams, self.untrusted):
            found = self._find(text, tuple(self._opened(vaults)))
            if found is not None:
                vault, index, stored = found
                return vault, stored if vault.trusted else Guarded(index, self.key).marked(stored)
        raise NotFound(
            f"there is no memory '{text}' in this project",
            hint="find it with 'ltm recall WORDS' or 'ltm list'",
        )

    def fresh(self, *, teams: bool = False) -> Iterator[tuple[Vault, Index]]:
        """Every vault that exists and is trusted, its index brought up to date; with `teams`, their
        replicas too."""
        return self._opened((*self.trusted, *self.teams) if teams else self.trusted)

    def asked(self, wanted: Filter) -> Iterator[Index | Guarded]:
        """Every index to be asked for what a filter wants, brought up to date."""
        for _, index in self.fresh():
            yield index
        if wanted.teams:
            for _, index in self._opened(self.teams):
                yield index
        if wanted.untrusted or self.key is not None:
            for _, index in self._opened(self.untrusted):
                yield Guarded(index, self.key)

    def _opened(self, vaults: Iterable[Vault]) -> Iterator[tuple[Vault, Index]]:
        for vault in vaults:
            if not self._readonly and vault.trusted and vault.folder not in self._looked:
                vault.sweep()
            if vault.exists():
                try:
                    index = self.index(vault)
                except sqlite3.Error:
                    if self._readonly:
                        continue
                    raise
                if not self._readonly:
                    self._refresh(vault, index)
                yield vault, index

    def _find(
        self, text: str, fresh: Sequence[tuple[Vault, Index]]
    ) -> tuple[Vault, Index, Stored] | None:
        wanted = [(vault, index, text) for vault, index in fresh if index.get(text)][:1]
        if not wanted and len(text) >= 3:
            wanted = [
                (vault, index, each)
                for vault, index in fresh
                for each in index.ids_like(text, most=6)
            ]
        if len(wanted) > 1:
            shown = ", ".join(each for _, _, each in wanted[:5])
            raise Ambiguous(f"'{text}' fits several memories: {shown}", hint="type more of the id")
        for vault, index, each in wanted:
            stored = index.get(each)
            if stored is not None:
                return vault, index, stored
        return None

    def index(self, vault: Vault) -> Index:
        """The index of a vault."""
        self._note_now()
        index = self._indexes.get(vault.folder)
        if index is None:
            if not vault.trusted and not self._readonly:
                make_folder(vault.local)
            index = Index(vault, self.kinds, readonly=self._readonly)
            self._indexes[vault.folder] = index
        return index

    @contextmanager
    def locked(self, *vaults: Vault) -> Iterator[Sequence[Index]]:
        """The write locks of vaults, taken in one order everywhere so that there is no deadlock,
        and their indexes, brought up to date under the locks."""
        with ExitStack() as stack:
            for folder in sorted({vault.folder for vault in vaults}):
                stack.enter_context(next(v.lock for v in vaults if v.folder == folder))
            indexes = [self.index(vault) for vault in vaults]
            for vault, index in zip(vaults, indexes, strict=True):
                self._refresh(vault, index)
            yield indexes

    def decode(self, data: bytes, path: str) -> Memory:
        """What a file says; raises `BadFile`."""
        from ltm.vault import codec, frontmatter  # YAML is slow to load, and often not needed

        document = frontmatter.parse(data, path)
        return codec.decode(document, path, self.kinds, seen=modified(path))

    def versions(self, vault: Vault, memory_id: str) -> list[Version]:
        """The kept versions of a memory, oldest first."""
        if self._in_a_row:
            vault.list_once()
        return self._read_versions(vault, vault.archived(memory_id))

    def histories(self, vault: Vault, ids: Collection[str]) -> dict[str, list[Version]]:
        """The kept versions of many memories, by id."""
        found = vault.archived_of(ids)
        return {each: self._read_versions(vault, kept) for each, kept in found.items()}

    def _read_versions(self, vault: Vault, archived: list[tuple[int, str]]) -> list[Version]:
        from ltm.store.store import Version

        kept: list[Version] = []
        for version, path in archived:
            try:
                kept.append(Version(version, path, self.decode(vault.read_archive(path), path)))
            except LtmError:
                continue  # a damaged archive is for doctor to report, not in the way of the others
        return kept


class Compared(NamedTuple):
    """A file and what the index holds of it, to check that the two agree."""

    vault: Vault
    name: str
    said: Memory | LtmError
    """What the file says, or why it cannot be read."""
    etag: str
    held: Stored | None


_MENTIONING = 40  # memories that mention a file or branch of the last days
_APART, _TOGETHER = ((True,), (False,)), ((True, False),)  # rules are told before all else
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
        key: Key | None = None,
        teams: Sequence[Vault] = (),
        answers_first: bool = False,
    ) -> None:
        """`vaults` are read, `homes` says in which of them a new memory of a scope is kept.

        `introduce` is called before something new is kept, so that the project is known again
        after it was renamed. With `readonly`, answers come from the indexes as they are: nothing
        is brought up to date, written or waited for, and a vault without a usable index is empty.
        With a `key`, whatever is written is signed. `teams` are replicas that are only read. With
        `answers_first`, `finish` is called after each answer, for what need not be done before.
        """
        self.kinds = kinds
        self.hold: Collection[Trust] = (Trust.TOOL,)
        self._vaults = Vaults(
            vaults, kinds, readonly=readonly, key=key, teams=teams, answers_first=answers_first
        )
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

    def search(self, query: str, wanted: Filter, limit: int) -> Matches:
        from ltm.store.store import Match, Matches
        from ltm.text.bm25 import rarity, relevance  # not needed to list
        from ltm.text.terms import question_terms

        words = question_terms(query)[:_MOST_WORDS]
        asked = self._vaults.asked(wanted)
        found = [(index, index.search(words, wanted, limit)) for index in asked]
        memories = sum(part.memories for _, part in found)
        rarities = {
            word: rarity(sum(part.holders[word] for _, part in found), memories) for word in words
        }
        scored = []
        for index, part in found:
            for each in part.candidates:
                score, matched = relevance(rarities, each.title, each.tags, each.text)
                scored.append((score, matched, index, each))
        scored.sort(key=lambda item: (item[0], item[3].file), reverse=True)
        items = tuple(
            Match(index.stored(each), score, matched)
            for score, matched, index, each in scored[:limit]
        )
        return Matches(items, sum(part.total for _, part in found))

    def in_a_row(self) -> AbstractContextManager[None]:
        return self._vaults.in_a_row()

    def versions(self, memory_id: str) -> Sequence[Version]:
        vault, stored = self._vaults.find(memory_id)
        return self._vaults.versions(vault, stored.memory.id)

    def histories(self, ids: Collection[str]) -> Mapping[str, Sequence[Version]]:
        found: dict[str, Sequence[Version]] = {}
        for vault in reversed(self.vaults):  # what the first of them has, counts
            found |= self._vaults.histories(vault, ids)
        return found

    def problems(self) -> Sequence[Problem]:
        return [problem for _, index in self._vaults.fresh() for problem in index.problems()]

    def counts(self) -> Sequence[tuple[str, str, str, int, int]]:
        return [row for _, index in self._vaults.fresh() for row in index.counts()]

    def counts_with_teams(self) -> Sequence[tuple[str, str, str, int, int]]:
        """The same with the memories of teams."""
        asked = self._vaults.asked(Filter(teams=True))
        return [row for index in asked if not isinstance(index, Guarded) for row in index.counts()]

    def is_counted(self) -> bool:
        """Whether each index has as many memories of each kind and status as it notes."""
        return all(index.is_counted() for _, index in self._vaults.fresh())

    def worthiest(
        self, shares: Mapping[str, int], now: datetime, names: Sequence[str]
    ) -> Sequence[Stored]:
        """So many memories of each kind that a session may be told of, those worth most first;
        those that mention one of some names; and what is in conflict with any of them."""
        found: dict[str, Stored] = {}
        wanted = Filter(phases=(Phase.FULL, Phase.HINT, Phase.ABSTRACT), teams=True)
        for index in self._vaults.asked(wanted):
            if isinstance(index, Guarded):
                near = index.page(wanted, -1, 0)[0]
            else:
                near = [
                    each
                    for name, most in shares.items()
                    for stated in (_APART if self.kinds[name].rule else _TOGETHER)
                    for each in index.worthiest(self.kinds[name], now, most, stated=stated)
                ]
                near += index.mentioning(names, _MENTIONING) if names else ()
                known = {each.memory.id for each in near}
                while rivals := {
                    name for each in near for name in each.memory.conflicts if name not in known
                }:
                    near += index.some(sorted(rivals), wanted)
                    known |= rivals
            found |= {each.memory.id: each for each in near}
        return list(found.values())

    def usage(self, ids: Iterable[str]) -> dict[str, Usage]:
        self._vaults.catch_up()
        return self._state.usage(ids, self._project)

    def used_again(self) -> Collection[str]:
        self._vaults.catch_up()
        return self._state.used_again()

    def used(self, ids: Iterable[str]) -> None:
        found, at = list(ids), self._clock()
        self._vaults.afterwards(lambda: self._state.used(found, at))

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

    def vectors(
        self, model: str, dimensions: int, *, teams: bool = False
    ) -> Sequence[MemoryVectors]:
        """The vectors a model made of each vault's memories, good until the store is closed; with
        `teams`, of their replicas' too."""
        from ltm.index.vectors import MemoryVectors

        opened = []
        for vault, index in self._vaults.fresh(teams=teams):
            path = os.path.join(vault.local, VECTORS_FILE)
            vectors = self._vectors.get(path)
            if vectors is None or not vectors.is_of(model, dimensions):
                if vectors is not None:
                    vectors.close()
                vectors = self._vectors[path] = MemoryVectors(index, path, model, dimensions)
            opened.append(vectors)
        return opened

    def is_embedded(self, model: str) -> bool:
        """Whether each memory in force, and no other, has a vector by a model, told without numpy.

        `model` is a name without its version.
        """
        for vault, index in self._vaults.fresh(teams=True):
            noted = vectors_meta(os.path.join(vault.local, VECTORS_FILE))
            is_by_model = noted.get("made by", "").startswith(f"{model}/")
            if not is_by_model or {noted.get("mark"), noted.get("clean")} != {str(index.mark())}:
                return False
        return True

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

    def is_in_place(self) -> bool:
        """Whether every file that is open is still the one that has its name."""
        is_open = all(each.is_in_place() for each in self._vectors.values())
        return is_open and self._vaults.is_in_place() and self._state.is_in_place()

    def finish(self) -> None:
        """Do what was left for the time after the answer."""
        self._vaults.finish()

    def close(self) -> None:
        for vectors in self._vectors.values():
            vectors.close()
        self._vectors.clear()
        self._vaults.close()
        self._state.close()

    # -- changing --------------------------------------------------------------------------------

    @cached_property
    def _changes(self) -> Changes:
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

    def apply(self, decision: Decision) -> Applied:
        return self._changes.apply(decision)
