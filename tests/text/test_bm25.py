"""How well words answer words: a worked example, and what moves the figure which way."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import pytest

from ltm.text.bm25 import Matched, rarity, relevance

USUAL = ("filler",) * 119
HOLDERS = {"cache": 4, "redis": 1}


def rarities(words: Sequence[str], holders: Mapping[str, int] = HOLDERS) -> dict[str, float]:
    return {word: rarity(holders.get(word, 0), 10) for word in words}


def score(
    *words: str, title: Sequence[str] = (), tags: Sequence[str] = (), text: Sequence[str] = ()
) -> float:
    return relevance(rarities(words), " ".join(title), " ".join(tags), " ".join(text))[0]


def test_the_worked_example() -> None:
    """One word, once in title, tags and a text of usual length, in 4 of 10 memories."""
    found = score("cache", title=["cache"], tags=["cache"], text=["cache", *USUAL])
    told = math.log(1 + 6.5 / 4.5)
    assert found == pytest.approx(told * 11 * 2.2 / (11 + 1.2))


def test_a_title_says_most_and_tags_nearly_so() -> None:
    """By six, four and one, which the second worked example shows without each other."""
    told = math.log(1 + 6.5 / 4.5)
    short = 1.2 * 0.6  # a text without a word is discounted least
    assert score("cache", title=["cache"]) == pytest.approx(told * 6 * 2.2 / (6 + short))
    assert score("cache", tags=["cache"]) == pytest.approx(told * 4 * 2.2 / (4 + short))
    once = score("cache", text=["cache", *USUAL])
    assert once == pytest.approx(told * 2.2 / (1 + 1.2))
    assert score("cache", text=["cache", "cache", *USUAL[1:]]) > once


def test_a_long_text_counts_less_than_a_short_one() -> None:
    short = score("cache", text=["cache"])
    long = score("cache", text=["cache", *USUAL * 3])
    assert short > long > 0


def test_words_add_up_and_the_rare_one_counts_more() -> None:
    cache, redis = score("cache", text=["cache"]), score("redis", text=["redis"])
    assert redis > cache
    both = score("cache", "redis", text=["cache", "redis"])
    assert both == pytest.approx(cache + redis, rel=0.01)


def test_a_word_that_more_have_than_there_are_still_counts_for_something() -> None:
    """Figures of several vaults need not agree at the same moment."""
    found, _ = relevance(rarities(["cache"], {"cache": 12}), "cache", "", "")
    assert found == pytest.approx(math.log(1 + 0.5 / 12.5) * 6 * 2.2 / (6 + 1.2 * 0.6))
    assert relevance(rarities(["new"], {}), "new", "", "")[0] > 0


def test_what_matched_is_told_by_place_in_the_order_of_the_question() -> None:
    found, matched = relevance(
        rarities(["redis", "cache", "queue"]),
        "the cache redis",
        "cache cached",
        "redis redis",
    )
    twice, _ = relevance(rarities(["redis"]), "", "", "redis redis")
    once, _ = relevance(rarities(["redis"]), "", "", "redis rediscover")
    assert found > twice > once > 0
    assert matched == Matched(("redis", "cache"), ("cache",), ("redis",))
    assert relevance(rarities(["queue"]), "cache", "", "") == (0.0, Matched())
