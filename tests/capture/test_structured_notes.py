"""Structured notes: a bullet each, whatever people write into them."""

from __future__ import annotations

import pytest

from ltm.capture.decide import Candidate
from ltm.capture.statements import notes
from tests.capture.samples import BY_AGENT, KINDS


def noted(text: str) -> list[Candidate]:
    return list(notes(text, KINDS, BY_AGENT))


def test_each_section_gives_its_kind() -> None:
    found = noted(
        "# Session\n\nIntro.\n\n"
        "## Decisions\n- Use SQLite: no server to run\n\n"
        "## Patterns\n- Handlers end in `Handler`\n\n"
        "## Issues\n- Search is slow: open\n- Login loop: resolved\n"
    )
    assert [(each.kind, each.title, each.reason, each.state) for each in found] == [
        ("decision", "Use SQLite", "no server to run", ""),
        ("pattern", "Handlers end in `Handler`", "", ""),
        ("issue", "", "", "open"),
        ("issue", "", "", "resolved"),
    ]
    assert found[0].text == "Use SQLite: no server to run."
    assert found[2].text == "Search is slow."


@pytest.mark.parametrize(
    ("bullet", "title", "reason"),
    [
        ("Use http://x: y", "Use http://x", "y"),
        ("Fetch from https://a.b/c", "Fetch from https://a.b/c", ""),
        ("Set `retries: 3` in the config", "Set `retries: 3` in the config", ""),
        ("Times are HH:MM: that is what users type", "Times are HH:MM", "that is what users type"),
        ("No cookies on the site", "No cookies on the site", ""),
    ],
)
def test_a_reason_begins_after_the_last_colon_that_is_not_part_of_something(
    bullet: str, title: str, reason: str
) -> None:
    """traps 2.5 #5: `Use http://x: y` was split into "Use http" and "//x: y"."""
    (found,) = noted(f"## Decisions\n- {bullet}")
    assert (found.title, found.reason) == (title, reason)


def test_what_lacks_a_reason_or_a_state_is_kept() -> None:
    """traps 2.5 #5: decisions without a colon and issues without a status were dropped."""
    (decision,) = noted("## Decisions\n- Keep the monolith")
    assert decision.reason == ""
    (issue,) = noted("## Issues\n- Safari ignores the header")
    assert issue.state == "open"


def test_a_deeper_heading_groups_and_a_heading_of_the_same_depth_ends_a_section() -> None:
    """traps 2.5 #5: `###` ended a section."""
    text = "## Decisions\n### Data\n- Use Parquet\n### UI\n- Use tabs\n## Other\n- not a decision"
    assert [each.text for each in noted(text)] == ["Use Parquet.", "Use tabs."]


def test_only_the_placeholders_of_a_template_are_left_out() -> None:
    """traps 2.5 #5: everything that began with a bracket was dropped."""
    text = "## Patterns\n- [WIP] Cards use slots\n- [pattern]\n- ...\n- none\n- [x] Use slots"
    assert [each.text for each in noted(text)] == ["[WIP] Cards use slots.", "Use slots."]


def test_the_same_notes_twice_give_the_same() -> None:
    """traps 2.5 #5: 22 runs made 22 copies; here a candidate knows its place, so none is new."""
    text = "## Decisions\n- Use SQLite: no server"
    assert noted(text) == noted(text)


@pytest.mark.parametrize(
    "text", ["", "no headings\n- a bullet of some words", "## Decisions\ntext"]
)
def test_other_texts_give_nothing(text: str) -> None:
    assert noted(text) == []
