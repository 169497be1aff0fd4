"""Pairs of statements by authors who did not know the rules, and the outcome each should have.

`statement_pairs.jsonl` has one pair a line: two statements in the order they are said, how a
careful reader sees the second, the sort of difference, and the language.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from ltm.kinds import Kinds
from ltm.vault import codec, frontmatter

ENOUGH = 0.9
"""Share of pairs with the right outcome, of all and of every sort that has at least twenty."""

_OUTCOMES = {
    "same": {"confirmed"},
    "more": {"extended"},
    "change": {"replaced"},
    "conflict": {"conflict"},
    "alike": {"similar", "added"},
    "new": {"similar", "added"},
}


class Pair(NamedTuple):
    """Two statements and what is right about the second."""

    first: str
    second: str
    expect: str
    category: str
    lang: str


def pairs(lang: str = "") -> list[Pair]:
    """All pairs, or those of a language."""
    path = Path(__file__).with_name("statement_pairs.jsonl")
    found = [Pair(**json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]
    return [pair for pair in found if lang in ("", pair.lang)]


def judged(chosen: list[Pair], outcome: Callable[[int, Pair], str]) -> tuple[float, list[str]]:
    """The share of right outcomes, and the sorts of difference that fall short."""
    right: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for number, pair in enumerate(chosen):
        total[pair.category] += 1
        right[pair.category] += outcome(number, pair) in _OUTCOMES[pair.expect]
    weak = [
        f"{name}: {right[name]} of {total[name]}"
        for name in total
        if total[name] >= 20 and right[name] < ENOUGH * total[name]
    ]
    return right.total() / total.total(), weak


def on_the_disk(folder: Path, text: str) -> bool:
    """Whether a text is word for word in a memory's file or its archive, below a folder."""
    wanted = " ".join(text.split())
    for path in chain(folder.rglob("memories/*.md"), folder.rglob("archives/*.md")):
        document = frontmatter.parse(path.read_bytes(), str(path))
        memory = codec.decode(document, str(path), Kinds())
        if wanted in " ".join(memory.text.split()):
            return True
    return False
