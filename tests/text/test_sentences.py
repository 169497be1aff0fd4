"""Where sentences end and where a text is cut, mark by mark; the title and summary of a text, which
are part of the file format."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltm.text.sentences import sentences, shortened, summary_of, title_of

MARKDOWN = st.text(alphabet="aB.!? #->*=`~\n\t1()…。我\u2028I'm", max_size=120)
TEXT = st.one_of(st.text(max_size=400), MARKDOWN)


@pytest.mark.parametrize(
    "word",
    [
        "approx",
        "ca",
        "cf",
        "dr",
        "e.g",
        "eg",
        "esp",
        "excl",
        "i.e",
        "ie",
        "incl",
        "mr",
        "mrs",
        "ms",
        "prof",
        "resp",
        "viz",
        "vs",
        "Dr",
        "(e.g",
        "[vs",
        "*cf",
    ],
)
def test_these_abbreviations_never_end_a_sentence(word: str) -> None:
    assert sentences(f"Take {word}. Then go. Stop.") == [f"Take {word}. Then go.", "Stop."]


@pytest.mark.parametrize(
    "word", ["ch", "eq", "fig", "no", "nos", "p", "pp", "sec", "v", "ver", "vol"]
)
def test_these_end_none_before_a_number(word: str) -> None:
    assert sentences(f"See {word}. 3 of it. Stop.") == [f"See {word}. 3 of it.", "Stop."]
    assert sentences(f"See {word}. Then stop.") == [f"See {word}.", "Then stop."]


@pytest.mark.parametrize("word", ["a.m", "al", "co", "corp", "etc", "inc", "ltd", "p.m"])
def test_these_end_one_unless_it_goes_on_in_small_letters(word: str) -> None:
    assert sentences(f"See {word}. and go. Stop.") == [f"See {word}. and go.", "Stop."]
    assert sentences(f"See {word}. And go.") == [f"See {word}.", "And go."]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("He left… Then came.", ["He left…", "Then came."]),
        ("He left… then came.", ["He left… then came."]),
        ("He left.. then came.", ["He left..", "then came."]),
        ("J. Smith came. A. b", ["J. Smith came.", "A. b"]),
        ("plan b. Then c", ["plan b.", "Then c"]),
        ("1. First. 2. Second.", ["1. First.", "2. Second."]),
        ("It takes 12. Then stop.", ["It takes 12.", "Then stop."]),
        ("Is it (so?) Yes. `Go.` Now!", ["Is it (so?)", "Yes.", "`Go.`", "Now!"]),
        ("。？「好。」そう", ["。？", "「好。」", "そう"]),
        ("यह ठीक है। वह भी॥ और", ["यह ठीक है।", "वह भी॥", "और"]),
        ("a . b", ["a . b"]),
    ],
)
def test_a_mark_ends_a_sentence_where_a_reader_says_so(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


@pytest.mark.parametrize(
    ("text", "limit", "cut"),
    [
        ("ten letter", 10, "ten letter"),
        ("ten letters", 10, "ten lette…"),  # the blank is in the first half
        ("some letters", 8, "some le…"),
        ("letter some", 10, "letter…"),
        ("five more!", 9, "five mor…"),
        ("letters, and so on", 12, "letters…"),
        ("letters - and so on", 12, "letters…"),
        ("abcdefghij", 9, "abcdefgh…"),
        ("abcde fghij", 11, "abcde fghij"),
        ("abcdef ghijk", 10, "abcdef…"),
        ("abcdef ghi jk", 10, "abcdef…"),
        ("abcdefghi j", 10, "abcdefghi…"),
    ],
)
def test_a_text_is_cut_between_words_unless_too_little_would_be_left(
    text: str, limit: int, cut: str
) -> None:
    assert shortened(text, limit) == cut
    assert len(cut) <= limit


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
        ("I prefer tabs over spaces.", "I prefer tabs over spaces"),
        ("I'm colour-blind, so no red on green.", "I'm colour-blind, so no red on green"),
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
