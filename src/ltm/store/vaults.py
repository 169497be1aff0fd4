"""Vaults with their indexes; trusted and untrusted.

The index of a vault that is not trusted yet, limited to what may be seen of it.

Owns the rule: a memory our own key vouches for is as good as any other; the rest is found only
by those who ask for it, and marked. Imports core and storage.

The vaults a store sees, each with its index: finding a memory among them, and locking them.

Owns which index belongs to which vault, that it is up to date when it is asked, and that a vault
that is not trusted yet is read only when wanted, unless our own key vouches for a memory
in it. What is read and what is changed is `filestore`'s and `changing`'s business.

What is kept back until a person decides: memories in quarantine, those of a strange vault, and
what a folder says to be.

Owns the one count that status, doctor and the text of a session's start all give, and the sentences
about a folder that is not believed. Imports core, the store's port and places; a hook can afford
it.
"""

import sqlite3
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, NamedTuple

from ltm.errors import Ambiguous, LtmError, NotFound
from ltm.files.atomic import make_folder
from ltm.index.index import Index
from ltm.index.search import IndexMatch, IndexMatches
from ltm.kinds import Kinds
from ltm.model import Filter, Memory, Problem, Status, Stored
from ltm.project.identity import name_of
from ltm.vault.vault import Vault, modified

if TYPE_CHECKING:
    from ltm.project.layout import Places
    from ltm.store.store import Store, Version
    from ltm.vault.signing import Key


def marked(stored: Stored, key: "Key | None") -> Stored:
    """A memory of an untrusted vault, told to be untrusted unless the key vouches for it."""
    return stored._replace(trusted=key is not None and key.fits(stored.memory))


class Guarded:
    """Answers like an index. It looks at all that fits, since such vaults are not for long."""

    def __init__(self, index: Index, key: "Key | None") -> None:
        self._index = index
        self._key = key

    def page(self, wanted: Filter, limit: int, offset: int) -> tuple[list[Stored], int]:
        """A page of memories, newest first, and how many there are in all."""
        found = [marked(each, self._key) for each in self._index.page(wanted, -1, 0)[0]]
        found = [each for each in found if _is_wanted(each, wanted)]
        return found[offset : None if limit < 0 else offset + limit], len(found)

    def every(self, wanted: Filter) -> Iterator[Stored]:
        """Memories in the order of their ids."""
        found = (marked(each, self._key) for each in self._index.every(wanted))
        return (each for each in found if _is_wanted(each, wanted))

    def search(self, words: Sequence[str], wanted: Filter, limit: int) -> IndexMatches:
        """The best matches for any of the words."""
        found = self._index.search(words, wanted, limit)
        seen = tuple(each for each in found.candidates if _is_wanted(self.stored(each), wanted))
        return found._replace(candidates=seen, total=len(seen))

    def stored(self, candidate: IndexMatch) -> Stored:
        """The memory of a match."""
        return marked(self._index.stored(candidate), self._key)


def _is_wanted(stored: Stored, wanted: Filter) -> bool:
    return stored.trusted or wanted.untrusted


class Vaults:
    """Vaults in the order they are read, and their indexes, opened when first needed."""

    def __init__(
        self,
        vaults: Sequence[Vault],
        kinds: Kinds,
        *,
        readonly: bool,
        key: "Key | None",
    ) -> None:
        """With `readonly`, indexes are used as they are and a vault without one is empty."""
        self.trusted = tuple(vault for vault in vaults if vault.trusted)
        self.untrusted = tuple(vault for vault in vaults if not vault.trusted)
        self.kinds = kinds
        self.key = key
        self._readonly = readonly
        self._indexes: dict[str, Index] = {}
        self._in_a_row = 0
        self._looked: set[str] = set()

    def close(self) -> None:
        """Give back what is open."""
        for index in self._indexes.values():
            index.close()
        self._indexes.clear()

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
            self.look_again()

    def look_again(self) -> None:
        """Ask the disk before going on, as a change found that a file has changed."""
        self._looked.clear()
        for vault in (*self.trusted, *self.untrusted):
            vault.list_again()

    def _refresh(self, vault: Vault, index: Index) -> None:
        if vault.folder not in self._looked:
            index.refresh()
        if self._in_a_row:
            self._looked.add(vault.folder)

    def find(self, text: str) -> tuple[Vault, Stored]:
        """The memory a full or short id means, and the vault it is in.

        An untrusted vault is asked last, so that no id in it can get in the way of another.
        """
        for vaults in (self.trusted, self.untrusted):
            found = self._find(text, tuple(self._opened(vaults)))
            if found is not None:
                vault, stored = found
                return vault, stored if vault.trusted else marked(stored, self.key)
        raise NotFound(
            f"there is no memory '{text}' in this project",
            hint="find it with 'ltm recall WORDS' or 'ltm list'",
        )

    def fresh(self) -> Iterator[tuple[Vault, Index]]:
        """Every vault that exists and is trusted, its index brought up to date."""
        return self._opened(self.trusted)

    def asked(self, wanted: Filter) -> Iterator[Index | Guarded]:
        """Every index to be asked for what a filter wants, brought up to date."""
        for _, index in self.fresh():
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

    def _find(self, text: str, fresh: Sequence[tuple[Vault, Index]]) -> tuple[Vault, Stored] | None:
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
        return None

    def index(self, vault: Vault) -> Index:
        """The index of a vault."""
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

    def versions(self, vault: Vault, memory_id: str) -> "list[Version]":
        """The kept versions of a memory, oldest first."""
        if self._in_a_row:
            vault.list_once()
        return self._read_versions(vault, vault.archived(memory_id))

    def histories(self, vault: Vault, ids: Collection[str]) -> "dict[str, list[Version]]":
        """The kept versions of many memories, by id."""
        found = vault.archived_of(ids)
        return {each: self._read_versions(vault, kept) for each, kept in found.items()}

    def _read_versions(self, vault: Vault, archived: list[tuple[int, str]]) -> "list[Version]":
        from ltm.store.store import Version

        kept: list[Version] = []
        for version, path in archived:
            try:
                kept.append(Version(version, path, self.decode(vault.read_archive(path), path)))
            except LtmError:
                continue  # a damaged archive is for doctor to report, not in the way of the others
        return kept


class Waiting(NamedTuple):
    """How many memories wait, and for what."""

    quarantined: int
    """For `ltm approve`: their source is not trusted."""
    untrusted: int
    """For `ltm trust`: they came with the repository, which is not trusted yet."""


def waiting(store: "Store", places: "Places") -> Waiting:
    """What waits in this project."""
    quarantined = store.list(Filter(statuses=(Status.QUARANTINED,)), 0).total
    asked = places.shared_exists and places.trusted is None
    return Waiting(quarantined, len(Vault("shared", places.shared).names()) if asked else 0)


def unproven(places: "Places") -> list[Problem]:
    """What a folder says of itself that is not believed, and what to type if it is true."""
    found: list[Problem] = []
    project = places.project
    if places.untrusted_agent:
        message = (
            f"its files (AGENT.md, .claude/agents) name the agent '{places.untrusted_agent}', which"
            " is not used until you trust this repository (type: ltm trust)"
        )
        found.append(Problem(project.root, message, ill=False))
    if project.claimed:
        message = (
            f"it says to be the project '{name_of(project.claimed, places.home)}'"
            f" ({project.claimed}), but has none of the history that is known of it, so it has"
            " memories of its own (if it is the same project, type: ltm trust --same-project)"
        )
        found.append(Problem(project.root, message, ill=False))
    return found
