"""Which memories the next session is told, and in what order. Pure.

Owns what may be shown at all (in force, still believed, not archived), the order, the rule that a
project's memory beats the agent's, and the filling of a budget. Imports core only.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import ceil

from ltm.core import policy
from ltm.core.kinds import Kinds
from ltm.core.model import Impact, Memory, Phase, Scope, Status, Stored, Usage
from ltm.core.similar import jaccard, tokens_of

Cost = Callable[[Stored, bool], tuple[int, int]]
"""Tokens and characters a memory takes; told whether it is the first of its kind, which may need a
heading."""

LEAST = 12
"""Characters without which no memory can be told; with less room left, nothing more is tried."""


@dataclass(frozen=True, slots=True)
class Selection:
    """What is shown, most important first, and what the reader can still ask for."""

    shown: tuple[Stored, ...]
    left_out: tuple[Stored, ...]
    """Active memories that are neither shown nor known to the reader already."""


def select(
    memories: Sequence[Stored],
    usage: Mapping[str, Usage],
    *,
    kinds: Kinds,
    now: datetime,
    sessions: int,
    budget_tokens: int,
    max_chars: int,
    cost: Cost,
    already_shown: Container[str] = frozenset(),
) -> Selection:
    """The most important memories that fit; one that does not fit is passed over for the next.

    `already_shown` are ids the reader has before its eyes anyway: they are neither shown nor left
    out, but a project's memory among them still beats the agent's.
    """
    active = [each for each in memories if _in_force(each.memory, kinds)]
    candidates = showable(active, kinds, now)
    beaten = overruled(candidates, kinds)
    known = {
        each.memory.id
        for each in active
        if each.memory.id in beaten or each.memory.id in already_shown
    }
    wanted = [each for each in candidates if each.memory.id not in known]
    wanted.sort(key=lambda each: _order(each.memory, usage, kinds, sessions))
    shown = _fill(wanted, budget_tokens, max_chars, cost)
    told = known | {each.memory.id for each in shown}
    return Selection(tuple(shown), tuple(each for each in active if each.memory.id not in told))


def showable(memories: Iterable[Stored], kinds: Kinds, now: datetime) -> list[Stored]:
    """The memories that may be shown unasked, in the order given.

    Active, not archived, still believed; of a kind that only shows its newest, only those.
    """
    found: list[Stored] = []
    of_kind: defaultdict[str, list[Memory]] = defaultdict(list)
    for each in memories:
        memory = each.memory
        if _in_force(memory, kinds) and not policy.is_hidden(memory, kinds[memory.kind], now):
            found.append(each)
            if kinds[memory.kind].newest:
                of_kind[memory.kind].append(memory)
    too_old = {
        memory.id
        for kind, group in of_kind.items()
        for memory in sorted(group, key=_newest_first)[kinds[kind].newest :]
    }
    return [each for each in found if each.memory.id not in too_old]


def overruled(memories: Iterable[Stored], kinds: Kinds) -> frozenset[str]:
    """Ids of agent memories that speak about the same as one of the project, which holds here."""
    project: defaultdict[str, list[Memory]] = defaultdict(list)
    agent: defaultdict[str, list[Memory]] = defaultdict(list)
    for each in memories:
        memory = each.memory
        (project if memory.scope is Scope.PROJECT else agent)[memory.kind].append(memory)
    return frozenset(
        memory.id
        for kind in agent.keys() & project.keys()
        for memory in _similar(agent[kind], project[kind], kinds[kind].duplicate)
    )


def importance(memory: Memory) -> int:
    """The rank of a memory's impact, a pinned one counting as critical."""
    return Impact.CRITICAL.rank if memory.pinned else memory.impact.rank


def _in_force(memory: Memory, kinds: Kinds) -> bool:
    return memory.status is Status.ACTIVE and memory.phase < Phase.ARCHIVED and memory.kind in kinds


def _newest_first(memory: Memory) -> tuple[float, str]:
    return -memory.created.timestamp(), memory.id


def _order(
    memory: Memory, usage: Mapping[str, Usage], kinds: Kinds, sessions: int
) -> tuple[int, int, float, float, str]:
    used = usage.get(memory.id)
    since, uses = (0, 0) if used is None else (sessions - used.last_session, used.uses)
    return (
        -importance(memory),
        kinds.order(memory.kind),
        -policy.priority(memory.difficulty, since, uses),
        -max(memory.created, memory.confirmed).timestamp(),
        memory.id,
    )


def _fill(wanted: Sequence[Stored], tokens: int, chars: int, cost: Cost) -> list[Stored]:
    shown: list[Stored] = []
    begun: set[str] = set()
    for each in wanted:
        if tokens < 1 or chars < LEAST:
            break
        needs_tokens, needs_chars = cost(each, each.memory.kind not in begun)
        if needs_tokens <= tokens and needs_chars <= chars:
            tokens -= needs_tokens
            chars -= needs_chars
            begun.add(each.memory.kind)
            shown.append(each)
    return shown


def _similar(ours: Sequence[Memory], theirs: Sequence[Memory], least: float) -> list[Memory]:
    """Those of ours whose words overlap with any of theirs by at least this share."""
    holders: defaultdict[str, list[frozenset[str]]] = defaultdict(list)
    for memory in theirs:
        words = tokens_of(memory.text)
        for word in words:
            holders[word].append(words)
    found = []
    for memory in ours:
        words = tokens_of(memory.text)
        # Sets that overlap enough share at least `must` of our words, so at least one of any
        # len - must + 1: comparing the holders of the rarest that many misses nothing.
        must = max(1, ceil(least * len(words) - 1e-9))
        rare = sorted(words, key=lambda word: len(holders.get(word, ())))[: len(words) - must + 1]
        if any(jaccard(words, other) >= least for word in rare for other in holders.get(word, ())):
            found.append(memory)
    return found
