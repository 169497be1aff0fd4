"""One small sign in a sentence, and how sure it makes us.

Owns the shape of a sign and how its pattern is written. Pure; the standard library only.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

MASK = "\ufffc"
"""What stands for code and quotations: their words are not the speaker's."""


@dataclass(frozen=True, slots=True)
class Cue:
    """One sign."""

    name: str
    weight: float
    """What it adds to the certainty; below 0 it speaks against."""
    pattern: re.Pattern[str]
    kind: str = ""
    """What a statement with this sign most likely is; '' leaves it to other signs."""
    rank: int = 0
    """Of several signs with a kind, the one with the highest rank tells it."""
    lasting: bool = False
    """Whether it reaches beyond the task at hand."""


def cue(
    name: str, weight: float, pattern: str, kind: str = "", rank: int = 0, *, lasting: bool = False
) -> Cue:
    """A sign whose pattern may be broken over lines: breaks and indents are not part of it."""
    return Cue(name, weight, re.compile(re.sub(r"\n\s*", "", pattern)), kind, rank, lasting)
