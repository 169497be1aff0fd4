"""Asking the store: any text a person may type, to ranked hits that say why they are there.

Owns the flow behind `ltm recall` and the recall tools. Ranking is lexical (BM25) for now; other
evidence joins here, so that callers never change. May import `core` and the store port.
"""

from __future__ import annotations

from dataclasses import dataclass

from ltm.core.model import Filter, Hit, Memory
from ltm.core.words import query_terms, terms
from ltm.storage.store import Store

MOST = 200


@dataclass(frozen=True, slots=True)
class Recalled:
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
    hits = tuple(
        Hit(stored, score, why(question, stored.memory)) for stored, score in matches.items
    )
    if counts and hits:
        store.used(hit.stored.memory.id for hit in hits)
    return Recalled(hits, matches.total)


def why(question: str, memory: Memory) -> str:
    """Which of the asker's words are in the title, the tags and the text, in plain words."""
    fields = (
        ("title", set(terms(memory.title))),
        ("tags", set(terms(" ".join(memory.tags)))),
        ("text", set(terms(memory.text))),
    )
    words = list(dict.fromkeys(question.split()))
    said: list[str] = []
    for name, present in fields:
        found = [word for word in words if any(term in present for term in query_terms(word))]
        if found:
            said.append(f"{name}: {', '.join(found[:8])}")
    return "; ".join(said)
