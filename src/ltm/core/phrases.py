"""Whether two short utterances are about the same thing: the words and pairs of words they share.

Stricter than `similar`: one common word is never enough, two neighbours must agree. That is what
tells "no, use pnpm" said twice from two corrections that merely both mention a test. Imports
`core.scripts`; no I/O.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise

ALIKE = 0.5
"""Share of the smaller one's phrases that two utterances have in common to be about the same."""

_WORD = re.compile(r"[a-z0-9][a-z0-9_./+#'-]*")
# Words that carry no matter, and the cues that make an utterance a correction. "never" stays.
_COMMON = (
    "a an the this that these those it its is are was were be been being am i im ive id you"
    " youre your yours we our us me my he she they them their and or but so if then than as at"
    " by for from in into of on onto out over to up with about again all also any can could"
    " did didnt do does doing done get got had has have here how just let lets like make more"
    " most much need now ok okay one only other please really said same should some still stop"
    " such sure thanks there thing things too very want wanted way well what when where which"
    " who why will would yes no nope wrong dont thats not undo revert told already keep keeps"
    " asked"
)
_EMPTY = frozenset(_COMMON.split())


def phrases(text: str) -> frozenset[str]:
    """The words that carry matter, and the pairs of them that stand side by side."""
    found = _WORD.findall(text.lower()) if text.isascii() else _beyond_ascii(text)
    words = [_singular(word.strip("'.-/")) for word in found if word.replace("'", "") not in _EMPTY]
    words = [word for word in words if word]
    return frozenset([*words, *(f"{one} {two}" for one, two in pairwise(words))])


def alike(one: frozenset[str], two: frozenset[str]) -> bool:
    """Whether two sets of phrases are about the same: half of the smaller one, and a pair."""
    return overlap(one, two) >= ALIKE and any(" " in phrase for phrase in one & two)


def overlap(one: frozenset[str], two: frozenset[str]) -> float:
    """Phrases in common as a share of the smaller set."""
    smaller = min(len(one), len(two))
    return len(one & two) / smaller if smaller else 0.0


def says_something(text: str) -> bool:
    """Whether an utterance names any matter: "no, stop" does not."""
    return any(" " in phrase for phrase in phrases(text))


def most_typical(texts: Sequence[str]) -> str:
    """The text that shares most with the others; of equals the shortest, then the first."""
    sets = [phrases(text) for text in texts]

    def rank(place: int) -> tuple[float, int, int]:
        shared = sum(overlap(sets[place], other) for other in sets)
        return (-round(shared, 6), len(texts[place]), place)

    return texts[min(range(len(texts)), key=rank)] if texts else ""


def common(texts: Iterable[str], most: int = 10) -> list[str]:
    """The phrases several of these texts share, the most frequent first."""
    counts: dict[str, int] = {}
    for text in texts:
        for phrase in phrases(text):
            counts[phrase] = counts.get(phrase, 0) + 1
    shared = [phrase for phrase, count in counts.items() if count > 1]
    return sorted(shared, key=lambda phrase: (-counts[phrase], -len(phrase), phrase))[:most]


def _singular(word: str) -> str:
    """Without the ending of a plural, so that a test and tests are one matter."""
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def _beyond_ascii(text: str) -> list[str]:
    """Words of any script; in scripts without spaces, pairs of characters are the words."""
    from ltm.core import scripts

    plain = scripts.caseless(scripts.folded(text.replace("’", "'")))
    if not scripts.UNSPACED.search(plain):
        return _WORD.findall(plain) if plain.isascii() else scripts.words(plain)
    found: list[str] = []
    for word in scripts.words(scripts.spaced(plain)):
        found += scripts.pairs(word) if scripts.UNSPACED.match(word) else [word]
    return found
