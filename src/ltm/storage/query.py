"""The SQL of looking things up in an index: filters, and BM25 search that stays quick at any size.

Owns the statements; the connection and the tables are `index`'s.
"""

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ltm.core.model import Filter, Status

POSTINGS = 3_000
"""How many matches one search may score, which bounds its time at any size. In a vault with more
memories, or if a whole text is asked for, words too common to fit help to rank the matches of the
rarer words and bring in none of their own; if all words are common, memories that have them in
title or tags compete, else the newest. Scoring costs about 2 µs a match and word."""

_FEW = 6  # words of a question, all of which bring in matches in a vault of up to so many memories

CANDIDATES = 50
"""At least so many of the index's best matches are ranked again, with figures of all vaults."""


class IndexMatch(NamedTuple):
    """A match as the index has it: the memory's row, and its words field by field."""

    file: str
    data: str
    etag: str
    title: str
    tags: str
    text: str


class IndexMatches(NamedTuple):
    """Candidates for an answer, how many matches there are, and how common each word is here."""

    candidates: tuple[IndexMatch, ...]
    total: int
    holders: Mapping[str, int]
    memories: int


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
    if wanted.state:
        clauses.append("m.row IN (SELECT row FROM texts WHERE json_extract(data, '$.state') = ?)")
        values.append(wanted.state)
    if wanted.naming:
        clauses.append("m.row IN (SELECT row FROM names WHERE name = ?)")
        values.append(wanted.naming)
    if wanted.ids is not None:
        import json  # with the rest of it, slow to load and rarely needed

        clauses.append("m.id IN (SELECT value FROM json_each(?))")
        values.append(json.dumps(wanted.ids))
    if wanted.spared:
        clauses.append("m.spared")
    return " AND ".join(clauses), values


def search(
    db: sqlite3.Connection, words: Sequence[str], wanted: Filter, limit: int
) -> IndexMatches:
    """The best matches for any of the words, at least `limit` if there are so many."""
    from ltm.core.relevance import TAGS, TEXT, TITLE

    source, values = _source(wanted)
    holders = {word: _holders(db, word) for word in words}
    counted = db.execute("SELECT value FROM meta WHERE name = 'memories'").fetchone()
    memories = counted[0] if counted else 0
    most = max(limit, CANDIDATES)
    rows: list[int] = []
    given: list[Any] = []
    for expression, first in _expressions(holders, memories, db):
        given = [expression, first, *values]
        ranked = db.execute(
            f"SELECT words.rowid, bm25(words, {TITLE}, {TAGS}, {TEXT}) AS cost {source}"
            " ORDER BY cost, words.rowid DESC LIMIT ?",
            (*given, most),
        )
        # What one expression found stays: a title that says it is better than what is newest.
        rows = list(dict.fromkeys([*rows, *(row for row, _ in ranked)]))[:most]
        if len(rows) == most:
            break
    total = len(rows)
    if total == most:
        total = max(total, db.execute(f"SELECT count(*) {source}", given).fetchone()[0])
    candidates = db.execute(
        "SELECT file, data, etag, title, tags, content FROM memories JOIN texts USING(row)"
        f" JOIN words ON words.rowid = row WHERE row IN ({', '.join('?' * len(rows))})",
        rows,
    )
    return IndexMatches(tuple(map(IndexMatch._make, candidates)), total, holders, memories)


def _source(wanted: Filter) -> tuple[str, list[Any]]:
    """What a search goes through: an expression and a first row come before these values."""
    if wanted._replace(statuses=(), untrusted=False) == Filter(statuses=()):
        # Nearly every question is for what is in force. To leave out the few that are not takes
        # half as long as to look up every match.
        others = [each for each in Status if wanted.statuses and each not in wanted.statuses]
        return (
            "FROM words WHERE words MATCH ? AND words.rowid >= ? AND words.rowid NOT IN"
            f" (SELECT row FROM memories WHERE status IN ({', '.join('?' * len(others))}))"
        ), others
    condition, values = where(wanted)
    # CROSS JOIN keeps SQLite from asking the full-text index once per memory.
    return (
        "FROM words CROSS JOIN memories m ON m.row = words.rowid"
        f" WHERE words MATCH ? AND words.rowid >= ? AND {condition}"
    ), values


def _expressions(
    holders: Mapping[str, int], memories: int, db: sqlite3.Connection
) -> Iterator[tuple[str, int]]:
    """FTS5 queries to try in turn until there are enough matches, each with its first row."""
    known = sorted((count, word) for word, count in holders.items() if count)
    if not known:
        return
    if memories <= POSTINGS and len(known) <= _FEW:
        yield _any([word for _, word in known]), 0
        return
    rare: list[str] = []
    common: list[str] = []
    spent = 0
    for count, word in known:
        spent += count
        (rare if spent <= POSTINGS else common).append(word)
    if rare and common:
        # bm25 scores every word of the expression, also those that cannot match alone.
        yield f"({_any(rare)}) AND ({_any([*rare, *common])})", 0
    elif rare:
        yield _any(rare), 0
    else:
        yield f"{{title tags}} : ({_any(common)})", 0
        last = db.execute("SELECT max(row) FROM memories").fetchone()[0]
        yield _any(common), last - POSTINGS


def _holders(db: sqlite3.Connection, word: str) -> int:
    row = db.execute("SELECT doc FROM vocabulary WHERE term = ?", (word,)).fetchone()
    return row[0] if row else 0


def _any(words: Sequence[str]) -> str:
    return " OR ".join(f'"{word}"' for word in words)
