"""Looking memories up in a vault's index: by id, by filter and by words.

Every question is answered: an index that turns out to be damaged on the way is rebuilt first. Where
all words of a question are common, memories that have them in title or tags compete, else the
newest.
"""

from __future__ import annotations

import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from functools import lru_cache

from ltm.files.fastjson import read
from ltm.files.sqlite import snapshot
from ltm.index import full_text
from ltm.index.full_text import affordable, any_of, mending, rarest_first
from ltm.kinds import Kind
from ltm.model import Filter, Memory, Problem, Status, Stored, from_record
from ltm.record import NamedTuple
from ltm.vault.vault import Vault

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

IN_FORCE = "status = 'active' AND phase < 3"
"""The memories a session may be told of, of which there is an index of its own."""

_COMPARED = 100  # memories of a kind, the best and the newest, whose worth of today is compared
_SHOWN_OF_LEGACY = 8  # characters of an id that LTM/Anima prints
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


def where(wanted: Filter, *, is_narrow: bool = False) -> tuple[str, list[Any]]:
    """A filter as a condition on `memories m`, with its values.

    `is_narrow` says that it is added to a condition that leaves few memories, such as their ids.
    """
    clauses: list[str] = ["1"]
    values: list[Any] = []
    is_narrow = is_narrow or wanted.ids is not None or bool(wanted.naming) or wanted.spared
    columns: tuple[tuple[str, Sequence[Any]], ...] = (
        ("m.kind", wanted.kinds),
        # SQLite would look for few ids among all that have the status; with a plus sign it does
        # not look for the status.
        ("+m.status" if is_narrow else "m.status", wanted.statuses),
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


def _source(wanted: Filter) -> tuple[str, list[Any]]:
    """What a search goes through: an expression and a first row come before these values."""
    if wanted._replace(statuses=(), untrusted=False, teams=False) == Filter(statuses=()):
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


_PAGE = 200  # memories that a walk over all of them holds at once


class Lookups(ABC):
    """The questions an index answers."""

    _db: sqlite3.Connection
    _vault: Vault

    @abstractmethod
    def _mend(self, error: Exception) -> bool:
        """Rebuild a damaged index; False when it may not be changed."""

    @mending
    def get(self, memory_id: str) -> Stored | None:
        """The memory of an id."""
        return next(self._select("id = ?", [memory_id]), None)

    @mending
    def ids_like(self, text: str, most: int) -> list[str]:
        """Ids that begin or end with a text (with or without `mem_`), or a legacy id.

        Of that its first eight characters are enough, as LTM/Anima shows them.
        """
        legacy = "%" if len(text) >= _SHOWN_OF_LEGACY else ""
        escaped = text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
        rows = self._db.execute(
            "SELECT id FROM memories JOIN texts USING(row)"
            " WHERE id LIKE ? ESCAPE '\\' OR id LIKE ? ESCAPE '\\'"
            " OR id LIKE ? ESCAPE '\\' OR json_extract(data, '$.legacy_id') LIKE ? ESCAPE '\\'"
            " ORDER BY id LIMIT ?",
            (f"{escaped}%", f"mem\\_{escaped}%", f"%{escaped}", f"{escaped}{legacy}", most),
        )
        return [row[0] for row in rows]

    @mending
    def page(self, wanted: Filter, limit: int, offset: int) -> tuple[list[Stored], int]:
        """A page of memories, newest first, and how many there are in all."""
        condition, values = where(wanted)
        newest = f"{condition} ORDER BY created DESC, id DESC LIMIT ? OFFSET ?"
        items = list(self._select(newest, [*values, limit, offset])) if limit else []
        if limit < 0 and not offset:
            return items, len(items)
        total = self._db.execute(
            f"SELECT count(*) FROM memories m WHERE {condition}", values
        ).fetchone()[0]
        return items, total

    def every(self, wanted: Filter) -> Iterator[Stored]:
        """Memories in the order of their ids, read page by page, so that few are held at once."""
        last = ""
        while True:
            page = self._after(last, wanted)
            yield from page
            if len(page) < _PAGE:
                return
            last = page[-1].memory.id

    @mending
    def _after(self, last: str, wanted: Filter) -> list[Stored]:
        condition, values = where(wanted, is_narrow=True)
        after = f"id > ? AND {condition} ORDER BY id LIMIT ?"
        return list(self._select(after, [last, *values, _PAGE]))

    @mending
    def search(self, words: Sequence[str], wanted: Filter, limit: int) -> IndexMatches:
        """The best matches for any of the words, at least `limit` if there are so many."""
        from ltm.text.bm25 import TAGS, TEXT, TITLE

        source, values = _source(wanted)
        most = max(limit, CANDIDATES)
        rows: list[int] = []
        given: list[Any] = []
        with snapshot(self._db):  # a memory that is rewritten meanwhile gets another row
            holders = self._holders(words)
            counted = self._db.execute("SELECT value FROM meta WHERE name = 'memories'").fetchone()
            memories = counted[0] if counted else 0
            for expression, first in self._expressions(holders, memories):
                given = [expression, first, *values]
                ranked = self._db.execute(
                    f"SELECT words.rowid, bm25(words, {TITLE}, {TAGS}, {TEXT}) AS cost {source}"
                    " ORDER BY cost, words.rowid DESC LIMIT ?",
                    (*given, most),
                )
                # What one expression found stays: a title that says it is better than the newest.
                rows = list(dict.fromkeys([*rows, *(row for row, _ in ranked)]))[:most]
                if len(rows) == most:
                    break
            total = len(rows)
            if total == most:
                counted = self._db.execute(f"SELECT count(*) {source}", given).fetchone()
                total = max(total, counted[0])
            # From the table below `words`: full-text search takes three times as long for a row.
            found = self._db.execute(
                "SELECT file, data, etag, c0, c1, c2 FROM memories JOIN texts USING(row)"
                f" JOIN words_content w ON w.id = row WHERE row IN ({', '.join('?' * len(rows))})",
                rows,
            )
            return IndexMatches(tuple(map(IndexMatch._make, found)), total, holders, memories)

    def _holders(self, words: Sequence[str]) -> dict[str, int]:
        among = ", ".join("?" * len(words))
        rows = self._db.execute(f"SELECT term, doc FROM vocabulary WHERE term IN ({among})", words)
        return dict.fromkeys(words, 0) | dict(rows.fetchall())

    def _expressions(self, holders: Mapping[str, int], memories: int) -> Iterator[tuple[str, int]]:
        """FTS5 queries to try in turn until there are enough matches, each with its first row."""
        words = rarest_first(holders)
        if not words:
            return
        if memories <= full_text.POSTINGS and len(words) <= _FEW:
            yield any_of(words), 0
        elif expression := affordable(holders):
            yield expression, 0
        else:
            yield f"{{title tags}} : ({any_of(words)})", 0
            last = self._db.execute("SELECT max(row) FROM memories").fetchone()[0]
            yield any_of(words), last - full_text.POSTINGS

    @mending
    def mark(self) -> int:
        """A number that changes with every change of what is held."""
        row = self._db.execute("SELECT value FROM meta WHERE name = 'mark'").fetchone()
        return int(row[0]) if row else 0

    @mending
    def rows_name(self) -> str:
        """What tells the numbering of rows from that of another index; '' if nothing does."""
        row = self._db.execute("SELECT value FROM meta WHERE name = 'rows'").fetchone()
        return str(row[0]) if row else ""

    @mending
    def after(self, row: int, most: int) -> list[tuple[int, str, str]]:
        """Row, id and etag of the next memories in force after a row; a change gives a new row."""
        return self._db.execute(
            "SELECT row, id, etag FROM memories WHERE row > ? AND +status = 'active'"
            " ORDER BY row LIMIT ?",
            (row, most),
        ).fetchall()

    @mending
    def active(self) -> int:
        """How many memories are in force."""
        counted = "SELECT total(memories) FROM counts WHERE status = 'active'"
        return int(self._db.execute(counted).fetchone()[0])

    @mending
    def active_ids(self) -> set[str]:
        """The ids of all memories in force."""
        rows = self._db.execute("SELECT id FROM memories WHERE status = 'active'")
        return {row[0] for row in rows}

    @mending
    def some(self, ids: Sequence[str], wanted: Filter) -> list[Stored]:
        """The memories of these ids that a filter wants."""
        condition, values = where(wanted, is_narrow=True)
        found: list[Stored] = []
        for start in range(0, len(ids), _PAGE):
            page = ids[start : start + _PAGE]
            among = f"id IN ({', '.join('?' * len(page))}) AND {condition}"
            found += self._select(among, [*page, *values])
        return found

    @mending
    def states(self, ids: Sequence[str], wanted: Filter) -> dict[str, str]:
        """The etags of those of these ids that a filter wants, by id."""
        condition, values = where(wanted, is_narrow=True)
        found: dict[str, str] = {}
        for start in range(0, len(ids), _PAGE):
            page = ids[start : start + _PAGE]
            rows = self._db.execute(
                f"SELECT id, etag FROM memories m WHERE id IN ({', '.join('?' * len(page))})"
                f" AND {condition}",
                [*page, *values],
            )
            found.update(rows.fetchall())
        return found

    def stored(self, candidate: IndexMatch) -> Stored:
        """The memory of a match."""
        try:
            return self._stored(candidate.file, candidate.data, candidate.etag)
        except (ValueError, TypeError) as error:
            if not self._mend(error):
                raise
            found = next(self._select("file = ?", [candidate.file]), None)
            if found is None:
                raise
            return found

    @mending
    def newest(self, kind: str) -> str:
        """Id of the newest active memory of a kind, or nothing."""
        row = self._db.execute(
            "SELECT id FROM memories WHERE kind = ? AND status = 'active'"
            " ORDER BY created DESC, id DESC LIMIT 1",
            (kind,),
        ).fetchone()
        return row[0] if row else ""

    @mending
    def problems(self) -> list[Problem]:
        """Files that could not be read as memories."""
        rows = self._db.execute("SELECT file, problem, line FROM files WHERE problem IS NOT NULL")
        return [Problem(self._vault.path(file), problem, line) for file, problem, line in rows]

    @mending
    def counts(self) -> list[tuple[str, str, str, int, int]]:
        """(kind, scope, status, phase, how many) for each combination there is."""
        return self._db.execute("SELECT * FROM counts WHERE memories").fetchall()

    def is_counted(self) -> bool:
        """Whether the memories, counted one by one, are as many of each as is noted."""
        counted = "SELECT kind, scope, status, phase, count(*) FROM memories GROUP BY 1, 2, 3, 4"
        return sorted(self._db.execute(counted).fetchall()) == sorted(self.counts())

    @mending
    def worthiest(
        self, kind: Kind, now: datetime, limit: int, *, stated: Collection[bool] = (True, False)
    ) -> list[Stored]:
        """About the memories of a kind that are worth most at a session's start (`policy.value`).

        `stated` says whether those that a person stated are wanted, and the others. How often one
        was used is not known here. Of many, those worth most by themselves and the newest are
        compared.
        """
        of_kind = f"FROM memories WHERE kind = :kind AND {IN_FORCE}"
        orders = [f"stated = {int(each)} ORDER BY worth" for each in stated]
        few = " UNION ".join(
            f"SELECT * FROM (SELECT row {of_kind} AND {order} DESC LIMIT {_COMPARED})"
            for order in (*orders, "1 ORDER BY created")
        )
        wanted = f"row IN ({few}) AND stated IN ({', '.join(str(int(each)) for each in stated)})"
        if kind.resolved_days > 0 and kind.states:
            wanted += " AND NOT (state = :last AND updated < :over)"
        left = "1.0"
        if kind.fades_days > 0:
            left = "iif(spared, 1.0, max(0.0, 1 - max(0.0, :now - seen) / 86400 / :fades))"
        value = f"worth * (1 + difficulty + 30 / (30 + max(0.0, :now - seen) / 86400)) * {left}"
        best = f"row IN (SELECT row FROM memories WHERE {wanted} ORDER BY {value} DESC LIMIT :few)"
        at = now.timestamp()
        values = {
            "kind": kind.name,
            "now": at,
            "fades": kind.fades_days,
            "last": kind.states[-1] if kind.states else "",
            "over": at - kind.resolved_days * 86_400,
            "few": limit,
        }
        return list(self._select(best, values))

    @mending
    def mentioning(self, words: Sequence[str], limit: int) -> list[Stored]:
        """The newest memories in force that have any of some terms."""
        rows = self._db.execute(
            "SELECT file, data, etag FROM words CROSS JOIN memories ON row = words.rowid"
            f" JOIN texts USING(row) WHERE words MATCH ? AND {IN_FORCE}"
            " ORDER BY words.rowid DESC LIMIT ?",
            (any_of(words), limit),
        )
        return [self._stored(*row) for row in rows]

    def _select(
        self, condition: str, values: Sequence[Any] | Mapping[str, Any]
    ) -> Iterator[Stored]:
        """The memories of a condition on `memories m`."""
        rows = self._db.execute(
            f"SELECT file, data, etag FROM memories m JOIN texts USING(row) WHERE {condition}",
            values,
        )
        return (self._stored(*row) for row in rows)

    def _stored(self, file: str, data: str, tag: str) -> Stored:
        return Stored(_memory(data), self._vault.name, self._vault.path(file), tag)


@lru_cache(maxsize=500)
def _memory(data: str) -> Memory:
    """What a row says. Upkeep and a server ask for the same ones again and again, and most of the
    time of a listing goes into this."""
    return from_record(read(data))
