"""The index of a vault that is not trusted yet, limited to what may be seen of it.

Owns the rule: a memory our own key vouches for is as good as any other; the rest is found only
by those who ask for it, and marked. Imports core and storage.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ltm.core.model import Filter, Stored
from ltm.storage.index import Index
from ltm.storage.query import IndexMatch, IndexMatches

if TYPE_CHECKING:
    from ltm.storage.signing import Key


def marked(stored: Stored, key: Key | None) -> Stored:
    """A memory of an untrusted vault, told to be untrusted unless the key vouches for it."""
    return stored._replace(trusted=key is not None and key.fits(stored.memory))


class Guarded:
    """Answers like an index. It looks at all that fits, since such vaults are not for long."""

    def __init__(self, index: Index, key: Key | None) -> None:
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
