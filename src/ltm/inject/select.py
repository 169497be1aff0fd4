"""Which memories the next session is told, and in what order. Pure.

Owns what may be shown at all (in force, still believed, not archived), the order, the rule that a
project's memory beats the agent's, and the filling of a budget. Imports core and `said`.
"""

from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from datetime import datetime
from math import ceil
from typing import NamedTuple

from ltm import policy
from ltm.inject.render import at_least, units
from ltm.kinds import Kinds
from ltm.model import Impact, Memory, Phase, Scope, Status, Stored, Usage
from ltm.text.display import estimate
from ltm.text.similarity import jaccard, tokens_of

Writer = Callable[[Stored, bool], str]
"""A memory as it will be written; told whether it is the first of its kind, which may need a
heading."""

LEAST = 12
"""Characters without which no memory can be told; with less room left, nothing more is tried."""


class Selection(NamedTuple):
    """What is shown, most important first, and what the reader can still ask for."""

    shown: tuple[Stored, ...]
    left_out: tuple[Stored, ...]
    """All other active memories the reader does not know: a search finds them."""


def select(
    memories: Sequence[Stored],
    usage: Mapping[str, Usage],
    *,
    kinds: Kinds,
    now: datetime,
    sessions: int,
    budget_tokens: int,
    max_chars: int,
    written: Writer,
    already_shown: Container[str] = frozenset(),
) -> Selection:
    """The most important memories that fit; one that does not fit is passed over for the next.

    `already_shown` are ids the reader has before its eyes anyway: they are neither shown nor left
    out, but a project's memory among them still beats the agent's.
    """
    active = {each.memory.id: each for each in memories if _in_force(each.memory, kinds)}
    candidates = showable(active.values(), kinds, now)
    beats = Precedence(candidates, kinds).overrules
    new = [each for each in candidates if each.memory.id not in already_shown]
    shown: dict[str, Stored] = {}
    begun: set[str] = set()
    for each in sorted(new, key=lambda each: _order(each.memory, usage, kinds, sessions)):
        if budget_tokens < 1 or max_chars < LEAST:
            break
        if at_least(each.memory) > max_chars:
            continue
        text = written(each, each.memory.kind not in begun)
        chars = units(text)
        if chars > max_chars or (tokens := estimate(text)) > budget_tokens or beats(each.memory):
            continue
        max_chars -= chars
        budget_tokens -= tokens
        begun.add(each.memory.kind)
        shown[each.memory.id] = each
    left = [each for name, each in active.items() if not (name in shown or name in already_shown)]
    return Selection(tuple(shown.values()), tuple(left))


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


def disputes(memories: Iterable[Stored]) -> dict[str, list[Stored]]:
    """Groups of memories in force that are in conflict, newest first, by the id of the newest.

    A memory in conflict with two others makes one group of all three.
    """
    found = {each.memory.id: each for each in memories if each.memory.status is Status.ACTIVE}
    group_of: dict[str, list[Stored]] = {}
    for each in found.values():
        for name in each.memory.conflicts:
            if name not in found:
                continue
            one = group_of.setdefault(each.memory.id, [each])
            two = group_of.setdefault(name, [found[name]])
            if one is not two:
                one += two
                for other in two:
                    group_of[other.memory.id] = one
    groups = {id(group): group for group in group_of.values()}.values()
    ordered = [
        sorted(group, key=lambda each: said_at(each.memory), reverse=True) for group in groups
    ]
    return {group[0].memory.id: group for group in ordered}


class Precedence:
    """The rule that a project's memory beats one of the agent that speaks about the same."""

    def __init__(self, memories: Iterable[Stored], kinds: Kinds) -> None:
        self._kinds = kinds
        self._project: defaultdict[str, list[Memory]] = defaultdict(list)
        for each in memories:
            if each.memory.scope is Scope.PROJECT:
                self._project[each.memory.kind].append(each.memory)
        self._holders: dict[str, dict[str, list[Memory]]] = {}

    def overrules(self, memory: Memory) -> bool:
        """Whether a memory is the agent's, and the project has one that takes its place."""
        if memory.scope is Scope.PROJECT or memory.kind not in self._project:
            return False
        holders = self._holders_of(memory.kind)
        words = tokens_of(memory.text)
        least = self._kinds[memory.kind].duplicate
        # Sets that overlap enough share at least `must` of our words, so at least one of any
        # len - must + 1: comparing the holders of the rarest that many misses nothing.
        must = max(1, ceil(least * len(words) - 1e-9))
        rare = sorted(words, key=lambda word: len(holders.get(word, ())))
        near = {
            other.id: other
            for word in rare[: len(words) - must + 1]
            for other in holders.get(word, ())
            if jaccard(words, tokens_of(other.text)) >= least
        }
        if not near:
            return False
        from ltm.text.sameness import Sameness, judge  # rarely needed, and this is a hook's way

        apart = (Sameness.ALIKE, Sameness.OTHER)
        return any(judge(each.text, memory.text).relation not in apart for each in near.values())

    def _holders_of(self, kind: str) -> dict[str, list[Memory]]:
        """For every word, the project's memories of a kind that hold it."""
        found = self._holders.get(kind)
        if found is None:
            found = self._holders[kind] = {}
            for memory in self._project[kind]:
                for word in tokens_of(memory.text):
                    found.setdefault(word, []).append(memory)
        return found


def importance(memory: Memory) -> int:
    """The rank of a memory's impact, a pinned one counting as critical."""
    return Impact.CRITICAL.rank if memory.pinned else memory.impact.rank


def _in_force(memory: Memory, kinds: Kinds) -> bool:
    return memory.status is Status.ACTIVE and memory.phase < Phase.ARCHIVED and memory.kind in kinds


def said_at(memory: Memory) -> tuple[datetime, str]:
    """When it was said, in an order that has no ties."""
    return memory.created, memory.id


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
