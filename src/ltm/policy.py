"""The rules by which memories age: confidence, priority, tiers, phases.

Three questions are kept apart. Confidence: is it still true? Priority: is it worth its place?
Phase: how much of its text is left? Everything here is computed when it is asked for and never
stored, so that no number can be out of date. Worked examples are in `docs/concepts/upkeep.md`, and
a test computes every one of them.

A phase shortens the content and leaves the summary as it was written. It is always made from the
original and never from another phase, so that it does not matter by which way a memory came to it,
and every step can be undone.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from datetime import datetime

from ltm.model import Impact, Memory, Phase, Status, Trust
from ltm.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ltm.kinds import Kind


SHOWN_FROM = 0.3
"""Confidence below this hides a memory from injection; exactly this shows it."""

TIERS = ("low", "medium", "high")

LINE_CHARS = 500
"""Characters of a memory that a line shows at most; the rest is a question away."""

FRESH_DAYS = 30
"""Days after which half of the value is left that a memory has for being new."""

_DAY = 86_400.0
_WEIGHTS = (1.0, 2.0, 4.0, 8.0)  # of an impact
_OVERHEAD = 12  # tokens of every line, so that three words are not worth more than a sentence


class Limits(NamedTuple):
    """How much a vault may hold, and how long its memories may sit unused."""

    max_memories: int = 100
    eviction_batch_size: int = 10
    low_days: int = 1
    medium_days: int = 7
    high_days: int = 30


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


def confidence(memory: Memory, kind: Kind, now: datetime) -> float:
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


def tier(observations: int, kind: Kind) -> str:
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


def is_stated(memory: Memory) -> bool:
    """Whether a person stated a memory."""
    return memory.source.trust is Trust.USER


def is_rule(memory: Memory, kind: Kind) -> bool:
    """Whether a person stated a memory, of a kind that is about how they want things done."""
    return kind.rule and is_stated(memory)


def importance(memory: Memory) -> int:
    """The rank of a memory's impact, a pinned one counting as critical."""
    return Impact.CRITICAL.rank if memory.pinned else memory.impact.rank


def value(memory: Memory, kind: Kind, now: datetime, uses: int) -> float:
    """What a token of a memory is worth to a session: its impact, and up to four times that for
    what was hard to learn, often used and lately said, by about what its line costs."""
    more = memory.difficulty + frequency(uses)
    more += FRESH_DAYS / (FRESH_DAYS + _days(max(memory.created, memory.confirmed), now))
    believed = confidence(memory, kind, now)
    return _WEIGHTS[importance(memory)] * (1 + more) * believed / _cost(memory)


def worth(memory: Memory) -> float:
    """The part of its value that depends neither on the day nor on its use."""
    return _WEIGHTS[importance(memory)] * _share(memory.confidence) / _cost(memory)


def _cost(memory: Memory) -> float:
    return _OVERHEAD + min(LINE_CHARS, max(len(memory.summary), len(memory.content))) / 4


def is_lasting(memory: Memory, kind: Kind) -> bool:
    """Whether a memory is kept whole however long it is not used: a rule, critical or pinned."""
    return is_spared(memory) or is_rule(memory, kind)


def is_active(memory: Memory) -> bool:
    """Whether a memory is in use: in force, and not archived."""
    return memory.status is Status.ACTIVE and memory.phase is not Phase.ARCHIVED


def is_over(memory: Memory, kind: Kind, now: datetime) -> bool:
    """Whether a memory reached its kind's last state more days ago than the kind allows.

    The days count from the last change of the memory, which is at the latest that of its state.
    """
    if kind.resolved_days <= 0 or not kind.states or memory.state != kind.states[-1]:
        return False
    return _days(memory.updated, now) > kind.resolved_days


def is_hidden(memory: Memory, kind: Kind, now: datetime) -> bool:
    """Whether age keeps a memory from being injected. It stays searchable."""
    return confidence(memory, kind, now) < SHOWN_FROM or is_over(memory, kind, now)


def _days(since: datetime, now: datetime) -> float:
    return max(0.0, (now - since).total_seconds() / _DAY)


def _share(value: float) -> float:
    return max(0.0, min(1.0, value))


# Compiled where one is needed: what is told at a session's start is whole as a rule.
_LINE = r"[^\n]*\n|[^\n]+"
_FENCE = r"[ \t]{0,3}(`{3,}|~{3,})"
_HEADING = r"[ \t]{0,3}#{1,6}(?:[ \t]|$)"


def text_in_phase(content: str, phase: Phase) -> str:
    """What a phase leaves of an original content: all, the first paragraph, or nothing."""
    if phase is Phase.FULL:
        return content
    return first_paragraph(content) if phase is Phase.HINT else ""


def first_paragraph(text: str) -> str:
    """The beginning of a text up to the end of its first paragraph.

    Headings before the paragraph come along, since a heading alone says nothing, and a block of
    code is not cut at an empty line in its middle.
    """
    end = place = 0
    fence = ""
    prose = False
    for line in re.findall(_LINE, text):
        place += len(line)
        if not line.strip() and not fence:
            if prose:
                break
            continue
        end = place
        mark = re.match(_FENCE, line)
        if fence:
            closes = mark is not None and mark[1].startswith(fence)
            fence = "" if closes else fence
        elif mark is not None:
            fence = mark[1]
        prose = prose or not re.match(_HEADING, line)
    return text[:end].rstrip("\r\n")


def original(memory: Memory, kept: Sequence[Memory]) -> tuple[Memory, bool]:
    """A memory with its whole content back, and whether that text is among the kept versions.

    `kept` are the versions in the archive, oldest first. A text that was edited while it was short,
    or whose archive is lost, is the whole text there is: it counts as a new version to be kept.
    """
    whole = [each for each in kept if each.phase is Phase.FULL]
    if memory.phase is Phase.FULL:
        return memory, any(
            (each.version, each.title, each.summary, each.content)
            == (memory.version, memory.title, memory.summary, memory.content)
            for each in whole
        )
    if whole and text_in_phase(whole[-1].content, memory.phase) == memory.content:
        return memory._replace(phase=Phase.FULL, content=whole[-1].content), True
    return memory._replace(phase=Phase.FULL, version=memory.version + len(whole[-1:])), False


def whole(memory: Memory, kept: Sequence[Memory]) -> Memory:
    """A memory with all the text it ever had in its present version, whatever became of it since.

    A tombstone has no text of its own left: the last one kept is what it was.
    """
    if memory.phase is Phase.FULL and memory.text:
        return memory
    texts = [each for each in kept if each.text]  # a kept tombstone says nothing either
    last = memory if memory.text or not texts else texts[-1]
    return original(last, texts)[0]
