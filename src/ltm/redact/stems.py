"""What searches for secrets begin with, and where a text has it.

More than a thousand words and marks begin something that is looked at closely, and most texts have
hardly any of them. So a text is cut into its words, and for each different word it is known which
of them it may be a part of: most words have been met before. What is left is then looked for by
itself, letter by letter. Long texts are cut in slices, so that their words need no more memory.
"""

from __future__ import annotations

import re
from binascii import b2a_base64
from collections import defaultdict
from collections.abc import Iterable
from functools import cache
from itertools import chain
from typing import NamedTuple

from ltm.redact.key_names import NAME_STEMS, any_of
from ltm.redact.patterns import SHAPES, Shape
from ltm.redact.values import words

_ARMOUR = "-----BEGIN "
_WORD = re.compile(r"\w+")
_PLAIN_WORD = re.compile(r"\w+", re.ASCII)
_WORD_START = re.compile(r"\w", re.ASCII)
_GROUP = re.compile("(?=[a-zA-Z]*[2-7])(?=[2-7]*[a-zA-Z])[a-zA-Z2-7]+\\Z")
_SLICE, _OVERLAP = 64_000, 100  # no stem is as long as what slices share
_MOST, _LONGEST = 20_000, 40  # words that are remembered

# -- rows of plain things ------------------------------------------------------------------------

LIST_STEMS = (
    *("recover", "back-up", "backup", "scratch", "emerg", "rescue", "reserv", "one-time"),
    *("single-", "wiederher", "notfall", "ersatz", "einmalcode", "secours", "récup", "sauvegarde"),
    *("urgence", "recup", "respaldo", "riserva", "zapasow", "odzyskiw", "awaryjn", "резервн"),
    *("запасн", "восстанов", "herstel", "noodcode", "återställ", "gendannelse", "kurtarma"),
    *("yedek", "záložní", "obnovy", "khôi phục", "pemulihan", "cadangan", "コード", "备用", "恢复"),
    *("恢復", "備用", "복구", "백업"),
)
"""One of these is in every text that has a list of recovery codes."""
LETTER_STEMS = words(
    "alpha alfa bravo charlie delta echo foxtrot golf hotel india juliet kilo lima mike november"
    " oscar papa quebec romeo sierra tango uniform victor whisk xray x-ray yankee zulu zero three"
    " four five seven eight nine dash hyphen minus underscore hash exclamation anton berta cäsar"
    " caesar dora emil friedrich gustav heinrich julius kaufmann ludwig martha nordpol otto paula"
    " quelle richard samuel siegfried theodor ulrich viktor wilhelm xanthippe ypsilon zacharias"
    " null eins zwei drei vier fünf sechs sieben acht neun capital upper lower small groß klein"
    " majus mayús mayus minús maiús maius digit number"
)
"""One of these is in every text that spells a password in words."""
_SIZES = ("12", "15", "18", "24", "25", "twelve", "four")
SEED_STEMS = (
    *("seed", "mnemonic", "recover", "wallet", "metamask", "ledger", "trezor", "phantom"),
    *("secret phrase", "backup phrase", "phrase secr", "words:", "mots:", "mots :", "mots\u00a0:"),
    *("palabras:", "palavras:", "parole:", "wiederher", "semilla", "recup", "billetera", "carte"),
    *("portafog", "portefeuille", "portfel", "odzyskiw", "herstel", "electrum", "frase secreta"),
    *(f"{size}{gap}word" for size in _SIZES for gap in ("", " ", "-")),
    *("mném", "mnem", "мнем", "wörter", "słow", "слов", "récup", "кош", "восст", "cüzdan", "助"),
    *("钱包", "錢包", "フレーズ", "ニーモ", "ウォレット", "시드", "니모닉", "지갑", "복구"),
)
"""One of these is in every text that speaks of the words of a wallet."""


@cache
def beginning() -> re.Pattern[str]:
    """Where a secret may start: where a word does, or at a mark."""
    words: list[str] = []
    marks: list[str] = []
    for hints in beginnings():
        for hint in hints:
            (words if _WORD_START.match(hint) else marks).append(hint)
    # Most letters of a text are inside of words, where nothing else has to be tried.
    return re.compile(rf"(?a:\b){any_of(words)}|{any_of(marks)}")


@cache
def beginnings() -> tuple[dict[str, list[Shape]], dict[str, list[Shape]]]:
    """The shapes for each beginning of a secret: as it is, and in base64."""
    rows: dict[str, list[Shape]] = {}
    for shape in SHAPES:
        if shape.starts:
            for hint in shape.hints:
                rows.setdefault(hint, []).append(shape)
    shapes = {
        hint: [shape for end in range(len(hint), 0, -1) for shape in rows.get(hint[:end], ())]
        for hint in rows
    }
    encoded: dict[str, list[Shape]] = {_stem(_ARMOUR): []}
    for hint in rows:
        named = all(shape.made_up for shape in rows[hint])  # such a word precedes no token
        if len(hint) >= 3 and " " not in hint and not named:
            encoded.setdefault(_stem(hint), []).extend(shapes[hint])
    return shapes, encoded


def _stem(text: str) -> str:
    """The characters that base64 begins with for everything that begins with this text."""
    return b2a_base64(text.encode(), newline=False).decode()[: len(text) * 8 // 6]


@cache
def insides() -> list[tuple[str, Shape]]:
    """What the shapes that do not begin with it have in them."""
    return [(hint, shape) for shape in SHAPES if not shape.starts for hint in shape.hints]


class _Hints(NamedTuple):
    """What a word may be a part of."""

    starts: tuple[str, ...]
    names: tuple[str, ...]
    insides: tuple[str, ...]
    rows: tuple[str, ...]
    is_group: bool
    """Whether it may be a group of a key in base32."""


class TextWords:
    """A text, and what its words say that may be found in it."""

    __slots__ = ("_hints", "lowered", "names", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        lowered = text.lower()
        # A few capitals become two characters; then only plain letters are changed.
        alike = len(lowered) == len(text)
        self.lowered = lowered if alike else re.sub("[A-Z]+", lambda m: m[0].lower(), text)
        """In small letters, every character at its place."""
        self._hints = list(filter(None, map(_known().__getitem__, _words(text))))
        stems = {stem for hints in self._hints for stem in hints.names}
        self.names = sorted(_places(self.lowered, stems))
        """Where the name of a secret may begin."""

    def starts(self) -> list[int]:
        """Where a secret that is known by its beginning may begin."""
        stems = {stem for hints in self._hints for stem in hints.starts}
        marks = [mark.start() for mark in _marks().finditer(self.text)]
        return sorted((*_places(self.text, stems), *marks))

    def insides(self) -> set[str]:
        """What secrets have in them and the text has."""
        may_be = {stem for hints in self._hints for stem in hints.insides}
        return {stem for stem in may_be.union(_bare_marks()) if stem in self.text}

    def has_any(self, rows: Iterable[str]) -> bool:
        """Whether the text has one of these stems of rows."""
        may_be = {stem for hints in self._hints for stem in hints.rows}.intersection(rows)
        lowered = self.text.lower() if may_be else ""
        return any(map(lowered.__contains__, may_be))

    def has_groups(self) -> bool:
        """Whether one of its words may be a group of a key in base32."""
        return any(hints.is_group for hints in self._hints)


def _words(text: str) -> set[str]:
    """The different words of a text; of a long one also words that the end of a slice cuts."""
    word = _PLAIN_WORD if text.isascii() else _WORD
    if len(text) <= _SLICE:
        return set(word.findall(text))
    found: set[str] = set()
    for at in range(0, len(text), _SLICE):
        found.update(word.findall(text, at, at + _SLICE + _OVERLAP))
    return found


def _places(text: str, stems: set[str]) -> set[int]:
    places: set[int] = set()
    for stem in stems:
        at = text.find(stem)
        while at >= 0:
            places.add(at)
            at = text.find(stem, at + 1)
    return places


class _HintsByWord(dict[str, _Hints | None]):
    """What is known of words; None of those that are a part of nothing."""

    def __missing__(self, word: str) -> _Hints | None:
        lowered = word.lower()
        inside = _any_inside().search(lowered)
        starts = _starting(word)
        if not word.isascii():  # for a pattern a word also begins after a letter of another script
            for at in (at for at in range(1, len(word)) if not word[at - 1].isascii()):
                starts += _starting(word[at : at + _OVERLAP])
        is_group = len(word) in (2, 4) and _GROUP.match(word) is not None
        known = None
        if starts or inside or is_group:
            found = _inside(lowered, inside.start()) if inside else []
            names, insides, rows = (
                tuple([stem for of, stem in found if of == kind]) for kind in range(3)
            )
            known = _Hints(starts, names, insides, rows, is_group)
        if len(word) <= _LONGEST:
            if len(self) >= _MOST:
                self.clear()
            self[word] = known
        return known


_known = cache(_HintsByWord)


def _starting(word: str) -> tuple[str, ...]:
    """What secrets begin with and may begin with this word: all of it, or a part of the word."""
    longer, whole = _starts()
    found = longer.get(word, ())
    for letters in (word[:1], word[:2]):
        if letters in whole:
            found += tuple(stem for stem in whole[letters] if word.startswith(stem))
    return found


def _inside(lowered: str, first: int) -> list[tuple[int, str]]:
    """What may stand anywhere in a text and has a part of this word, after its kind."""
    rows = _insides()
    return [
        (kind, stem)
        for at in range(first, len(lowered))
        for letters in (lowered[at], lowered[at : at + 2])
        if letters in rows
        for piece, kind, stem in rows[letters]
        if lowered.startswith(piece, at)
    ]


@cache
def _starts() -> tuple[dict[str, tuple[str, ...]], dict[str, tuple[str, ...]]]:
    """What secrets begin with: by its first word, if it goes on; by its first letters, if not."""
    longer: dict[str, tuple[str, ...]] = {}
    whole: dict[str, tuple[str, ...]] = {}
    for stem in dict.fromkeys(chain.from_iterable(beginnings())):
        piece = _WORD.match(stem)
        if piece and _WORD_START.match(stem):
            by, key = (whole, stem[:2]) if piece[0] == stem else (longer, piece[0])
            by[key] = (*by.get(key, ()), stem)
    return longer, whole


@cache
def _insides() -> dict[str, list[tuple[str, int, str]]]:
    """The longest word of what stands anywhere, its kind and all of it, by its first letters."""
    rows: dict[str, list[tuple[str, int, str]]] = {}
    inside = [hint for hint, _ in insides() if hint not in _bare_marks()]
    for kind, stems in enumerate((NAME_STEMS, inside, (*LIST_STEMS, *LETTER_STEMS, *SEED_STEMS))):
        for stem in dict.fromkeys(stems):
            piece = _longest_word(stem).lower()
            rows.setdefault(piece[:2], []).append((piece, kind, stem))
    return rows


@cache
def _any_inside() -> re.Pattern[str]:
    return re.compile(any_of(piece for row in _insides().values() for piece, _, _ in row))


@cache
def _bare_marks() -> tuple[str, ...]:
    """What secrets have in them that has no word of its own."""
    return tuple(dict.fromkeys(hint for hint, _ in insides() if len(_longest_word(hint)) < 2))


def _longest_word(stem: str) -> str:
    return max(_WORD.findall(stem), key=len, default="")


@cache
def _marks() -> re.Pattern[str]:
    """Where a beginning stands that starts with a mark: only that one, so that none is passed over
    that starts inside of another."""
    after: defaultdict[str, list[str]] = defaultdict(list)
    for hint in chain.from_iterable(beginnings()):
        if not _WORD_START.match(hint):
            after[hint[0]].append(hint[1:])
    return re.compile("|".join(f"{re.escape(m)}(?={any_of(rest)})" for m, rest in after.items()))
