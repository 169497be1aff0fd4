"""The numbers that decide how a memory ages: priority, difficulty, confidence, tier, allowance.

Three questions are kept apart. Confidence: is it still true? Priority: is it worth its place?
Phase: how much of its text is left? Everything here is computed when it is asked for and never
stored, so that no number can be out of date. Pure; imports the standard library and `core.model`.
Worked examples are in `docs/concepts/upkeep.md`, and a test computes every one of them.
"""

from bisect import bisect_right
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from ltm.core.model import Impact, Memory, Phase, Status

if TYPE_CHECKING:
    from ltm.core.kinds import Kind

SHOWN_FROM = 0.3
"""Confidence below this hides a memory from injection; exactly this shows it."""

TIERS = ("low", "medium", "high")

_DAY = 86_400.0


class Limits(NamedTuple):
    """How much a vault may hold, and how long its memories may sit unused."""

    max_memories: int = 100
    eviction_batch_size: int = 10
    low_days: int = 1
    medium_days: int = 7
    high_days: int = 30
    eviction: str = "lowest-priority"
    """Name of the strategy that picks the batch."""


def recency(sessions_since: int) -> float:
    """1 in the session of the last use, half of it in the next, a third in the one after."""
    return 1.0 / (1 + max(0, sessions_since))


def frequency(uses: int) -> float:
    """Grows with each use and is full at ten."""
    return min(1.0, max(0, uses) / 10)


def priority(difficulty: float, sessions_since: int, uses: int) -> float:
    """Whether a memory is worth its place, from 0 to 1: hard to learn, lately used, often used."""
    hard = 0.4 * _share(difficulty)
    return _share(hard + 0.3 * recency(sessions_since) + 0.3 * frequency(uses))


def difficulty(failures: int, successes: int, compacted: bool) -> float:
    """How hard a session was, from 0 to 1: tool failures, amount of work, a full context."""
    failed, done = max(0, failures), max(0, successes)
    tools = failed + done
    rate = failed / tools if tools else 0.0
    return _share(0.5 * rate + 0.3 * min(1.0, tools / 50) + 0.2 * compacted)


def confidence(memory: Memory, kind: "Kind", now: datetime) -> float:
    """How likely a memory still holds; for kinds that fade it falls in a straight line to 0.

    The line begins when the memory was made or last confirmed. A mere edit does not renew it, and
    a clock that went backwards does not make it more than it was. Critical and pinned memories do
    not fade, whatever their kind.
    """
    if kind.fades_days <= 0 or is_spared(memory):
        return _share(memory.confidence)
    age = _days(max(memory.created, memory.confirmed), now)
    left = max(0.0, 1.0 - age / kind.fades_days)
    # Rounded, so that 4.9 of 7 days are exactly 0.3 and not a hair less.
    return round(_share(memory.confidence) * left, 9)


def tier(observations: int, kind: "Kind") -> str:
    """How firmly a behaviour is known by how often it was seen; nothing for kinds without tiers."""
    if not kind.tiers:
        return ""
    return TIERS[min(bisect_right(kind.tiers, observations), len(TIERS) - 1)]


def idle_allowance(impact: Impact, config: Limits) -> int | None:
    """Active days a memory of this impact may sit unused before it fades; None = for ever."""
    return (config.low_days, config.medium_days, config.high_days, None)[impact.rank]


def is_spared(memory: Memory) -> bool:
    """Whether a memory never fades and never gives way."""
    return memory.pinned or memory.impact is Impact.CRITICAL


def is_active(memory: Memory) -> bool:
    """Whether a memory is in use: in force, and not archived."""
    return memory.status is Status.ACTIVE and memory.phase is not Phase.ARCHIVED


def is_over(memory: Memory, kind: "Kind", now: datetime) -> bool:
    """Whether a memory reached its kind's last state more days ago than the kind allows.

    The days count from the last change of the memory, which is at the latest that of its state.
    """
    if kind.resolved_days <= 0 or not kind.states or memory.state != kind.states[-1]:
        return False
    return _days(memory.updated, now) > kind.resolved_days


def is_hidden(memory: Memory, kind: "Kind", now: datetime) -> bool:
    """Whether age keeps a memory from being injected. It stays searchable."""
    return confidence(memory, kind, now) < SHOWN_FROM or is_over(memory, kind, now)


def _days(since: datetime, now: datetime) -> float:
    return max(0.0, (now - since).total_seconds() / _DAY)


def _share(value: float) -> float:
    return max(0.0, min(1.0, value))
