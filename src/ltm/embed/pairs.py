"""Words into pieces by merging pairs (BPE), as the Llama 2 family does it.

Owns the merging, word by word with a memo, which gives the same pieces as the tokenizer the table
was made with and needs no library. That one lists 61,000 pairs in the order they are merged, which
take 15 MB; but they are all the pairs of pieces that make a piece, in the order of what they make,
so the pieces' numbers say it all. Standard library only.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import pairwise

_START = "▁"  # stands for the space before a word
_WORDS = re.compile(f"\n|{_START}+[^{_START}\n]*|[^{_START}\n]+")
_LONGEST = 64  # letters: merging takes time by the square of them, and nothing that long is a word
_MEMO = 10_000  # words: 3 MB, and all but a few of those in use
_NEVER = (2,)  # a rank above all others, which begin with 0 or 1


class Pairs:
    """Splits texts into the numbers of their pieces."""

    def __init__(self, numbers: Mapping[str, int]) -> None:
        self._numbers = numbers
        self._memo: dict[str, list[int]] = {}

    def __call__(self, text: str) -> list[int]:
        """The pieces of a text, in its order."""
        if not text.strip():
            return []
        found: list[int] = []
        for word in _WORDS.findall(_START + text.replace(" ", _START)):
            for start in range(0, len(word), _LONGEST):
                found += self._known(word[start : start + _LONGEST])
        return found

    def _known(self, word: str) -> list[int]:
        pieces = self._memo.get(word)
        if pieces is None:
            if len(self._memo) >= _MEMO:
                self._memo.clear()
            pieces = self._memo[word] = self._pieces(word)
        return pieces

    def _pieces(self, word: str) -> list[int]:
        parts = list(word)
        while len(parts) > 1:
            ranks = [self._rank(left, right) for left, right in pairwise(parts)]
            at = min(range(len(ranks)), key=ranks.__getitem__)
            if ranks[at] is _NEVER:
                break
            parts[at : at + 2] = [parts[at] + parts[at + 1]]
        found: list[int] = []
        for part in parts:
            number = self._numbers.get(part)
            if number is None:  # a letter the table lacks is spelled byte by byte
                spelled = part.encode("utf-8", "replace")
                found += [self._numbers[f"<0x{byte:02X}>"] for byte in spelled]
            else:
                found.append(number)
        return found

    def _rank(self, left: str, right: str) -> tuple[int, ...]:
        """When a pair is merged: before all pairs of a higher rank."""
        made = self._numbers.get(left + right)
        if made is None or left not in self._numbers or right not in self._numbers:
            return _NEVER
        # Runs of spaces come last of all.
        late = not (left + right).strip(_START)
        return (late, made, self._numbers[left], self._numbers[right])
