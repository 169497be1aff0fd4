"""Recall: any text a person may type, to ranked memories and passages that say why they are there.

Memories are found by words and by meaning, each as a share of the best, as with passages; one whose
time or kind the question names gains, and one that may no longer be true loses. Between memories
and passages it is decided by how much of the question the best of each answers: the share of its
words, weighed by how rare they are, or its nearness in meaning. What the user chose to keep counts
more than what was merely said, and a memory and the lines it came from are one hit.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import date, datetime
from functools import lru_cache, partial
from itertools import chain, islice
from typing import TYPE_CHECKING, NamedTuple

from ltm.history.passage import line_range
from ltm.model import Filter, Hit, Memory, Status, Stored, now
from ltm.recall.passages import Quote, excerpt, leave_out
from ltm.recall.rank import FADING, LIKENESS, NEAR, RECENT, TIME, Question, understood
from ltm.store.store import Matches, Store
from ltm.text.bm25 import Matched
from ltm.text.dates import closeness
from ltm.text.similarity import tokens_of
from ltm.text.terms import terms

if TYPE_CHECKING:
    from ltm.embed.embedder import Embedder
    from ltm.history.passage import Passage
    from ltm.recall.passages import PassageRanking, SessionSearch
    from ltm.recall.rank import Ranking

MOST = 200
"""Hits one question gives."""

BY_MEANING = 30
"""Memories found by their meaning alone."""

WORDS = 1.0
KIND = 0.25
"""What it counts that a question names the kind: who asks for decisions wants decisions."""

DOUBTED = 0.5
"""What is left of a memory's score when nothing is left of its confidence."""

CURATED = 1.25
"""How much more a memory counts than something said that answers as well."""

PER_SESSION = 3
"""One part in so many of a list may be of one session, and always so many hits, before the rest of
that session comes last: who reads a list wants to see where else it was spoken of."""

_LOOKED_AT = 10  # hits that are put in the order of time where one says what another says otherwise
_BEST = 3  # of each layer, among which the best answer is looked for
_MARKS = "?!.,;:\"'()"
_CLEAR = 0.5  # a share from which on a signal is worth telling


class Recalled(NamedTuple):
    """The best hits, and how many memories and passages were found in all."""

    hits: tuple[Hit | Quote, ...]
    total: int

    @property
    def memories(self) -> tuple[Hit, ...]:
        """The hits that are memories."""
        return tuple(hit for hit in self.hits if isinstance(hit, Hit))


def recall(
    store: Store,
    question: str,
    wanted: Filter,
    limit: int,
    *,
    counts: bool = True,
    said: SessionSearch | None = None,
    as_of: datetime | None = None,
) -> Recalled:
    """What answers a question, best first: memories, and with `said` what sessions hold too.

    A filter that chooses among memories asks for memories only; one that widens does not. Without
    quarantined memories in it, nothing is found that says what those say. `as_of` answers as on
    that day: what was said later is left out, and "last week" is seen from there. `counts` says
    whether being found is a use: yes when a person or agent asked, no when we look something up
    ourselves.
    """
    most = max(1, min(limit, MOST))
    day = (as_of or now()).date()
    asked = understood(question, day)
    embedder = said.embedder if said is not None else None
    found, total = remembered(store, asked, wanted, most, day, embedder)
    hits: Sequence[Hit | Quote]
    if said is not None and _chooses_none(wanted) and said.anything():
        leave_out(store, said, waiting=Status.QUARANTINED in wanted.statuses)
        quoted = said.ask(asked, day, until=as_of.date() if as_of else None)
        hits = _blended(asked, found, quoted, said, most)
        total += len(quoted.ranking.scores)
    else:
        hits = [_hit(asked, each) for each in found]
    result = Recalled(tuple(hits), total)
    if counts and result.memories:
        store.used(hit.stored.memory.id for hit in result.memories)
    return result


def _chooses_none(wanted: Filter) -> bool:
    """Whether a filter lets all active memories through, whatever else."""
    usual = Filter()
    widened = set(usual.statuses) <= set(wanted.statuses)
    return widened and wanted._replace(statuses=usual.statuses) == usual


class MemoryMatch(NamedTuple):
    """A memory, how good an answer it is, and by what it was found."""

    stored: Stored
    score: float
    matched: Matched
    likeness: float = 0.0


def remembered(
    store: Store,
    question: Question,
    wanted: Filter,
    limit: int,
    today: date,
    embedder: Embedder | None = None,
) -> tuple[list[MemoryMatch], int]:
    """The memories that answer a question, best first, and how many match it in all."""
    matches = store.search(question.text, wanted, limit)
    like = _alike(store, question, wanted, matches, embedder) if embedder else {}
    items = {each.stored.memory.id: each for each in matches.items}
    most = max((each.score for each in matches.items), default=0.0) or 1.0
    nearest = max((near for _, near in like.values()), default=0.0)
    found: list[MemoryMatch] = []
    for name in {**items, **like}:
        match = items.get(name)
        stored = match.stored if match else like[name][0]
        near = like[name][1] if name in like else 0.0
        score = _standing(question, stored.memory, today)
        score += WORDS * match.score / most if match else 0.0
        score += LIKENESS * max(0.0, near) / nearest if nearest > 0 else 0.0
        score *= DOUBTED + (1 - DOUBTED) * stored.memory.confidence
        found.append(MemoryMatch(stored, score, match.matched if match else Matched(), near))
    found.sort(key=lambda each: (each.score, each.stored.memory.id), reverse=True)
    found[:_LOOKED_AT] = _newer_first(found[:_LOOKED_AT])
    return found[:limit], matches.total + len(like.keys() - items.keys())


def _newer_first(found: list[MemoryMatch]) -> list[MemoryMatch]:
    """The same hits, but no memory before a newer one that says it otherwise."""
    words = [tokens_of(each.stored.memory.text) for each in found]
    for last in range(1, len(found)):
        for place in range(last):
            older, newer = found[place].stored.memory, found[last].stored.memory
            shared = len(words[place] & words[last])
            if (older.created, older.id) >= (newer.created, newer.id) or 2 * shared < min(
                len(words[place]), len(words[last])
            ):
                continue
            if newer.id in older.conflicts or _is_outdone(older, newer):
                # It takes the place and the score, so that no later step undoes the order.
                found.insert(place, found.pop(last))
                words.insert(place, words.pop(last))
                found[place] = found[place]._replace(score=found[place + 1].score)
                break
    return found


def _is_outdone(older: Memory, newer: Memory) -> bool:
    from ltm.text.sameness import Sameness, judge  # slow to load, and rarely needed

    return judge(newer.text, older.text).relation in (Sameness.CHANGE, Sameness.CONFLICT)


def _standing(question: Question, memory: Memory, today: date) -> float:
    """What speaks for a memory besides its words."""
    age = max(0, (today - memory.confirmed.date()).days)
    score = RECENT * float(0.5 ** (age / FADING))
    score += TIME * closeness(question.spans, memory.created.date())
    if not question.weights.keys().isdisjoint(terms(memory.kind)):
        score += KIND
    return score


def _alike(
    store: Store, question: Question, wanted: Filter, matches: Matches, embedder: Embedder
) -> dict[str, tuple[Stored, float]]:
    """Memories near to a question in meaning; those found by words with them."""
    from ltm.embed.update import BRIEF, HasVectors, keep_memories
    from ltm.errors import LtmError

    if not isinstance(store, HasVectors):
        return {}
    found: dict[str, tuple[Stored, float]] = {}
    by_words = {each.stored.memory.id: each.stored for each in matches.items}
    try:
        keep_memories(store, embedder, BRIEF)
        vector = embedder.embed([question.text])[0]
        if not vector.any():
            return {}
        for vectors in store.vectors(embedder.name, embedder.dimensions):
            for stored, near in vectors.nearest_memories(vector, wanted, BY_MEANING):
                if near >= NEAR:
                    found[stored.memory.id] = (stored, near)
            likeness = vectors.likeness_of(vector, list(by_words.values()))
            found |= {name: (by_words[name], near) for name, near in likeness.items()}
    except LtmError:
        pass  # no model, or nowhere to keep its vectors: by words alone
    return found


def _blended(
    question: Question,
    memories: Sequence[MemoryMatch],
    quoted: PassageRanking,
    said: SessionSearch,
    limit: int,
) -> list[Hit | Quote]:
    """The best of memories and passages, best first."""
    ranking = quoted.ranking
    strong = CURATED * _strength(
        (({*chain(*each.matched)}, each.likeness) for each in memories[:_BEST]), question, quoted
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
        where = ""
        if source:
            where = f"said in {source[0].session[:8]}:{source[0].first}"
            gone.update(passage.row for passage in source)
            score = max(score, CURATED * max(quotes[passage.row] for passage in source))
        made.append((score, partial(_hit, question, memory, score, where)))
    for passage, _ in chosen:
        if passage.row not in gone:
            score, waiting = quotes[passage.row], passage.row in waits
            made.append((score, partial(_quote, question, ranking, passage, score, waiting)))
    made.sort(key=lambda pair: -pair[0])
    return [make() for _, make in made[:limit]]  # a reason is put into words only where it is told


def _chosen(ranking: Ranking, said: SessionSearch, limit: int) -> list[tuple[Passage, float]]:
    """The best passages, one a turn; of a session that had its share, the rest come last."""
    first = list(islice(ranking.scores, 2 * limit + 20))
    texts = {each.row: each for each in said.passages.read(first)}
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
    session = memory.source.session
    if not session or not memory.source.lines:
        return []
    first, last = line_range(memory.source.lines)
    return [
        each
        for each in passages
        if each.session == session and each.first <= last and each.last >= first
    ]


def _hit(
    question: Question, found: MemoryMatch, score: float | None = None, where: str = ""
) -> Hit:
    """A memory that was found, as callers see it."""
    reasons = [_reasons(question.text, found.matched)]
    if found.likeness > 0 and not any(found.matched):
        reasons.append("close in meaning")
    reasons.append(where)
    why = "; ".join(filter(None, reasons))
    return Hit(found.stored, found.score if score is None else score, why)


def _reasons(question: str, matched: Matched) -> str:
    """Which of the asker's own words are in the title, the tags and the text of a memory."""
    said: list[str] = []
    for name, there in (("title", matched.title), ("tags", matched.tags), ("text", matched.text)):
        found = _own_words(question, there)
        if found:
            said.append(f"{name}: {', '.join(found)}")
    return "; ".join(said)


def _quote(
    question: Question, ranking: Ranking, passage: Passage, score: float, waits: bool
) -> Quote:
    why = _why(question, ranking, passage.row)
    return Quote(passage, score, why, excerpt(passage.text, question.weights), waits)


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
