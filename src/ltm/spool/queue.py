"""The events that wait in the spool, in order, across the files they share.

Apart from `events`, which hooks load and which must stay small.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from heapq import heappop, heappush

from ltm.errors import StorageFailed
from ltm.spool import events


@dataclass(frozen=True, slots=True)
class Spooled:
    """An event that waits."""

    key: str
    path: str
    """The file it waits in."""
    of: int
    """How many events wait in that file."""
    record: Mapping[str, object]
    trouble: StorageFailed | None = None
    """Why the file cannot be read now."""


@dataclass(slots=True)
class Finished:
    """The events that are done, and the files that have nothing left to tell."""

    keys: set[str] = field(default_factory=set)
    """The keys of all that is done."""
    paths: list[str] = field(default_factory=list)
    """The files of which every event is done."""
    _left: dict[str, int] = field(default_factory=dict)

    def add(self, event: Spooled) -> None:
        """Note that all that follows from an event is done."""
        self.keys.add(event.key)
        left = self._left.pop(event.path, event.of) - 1
        if left:
            self._left[event.path] = left
        else:
            self.paths.append(event.path)


def in_order(home: str, environ: Mapping[str, str]) -> Iterator[Spooled]:
    """Every event that waits for a home, oldest first.

    A file is read when its first event is due, so that thousands of files take little memory.
    """
    ahead: list[tuple[str, str, Spooled]] = []
    for first, path in events.waiting(home, environ):
        while ahead and ahead[0][0] < first:
            yield heappop(ahead)[-1]
        for event in _events(first, path):
            heappush(ahead, (event.key, path, event))
    while ahead:
        yield heappop(ahead)[-1]


def _events(first: str, path: str) -> list[Spooled]:
    try:
        found = events.events(first, path)
    except StorageFailed as error:
        return [Spooled(first, path, 1, {}, error)]
    return [Spooled(key, path, len(found), record) for key, record in found]
