"""What the client's own files already say is recognised, and what they no longer say is not."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from ltm.files.block import place_block
from ltm.inject.instruction_files import carried
from ltm.inject.memory_md import block, memory_md
from ltm.model import Impact, Stored
from tests.effort import examples
from tests.inject.samples import KINDS, NOW, any_stored, stored

PUSH = stored("Never push to main.")


@pytest.mark.parametrize(
    "text",
    [
        "Never push to main.",
        "- never push to main",
        "* **Never push to `main`.**",
        "1. Never  push to main!",
        "> Never push to main",
        "We release weekly. Never push to main. Ask Ana.",
        "We release weekly. Never push\nto main. Ask Ana.",
        "# Rules\r\n\r\n- Never push to main.\r\n",
    ],
)
def test_a_sentence_that_stands_in_the_file_is_carried(text: str) -> None:
    assert carried(text, [PUSH], KINDS) == {PUSH.memory.id}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Never push to main on Fridays.",
        "It is not true that you should never push to main.",
        "Never push",
        "push to main",
    ],
)
def test_a_sentence_that_says_something_else_is_not(text: str) -> None:
    assert carried(text, [PUSH], KINDS) == frozenset()


def test_a_memory_is_carried_only_with_everything_it_says() -> None:
    more = stored("Never push to main. The release robot does that.")
    assert carried("- Never push to main.", [more], KINDS) == frozenset()
    both = "The release robot does that.\n\nNever push to main."
    assert carried(both, [more], KINDS) == {more.memory.id}


def test_a_word_or_two_prove_nothing() -> None:
    """A heading such as `Database` is not the memory of that name."""
    assert carried("# Use uv\n", [stored("Use uv")], KINDS) == frozenset()


@settings(max_examples=examples(100))
@given(any_stored)
def test_whatever_a_view_tells_is_carried(memories: list[Stored]) -> None:
    page = memory_md(memories, KINDS, NOW)
    shown = {each.memory.id for each in memories if f" [{each.memory.id[-6:]}]\n" in page}
    found = carried(place_block(b"# Mine\n", page.rstrip("\n")).decode(), memories, KINDS)
    assert shown <= found


def test_a_line_of_the_block_that_was_cut_is_carried_as_well() -> None:
    long = stored("The parser refuses aliases because of alias bombs and " + "so on " * 60)
    text = block([long], KINDS, NOW)
    assert " … [" in text
    assert carried(text, [long], KINDS) == {long.memory.id}


def test_a_stale_line_does_not_count() -> None:
    """The block was written before the memory was revised: the new wording must be told."""
    before = stored("The database listens on port 5432")
    after = before._replace(
        memory=before.memory._replace(
            title="The database listens",
            summary="The database listens on port 5432 and nothing else",
            content="",
        ),
    )
    text = block([before], KINDS, NOW)
    assert carried(text, [before], KINDS) == {before.memory.id}
    assert carried(text, [after], KINDS) == frozenset()


def test_an_episode_with_its_date_is_carried() -> None:
    episode = stored("Moved the build to uv", kind="episode", impact=Impact.LOW)
    text = block([episode], KINDS, NOW)
    assert "2026-11-14: Moved" in text
    assert carried(text, [episode], KINDS) == {episode.memory.id}
