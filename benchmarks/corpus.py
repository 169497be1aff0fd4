"""Memories to measure on: real English technical sentences, from the standard library's own help.

Sampled with a fixed seed, so that every run and every machine measures the same texts.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pydoc_data.topics import topics

from ltm.model import Impact, Memory, new_id

_KINDS = ("fact", "decision", "gotcha", "pattern", "architecture", "preference")
_TAGS = ("python", "http", "database", "testing", "deploy", "cache", "auth", "build", "docs", "cli")


def sentences() -> list[str]:
    """Sentences of the library's help texts, markup removed."""
    text = " ".join(str(topic) for topic in topics.values())
    plain = re.sub(r"[*`|+=\-]{2,}|\n\s*", " ", text)
    parts = re.split(r"(?<=[.!?])\s+", plain)
    return [" ".join(part.split()) for part in parts if 40 <= len(part) <= 240]


def memories(count: int, seed: int = 1) -> Iterator[Memory]:
    """So many different memories."""
    rng = random.Random(seed)
    pool = sentences()
    start = datetime(2026, 1, 1, tzinfo=UTC)
    for number in range(count):
        at = start + timedelta(minutes=number)
        picked = rng.sample(pool, rng.randint(2, 5))
        name = f"module_{rng.randrange(count)}.handler{rng.randrange(100)}"
        content = f"{' '.join(picked)} See src/pkg/{name}.py, ERR_{rng.randrange(10_000)}."
        yield Memory(
            id=new_id(at),
            kind=rng.choice(_KINDS),
            title=f"{' '.join(picked[0].split()[:8])} {number}",
            summary=picked[0],
            content=content,
            created=at,
            updated=at,
            confirmed=at,
            tags=tuple(rng.sample(_TAGS, rng.randint(0, 3))),
            impact=rng.choice(list(Impact)),
        )


def questions(count: int, seed: int = 2) -> list[str]:
    """Questions of two to six words as people type them."""
    rng = random.Random(seed)
    pool = sentences()
    asked: list[str] = []
    while len(asked) < count:
        words = re.findall(r"[A-Za-z_]{4,}", rng.choice(pool))
        if len(words) >= 6:
            asked.append(" ".join(rng.sample(words, rng.randint(2, 6))))
    return asked
