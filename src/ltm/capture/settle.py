"""Making a decision happen among others who decide at the same time.

A decision is made by what was known a moment before. Where it says which state of a memory it was
made for and that is gone, it is made again, so that no change is undone by one that had not seen
it. May import `core` and the store's port.
"""

from __future__ import annotations

from collections.abc import Callable

from ltm.capture.decide import Choice, Outcome
from ltm.core.decision import Add, Applied
from ltm.core.errors import Conflict, NotFound
from ltm.core.model import Memory
from ltm.storage.store import Store

ATTEMPTS = 10
"""Times another change may come first."""


def settle(
    store: Store, memory: Memory, choose: Callable[[], Choice | None]
) -> tuple[Applied, Choice] | None:
    """Choose what is to happen with a candidate and make it happen; None if nothing is to."""
    for _ in range(ATTEMPTS):
        choice = choose()
        try:
            return None if choice is None else (store.apply(choice.decision), choice)
        except (Conflict, NotFound):
            continue
    # Nothing is lost by keeping it as a memory of its own.
    return store.apply(Add(memory)), Choice(Add(memory), Outcome.ADDED)
