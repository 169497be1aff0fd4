"""Which passages answer a question best: every kind of evidence as a share, added up.

Each signal is made a share of the best value any candidate has for this question, from 0 to 1, so
that signals of different scales can be added; then each counts by its weight below. The weights are
round numbers chosen by reasoning: words are what people remember, so a passage's own words and
those around it count as 1 together; everything that may be off the point counts half; who speaks
and how it opens a quarter; age only settles ties.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import date
from typing import NamedTuple, TypeVar

from ltm.recall.query import Question
from ltm.text.bm25 import bm25
from ltm.text.dates import closeness

OWN, AROUND = 0.5, 0.5
"""A passage's own words; the same with what was said just before and after."""

SESSION, USERS = 0.25, 0.25
"""The words of its whole session, and those the user said in it: two looks, half together."""

LIKENESS = 0.5
"""Nearness in meaning, where there are vectors."""

NEAR = 0.4
"""From here on something is found by its meaning alone, without a word of the question: of texts
that have nothing to do with each other, one pair in a hundred comes so near."""

TIME = 0.5
"""Nearness to the time the question names."""

FILE, ERROR = 0.5, 0.5
"""It names the very file that is asked about; its error text is the one that is asked about."""

VOICE, SPEAKER = 0.25, 0.25
"""It is said by the side the question is after, user or agent; or by a person the question names:
it opens with a word of the question with which one passage in `_NAMED` opens."""

RECENT = 0.1
"""What is new, before what is old: half of it is left after `FADING` days."""

FADING = 30

_K = TypeVar("_K")
_NEXT = ((1, 0.5), (2, 0.25))  # how far away another passage is, and what its words count
_NAMED = 10  # what fewer passages open with is a word like any other, and no name of a speaker
_LENGTH = 0.75  # how much a long text is discounted


class PassageCandidate(NamedTuple):
    """A passage that may answer, and what is known of it."""

    row: int
    session: str
    role: str
    day: date | None
    words: str
    """All its terms, in order, with a blank between."""

    @property
    def opening(self) -> str:
        """Its first term."""
        return self.words.partition(" ")[0]

    @property
    def length(self) -> int:
        """How many terms it has."""
        return self.words.count(" ") + 1


class Signals(NamedTuple):
    """What other looks found: by row of a passage or by session, the higher the better."""

    likeness: Mapping[int, float] = {}
    sessions: Mapping[str, float] = {}
    users: Mapping[str, float] = {}
    files: Mapping[int, str] = {}
    """The file that is asked about, by the rows of passages that name it."""
    errors: Mapping[int, float] = {}


class Ranking:
    """Candidates in the order in which they answer a question, and what speaks for each."""

    def __init__(
        self,
        question: Question,
        candidates: Mapping[int, PassageCandidate],
        rarities: Mapping[str, float],
        signals: Signals,
        today: date,
    ) -> None:
        """`candidates` may hold neighbours of one another (adjacent rows of the same session):
        what was said just before and after a passage is part of its sense."""
        self.evidence = candidates
        self.rarities = rarities
        self._question = question
        self._weights = {
            word: weight * rarities.get(word, 0.0) for word, weight in question.weights.items()
        }
        self._counts = {
            row: _counted(each.words, self._weights) for row, each in candidates.items()
        }
        self._lengths = {row: each.length for row, each in candidates.items()}
        self._windows = {row: self._window(each) for row, each in candidates.items()}
        alone = {row: (self._counts[row], self._lengths[row]) for row in candidates}
        self._by_row: tuple[tuple[str, float, Mapping[int, float]], ...] = (
            ("own", OWN, _shares(_scored(alone, self._weights))),
            ("around", AROUND, _shares(_scored(self._windows, self._weights))),
            ("likeness", LIKENESS, _shares(signals.likeness)),
            ("error", ERROR, _shares(signals.errors)),
            ("file", FILE, dict.fromkeys(signals.files, 1.0)),
        )
        self._by_session: tuple[tuple[str, float, Mapping[str, float]], ...] = (
            ("session", SESSION, _shares(signals.sessions)),
            ("user", USERS, _shares(signals.users)),
        )
        openings = Counter(each.opening for each in candidates.values())
        self._speakers = {
            word for word in self._weights if openings[word] * _NAMED >= len(candidates)
        }
        days = {each.day for each in candidates.values()}
        self._days = {day: _times(question, day, today) for day in days}
        scores = {row: self._score(row, each) for row, each in candidates.items()}
        order = sorted(scores, key=lambda row: (-scores[row], -row))
        self.scores = {row: scores[row] for row in order}
        """Best first; among equals the one that was kept last."""

    def signals(self, row: int) -> dict[str, float]:
        """What speaks for a passage, each as a share of the best, from 0 to 1."""
        each = self.evidence[row]
        found = {name: shares.get(row, 0.0) for name, _, shares in self._by_row}
        found |= {name: shares.get(each.session, 0.0) for name, _, shares in self._by_session}
        found["time"], found["recent"] = self._days[each.day]
        found["voice"], found["speaker"] = self._manner(each)
        return found

    def words(self, row: int) -> tuple[list[str], list[str]]:
        """The terms of the question that a passage has itself, and those of its neighbours only."""
        own = self._counts[row]
        return list(own), [word for word in self._windows[row][0] if word not in own]

    def _score(self, row: int, each: PassageCandidate) -> float:
        time, recent = self._days[each.day]
        voice, speaker = self._manner(each)
        score = TIME * time + RECENT * recent + VOICE * voice + SPEAKER * speaker
        for _, weight, shares in self._by_row:
            score += weight * shares.get(row, 0.0)
        for _, weight, by_session in self._by_session:
            score += weight * by_session.get(each.session, 0.0)
        return score

    def _manner(self, each: PassageCandidate) -> tuple[bool, bool]:
        """Whether it is said by the side, and by the one, that the question is after."""
        voice = bool(self._question.role) and each.role == self._question.role
        return voice, each.opening in self._speakers

    def _window(self, each: PassageCandidate) -> tuple[Mapping[str, float], float]:
        """The counts of a passage with its neighbours, and the length these are found in.

        Counting words together, instead of adding scores, lends most where it is needed: a word
        that the passage has already gains little from being said again next to it.
        """
        found = dict(self._counts[each.row])
        length = float(self._lengths[each.row])
        for away, share in _NEXT:
            for row in (each.row - away, each.row + away):
                other = self.evidence.get(row)
                if other is not None and other.session == each.session:
                    length += share * self._lengths[row]
                    for word, count in self._counts[row].items():
                        found[word] = found.get(word, 0.0) + share * count
        return found, length


def _times(question: Question, day: date | None, today: date) -> tuple[float, float]:
    """How near a day is to those the question names, and how new."""
    if day is None:
        return 0.0, 0.0
    age = max(0, (today - day).days)
    return closeness(question.spans, day), 0.5 ** (age / FADING)


def _counted(words: str, weights: Mapping[str, float]) -> dict[str, float]:
    """How often a text has each of some words; of the same word twice in a row one is lost, which
    is worth a search that is many times as quick as taking the text apart."""
    text = f" {words} "
    return {word: float(count) for word in weights if (count := text.count(f" {word} "))}


def _scored(
    texts: Mapping[int, tuple[Mapping[str, float], float]], weights: Mapping[str, float]
) -> dict[int, float]:
    """BM25 of texts, each given as its counts and its length."""
    usual = sum(length for _, length in texts.values()) / max(1, len(texts)) or 1.0
    return {
        row: bm25(counts, weights, length / usual, _LENGTH)
        for row, (counts, length) in texts.items()
        if counts
    }


def _shares(values: Mapping[_K, float]) -> dict[_K, float]:
    best = max(values.values(), default=0.0)
    return {key: max(0.0, value) / best for key, value in values.items()} if best > 0 else {}
