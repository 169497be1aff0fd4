"""Recall: any text a person may type, to ranked memories and passages that say why they are there.

Memories are found by words and by meaning, each as a share of the best, as with passages; one whose
time or kind the question names gains, and one that may no longer be true loses. Between memories
and passages it is decided by how much of the question the best of each answers: the share of its
words, weighed by how rare they are, or its nearness in meaning. What the user chose to keep counts
more than what was merely said, and a memory and the lines it came from are one hit. What has little
of the question is a weak match and comes last; where nothing has more than that, there is no hit.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set
from datetime import date, datetime
from functools import lru_cache
from itertools import chain, islice, takewhile

from ltm.history.passage import USER, Passage, line_range
from ltm.model import Filter, Hit, Memory, Page, Status, Stored, now
from ltm.recall.passages import Quote, excerpt, is_small_talk, leave_out
from ltm.recall.rank import (
    FADING,
    LIKENESS,
    NEAR,
    RECENT,
    TIME,
    Question,
    asking_words,
    kind_words,
    understood,
    usual_words,
)
from ltm.record import NamedTuple
from ltm.store.store import Matches, Store
from ltm.text.bm25 import Matched
from ltm.text.dates import closeness
from ltm.text.sentences import shortened
from ltm.text.similarity import tokens_of
from ltm.text.terms import STOP, terms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    from ltm.recall.passages import PassageRanking, SessionSearch
    from ltm.recall.rank import Ranking

    _T = TypeVar("_T")


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

WEAK = 0.4
"""Share of a question below which a hit is a weak match; so many of the words, weighed by how rare
they are, half of the answers have and hardly any text about other things."""

SILENT = 0.2
"""Share of a question that a hit must have, or be near in meaning; else nothing is found."""

CLOSE = 0.6
"""Nearness in meaning from which a hit that has none of the words is not weak."""

_LOOKED_AT = 10  # hits that are put in the order of time where one says what another says otherwise
_BEST = 3  # of each layer, among which the best answer is looked for
_LONG = 8  # words of a question, of which an answer can be expected to have all
_ASIDE = 160  # characters of the other side of an exchange
_USUAL = 0.5  # what a word counts that is about nothing in particular
_HOW = frozenset(terms("long many much often old big large far day date week month year"))
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
    hits: Sequence[Hit | Quote]
    with store.in_a_row():  # one question looks at the files once
        found, total = remembered(store, asked, wanted, most, day, said)
        if said is not None and _chooses_none(wanted) and said.anything():
            leave_out(store, said, waiting=Status.QUARANTINED in wanted.statuses)
            quoted = said.ask(asked, day, until=as_of.date() if as_of else None)
            hits = _blended(asked, found, quoted, said, most)
            total = total + len(quoted.ranking.scores) if hits else 0
        else:
            share = _Share(asked)
            weak = _weak_tail([share.is_weak(*_evidence(each)) for each in found])
            hits = [_hit(asked, *each) for each in zip(found, weak, strict=True)]
    result = Recalled(tuple(hits), total)
    if counts and result.memories:
        store.used(hit.stored.memory.id for hit in result.memories)
    return result


def _chooses_none(wanted: Filter) -> bool:
    """Whether a filter lets all active memories through, whatever else."""
    usual = Filter()
    widened = set(usual.statuses) <= set(wanted.statuses)
    return widened and wanted._replace(statuses=usual.statuses, teams=False) == usual


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
    said: SessionSearch | None = None,
) -> tuple[list[MemoryMatch], int]:
    """The memories that answer a question, best first, and how many match it in all."""
    matches = store.search(question.text, wanted, limit)
    like = _alike(store, question, wanted, matches, said) if said else {}
    items = {each.stored.memory.id: each for each in matches.items}
    listed = _of_kinds(store, question, wanted, limit)
    of_kind = {each.memory.id: each for each in listed.items}
    most = max((each.score for each in matches.items), default=0.0) or 1.0
    nearest = max((near for _, near in like.values()), default=0.0)
    found: list[MemoryMatch] = []
    for name in {**items, **like, **of_kind}:
        match = items.get(name)
        stored = match.stored if match else like[name][0] if name in like else of_kind[name]
        near = like[name][1] if name in like else 0.0
        score = _standing(question, stored.memory, today)
        if name in of_kind:
            score += WORDS
        elif match:
            score += WORDS * match.score / most
        score += LIKENESS * max(0.0, near) / nearest if nearest > 0 else 0.0
        score *= DOUBTED + (1 - DOUBTED) * stored.memory.confidence
        found.append(MemoryMatch(stored, score, match.matched if match else Matched(), near))
    found.sort(key=lambda each: (each.score, each.stored.memory.id), reverse=True)
    found[:_LOOKED_AT] = _newer_first(found[:_LOOKED_AT])
    total = matches.total + len(like.keys() - items.keys())
    return found[:limit], max(total, listed.total)


def _of_kinds(store: Store, question: Question, wanted: Filter, limit: int) -> Page:
    """The newest memories of the kinds that a question asks for and of which it says no more."""
    kinds = question.kinds()
    if wanted.kinds:
        kinds = tuple(each for each in kinds if each in wanted.kinds)
    return store.list(wanted._replace(kinds=kinds), limit) if kinds else Page()


def _newer_first(found: list[MemoryMatch]) -> list[MemoryMatch]:
    """The same hits, but no memory before a newer one that says it otherwise."""
    words = {each.stored.memory.id: tokens_of(each.stored.memory.text) for each in found}

    def is_newer(newer: MemoryMatch, older: MemoryMatch) -> bool:
        one, other = newer.stored.memory, older.stored.memory
        if (other.created, other.id) >= (one.created, one.id):
            return False
        if not _share_half(words[one.id], words[other.id]):
            return False
        return one.id in other.conflicts or _is_outdone(other, one)

    # Each takes the score of its place, so that no later step undoes the order.
    ordered = zip(_reordered(found, is_newer), [each.score for each in found], strict=True)
    return [each._replace(score=score) for each, score in ordered]


def _reordered(found: Sequence[_T], is_newer: Callable[[_T, _T], bool]) -> list[_T]:
    """Hits with those moved up that are newer than one before them."""
    ordered = list(found)
    for last in range(1, len(ordered)):
        for place in range(last):
            if is_newer(ordered[last], ordered[place]):
                ordered.insert(place, ordered.pop(last))
                break
    return ordered


def _share_half(one: Set[str], other: Set[str]) -> bool:
    """Whether two texts share half of the words of the shorter one."""
    return 2 * len(one & other) >= min(len(one), len(other))


def _is_outdone(older: Memory, newer: Memory) -> bool:
    from ltm.text.sameness import outdoes  # slow to load, and rarely needed

    return outdoes(newer.text, older.text)


def _standing(question: Question, memory: Memory, today: date) -> float:
    """What speaks for a memory besides its words."""
    age = max(0, (today - memory.confirmed.date()).days)
    score = RECENT * float(0.5 ** (age / FADING))
    score += TIME * closeness(question.spans, memory.created.date())
    if not question.weights.keys().isdisjoint(terms(memory.kind)):
        score += KIND
    return score


def _alike(
    store: Store, question: Question, wanted: Filter, matches: Matches, said: SessionSearch
) -> dict[str, tuple[Stored, float]]:
    """Memories near to a question in meaning; those found by words with them."""
    vector, embedder = said.vector(question.text), said.embedder
    if vector is None or embedder is None:
        return {}
    from ltm.embed.update import BRIEF, has_vectors, keep_memories
    from ltm.errors import LtmError

    if not has_vectors(store):
        return {}
    found: dict[str, tuple[Stored, float]] = {}
    by_words = {each.stored.memory.id: each.stored for each in matches.items}
    try:
        keep_memories(store, embedder, BRIEF)
        for vectors in store.vectors(embedder.name, embedder.dimensions, teams=wanted.teams):
            for stored, near in vectors.nearest_memories(vector, wanted, BY_MEANING, NEAR):
                found[stored.memory.id] = (stored, near)
            likeness = vectors.likeness_of(vector, list(by_words.values()))
            found |= {name: (by_words[name], near) for name, near in likeness.items()}
    except LtmError:
        pass  # no model, or nowhere to keep its vectors: by words alone
    return found


class _Share:
    """How much of a question a text has, from 0 to 1: by its words, each weighed by how rare it is.

    The words that name a time, ask how many or speak of the asking ("what did we decide about …")
    do not count, and those that name a kind or that people type whatever it is about count little.
    Of a long question `_LONG` words suffice.
    """

    def __init__(self, question: Question, rarities: Mapping[str, float] | None = None) -> None:
        empty = question.times() | asking_words()
        if question.kinds():
            empty.update(question.weights)
        if question.answer is not None:
            empty.update(_HOW)
        known = rarities or {}
        usual = usual_words().union(kind_words())
        self._weights = {
            word: weight * known.get(word, 1.0) * (_USUAL if word in usual else 1.0)
            for word, weight in question.weights.items()
            if word not in empty
        }
        self._whole = sum(sorted(self._weights.values(), reverse=True)[:_LONG])

    def of(self, words: Iterable[str]) -> float:
        """The share that some of its words are."""
        if not self._whole:
            return 1.0
        return min(1.0, sum(self._weights.get(word, 0.0) for word in words) / self._whole)

    def is_weak(self, words: Iterable[str], likeness: float) -> bool:
        """Whether words and nearness in meaning are too little to go by."""
        return likeness < CLOSE and self.of(words) < WEAK


def _evidence(found: MemoryMatch) -> tuple[set[str], float]:
    return {*chain(*found.matched)}, found.likeness


def _blended(
    question: Question,
    memories: Sequence[MemoryMatch],
    quoted: PassageRanking,
    said: SessionSearch,
    limit: int,
) -> list[Hit | Quote]:
    """The best of memories and passages, best first, one of each exchange."""
    ranking = quoted.ranking
    share = _Share(question, ranking.rarities)
    in_time = bool(question.spans) and not question.has_content()

    def of_row(row: int) -> tuple[set[str], float]:
        whole = row in ranking.files or (in_time and ranking.signals(row)["time"] == 1.0)
        words = question.weights if whole else chain(*ranking.words(row))
        return {*words}, quoted.likeness.get(row, 0.0)

    def strength(evidence: Iterable[tuple[set[str], float]]) -> float:
        return max((max(share.of(words), like) for words, like in evidence), default=0.0)

    strong = strength(map(_evidence, memories[:_BEST]))
    told = strength(map(of_row, islice(ranking.scores, _BEST)))
    first = [*map(_evidence, memories), *map(of_row, islice(ranking.scores, _LOOKED_AT))]
    if all(like < NEAR and share.of(words) < SILENT for words, like in first):
        return []
    best = max((each.score for each in memories), default=0.0) or 1.0
    top = max(ranking.scores.values(), default=0.0) or 1.0
    chosen = _chosen(question, ranking, said, limit)
    quotes = {passage.row: told * score / top for passage, score in chosen}
    waits = said.waits(passage for passage, _ in chosen)
    made: list[tuple[float, MemoryMatch | Passage, str]] = []
    gone: set[int] = set()
    for memory in memories:
        score = CURATED * strong * memory.score / best
        source = _source(memory.stored.memory, [passage for passage, _ in chosen])
        where = ""
        if source:
            where = f"said in {source[0].session[:8]}:{source[0].first}"
            gone.update(passage.row for passage in source)
            score = max(score, CURATED * max(quotes[passage.row] for passage in source))
        made.append((score, memory, where))
    made += [(quotes[each.row], each, "") for each, _ in chosen if each.row not in gone]
    made.sort(key=lambda each: -each[0])
    made, exchange = _one_of_each_exchange(made, said, limit)
    weak = _weak_tail(
        [
            share.is_weak(*(_evidence(each) if isinstance(each, MemoryMatch) else of_row(each.row)))
            for _, each, _ in made
        ]
    )
    hits: list[Hit | Quote] = []
    for (score, each, where), is_weak in zip(made, weak, strict=True):
        if isinstance(each, MemoryMatch):
            hits.append(_hit(question, each._replace(score=score), is_weak, where))
            continue
        lines = [(each.role, excerpt(each.text, question.weights))]
        for other in reversed(exchange[each.row]):
            side = (other.role, shortened(" ".join(other.text[: 2 * _ASIDE].split()), _ASIDE))
            lines.insert(0 if other.row < each.row else len(lines), side)
        why = _why(question, ranking, each.row)
        hits.append(Quote(each, score, why, tuple(lines), each.row in waits, is_weak))
    return hits


def _weak_tail(weak: list[bool]) -> list[bool]:
    """Of these hits, which belong to the end of the list that holds weak ones only: what ranks as
    high as a good match is not weak, though it has other words."""
    end = len(weak) - sum(1 for _ in takewhile(bool, reversed(weak)))
    return [place >= end for place in range(len(weak))]


def _one_of_each_exchange(
    made: Sequence[tuple[float, MemoryMatch | Passage, str]], said: SessionSearch, limit: int
) -> tuple[list[tuple[float, MemoryMatch | Passage, str]], dict[int, list[Passage]]]:
    """The first of these hits without passages whose question or answer stands before them; and
    for each passage what the user asked and the agent answered, small talk left out."""
    kept: list[tuple[float, MemoryMatch | Passage, str]] = []
    sides: dict[int, tuple[int, int]] = {}
    taken: set[int] = set()
    left = list(made)
    while left and len(kept) < limit:
        batch, left = left[:limit], left[limit:]
        rows = [each.row for _, each, _ in batch if isinstance(each, Passage)]
        sides |= said.passages.exchanges(rows)
        for hit in batch:
            if isinstance(hit[1], Passage):
                key = sides[hit[1].row][0] or hit[1].row
                if key in taken:
                    continue
                taken.add(key)
            kept.append(hit)
    kept = kept[:limit]
    passages = [each for _, each, _ in kept if isinstance(each, Passage)]
    others = {row for each in passages for row in sides[each.row] if row}
    texts = {each.row: each for each in said.shown(said.passages.read(others))}
    short = [each.row for each in texts.values() if each.role == USER and is_small_talk(each)]
    before = [each.row - 1 for each in texts.values() if each.row in short and each.turn > 1]
    earlier = said.passages.exchanges(before) if before else {}
    for each in said.shown(said.passages.read({asked for asked, _ in earlier.values() if asked})):
        texts[each.row] = each
    found: dict[int, list[Passage]] = {}
    for passage in passages:
        asked, answered = sides[passage.row]
        if asked in short:
            asked = earlier.get(asked - 1, (0, 0))[0]
        both = [texts[row] for row in (asked, answered) if row in texts]
        found[passage.row] = [
            each for each in both if each.role != passage.role and not is_small_talk(each)
        ]
    return kept, found


def _chosen(
    question: Question, ranking: Ranking, said: SessionSearch, limit: int
) -> list[tuple[Passage, float]]:
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
        if is_small_talk(passage) and row not in ranking.files:
            continue
        turns.add((passage.session, passage.turn))
        counts[passage.session] = counts.get(passage.session, 0) + 1
        full = counts[passage.session] > max(PER_SESSION, limit // PER_SESSION)
        (rest if full else chosen).append((passage, ranking.scores[row]))
    if not question.spans:
        chosen = _newest_of_a_subject(chosen, ranking)
    if rest:
        last, best = chosen[-1][1], rest[0][1] or 1.0
        # In this order: rounded the other way, an equal score could come out above the last.
        chosen += [(passage, last * (score / best)) for passage, score in rest]
    return chosen


def _newest_of_a_subject(
    chosen: list[tuple[Passage, float]], ranking: Ranking
) -> list[tuple[Passage, float]]:
    """The best passages, but none before a newer one of another session that has the same words of
    the question and half of its other words."""

    def is_newer(newer: Passage, older: Passage) -> bool:
        if newer.session == older.session or newer.at <= older.at:
            return False
        if set(ranking.words(newer.row)[0]) != set(ranking.words(older.row)[0]):
            return False
        one, other = (set(ranking.evidence[each.row].words.split(" ")) for each in (newer, older))
        return _share_half(one - STOP, other - STOP)

    first = _reordered([each for each, _ in chosen[:_LOOKED_AT]], is_newer)
    return [*zip(first, (score for _, score in chosen), strict=False), *chosen[_LOOKED_AT:]]


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


def _hit(question: Question, found: MemoryMatch, weak: bool, where: str = "") -> Hit:
    """A memory that was found, with its reasons in words."""
    reasons = [_reasons(question.text, found.matched)]
    if not any(found.matched):
        reasons.append(
            "close in meaning" if found.likeness > 0 else f"kind: {found.stored.memory.kind}"
        )
    reasons.append(where)
    return Hit(found.stored, found.score, "; ".join(filter(None, reasons)), weak)


def _reasons(question: str, matched: Matched) -> str:
    """Which of the asker's own words are in the title, the tags and the text of a memory."""
    said: list[str] = []
    for name, there in (("title", matched.title), ("tags", matched.tags), ("text", matched.text)):
        found = _own_words(question, there)
        if found:
            said.append(f"{name}: {', '.join(found)}")
    return "; ".join(said)


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
