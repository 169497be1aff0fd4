"""What anybody would write in five minutes: every sentence of the user with a telling word."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from benchmarks.capture.score import Heard
from ltm.sessions.turns import Turn, UserText

_TELLING = re.compile(r"\b(?:remember|always|never|prefer|decided)\b", re.IGNORECASE)
_BETWEEN = re.compile(r"(?<=[.!?])\s+|\n+")


def keywords(turns: Iterable[Turn]) -> Iterator[Heard]:
    """A memory for each sentence with a telling word."""
    for turn in turns:
        if isinstance(turn, UserText):
            for sentence in _BETWEEN.split(turn.text):
                if _TELLING.search(sentence):
                    yield Heard("", sentence.strip()[:80], sentence, turn.line, turn.line)
