"""How alike two texts are, by the words they share.

Three measures. `jaccard` of `tokens_of` compares memories, from 0 to 1; it is cruder than search
terms (no stems, no parts of identifiers). `alike` on `phrases` compares short utterances and is
stricter: two neighbouring words must agree, so that "no, use pnpm" and another correction that also
mentions a test are told apart. `error_likeness` of `error_signs` compares error messages without
the numbers, addresses, moments and folders that differ each time.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set
from functools import cache
from itertools import pairwise
from math import ceil

# 48 words that say nothing about the matter. Words of negation and number are not among them:
# "use X" and "do not use X" must not count as the same. Shorter ones fall to the length rule.
_COMMON = (
    "about also and any are been being but can could did does for from had has have here into"
    " its just may might our shall should some such than that the their them then there these they"
    " this those very was were which will with would your using"
)
COMMON_WORDS = frozenset(_COMMON.split())
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
        return frozenset(word for word in words if len(word) > 2 and word not in COMMON_WORDS)
    return _tokens_beyond_ascii(text)


def jaccard(a: Set[str], b: Set[str]) -> float:
    """Shared words as a share of all words of both; two empty sets have nothing in common."""
    if not a or not b:
        return 0.0
    shared = len(a & b)
    return shared / (len(a) + len(b) - shared)


def pairs(sets: Sequence[frozenset[str]], least: float) -> Iterator[tuple[int, int]]:
    """The places of all pairs of sets with a Jaccard overlap of at least `least`.

    Only those that can overlap enough are compared, so that ten thousand memories do not take fifty
    million comparisons.
    """
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


def _tokens_beyond_ascii(text: str) -> frozenset[str]:
    from ltm.text import terms

    plain = terms.caseless(terms.folded(text)).translate(_DELETED)
    found: set[str] = set()
    for word in terms.words(terms.spaced(plain)):
        if terms.unspaced().match(word):
            found.update(terms.pairs(word))
        elif len(word) > 2 and word not in COMMON_WORDS:
            found.add(word)
    return frozenset(found)


ALIKE = 0.5
"""Share of the smaller one's phrases that two utterances have in common to be about the same."""

_WORD = r"[a-z0-9][a-z0-9_./+#'-]*"  # compiled where it is used: hooks do not
# Words that carry no matter, and the cues that make an utterance a correction. "never" stays.
_FILLERS = (
    "a an the this that these those it its is are was were be been being am i im ive id you"
    " youre your yours we our us me my he she they them their and or but so if then than as at"
    " by for from in into of on onto out over to up with about again all also any can could"
    " did didnt do does doing done get got had has have here how just let lets like make more"
    " most much need now ok okay one only other please really said same should some still stop"
    " such sure thanks there thing things too very want wanted way well what when where which"
    " who why will would yes no nope wrong dont thats not undo revert told already keep keeps"
    " asked"
)
_EMPTY = frozenset(_FILLERS.split())


def phrases(text: str) -> frozenset[str]:
    """The words that carry matter, and the pairs of them that stand side by side."""
    found = re.findall(_WORD, text.lower()) if text.isascii() else _beyond_ascii(text)
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


def _singular(word: str) -> str:
    """Without the ending of a plural, so that a test and tests are one matter."""
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def _beyond_ascii(text: str) -> list[str]:
    """Words of any script; in scripts without spaces, pairs of characters are the words."""
    from ltm.text import terms

    plain = terms.caseless(terms.folded(text.replace("’", "'")))
    if not terms.unspaced().search(plain):
        return re.findall(_WORD, plain) if plain.isascii() else terms.words(plain)
    found: list[str] = []
    for word in terms.words(terms.spaced(plain)):
        found += terms.pairs(word) if terms.unspaced().match(word) else [word]
    return found


# -- error messages -------------------------------------------------------------------------------

SAME_ERROR = 0.6
"""Likeness from which two errors are taken for the same: more than half of all their words, so that
a message about another name in the same form falls short."""

_ERROR_LINES = 60  # of a text, that are looked at
_LONGEST = 400
_ENOUGH = 3  # signs of a part that stands for the whole
_TELLING = 8  # letters of a word that is an error's name
# Patterns are compiled when they are used: the start of a session needs none of them.
_ANSI = r"\x1b\[[0-9;?]*[A-Za-z]"
_CHANGING = (
    r"(?i)\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b"  # a uuid
    r"|\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?\S*)?|\b\d\d:\d\d:\d\d\S*"  # a moment
    r"|\b0x[0-9a-f]+\b|\b(?=[a-f]*\d)[0-9a-f]{7,}\b"  # an address, a hash
    r"|\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b"  # a host's number
    r"|(?:(?<=:)|\bline |\bcolumn |\bpid |\bport )\d+|\b\d+(?:\.\d+)?(?:ms|s|kb|mb|gb|%)?\b"
)
_FOLDERS = r"(?:[A-Za-z]:)?(?:[\w.@+~-]*[/\\])+(?=[\w.@+-])"


@cache
def _usual() -> frozenset[str]:
    from ltm.text.terms import STOP, terms

    return STOP.union(
        terms(
            "error exception fail failed failure fatal exit code status line file trace traceback"
            " recent call last caused stack panic warn warning"
        )
    )


def bare_error(line: str) -> str:
    """A line of an error without what changes from one time to the next."""
    text = re.sub(_ANSI, "", line[:_LONGEST])
    return " ".join(re.sub(_CHANGING, " ", re.sub(_FOLDERS, "", text)).split())


def error_signs(line: str) -> frozenset[str]:
    """The terms an error is known by; none where a line says nothing of its own."""
    from ltm.text.terms import terms

    return frozenset(term for term in terms(bare_error(line)) if not term.isdigit()) - _usual()


def error_likeness(asked: Iterable[frozenset[str]], known: str) -> float:
    """How like the best line of a known text is to the best of the lines asked for, 0 to 1.

    That is the share of common signs; a part of a message that is long enough stands for the whole.
    """
    lines = [error_signs(line) for line in known.splitlines()[:_ERROR_LINES]]
    best = 0.0
    for one, other in ((one, other) for one in asked for other in lines):
        shared = len(one & other)
        if shared:
            best = max(best, shared / len(one | other))
            for each in (one, other):
                if len(each) >= _ENOUGH:
                    best = max(best, 0.95 * shared / len(each))
            if shared == len(one) and any(len(sign) >= _TELLING for sign in one):
                best = max(best, 0.9)  # only its name was typed: ECONNREFUSED
    return best
