"""MEMORY.md and the block: the right sections, one line each, and a hard number of lines."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ltm.files.block import END, START
from ltm.inject.memory_md import LINE, block, memory_md
from ltm.model import Impact, Scope, Source, Stored, Trust
from tests.effort import examples
from tests.inject.samples import KINDS, NOW, any_stored, stored


def headings(text: str) -> list[str]:
    return [line for line in text.split("\n") if line.startswith("#")]


def test_memory_md_has_a_section_for_every_kind_there_is() -> None:
    memories = [stored(f"one {kind.name}", kind=kind.name) for kind in KINDS]
    sections = [f"## {kind.heading}" for kind in KINDS]
    assert [
        line for line in headings(memory_md(memories, KINDS, NOW)) if line[2] == " "
    ] == sections


def test_preferences_stand_by_how_often_they_were_seen() -> None:
    """traps 2.2 #12: two observations are low, whatever an example says."""
    memories = [
        stored(f"seen {times} times", kind="preference", observations=times)
        for times in (1, 2, 3, 4, 5, 12)
    ]
    text = memory_md(memories, KINDS, NOW)
    section = text[text.index("## Preferences") :]
    lines = [line.partition(" [")[0] for line in section.split("\n") if line]
    assert lines == [
        "## Preferences",
        "### High confidence",
        "- seen 12 times",
        "- seen 5 times",
        "### Medium confidence",
        "- seen 4 times",
        "- seen 3 times",
        "### Low confidence",
        "- seen 2 times",
        "- seen 1 times",
    ]


def test_the_last_five_episodes_stand_with_their_dates_newest_first() -> None:
    episodes = [
        stored(f"episode {day}", kind="episode", created=NOW - timedelta(days=day))
        for day in range(1, 9)
    ]
    for text in (memory_md(episodes, KINDS, NOW), block(episodes, KINDS, NOW)):
        lines = [line.partition(" [")[0] for line in text.split("\n") if line.startswith("- ")]
        assert lines == [f"- 2026-11-{15 - day}: episode {day}" for day in range(1, 6)]


@pytest.mark.parametrize("words", [3, 60])
def test_memory_md_is_as_long_as_a_client_loads_it_and_says_what_is_left_out(words: int) -> None:
    kinds = ("decision", "preference", "gotcha")
    memories = [
        stored(f"number {n} {'word ' * words}", kind=kinds[n % 3], observations=1 + n % 7)
        for n in range(600)
    ]
    critical = stored("the one that counts", kind="gotcha", impact=Impact.CRITICAL)
    text = memory_md([*memories, critical], KINDS, NOW)
    lines = text.splitlines()
    assert len(lines) <= 200
    assert len(text) <= 25_000
    assert len(lines) > 190 or len(text) > 24_000, "and no shorter than it has to be"
    assert "the one that counts" in text
    more = [int(each.split()[2]) for each in lines if each.startswith("- _…and ")]
    shown = [each for each in lines if each.startswith("- ") and "_…and" not in each]
    assert len(more) == 3
    assert sum(more) + len(shown) == 601


def test_what_is_not_told_unasked_stands_in_no_view() -> None:
    hidden = [
        stored("faded", kind="progress", created=NOW - timedelta(days=6)),
        stored("doubted", confidence=0.2),
    ]
    text = memory_md(hidden, KINDS, NOW) + block(hidden, KINDS, NOW)
    assert "faded" not in text
    assert "doubted" not in text


def test_exactly_three_tenths_of_confidence_stands() -> None:
    """traps 2.4 #14."""
    assert "borderline" in block([stored("borderline", confidence=0.3)], KINDS, NOW)


def test_the_block_stands_between_the_marks_with_a_line_per_memory() -> None:
    important = stored("Never push to main", impact=Impact.CRITICAL, id="mem_00000000000aaa111")
    plain = stored("Use uv", id="mem_00000000000bbb222")
    lines = block([plain, important], KINDS, NOW).split("\n")
    assert (lines[0], lines[-1]) == (START, END)
    place = lines.index("### Facts")
    assert lines[place + 1 : place + 3] == ["- Never push to main [aaa111]", "- Use uv [bbb222]"]
    assert "not instructions" in lines[2]


def test_without_memories_only_the_marks_are_left() -> None:
    assert block([], KINDS, NOW) == f"{START}\n{END}"


def test_a_behaviour_seen_only_a_few_times_is_left_to_memory_md() -> None:
    watched = Source(trust=Trust.ASSISTANT)
    memories = [
        stored("guessed once", kind="preference", source=watched),
        stored("seen often", kind="preference", source=watched, observations=5),
        stored("said by the user", kind="preference"),
    ]
    text = block(memories, KINDS, NOW)
    assert "guessed" not in text
    assert "seen often" in text
    assert "said by the user" in text
    assert "- _…and 1 more_" in text


def test_a_block_of_six_full_kinds_has_150_lines_and_not_163() -> None:
    """traps 2.4 #9: the shares add up to 140 lines, headings and the rest come on top."""
    kinds = ("architecture", "decision", "pattern", "gotcha", "progress", "context")
    memories = [stored(f"{kind} {n}", kind=kind) for kind in kinds for n in range(60)]
    lines = block(memories, KINDS, NOW).split("\n")
    assert len(lines) == 150
    for kind in kinds:
        place = lines.index(f"### {KINDS[kind].heading}")
        section = lines[place + 1 : lines.index("", place)]
        assert len(section) >= KINDS[kind].lines * 0.85
        assert section[-1] == f"- _…and {60 - len(section) + 1} more_"


def test_the_share_a_kind_does_not_need_goes_to_those_over_theirs() -> None:
    few = [stored(f"architecture {n}", kind="architecture") for n in range(3)]
    many = [stored(f"gotcha {n}", kind="gotcha") for n in range(200)]
    lines = block([*few, *many], KINDS, NOW).split("\n")
    assert len(lines) == 150
    assert sum("- architecture" in line for line in lines) == 3
    assert sum("- gotcha" in line for line in lines) > 100 > KINDS["gotcha"].lines


@settings(max_examples=examples(100))
@given(any_stored, st.integers(0, 60))
def test_no_block_is_ever_longer_or_wider_than_allowed(
    memories: list[Stored], max_lines: int
) -> None:
    text = block(memories, KINDS, NOW, max_lines)
    assert len(text.splitlines()) == len(text.split("\n")) <= max(2, max_lines)
    assert all(len(line) <= LINE for line in text.split("\n"))


@pytest.mark.parametrize("count", [1, 10, 149, 150, 151, 400, 3000])
def test_any_number_of_memories_fits(count: int) -> None:
    names = [kind.name for kind in KINDS]
    memories = [stored(f"memory {n}", kind=names[n % len(names)]) for n in range(count)]
    assert len(block(memories, KINDS, NOW).split("\n")) <= 150


@given(any_stored, st.randoms())
def test_views_depend_on_the_memories_alone(memories: list[Stored], random: object) -> None:
    """No order of listing, no usage, no time of writing: two machines write the same bytes."""
    shuffled = list(memories)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    later = NOW + timedelta(seconds=1)
    assert memory_md(shuffled, KINDS, NOW) == memory_md(memories, KINDS, NOW)
    assert block(shuffled, KINDS, NOW) == block(memories, KINDS, NOW)
    steady = [each for each in memories if not KINDS[each.memory.kind].fades_days]
    steady = [each for each in steady if not KINDS[each.memory.kind].resolved_days]
    assert block(steady, KINDS, later) == block(steady, KINDS, NOW)


def test_a_long_memory_ends_at_a_word() -> None:
    line = next(
        line
        for line in block([stored("word " * 99, title="word")], KINDS, NOW).split("\n")
        if line.startswith("- ")
    )
    assert line[: line.index(" [")].endswith("word …")
    assert len(line) <= LINE


def test_agent_memories_are_views_of_their_own() -> None:
    mine = stored("Greet me in French", scope=Scope.AGENT)
    assert "French" in memory_md([mine], KINDS, NOW)
