"""Making one memory of several that say the same, and letting go of what has long been over.

Owns the rules: which memories belong together and whose wording stays. Only what a fuller text says
word for word goes, and only under the same title. `plan` is pure; each merge is applied with
compare-and-swap on every memory it names, so that nothing written meanwhile is lost. Imports
core, the store's port and this package.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from ltm.core.decision import Merge, Reduce
from ltm.core.errors import Conflict, NotFound, Refused
from ltm.core.fuse import Mass
from ltm.core.model import Memory, Phase, Scope, Stored, Trust, Usage
from ltm.core.phases import whole
from ltm.core.policy import is_hidden, is_spared
from ltm.core.sameness import holds, key, same
from ltm.upkeep.consent import let_through
from ltm.upkeep.plan import ACTIVE

if TYPE_CHECKING:
    from ltm.storage.store import Store

LEAST = 5
"""Memories of a kind from which it is worth looking for repetitions without being asked."""

OFTEN = 10
"""Captures after which it is worth looking."""

MANY = 80
"""Active memories from which it is worth looking after every capture."""


@dataclass(frozen=True, slots=True)
class ConsolidationStep:
    """One thing consolidation would do."""

    id: str
    """The memory that stays, or the one that is archived."""
    action: str
    """`merge` or `archive`."""
    ids: tuple[str, ...]
    """The memories it takes in."""
    reason: str
    decision: Merge | Reduce
    scope: Scope

    @property
    def leaving(self) -> int:
        """How many memories the step puts out of use."""
        return len(self.ids) or 1

    @property
    def rationed(self) -> bool:
        """Whether there are only so many in a session: of repetitions there may be any number."""
        return False

    def as_record(self) -> dict[str, Any]:
        """The step in the fields scripts read."""
        return {
            "id": self.id,
            "action": self.action,
            "from": list(self.ids),
            "to": self.id,
            "reason": self.reason,
        }


def plan(store: Store, now: datetime, *, least: int = 2) -> list[ConsolidationStep]:
    """What would be merged and archived now; kinds with fewer than `least` memories are left."""
    stored = {each.memory.id: each for each in store.list(ACTIVE).items}
    memories = [each.memory for each in stored.values()]
    counts: dict[tuple[str, str], int] = {}
    for memory in memories:
        key = (memory.kind, memory.scope)
        counts[key] = counts.get(key, 0) + 1
    wanted = [each for each in memories if counts[each.kind, each.scope] >= least]
    groups = _groups(wanted)
    texts = _whole_texts([memory for group in groups for memory in group], store)
    steps = [_merge(group, stored, texts) for group in groups]
    gone = {each for step in steps for each in (step.id, *step.ids)}
    usage = store.usage([memory.id for memory in memories])
    for memory in memories:
        used = usage.get(memory.id, Usage()).last_used
        if memory.id not in gone and _is_outdated(memory, used, store, now):
            steps.append(_archive(stored[memory.id]))
    return steps


def run(
    store: Store, now: datetime, *, least: int = 2, consent: bool = False
) -> tuple[list[ConsolidationStep], tuple[Mass, ...]]:
    """Plan and do it: the steps that were taken, and what is too much without consent."""
    steps, held = let_through(store, plan(store, now, least=least), consent=consent)
    return apply(store, steps), held


def apply(store: Store, steps: Iterable[ConsolidationStep]) -> list[ConsolidationStep]:
    """Take each step if its memories are still as the plan saw them; those that were taken."""
    done: list[ConsolidationStep] = []
    with store.in_a_row():
        for step in steps:
            try:
                store.apply(step.decision)
            except (Conflict, NotFound, Refused):
                continue  # one of them has changed: the next run sees what it says now
            done.append(step)
    return done


def _groups(memories: Sequence[Memory]) -> list[list[Memory]]:
    """Memories of one kind, scope and title that say the same, or of which one says all.

    Two that a person brought back, or kept apart, are never in one group.
    """
    alike: dict[tuple[str, str, tuple[str, ...]], list[Memory]] = {}
    for memory in memories:
        alike.setdefault((memory.kind, memory.scope, key(memory.title)), []).append(memory)
    groups: list[list[Memory]] = []
    for found in alike.values():
        begun: list[list[Memory]] = []
        # The fullest text first, so that whatever it holds finds it.
        for memory in sorted(found, key=lambda each: (-len(key(each.text)), *_age(each))):
            for group in begun:
                if holds(group[0].text, memory.text) and mergeable([*group, memory]):
                    group.append(memory)
                    break
            else:
                begun.append([memory])
        groups += begun
    return [group for group in groups if len(group) > 1]


def _age(memory: Memory) -> tuple[datetime, str]:
    return memory.created, memory.id


def mergeable(memories: Sequence[Memory]) -> bool:
    """Whether no two of these were restored, kept apart by a person, or are in conflict."""
    ids = {memory.id for memory in memories}
    return not any(ids & {*each.distinct, *each.conflicts} - {each.id} for each in memories)


def _whole_texts(memories: Sequence[Memory], store: Store) -> dict[str, Memory]:
    """Memories as they were before they faded: what is merged is made from originals."""
    kept = store.histories({each.id for each in memories if each.phase is not Phase.FULL})
    return {
        each.id: whole(each, [version.memory for version in kept.get(each.id, ())])
        for each in memories
    }


def _merge(
    group: list[Memory], stored: dict[str, Stored], texts: Mapping[str, Memory]
) -> ConsolidationStep:
    best, *others = sorted(group, key=worth, reverse=True)
    fullest = max(group, key=lambda each: len(key(texts[each.id].text)))
    content = texts[fullest.id].text if fullest is not best else ""
    if content and same(content, texts[best.id].text):
        content = ""
    ids = tuple(each.id for each in others)
    return ConsolidationStep(
        id=best.id,
        action="merge",
        ids=ids,
        reason=f"{len(group)} memories say the same",
        decision=Merge(best.id, ids, content, {each.id: stored[each.id].etag for each in group}),
        scope=best.scope,
    )


def _archive(stored: Stored) -> ConsolidationStep:
    return ConsolidationStep(
        id=stored.memory.id,
        action="archive",
        ids=(),
        reason="it has been out of date for as long as it was in date",
        decision=Reduce(stored.memory.id, Phase.ARCHIVED, expected=stored.etag),
        scope=stored.memory.scope,
    )


def worth(memory: Memory) -> tuple[bool, bool, int, int, int, datetime, str]:
    """Whose wording stays: what a person pinned or said, what matters and was seen most, newest."""
    return (
        memory.pinned,
        memory.source.trust is Trust.USER,
        memory.impact.rank,
        memory.observations,
        -int(memory.phase),
        memory.confirmed,
        memory.id,
    )


def _is_outdated(memory: Memory, used: datetime | None, store: Store, now: datetime) -> bool:
    """Whether a memory of a fading kind is hidden, and was not used for twice the time it took
    to fade."""
    kind = store.kinds[memory.kind]
    if not kind.fades_days or is_spared(memory) or not is_hidden(memory, kind, now):
        return False
    since = max(memory.created, memory.confirmed, used or memory.created)
    return (now - since).total_seconds() > 2 * kind.fades_days * 86_400
