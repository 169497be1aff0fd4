"""What was said in a project's sessions, asked by a question: candidates, evidence, ranked rows.

Owns gathering: by words, by whole sessions, by meaning, by file and by error, a bounded number of
passages each, so that an answer takes the same time however much is kept; `core.ranking` decides.
Nothing is opened before the first question, and where no session was ever kept there is nothing to
open. Imports core, `embed` and storage.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from datetime import date, timedelta
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from ltm.core.question import Question
from ltm.core.ranking import PassageCandidate, Ranking, Signals
from ltm.core.relevance import rarity

if TYPE_CHECKING:
    from ltm.core.passage import Passage
    from ltm.embed.embedder import Embedder
    from ltm.recall.forgotten import LeftOut
    from ltm.recall.meaning import Meaning
    from ltm.storage.passagequery import PassageMatch, PassageMatches
    from ltm.storage.passages import Passages

BY_WORDS = 100
"""Passages found by their words."""

BY_MEANING = 30
"""Passages found by their meaning."""

BY_SESSION = 50
"""Sessions found by all that was said in them."""

WIDENED = 10
"""Of the best passages by words, and as many by meaning, their neighbours are candidates too: an
answer often has none of the words its question was asked with."""

BY_NAME = 50
"""Passages that name a file, or have an error, of the question."""

_REACH = 2  # passages before and after one that belong to its sense


class PassageRanking(NamedTuple):
    """What answers a question."""

    ranking: Ranking
    likeness: Mapping[int, float]
    """How like the question passages are in meaning, from -1 to 1; empty without vectors."""


class SessionSearch:
    """A project's sessions, to be asked. Used by one thread at a time, and closed at the end."""

    def __init__(self, path: str, embedder: Callable[[], Embedder | None] = lambda: None) -> None:
        """`path` is the project's `sessions.db`; `embedder` is called when meaning is asked for."""
        self._path = path
        self._embedder = embedder
        self._opened: list[Passages | Meaning] = []
        self.left_out: LeftOut | None = None
        """What must not be shown as an answer, if there is such."""
        self.waiting: LeftOut | None = None
        """What waits for approval, where that was asked for."""

    def close(self) -> None:
        """Give back what was opened."""
        for each in self._opened:
            each.close()
        self._opened.clear()

    def anything(self) -> bool:
        """Whether any session was ever kept."""
        return os.path.exists(self._path)

    def ask(self, question: Question, today: date, *, until: date | None = None) -> PassageRanking:
        """The passages that answer a question, best first; those said by the end of `until`."""
        words = list(question.weights)
        end = "" if until is None else (until + timedelta(days=1)).isoformat()
        passages = self.passages
        matches = passages.find(words, BY_WORDS, until=end)
        meaning = self._meaning
        near = meaning.nearest(question.text, BY_MEANING) if meaning else {}
        files = {
            each.row: path
            for path in question.paths
            for each in passages.naming_file(path, BY_NAME)
        }
        errors = passages.find_errors(words, BY_NAME) if question.failing else None
        evidence = self._evidence(matches, near, [*files, *_rows(errors)], end)
        likeness = dict(near)
        if meaning:
            likeness |= meaning.likeness(question.text, evidence.keys() - near.keys())
        whole = question.wholes(lambda word: matches.holders.get(word, 0) > 0)
        views = passages.find_views(whole, BY_SESSION, until=end)
        signals = Signals(
            likeness,
            _best((view.session, -view.cost) for view in views),
            _best((view.session, -view.user_cost) for view in views),
            files,
            {each.row: -each.cost for each in errors.candidates} if errors else {},
        )
        rarities = {word: rarity(matches.holders[word], matches.passages) for word in words}
        return PassageRanking(Ranking(question, evidence, rarities, signals, today), likeness)

    @cached_property
    def passages(self) -> Passages:
        """The project's passages, opened only to be read."""
        from ltm.storage.passages import Passages

        opened = Passages(self._path, readonly=True)
        self._opened.append(opened)
        return opened

    def shown(self, passages: Iterable[Passage]) -> list[Passage]:
        """These passages without those that are left out."""
        return self.left_out.shown(self.passages, passages) if self.left_out else list(passages)

    def waits(self, passages: Iterable[Passage]) -> set[int]:
        """The rows of those passages that say what waits for approval."""
        given = list(passages)
        if self.waiting is None:
            return set()
        shown = {each.row for each in self.waiting.shown(self.passages, given)}
        return {each.row for each in given} - shown

    def read(self, rows: Iterable[int]) -> dict[int, Passage]:
        """The passages at these rows."""
        return {each.row: each for each in self.passages.read(rows)}

    @cached_property
    def embedder(self) -> Embedder | None:
        """What gives texts a direction; None where search goes by words only."""
        return self._embedder()

    @cached_property
    def _meaning(self) -> Meaning | None:
        if self.embedder is None:
            return None
        from ltm.recall.meaning import Meaning

        opened = Meaning(self.passages, self.embedder)
        self._opened.append(opened)
        return opened

    def _evidence(
        self, matches: PassageMatches, near: Mapping[int, float], named: Iterable[int], end: str
    ) -> dict[int, PassageCandidate]:
        """All candidates, with the neighbours of the best of them."""
        found = {each.row: each for each in matches.candidates}
        others = [row for row in (*near, *named) if row not in found]
        best = [*list(found)[:WIDENED], *list(near)[:WIDENED]]
        for each in (*self.passages.neighbours(others, 0), *self.passages.neighbours(best, _REACH)):
            found.setdefault(each.row, each)
        if self.left_out:
            gone = self.left_out.rows(self.passages, {each.session for each in found.values()})
            says = self.left_out.says
            found = {
                row: each
                for row, each in found.items()
                if row not in gone and not says(set(each.words.split(" ")), each.role)
            }
        return {row: _seen(each) for row, each in found.items() if not end or each.at < end}


def _seen(each: PassageMatch) -> PassageCandidate:
    return PassageCandidate(each.row, each.session, each.role, _day(each.at), each.words)


def _day(at: str) -> date | None:
    try:
        return date.fromisoformat(at[:10])
    except ValueError:
        return None


def _rows(matches: PassageMatches | None) -> list[int]:
    return [each.row for each in matches.candidates] if matches else []


def _best(found: Iterable[tuple[str, float]]) -> dict[str, float]:
    """The best stretch of each session."""
    best: dict[str, float] = {}
    for session, value in found:
        best[session] = max(best.get(session, 0.0), value)
    return best
