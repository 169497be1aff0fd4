"""What is left out of every answer though it is kept: the words of forgotten and waiting memories.

Owns which passages that are: those on the lines such a memory came from, and those that say the
same. Who forgets a memory wants to meet it no more, in sessions either; restoring it brings both
back, and purging deletes both. What waits for approval is not confirmed yet: it is found by those
who ask for it, and is marked then. Of the sessions only what was found is looked at, so that a
question costs the same however much was said. Imports core and storage.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Set
from typing import TYPE_CHECKING

from ltm.core.model import Filter, Memory, Status
from ltm.core.passage import USER
from ltm.core.sentences import sentences
from ltm.core.words import query_terms, terms
from ltm.storage.store import Store

if TYPE_CHECKING:
    from ltm.core.passage import Header, Passage
    from ltm.recall.said import SessionSearch
    from ltm.storage.passagelookups import PassageLookups

_TELLING = 4  # terms of a statement that is said nowhere by accident


class LeftOut:
    """What memories that are left out say, and where they came from."""

    def __init__(self, memories: Iterable[Memory] = ()) -> None:
        self._lines: dict[str, list[str]] = {}
        self._said: dict[str, list[tuple[frozenset[str], bool]]] = {}
        for memory in memories:
            if memory.source.session and memory.source.lines:
                self._lines.setdefault(memory.source.session, []).append(memory.source.lines)
            waits = memory.status is Status.QUARANTINED
            for statement in dict.fromkeys(_statements(memory)):
                said = frozenset(query_terms(statement))
                if len(said) >= _TELLING:
                    # Found by its longest term, which hardly any other text has.
                    self._said.setdefault(max(said, key=len), []).append((said, waits))

    def rows(self, passages: PassageLookups, sessions: Collection[str]) -> set[int]:
        """The rows in some sessions that these memories came from."""
        return {each.row for each in self._behind(passages, sessions)}

    def says(self, words: Set[str], role: str) -> bool:
        """Whether a text of these terms says what one of these memories said.

        The user's own words are never those of a memory that waits: no page can hide them.
        """
        return any(
            said <= words and not (waits and role == USER)
            for word in self._said.keys() & words
            for said, waits in self._said[word]
        )

    def shown(self, passages: PassageLookups, found: Iterable[Passage]) -> list[Passage]:
        """Passages without those that are left out."""
        given = list(found)
        gone = self.rows(passages, {each.session for each in given})
        return [
            each
            for each in given
            if each.row not in gone
            and not (self._said and self.says(set(terms(each.text)), each.role))
        ]

    def titled(self, passages: PassageLookups, header: Header) -> Header:
        """A session without its title, where that was taken from what is left out."""
        gone = self._behind(passages, [header.id])
        if any(" ".join(each.text.split()).startswith(header.title) for each in gone) or (
            self._said and self.says(set(terms(header.title)), "")
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


def _statements(memory: Memory) -> list[str]:
    """What says a memory: its title, and of one that waits each sentence, as none is approved."""
    waits = memory.status is Status.QUARANTINED
    return [memory.title, *(sentences(memory.text) if waits else ())]


def left_out(store: Store, *statuses: Status) -> LeftOut | None:
    """What the memories of some statuses say; None where there are none."""
    gone = store.list(Filter(statuses=statuses)).items
    return LeftOut(each.memory for each in gone) if gone else None


def leave_out(store: Store, said: SessionSearch, *, waiting: bool = False) -> None:
    """See to it that sessions do not tell what memories may not; `waiting` asks for what waits."""
    if not said.anything():
        return
    if waiting:
        said.left_out = left_out(store, Status.FORGOTTEN)
        said.waiting = left_out(store, Status.QUARANTINED)
    else:
        said.left_out = left_out(store, Status.FORGOTTEN, Status.QUARANTINED)
        said.waiting = None
