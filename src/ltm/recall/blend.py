"""One list of memories and of what was said, each with the reasons why it is there.

Owns how the two are compared. Within each the order is its own; between them it is decided by how
much of the question the best of each answers: the share of its words, weighed by how rare they are,
or its nearness in meaning. What somebody chose to keep counts more than what was merely said, and a
memory and the lines it came from are one hit. Imports core and this package.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from ltm.core.model import Hit, Memory
from ltm.core.question import Question
from ltm.core.relevance import Matched
from ltm.core.words import terms

if TYPE_CHECKING:
    from ltm.core.passage import Passage
    from ltm.core.ranking import Evidence, Ranked
    from ltm.recall.quote import Quote
    from ltm.recall.remembered import Remembered
    from ltm.recall.said import Found, Said

CURATED = 1.25
"""How much more a memory counts than something said that answers as well."""

PER_SESSION = 3
"""One part in so many of a list may be of one session, and always so many hits, before the rest of
that session counts half: who reads a list wants to see where else it was spoken of."""

_BEST = 3  # of each layer, among which the best answer is looked for
_MARKS = "?!.,;:\"'()"
_CLEAR = 0.5  # a share from which on a signal is worth telling


def hit_of(
    question: Question, found: Remembered, score: float | None = None, said: str = ""
) -> Hit:
    """A memory that was found, as callers see it."""
    reasons = [reasons_of(question.text, found.matched)]
    if found.likeness > 0 and not any(found.matched):
        reasons.append("close in meaning")
    reasons.append(said)
    why = "; ".join(filter(None, reasons))
    return Hit(found.stored, found.score if score is None else score, why)


def blended(
    question: Question, memories: Sequence[Remembered], quoted: Found, said: Said, limit: int
) -> list[Hit | Quote]:
    """The best of both, best first."""
    passages = _chosen(quoted, said, limit)
    strong = CURATED * _strength(
        ((_terms(each.matched), each.likeness) for each in memories[:_BEST]), question, quoted
    )
    told = _strength(
        (
            ({*each.matched, *each.around}, quoted.likeness.get(each.row, 0.0))
            for each in quoted.ranked[:_BEST]
        ),
        question,
        quoted,
    )
    top = quoted.ranked[0].score if quoted.ranked else 1.0
    best = memories[0].score if memories and memories[0].score else 1.0
    quotes = {each.row: told * each.score / top for each, _ in passages}
    made: list[tuple[float, Callable[[], Hit | Quote]]] = []
    gone: set[int] = set()
    for memory in memories:
        score = strong * memory.score / best
        source = _source(memory.stored.memory, [passage for _, passage in passages])
        if source:
            gone.update(passage.row for passage in source)
            score = max(score, CURATED * max(quotes[passage.row] for passage in source))
        made.append((score, partial(hit_of, question, memory, score, _lines(source))))
    for each, passage in passages:
        if each.row not in gone:
            score, seen = quotes[each.row], quoted.evidence[each.row]
            made.append((score, partial(_quote, question, each, seen, passage, score)))
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


def _chosen(quoted: Found, said: Said, limit: int) -> list[tuple[Ranked, Passage]]:
    """The best passages, one a turn; of a session that had its share, the rest count half."""
    first = quoted.ranked[: 2 * limit + 20]
    texts = said.read(each.row for each in first)
    chosen: list[tuple[Ranked, Passage]] = []
    turns: set[tuple[str, int]] = set()
    counts: dict[str, int] = {}
    for each in first:
        passage = texts.get(each.row)
        if passage is None or (passage.session, passage.turn) in turns:
            continue
        turns.add((passage.session, passage.turn))
        counts[passage.session] = counts.get(passage.session, 0) + 1
        if counts[passage.session] > max(PER_SESSION, limit // PER_SESSION):
            each = each._replace(score=each.score / 2)
        chosen.append((each, passage))
    return chosen


def _strength(
    found: Iterable[tuple[Collection[str], float]], question: Question, quoted: Found
) -> float:
    """How much of a question the best of some answers has: by its words, or in meaning."""
    weights = {
        word: weight * quoted.rarities.get(word, 1.0) for word, weight in question.weights.items()
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
    question: Question, found: Ranked, seen: Evidence, passage: Passage, score: float
) -> Quote:
    from ltm.recall.quote import Quote, excerpt

    return Quote(
        passage,
        score,
        _why(question, found, seen),
        excerpt(passage.text, question.weights),
    )


def _why(question: Question, found: Ranked, seen: Evidence) -> str:
    """What speaks for a passage, in the asker's own words."""
    signals = found.signals
    said: list[str] = []
    for name, there in (("said", found.matched), ("said beside it", found.around)):
        words = _own_words(question.text, there)
        if words:
            said.append(f"{name}: {', '.join(words)}")
    if signals["file"]:
        said.append("names the file")
    if signals["error"] >= _CLEAR:
        said.append("the same error")
    if signals["time"] >= _CLEAR and seen.day is not None:
        near = max(question.spans, key=lambda span: span.closeness(seen.day or span.start))
        said.append(f"{near.phrase}: {seen.day.isoformat()}")
    if signals["likeness"] >= _CLEAR and not found.matched:
        said.append("close in meaning")
    if max(signals["session"], signals["user"]) >= _CLEAR and len(found.matched) < 2:
        said.append("its session is about it")
    return "; ".join(said) or "near what was found"


def _own_words(question: str, there: Collection[str]) -> list[str]:
    words = dict.fromkeys(question.split())
    found = [word.strip(_MARKS) for word in words if not set(terms(word)).isdisjoint(there)]
    return found[:8]


def _terms(matched: Matched) -> set[str]:
    return {*matched.title, *matched.tags, *matched.text}
