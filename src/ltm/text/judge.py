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
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import chain
from pathlib import Path
from typing import Any

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


@lru_cache(maxsize=256)  # of a sentence, its length, its n-grams and its beginning are asked for
def words(text: str) -> tuple[str, ...]:
    """The words of a text as they count."""
    raw = _RAW.findall(text[:_LONGEST].replace("’", "'"))
    return tuple(chain.from_iterable(map(_tokens, raw)))


@lru_cache(maxsize=16)  # of a statement, its kind, impact and scope are asked for
def grams(text: str) -> tuple[str, ...]:
    """The words of a text alone, in pairs, in threes, and by how they begin and end; each once."""
    found: dict[str, None] = {}
    two = one = ""
    for word in ("^", *words(text)):
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


@dataclass(frozen=True, slots=True)
class Head:
    """One question of the model."""

    classes: Sequence[str]
    bias: Sequence[float]
    rows: Mapping[str, Sequence[int]]
    """For each n-gram or sign its weight for each class, in units."""

    def scores(self, found: Iterable[str], signs: Iterable[str] = ()) -> list[float]:
        """How much speaks for each class."""
        known = [row for row in map(self.rows.get, found) if row is not None]
        each = SCALE / UNIT / math.sqrt(len(known)) if known else 0.0
        stands = [row for row in map(self.rows.get, signs) if row is not None]
        none = (0,) * len(self.bias)  # zip needs one row at least
        said, stood = (map(sum, zip(none, *rows, strict=True)) for rows in (known, stands))
        return [
            bias + each * words + place / UNIT
            for bias, words, place in zip(self.bias, said, stood, strict=True)
        ]

    def shares(self, found: Iterable[str], signs: Iterable[str] = ()) -> dict[str, float]:
        """How probable each class is."""
        scores = self.scores(found, signs)
        top = max(scores)
        powers = [math.exp(score - top) for score in scores]
        whole = sum(powers)
        return {name: power / whole for name, power in zip(self.classes, powers, strict=True)}

    def telling(self, text: str, name: str, most: int = 3) -> tuple[str, ...]:
        """The words of a text, alone or in a row, that speak most for a class; strongest first."""
        place = self.classes.index(name)
        found = [(row[place], gram) for gram in grams(text) if (row := self.rows.get(gram))]
        ranked = [gram for weight, gram in sorted(found, reverse=True) if weight > 0]
        shown = (gram.removeprefix("^ ") for gram in ranked if gram != "^" and "*" not in gram)
        return tuple(dict.fromkeys(shown))[:most]


class Judge:
    """The model: its heads by their names, and from where on a sentence is likely and sure."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        """`data` is what `judge.json.gz` holds."""
        self._heads = {name: Head(**head) for name, head in data["heads"].items()}
        self._single = {
            name: (head.bias[0], {gram: row[0] for gram, row in head.rows.items()})
            for name, head in self._heads.items()
            if len(head.classes) == 1
        }
        self.tiers: dict[str, tuple[float, float]] = {
            name: (likely, sure) for name, (likely, sure) in data["tiers"].items()
        }

    def __getitem__(self, name: str) -> Head:
        return self._heads[name]

    def worth(self, speaker: str, text: str, stands: Iterable[str]) -> float:
        """How probable it is that a sentence of a speaker is worth keeping."""
        bias, weights = self._single[speaker]
        known = [weight for weight in map(weights.get, grams(text)) if weight is not None]
        score = bias + sum(filter(None, map(weights.get, stands))) / UNIT
        if known:
            score += SCALE / UNIT * sum(known) / math.sqrt(len(known))
        return 1 / (1 + math.exp(-max(-50.0, min(50.0, score))))

    def best(self, question: str, text: str, signs: Iterable[str] = ()) -> tuple[str, float]:
        """The most probable answer to a question about a text, and how probable it is."""
        shares = self._heads[question].shares(grams(text), signs)
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
