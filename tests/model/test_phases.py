"""What each phase leaves of a text, and which text counts as the original."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ltm.decisions import reduced, restored, revised
from ltm.errors import Refused
from ltm.model import Memory, Phase, Status
from ltm.policy import first_paragraph, original, text_in_phase

THEN = datetime(2026, 1, 1, tzinfo=UTC)
NOW = datetime(2026, 6, 1, tzinfo=UTC)
TEXT = "First line,\nstill first.\n\nSecond.\n\nThird."
MEMORY = Memory(
    id="mem_1",
    kind="fact",
    title="t",
    summary="Short. And more.",
    content=TEXT,
    created=THEN,
    updated=THEN,
    confirmed=THEN,
)
texts = st.lists(
    st.sampled_from(["", " ", "\r", "word", "# head", "```", "~~~~", "- item", "。", "\u2028"]),
    max_size=12,
).map("\n".join)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        ("one", "one"),
        ("one\n", "one"),
        (TEXT, "First line,\nstill first."),
        ("\n\n one\n\ntwo", "\n\n one"),
        ("one\n \t\ntwo", "one"),
        ("one\r\n\r\ntwo", "one"),
        ("# Head\n\none\n\ntwo", "# Head\n\none"),
        ("# Head\none\n\ntwo", "# Head\none"),
        ("# Head\n\n## Sub\n\none\n\ntwo", "# Head\n\n## Sub\n\none"),
        ("# Head\n\n", "# Head"),
        ("#hashtag\n\ntwo", "#hashtag"),
        ("- a\n- b\n\n- c", "- a\n- b"),
        ("```\na\n\nb\n```\n\ntwo", "```\na\n\nb\n```"),
        ("Run:\n```sh\na\n\nb\n```\nthen.\n\ntwo", "Run:\n```sh\na\n\nb\n```\nthen."),
        ("````\n```\n\nx\n````\n\ntwo", "````\n```\n\nx\n````"),
        ("~~~\n```\n\n~~~\n\ntwo", "~~~\n```\n\n~~~"),
        ("```\nnever closed\n\nb", "```\nnever closed\n\nb"),
        ("数据库。\n\n备份。", "数据库。"),
    ],
)
def test_the_first_paragraph_ends_where_a_reader_would_say(text: str, expected: str) -> None:
    assert first_paragraph(text) == expected


@given(texts)
@example("```\n\r")
def test_a_first_paragraph_is_a_beginning_and_its_own_first_paragraph(text: str) -> None:
    part = first_paragraph(text)
    assert text.startswith(part)
    assert first_paragraph(part) == part


def test_phases_leave_less_and_less() -> None:
    left = [text_in_phase(TEXT, phase) for phase in Phase]
    assert left == [TEXT, "First line,\nstill first.", "", ""]


@pytest.mark.parametrize("phase", list(Phase))
def test_reducing_changes_the_content_and_nothing_a_person_said(phase: Phase) -> None:
    """traps 2.1 #11: the summary is never modified, not even in the abstract."""
    after = reduced(MEMORY, MEMORY, phase)
    assert after == MEMORY._replace(phase=phase, content=after.content)
    assert after.summary == MEMORY.summary


@given(texts, st.lists(st.sampled_from(Phase), max_size=6))
def test_a_phase_does_not_depend_on_the_way_to_it(text: str, way: list[Phase]) -> None:
    """traps 2.3 #4: always from the original, so a reduction is never reduced."""
    memory = whole = MEMORY._replace(content=text)
    for phase in way:
        memory = reduced(memory, original(memory, [whole])[0], phase)
        assert memory == reduced(whole, whole, phase)
    back = restored(memory, original(memory, [whole])[0], NOW)
    assert (back.content, back.version, back.phase) == (text, whole.version, Phase.FULL)


@pytest.mark.parametrize("status", [Status.SUPERSEDED, Status.FORGOTTEN, Status.QUARANTINED])
def test_only_an_active_memory_changes_its_phase(status: Status) -> None:
    with pytest.raises(Refused, match=f"mem_1 is {status}"):
        reduced(MEMORY._replace(status=status), MEMORY, Phase.HINT)


def test_a_whole_memory_is_its_own_original_and_kept_once() -> None:
    assert original(MEMORY, []) == (MEMORY, False)
    assert original(MEMORY, [MEMORY]) == (MEMORY, True)
    assert original(MEMORY, [MEMORY._replace(confirmed=NOW)]) == (MEMORY, True)
    assert original(MEMORY, [MEMORY._replace(content="older")]) == (MEMORY, False)
    assert original(MEMORY, [MEMORY._replace(version=0)]) == (MEMORY, False)


def test_a_text_edited_while_it_was_short_is_the_new_original() -> None:
    edited = reduced(MEMORY, MEMORY, Phase.HINT)._replace(content="Their own words.")
    found, kept = original(edited, [MEMORY])
    assert not kept
    assert (found.content, found.phase, found.version) == ("Their own words.", Phase.FULL, 2)


def test_a_title_changed_while_the_text_was_short_is_kept() -> None:
    short = reduced(MEMORY, MEMORY, Phase.HINT)._replace(title="better")
    assert original(short, [MEMORY]) == (MEMORY._replace(title="better"), True)


def test_a_short_text_whose_archive_is_lost_is_all_there_is() -> None:
    short = reduced(MEMORY, MEMORY, Phase.HINT)
    found, kept = original(short, [short])
    assert not kept
    assert found == short._replace(phase=Phase.FULL)


def test_a_newly_written_content_is_whole_again() -> None:
    short = reduced(MEMORY, MEMORY, Phase.ABSTRACT)
    assert revised(short, {"content": "new"}, NOW).phase is Phase.FULL
    assert revised(short, {"title": "new"}, NOW).phase is Phase.ABSTRACT
