"""Making a decision happen among others who decide at the same time.

A decision is made by what was known a moment before. Where it says which state of a memory it was
made for and that is gone, it is made anew, so that nobody's change is undone by somebody who had
not seen it. May import `core` and the store's port.
"""

from __future__ import annotations

from collections.abc import Callable

from ltm.core.decision import Add, Applied, Decision
from ltm.core.errors import Conflict, NotFound
from ltm.core.model import Memory
from ltm.storage.store import Store

ATTEMPTS = 10
"""Times somebody else may be quicker."""


def settle(store: Store, memory: Memory, choose: Callable[[], Decision | None]) -> Applied | None:
    """Choose what is to happen with a candidate and make it happen; None if nothing is to."""
    for _ in range(ATTEMPTS):
        decision = choose()
        try:
            return None if decision is None else store.apply(decision)
        except (Conflict, NotFound):
            continue
    return store.apply(Add(memory))  # nothing is lost by keeping it beside the other
