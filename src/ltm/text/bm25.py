"""How well a memory's words answer a question's words: BM25 over title, tags and text.

An index finds candidates quickly with figures of its own; the order people see is decided here,
with figures of everything searched. So memories of a small vault and of a large one can be
compared, and a word that most memories have still counts for something.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

TITLE, TAGS, TEXT = 6.0, 4.0, 1.0
"""A title says what a memory is about, tags nearly so."""

_SATURATION = 1.2
_LENGTH = 0.4  # how much a long text is discounted
_USUAL = 120  # words in a usual memory


class Matched(NamedTuple):
    """Which of the question's words a memory has, and where."""

    title: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    text: tuple[str, ...] = ()


def rarity(having: int, total: int) -> float:
    """How much a word tells when so many of all texts have it: BM25's inverse frequency."""
    return math.log(1 + (max(total, having) - having + 0.5) / (having + 0.5))


def relevance(
    words: Sequence[str],
    title: Sequence[str],
    tags: Sequence[str],
    text: Sequence[str],
    holders: Mapping[str, int],
    memories: int,
) -> tuple[float, Matched]:
    """A score above 0 for any match, and what matched.

    `holders` says how many of all `memories` have a word at all.
    """
    score = 0.0
    length = 1 - _LENGTH + _LENGTH * len(text) / _USUAL
    for word in words:
        weight = TITLE * title.count(word) + TAGS * tags.count(word) + TEXT * text.count(word)
        if weight:
            rare = rarity(holders.get(word, 0), memories)
            score += rare * weight * (_SATURATION + 1) / (weight + _SATURATION * length)
    return score, Matched(
        tuple(word for word in words if word in title),
        tuple(word for word in words if word in tags),
        tuple(word for word in words if word in text),
    )
