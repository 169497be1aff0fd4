"""What a search begins with is found in every text that has it, wherever it stands."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from ltm.redact.key_names import NAME_STEMS
from ltm.redact.stems import (
    LETTER_STEMS,
    LIST_STEMS,
    SEED_STEMS,
    TextWords,
    beginnings,
    insides,
)

AROUND = [
    ("", ""),
    ("one two ", " three"),
    ("密", " é"),  # for a pattern a word begins there
    ("(", ")"),
    ("İ ", " x"),  # two characters in small letters
    ("a " * 31_995, " b" * 9),  # where a slice of a long text ends
    ("key " * 15_999, "key " * 9),
]


@pytest.mark.parametrize(("before", "after"), AROUND)
def test_a_beginning_is_found_wherever_it_stands(before: str, after: str) -> None:
    places = {stem: TextWords(before + stem + after) for stem in _some(beginnings()[0])}
    missed = [stem for stem, text in places.items() if len(before) not in text.starts()]
    assert missed == []


@pytest.mark.parametrize(("before", "after"), [*AROUND, ("my_", "_old"), ("x", "x")])
def test_what_stands_anywhere_is_found(before: str, after: str) -> None:
    names = _some(NAME_STEMS)
    inside = _some(hint for hint, _ in insides())
    rows = _some((*LETTER_STEMS, *LIST_STEMS, *SEED_STEMS))
    for stem in names:
        assert len(before) in TextWords(before + stem + after).names, stem
        shown = stem.upper() if stem.isascii() else stem
        assert len(before) in TextWords(before + shown + after).names, shown
    for stem in inside:
        assert stem in TextWords(before + stem + after).insides(), stem
    for stem in rows:
        assert TextWords(before + stem + after).has_any([stem]), stem


def test_a_text_that_has_none_is_known_to_have_none() -> None:
    text = TextWords("We read it once more and went home.")
    assert (text.starts(), text.names, text.has_any(LIST_STEMS), text.has_groups()) == (
        *([], []),
        *(False, False),
    )


def _some(stems: Iterable[str]) -> list[str]:
    """Every seventh of many, and the shortest and the longest of all."""
    ordered = sorted(set(stems), key=lambda stem: (len(stem), stem))
    return [*ordered[:4], *ordered[4:-4:7], *ordered[-4:]]
