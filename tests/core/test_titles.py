"""The title and the summary of a text that was given none: part of the file format."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltm.core.titles import summary_of, title_of

MARKDOWN = st.text(alphabet="aB.!? #->*=`~\n\t1()…。我\u2028I'm", max_size=120)
TEXT = st.one_of(st.text(max_size=400), MARKDOWN)


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Use pnpm, not npm. It is faster.", "Use pnpm, not npm"),
        ("# Deploy steps ##\n\nFirst build.", "Deploy steps"),
        ("Deploy steps\n====\nFirst build.", "Deploy steps"),
        ("- [x] done with it\n- next", "done with it"),
        ("  spaced\n  out   text", "spaced out text"),
        ("Really? Yes.", "Really?"),
        ("version 1. 2 of it", "version 1"),
        ("I prefer tabs over spaces.", "Prefer tabs over spaces"),
        ("I'm colour-blind, so no red on green.", "The user is colour-blind, so no red on green"),
        ("Run ` make", "Run make"),
        ("", ""),
    ],
)
def test_a_title_is_the_heading_or_the_first_sentence(text: str, title: str) -> None:
    assert title_of(text) == title


def test_a_long_title_is_cut_between_clauses_or_words() -> None:
    clause = "Use pnpm in the web folder because npm breaks the lockfile"
    assert title_of(f"{clause}, and never commit the modules folder there") == f"{clause}…"
    words = title_of("word " * 40)
    assert words.endswith("word…")
    assert 60 < len(words) <= 80
    assert title_of("x" * 200) == "x" * 79 + "…"


@pytest.mark.parametrize(
    ("text", "summary"),
    [
        ("One. Two! Three.", "One. Two!"),
        ("# Head\n\nFirst e.g. this.\nSecond.\n\nThird.", "First e.g. this. Second."),
        ("Head\n----\nBody text.", "Body text."),
        ("# Only a heading", "Only a heading"),
        ("> ## quoted", "quoted"),
        ("```sh\nmake\n```\nRun make.", "Run make."),
        ("- one thing\n- another", "one thing"),
        ("我们用它。因为快。第三。", "我们用它。因为快。"),
        ("", ""),
    ],
)
def test_a_summary_is_one_or_two_sentences_of_prose(text: str, summary: str) -> None:
    assert summary_of(text) == summary


def test_a_second_sentence_that_does_not_fit_is_left_out() -> None:
    first, second = "a " * 100 + "end.", "B " * 100 + "end."
    assert summary_of(f"{first} {second}") == first
    cut = summary_of("long " * 100)
    assert cut.endswith("long…")
    assert len(cut) <= 300


@given(TEXT)
def test_a_title_is_one_short_line_and_never_empty_for_a_text_with_something_in_it(
    text: str,
) -> None:
    title = title_of(text)
    assert len(title) <= 80
    assert title == " ".join(title.split())
    assert bool(title) == bool(text.strip())


@given(TEXT)
def test_a_summary_is_one_line_of_300_characters_at_most_and_no_heading(text: str) -> None:
    summary = summary_of(text)
    assert len(summary) <= 300
    assert summary == " ".join(summary.split())
    marks, _, _ = summary.partition(" ")
    assert not marks or marks.strip("#") or len(marks) > 6
