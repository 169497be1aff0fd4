"""Which memories say the same, or nearly: pairs whose words overlap enough.

Compares only those that can overlap enough, so that ten thousand memories do not take fifty million
comparisons, and misses none. Pure; imports core.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from math import ceil

from ltm.core.kinds import Kinds
from ltm.core.model import Memory
from ltm.core.similar import jaccard, tokens_of


def alike(memories: Iterable[Memory], kinds: Kinds) -> Iterator[tuple[Memory, Memory]]:
    """Every pair of one kind whose overlap reaches the kind's duplicate threshold, older first."""
    by_kind: dict[str, list[Memory]] = {}
    for memory in sorted(memories, key=lambda each: (each.created, each.id)):
        by_kind.setdefault(memory.kind, []).append(memory)
    for name, group in by_kind.items():
        for one, other in pairs([tokens_of(each.text) for each in group], kinds[name].duplicate):
            yield group[one], group[other]


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
