"""How well a memory's words answer a question's words: BM25 over title, tags and text.

An index finds candidates quickly with figures of its own; the order people see is decided here,
with figures of everything searched. So memories of a small vault and of a large one can be
compared, and a word that most memories have still counts for something.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from ltm.record import NamedTuple

TITLE, TAGS, TEXT = 6.0, 4.0, 1.0
"""A title says what a memory is about, tags nearly so."""

SATURATION = 1.2
"""BM25's usual constant."""

DISCOUNT = 0.4
"""How much a long text is discounted."""

USUAL = 120
"""Words in a usual memory."""


class Matched(NamedTuple):
    """Which of the question's words a memory has, and where."""

    title: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    text: tuple[str, ...] = ()


def rarity(having: int, total: int) -> float:
    """How much a word tells when so many of all texts have it: BM25's inverse frequency."""
    return math.log(1 + (max(total, having) - having + 0.5) / (having + 0.5))


def relevance(
    rarities: Mapping[str, float], title: str, tags: str, text: str
) -> tuple[float, Matched]:
    """A score above 0 for any match, and what matched; `rarities` of all words of the question.

    The fields are words with a blank between them, as an index keeps them.
    """
    counts = dict.fromkeys(rarities, 0.0)
    matched: list[tuple[str, ...]] = []
    for field, weight in ((title, TITLE), (tags, TAGS), (text, TEXT)):
        # With two blanks each word has its own around it. To look for a few words is far quicker
        # than to take all of them apart.
        whole = f" {field.replace(' ', '  ')} "
        found = []
        for word in rarities:
            if times := whole.count(f" {word} "):
                counts[word] += weight * times
                found.append(word)
        matched.append(tuple(found))
    here = {word: count for word, count in counts.items() if count}
    length = (text.count(" ") + 1 if text else 0) / USUAL
    return bm25(here, rarities, length, DISCOUNT), Matched(*matched)


def bm25(
    counts: Mapping[str, float], weights: Mapping[str, float], length: float, discount: float
) -> float:
    """BM25 of one text that has each word so often; `weights` is what each word tells.

    `length` is how many times as long as usual the text is, `discount` how much that counts.
    """
    norm = SATURATION * (1 - discount + discount * length)
    score = sum(weights[word] * count / (count + norm) for word, count in counts.items())
    return (SATURATION + 1) * score
