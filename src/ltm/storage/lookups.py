"""Looking things up in an index: by id, by filter, by words.

Owns what an index can be asked. Every question is answered: an index that turns out to be broken
on the way is rebuilt first. Imports core and storage's tables.
"""

from __future__ import annotations

import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, wraps
from typing import Any, TypeVar, cast

from ltm.core.model import Filter, Memory, Problem, Stored
from ltm.core.quickjson import read
from ltm.core.record import from_record
from ltm.storage import query
from ltm.storage.database import DAMAGE, is_busy, snapshot
from ltm.storage.vault import Vault

_PAGE = 200  # memories that a walk over all of them holds at once

_F = TypeVar("_F", bound=Callable[..., Any])


def _mending(method: _F) -> _F:
    """A look-up that is asked again when the index had to be mended: damage shows only when it
    is read."""

    @wraps(method)
    def call(self: Lookups, *values: Any, **named: Any) -> Any:
        try:
            return method(self, *values, **named)
        except DAMAGE as error:
            if isinstance(error, sqlite3.Error) and is_busy(error):
                raise
            if not self._mend():
                raise
            return method(self, *values, **named)

    return cast(_F, call)


class Lookups(ABC):
    """The questions an index answers."""

    _db: sqlite3.Connection
    _vault: Vault

    @abstractmethod
    def _mend(self) -> bool:
        """Rebuild a broken index; False when it is not ours to change."""

    @_mending
    def get(self, memory_id: str) -> Stored | None:
        """The memory of an id."""
        row = self._db.execute(
            "SELECT file, data, etag FROM memories JOIN texts USING(row) WHERE id = ?",
            (memory_id,),
        ).fetchone()
        return None if row is None else self._stored(*row)

    @_mending
    def ids_like(self, text: str, most: int) -> list[str]:
        """Ids that begin or end with a text (with or without `mem_`), or an exact legacy id."""
        escaped = text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
        rows = self._db.execute(
            "SELECT id FROM memories JOIN texts USING(row)"
            " WHERE id LIKE ? ESCAPE '\\' OR id LIKE ? ESCAPE '\\'"
            " OR id LIKE ? ESCAPE '\\' OR json_extract(data, '$.legacy_id') = ?"
            " ORDER BY id LIMIT ?",
            (f"{escaped}%", f"mem\\_{escaped}%", f"%{escaped}", text, most),
        )
        return [row[0] for row in rows]

    @_mending
    def page(self, wanted: Filter, limit: int, offset: int) -> tuple[list[Stored], int]:
        """A page of memories, newest first, and how many there are in all."""
        condition, values = query.where(wanted)
        rows = self._db.execute(
            f"SELECT file, data, etag FROM memories m JOIN texts USING(row) WHERE {condition}"
            " ORDER BY created DESC, id DESC LIMIT ? OFFSET ?",
            (*values, limit, offset),
        )
        items = [self._stored(*row) for row in rows]
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

    @_mending
    def _after(self, last: str, wanted: Filter) -> list[Stored]:
        condition, values = query.where(wanted)
        rows = self._db.execute(
            "SELECT file, data, etag FROM memories m JOIN texts USING(row)"
            f" WHERE id > ? AND {condition} ORDER BY id LIMIT ?",
            (last, *values, _PAGE),
        )
        return [self._stored(*row) for row in rows]

    @_mending
    def search(self, words: Sequence[str], wanted: Filter, limit: int) -> query.IndexMatches:
        """The best matches for any of the words, at least `limit` if there are so many."""
        with snapshot(self._db):  # a memory that is rewritten meanwhile gets another row
            return query.search(self._db, words, wanted, limit)

    @_mending
    def mark(self) -> int:
        """A number that changes with every change of what is held."""
        row = self._db.execute("SELECT value FROM meta WHERE name = 'mark'").fetchone()
        return int(row[0]) if row else 0

    @_mending
    def etags(self) -> dict[str, str]:
        """The memories in force, and the state of each, by id."""
        rows = self._db.execute("SELECT id, etag FROM memories WHERE status = 'active'")
        return dict(rows.fetchall())

    @_mending
    def some(self, ids: Sequence[str], wanted: Filter) -> list[Stored]:
        """The memories of these ids that a filter wants."""
        condition, values = query.where(wanted)
        found: list[Stored] = []
        for start in range(0, len(ids), _PAGE):
            page = ids[start : start + _PAGE]
            rows = self._db.execute(
                "SELECT file, data, etag FROM memories m JOIN texts USING(row)"
                f" WHERE id IN ({', '.join('?' * len(page))}) AND {condition}",
                (*page, *values),
            )
            found += [self._stored(*row) for row in rows]
        return found

    def stored(self, candidate: query.IndexMatch) -> Stored:
        """The memory of a match."""
        try:
            return self._stored(candidate.file, candidate.data, candidate.etag)
        except (ValueError, TypeError):
            if not self._mend():
                raise
            row = self._db.execute(
                "SELECT file, data, etag FROM memories JOIN texts USING(row) WHERE file = ?",
                (candidate.file,),
            ).fetchone()
            if row is None:
                raise
            return self._stored(*row)

    @_mending
    def newest(self, kind: str) -> str:
        """Id of the newest active memory of a kind, or nothing."""
        row = self._db.execute(
            "SELECT id FROM memories WHERE kind = ? AND status = 'active'"
            " ORDER BY created DESC, id DESC LIMIT 1",
            (kind,),
        ).fetchone()
        return row[0] if row else ""

    @_mending
    def problems(self) -> list[Problem]:
        """Files that could not be read as memories."""
        rows = self._db.execute("SELECT file, problem, line FROM files WHERE problem IS NOT NULL")
        return [Problem(self._vault.path(file), problem, line) for file, problem, line in rows]

    @_mending
    def counts(self) -> list[tuple[str, str, str, int, int]]:
        """(kind, scope, status, phase, how many) for each combination there is."""
        return self._db.execute(
            "SELECT kind, scope, status, phase, count(*) FROM memories"
            " GROUP BY kind, scope, status, phase"
        ).fetchall()

    def _stored(self, file: str, data: str, tag: str) -> Stored:
        return Stored(_memory(data), self._vault.name, self._vault.path(file), tag)


@lru_cache(maxsize=500)
def _memory(data: str) -> Memory:
    """What a row says. Upkeep and a server ask for the same ones again and again, and most of the
    time of a listing goes into this."""
    return from_record(read(data))
