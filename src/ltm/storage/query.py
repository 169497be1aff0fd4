"""The SQL of looking things up in an index: filters, and BM25 search that stays quick at any size.

Owns the statements; the connection and the tables are `index`'s.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any

from ltm.core.model import Filter

POSTINGS = 15_000
"""How many matches one search scores. Words too common to fit help to rank the matches of the rarer
words and bring in no matches of their own; if all are common, only the newest memories compete."""

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
        clauses.append("m.id <> ? AND instr(m.data, ?)")
        values.extend((wanted.naming, f'"{wanted.naming}"'))
    return " AND ".join(clauses), values


def search(
    db: sqlite3.Connection, words: Sequence[str], wanted: Filter, limit: int
) -> tuple[list[tuple[str, str, str, float]], int]:
    """(file, data, etag, score) of the best matches, and how many matches there are."""
    expression, newest = _expression(db, words)
    condition, values = where(wanted)
    rows = db.execute(
        f"SELECT m.file, m.data, m.etag, -bm25(words, {_WEIGHTS}) AS score, m.created"
        " FROM words JOIN memories m ON m.row = words.rowid"
        f" WHERE words MATCH ? AND words.rowid >= ? AND {condition}"
        " ORDER BY score DESC, m.created DESC, m.id DESC LIMIT ?",
        (expression, newest, *values, limit),
    ).fetchall()
    total = len(rows)
    if total == limit:
        total = db.execute(
            "SELECT count(*) FROM words JOIN memories m ON m.row = words.rowid"
            f" WHERE words MATCH ? AND words.rowid >= ? AND {condition}",
            (expression, newest, *values),
        ).fetchone()[0]
    return [(file, data, tag, score) for file, data, tag, score, _ in rows], total


def _expression(db: sqlite3.Connection, words: Sequence[str]) -> tuple[str, int]:
    """The FTS5 query for any of the words, and the first row worth looking at."""
    rows = db.execute("SELECT max(row) FROM memories").fetchone()[0] or 0
    if rows <= POSTINGS:
        return _any(words), 0
    rare: list[str] = []
    common: list[str] = []
    spent = 0
    for count, word in sorted((_frequency(db, word), word) for word in words):
        (rare if not rare or spent + count <= POSTINGS else common).append(word)
        spent += count
    first = 0 if _frequency(db, rare[0]) <= POSTINGS else rows - POSTINGS
    if not common:
        return _any(rare), first
    # bm25 scores every word of the expression, also those that cannot match alone.
    return f"({_any(rare)}) AND ({_any([*rare, *common])})", first


def _frequency(db: sqlite3.Connection, word: str) -> int:
    row = db.execute("SELECT doc FROM vocabulary WHERE term = ?", (word,)).fetchone()
    return row[0] if row else 0


def _any(words: Sequence[str]) -> str:
    return " OR ".join(f'"{word}"' for word in words)
