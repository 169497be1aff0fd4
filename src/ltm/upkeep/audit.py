"""How good a collection of memories is: shares of junk, repetition, staleness, disuse and secrets.

Owns the measures that `ltm doctor --audit` prints. It only counts; what to do about it is upkeep's
and a person's business. Imports core and the store's port.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from ltm.core.model import Memory, Usage
from ltm.core.policy import is_hidden
from ltm.core.sameness import key
from ltm.core.similar import tokens_of
from ltm.upkeep.plan import ACTIVE
from ltm.upkeep.slipped import secrets_in

if TYPE_CHECKING:
    from ltm.storage.store import Store

UNUSED_DAYS = 7
"""Active days after which a memory that was never used counts as unused."""

_LEAST_WORDS = 2


def audit(store: Store, now: datetime) -> dict[str, Any]:
    """Of the active memories: how many there are, and how many, and which share, are of each sort.

    junk: hardly a word in them. duplicate: says the same as an older one of its kind. stale: too
    old to be told to a new session. unused: known for `UNUSED_DAYS` active days and never used.
    secret: seems to hold one.
    """
    memories = [each.memory for each in store.list(ACTIVE).items]
    usage = store.usage([memory.id for memory in memories])
    sorts = {
        "junk": [memory.id for memory in memories if _is_junk(memory)],
        "duplicate": _repeated(memories),
        "stale": [
            memory.id for memory in memories if is_hidden(memory, store.kinds[memory.kind], now)
        ],
        "unused": [memory.id for memory in memories if _is_unused(usage.get(memory.id, Usage()))],
        "secret": [memory.id for memory in memories if secrets_in(memory)],
    }
    return {
        "memories": len(memories),
        **{
            name: {
                "count": len(ids),
                "rate": round(len(ids) / len(memories), 4) if memories else 0.0,
                "ids": ids,
            }
            for name, ids in sorts.items()
        },
    }


def _repeated(memories: Sequence[Memory]) -> list[str]:
    known: set[tuple[str, ...]] = set()
    found: list[str] = []
    for memory in sorted(memories, key=lambda each: (each.created, each.id)):
        said = (memory.kind, *key(memory.text))
        if said in known:
            found.append(memory.id)
        known.add(said)
    return sorted(found)


def _is_junk(memory: Memory) -> bool:
    return len(tokens_of(f"{memory.title} {memory.text}")) < _LEAST_WORDS


def _is_unused(usage: Usage) -> bool:
    return usage.uses == 0 and usage.known_days >= UNUSED_DAYS
