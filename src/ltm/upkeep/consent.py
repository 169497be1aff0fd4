"""What of a plan may be done without asking: all of it, but no mass of memories at once.

Owns what counts as leaving: a memory that is archived, or taken in by another, is no longer active.
Shortening does not count. Imports core and the store's port.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, TypeVar

from ltm.core.fuse import FEW, Mass, masses
from ltm.core.model import Phase, Scope, Status

if TYPE_CHECKING:
    from ltm.storage.store import Store


class Leaving(Protocol):
    """A step of a plan, with how many memories it puts out of use, and whose."""

    @property
    def scope(self) -> Scope:
        """Whose memories they are."""
        ...

    @property
    def leaving(self) -> int:
        """How many memories the step puts out of use."""
        ...

    @property
    def rationed(self) -> bool:
        """Whether there are only so many of its kind in a session, whatever a clock says."""
        ...


S = TypeVar("S", bound=Leaving)


def let_through(
    store: Store, steps: Sequence[S], *, consent: bool = False
) -> tuple[list[S], tuple[Mass, ...]]:
    """The steps that may be taken, and the masses that wait for consent; with it, none waits."""
    leaving: Counter[Scope] = Counter()
    for step in steps:
        leaving[step.scope] += step.leaving
    if consent or not leaving.total():
        return list(steps), ()
    active: Counter[Scope] = Counter()
    for _, scope, status, phase, count in store.counts():
        if status == Status.ACTIVE and phase != Phase.ARCHIVED:
            active[Scope(scope)] += count
    held = masses(leaving, active)
    waiting = {each.scope for each in held}
    through: list[S] = []
    # While a mass waits, a full vault must still be able to give way a little in each session.
    left = dict.fromkeys(waiting, FEW)
    for step in steps:
        if step.leaving and step.scope in waiting:
            if not step.rationed or left[step.scope] < step.leaving:
                continue
            left[step.scope] -= step.leaving
        through.append(step)
    return through, held
