"""What upkeep would do now: a list of actions, worked out from a store without changing anything.

Four rules, in this order, and at most one step for a memory in one run:

1. revive: a memory that was used since it was shortened, or was made critical or pinned, gets its
   whole text back.
2. archive: a memory that reached its kind's last state longer ago than the kind allows leaves the
   active set.
3. fade: a memory that sat idle for more active days than its impact allows goes one phase on. Idle
   time counts from the latest of first sight, last use, last confirmation and last step, so the
   next phase needs another full allowance, and a run straight after finds nothing to do.
4. evict: while a vault holds more active memories than it should, the batch with the lowest
   priorities of them all goes one phase on, once in a session. A member of the batch that fades
   anyway in this run takes that one step; one that revives does not give way in this session.

Critical and pinned memories are spared by 2 to 4, though they count for the size of the vault.
Nothing here counts as a use of a memory. Imports core, the store's port and `eviction`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from ltm.core.counting import counted
from ltm.core.model import Filter, Phase, Scope, Stored, Usage
from ltm.core.policy import Limits, idle_allowance, is_over, is_spared, priority
from ltm.upkeep.eviction import EvictionCandidate, choose

if TYPE_CHECKING:
    from ltm.storage.config import Config
    from ltm.storage.store import Store

ACTIVE = Filter(phases=(Phase.FULL, Phase.HINT, Phase.ABSTRACT))
"""The active set: in force, and not archived."""

REVIVE, ARCHIVE, FADE, EVICT = ORDER = ("revive", "archive", "fade", "evict")


@dataclass(frozen=True, slots=True)
class Action:
    """One step of one memory, and why."""

    id: str
    action: str
    from_phase: Phase
    to_phase: Phase
    reason: str
    vault: str
    etag: str
    """The memory as it was looked at: if it changes meanwhile, the step is not taken."""
    scope: Scope

    @property
    def leaving(self) -> int:
        """How many memories the step puts out of use."""
        return int(self.to_phase is Phase.ARCHIVED)

    @property
    def rationed(self) -> bool:
        """Whether it is one of a batch, of which there is one in a session."""
        return self.action == EVICT

    def as_record(self) -> dict[str, Any]:
        """The action in the fields scripts read."""
        return {
            "id": self.id,
            "action": self.action,
            "from": int(self.from_phase),
            "to": int(self.to_phase),
            "reason": self.reason,
        }


def limits_of(config: Config) -> Mapping[Scope, Limits]:
    """The limits in a person's options; a repository has no say over an agent's own memories."""
    return {
        scope: Limits(
            max_memories=option("max_memories"),
            eviction_batch_size=option("eviction_batch_size"),
            low_days=option("fade_days.low"),
            medium_days=option("fade_days.medium"),
            high_days=option("fade_days.high"),
            eviction=option("eviction"),
        )
        for scope, option in ((Scope.PROJECT, config.get), (Scope.AGENT, config.own))
    }


def plan(
    store: Store, *, now: datetime, limits: Mapping[Scope, Limits] | None = None
) -> list[Action]:
    """The actions that are due now, in the order of the rules."""
    bounds = limits or {scope: Limits() for scope in Scope}
    in_force = _in_question(store)
    usage = store.usage([each.memory.id for each in in_force])
    steps: dict[str, Action] = {}
    for stored in in_force:
        step = _due(store, stored, usage.get(stored.memory.id, Usage()), bounds, now)
        if step is not None:
            steps[step.id] = step
    for vault in dict.fromkeys(each.vault for each in in_force):
        if store.batch_taken(vault):
            continue
        staying = [
            each
            for each in in_force
            if each.vault == vault and _phase_after(each, steps) is not Phase.ARCHIVED
        ]
        for step in _batch(staying, usage, bounds, steps):
            fading = steps.pop(step.id, None)
            reason = step.reason if fading is None else f"{fading.reason}; {step.reason}"
            steps[step.id] = replace(step, reason=reason)
    return sorted(steps.values(), key=lambda step: ORDER.index(step.action))


def _in_question(store: Store) -> list[Stored]:
    """The active set, and what is archived but may come back: a year later the rest of the archive
    is most of what there is."""
    again = Filter(phases=(Phase.ARCHIVED,), ids=tuple(store.used_again()))
    spared = Filter(phases=(Phase.ARCHIVED,), spared=True)
    found = (store.list(wanted).items for wanted in (ACTIVE, again, spared))
    return list({each.memory.id: each for items in found for each in items}.values())


def _due(
    store: Store, stored: Stored, usage: Usage, bounds: Mapping[Scope, Limits], now: datetime
) -> Action | None:
    """The step that rules 1 to 3 ask of a memory."""
    memory = stored.memory
    if memory.phase is not Phase.FULL and (usage.uses_since > 0 or is_spared(memory)):
        used = f"used {counted(usage.uses_since, 'time')} since it was shortened"
        reason = "critical and pinned memories are kept whole" if is_spared(memory) else used
        return _step(stored, REVIVE, Phase.FULL, reason)
    if memory.phase is Phase.ARCHIVED or is_spared(memory):
        return None
    return _ended(store, stored, now) or _faded(store, stored, usage, bounds[memory.scope])


def _ended(store: Store, stored: Stored, now: datetime) -> Action | None:
    memory = stored.memory
    kind = store.kinds[memory.kind]
    if not is_over(memory, kind, now):
        return None
    reason = f"{memory.state} more than {kind.resolved_days:g} days ago"
    return _step(stored, ARCHIVE, Phase.ARCHIVED, reason)


def _faded(store: Store, stored: Stored, usage: Usage, limits: Limits) -> Action | None:
    memory = stored.memory
    allowance = idle_allowance(memory.impact, limits)
    if allowance is None or usage.idle_days <= allowance:
        return None
    idle = min(usage.idle_days, store.active_days_since(memory.confirmed))
    if idle <= allowance:
        return None
    days = counted(idle, "active day")
    reason = f"idle for {days}, and its impact ({memory.impact}) allows {allowance}"
    return _step(stored, FADE, Phase(memory.phase + 1), reason)


def _phase_after(stored: Stored, steps: Mapping[str, Action]) -> Phase:
    step = steps.get(stored.memory.id)
    return stored.memory.phase if step is None else step.to_phase


def _batch(
    staying: Sequence[Stored],
    usage: Mapping[str, Usage],
    bounds: Mapping[Scope, Limits],
    steps: Mapping[str, Action],
) -> list[Action]:
    """The steps of a vault's batch, lowest priority first."""
    if not staying:
        return []
    limits = bounds[staying[0].memory.scope]
    if len(staying) <= limits.max_memories:
        return []
    candidates = {
        each.memory.id: (each, _candidate(each, usage.get(each.memory.id, Usage())))
        for each in staying
        if not is_spared(each.memory)
        and not (each.memory.id in steps and steps[each.memory.id].action == REVIVE)
    }
    picked = choose(
        limits.eviction,
        [candidate for _, candidate in candidates.values()],
        limits.eviction_batch_size,
    )
    return [
        _step(
            stored,
            EVICT,
            Phase(stored.memory.phase + 1),
            f"priority {candidate.priority:.2f} is among the lowest of {len(staying)} memories,"
            f" {limits.max_memories} are wanted",
        )
        for stored, candidate in (candidates[each] for each in picked)
    ]


def _candidate(stored: Stored, usage: Usage) -> EvictionCandidate:
    memory = stored.memory
    worth = priority(memory.difficulty, usage.sessions_since, usage.uses)
    return EvictionCandidate(memory, usage, worth)


def _step(stored: Stored, action: str, to: Phase, reason: str) -> Action:
    memory = stored.memory
    return Action(
        memory.id, action, memory.phase, to, reason, stored.vault, stored.etag, memory.scope
    )
