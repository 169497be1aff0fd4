"""Asking the store: any text a person may type, to ranked hits that say why they are there.

Owns the flow behind `ltm recall` and the recall tools. Ranking is lexical (BM25) for now; other
evidence joins here, so that callers never change. May import `core` and the store port.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ltm.core.model import Filter, Hit
from ltm.core.relevance import Matched
from ltm.core.words import terms
from ltm.storage.store import Store

MOST = 200
_MARKS = "?!.,;:\"'()"


class Recalled(NamedTuple):
    """The best hits and how many memories matched in all."""

    hits: tuple[Hit, ...]
    total: int


def recall(
    store: Store, question: str, wanted: Filter, limit: int, *, counts: bool = True
) -> Recalled:
    """The memories that answer a question, best first.

    `counts` says whether being found is a use: yes when a person or agent asked, no when we
    look something up ourselves.
    """
    matches = store.search(question, wanted, max(1, min(limit, MOST)))
    words = tuple(dict.fromkeys(question.split()))
    hits = tuple(Hit(each.stored, each.score, why(words, each.matched)) for each in matches.items)
    if counts and hits:
        store.used(hit.stored.memory.id for hit in hits)
    return Recalled(hits, matches.total)


def why(words: Sequence[str], matched: Matched) -> str:
    """Which of the asker's own words are in the title, the tags and the text."""
    said: list[str] = []
    for name, there in (("title", matched.title), ("tags", matched.tags), ("text", matched.text)):
        found = [word.strip(_MARKS) for word in words if not set(terms(word)).isdisjoint(there)]
        if found:
            said.append(f"{name}: {', '.join(found[:8])}")
    return "; ".join(said)
