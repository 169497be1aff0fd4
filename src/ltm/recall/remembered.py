"""Memories that answer a question: found by words and by meaning, ranked with what they are.

Owns their order. Words and meaning are shares of the best, as with passages; a memory whose time or
kind the question names gains, and one that may no longer be true loses. Imports core, `embed` and
the store port.
"""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, NamedTuple

from ltm.core.model import Filter, Memory, Stored
from ltm.core.ranking import FADING, LIKENESS, NEAR, RECENT, TIME
from ltm.core.relevance import Matched
from ltm.core.similar import tokens_of
from ltm.core.timephrases import closeness
from ltm.core.words import terms
from ltm.storage.store import Matches, Store

if TYPE_CHECKING:
    from ltm.core.question import Question
    from ltm.embed.embedder import Embedder

BY_MEANING = 30
"""Memories found by their meaning alone."""

WORDS = 1.0
KIND = 0.25
"""What it counts that a question names the kind: who asks for decisions wants decisions."""

_LOOKED_AT = 10
"""Hits that are put in the order of time where one says what another one says otherwise."""

DOUBTED = 0.5
"""What is left of a memory's score when nothing is left of its confidence."""


class MemoryMatch(NamedTuple):
    """A memory, how good an answer it is, and by what it was found."""

    stored: Stored
    score: float
    matched: Matched
    likeness: float = 0.0


def remembered(
    store: Store,
    question: Question,
    wanted: Filter,
    limit: int,
    today: date,
    embedder: Embedder | None = None,
) -> tuple[list[MemoryMatch], int]:
    """The memories that answer a question, best first, and how many match it in all."""
    matches = store.search(question.text, wanted, limit)
    like = _alike(store, question, wanted, matches, embedder) if embedder else {}
    items = {each.stored.memory.id: each for each in matches.items}
    most = max((each.score for each in matches.items), default=0.0) or 1.0
    nearest = max((near for _, near in like.values()), default=0.0)
    found: list[MemoryMatch] = []
    for name in {**items, **like}:
        match = items.get(name)
        stored = match.stored if match else like[name][0]
        near = like[name][1] if name in like else 0.0
        score = _standing(question, stored.memory, today)
        score += WORDS * match.score / most if match else 0.0
        score += LIKENESS * max(0.0, near) / nearest if nearest > 0 else 0.0
        score *= DOUBTED + (1 - DOUBTED) * stored.memory.confidence
        found.append(MemoryMatch(stored, score, match.matched if match else Matched(), near))
    found.sort(key=lambda each: (each.score, each.stored.memory.id), reverse=True)
    found[:_LOOKED_AT] = _newer_first(found[:_LOOKED_AT])
    return found[:limit], matches.total + len(like.keys() - items.keys())


def _newer_first(found: list[MemoryMatch]) -> list[MemoryMatch]:
    """The same hits, but no memory before a newer one that says it otherwise."""
    words = [tokens_of(each.stored.memory.text) for each in found]
    for last in range(1, len(found)):
        for place in range(last):
            older, newer = found[place].stored.memory, found[last].stored.memory
            shared = len(words[place] & words[last])
            if (older.created, older.id) >= (newer.created, newer.id) or 2 * shared < min(
                len(words[place]), len(words[last])
            ):
                continue
            if newer.id in older.conflicts or _is_outdone(older, newer):
                # It takes the place and the score, so that no later step undoes the order.
                found.insert(place, found.pop(last))
                words.insert(place, words.pop(last))
                found[place] = found[place]._replace(score=found[place + 1].score)
                break
    return found


def _is_outdone(older: Memory, newer: Memory) -> bool:
    from ltm.core.sameness import Sameness, judge

    return judge(newer.text, older.text).relation in (Sameness.CHANGE, Sameness.CONFLICT)


def _standing(question: Question, memory: Memory, today: date) -> float:
    """What speaks for a memory besides its words."""
    age = max(0, (today - memory.confirmed.date()).days)
    score = RECENT * float(0.5 ** (age / FADING))
    score += TIME * closeness(question.spans, memory.created.date())
    if not question.weights.keys().isdisjoint(terms(memory.kind)):
        score += KIND
    return score


def _alike(
    store: Store, question: Question, wanted: Filter, matches: Matches, embedder: Embedder
) -> dict[str, tuple[Stored, float]]:
    """Memories near to a question in meaning; those found by words with them."""
    from ltm.core.errors import LtmError
    from ltm.embed.keeping import BRIEF, HasVectors, keep_memories

    if not isinstance(store, HasVectors):
        return {}
    found: dict[str, tuple[Stored, float]] = {}
    by_words = {each.stored.memory.id: each.stored for each in matches.items}
    try:
        keep_memories(store, embedder, BRIEF)
        vector = embedder.embed([question.text])[0]
        if not vector.any():
            return {}
        for vectors in store.vectors(embedder.name, embedder.dimensions):
            for stored, near in vectors.nearest_memories(vector, wanted, BY_MEANING):
                if near >= NEAR:
                    found[stored.memory.id] = (stored, near)
            likeness = vectors.likeness_of(vector, list(by_words.values()))
            found |= {name: (by_words[name], near) for name, near in likeness.items()}
    except LtmError:
        pass  # no model, or nowhere to keep its vectors: by words alone
    return found
