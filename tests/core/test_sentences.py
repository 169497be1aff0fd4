"""Where sentences end and where a text is cut, mark by mark."""

from __future__ import annotations

import pytest

from ltm.core.sentences import sentences, shortened


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
