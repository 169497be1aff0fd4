"""What a question asks by, and which passages answer it best: evidence as shares, added up.

Any text is a question: it is read for its words and their weights, whose words it is after, the
time, the files and the failure it names.

Each signal is made a share of the best value any candidate has for this question, from 0 to 1, so
that signals of different scales can be added; then each counts by its weight below. The weights are
round numbers chosen by reasoning: words are what people remember, so a passage's own words and
those around it count as 1 together; everything that may be off the point counts half; who speaks
and how it opens a quarter; age only settles ties.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from datetime import date
from functools import cache

from ltm.history.passage import ASSISTANT, USER
from ltm.kinds import Kinds
from ltm.record import NamedTuple
from ltm.text.bm25 import bm25
from ltm.text.dates import DateSpan, closeness, spans
from ltm.text.terms import common_terms, query_terms, terms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    from ltm.history.search import PassageMatch

    _K = TypeVar("_K")

MOST_WORDS = 64
"""Terms of a long question that count: it may be a whole text."""

LONGEST = 100_000
"""Characters of a question that are read: a log of a megabyte would take a second."""

_MOST_PATHS = 4
_EDGES = "?!.,;:\"'`()[]{}<>*"
_PATH = re.compile(r"[\w.~@+-]*(?:/[\w.@+-]+)+/?\Z|[\w@+-][\w.@+-]*\.[A-Za-z]\w{0,9}\Z")
_FAILING = re.compile(
    r"\b\w*(?:error|exception|traceback|errno|fatal|panic)s?\b"
    r"|\b(?:fail(?:s|ed|ing|ure|ures)?|crash\w*|refused|denied|cannot|undefined|unresolved)\b",
    re.IGNORECASE,
)
_SAYING = (
    "said say told tell recommend suggest mention gave give provid list explain describ shar"
    " propos wrote write show answer"
)
_OF_AGENT = re.compile(
    rf"\byou(?:'ve|'d| have| had| did| also)?(?: \w+)?? (?:{'|'.join(_SAYING.split())})\w*"
    r"|\bremind me\b|\byour (?:answer|advice|suggestion|recommendation|explanation|plan)\w*",
    re.IGNORECASE,
)
_ASKS_WHEN = re.compile(
    r"\A\W*(?:and |so |since |until )?when\b|\bhow long\b"
    r"|\b(?:what|which) (?:day|date|week|month|year)",
    re.IGNORECASE,
)
_ASKS_NUMBER = re.compile(
    r"\bhow (?:many|much|often|long|old|big|large|far)\b"
    r"|\b(?:what|which) (?:port|version|number|size|limit|price|amount|percentage)",
    re.IGNORECASE,
)
# Of what has such an answer, as terms: without endings.
_TIMES = (
    "yesterdai|todai|tomorrow|tonight|morn|last|next|ago|sinc|recent|dai|week|weekend|month|year"
    "|mondai|tuesdai|wednesdai|thursdai|fridai|saturdai|sundai|januari|februari|march|april|mai"
    "|june|juli|august|septemb|octob|novemb|decemb"
)
_NUMBERS = (
    "on|two|three|four|five|six|seven|eight|nine|ten|onc|twice|few|sever|coupl|hundr|thousand"
)
_OF_USER = re.compile(r"\b(?:i|i'm|i've|i'd|my|me|mine|myself|we|our|us)\b", re.IGNORECASE)


_USUAL = (
    "add adjust after again all also always another app apply approach around ask back bad base"
    " basic before best better big bit branch break bug build bunch call case change check clean"
    " clear code come command comment commit complete confirm continue copy correct could create"
    " current data debug default delete describe design detail different directory do doc document"
    " does done edit else empty end ensure error even ever every everything example exist expect"
    " explain extend extra fail far fast feature feel figure file fill final find fine finish"
    " first fix folder follow form format found full function general generate get give go good"
    " got great guess happen hard hello help hey hi idea implement import improve include input"
    " inside instead issue item job keep kind know large last later latest least leave left let"
    " lets like line list little live local log long look lot main make many maybe mean message"
    " method mind minor miss module more most move much name need never new next nice nothing now"
    " number off ok okay old once one only open option order other output own page part pass path"
    " perfect piece place plan please point possible prepare previous print probably problem"
    " proceed process program project proper propose provide pull push put question quick quickly"
    " ran read ready real really refactor remember remove rename repeat replace report request"
    " require rest result return review rewrite right root run safe same save say script second"
    " see seem send set setup short show side simple simplify since single small something sort"
    " source start state status step still stop string style such suggest sum sure take talk task"
    " tell test text thank thanks that thing think time today together tomorrow try turn two type"
    " under understand unit until up update upgrade use used user using value variable version via"
    " view wait want way well work working works worth write wrong yes yesterday yet"
)


_ASKING = (
    "agree agreed decide decided decision discuss know learn mention remember remind said say talk"
    " tell told"
)
_LISTING = "all current every give list make open see show"


@cache
def usual_words() -> frozenset[str]:
    """Terms that people type to an agent whatever the work is about."""
    return frozenset(terms(_USUAL))


@cache
def asking_words() -> frozenset[str]:
    """Terms that speak of the asking and not of what is asked for: "what did we decide about"."""
    return frozenset(terms(_ASKING))


@cache
def kind_words() -> Mapping[str, tuple[str, ...]]:
    """Terms by which people ask for all memories of some kinds, and the names of these kinds."""
    found: dict[str, list[str]] = {}
    for kind in Kinds():
        for term in terms(" ".join([kind.name, *kind.asked_by])):
            found.setdefault(term, []).append(kind.name)
    return {term: tuple(names) for term, names in found.items()}


class Question(NamedTuple):
    """A question as ranking sees it."""

    text: str
    weights: Mapping[str, float]
    """Its terms and how much each counts: a plain word 1, those of a compound less."""
    compounds: Mapping[str, tuple[str, ...]] = {}
    """Terms that are whole compounds, and the terms of their parts."""
    role: str = ""
    """Whose words it is after, `user` or `assistant`; '' when it does not say."""
    spans: tuple[DateSpan, ...] = ()
    paths: tuple[str, ...] = ()
    """The files it names."""
    failing: bool = False
    """Whether it is about something that went wrong."""
    answer: re.Pattern[str] | None = None
    """What the terms of an answer have: a time where it asks when, a number where it asks how many;
    None where it asks for neither."""

    def has_content(self) -> bool:
        """Whether it has words besides those of a time and those that people type whatever it is
        about: "what did we do in October?" has none."""
        return not (usual_words() | self.times()).issuperset(self.weights)

    def times(self) -> set[str]:
        """Its terms that name a time."""
        return {term for span in self.spans for term in terms(span.phrase)}

    def kinds(self) -> tuple[str, ...]:
        """The kinds of memories it asks for, where it names nothing else: "our decisions"."""
        known = kind_words()
        named = [word for word in self.weights if word in known]
        rest = self.weights.keys() - {*terms(_LISTING)} - asking_words() - self.times()
        if not rest.issubset(named):
            return ()
        return tuple(dict.fromkeys(name for word in named for name in known[word]))

    def wholes(self, known: Callable[[str], bool]) -> list[str]:
        """Its terms without the parts of compounds whose whole is known.

        For searches that cannot weigh words: there a name of four parts would count as five.
        """
        parts = {part for whole, parts in self.compounds.items() if known(whole) for part in parts}
        return [word for word in self.weights if word not in parts]


def understood(text: str, today: date) -> Question:
    """A question, seen from the day on which it is asked."""
    text = text[:LONGEST]
    weights, compounds = _weighed(text)
    return Question(
        text,
        weights,
        compounds,
        _role(text),
        tuple(spans(text[:2_000], today)),
        _paths(text),
        _FAILING.search(text) is not None,
        _answer_shape(text),
    )


def _weighed(text: str) -> tuple[dict[str, float], dict[str, tuple[str, ...]]]:
    """The terms of a text and their weights, and which of them are parts of which.

    A compound such as `ecommerce-api` or `src/app.py` gives one term for the whole and one for each
    part. Half the weight of a word is the whole's, half is shared by its parts: else a name of four
    parts would count as five words and drown the rest of the question.
    """
    weights: dict[str, float] = {}
    compounds: dict[str, tuple[str, ...]] = {}
    common = common_terms()
    for word in text.split():
        whole, *parts = [term for term in dict.fromkeys(terms(word)) if term not in common] or [""]
        if not whole:
            continue
        weights[whole] = max(weights.get(whole, 0.0), 0.5 if parts else 1.0)
        if parts:
            compounds[whole] = tuple(parts)
        for part in parts:
            weights[part] = max(weights.get(part, 0.0), 0.5 / len(parts))
        if len(weights) >= MOST_WORDS:
            break
    if not weights:
        weights = dict.fromkeys(query_terms(text), 1.0)
    return dict(list(weights.items())[:MOST_WORDS]), compounds


def _answer_shape(text: str) -> re.Pattern[str] | None:
    if _ASKS_WHEN.search(text):
        return re.compile(rf"(?<!\S)(?:{_TIMES}|(?:19|20)\d\d)(?!\S)")
    if _ASKS_NUMBER.search(text):
        return re.compile(rf"\d|(?<!\S)(?:{_NUMBERS})(?!\S)")
    return None


def _role(text: str) -> str:
    if _OF_AGENT.search(text):
        return ASSISTANT
    return USER if _OF_USER.search(text) else ""


def _paths(text: str) -> tuple[str, ...]:
    words = (word.rstrip(_EDGES).lstrip(_EDGES.replace(".", "")) for word in text.split())
    return tuple(dict.fromkeys(word for word in words if _PATH.match(word)))[:_MOST_PATHS]


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

ASKING, FOLLOWING = 0.25, 0.25
"""What a passage loses that is a question itself: who asks wants the answer. What follows a
question gains as much as that has of the words, unless the other side's words are asked for."""

ANSWER = 0.25
"""It has a time where the question asks when, or a number where it asks how many: the more, the
fewer of the candidates have one."""

RECENT = 0.1
"""What is new, before what is old: half of it is left after `FADING` days."""

FADING = 30

_NEXT = ((1, 0.5), (2, 0.25))  # how far away another passage is, and what its words count
_NAMED = 10  # what fewer passages open with is a word like any other, and no name of a speaker
_LENGTH = 0.75  # how much a long text is discounted


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
        candidates: Mapping[int, PassageMatch],
        rarities: Mapping[str, float],
        signals: Signals,
        today: date,
    ) -> None:
        """`candidates` may hold neighbours of one another (adjacent rows of the same session):
        what was said just before and after a passage is part of its sense."""
        self.evidence = candidates
        self.files = signals.files
        self.rarities = rarities
        self._question = question
        self._weights = {
            word: weight * rarities.get(word, 0.0) for word, weight in question.weights.items()
        }
        self._counts = {
            row: _counted(each.words, self._weights) for row, each in candidates.items()
        }
        self._lengths = {row: each.words.count(" ") + 1 for row, each in candidates.items()}
        self._windows = {row: self._window(each) for row, each in candidates.items()}
        own = _shares(
            _scored(
                {row: (self._counts[row], self._lengths[row]) for row in candidates}, self._weights
            )
        )
        self._by_row: tuple[tuple[str, float, Mapping[int, float]], ...] = (
            ("own", OWN, own),
            ("around", AROUND, _shares(_scored(self._windows, self._weights))),
            ("likeness", LIKENESS, _shares(signals.likeness)),
            ("error", ERROR, _shares(signals.errors)),
            ("file", FILE, dict.fromkeys(signals.files, 1.0)),
            ("following", FOLLOWING, self._following(own)),
            ("answer", ANSWER, self._answering()),
        )
        self._row_shares = [(weight, shares) for _, weight, shares in self._by_row if shares]
        self._by_session: tuple[tuple[str, float, Mapping[str, float]], ...] = (
            ("session", SESSION, _shares(signals.sessions)),
            ("user", USERS, _shares(signals.users)),
        )
        openings = Counter(_opening(each) for each in candidates.values())
        self._speakers = {
            word for word in self._weights if openings[word] * _NAMED >= len(candidates)
        }
        days = {each.at[:10]: each.day for each in candidates.values()}
        self._days = {at: _times(question, day, today) for at, day in days.items()}
        scores = {row: self._score(row, each) for row, each in candidates.items()}
        order = sorted(scores, key=lambda row: (-scores[row], -row))
        self.scores = {row: scores[row] for row in order}
        """Best first; among equals the one that was kept last."""

    def signals(self, row: int) -> dict[str, float]:
        """What speaks for a passage, each as a share of the best, from 0 to 1."""
        each = self.evidence[row]
        found = {name: shares.get(row, 0.0) for name, _, shares in self._by_row}
        found |= {name: shares.get(each.session, 0.0) for name, _, shares in self._by_session}
        found["time"], found["recent"] = self._days[each.at[:10]]
        found["voice"], found["speaker"] = self._manner(each)
        return found

    def words(self, row: int) -> tuple[list[str], list[str]]:
        """The terms of the question that a passage has itself, and those of its neighbours only."""
        own = self._counts[row]
        return list(own), [word for word in self._windows[row][0] if word not in own]

    def _score(self, row: int, each: PassageMatch) -> float:
        time, recent = self._days[each.at[:10]]
        voice, speaker = self._manner(each)
        score = TIME * time + RECENT * recent + VOICE * voice + SPEAKER * speaker
        for weight, shares in self._row_shares:
            score += weight * shares.get(row, 0.0)
        for _, weight, by_session in self._by_session:
            score += weight * by_session.get(each.session, 0.0)
        return max(0.0, score - ASKING * each.asks)

    def _following(self, own: Mapping[int, float]) -> dict[int, float]:
        """The passages right after a question, with the share of the words that this has."""
        found: dict[int, float] = {}
        for row, each in self.evidence.items():
            before = self.evidence.get(row - 1)
            if before is None or not before.asks or before.session != each.session:
                continue
            if not each.asks and self._question.role in ("", each.role):
                found[row] = own.get(row - 1, 0.0)
        return found

    def _answering(self) -> dict[int, float]:
        """The passages that have what an answer must have; what nearly all have counts little."""
        shape = self._question.answer
        if shape is None or not self.evidence:
            return {}
        found = [row for row, each in self.evidence.items() if shape.search(each.words)]
        return dict.fromkeys(found, 1 - len(found) / len(self.evidence))

    def _manner(self, each: PassageMatch) -> tuple[bool, bool]:
        """Whether it is said by the side, and by the one, that the question is after."""
        voice = bool(self._question.role) and each.role == self._question.role
        return voice, _opening(each) in self._speakers

    def _window(self, each: PassageMatch) -> tuple[Mapping[str, float], float]:
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


def _opening(each: PassageMatch) -> str:
    """Its first term."""
    return each.words.partition(" ")[0]


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
