"""One list of memories and of what was said, each with the reasons why it is there.

Owns how the two are compared. Within each the order is its own; between them it is decided by how
much of the question the best of each answers: the share of its words, weighed by how rare they are,
or its nearness in meaning. What the user chose to keep counts more than what was merely said, and a
memory and the lines it came from are one hit. Imports core and this package.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from functools import lru_cache, partial
from itertools import chain, islice
from typing import TYPE_CHECKING

from ltm.core.model import Hit, Memory
from ltm.core.question import Question
from ltm.core.relevance import Matched
from ltm.core.words import terms

if TYPE_CHECKING:
    from ltm.core.passage import Passage
    from ltm.core.ranking import Ranking
    from ltm.recall.quote import Quote
    from ltm.recall.remembered import MemoryMatch
    from ltm.recall.said import PassageRanking, SessionSearch

CURATED = 1.25
"""How much more a memory counts than something said that answers as well."""

PER_SESSION = 3
"""One part in so many of a list may be of one session, and always so many hits, before the rest of
that session comes last: who reads a list wants to see where else it was spoken of."""

_BEST = 3  # of each layer, among which the best answer is looked for
_MARKS = "?!.,;:\"'()"
_CLEAR = 0.5  # a share from which on a signal is worth telling


def hit_of(
    question: Question, found: MemoryMatch, score: float | None = None, said: str = ""
) -> Hit:
    """A memory that was found, as callers see it."""
    reasons = [reasons_of(question.text, found.matched)]
    if found.likeness > 0 and not any(found.matched):
        reasons.append("close in meaning")
    reasons.append(said)
    why = "; ".join(filter(None, reasons))
    return Hit(found.stored, found.score if score is None else score, why)


def blended(
    question: Question,
    memories: Sequence[MemoryMatch],
    quoted: PassageRanking,
    said: SessionSearch,
    limit: int,
) -> list[Hit | Quote]:
    """The best of both, best first."""
    ranking = quoted.ranking
    strong = CURATED * _strength(
        ((_terms(each.matched), each.likeness) for each in memories[:_BEST]), question, quoted
    )
    told = _strength(
        (
            ({*chain(*ranking.words(row))}, quoted.likeness.get(row, 0.0))
            for row in islice(ranking.scores, _BEST)
        ),
        question,
        quoted,
    )
    best = max((each.score for each in memories), default=0.0) or 1.0
    top = max(ranking.scores.values(), default=0.0) or 1.0
    chosen = _chosen(ranking, said, limit)
    quotes = {passage.row: told * score / top for passage, score in chosen}
    waits = said.waits(passage for passage, _ in chosen)
    made: list[tuple[float, Callable[[], Hit | Quote]]] = []
    gone: set[int] = set()
    for memory in memories:
        score = strong * memory.score / best
        source = _source(memory.stored.memory, [passage for passage, _ in chosen])
        if source:
            gone.update(passage.row for passage in source)
            score = max(score, CURATED * max(quotes[passage.row] for passage in source))
        made.append((score, partial(hit_of, question, memory, score, _lines(source))))
    for passage, _ in chosen:
        if passage.row not in gone:
            score = quotes[passage.row]
            waiting = passage.row in waits
            made.append((score, partial(_quote, question, ranking, passage, score, waiting)))
    made.sort(key=lambda pair: -pair[0])
    return [make() for _, make in made[:limit]]  # a reason is put into words only where it is told


def reasons_of(question: str, matched: Matched) -> str:
    """Which of the asker's own words are in the title, the tags and the text of a memory."""
    said: list[str] = []
    for name, there in (("title", matched.title), ("tags", matched.tags), ("text", matched.text)):
        found = _own_words(question, there)
        if found:
            said.append(f"{name}: {', '.join(found)}")
    return "; ".join(said)


def _chosen(ranking: Ranking, said: SessionSearch, limit: int) -> list[tuple[Passage, float]]:
    """The best passages, one a turn; of a session that had its share, the rest come last."""
    first = list(islice(ranking.scores, 2 * limit + 20))
    texts = said.read(first)
    chosen: list[tuple[Passage, float]] = []
    rest: list[tuple[Passage, float]] = []
    turns: set[tuple[str, int]] = set()
    counts: dict[str, int] = {}
    for row in first:
        passage = texts.get(row)
        if passage is None or (passage.session, passage.turn) in turns:
            continue
        turns.add((passage.session, passage.turn))
        counts[passage.session] = counts.get(passage.session, 0) + 1
        full = counts[passage.session] > max(PER_SESSION, limit // PER_SESSION)
        (rest if full else chosen).append((passage, ranking.scores[row]))
    if rest:
        last, best = chosen[-1][1], rest[0][1] or 1.0
        chosen += [(passage, last * score / best) for passage, score in rest]
    return chosen


def _strength(
    found: Iterable[tuple[Collection[str], float]], question: Question, quoted: PassageRanking
) -> float:
    """How much of a question the best of some answers has: by its words, or in meaning."""
    weights = {
        word: weight * quoted.ranking.rarities.get(word, 1.0)
        for word, weight in question.weights.items()
    }
    whole = sum(weights.values()) or 1.0
    return max(
        (
            max(sum(weights.get(word, 0.0) for word in words) / whole, likeness)
            for words, likeness in found
        ),
        default=0.0,
    )


def _source(memory: Memory, passages: Iterable[Passage]) -> list[Passage]:
    """The passages a memory came from, of these."""
    from ltm.storage.passagelookups import line_range

    session = memory.source.session
    if not session or not memory.source.lines:
        return []
    first, last = line_range(memory.source.lines)
    return [
        each
        for each in passages
        if each.session == session and each.first <= last and each.last >= first
    ]


def _lines(source: Sequence[Passage]) -> str:
    return f"said in {source[0].session[:8]}:{source[0].first}" if source else ""


def _quote(
    question: Question, ranking: Ranking, passage: Passage, score: float, waits: bool
) -> Quote:
    from ltm.recall.quote import Quote, excerpt

    shown = excerpt(passage.text, question.weights)
    return Quote(passage, score, _why(question, ranking, passage.row), shown, waits)


def _why(question: Question, ranking: Ranking, row: int) -> str:
    """What speaks for a passage, in the asker's own words."""
    signals, day = ranking.signals(row), ranking.evidence[row].day
    own, around = ranking.words(row)
    said: list[str] = []
    for name, there in (("said", own), ("said next to it", around)):
        words = _own_words(question.text, there)
        if words:
            said.append(f"{name}: {', '.join(words)}")
    if signals["file"]:
        said.append("names the file")
    if signals["error"] >= _CLEAR:
        said.append("the same error")
    if signals["time"] >= _CLEAR and day is not None:
        near = max(question.spans, key=lambda span: span.closeness(day))
        said.append(f"{near.phrase}: {day.isoformat()}")
    if signals["likeness"] >= _CLEAR and not own:
        said.append("close in meaning")
    if max(signals["session"], signals["user"]) >= _CLEAR and len(own) < 2:
        said.append("its session is about it")
    return "; ".join(said) or "near what was found"


def _own_words(question: str, there: Collection[str]) -> list[str]:
    having = set(there)
    return [word for word, own in _spoken(question) if not own.isdisjoint(having)][:8]


@lru_cache(maxsize=8)
def _spoken(question: str) -> list[tuple[str, frozenset[str]]]:
    """The words of a question as they were typed, each with its terms."""
    words = dict.fromkeys(question.split())
    return [(word.strip(_MARKS), frozenset(terms(word))) for word in words]


def _terms(matched: Matched) -> set[str]:
    return {*matched.title, *matched.tags, *matched.text}
