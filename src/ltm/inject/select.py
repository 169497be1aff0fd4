"""Which memories the next session is told, why, and in what order. Pure.

The user's rules come first, then where the work stands, then what names the files and branches of
the last days, then the rest by value per token with a share for every kind. A section takes a part
of the room at the most while others want theirs; what is left over goes to what was passed over.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from datetime import datetime
from enum import IntEnum
from math import ceil, inf

from ltm import policy
from ltm.inject.render import at_least, units
from ltm.kinds import Kinds
from ltm.model import Memory, Phase, Scope, Status, Stored, Usage
from ltm.notes.recent import RecentWork
from ltm.record import NamedTuple
from ltm.text.display import estimate, names_file
from ltm.text.similarity import jaccard, tokens_of

LEAST = 12
"""Characters without which no memory can be told; with less room left, nothing more is tried."""


class StartSection(IntEnum):
    """The parts of a session-start text, in their order."""

    RULES = 0
    WORK = 1
    RECENT = 2
    REST = 3


PARTS = {
    StartSection.RULES: 0.45,
    StartSection.WORK: 0.2,
    StartSection.RECENT: 0.2,
    StartSection.REST: 0.15,
}
"""The part of the room that a section takes at the most before every kind has its share; of the
last section that is what is pinned or critical."""

_NO_WORK = RecentWork()
_UNUSED = Usage()
_BY_VALUE = "by value"
_USUAL_BRANCHES = frozenset({"main", "master", "trunk", "develop", "dev"})
_NAMES = 6  # letters of a branch's last part that is more than an accident in a text


class Pick(NamedTuple):
    """A memory that is told, where, and why."""

    stored: Stored
    section: StartSection
    reason: str


Writer = Callable[[Pick], tuple[str, str]]
"""The heading under which a memory will be written ('' = none), and its line."""


class Selection(NamedTuple):
    """What is shown, in the order of the text, and what the reader can still ask for."""

    shown: tuple[Pick, ...]
    left_out: tuple[Stored, ...]
    """All other active memories the reader does not know: a search finds them."""


def select(
    memories: Sequence[Stored],
    usage: Mapping[str, Usage],
    *,
    kinds: Kinds,
    now: datetime,
    budget_tokens: int,
    max_chars: int,
    written: Writer,
    most: int = 0,
    work: RecentWork = _NO_WORK,
    already_shown: Container[str] = frozenset(),
) -> Selection:
    """The memories that fit, `most` at the most unless it is 0; one that does not fit is passed
    over for the next.

    `already_shown` are ids the reader has before its eyes anyway: they are neither shown nor left
    out, but a project's memory among them still beats the agent's.
    """
    active = {each.memory.id: each for each in memories if _in_force(each.memory, kinds)}
    candidates = showable(active.values(), kinds, now)
    new = [each for each in candidates if each.memory.id not in already_shown]
    values = {
        each.memory.id: policy.value(
            each.memory, kinds[each.memory.kind], now, usage.get(each.memory.id, _UNUSED).uses
        )
        for each in new
    }
    new.sort(key=lambda each: (-values[each.memory.id], -_seen(each.memory), each.memory.id))
    beats = Precedence(candidates, kinds).overrules
    room = _Room(budget_tokens, max_chars, most or len(new), written, beats, kinds)
    rest: list[Pick] = []
    before: dict[StartSection, list[Pick]] = {section: [] for section in PARTS}
    touches = Touching(work)
    for each in new:
        memory, kind = each.memory, kinds[each.memory.kind]
        if policy.is_rule(memory, kind):
            pick = Pick(each, StartSection.RULES, "a rule the user stated")
        elif kind.single:
            pick = Pick(each, StartSection.WORK, "where the work stands")
        elif reason := touches.reason(memory):
            pick = Pick(each, StartSection.RECENT, reason)
        elif policy.is_spared(memory):
            pick = Pick(each, StartSection.REST, "pinned" if memory.pinned else "critical")
        else:
            rest.append(Pick(each, StartSection.REST, _BY_VALUE))
            continue
        before[pick.section].append(pick)
    for section in (StartSection.RULES, StartSection.REST):
        before[section].sort(key=_by_weight)
    for section, picks in before.items():
        room.share_out(picks, PARTS[section])
    room.share_out(rest)
    for picks in before.values():
        room.share_out(picks)
    shown = room.shown
    left = [each for name, each in active.items() if not (name in shown or name in already_shown)]
    for name, pick in shown.items():
        if pick.reason is _BY_VALUE:
            memory = pick.stored.memory
            worth = f"{memory.impact} {memory.kind}, value {100 * values[name]:.0f} in 100 tokens"
            shown[name] = pick._replace(reason=worth)
    in_order = sorted(shown.values(), key=lambda pick: _place(pick, kinds))
    return Selection(tuple(in_order), tuple(left))


def shares_of(counts: Mapping[str, int], kinds: Kinds, most: int) -> dict[str, int]:
    """How many memories of each kind, of which there are so many, to choose from, `most` in all:
    each kind as its share of the lines, and what one does not fill is for the others."""
    left = {name: max(1, kinds[name].lines) for name in counts if name in kinds}
    found: dict[str, int] = {}
    for name in sorted(left, key=lambda each: counts[each] / left[each]):
        found[name] = min(counts[name], ceil(most * left[name] / sum(left.values())))
        most -= found[name]
        del left[name]
    return found


def _place(pick: Pick, kinds: Kinds) -> tuple[int, ...]:
    """Where a memory stands in the text: rules by their weight, the rest by kind."""
    if pick.section is StartSection.RULES:
        return pick.section, *_by_weight(pick)
    kind = kinds.order(pick.stored.memory.kind)
    return pick.section, kind if pick.section is StartSection.REST else 0


def _by_weight(pick: Pick) -> tuple[bool, int]:
    return not pick.stored.memory.pinned, -policy.importance(pick.stored.memory)


class _Room:
    """The budget, and what was taken into it."""

    def __init__(
        self,
        tokens: int,
        chars: int,
        most: int,
        written: Writer,
        beats: Callable[[Memory], bool],
        kinds: Kinds,
    ) -> None:
        self.shown: dict[str, Pick] = {}
        self._tokens, self._chars, self._most = tokens, chars, most
        self._all = (tokens, chars)
        self._written, self._beats, self._kinds = written, beats, kinds
        self._begun = {""}
        self._least: dict[str, int] = {}
        self._spent: defaultdict[StartSection | str, list[int]] = defaultdict(lambda: [0, 0])

    def share_out(self, picks: Sequence[Pick], part: float = 1.0) -> None:
        """Take in what fits, the best of each kind first, each kind as its share allows."""
        queues: dict[str, list[Pick]] = {}
        for pick in reversed(picks):
            queues.setdefault(pick.stored.memory.kind, []).append(pick)
        # What each kind has of the room in relation to its share; of equals the first in the table.
        had = {name: self._had(name) for name in sorted(queues, key=self._kinds.order)}
        while had and self._tokens >= 1 and self._chars >= LEAST and len(self.shown) < self._most:
            name = min(had, key=had.__getitem__)
            if self._take(queues[name].pop(), part):
                had[name] = self._had(name)
            if not queues[name]:
                del had[name]

    def _had(self, kind: str) -> float:
        share = self._kinds[kind].lines
        return self._spent[kind][1] / share if share else inf

    def _take(self, pick: Pick, part: float) -> bool:
        """Take a memory in if it fits, and its section into its `part` of the room."""
        memory = pick.stored.memory
        if memory.id in self.shown:
            return False
        tokens_left, chars_left = self._tokens, self._chars
        if part < 1.0:
            spent = self._spent[pick.section]
            tokens_left = min(tokens_left, int(part * self._all[0]) - spent[0])
            chars_left = min(chars_left, int(part * self._all[1]) - spent[1])
        least = self._least.get(memory.id)
        if least is None:  # most are looked at several times
            least = self._least[memory.id] = at_least(memory)
        if tokens_left < 1 or least > chars_left:
            return False
        heading, line = self._written(pick)
        text = f"{line}\n" if heading in self._begun else f"{heading}\n{line}\n"
        chars = units(text)
        if chars > chars_left or (tokens := estimate(text)) > tokens_left or self._beats(memory):
            return False
        self._tokens -= tokens
        self._chars -= chars
        for name in (pick.section, memory.kind):
            self._spent[name][0] += tokens
            self._spent[name][1] += chars
        self._begun.add(heading)
        self.shown[memory.id] = pick
        return True


class Touching:
    """Which memories name a file or a branch of the last days."""

    def __init__(self, work: RecentWork) -> None:
        self._files = [(path.rpartition("/")[2], path) for path in work.files]
        self._branches: list[tuple[str, str]] = []
        for branch in work.branches:
            last = branch.rpartition("/")[2].lower()
            if branch not in _USUAL_BRANCHES and len(last) >= _NAMES:
                self._branches.append((last, branch))

    def names(self) -> list[str]:
        """What a memory must have in its text for that."""
        return [name for name, _ in (*self._files, *self._branches)]

    def reason(self, memory: Memory) -> str:
        """Why a memory belongs to the work of the last days; '' if it does not."""
        text = f"{memory.title} {memory.summary} {memory.content}"
        for name, path in self._files:
            if name in text and names_file(text, path):
                return f"names {path}, changed in the last days"
        if self._branches:
            text = text.lower()
            for last, branch in self._branches:
                if last in text:
                    return f"names the branch {branch}"
        return ""


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
        for memory in sorted(group, key=newest_first)[kinds[kind].newest :]
    }
    return [each for each in found if each.memory.id not in too_old]


def reasons_left_out(
    passed: Sequence[Stored], shown: Sequence[Stored], kinds: Kinds, now: datetime
) -> dict[str, str]:
    """Why memories that were weighed against those shown are not told, by their ids."""
    together = [*shown, *passed]
    told = {each.memory.id for each in showable(together, kinds, now)}
    beats = Precedence(together, kinds).overrules
    reasons: dict[str, str] = {}
    for each in passed:
        memory, kind = each.memory, kinds[each.memory.kind]
        if policy.is_hidden(memory, kind, now):
            believed = policy.confidence(memory, kind, now)
            reasons[memory.id] = f"too old to be told unasked: confidence {believed:.0%}"
        elif memory.id not in told:
            reasons[memory.id] = f"only the newest {kind.newest} of its kind are told"
        elif beats(memory):
            reasons[memory.id] = "a memory of the project takes its place"
        else:
            reasons[memory.id] = "others are worth more of the room"
    return reasons


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


def _in_force(memory: Memory, kinds: Kinds) -> bool:
    return memory.status is Status.ACTIVE and memory.phase < Phase.ARCHIVED and memory.kind in kinds


def said_at(memory: Memory) -> tuple[datetime, str]:
    """When it was said, in an order that has no ties."""
    return memory.created, memory.id


def newest_first(memory: Memory) -> tuple[float, str]:
    """The order of what happened."""
    return -memory.created.timestamp(), memory.id


def _seen(memory: Memory) -> float:
    return max(memory.created, memory.confirmed).timestamp()
