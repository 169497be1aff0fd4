"""Which memories fit a prompt so well that they are told without being asked for; mostly none.

A person who typed a prompt did not ask for memories, so a memory has to earn its place: by words of
the prompt that are about something (the usual ones are not), in the memory's title or tags rather
than in passing, and by more of them the longer the prompt is, since a long text has some words in
common with anything. A hook loads this.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import date

from ltm.model import Filter, Stored
from ltm.recall.rank import Question, understood, usual_words
from ltm.record import NamedTuple
from ltm.store.store import Match, Store
from ltm.text.terms import terms

THRESHOLD = 1.0
"""Fitness from which a memory is told: all that is needed of it is there. How often that is right
is measured in `tests/recall/test_for_prompt.py`, on prompts it was not chosen by."""

MOST_HITS = 3
"""Memories told with one prompt."""

_LOOKED_AT = 12
_LONG = 4_000  # characters of a prompt that are looked at: it may hold a whole log
_PASSING = 0.5  # what a word counts that is only in the text
_SHARED = 5  # memories among those found that make a word common here
_COMMON = 0.5  # what such a word counts
_NAME = 0.5  # what a name, a path or a code counts more than a word
_SHORT, _USUALLY, _GROWTH = 0.8, 2.0, 0.12
_WHEN_LONG = 8.0  # words from which on more is needed


class Fit(NamedTuple):
    """A memory and how well it fits a prompt; from `THRESHOLD` on it is told."""

    stored: Stored
    fitness: float


def fitting(
    store: Store, prompt: str, day: date, told: Collection[str] = (), most: int = MOST_HITS
) -> list[Stored]:
    """The memories worth telling with a prompt, best first, without those that were told before."""
    return [
        fit.stored
        for fit in fits(store, prompt, day)
        if fit.fitness >= THRESHOLD and fit.stored.memory.id not in told
    ][:most]


def fits(store: Store, prompt: str, day: date) -> list[Fit]:
    """The memories nearest to a prompt and how well each fits it, best first."""
    question = understood(prompt[:_LONG], day)
    usual = usual_words()
    words = {word: weight for word, weight in question.weights.items() if word not in usual}
    if not words:
        return []
    typed = [word for word in prompt[:_LONG].split() if not words.keys().isdisjoint(terms(word))]
    matches = store.search(" ".join(dict.fromkeys(typed)), Filter(teams=True), _LOOKED_AT).items
    weights = _weighed(words, question, matches)
    found = [Fit(match.stored, _fitness(weights, match)) for match in matches]
    return sorted(found, key=lambda fit: -fit.fitness)


def _weighed(
    words: Mapping[str, float], question: Question, matches: Collection[Match]
) -> dict[str, float]:
    """What each word counts: names more, words that many memories here have less."""
    having = [{*each.matched.title, *each.matched.tags, *each.matched.text} for each in matches]
    weights: dict[str, float] = {}
    for word, weight in words.items():
        if word in question.compounds or (any(map(str.isdigit, word)) and len(word) > 2):
            weight += _NAME
        if sum(word in each for each in having) >= _SHARED:
            weight *= _COMMON
        weights[word] = weight
    return weights


def _fitness(weights: Mapping[str, float], match: Match) -> float:
    """What a memory has of a prompt's words, as a share of what it needs."""
    about = {*match.matched.title, *match.matched.tags}
    points = sum(weights.get(word, 0.0) for word in about)
    points += sum(_PASSING * weights.get(word, 0.0) for word in {*match.matched.text} - about)
    whole = sum(weights.values())
    needed = min(_USUALLY, max(1.0, _SHORT * whole)) + _GROWTH * max(0.0, whole - _WHEN_LONG)
    return points / needed if about else 0.0
