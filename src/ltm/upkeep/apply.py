"""Doing what a plan says: each action as one decision, unless the memory changed meanwhile.

Imports core, the store's port, `plan` and `consent`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from ltm.core.decision import Reduce
from ltm.core.errors import Conflict, NotFound, Refused
from ltm.core.fuse import Mass
from ltm.core.model import Scope
from ltm.core.policy import Limits
from ltm.upkeep.consent import let_through
from ltm.upkeep.plan import ACTIVE, EVICT, REVIVE, Action, plan

if TYPE_CHECKING:
    from ltm.storage.store import Store


@dataclass(frozen=True, slots=True)
class Upkeep:
    """What was done, and what was left alone with the reason why."""

    done: tuple[Action, ...] = ()
    skipped: tuple[tuple[Action, str], ...] = ()
    held: tuple[Mass, ...] = ()
    """What was too much at once, and waits for a person."""


def apply(store: Store, actions: Iterable[Action]) -> Upkeep:
    """Take each step if its memory is still as the plan saw it; what changed waits for the next."""
    done: list[Action] = []
    skipped: list[tuple[Action, str]] = []
    given: set[str] = set()
    for action in actions:
        if action.action in (REVIVE, EVICT) and action.vault not in given:
            # Noted before it happens: a crash in between makes the batch smaller, never larger.
            # Also for what revives, or a second run could take back what the first one gave.
            store.take_batch(action.vault)
            given.add(action.vault)
        try:
            store.apply(Reduce(action.id, action.to_phase, expected=action.etag))
        except (Conflict, NotFound, Refused) as error:
            skipped.append((action, str(error)))
        else:
            done.append(action)
    return Upkeep(tuple(done), tuple(skipped))


def run(
    store: Store,
    *,
    now: datetime,
    limits: Mapping[Scope, Limits] | None = None,
    consent: bool = False,
) -> Upkeep:
    """Upkeep as it happens at the end of a session: meet what is new, plan, and do it.

    Without a person's consent no mass of memories leaves the active set at once.
    """
    with store.in_a_row():
        actions, held = let_through(store, due(store, now=now, limits=limits), consent=consent)
        return replace(apply(store, actions), held=held)


def due(
    store: Store, *, now: datetime, limits: Mapping[Scope, Limits] | None = None
) -> list[Action]:
    """Meet what is new, and plan: what `run` would do now."""
    store.seen([each.memory.id for each in store.list(ACTIVE).items])
    return plan(store, now=now, limits=limits)
