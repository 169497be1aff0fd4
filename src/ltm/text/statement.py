"""A statement taken apart for comparison: its words as they are compared, stems, pauses, denials.

Case, punctuation, Markdown marks, contractions, articles and lead-ins are gone; numbers and units
are evened. What two statements are to each other is said in `sameness`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Container, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import TypeAlias

from ltm.record import NamedTuple
from ltm.text import statement_words as lists
from ltm.text.terms import stem, unspaced

_WORD = 40  # letters of a word that may have an ending
LARGE = 20_000  # characters of a text that is not kept in memory once it is compared

_ELISION = re.compile(r"((?:qu|[ldnjcsmt])')(\w.*)\Z", re.IGNORECASE)
_WIDE_MARK = re.compile("[：，。、；！？]")
_PIECE = re.compile(r"`+([^`\n]+)`+|([^\s`]+)")
_QUOTE_MARKS = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "„": '"', "«": '"', "»": '"'})
_LINE_MARK = re.compile(r"^\s*(?:>+|#{1,6}|[-*+•])\s+", re.MULTILINE)
_NUMBERED = re.compile(r"^\s*\d{1,2}[.)]\s+", re.MULTILINE)
# A mark that is never closed must not make a long line be read over and over.
_STRONG_MARK = re.compile(
    r"(\*\*|~~)(?=\S)(.{1,300}?)(?<=\S)\1|__(?=\S)([^_]{0,200} [^_]{0,200})(?<=\S)__"
)
# It begins with the mark and not with what must not be before that, which is found far quicker.
_EMPHASIS = re.compile(r"([*_])(?<![\w*][*_])(?=[^\s*_.])(.{1,300}?)(?<=[^\s*_])\1(?![\w*])")
_LEFT, _RIGHT = "\"'([{|", "\"')]}|.,;:!?…。，、；：！？」』）"
_PAUSES, _PAUSE = (":", ";", ",", "，", "、"), "\0"
_STOPS, _STOP = (".", "!", "?", "…", "。"), "\1"
BREAKS = frozenset({_PAUSE, _STOP})
_UNSAID = lists.FILLERS | BREAKS
_MAYBE_EMPTY = lists.FILLERS | lists.ARTICLES
NO_MATTER = (lists.FUNCTION | lists.NEGATIONS | {"?"}) - lists.SCOPES
_OPERATORS = frozenset({">", "<", ">=", "<=", "==", "!=", "≥", "≤", "->", "=>", "→"})
_ASSIGNED = re.compile(r"(?<![=!<>:])=(?![=>])")
_MEASURE = re.compile(r"([<>~≈]?[-+]?\d+(?:[.,]\d+)?)([a-z%]+)\Z")
_GROUPED = re.compile(r"\d{1,3}(?:,\d{3})+\Z")
_FLAG = re.compile(r"-[A-Za-z]\w*\Z")
FIGURE = re.compile(r"\d")
_RUSSIAN = re.compile(
    "([а-яё]{3,}?)(?:ами|ями|ого|его|ому|ему|ыми|ими|ых|их|ов|ев|ам|ям|ах|ях|ом|ем|ой|ей|ую|юю|ию|ия|ии"
    "|ие|ый|ий|ая|яя|ое|ее|ы|и|а|я|у|ю|е|о|ь)\\Z"
)
CODE = re.compile(r"[\w)]*[_/\\.:@#$=<>][\w(]|\A[-$@#~/.]")

_Phrases: TypeAlias = dict[str, list[tuple[str, ...]]]
"""Phrases by their first word, the longest first."""


class Statement(NamedTuple):
    """A text taken apart for comparison."""

    key: tuple[str, ...]
    """Its words as they are compared: equal keys say the same."""
    stems: tuple[str, ...]
    """The same words without English endings."""
    matter: frozenset[str]
    """The stems that carry matter."""
    changes: frozenset[tuple[str, ...]]
    """The phrases in it that announce a change."""
    hints: frozenset[tuple[str, ...]]
    """The words in it that may announce one."""
    pauses: frozenset[int]
    """The places before which it pauses."""
    stops: frozenset[int]
    """The places before which a sentence or a line ends."""
    denials: int
    """How often it denies."""
    tokens: tuple[str, ...]
    """The stems that carry matter, in order and with repetitions."""


def statement(text: str) -> Statement:
    """A text taken apart; kept for a while, because one is compared with many."""
    return _taken_apart(text) if len(text) > LARGE else _kept_apart(text)


def _taken_apart(text: str) -> Statement:
    bare = _without(words_in(text), _LEADS, at_end=False)
    bare = _without(bare, _CLOSINGS, at_end=True)
    words: list[_Word] = []
    pauses: set[int] = set()
    stops: set[int] = set()
    last = _last_word(bare)
    for place, word in enumerate(bare):
        if word in BREAKS:
            pauses.add(len(words))
            stops.update([len(words)] if word == _STOP else ())
            continue
        known = _word(word)
        if known[2] not in _MAYBE_EMPTY or not _is_empty(bare, place, last):
            words.append(known)
    if not words:  # of nothing but marks, the marks
        words = [_known_as(each) for each in text.split()]
    if text.rstrip().endswith(("?", "？")):
        words.append(_word("?"))
    kept, stems, plain, _ = zip(*words, strict=True) if words else ((), (), (), ())
    tokens = tuple([base for _, base, _, is_matter in words if is_matter])
    return Statement(
        kept,
        stems,
        frozenset(tokens),
        _phrases_in(plain, _STRONG) | _headed(plain, pauses),
        _phrases_in(plain, _WEAK) | _corrected(plain),
        frozenset(pauses),
        frozenset(stops),
        _denials(plain),
        tokens,
    )


def _last_word(words: Sequence[str]) -> int:
    """The place of the last word that is not a break; 0 where there is none."""
    return next((at for at in reversed(range(len(words))) if words[at] not in BREAKS), 0)


_kept_apart = lru_cache(maxsize=512)(_taken_apart)


# -- words -----------------------------------------------------------------------------------------


def words_in(text: str) -> list[str]:
    """The words of a text, without marks, contractions written out, units and numbers evened."""
    if not text.isascii():
        text = _WIDE_MARK.sub(r"\g<0> ", text)
        text = unicodedata.normalize("NFKC", text).translate(_QUOTE_MARKS)
        text = re.sub(r"[–—]", " ", text)
    found: list[str] = []
    for line in lists.RATHER.sub(r"\1, not", _unmarked(text)).split("\n"):
        for code, chunk in _PIECE.findall(line):
            short = len(code) + len(chunk) <= _WORD
            found += _known_words(code, chunk) if short else _words_of(code, chunk)
        found.append(_STOP)
    return found


def _words_of(code: str, chunk: str) -> tuple[str, ...]:
    """The words of one piece of code or one piece of prose, and the break after it."""
    if code:
        return tuple(word for piece in code.split() for word in _written_out(piece))
    words = [
        word
        for piece in _trimmed(chunk)
        for part in _ASSIGNED.split(piece)
        for word in _written_out(part)
    ]
    if chunk.endswith(_STOPS):
        words.append(_STOP)
    elif chunk.endswith(_PAUSES):
        words.append(_PAUSE)
    return tuple(words)


_known_words = lru_cache(maxsize=8192)(_words_of)
# A text has far fewer different words than words.


def _unmarked(text: str) -> str:
    """A text without the marks of Markdown; those of code are left for the words."""
    # Most texts have none of a mark, which is seen at once; a pattern tries every place.
    if "\n" not in text:
        mark = _LINE_MARK.match(text)
        text = text[mark.end() :] if mark else text
    else:
        text = _LINE_MARK.sub("", text)
        if len(_NUMBERED.findall(text)) > 1:  # one number and a dot may be a date
            text = _NUMBERED.sub("", text)
    if "**" in text or "~~" in text or "__" in text:
        text = _STRONG_MARK.sub(r"\2\3", text)
    if "*" in text or "_" in text:
        text = _EMPHASIS.sub(r"\2", text)
    return text


def _trimmed(chunk: str) -> list[str]:
    if chunk in _OPERATORS:
        return [chunk]
    piece = chunk.lstrip(_LEFT).rstrip(_RIGHT)
    return [piece] if piece and piece not in "-+–—&/*" else []


def _written_out(word: str) -> Iterator[str]:
    low = word.casefold()
    if not word:
        return
    if not word.isascii() and unspaced().search(word):
        at = 0
        for run in unspaced().finditer(word):
            yield from _trimmed(word[at : run.start()])
            yield from run[0]
            at = run.end()
        yield from _trimmed(word[at:])
        return
    if low in lists.CONTRACTIONS:
        yield from lists.CONTRACTIONS[low].split()
        return
    for ending, full in lists.CONTRACTED_ENDINGS.items():
        if low.endswith(ending) and len(low) > len(ending):
            yield word[: -len(ending)]
            yield full
            return
    elided = _ELISION.match(word)
    if elided:
        yield elided[1]
        yield elided[2]
        return
    if _GROUPED.match(word):
        yield word.replace(",", "")
        return
    measured = _MEASURE.match(low)
    if measured and measured[2] in lists.UNITS:
        yield measured[1]
        yield lists.UNITS[measured[2]]
        return
    unit = lists.UNITS.get(low, word) if len(low) > 2 else word
    yield lists.DIGITS.get(low, unit)


def _is_empty(words: Sequence[str], place: int, last: int) -> bool:
    """Whether a word says nothing where it stands."""
    word = words[place]
    low = _plain(word)
    if low in lists.FILLERS:
        return True
    if low not in lists.ARTICLES or place >= last:
        return False
    if low == "a" and FIGURE.match(words[place + 1]):
        return False  # "de 10 a 20"
    return not (len(word) == 1 and word.isupper() and place > 0)  # "plan A"


@lru_cache(maxsize=4096)
def stem_of(word: str) -> str:
    if len(word) > _WORD:
        return word
    if word.isascii():
        return stem(word) if word.isalpha() else word
    return _RUSSIAN.sub(r"\1", word)


folded = lru_cache(maxsize=4096)(lists.folded)


_Word: TypeAlias = tuple[str, str, str, bool]
"""A word as it is compared, its stem, the word as the lists have it, and whether it is matter."""


@lru_cache(maxsize=8192)
def _word(word: str) -> _Word:
    return _known_as(word if _FLAG.match(word) else word.casefold())


def _known_as(key: str) -> _Word:
    plain = folded(key)
    return key, stem_of(key), plain, plain not in NO_MATTER


@lru_cache(maxsize=8192)
def _plain(word: str) -> str:
    return folded(word.casefold())


def _split_phrase(phrase: str) -> tuple[str, ...]:
    return tuple(_plain(word) for word in words_in(phrase) if word not in BREAKS)


def _by_first(phrases: Sequence[str]) -> _Phrases:
    found: _Phrases = {}
    for words in sorted({_split_phrase(each) for each in phrases if each}, key=len, reverse=True):
        found.setdefault(words[0], []).append(words)
    return found


def _without(words: list[str], phrases: _Phrases, *, at_end: bool) -> list[str]:
    """Words without the phrases they open (or end) with; never without all of them."""
    while words:
        last = _last_word(words)
        if at_end:
            places: Iterable[int] = range(max(0, last + 1 - _LONGEST_PHRASE), last + 1)
        else:
            places = [next((at for at, word in enumerate(words) if _plain(word) not in _UNSAID), 0)]
        cut = None
        for at in places:
            if not at_end and _plain(words[at]) in lists.REPLIES and words[at + 1] in BREAKS:
                cut = words[at + 2 :]
            for phrase in phrases.get(_plain(words[at]), ()):
                end = at + len(phrase)
                if at_end and end != last + 1:
                    continue
                if tuple(map(_plain, words[at:end])) == phrase:
                    cut = words[:at] if at_end else words[end:]
                    break
            if cut is not None:
                break
        if cut is None or all(word in BREAKS for word in cut):
            break
        words = cut
    return words


_LEADS = _by_first(lists.LEAD_INS)
_CLOSINGS = _by_first(lists.ENDINGS)
_LONGEST_PHRASE = max(len(phrase) for group in _CLOSINGS.values() for phrase in group)
_STRONG = _by_first(lists.CHANGES)
_WEAK = _by_first(lists.WEAK_CHANGES)
MARKS = frozenset(
    word
    for phrases in (_STRONG, _WEAK)
    for group in phrases.values()
    for phrase in group
    for word in phrase
)


def is_fixed(word: str) -> bool:
    """Whether a word is a number, a flag, a path, an identifier, or denies or counts."""
    plain = folded(word)
    return (
        bool(FIGURE.search(word) or CODE.match(word))
        or plain in lists.NEGATIONS
        or plain in {"all", "every", "only", "always", "never", "some"}
    )


def names_in(text: str) -> frozenset[str]:
    """The words of a text that are written with a capital inside of a sentence, or in code."""
    found: set[str] = set()
    for code, chunk in _PIECE.findall(text):
        if code:
            found.update(each.casefold() for each in code.split())
            continue
        for piece in _trimmed(chunk):
            if any(char.isupper() for char in piece[1:]):
                found.add(piece.casefold())
    return frozenset(found)


def _denials(plain: Sequence[str]) -> int:
    """How often words deny."""
    text = "".join(plain)
    count = sum([word in lists.NEGATIONS for word in plain])
    if not text.isascii():
        count += sum(text.count(each) for each in lists.JAPANESE_NEGATIONS)
    # "ne … pas" is one denial
    twice = {"ne", "n'"} & set(plain) and {"pas", "jamais", "aucun", "aucune"} & set(plain)
    return count - 1 if twice else count


# -- phrases ---------------------------------------------------------------------------------------


def _phrases_in(plain: Sequence[str], phrases: _Phrases) -> frozenset[tuple[str, ...]]:
    return frozenset(tuple(plain[at:end]) for at, end in _found(plain, phrases))


def _headed(plain: Sequence[str], pauses: Container[int]) -> frozenset[tuple[str, ...]]:
    """The word before a first pause, if it announces a change: "Correction: …"."""
    return frozenset(
        (word,) for at, word in enumerate(plain[:3]) if word in lists.HEADS and at + 1 in pauses
    )


def _corrected(plain: Sequence[str]) -> frozenset[tuple[str, ...]]:
    """A denial with its contrast, as in "not A but B"."""
    if lists.NEGATIONS.isdisjoint(plain):
        return frozenset()
    return frozenset((word,) for word in plain if word in lists.CONTRASTS)


def _found(plain: Sequence[str], phrases: _Phrases) -> list[tuple[int, int]]:
    if phrases.keys().isdisjoint(plain):
        return []
    return [
        (at, at + len(phrase))
        for at, word in enumerate(plain)
        for phrase in phrases.get(word, ())
        if tuple(plain[at : at + len(phrase)]) == phrase
    ]
