"""Whether two memories say the same: overlap of their words, as a number from 0 to 1.

Deliberately cruder than the search terms: no stems and no parts of identifiers, so that the
thresholds in the kinds table keep the meaning they have in the designs they come from. Imports
`core.scripts`; no I/O.
"""

from __future__ import annotations

from collections.abc import Set

# 48 words that say nothing about the matter. Words of negation and number are not among them:
# "use X" and "do not use X" must not count as the same. Shorter ones fall to the length rule.
_COMMON = (
    "about also and any are been being but can could did does for from had has have here into"
    " its just may might our shall should some such than that the their them then there these they"
    " this those very was were which will with would your using"
)
STOP = frozenset(_COMMON.split())
"""Words that are left out of the comparison."""

_DELETED = {code: None for code in range(128) if not (chr(code).isalnum() or chr(code).isspace())}
_DELETED[ord("’")] = None


def tokens_of(text: str) -> frozenset[str]:
    """The words of a text that are compared: lower case, joined over punctuation, three letters up.

    `Next.js` is `nextjs`. Beyond ASCII, accents are dropped and scripts without spaces give pairs
    of characters, so that no language is left with nothing to compare.
    """
    if text.isascii():
        words = text.lower().translate(_DELETED).split()
        return frozenset(word for word in words if len(word) > 2 and word not in STOP)
    return _tokens_beyond_ascii(text)


def jaccard(a: Set[str], b: Set[str]) -> float:
    """Shared words as a share of all words of both; two empty sets have nothing in common."""
    if not a or not b:
        return 0.0
    shared = len(a & b)
    return shared / (len(a) + len(b) - shared)


def _tokens_beyond_ascii(text: str) -> frozenset[str]:
    from ltm.core import scripts

    plain = scripts.caseless(scripts.folded(text)).translate(_DELETED)
    found: set[str] = set()
    for word in scripts.words(scripts.spaced(plain)):
        if scripts.UNSPACED.match(word):
            found.update(scripts.pairs(word))
        elif len(word) > 2 and word not in STOP:
            found.add(word)
    return frozenset(found)
