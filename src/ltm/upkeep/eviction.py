"""Which memories give way when a vault holds too many: the strategy, built in or plugged in.

A strategy is any callable of the `Eviction` form. Another package offers one in the entry point
group `ltm.eviction`, and a person chooses it with `ltm config eviction NAME`. Imports core and
`storage.extensions`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from ltm.core.errors import LtmError, NotFound
from ltm.core.model import Memory, Usage
from ltm.storage.extensions import named

BUILT_IN = "lowest-priority"


@dataclass(frozen=True, slots=True)
class EvictionCandidate:
    """A memory that may give way, with what is known of its use and its priority at this moment."""

    memory: Memory
    usage: Usage
    priority: float


class Eviction(Protocol):
    """Picks who gives way. It never sees what is pinned or critical."""

    def __call__(self, candidates: Sequence[EvictionCandidate], how_many: int, /) -> Sequence[str]:
        """At most `how_many` ids of the candidates, the first to go first."""
        ...


def lowest_priority(candidates: Sequence[EvictionCandidate], how_many: int) -> Sequence[str]:
    """The lowest priorities of all; among equals the oldest."""
    order = sorted(
        candidates, key=lambda each: (each.priority, each.memory.created, each.memory.id)
    )
    return [each.memory.id for each in order[:how_many]]


def strategy(name: str) -> Eviction:
    """The strategy of a name; the built-in one when nothing installed offers it, as `ltm doctor`
    then says."""
    if name == BUILT_IN:
        return lowest_priority
    try:
        found: Eviction = named("ltm.eviction", name)
    except NotFound:
        return lowest_priority
    return found


def choose(name: str, candidates: Sequence[EvictionCandidate], how_many: int) -> list[str]:
    """The ids a strategy picks, held to its terms: candidates only, each once, not too many."""
    pick = strategy(name)
    try:
        picked = list(pick(candidates, how_many))
    except Exception as error:
        raise LtmError(
            f"the eviction strategy '{name}' failed: {error}",
            hint=f"go back to the built-in one with 'ltm config eviction {BUILT_IN}'",
        ) from error
    known = {each.memory.id for each in candidates}
    return [each for each in dict.fromkeys(picked) if each in known][:how_many]
