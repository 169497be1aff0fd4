"""A passage is cited by its session and the lines of its transcript."""

from __future__ import annotations

from ltm.history.passage import ASSISTANT, TOOL, USER, Header, Passage


def test_one_line_is_cited_as_one_and_several_as_a_range() -> None:
    assert Passage(1, 0, "user", "x", first=120, last=134, session="3f2a").citation == (
        "3f2a:120-134"
    )
    assert Passage(1, 0, "user", "x", first=120, last=120, session="3f2a").citation == "3f2a:120"
    assert Passage(1, 0, "user", "x", first=120, last=121, session="3f2a").citation == (
        "3f2a:120-121"
    )


def test_what_no_one_knows_is_empty() -> None:
    passage = Passage(1, 0, "user", "x")
    assert passage[4:] == ("", 0, 0, "", "", (), (), (), 0, "")
    assert Header("s")[1:] == ("", "", "", "", "", 0, 0, 0)


def test_who_speaks_is_kept_in_these_words() -> None:
    """They stand in databases of earlier versions, which nobody translates."""
    assert (USER, ASSISTANT, TOOL) == ("user", "assistant", "tool")
