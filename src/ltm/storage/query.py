"""The SQL of looking things up in an index: filters, and BM25 search that stays quick at any size.

Owns the statements; the connection and the tables are `index`'s.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from typing import Any

from ltm.core.model import Filter

POSTINGS = 3_000
"""How many matches one search may score, which bounds its time at any size. In a vault with more
memories, words too common to fit help to rank the matches of the rarer words and bring in none of
their own; if all words are common, memories that have them in title or tags compete, else the
newest. Scoring costs about 2 µs a match and word."""

_WEIGHTS = "6.0, 4.0, 1.0"  # a title says what a memory is about, tags nearly so


def where(wanted: Filter) -> tuple[str, list[Any]]:
    """A filter as a condition on `memories m`, with its values."""
    clauses: list[str] = ["1"]
    values: list[Any] = []
    columns: tuple[tuple[str, Sequence[Any]], ...] = (
        ("m.kind", wanted.kinds),
        ("m.status", wanted.statuses),
        ("m.scope", wanted.scopes),
        ("m.phase", [int(phase) for phase in wanted.phases]),
    )
    for column, options in columns:
        if options:
            clauses.append(f"{column} IN ({', '.join('?' * len(options))})")
            values.extend(options)
    for tag in wanted.tags:
        clauses.append("m.row IN (SELECT row FROM tags WHERE tag = ?)")
        values.append(tag.lower())
    if wanted.naming:
        clauses.append("m.id <> ? AND m.row IN (SELECT row FROM texts WHERE instr(data, ?))")
        values.extend((wanted.naming, f'"{wanted.naming}"'))
    return " AND ".join(clauses), values


def search(
    db: sqlite3.Connection, words: Sequence[str], wanted: Filter, limit: int
) -> tuple[list[tuple[str, str, str, float]], int]:
    """(file, data, etag, score) of the best matches, and how many matches there are."""
    condition, values = where(wanted)
    best: list[tuple[int, float]] = []
    found, given = "", []
    for expression, first in _expressions(db, words):
        # CROSS JOIN keeps SQLite from asking the full-text index once per memory.
        found = (
            "FROM words CROSS JOIN memories m ON m.row = words.rowid"
            f" WHERE words MATCH ? AND words.rowid >= ? AND {condition}"
        )
        given = [expression, first, *values]
        best = db.execute(
            f"SELECT m.row, -bm25(words, {_WEIGHTS}) AS score {found}"
            " ORDER BY score DESC, m.created DESC, m.id DESC LIMIT ?",
            (*given, limit),
        ).fetchall()
        if len(best) == limit:
            break
    total = len(best)
    if total == limit:
        total = db.execute(f"SELECT count(*) {found}", given).fetchone()[0]
    marks = ", ".join("?" * len(best))
    rows = {
        row: facts
        for row, *facts in db.execute(
            f"SELECT row, file, data, etag FROM memories JOIN texts USING(row)"
            f" WHERE row IN ({marks})",
            [row for row, _ in best],
        )
    }
    return [(*rows[row], score) for row, score in best], total


def _expressions(db: sqlite3.Connection, words: Sequence[str]) -> Iterator[tuple[str, int]]:
    """FTS5 queries to try in turn until there are enough matches, each with its first row."""
    last = db.execute("SELECT max(row) FROM memories").fetchone()[0] or 0
    if last <= POSTINGS:
        yield _any(words), 0
        return
    rare: list[str] = []
    common: list[str] = []
    spent = 0
    for count, word in sorted((_frequency(db, word), word) for word in words):
        spent += count
        (rare if spent <= POSTINGS else common).append(word)
    if not common:
        yield _any(rare), 0
    elif any(_frequency(db, word) for word in rare):
        # bm25 scores every word of the expression, also those that cannot match alone.
        yield f"({_any(rare)}) AND ({_any([*rare, *common])})", 0
    else:
        yield f"{{title tags}} : ({_any(common)})", 0
        yield _any(common), last - POSTINGS


def _frequency(db: sqlite3.Connection, word: str) -> int:
    row = db.execute("SELECT doc FROM vocabulary WHERE term = ?", (word,)).fetchone()
    return row[0] if row else 0


def _any(words: Sequence[str]) -> str:
    return " OR ".join(f'"{word}"' for word in words)
