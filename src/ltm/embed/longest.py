"""Words into pieces, always the longest piece that fits: near to how unigram tables are meant.

Standard library only.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

_START = "▁"  # stands before a piece that begins a word
_WORDS = re.compile(r"[^\W_]+")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_MEMO = 10_000  # words: 3 MB, and all but a few of those in use


class Longest:
    """Splits texts into the numbers of their pieces, in small letters."""

    def __init__(self, numbers: Mapping[str, int]) -> None:
        self._numbers = numbers
        self._longest = max(map(len, numbers), default=0)
        self._memo: dict[str, list[int]] = {}

    def __call__(self, text: str) -> list[int]:
        """The pieces of a text, in its order; a letter the table lacks is left out."""
        found: list[int] = []
        for word in _WORDS.findall(_HUMP.sub(" ", text).lower()):
            pieces = self._memo.get(word)
            if pieces is None:
                if len(self._memo) >= _MEMO:
                    self._memo.clear()
                pieces = self._memo[word] = self._pieces(word)
            found += pieces
        return found

    def _pieces(self, word: str) -> list[int]:
        word = _START + word
        found: list[int] = []
        at = 0
        while at < len(word):
            for end in range(min(len(word), at + self._longest), at, -1):
                number = self._numbers.get(word[at:end])
                if number is not None:
                    if end - at > 1 or at:  # the mark alone says nothing
                        found.append(number)
                    at = end
                    break
            else:
                at += 1
        return found
