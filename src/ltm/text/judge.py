"""What a sentence is worth and what it is about, by a linear model over its words.

Owns how a text becomes n-grams, the weights in `judge.json.gz`, and adding them up. The weights are
made by `python -m training.capture` from labelled sessions; a head of the model is one question
(worth keeping? which kind?) with its classes. Words count by themselves, in pairs and in threes,
with `? ! : ,` as words; names, numbers, paths and code count as what they are, and scripts without
spaces by pairs of characters. Imports `model`; reads one file of this package.
"""

from __future__ import annotations

import gzip
import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property, lru_cache
from itertools import chain, islice
from pathlib import Path
from typing import Any, TypeAlias

from ltm.text.front_coding import decoded

WEIGHTS = Path(__file__).with_name("judge.json.gz")
SCALE = 3.0
"""What all n-grams of a text count together, against one sign of where it stands."""
UNIT = 100
"""Weights are kept as whole numbers, in this part of one."""

_LONGEST = 600
_STEM, _ENDING = 4, 3
_RAW = re.compile(
    r"`[^`\n]{1,200}`|https?://\S{1,200}|\w[\w'./@+#-]{0,80}[\w+#]|\w|[?!:,？！：，、]"
)
_NUMBER = re.compile(r"v?\d[\d.,:%]*[a-z%]{0,3}\Z")
_NAME = re.compile(r"_|[a-z][A-Z]|\d")
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
_SYLLABLES = re.compile(r"[\uac00-\ud7a3]{3}")
_STOPS, _COUNTED = ".;?!:,", frozenset("?!:,")
_BEGIN = "^"
_MOST_KNOWN = 30_000
_FAR = 50.0
_Steps: TypeAlias = dict[str, tuple[tuple[int, ...], "_Steps"]]
"""For each word the place of the n-gram it ends behind the words before it, and what may come
next."""
_UNKNOWN: tuple[tuple[int, ...], _Steps] = ((), {})
_MARKS = {"？": "?", "！": "!", "：": ":", "，": ",", "、": ","}


@lru_cache(maxsize=20_000)
def _tokens(raw: str) -> tuple[str, ...]:
    """A word as what it counts as: itself, or the sort of name, number or code that it is."""
    if raw[0] == "`":
        return ("<code>",)
    if raw.startswith(("http://", "https://")):
        return ("<url>",)
    low = raw.lower()
    if len(raw) == 1:
        return (_MARKS.get(raw, low),)
    if _NUMBER.match(low):
        return ("<number>",)
    if _UNSPACED.search(low):
        return tuple(low[place : place + 2] for place in range(len(low) - 1))
    if "/" in low or "." in low.strip("."):
        return ("<path>",)
    if _NAME.search(raw):
        return ("<name>",)
    return ("<name>", low) if raw.isupper() and raw.isascii() else (low,)


def _pieces(text: str) -> list[str]:
    """The beginning of a text in pieces whose words are the same whatever stands next to them."""
    text = text[:_LONGEST].replace("’", "'")
    return _RAW.findall(text) if "`" in text else text.split()


@lru_cache(maxsize=_MOST_KNOWN)
def _words_of(piece: str) -> tuple[str, ...]:
    plain = piece.rstrip(_STOPS)
    if plain.isascii() and plain.isalpha() and (plain.islower() or plain.istitle()):
        # Most pieces are like this, and need no pattern.
        return plain.lower(), *filter(_COUNTED.__contains__, piece[len(plain) :])
    return tuple(chain.from_iterable(map(_tokens, _RAW.findall(piece))))


def words(text: str) -> tuple[str, ...]:
    """The words of a text as they count."""
    return tuple(_in_order(text))


def length(text: str) -> int:
    """How many words a text has."""
    return sum(map(len, map(_words_of, _pieces(text))))


def first_words(text: str, most: int) -> tuple[str, ...]:
    """The first words of a text as they count."""
    return tuple(islice(_in_order(text), most))


def _in_order(text: str) -> Iterator[str]:
    return chain.from_iterable(map(_words_of, _pieces(text)))


def grams(text: str) -> tuple[str, ...]:
    """The words of a text alone, in pairs, in threes, and by how they begin and end; each once."""
    found: dict[str, None] = {}
    two = one = ""
    for word in (_BEGIN, *words(text)):
        found[word] = None
        if one:
            pair = f"{one} {word}"
            found[pair] = None
            if two:
                found[f"{two} {word}"] = None
            two = pair
            for part in _ends(word):
                found[part] = None
        one = word
    return tuple(found)


@lru_cache(maxsize=20_000)
def _ends(word: str) -> tuple[str, ...]:
    """How a longer word begins and ends: `comm*` and `*ted` of `committed`."""
    if word[0] == "<":
        return ()
    begins = f"{word[:2]}*" if _SYLLABLES.match(word) else f"{word[:_STEM]}*"
    if len(word) > _STEM:
        return begins, f"*{word[-_ENDING:]}"
    return (begins,) if _SYLLABLES.match(word) else ()


class _Known(dict[str, Any]):
    """What was found for a key before; all of it is forgotten when it is much."""

    def __init__(self, find: Callable[[str], Any]) -> None:
        super().__init__()
        self._find = find

    def __missing__(self, key: str) -> Any:
        if len(self) >= _MOST_KNOWN:
            self.clear()
        found = self[key] = self._find(key)
        return found


class Head:
    """One question of the model."""

    def __init__(
        self, classes: Sequence[str], bias: Sequence[float], rows: Mapping[str, Sequence[int]]
    ) -> None:
        """`rows` has for each n-gram or sign its weight for each class, in units."""
        self.classes, self._bias, self._rows = classes, bias, rows
        self._weights: list[Any] = [row[0] if len(classes) == 1 else row for row in rows.values()]
        self._apart = _Known(self._taken_apart)

    def worth(self, text: str, stands: Iterable[str]) -> float:
        """How probable the only class is."""
        found = self._found(text)
        score = sum([self._rows[sign][0] for sign in stands if sign in self._rows]) / UNIT
        if found:
            said = sum(map(self._weights.__getitem__, found))
            score += SCALE / UNIT * said / math.sqrt(len(found))
        score += self._bias[0]
        return 1 / (1 + math.exp(-score)) if score > -_FAR else 0.0

    def shares(self, text: str, stands: Iterable[str] = ()) -> dict[str, float]:
        """How probable each class is."""
        found = self._found(text)
        each = SCALE / UNIT / math.sqrt(len(found) or 1)
        said = zip(self._bias, *map(self._weights.__getitem__, found), strict=True)
        scores = [bias + each * sum(weights) for bias, *weights in said]
        for sign in stands:
            if row := self._rows.get(sign):
                scores = [score + weight / UNIT for score, weight in zip(scores, row, strict=True)]
        top = max(scores)
        powers = [math.exp(score - top) for score in scores]
        whole = sum(powers)
        return {name: power / whole for name, power in zip(self.classes, powers, strict=True)}

    def telling(self, text: str, name: str, most: int = 3) -> tuple[str, ...]:
        """The words of a text, alone or in a row, that speak most for a class; strongest first."""
        place = self.classes.index(name)
        found = [(row[place], gram) for gram in grams(text) if (row := self._rows.get(gram))]
        ranked = [gram for weight, gram in sorted(found, reverse=True) if weight > 0]
        shown = (gram.removeprefix("^ ") for gram in ranked if gram != _BEGIN and "*" not in gram)
        return tuple(dict.fromkeys(shown))[:most]

    def _found(self, text: str) -> set[int]:
        """The n-grams of a text that this head knows, by their places."""
        begin, second = self._steps.get(_BEGIN, _UNKNOWN)
        found, third = [*begin], _UNKNOWN[1]
        for words in map(self._apart.__getitem__, _pieces(text)):
            for word, own, behind in words:
                found += own
                if word in third:
                    found += third[word][0]
                if word in second:
                    pair, third = second[word]
                    found += pair
                else:
                    third = _UNKNOWN[1]
                second = behind
        return {*found}

    def _taken_apart(self, piece: str) -> list[tuple[str, tuple[int, ...], _Steps]]:
        """The words of a piece, each with its n-grams of one word, and what may come next."""
        found: list[tuple[str, tuple[int, ...], _Steps]] = []
        for word in _words_of(piece):
            own, behind = self._steps.get(word, _UNKNOWN)
            for end in _ends(word):
                own += self._steps.get(end, _UNKNOWN)[0]
            found.append((word, own, behind))
        return found

    @cached_property
    def _steps(self) -> _Steps:
        """The n-grams word by word, so that none has to be put together to be looked up."""
        steps: _Steps = {}
        for number, gram in enumerate(self._rows):
            at = steps
            *before, last = gram.split(" ")
            for word in before:
                own, behind = at.get(word, _UNKNOWN)
                if not behind:  # most words have nothing behind them, and share it
                    behind = {}
                    at[word] = own, behind
                at = behind
            at[last] = (number,), at.get(last, _UNKNOWN)[1]
        return steps


class Judge:
    """The model: its heads by their names, and from where on a sentence is likely and sure."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        """`data` is what `judge.json.gz` holds."""
        self._heads = {name: Head(**head) for name, head in data["heads"].items()}
        self.tiers: dict[str, tuple[float, float]] = {
            name: (likely, sure) for name, (likely, sure) in data["tiers"].items()
        }

    def __getitem__(self, name: str) -> Head:
        return self._heads[name]

    def worth(self, speaker: str, text: str, stands: Iterable[str]) -> float:
        """How probable it is that a sentence of a speaker is worth keeping."""
        return self._heads[speaker].worth(text, stands)

    def best(self, question: str, text: str, signs: Iterable[str] = ()) -> tuple[str, float]:
        """The most probable answer to a question about a text, and how probable it is."""
        shares = self._heads[question].shares(text, signs)
        return max(shares.items(), key=lambda pair: pair[1])


def weights() -> str:
    """What the file of weights holds, as JSON."""
    return gzip.decompress(WEIGHTS.read_bytes()).decode()


def unpacked(text: str) -> dict[str, Any]:
    """The weights in such a text, with a row for each n-gram or sign."""
    data: dict[str, Any] = json.loads(text)
    for head in data["heads"].values():
        columns = head.pop("weights")
        head["rows"] = dict(
            zip(decoded(head.pop("names")), zip(*columns, strict=True), strict=True)
        )
    return data


@cache
def judge() -> Judge:
    """The model of this package."""
    return Judge(unpacked(weights()))
