"""Searching what was said in a project's sessions: candidates, ranked rows, and quotes of them.

Passages are gathered by words, by whole sessions, by meaning, by file and by error, a bounded
number each, so that an answer takes the same time however much is kept; `recall.rank` decides their
order. Nothing is opened before the first question. An embedder that cannot be used now is not an
error: then words alone decide.

What forgotten memories and those that wait for approval say is left out of every answer: the
passages on the lines such a memory came from, and those that say the same. Restoring a memory
brings both back, and purging deletes both. What waits is found by those who ask for it, and is
marked then.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import date, timedelta
from functools import cached_property
from itertools import chain
from math import ceil

from ltm.errors import LtmError
from ltm.history.passage import ASSISTANT, TOOL, USER, Header, Passage
from ltm.model import Filter, Hit, Memory, Status
from ltm.recall.rank import NEAR, Question, Ranking, Signals
from ltm.record import NamedTuple
from ltm.store.store import Store
from ltm.text.bm25 import rarity
from ltm.text.display import estimate
from ltm.text.sentences import is_filler, sentences, shortened
from ltm.text.terms import query_terms, terms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ltm.config.config import Config
    from ltm.embed.embedder import Embedder
    from ltm.history.db import Passages
    from ltm.history.search import PassageLookups, PassageMatch, PassageMatches
    from ltm.index.vectors import Direction, Vectors
    from ltm.project.layout import Places

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

BY_TIME = 20
"""Sessions of a time that the question names."""

EXCERPT = 280
"""Characters of a passage that a list shows."""

_SHORT = 160  # characters of what may be small talk
_STEPS = (
    "add apply ask begin check clean commit confirm continue copy create do double examine explore"
    " extend edit find finish fix get go grep have implement inspect investigate list look make"
    " move open proceed pull push put read refactor remove rename rerun re review rewrite run"
    " search see show start take test trace try understand update use verify view wire work write"
)
# Compiled where it is used: 0.6 of the 45 ms of a question, and few have such passages.
_ANNOUNCED = (
    r"(?i)"
    r"(?:(?:ok(?:ay)?|sure|great|perfect|good|got it|right|alright|yes|thanks|now|next|first|then)"
    r"[,.!:]* )*(?:i'll|i will|i'm going to|let me|let's)"
    r"(?: now| also| first| just| then| quickly| start by| begin by)*"
    rf" (?:{_STEPS.replace(' ', '|')})(?:ing)?\b"
    r"(?!.*\b(?:because|since|so that|instead|rather than|due to|as the|which means)\b)"
    r"[^.!?]*[.:!…]*\Z"
)
_REACH = 2  # passages before and after one that belong to its sense
_TELLING = 4  # terms of a statement that is said nowhere by accident
_LIKE = 3  # of them, and half of them all, of a statement that waits: other wordings say it too
_ITEMS = re.compile(r"[;\n]+|: ")


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
        self._opened: list[Passages | Vectors] = []
        self._vectors: Vectors | None = None
        self._vector: tuple[str, Direction | None] = ("", None)
        self.left_out: LeftOut | None = None
        """What must not be shown as an answer, if there is such."""
        self.waiting: LeftOut | None = None
        """What waits for approval, where that was asked for."""

    def close(self) -> None:
        """Give back what was opened."""
        for each in self._opened:
            each.close()
        self._opened.clear()

    def is_in_place(self) -> bool:
        """Whether every file that is open is still the one that has its name."""
        return all(each.is_in_place() for each in self._opened)

    def anything(self) -> bool:
        """Whether any session was ever kept."""
        return os.path.exists(self._path)

    def ask(self, question: Question, today: date, *, until: date | None = None) -> PassageRanking:
        """The passages that answer a question, best first; those said by the end of `until`."""
        words = list(question.weights)
        end = "" if until is None else (until + timedelta(days=1)).isoformat()
        passages = self.passages
        matches = passages.find(words, BY_WORDS, until=end)
        vectors, vector = self._meaning(question.text)
        near: dict[int, float] = {}
        if vectors is not None and vector is not None:
            found = vectors.nearest(vector, BY_MEANING)
            near = {row: like for row, like in found if like >= NEAR}
        files = {
            each.row: path
            for path in question.paths
            for each in passages.naming_file(path, BY_NAME)
        }
        failed = passages.find_errors(words, BY_NAME).candidates if question.failing else ()
        errors = {each.row: -each.cost for each in failed}
        of_time = [
            row
            for span in (() if question.has_content() else question.spans)
            for row in passages.openings(span.start.isoformat(), span.end.isoformat(), BY_TIME)
        ]
        candidates = self._candidates(matches, near, [*files, *errors, *of_time], end)
        likeness = dict(near)
        if vectors is not None and vector is not None:
            likeness |= vectors.likeness(vector, candidates.keys() - near.keys())
        whole = question.wholes(lambda word: matches.holders.get(word, 0) > 0)
        sessions: dict[str, float] = {}
        users: dict[str, float] = {}
        for view in passages.find_views(whole, BY_SESSION, until=end):
            # The best stretch of each session counts.
            sessions[view.session] = max(sessions.get(view.session, 0.0), -view.cost)
            users[view.session] = max(users.get(view.session, 0.0), -view.user_cost)
        rarities = {word: rarity(matches.holders[word], matches.passages) for word in words}
        signals = Signals(likeness, sessions, users, files, errors)
        return PassageRanking(Ranking(question, candidates, rarities, signals, today), likeness)

    @cached_property
    def passages(self) -> Passages:
        """The project's passages, opened only to be read."""
        from ltm.history.db import Passages

        opened = Passages(self._path, readonly=True)
        self._opened.append(opened)
        return opened

    def shown(self, passages: Iterable[Passage]) -> list[Passage]:
        """These passages without those that are left out."""
        return self.left_out.shown(self.passages, passages) if self.left_out else list(passages)

    def titled(self, header: Header) -> Header:
        """A session without its title, where that was taken from what is left out."""
        return self.left_out.titled(self.passages, header) if self.left_out else header

    def waits(self, passages: Iterable[Passage]) -> set[int]:
        """The rows of those passages that say what waits for approval."""
        if self.waiting is None:
            return set()
        given = list(passages)
        shown = {each.row for each in self.waiting.shown(self.passages, given)}
        return {each.row for each in given} - shown

    @cached_property
    def embedder(self) -> Embedder | None:
        """What gives texts a direction; None where search goes by words only."""
        return self._embedder()

    def vector(self, text: str) -> Direction | None:
        """The direction of a text, made once; None without an embedder, or if that cannot be used
        now: then words alone decide."""
        if self.embedder is not None and text != self._vector[0]:
            self._vector = (text, None)
            try:
                self._vector = (text, self.embedder.direction(text))
            except LtmError:
                pass
        return self._vector[1]

    def _meaning(self, text: str) -> tuple[Vectors | None, Direction | None]:
        """The vectors of all passages, also of the newest, and that of a text."""
        vector = self.vector(text)
        if vector is None or self.embedder is None:
            return None, None
        from ltm.embed.update import BRIEF, keep_passages
        from ltm.index.vectors import vectors_of

        if self._vectors is None:
            name, dimensions = self.embedder.name, self.embedder.dimensions
            self._vectors = vectors_of(self.passages.path, name, dimensions)
            self._opened.append(self._vectors)
        try:
            keep_passages(self.passages, self._vectors, self.embedder, BRIEF)
        except LtmError:
            return None, None  # nowhere to keep them
        return self._vectors, vector

    def _candidates(
        self, matches: PassageMatches, near: Mapping[int, float], named: Iterable[int], end: str
    ) -> dict[int, PassageMatch]:
        """All that was found, with the neighbours of the best."""
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
                if row not in gone and not says(each.words.split(" "), each.role)
            }
        return {row: each for row, each in found.items() if not end or each.at < end}


def session_search(places: Places, config: Config) -> SessionSearch:
    """The project's sessions, to be asked; to be closed by the caller."""

    def embedder() -> Embedder | None:
        from ltm.embed.embedder import open_embedder

        return open_embedder(config)

    return SessionSearch(places.sessions_db, embedder)


class _Statement(NamedTuple):
    """The terms of something that is left out, and how many of them a text has that says it."""

    said: frozenset[str]
    least: int
    waits: bool

    def is_in(self, words: Sequence[str]) -> bool:
        """Whether it is said there: of one that waits, so many of its terms close together."""
        if not self.waits:
            return True  # all of its terms are there
        last: dict[str, int] = {}
        for place, word in enumerate(words):
            if word in self.said:
                last[word] = place
                since = place - 2 * len(self.said)
                if sum(at >= since for at in last.values()) >= self.least:
                    return True
        return False


class LeftOut:
    """What memories that are left out say, and where they came from."""

    def __init__(self, memories: Iterable[Memory] = ()) -> None:
        self._lines: dict[str, list[str]] = {}
        self._said: dict[str, list[_Statement]] = {}
        for memory in memories:
            if memory.source.session and memory.source.lines:
                self._lines.setdefault(memory.source.session, []).append(memory.source.lines)
            waits = memory.status is Status.QUARANTINED
            # Of one that waits each sentence and item counts, as none is approved.
            parts = (_ITEMS.split(each) for each in sentences(memory.text) if waits)
            for text in dict.fromkeys([memory.title, *chain.from_iterable(parts)]):
                said = frozenset(query_terms(text))
                if len(said) < _TELLING:
                    continue
                least = max(_LIKE, ceil(len(said) / 2)) if waits else len(said)
                statement = _Statement(said, least, waits)
                # Found by its longest terms, which hardly any other text has; so many of them that
                # none can be missed.
                for term in sorted(said, key=len)[least - 1 :]:
                    self._said.setdefault(term, []).append(statement)

    def rows(self, passages: PassageLookups, sessions: Collection[str]) -> set[int]:
        """The rows in some sessions that these memories came from."""
        return {each.row for each in self._behind(passages, sessions)}

    def says(self, words: Sequence[str], role: str) -> bool:
        """Whether a text of these terms, in their order, says what one of these memories said.

        The user's own words are never those of a memory that waits: no page can hide them.
        """
        there = set(words)
        return any(
            len(each.said & there) >= each.least
            and not (each.waits and role == USER)
            and each.is_in(words)
            for word in self._said.keys() & there
            for each in self._said[word]
        )

    def shown(self, passages: PassageLookups, found: Iterable[Passage]) -> list[Passage]:
        """Passages without those that are left out."""
        given = list(found)
        gone = self.rows(passages, {each.session for each in given})
        return [
            each
            for each in given
            if each.row not in gone and not (self._said and self.says(terms(each.text), each.role))
        ]

    def titled(self, passages: PassageLookups, header: Header) -> Header:
        """A session without its title, where that was taken from what is left out."""
        gone = self._behind(passages, [header.id])
        if any(" ".join(each.text.split()).startswith(header.title) for each in gone) or (
            self._said and self.says(terms(header.title), "")
        ):
            return header._replace(title="")
        return header

    def _behind(self, passages: PassageLookups, sessions: Collection[str]) -> list[Passage]:
        return [
            each
            for session in self._lines.keys() & sessions
            for lines in self._lines[session]
            for each in passages.at_lines(session, lines)
        ]


def leave_out(store: Store, said: SessionSearch, *, waiting: bool = False) -> None:
    """See to it that sessions do not tell what memories may not; `waiting` asks for what waits."""
    if not said.anything():
        return
    if waiting:
        said.left_out = _left_out(store, Status.FORGOTTEN)
        said.waiting = _left_out(store, Status.QUARANTINED)
    else:
        said.left_out = _left_out(store, Status.FORGOTTEN, Status.QUARANTINED)
        said.waiting = None


def _left_out(store: Store, *statuses: Status) -> LeftOut | None:
    gone = store.list(Filter(statuses=statuses)).items
    return LeftOut(each.memory for each in gone) if gone else None


class Quote(NamedTuple):
    """One answer to a question: what was said, how well it fits and why. What `Hit` is for a
    memory."""

    passage: Passage
    score: float
    why: str
    exchange: tuple[tuple[str, str], ...]
    """What the user said and what the agent answered, each as the role and an excerpt, in order."""
    waits: bool = False
    """Whether it says what a memory that waits for approval says."""
    weak: bool = False
    """Whether it has so little of the question that it may have nothing to do with it."""

    @property
    def excerpt(self) -> str:
        """The part of it that has the most of the question."""
        return next(text for role, text in self.exchange if role == self.passage.role)

    @property
    def id(self) -> str:
        """How it is cited: the session and the lines of its transcript, as `3f2a…:120-134`."""
        return self.passage.citation

    @property
    def tokens(self) -> int:
        """What opening it costs."""
        return estimate(self.passage.text)


def cited_as(hit: Hit | Quote) -> str:
    """How a hit is cited: a memory's id, or a session and its lines."""
    return hit.id if isinstance(hit, Quote) else hit.stored.memory.id


def is_small_talk(passage: Passage) -> bool:
    """Whether it tells nothing: thanks and agreement, what the agent is about to look at, the name
    of a file that was written."""
    if passage.role == TOOL:
        return passage.writes
    if len(passage.text) > _SHORT:
        return False
    text = " ".join(passage.text.replace("’", "'").split())
    if passage.role == ASSISTANT and re.match(_ANNOUNCED, text):
        return True
    return is_filler(text)


def excerpt(text: str, words: Collection[str]) -> str:
    """The part of a text that has the most of some terms, in `EXCERPT` characters."""
    if len(text) <= EXCERPT:
        return " ".join(text.split())
    parts = sentences(text)
    if not parts:
        return ""
    asked = set(words)
    having = [len(asked.intersection(terms(part))) for part in parts]
    at = having.index(max(having))
    shown = parts[at]
    for following in parts[at + 1 :]:
        if len(shown) >= EXCERPT:
            break
        shown = f"{shown} {following}"
    return shortened(f"… {shown}" if at else shown, EXCERPT)


def quote_title(quote: Quote) -> str:
    """Who said it and when."""
    return f"{quote.passage.role}, {quote.passage.at[:10] or 'at an unknown time'}"


def quote_record(quote: Quote) -> dict[str, Any]:
    """A quote as JSON, with the fields a memory's hit has."""
    passage = quote.passage
    return {
        "id": quote.id,
        "title": quote_title(quote),
        "kind": "session",
        "score": round(quote.score, 4),
        "why": quote.why,
        "weak": quote.weak,
        "text": quote.excerpt,
        "exchange": [{"role": role, "text": text} for role, text in quote.exchange],
        "tokens": quote.tokens,
        "quarantined": quote.waits,
        "source": {
            "trust": passage.role,
            "session": passage.session,
            "lines": quote.id.rpartition(":")[2],
            "at": passage.at,
            "turn": passage.turn,
            "files": list(passage.files),
        },
    }


def passage_record(passage: Passage) -> dict[str, Any]:
    """A passage as JSON, whole, with where it stands."""
    return {
        "id": passage.citation,
        "role": passage.role,
        "at": passage.at,
        "turn": passage.turn,
        "text": passage.text,
        "files": list(passage.files),
        "tokens": estimate(passage.text),
    }
