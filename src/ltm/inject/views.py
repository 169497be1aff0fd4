"""Memories as Markdown that lies in a file: MEMORY.md, and the block inside CLAUDE.md or AGENTS.md.

Both depend on nothing but the memories and the day: no counters, no usage, no date of writing. So
the same memories give the same bytes on every machine, and two branches disagree about few lines.
Pure; imports core and this package.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from ltm.core import policy
from ltm.core.kinds import Kind, Kinds
from ltm.core.markers import END, NOTE, START
from ltm.core.model import Memory, Stored, Trust
from ltm.inject.fence import harmless_in_file
from ltm.inject.said import FULL, say, say_disputed, short_id, shorten
from ltm.inject.select import disputes, importance, showable
from ltm.inject.shares import share_out

MAX_LINES = 150
"""Lines of the block, marks, headings and footer included."""

MEMORY_LINES = 200
MEMORY_CHARS = 25_000
"""The most of a MEMORY.md that a client loads; what is beyond would be cut off unseen."""

LINE = 120
"""Characters of a line in the block."""

TITLE = "## Project memory"
FOOTER = "_More: the recall tool or `ltm recall WORDS`. One in full: get_memory or `ltm show ID`._"
_OPENING = 2  # a blank line and the heading


@dataclass(frozen=True, slots=True)
class KindSection:
    """The memories of one kind that may be shown, the most important first."""

    kind: Kind
    memories: Sequence[Memory]
    rivals: Mapping[str, Sequence[Memory]] = field(default_factory=dict)
    """Of a memory in conflict, it and the others, newest first, by its id."""

    @property
    def heading(self) -> str:
        """The kind's heading."""
        return harmless_in_file(self.kind.heading)


def memory_md(memories: Iterable[Stored], kinds: Kinds, now: datetime) -> str:
    """The memories that may be shown, one line each, in sections; kinds with tiers by tier.

    As many as a client loads, each kind its share; a section says how many more there are.
    """
    sections = _sections(memories, kinds, now)
    rooms = range(MEMORY_LINES + 1)
    first_too_long = bisect_left(rooms, True, key=lambda room: _too_long(_document(sections, room)))
    return _document(sections, max(0, first_too_long - 1))


def _too_long(text: str) -> bool:
    return text.count("\n") > MEMORY_LINES or len(text) > MEMORY_CHARS


def _document(sections: Sequence[KindSection], room: int) -> str:
    """MEMORY.md with so many lines shared out among its sections."""
    needs = [len(each.memories) for each in sections]
    given = share_out(needs, [each.kind.lines for each in sections], room, _OPENING)
    lines = ["# Memory", "", f"{NOTE} {FOOTER}"]
    for section, most in zip(sections, given, strict=True):
        shown = replace(section, memories=section.memories[:most])
        hidden = len(section.memories) - most
        lines += ["", f"## {section.heading}", *(_tiers(shown) if section.kind.tiers else [])]
        if not section.kind.tiers:
            lines += ["", *(_line(memory, section, FULL) for memory in shown.memories)]
        if hidden:
            lines.append(f"- _…and {hidden} more: `ltm list --kind {section.kind.name}`_")
    return "\n".join(lines) + "\n"


def block(
    memories: Iterable[Stored], kinds: Kinds, now: datetime, max_lines: int = MAX_LINES
) -> str:
    """The same within `max_lines` lines, marks included: a line per memory, a share per kind.

    What was only observed a few times is left to MEMORY.md and to recall.
    """
    sections = [each for each in _sections(memories, kinds, now) if _settled(each)]
    head, foot = [START, TITLE, NOTE], ["", FOOTER, END]
    room = max_lines - len(head) - len(foot)
    given = share_out(
        [len(_settled(each)) + (len(_settled(each)) < len(each.memories)) for each in sections],
        [each.kind.lines for each in sections],
        room,
        _OPENING,
    )
    body: list[str] = []
    for section, lines in zip(sections, given, strict=True):
        if lines:
            body += ["", f"### {section.heading}", *_within(section, lines)]
    return "\n".join([*head, *body, *foot] if body else [START, END])


def _sections(memories: Iterable[Stored], kinds: Kinds, now: datetime) -> list[KindSection]:
    found: dict[str, list[Memory]] = {kind.name: [] for kind in kinds}
    shown = showable(memories, kinds, now)
    groups = disputes(shown)
    told_with = {each.memory.id for group in groups.values() for each in group[1:]}
    for each in shown:
        if each.memory.id not in told_with:
            found[each.memory.kind].append(each.memory)
    rivals = {name: tuple(each.memory for each in group) for name, group in groups.items()}
    return [
        KindSection(
            kind, sorted(found[kind.name], key=_newest if kind.newest else _weightiest), rivals
        )
        for kind in kinds
        if found[kind.name]
    ]


def _newest(memory: Memory) -> tuple[float, str]:
    return -memory.created.timestamp(), memory.id


def _weightiest(memory: Memory) -> tuple[int, int, float, str]:
    seen = max(memory.created, memory.confirmed)
    return -importance(memory), -memory.observations, -seen.timestamp(), memory.id


def _line(memory: Memory, section: KindSection, most: int) -> str:
    """`- text [id]`, with its date if only the newest of its kind are shown.

    Memories that do not agree stand on one line, newest first, with a question mark.
    """
    kind, rivals = section.kind, section.rivals.get(memory.id)
    before = f"- {memory.created:%Y-%m-%d}: " if kind.newest and not rivals else "- "
    after = f" [{short_id(memory)}]" if not rivals else f" [? {' '.join(map(short_id, rivals))}]"
    if rivals:
        room = max(most, 2 * LINE) - len(before) - len(after)
        return before + say_disputed(rivals, kind, harmless_in_file, room).text + after
    said = say(memory, kind, harmless_in_file)
    return before + shorten(said.text, most - len(before) - len(after)) + after


def _tiers(section: KindSection) -> list[str]:
    """The memories under a heading for each tier, the firmest first."""
    lines: list[str] = []
    for tier in reversed(policy.TIERS):
        of_tier = [
            memory
            for memory in section.memories
            if policy.tier(memory.observations, section.kind) == tier
        ]
        if of_tier:
            lines += ["", f"### {tier.capitalize()} confidence", ""]
            lines += [_line(memory, section, FULL) for memory in of_tier]
    return lines


def _settled(section: KindSection) -> Sequence[Memory]:
    """Those firm enough for the block: said by the user, important, or seen often enough."""
    tiers = section.kind.tiers
    return [
        memory
        for memory in section.memories
        if not tiers
        or memory.observations >= tiers[-1]
        or memory.source.trust is Trust.USER
        or policy.is_spared(memory)
    ]


def _within(section: KindSection, lines: int) -> list[str]:
    """The section's memories in so many lines, the last one saying how many more there are."""
    settled = _settled(section)
    total = len(section.memories)
    room = lines if total <= lines and len(settled) == total else lines - 1
    shown = [_line(memory, section, LINE) for memory in settled[:room]]
    hidden = total - len(shown)
    return [*shown, f"- _…and {hidden} more_"] if hidden else shown
