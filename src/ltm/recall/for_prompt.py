"""Which memories fit a prompt so well that they are told without being asked for; mostly none.

A person who typed a prompt did not ask for memories, so a memory has to earn its place: by words of
the prompt that are about something (`USUAL` ones are not), in the memory's title or tags rather
than in passing, and by more of them the longer the prompt is, since a long text has some words in
common with anything. A hook loads this.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import date
from typing import NamedTuple

from ltm.model import Filter, Stored
from ltm.recall.rank import Question, understood
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

_WORDS = (
    "add adjust after again all also always another app apply approach around ask back bad base"
    " basic before best better big bit branch break bug build bunch call case change check clean"
    " clear code come command comment commit complete confirm continue copy correct could create"
    " current data debug default delete describe design detail different directory do doc document"
    " does done edit else empty end ensure error even ever every everything example exist expect"
    " explain extend extra fail far fast feature feel figure file fill final find fine finish"
    " first fix folder follow form format found full function general generate get give go good"
    " got great guess happen hard hello help hey hi idea implement import improve include input"
    " inside instead issue item job keep kind know large last later latest least leave left let"
    " lets like line list little live local log long look lot main make many maybe mean message"
    " method mind minor miss module more most move much name need never new next nice nothing now"
    " number off ok okay old once one only open option order other output own page part pass path"
    " perfect piece place plan please point possible prepare previous print probably problem"
    " proceed process program project proper propose provide pull push put question quick quickly"
    " ran read ready real really refactor remember remove rename repeat replace report request"
    " require rest result return review rewrite right root run safe same save say script second"
    " see seem send set setup short show side simple simplify since single small something sort"
    " source start state status step still stop string style such suggest sum sure take talk task"
    " tell test text thank thanks that thing think time today together tomorrow try turn two type"
    " under understand unit until up update upgrade use used user using value variable version via"
    " view wait want way well work working works worth write wrong yes yesterday yet"
)
USUAL = frozenset(terms(_WORDS))
"""Words people type to an agent whatever the work is about."""


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
    words = {word: weight for word, weight in question.weights.items() if word not in USUAL}
    if not words:
        return []
    typed = [word for word in prompt[:_LONG].split() if not words.keys().isdisjoint(terms(word))]
    matches = store.search(" ".join(dict.fromkeys(typed)), Filter(), _LOOKED_AT).items
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
