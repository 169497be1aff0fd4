"""The difference of two texts, word by word."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from typing import Literal

from ltm.record import NamedTuple

_PIECES = re.compile(r"\s+|\d+(?:[.,:]\d+)+|\w+|[^\w\s]")
_MOST = 6_000
"""Words that are compared one by one; longer texts are compared line by line."""


class DiffPart(NamedTuple):
    """A stretch of text that both have, or only one of them."""

    how: Literal["same", "added", "removed"]
    text: str


def word_diff(before: str, after: str) -> list[DiffPart]:
    """The parts of both texts in order; the parts that are not added make up the first."""
    old, new = _pieces(before), _pieces(after)
    if len(old) + len(new) > _MOST:
        old, new = before.splitlines(True), after.splitlines(True)
    parts: list[DiffPart] = []
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    for _, first, last, begin, end in matcher.get_opcodes():
        one, other = "".join(old[first:last]), "".join(new[begin:end])
        if one == other:
            parts.append(DiffPart("same", one))
            continue
        parts += [DiffPart("removed", one)] if one else []
        parts += [DiffPart("added", other)] if other else []
    return parts


def _pieces(text: str) -> list[str]:
    return _PIECES.findall(text)
