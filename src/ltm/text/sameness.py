"""How two statements relate: whether a newer one says the same, more, less, a change or otherwise.

Two statements are the same only if they agree in every word that matters and in its order, hence in
every number, version, unit, path, name, denial and quantifier. Case, punctuation, Markdown marks,
contractions, articles and lead-ins do not matter. Everything else that is alike is told apart by
aligning the words: what was added, what was left out, and what stands in the place of what. Nothing
here throws a text away; callers keep both whenever the answer is not `SAME`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from enum import StrEnum
from functools import lru_cache
from itertools import pairwise
from typing import TypeAlias

from ltm.record import NamedTuple
from ltm.text import statement_words as lists
from ltm.text.terms import stem, unspaced

LONGEST = 400
"""Words beyond which two texts are not aligned: they are the same, or merely alike."""

_PARTS = 4  # places in which they may part
_LOOSE = 2  # words of matter that may be added or missing elsewhere
_CLOSE = 0.5  # share of the matter that two statements about one thing have in common
_ALIKE = 0.4
_WORTH = 0.33  # share of the smaller one's matter from which two texts are aligned
_FRAMED = 0.5  # share of words, of matter or not, from which two are built alike
_ROOT = 6  # letters by which two forms of a word are known as one
_FIT = 0.5
_COVERED = 0.6  # share of the older statement from which a mere "now" speaks of it

_LARGE = 20_000  # characters of a text that is not kept in memory once it is compared
_WORD = 40  # letters of a word that may have an ending
_SWAPPED = 40  # words that may stand around and between what changed places

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
_BREAKS = frozenset({_PAUSE, _STOP})
_UNSAID = lists.FILLERS | _BREAKS
_MAYBE_EMPTY = lists.FILLERS | lists.ARTICLES
_NO_MATTER = (lists.FUNCTION | lists.NEGATIONS | {"?"}) - lists.SCOPES
_NOT_POSITIVE = lists.NEGATIONS | lists.QUANTIFIERS | lists.HELPERS
_OPERATORS = frozenset({">", "<", ">=", "<=", "==", "!=", "≥", "≤", "->", "=>", "→"})
_ASSIGNED = re.compile(r"(?<![=!<>:])=(?![=>])")
_MEASURE = re.compile(r"([<>~≈]?[-+]?\d+(?:[.,]\d+)?)([a-z%]+)\Z")
_GROUPED = re.compile(r"\d{1,3}(?:,\d{3})+\Z")
_FLAG = re.compile(r"-[A-Za-z]\w*\Z")
_FIGURE = re.compile(r"\d")
_RUSSIAN = re.compile(
    "([а-яё]{3,}?)(?:ами|ями|ого|его|ому|ему|ыми|ими|ых|их|ов|ев|ам|ям|ах|ях|ом|ем|ой|ей|ую|юю|ию|ия|ии"
    "|ие|ый|ий|ая|яя|ое|ее|ы|и|а|я|у|ю|е|о|ь)\\Z"
)
_CODE = re.compile(r"[\w)]*[_/\\.:@#$=<>][\w(]|\A[-$@#~/.]")

_Phrases: TypeAlias = dict[str, list[tuple[str, ...]]]
"""Phrases by their first word, the longest first."""


class Sameness(StrEnum):
    """What a newer statement is to an older one."""

    SAME = "same"
    MORE = "more"
    """It says all of the older one, and something more."""
    LESS = "less"
    """It says a part of the older one."""
    CHANGE = "change"
    """It announces that something changed which the older one says."""
    CONFLICT = "conflict"
    """It differs in a value, a name or a denial, and is alike otherwise."""
    ALIKE = "alike"
    OTHER = "other"


class Verdict(NamedTuple):
    """How a newer statement relates to an older one, and how well they fit each other."""

    relation: Sameness
    fit: float = 0.0


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


def same(one: str, other: str) -> bool:
    """Whether two texts say the same."""
    return key(one) == key(other)


def key(text: str) -> tuple[str, ...]:
    """The words of a text as they are compared; texts with equal keys say the same."""
    return statement(text).key


def holds(whole: str, part: str) -> bool:
    """Whether a text says all that another one says, in whole sentences that stand together."""
    found, wanted = statement(whole), key(part)
    size = len(wanted)
    edges = {0, len(found.key), *found.stops}
    return any(
        found.key[at : at + size] == wanted and at + size in edges
        for at in edges
        if at + size <= len(found.key)
    )


def announces(text: str) -> bool:
    """Whether a text announces a change."""
    return bool(statement(text).changes)


def opposed(one: str, other: str) -> bool:
    """Whether one of two statements about one thing denies what the other says."""
    return _denied(statement(one), statement(other))


def says_otherwise(one: str, other: str) -> bool:
    """Whether two statements about one thing differ in a value, a name or a denial."""
    a, b = statement(one), statement(other)
    if max(len(a.key), len(b.key)) > LONGEST or a.key == b.key:
        return False
    if opposed(one, other):
        return True
    parts = _differences(a, b)
    # A second place may be another way to say the same.
    alone = len(parts) == 1 and parts[0].replaced
    return alone and _slots(a, b, parts, parts) is Sameness.CONFLICT


def leaves_out(newer: str, older: str) -> bool:
    """Whether a change does not say what it is about, so that only the older text tells."""
    new, old = statement(newer), statement(older)
    theirs = _subject(old, _GENERIC_STEMS)
    return _weight(_subject(new, _MARK_STEMS) & theirs) < _COVERED * _weight(theirs)


def missing(source: str, text: str) -> frozenset[str]:
    """The numbers, names, identifiers and denials of a source that a text made from it lacks."""
    there = {*key(text), *statement(text).stems}
    return (
        frozenset(
            word
            for word, base in zip(key(source), statement(source).stems, strict=True)
            if _is_fixed(word) and word not in there and base not in there
        )
        | _names(source) - {each.casefold() for each in _words_in(text) if each not in _BREAKS}
        | ({"not"} if statement(source).denials > statement(text).denials else set())
    )


def judge(newer: str, older: str, *, changed: bool = False) -> Verdict:
    """How a newer statement relates to an older one; `changed` if what came before it said so."""
    if max(len(newer), len(older)) > _LARGE:  # a document: the same, or another one
        same_words = newer.casefold().split() == older.casefold().split()
        return Verdict(Sameness.SAME, 1.0) if same_words else Verdict(Sameness.OTHER)
    new, old = statement(newer), statement(older)
    if new.key == old.key:
        return Verdict(Sameness.SAME, 1.0)
    shared = _shared(new, old)
    if not shared:
        return Verdict(Sameness.OTHER)
    if max(len(new.key), len(old.key)) > LONGEST:
        return Verdict(Sameness.ALIKE if shared >= _ALIKE else Sameness.OTHER, shared)
    verdict, common = _told_apart(new, old, shared, changed=changed)
    if verdict is not None:
        return verdict
    if shared < _ALIKE and common >= _WORTH:
        matcher = SequenceMatcher(None, old.stems, new.stems, autojunk=False)
        is_framed = matcher.quick_ratio() >= _FRAMED and matcher.ratio() >= _FRAMED
        return Verdict(Sameness.ALIKE if is_framed else Sameness.OTHER, shared)
    return Verdict(Sameness.ALIKE if shared >= _ALIKE else Sameness.OTHER, shared)


def outdoes(newer: str, older: str) -> bool:
    """Whether a newer statement changes what an older one says, or says it otherwise: what `judge`
    says too, in half the time where it says neither."""
    if max(len(newer), len(older)) > _LARGE:
        return False
    new, old = statement(newer), statement(older)
    shared = _shared(new, old) if new.key != old.key else 0.0
    if not shared or max(len(new.key), len(old.key)) > LONGEST:
        return False
    verdict, _ = _told_apart(new, old, shared)
    return verdict is not None and verdict.relation in (Sameness.CHANGE, Sameness.CONFLICT)


def _told_apart(
    new: Statement, old: Statement, shared: float, *, changed: bool = False
) -> tuple[Verdict | None, float]:
    """What is said of two statements that are more than alike, and how much matter they share."""
    # Most pairs have a word in common and no more: they are not worth an alignment.
    common = len(new.matter & old.matter) / min(len(new.matter), len(old.matter))
    plain = _aligned(new, old) if common >= _WORTH and _can_align(new, old) else None
    if changed or new.changes - old.changes or new.hints - old.hints or _moves(new, old):
        fit = _change_fit(new, old, plain, changed=changed)
        if fit >= _FIT:
            return Verdict(Sameness.CHANGE, fit), common
        if plain is None and _gives_up(new, old):
            return Verdict(Sameness.CONFLICT, shared), common
    return (Verdict(plain, shared) if plain is not None else None), common


def statement(text: str) -> Statement:
    """A text taken apart; kept for a while, because one is compared with many."""
    return _taken_apart(text) if len(text) > _LARGE else _kept_apart(text)


def _taken_apart(text: str) -> Statement:
    bare = _without(_words_in(text), _LEADS, at_end=False)
    bare = _without(bare, _CLOSINGS, at_end=True)
    words: list[_Word] = []
    pauses: set[int] = set()
    stops: set[int] = set()
    last = _last_word(bare)
    for place, word in enumerate(bare):
        if word in _BREAKS:
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
    return next((at for at in reversed(range(len(words))) if words[at] not in _BREAKS), 0)


_kept_apart = lru_cache(maxsize=512)(_taken_apart)


# -- words -----------------------------------------------------------------------------------------


def _words_in(text: str) -> list[str]:
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
    if low == "a" and _FIGURE.match(words[place + 1]):
        return False  # "de 10 a 20"
    return not (len(word) == 1 and word.isupper() and place > 0)  # "plan A"


@lru_cache(maxsize=4096)
def _stem(word: str) -> str:
    if len(word) > _WORD:
        return word
    if word.isascii():
        return stem(word) if word.isalpha() else word
    return _RUSSIAN.sub(r"\1", word)


_folded = lru_cache(maxsize=4096)(lists.folded)


_Word: TypeAlias = tuple[str, str, str, bool]
"""A word as it is compared, its stem, the word as the lists have it, and whether it is matter."""


@lru_cache(maxsize=8192)
def _word(word: str) -> _Word:
    return _known_as(word if _FLAG.match(word) else word.casefold())


def _known_as(key: str) -> _Word:
    plain = _folded(key)
    return key, _stem(key), plain, plain not in _NO_MATTER


@lru_cache(maxsize=8192)
def _plain(word: str) -> str:
    return _folded(word.casefold())


def _split_phrase(phrase: str) -> tuple[str, ...]:
    return tuple(_plain(word) for word in _words_in(phrase) if word not in _BREAKS)


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
            if not at_end and _plain(words[at]) in lists.REPLIES and words[at + 1] in _BREAKS:
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
        if cut is None or all(word in _BREAKS for word in cut):
            break
        words = cut
    return words


_LEADS = _by_first(lists.LEAD_INS)
_CLOSINGS = _by_first(lists.ENDINGS)
_LONGEST_PHRASE = max(len(phrase) for group in _CLOSINGS.values() for phrase in group)
_STRONG = _by_first(lists.CHANGES)
_WEAK = _by_first(lists.WEAK_CHANGES)
_MARKS = frozenset(
    word
    for phrases in (_STRONG, _WEAK)
    for group in phrases.values()
    for phrase in group
    for word in phrase
)


def _is_fixed(word: str) -> bool:
    """Whether a word is a number, a flag, a path, an identifier, or denies or counts."""
    plain = _folded(word)
    return (
        bool(_FIGURE.search(word) or _CODE.match(word))
        or plain in lists.NEGATIONS
        or plain in {"all", "every", "only", "always", "never", "some"}
    )


def _names(text: str) -> frozenset[str]:
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


# -- relations -------------------------------------------------------------------------------------


def _shared(one: Statement, other: Statement) -> float:
    """Matter in common as a share of all matter."""
    if not one.matter or not other.matter:
        return 0.0
    return len(one.matter & other.matter) / len(one.matter | other.matter)


def _denials(plain: Sequence[str]) -> int:
    """How often words deny."""
    text = "".join(plain)
    count = sum([word in lists.NEGATIONS for word in plain])
    if not text.isascii():
        count += sum(text.count(each) for each in lists.JAPANESE_NEGATIONS)
    # "ne … pas" is one denial
    twice = {"ne", "n'"} & set(plain) and {"pas", "jamais", "aucun", "aucune"} & set(plain)
    return count - 1 if twice else count


def _denied(one: Statement, other: Statement) -> bool:
    """Whether two statements are alike but for denials, quantifiers and helping verbs."""
    counts = (one.denials, other.denials)
    if not any(counts) or counts[0] - _asides(one, other) == counts[1] - _asides(other, one):
        return False
    a, b = _positive(one), _positive(other)
    return bool(a and b) and SequenceMatcher(None, a, b, autojunk=False).ratio() >= 0.75


def _asides(each: Statement, other: Statement) -> int:
    """How often one only adds what does not hold: "not npm" denies nothing of "use pnpm"."""
    return sum(
        _folded(each.key[at]) in lists.NEGATIONS and other.matter.isdisjoint(each.stems[at:end])
        for at, end in pairwise([*sorted(each.pauses | each.stops), len(each.key)])
        if at < end and not each.matter.isdisjoint(each.stems[at:end])
    )


def _positive(each: Statement) -> list[str]:
    return [
        base
        for word, base in zip(map(_folded, each.key), each.stems, strict=True)
        if word not in _NOT_POSITIVE
    ]


class _Difference(NamedTuple):
    """One place where two statements part."""

    old: tuple[int, int]
    new: tuple[int, int]

    @property
    def replaced(self) -> bool:
        return self.old[0] < self.old[1] and self.new[0] < self.new[1]


def _can_align(new: Statement, old: Statement) -> bool:
    """Whether an alignment can say anything, as far as the words tell: to align takes much longer.

    If not, neither holds all words of the other, neither denies what the other says, and too few of
    the words of the longer one are in the other for the two to differ in a place or two only
    (`_slots`).
    """
    ours, theirs = frozenset(new.stems), frozenset(old.stems)
    if ours <= theirs or theirs <= ours or _denied(new, old):
        return True
    longer, shorter = new.tokens, theirs
    if len(old.tokens) > len(new.tokens):
        longer, shorter = old.tokens, ours
    kept = sum([base in shorter for base in longer])
    return kept >= max(1.0, _CLOSE * len(longer))


def _aligned(new: Statement, old: Statement) -> Sameness | None:
    """What an alignment word by word says; None if the two have no more in common than words."""
    parts = _differences(new, old)
    if not parts:  # the same stems: endings differ
        return Sameness.ALIKE
    if _is_swap(new, old):
        return Sameness.CONFLICT
    replaced = [part for part in parts if part.replaced]
    if not replaced and all(part.old[0] == part.old[1] for part in parts):
        return _grown(new, old, parts)
    if not replaced and all(part.new[0] == part.new[1] for part in parts):
        relation = _grown(old, new, [_Difference(part.new, part.old) for part in parts])
        return Sameness.LESS if relation is Sameness.MORE else relation
    if _denied(new, old):
        return Sameness.CONFLICT
    return _slots(new, old, parts, replaced)


def _differences(new: Statement, old: Statement) -> list[_Difference]:
    """The places where two statements part, in order."""
    matcher = SequenceMatcher(None, old.stems, new.stems, autojunk=False)
    return [
        _Difference((a, b), (c, d)) for tag, a, b, c, d in matcher.get_opcodes() if tag != "equal"
    ]


def _is_swap(new: Statement, old: Statement) -> bool:
    """Whether two statements of the same words differ in what comes first or what is preferred."""
    one, two = list(new.stems), list(old.stems)
    if sorted(one) != sorted(two):
        return False
    if sum(a != b for a, b in zip(one, two, strict=True)) == 2:
        return True
    while one[0] == two[0]:
        del one[0], two[0]
    while one[-1] == two[-1]:
        del one[-1], two[-1]
    if any(_folded(word) in lists.ORDER for word in new.key):
        return True
    if len(two) > _SWAPPED:
        return False
    # "A is above B" and "B is above A"; a part that only moved to the front has nothing between
    return any(
        two[:a] == one[-a:] and two[-b:] == one[:b] and len(two) > a + b
        for a in range(1, len(two))
        for b in range(1, len(two) - a)
    )


def _grown(new: Statement, old: Statement, parts: Sequence[_Difference]) -> Sameness:
    """What a statement is that holds all words of another one, and more."""
    size = len(old.stems)
    for part in parts:
        added = [_folded(word) for word in new.key[slice(*part.new)]]
        at_end = part.old[0] == size
        for word in added:
            if word in lists.REASONS:
                break
            if word in lists.NEGATIONS and not at_end:
                return Sameness.CONFLICT if new.denials != old.denials else Sameness.ALIKE
        if not at_end and part.old[0] and _is_subject(old, part.old[0]):
            return Sameness.ALIKE
        if part.old[0] == 0 and any(word in lists.SCOPES for word in added):
            return Sameness.ALIKE
    return Sameness.MORE


def _slots(
    new: Statement, old: Statement, parts: Sequence[_Difference], replaced: Sequence[_Difference]
) -> Sameness | None:
    """Whether two statements differ only in what stands in a place or two."""
    gone = _matter_in(old, [part.old for part in parts])
    come = _matter_in(new, [part.new for part in parts])
    total = max(len(old.tokens), len(new.tokens))
    loose = sum(
        max(_matter_in(old, [part.old]), _matter_in(new, [part.new]))
        for part in parts
        if not part.replaced
    )
    kept = total - max(gone, come)
    # something in the place of something, and not one verb for another
    real = [part for part in replaced if _both_have(_is_value, new, old, part)]
    if not real or kept < max(1.0, _CLOSE * total) or loose > _LOOSE or len(parts) > _PARTS:
        return None
    if any(_is_scope(new, old, part) for part in real):
        return Sameness.ALIKE
    if len(real) > 1 and not all(_both_have(_is_number, new, old, part) for part in real):
        return Sameness.ALIKE
    return Sameness.CONFLICT


def _matter_in(each: Statement, spans: Sequence[tuple[int, int]]) -> int:
    return sum(_folded(word) not in _NO_MATTER for span in spans for word in each.key[slice(*span)])


def _both_have(
    wanted: Callable[[str], bool], new: Statement, old: Statement, part: _Difference
) -> bool:
    sides = (old.key[slice(*part.old)], new.key[slice(*part.new)])
    return all(any(wanted(_folded(word)) for word in side) for side in sides)


def _is_value(plain: str) -> bool:
    if plain in lists.NEGATIONS:
        return False  # whether both deny is counted elsewhere
    return plain in lists.QUANTIFIERS or not (plain in _NO_MATTER or plain in lists.LIGHT)


def _is_scope(new: Statement, old: Statement, part: _Difference) -> bool:
    """Whether two statements part where they say where they hold."""
    before = [_folded(word) for word in old.key[slice(*part.old)]]
    after = [_folded(word) for word in new.key[slice(*part.new)]]
    start = part.old[0]
    led = {_folded(word) for word in old.key[max(0, start - 2) : start]}
    if old.pauses & {start, start - 1} or (start and _folded(old.key[start - 1]) in lists.VERBS):
        return False
    if any(w in lists.SCOPES for w in before) and any(w in lists.SCOPES for w in after):
        return True
    if any(_is_number(word) for word in (*before, *after)):
        return False
    if start == 0 and {before[0], after[0]} <= lists.PLACES:
        return True
    return bool(led & lists.SCOPE_MARKS) and not led & lists.VERBS


def _is_number(word: str) -> bool:
    return bool(_FIGURE.search(word)) or word in lists.NUMBERS


def _is_subject(each: Statement, place: int) -> bool:
    """Whether a place is before the verb of a statement that has one."""
    plain = [_folded(word) for word in each.key]
    verbs = [at for at, word in enumerate(plain) if word in lists.VERBS]
    return bool(verbs) and verbs[0] > 0 and place < verbs[0]


# -- changes ---------------------------------------------------------------------------------------


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


def _moves(new: Statement, old: Statement) -> bool:
    """Whether a statement says "from A to B", and the older one speaks of A and not of B."""
    plain = [_folded(word) for word in new.key]
    for at, word in enumerate(plain):
        if word not in lists.FROM:
            continue
        for to in range(at + 2, min(at + 6, len(plain))):
            if plain[to] in lists.VERBS:
                break
            if plain[to] in lists.TO:
                a = {base for base in new.stems[at + 1 : to] if base in new.matter}
                b = {base for base in new.stems[to + 1 : to + 4] if base in new.matter}
                if a and a <= old.matter and b - old.matter:
                    return True
    return False


def _change_fit(new: Statement, old: Statement, plain: Sameness | None, *, changed: bool) -> float:
    """How sure it is that an announced change is a change of what the older statement says."""
    strong = changed or bool(new.changes - old.changes) or _moves(new, old)
    if plain is Sameness.CONFLICT:
        return 1.0
    own = _subject(new, _MARK_STEMS)
    theirs = _subject(old, _GENERIC_STEMS)
    common = own & theirs
    if not common:
        return 0.0
    covered, told = (_weight(common) / _weight(all_of) for all_of in (theirs, own))
    if not strong:
        return covered if covered >= _COVERED and plain is not Sameness.MORE else 0.0
    if plain is Sameness.MORE:
        return 1.0
    if len(common) == 1:  # one word in common may be any word
        return (covered + told) / 2 if covered >= _FIT else 0.0
    return max(covered, told) if told >= _FIT or covered >= _COVERED else 0.0


def _gives_up(new: Statement, old: Statement) -> bool:
    """Whether a change names the one thing that the older statement chose, for whatever reasons.

    It may give it up in one place only, so this is no more than a contradiction.
    """
    if not new.changes - old.changes and not _moves(new, old):
        return False
    ends = [at for at, word in enumerate(old.key) if _folded(word) in _AFTER_CHOICE]
    choice = frozenset(old.stems[: min([*ends, *old.pauses, *old.stops], default=len(old.key))])
    choice = (choice & old.matter) - _CHOICE_STEMS
    named = _subject(new, _MARK_STEMS)
    return (
        len(choice) == 1
        and choice <= new.matter
        and (_moves(new, old) or _weight(choice) >= _FIT * _weight(named))
    )


def _subject(each: Statement, empty: frozenset[str]) -> frozenset[str]:
    """What a statement is about: its matter without values, which a change is free to change."""
    about = frozenset(base for base in each.matter if base not in empty)
    about = frozenset(base for base in about if not _is_number(base)) or about or each.matter
    return frozenset(base if _CODE.match(base) else base[:_ROOT] for base in about)


def _weight(words: Iterable[str]) -> float:
    """How much words say: an identifier or a number twice as much as a plain word."""
    return sum(2.0 if _FIGURE.search(word) or _CODE.match(word) else 1.0 for word in words)


_GENERIC_STEMS = frozenset(map(_stem, lists.GENERIC))
_MARK_STEMS = frozenset(map(_stem, _MARKS)) | _GENERIC_STEMS
_CHOICE_STEMS = _GENERIC_STEMS | frozenset(map(_stem, lists.CHOICES))
_AFTER_CHOICE = lists.REASONS | lists.NEGATIONS | lists.OVER
