"""What is left out of every answer though it is kept: what forgotten memories were made from.

Owns which passages that are: those on the lines such a memory came from, and those that say all of
its title. Who forgets a memory wants to meet it no more, in sessions either; restoring it brings
both back, and purging deletes both. Of the sessions only what was found is looked at, so that a
question costs the same however much was said. Imports core and storage.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Set
from typing import TYPE_CHECKING

from ltm.core.model import Filter, Memory, Status
from ltm.core.words import query_terms, terms
from ltm.storage.store import Store

if TYPE_CHECKING:
    from ltm.core.passage import Header, Passage
    from ltm.recall.said import Said
    from ltm.storage.passagelookups import PassageLookups

_TELLING = 4  # terms of a title that is said nowhere by accident


class Forgotten:
    """What forgotten memories said, and where they came from."""

    def __init__(self, memories: Iterable[Memory] = ()) -> None:
        self._lines: dict[str, list[str]] = {}
        self._titles: dict[str, list[frozenset[str]]] = {}
        for memory in memories:
            if memory.source.session and memory.source.lines:
                self._lines.setdefault(memory.source.session, []).append(memory.source.lines)
            title = frozenset(query_terms(memory.title))
            if len(title) >= _TELLING:
                # Found by its longest term, which hardly any other text has.
                self._titles.setdefault(max(title, key=len), []).append(title)

    def rows(self, passages: PassageLookups, sessions: Collection[str]) -> set[int]:
        """The rows in some sessions that forgotten memories came from."""
        return {each.row for each in self._behind(passages, sessions)}

    def says(self, words: Set[str]) -> bool:
        """Whether a text of these terms says what a forgotten memory said."""
        telling = self._titles.keys() & words
        return any(title <= words for word in telling for title in self._titles[word])

    def shown(self, passages: PassageLookups, found: Iterable[Passage]) -> list[Passage]:
        """Passages without those that are left out."""
        given = list(found)
        gone = self.rows(passages, {each.session for each in given})
        return [
            each
            for each in given
            if each.row not in gone and not (self._titles and self.says(set(terms(each.text))))
        ]

    def titled(self, passages: PassageLookups, header: Header) -> Header:
        """A session without its title, where that was taken from what is left out."""
        gone = self._behind(passages, [header.id])
        if any(" ".join(each.text.split()).startswith(header.title) for each in gone) or (
            self._titles and self.says(set(terms(header.title)))
        ):
            return header._replace(title="")
        return header

    def _behind(self, passages: PassageLookups, sessions: Collection[str]) -> list[Passage]:
        return [
            each
            for session in self._lines.keys() & sessions
            for lines in self._lines[session]
            for each in passages.at_lines(session, lines)
        ]


def leave_out_forgotten(store: Store, said: Said) -> None:
    """See to it that sessions do not tell what memories no longer may."""
    if said.anything():
        gone = store.list(Filter(statuses=(Status.FORGOTTEN,))).items
        said.left_out = Forgotten(each.memory for each in gone) if gone else None
