"""Which sets of words overlap enough, found without comparing every pair.

Compares only those that can overlap enough, so that ten thousand memories do not take fifty million
comparisons, and misses none. Pure; imports core.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from math import ceil

from ltm.core.similar import jaccard


def pairs(sets: Sequence[frozenset[str]], least: float) -> Iterator[tuple[int, int]]:
    """The places of all pairs of sets with a Jaccard overlap of at least `least`."""
    common = Counter(word for words in sets for word in words)
    holders: dict[str, list[int]] = {}
    for place, words in enumerate(sets):
        rarest = sorted(words, key=lambda word: (common[word], word))
        # Two sets that overlap enough share at least `must` words of each, hence one of the rarest
        # len - must + 1 of each: the ones that do not share such a word need no comparison.
        must = max(1, ceil(least * len(words) - 1e-9))
        begin = rarest[: len(words) - must + 1]
        near = {other for word in begin for other in holders.get(word, ())}
        for other in sorted(near):
            if jaccard(sets[other], words) >= least:
                yield other, place
        for word in begin:
            holders.setdefault(word, []).append(place)
