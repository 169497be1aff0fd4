"""A quote: what was said in a session that answers a question, and where to read on.

Owns the counterpart of a memory's `Hit`, and which part of a long text is shown. Imports
core.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from ltm.core.model import Hit
from ltm.core.passage import Passage
from ltm.core.sentences import sentences, shortened
from ltm.core.tokens import estimate
from ltm.core.words import terms

EXCERPT = 280
"""Characters of a passage that a list shows."""


class Quote(NamedTuple):
    """One answer to a question: what was said, how well it fits and why."""

    passage: Passage
    score: float
    why: str
    excerpt: str
    waits: bool = False
    """Whether it says what a memory that waits for approval says."""

    @property
    def id(self) -> str:
        """How it is cited: the session and the lines of its transcript, as `3f2a…:120-134`."""
        return self.passage.citation

    @property
    def tokens(self) -> int:
        """What opening it costs."""
        return estimate(self.passage.text)


def cited_as(hit: Hit | Quote) -> str:
    """How a hit is cited: a memory's id, or a session and its lines."""
    return hit.id if isinstance(hit, Quote) else hit.stored.memory.id


def excerpt(text: str, words: Collection[str]) -> str:
    """The part of a text that has the most of some terms, in `EXCERPT` characters."""
    if len(text) <= EXCERPT:
        return " ".join(text.split())
    parts = sentences(text)
    if not parts:
        return ""
    asked = set(words)
    having = [len(asked.intersection(terms(part))) for part in parts]
    at = having.index(max(having))
    shown = parts[at]
    for following in parts[at + 1 :]:
        if len(shown) >= EXCERPT:
            break
        shown = f"{shown} {following}"
    return shortened(f"… {shown}" if at else shown, EXCERPT)
