"""Which passages answer a question best: every kind of evidence as a share, added up. Pure.

Each signal is made a share of the best value any candidate has for this question, from 0 to 1, so
that signals of different scales can be added; then each counts by its weight below. The weights are
round numbers chosen by reasoning: words are what people remember, so a passage's own words and
those around it count as 1 together; everything that may be beside the point counts half; who speaks
and how it opens a quarter; age only settles ties. Imports core.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import NamedTuple, TypeVar

from ltm.core.question import Question
from ltm.core.timephrases import closeness

OWN, AROUND = 0.5, 0.5
"""A passage's own words; the same with what was said just before and after."""

SESSION, USERS = 0.5, 0.5
"""The words of its whole session; those the user said in it."""

LIKENESS = 0.5
"""Nearness in meaning, where there are vectors."""

NEAR = 0.4
"""From here on something is found by its meaning alone, without a word of the question: of texts
that have nothing to do with each other, one pair in a hundred comes so near."""

TIME = 0.5
"""Nearness to the time the question names."""

FILE, ERROR = 0.5, 0.5
"""It names the very file that is asked about; its error text is the one that is asked about."""

VOICE, OPENING = 0.25, 0.25
"""It is said by whom the question is after; it opens with a word of the question, as a heading or
the name of a speaker does."""

RECENT = 0.1
"""What is new, before what is old: half of it is left after `FADING` days."""

FADING = 30

_K = TypeVar("_K")
_BESIDE = ((1, 0.5), (2, 0.25))  # how far away another passage is, and what its words count
_SATURATION, _LENGTH = 1.2, 0.75  # BM25's usual constants


class Evidence(NamedTuple):
    """A passage that may answer, and what is known of it."""

    row: int
    session: str
    role: str
    day: date | None
    words: Sequence[str]
    """All its terms, in order."""


class Signals(NamedTuple):
    """What other looks found: by row of a passage or by session, the higher the better."""

    likeness: Mapping[int, float] = {}
    sessions: Mapping[str, float] = {}
    users: Mapping[str, float] = {}
    files: Mapping[int, str] = {}
    """The file that is asked about, by the rows of passages that name it."""
    errors: Mapping[int, float] = {}


class Ranked(NamedTuple):
    """A passage, how good an answer it is, and the share of each signal in that."""

    row: int
    score: float
    signals: Mapping[str, float]
    matched: tuple[str, ...]
    """The terms of the question that it has itself."""
    around: tuple[str, ...]
    """Those that only stand beside it."""


def rarity(having: int, total: int) -> float:
    """How much a word tells when so many of all passages have it."""
    return math.log(1 + (max(total, having) - having + 0.5) / (having + 0.5))


def ranked(
    question: Question,
    candidates: Mapping[int, Evidence],
    rarities: Mapping[str, float],
    signals: Signals,
    today: date,
) -> list[Ranked]:
    """The candidates, best first; among equals the one that was kept last.

    `candidates` may hold neighbours of one another (rows beside theirs in the same session): what
    was said just before and after a passage is part of its sense.
    """
    weights = {word: weight * rarities.get(word, 0.0) for word, weight in question.weights.items()}
    counts = {row: _counted(each.words, weights) for row, each in candidates.items()}
    windows = {row: _window(each, candidates, counts) for row, each in candidates.items()}
    own = _bm25({row: (counts[row], len(each.words)) for row, each in candidates.items()}, weights)
    shares: dict[str, Mapping[int, float]] = {
        "own": _shares(own),
        "around": _shares(_bm25(windows, weights)),
        "likeness": _shares(signals.likeness),
        "session": _of_session(candidates, _shares(signals.sessions)),
        "user": _of_session(candidates, _shares(signals.users)),
        "error": _shares(signals.errors),
        "file": dict.fromkeys(signals.files, 1.0),
    }
    found: list[Ranked] = []
    days = {each.day: _times(question, each.day, today) for each in candidates.values()}
    for row, each in candidates.items():
        parts = {name: share.get(row, 0.0) for name, share in shares.items()}
        parts["voice"] = float(bool(question.role) and each.role == question.role)
        parts["opening"] = float(bool(each.words) and each.words[0] in weights)
        parts["time"], parts["recent"] = days[each.day]
        score = sum(_WEIGHTS[name] * value for name, value in parts.items())
        beside = tuple(word for word in windows[row][0] if word not in counts[row])
        found.append(Ranked(row, score, parts, tuple(counts[row]), beside))
    found.sort(key=lambda each: (-each.score, -each.row))
    return found


_WEIGHTS = {
    "own": OWN,
    "around": AROUND,
    "likeness": LIKENESS,
    "session": SESSION,
    "user": USERS,
    "error": ERROR,
    "file": FILE,
    "voice": VOICE,
    "opening": OPENING,
    "time": TIME,
    "recent": RECENT,
}


def _times(question: Question, day: date | None, today: date) -> tuple[float, float]:
    """How near a day is to those the question names, and how new."""
    if day is None:
        return 0.0, 0.0
    age = max(0, (today - day).days)
    return closeness(question.spans, day), 0.5 ** (age / FADING)


def _counted(words: Iterable[str], weights: Mapping[str, float]) -> dict[str, float]:
    found: dict[str, float] = {}
    for word in words:
        if word in weights:
            found[word] = found.get(word, 0.0) + 1
    return found


def _window(
    each: Evidence,
    candidates: Mapping[int, Evidence],
    counts: Mapping[int, Mapping[str, float]],
) -> tuple[dict[str, float], float]:
    """The counts of a passage with those beside it, and the length these are found in.

    Counting words together, instead of adding scores, lends most where it is needed: a word that
    the passage has already gains little from being said again beside it.
    """
    found = dict(counts[each.row])
    length = float(len(each.words))
    for away, share in _BESIDE:
        for row in (each.row - away, each.row + away):
            other = candidates.get(row)
            if other is not None and other.session == each.session:
                length += share * len(other.words)
                for word, count in counts[row].items():
                    found[word] = found.get(word, 0.0) + share * count
    return found, length


def _bm25(
    texts: Mapping[int, tuple[Mapping[str, float], float]], weights: Mapping[str, float]
) -> dict[int, float]:
    usual = sum(length for _, length in texts.values()) / max(1, len(texts)) or 1.0
    scores: dict[int, float] = {}
    for row, (counts, length) in texts.items():
        norm = _SATURATION * (1 - _LENGTH + _LENGTH * length / usual)
        scores[row] = sum(
            weights[word] * count * (_SATURATION + 1) / (count + norm)
            for word, count in counts.items()
        )
    return scores


def _shares(values: Mapping[_K, float]) -> dict[_K, float]:
    best = max(values.values(), default=0.0)
    return {key: max(0.0, value) / best for key, value in values.items()} if best > 0 else {}


def _of_session(
    candidates: Mapping[int, Evidence], shares: Mapping[str, float]
) -> dict[int, float]:
    return {row: shares.get(each.session, 0.0) for row, each in candidates.items()}
