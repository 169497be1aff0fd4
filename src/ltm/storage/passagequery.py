"""The SQL of finding passages and stretches of sessions by their words, quick at any size.

Owns the statements; the connection is `passages`', the tables are those of `passagerows`.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

POSTINGS = 3_000
"""How many matches one search may score, which bounds its time at any size: scoring costs about
1.5 µs a match, walking a word's passages 0.03 µs each. Words too common to fit rank what the rarer
words found and bring in none of their own. If all words are common, passages that have the rarest
with another come first, then those that have any; of too many, the newest."""

RANKING = 10
"""How many times more passages may be walked for the sake of ranking. Without any, a tenth of the
answers among 150,000 passages are lost; with all words, ranking costs half as much again."""

ANY_TIME = ("", "~")
"""A span of time that leaves nothing out, also not what has no time: both ends as ISO 8601."""


@dataclass(frozen=True, slots=True)
class PassageMatch:
    """A passage that matches."""

    row: int
    session: str
    turn: int
    part: int
    role: str
    at: str
    cost: float
    """SQLite's BM25: below 0, and the lower the better."""
    words: str
    """All its terms, in order, with a blank between."""
    asked: Sequence[str] = ()
    """The words of the question."""

    @property
    def matched(self) -> tuple[str, ...]:
        """The words of the question it has."""
        has = set(self.words.split(" "))
        return tuple(word for word in self.asked if word in has)


@dataclass(frozen=True, slots=True)
class View:
    """A stretch of a session that matches: the whole session unless that is very long."""

    stretch: int
    session: str
    cost: float
    """SQLite's BM25: below 0, and the lower the better."""
    user_cost: float = 0.0
    """The same for what the user said, 0 where that has none of the words."""


@dataclass(frozen=True, slots=True)
class PassageMatches:
    """Passages that match, and the figures a ranking needs: how common each word is here."""

    candidates: tuple[PassageMatch, ...]
    holders: Mapping[str, int]
    """How many passages have a word."""
    passages: int
    """How many passages there are."""


def find(
    db: sqlite3.Connection,
    words: Sequence[str],
    limit: int,
    span: tuple[str, str],
    column: str = "text",
) -> PassageMatches:
    """The best passages for any of the words, those said in a span of time."""
    counts = {word: holders(db, word, column) for word in words}
    total = count(db)
    low, high = _rows_in(db, span)
    weights = "1.0, 0.0" if column == "text" else "0.0, 1.0"
    costs: dict[int, float] = {}
    for expression in _expressions(counts, total):
        given = f"{{{column}}} : ({expression})"
        floor = _floor(db, "words", given, low, high)
        # CROSS JOIN keeps SQLite from asking the full-text index once per passage. Without a span
        # there is nothing to look up in passages, which saves a quarter of the time.
        joined = "" if span == ANY_TIME else " CROSS JOIN passages p ON p.row = words.rowid"
        in_span = " AND p.at >= ? AND p.at < ?" if joined else ""
        found = db.execute(
            f"SELECT words.rowid, bm25(words, {weights}) AS cost FROM words{joined}"
            f" WHERE words MATCH ? AND words.rowid BETWEEN ? AND ?{in_span}"
            " ORDER BY cost, words.rowid DESC LIMIT ?",
            (given, floor, high, *(span if joined else ()), limit),
        )
        for row, cost in found:
            costs.setdefault(row, cost)
        if len(costs) >= limit:
            break
    return PassageMatches(_candidates(db, costs, words, column, limit), counts, total)


def find_views(
    db: sqlite3.Connection,
    words: Sequence[str],
    limit: int,
    span: tuple[str, str],
    *,
    user: bool,
) -> list[View]:
    """The best stretches of sessions for any of the words, by all that was said or the user's."""
    counts = {word: _count_in(db, "view_vocabulary", word) for word in words}
    total = db.execute("SELECT count(*) FROM stretches").fetchone()[0]
    found: dict[int, View] = {}
    for expression in _expressions(counts, total):
        given = f"{{user}} : ({expression})" if user else expression
        last = db.execute("SELECT ifnull(max(row), 0) FROM stretches").fetchone()[0]
        floor = _floor(db, "views", given, 0, last)
        rows = db.execute(
            f"SELECT views.rowid, s.id, bm25(views, 1.0, {0.0 if user else 1.0}) AS cost,"
            f" {'0.0' if user else 'bm25(views, 1.0, 0.0)'}"
            " FROM views CROSS JOIN stretches t ON t.row = views.rowid"
            " CROSS JOIN sessions s ON s.number = t.session"
            " WHERE views MATCH ? AND views.rowid >= ? AND s.ended >= ? AND s.started < ?"
            " ORDER BY cost, views.rowid DESC LIMIT ?",
            (given, floor, *span, limit),
        )
        for row, session, cost, user_cost in rows:
            found.setdefault(row, View(row, session, cost, cost if user else user_cost))
        if len(found) >= limit:
            break
    return list(found.values())[:limit]


def neighbours(db: sqlite3.Connection, rows: Sequence[int], reach: int) -> list[PassageMatch]:
    """The passages at these rows and up to `reach` rows away in the same session."""
    found = db.execute(
        "SELECT DISTINCT n.row, s.id, n.turn, n.part, n.role, n.at, w.text FROM passages p"
        " CROSS JOIN passages n ON n.row BETWEEN p.row - ? AND p.row + ? AND n.session = p.session"
        " CROSS JOIN sessions s ON s.number = n.session CROSS JOIN words w ON w.rowid = n.row"
        f" WHERE p.row IN ({', '.join('?' * len(rows))})",
        (reach, reach, *rows),
    )
    return [
        PassageMatch(row, session, turn, part, role, at, 0.0, said)
        for row, session, turn, part, role, at, said in found
    ]


def holders(db: sqlite3.Connection, word: str, column: str = "text") -> int:
    """How many passages have a word."""
    row = db.execute(
        "SELECT doc FROM vocabulary WHERE term = ? AND col = ?", (word, column)
    ).fetchone()
    return int(row[0]) if row else 0


def count(db: sqlite3.Connection) -> int:
    """How many passages there are."""
    return int(db.execute("SELECT passages FROM totals").fetchone()[0])


def any_of(words: Sequence[str]) -> str:
    """An expression that any of the words fulfils."""
    return " OR ".join(f'"{word}"' for word in words)


def all_of(words: Sequence[str]) -> str:
    """An expression that only all words together fulfil."""
    return " AND ".join(f'"{word}"' for word in words)


def _candidates(
    db: sqlite3.Connection,
    costs: Mapping[int, float],
    words: Sequence[str],
    column: str,
    limit: int,
) -> tuple[PassageMatch, ...]:
    rows = list(costs)[:limit]
    found = {
        row: PassageMatch(row, session, turn, part, role, at, costs[row], said, words)
        for row, session, turn, part, role, at, said in db.execute(
            f"SELECT p.row, s.id, p.turn, p.part, p.role, p.at, w.{column} FROM passages p"
            " CROSS JOIN sessions s ON s.number = p.session CROSS JOIN words w ON w.rowid = p.row"
            f" WHERE p.row IN ({', '.join('?' * len(rows))})",
            rows,
        )
    }
    return tuple(found[row] for row in rows)


def _expressions(counts: Mapping[str, int], total: int) -> Iterator[str]:
    """Expressions to try in turn until there are enough matches."""
    known = sorted((held, word) for word, held in counts.items() if held)
    words = [word for _, word in known]
    if not known:
        return
    spent = list(accumulate(held for held, _ in known))
    fitting = sum(each <= POSTINGS for each in spent)
    if total <= POSTINGS or fitting == len(words):
        yield any_of(words)
    elif fitting:
        ranking = sum(each <= RANKING * POSTINGS for each in spent)
        # bm25 scores every word of the expression, also those that cannot match alone.
        also = f" AND ({any_of(words[:ranking])})" if ranking > fitting else ""
        yield f"({any_of(words[:fitting])}){also}"
    else:
        if len(words) > 1:
            yield f'"{words[0]}" AND ({any_of(words[1:])})'
        yield any_of(words)


def _floor(db: sqlite3.Connection, table: str, expression: str, low: int, high: int) -> int:
    """The row from which on there are no more matches than may be scored."""
    found = db.execute(
        f"SELECT rowid FROM {table} WHERE {table} MATCH ? AND rowid BETWEEN ? AND ?"
        " ORDER BY rowid DESC LIMIT 1 OFFSET ?",
        (expression, low, high, POSTINGS - 1),
    ).fetchone()
    return max(low, found[0]) if found else low


def _rows_in(db: sqlite3.Connection, span: tuple[str, str]) -> tuple[int, int]:
    """Rows between which all passages of a span of time are, and others too."""
    if span == ANY_TIME:
        return 0, int(db.execute("SELECT ifnull(max(row), 0) FROM passages").fetchone()[0])
    low, high = db.execute(
        "SELECT ifnull(min(first_row), 0), ifnull(max(last_row), 0) FROM sessions"
        " WHERE ended >= ? AND started < ?",
        span,
    ).fetchone()
    return int(low), int(high)


def _count_in(db: sqlite3.Connection, vocabulary: str, word: str) -> int:
    row = db.execute(f"SELECT doc FROM {vocabulary} WHERE term = ?", (word,)).fetchone()
    return int(row[0]) if row else 0
