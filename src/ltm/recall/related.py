"""What belongs to a memory: what it names, what names it, and what speaks of the same things.

Owns the flow behind `ltm related` and `memory_related`. May import `core` and the store port.
"""

from __future__ import annotations

from dataclasses import dataclass

from ltm.core.errors import NotFound
from ltm.core.model import Filter, Memory, Status, Stored
from ltm.storage.store import Store

_TOLD = tuple(status for status in Status if status is not Status.QUARANTINED)


@dataclass(frozen=True, slots=True)
class Relation:
    """Another memory and how it is related."""

    stored: Stored
    how: str


def related(store: Store, memory_id: str, limit: int) -> tuple[Stored, list[Relation]]:
    """The memory, and its relatives: named ones first, then those with common tags and words."""
    centre = store.read(memory_id)
    memory = centre.memory
    found: dict[str, Relation] = {}
    for how, ids in _named(memory):
        for each in ids:
            try:
                relative = store.read(each)
            except NotFound:
                continue  # purged since, or in a vault this project cannot see
            if relative.trusted and relative.memory.status is not Status.QUARANTINED:
                found.setdefault(each, Relation(relative, how))
    for other in store.list(Filter(statuses=_TOLD, naming=memory.id)).items:
        for how, ids in _named(other.memory):
            if memory.id in ids:
                found.setdefault(other.memory.id, Relation(other, _BACKWARDS[how]))
    if len(found) < limit:
        matches = store.search(f"{memory.title} {' '.join(memory.tags)}", Filter(), limit + 1)
        for stored in (each.stored for each in matches.items):
            shared = sorted(set(stored.memory.tags) & set(memory.tags))
            how = f"shares tags: {', '.join(shared)}" if shared else "speaks of the same things"
            found.setdefault(stored.memory.id, Relation(stored, how))
    found.pop(memory.id, None)
    return centre, list(found.values())[:limit]


_BACKWARDS = {
    "replaces": "is replaced by",
    "is replaced by": "replaces",
    "was merged from": "was merged into",
    "links to": "is linked from",
    "follows": "is followed by",
}


def _named(memory: Memory) -> tuple[tuple[str, tuple[str, ...]], ...]:
    return (
        ("replaces", memory.supersedes),
        ("is replaced by", (memory.superseded_by,) if memory.superseded_by else ()),
        ("was merged from", memory.merged_from),
        ("links to", memory.links),
        ("follows", (memory.previous,) if memory.previous else ()),
    )
