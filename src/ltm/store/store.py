"""The port to memories, whatever keeps them; every change is one call of `apply`.

`file_store` is the default backend; others plug in through the entry point group `ltm.stores`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime

from ltm.kinds import Kinds
from ltm.model import Filter, Memory, Page, Problem, Stored, Trust, Usage
from ltm.record import NamedTuple
from ltm.text.bm25 import Matched

TYPE_CHECKING = False
if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from typing import Any, Protocol

    from ltm.decisions import Applied, Decision
else:
    Protocol = object


class Match(NamedTuple):
    """One memory a search found, how well it fits, and which of the asked words it has."""

    stored: Stored
    score: float
    matched: Matched


class Matches(NamedTuple):
    """What a search found, best first, and how many there are in all."""

    items: tuple[Match, ...] = ()
    total: int = 0


class Version(NamedTuple):
    """A kept version of a memory."""

    version: int
    path: str
    memory: Memory


class Store(Protocol):
    """Where memories are kept, whatever keeps them."""

    kinds: Kinds
    hold: Collection[Trust]
    """Whose words wait for a person's approval; `open_store` sets it from the options."""

    def create(self, memory: Memory) -> Stored:
        """Keep a new memory in the vault of its scope."""

    def read(self, memory_id: str) -> Stored:
        """The memory of an id, or of the only id that begins or ends like this."""

    def update(self, memory_id: str, changes: Mapping[str, Any], expected: str = "") -> Stored:
        """Change fields of a memory; with `expected`, only if it still has that etag."""

    def delete(self, memory_id: str, *, purge: bool = False) -> None:
        """Forget a memory, or leave no byte of it."""

    def list(self, wanted: Filter, limit: int | None = None, offset: int = 0) -> Page:
        """Memories, newest first."""

    def every(self, wanted: Filter) -> Iterator[Stored]:
        """Memories in the order of their ids, each once, few of them held at a time."""

    def search(self, query: str, wanted: Filter, limit: int) -> Matches:
        """Memories that match any text a person may type."""

    def apply(self, decision: Decision) -> Applied:
        """Make one change happen, whole and durably, or raise and change nothing."""

    def in_a_row(self) -> AbstractContextManager[None]:
        """For many questions and changes one after another: what others change by hand while it
        lasts may be seen only after it. Nothing they change is lost."""

    def versions(self, memory_id: str) -> Sequence[Version]:
        """The kept versions of a memory, oldest first."""

    def histories(self, ids: Collection[str]) -> Mapping[str, Sequence[Version]]:
        """The kept versions of many memories, by id; those that have none are left out."""

    def problems(self) -> Sequence[Problem]:
        """What could not be read."""

    def counts(self) -> Sequence[tuple[str, str, str, int, int]]:
        """(kind, scope, status, phase, how many) for each combination there is."""

    def usage(self, ids: Iterable[str]) -> dict[str, Usage]:
        """How often and when memories were used."""

    def used_again(self) -> Collection[str]:
        """The ids of memories that were used since they last changed their phase."""

    def used(self, ids: Iterable[str]) -> None:
        """Count a use of memories: they were asked for and shown."""

    def seen(self, ids: Iterable[str]) -> None:
        """Note the first sight of memories, from which their idle time counts. Not a use."""

    def sessions(self) -> int:
        """How many sessions the project has had."""

    def active_days_since(self, moment: datetime) -> int:
        """On how many days after that of a moment the project had a session."""

    def batch_taken(self, vault: str) -> bool:
        """Whether a vault already gave way once in the project's current session."""

    def take_batch(self, vault: str) -> None:
        """Note that a vault gives way in the project's current session."""

    def close(self) -> None:
        """Give back what is open."""
