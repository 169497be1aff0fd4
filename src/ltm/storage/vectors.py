"""Vectors of texts, stored next to their database: appended, dropped, scanned exactly.

Owns a SQLite file of blocks, each a run of rows with its checksum, and the loaded form of it. All
of it can be derived again: a file that is broken, or was made by another model or from another
source, is emptied without a word and filled again by `embed.keeping`. A vector is kept as signed
bytes, which scans as fast as floats in a quarter of the memory, and a block is read once by a
process. Imports numpy, so it is itself imported only where vectors are used.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import wraps
from typing import Any, TypeVar, cast

import numpy as np

from ltm.core.errors import Busy, StorageFailed
from ltm.storage.database import (
    DAMAGE,
    Schema,
    connect,
    discard,
    empty,
    is_busy,
    is_unwritable,
    transaction,
)
from ltm.storage.vectorblock import Block, Floats, Integers, best, packed, unpacked
from ltm.storage.vectorfile import vectors_path

_TABLES = """
CREATE TABLE blocks(
  number INTEGER PRIMARY KEY, stamp INTEGER NOT NULL, rows INTEGER NOT NULL,
  first INTEGER NOT NULL, last INTEGER NOT NULL, data BLOB NOT NULL);
CREATE TABLE names(row INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, etag TEXT);
CREATE TABLE meta(name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
"""

SCHEMA = Schema(1, _TABLES, derived=True)
"""Raised when the tables or the bytes of a block change: a file of another schema is rebuilt."""

BLOCK = 1024
"""Rows of a full block. An append writes its own rows and at most one unfinished block again."""

_KEPT = 8  # files whose blocks a process keeps loaded
_LOADED: dict[str, dict[int, Block]] = {}
# By path and number; a block is as good as its stamp, which no two writes share. A server opens
# its stores for every call, and is not to read everything again.

_F = TypeVar("_F", bound=Callable[..., Any])


def starting_over(method: _F) -> _F:
    """A look or change that is made on an empty file when the one that was there is broken."""

    @wraps(method)
    def call(self: Vectors, *values: Any) -> Any:
        try:
            return method(self, *values)
        except DAMAGE as error:
            self._start_over(error)
            return method(self, *values)

    return cast(_F, call)


class Vectors:
    """The vectors one model made of one source, by row. Used by one thread at a time.

    `source` names what the rows are rows of: where that is rebuilt, so are the vectors.
    """

    def __init__(self, path: str, model: str, dimensions: int, source: str = "") -> None:
        self.path = path
        self._made_by = _maker(model, dimensions, source)
        self._dimensions = dimensions
        self._db = _opened(path)

    def is_of(self, model: str, dimensions: int, source: str = "") -> bool:
        """Whether these are the vectors that model made of that source."""
        return self._made_by == _maker(model, dimensions, source)

    def close(self) -> None:
        """Give the file back; what was read of it stays loaded for the next who asks."""
        self._db.close()

    # -- changing --------------------------------------------------------------------------------

    def put(self, rows: Sequence[int], vectors: Floats) -> None:
        """Keep the vectors of these rows, in the place of former ones."""
        if len(rows):
            self._put(packed(rows, vectors))

    @starting_over
    def drop(self, rows: Collection[int]) -> None:
        """Leave no trace of these rows."""
        with transaction(self._db):
            dropped = self._drop(rows)
        if dropped:
            self.scrub()

    @starting_over
    def keep_only(self, rows: Collection[int]) -> None:
        """Leave no trace of any row but these."""
        kept = np.fromiter(rows, np.int64, len(rows))
        with transaction(self._db):
            found = self._db.execute("SELECT number FROM blocks").fetchall()
            dropped = self._rewrite(found, lambda block: block.where(np.isin(block.rows, kept)))
        if dropped:
            self.scrub()

    def scrub(self) -> None:
        """Take what was dropped out of SQLite's log too; its own pages are overwritten already."""
        self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    @starting_over
    def last(self) -> int:
        """The highest row that was ever put: what is above it has no vector yet."""
        return int(self._meta("last") or 0) if self._is_ours() else 0

    @starting_over
    def _put(self, added: Block) -> None:
        with transaction(self._db):
            self._take_over()
            self._add(added)

    def _add(self, added: Block) -> None:
        self._drop(added.rows.tolist())
        self._append(added)
        last = max(int(self._meta("last") or 0), int(added.rows.max()))
        self._set_meta("last", str(last))

    def _append(self, added: Block) -> None:
        found = self._db.execute("SELECT max(number) FROM blocks").fetchone()[0]
        number = 0 if found is None else found + 1
        if found is not None:
            block = self._block(found)
            if len(block) < BLOCK:
                number, added = found, block.with_more(added)
        for start in range(0, len(added), BLOCK):
            self._write(number, added.part(start, start + BLOCK))
            number += 1

    def _drop(self, rows: Collection[int]) -> bool:
        if not rows:
            return False
        gone = np.fromiter(rows, np.int64, len(rows))
        found = self._db.execute(
            "SELECT number FROM blocks WHERE last >= ? AND first <= ?",
            (int(gone.min()), int(gone.max())),
        ).fetchall()
        return self._rewrite(found, lambda block: block.where(~np.isin(block.rows, gone)))

    def _rewrite(self, found: Iterable[tuple[int]], rest_of: Callable[[Block], Block]) -> bool:
        """Write blocks of which less is left; whether there were any."""
        dropped = False
        for (number,) in found:
            block = self._block(number)
            rest = rest_of(block)
            if len(rest) < len(block):
                dropped = True
                self._write(number, rest)
        return dropped

    def _write(self, number: int, block: Block) -> None:
        if not len(block):
            self._db.execute("DELETE FROM blocks WHERE number = ?", (number,))
            return
        self._db.execute(
            "INSERT OR REPLACE INTO blocks VALUES(?, abs(random()), ?, ?, ?, ?)",
            (number, len(block), int(block.rows.min()), int(block.rows.max()), block.data()),
        )

    # -- asking ----------------------------------------------------------------------------------

    def count(self) -> int:
        """How many rows have a vector."""
        return sum(map(len, self._blocks()))

    def scores(self, query: Floats) -> tuple[Integers, Floats]:
        """Every row and its likeness to a vector of unit length, from -1 to 1."""
        blocks = self._blocks()
        rows = np.empty(sum(map(len, blocks)), np.int64)
        likeness = np.empty(len(rows), np.float32)
        room = np.empty((max(map(len, blocks), default=0), self._dimensions), np.float32)
        at = 0
        for block in blocks:
            end = at + len(block)
            rows[at:end] = block.rows
            block.likeness(query, room, likeness[at:end])
            at = end
        return rows, likeness

    def nearest(self, query: Floats, limit: int) -> list[tuple[int, float]]:
        """The rows most like a vector of unit length, best first, and how like they are."""
        rows, likeness = self.scores(query)
        return [(int(rows[at]), float(likeness[at])) for at in best(likeness, limit)]

    def likeness(self, query: Floats, rows: Collection[int]) -> dict[int, float]:
        """How like a vector of unit length these rows are; those that have no vector are left out.

        For some hundred rows that were found in another way; it looks at no others.
        """
        wanted = np.unique(np.fromiter(rows, np.int64, len(rows)))
        found: dict[int, float] = {}
        for block in self._blocks():
            found |= block.likeness_of(query, wanted)
        return found

    @starting_over
    def _blocks(self) -> list[Block]:
        """Every block, those read from the file that this process has not read before."""
        known = _LOADED.pop(self.path, {})
        self._db.execute("BEGIN")  # one state of the file, whatever is written meanwhile
        try:
            blocks = self._read(known) if self._is_ours() else {}
        finally:
            self._db.execute("ROLLBACK")
        _LOADED[self.path] = blocks
        while len(_LOADED) > _KEPT:
            _LOADED.pop(next(iter(_LOADED)), None)  # another thread may have been quicker
        return list(blocks.values())

    def _read(self, known: Mapping[int, Block]) -> dict[int, Block]:
        blocks: dict[int, Block] = {}
        for number, stamp in self._db.execute("SELECT number, stamp FROM blocks").fetchall():
            block = known.get(number)
            if block is None or block.stamp != stamp:
                block = self._block(number)
            blocks[number] = block
        return blocks

    def _block(self, number: int) -> Block:
        """A block as it is in the file; `ValueError` when that is damaged."""
        return unpacked(
            *self._db.execute(
                "SELECT data, rows, stamp FROM blocks WHERE number = ?", (number,)
            ).fetchone()
        )

    # -- whose it is -----------------------------------------------------------------------------

    def _is_ours(self) -> bool:
        return self._meta("made by") == self._made_by

    def _take_over(self) -> None:
        """Empty what another model or source left, and be the one who made this file."""
        if not self._is_ours():
            self._empty()
            self._set_meta("made by", self._made_by)

    def _empty(self) -> None:
        for table in ("blocks", "names", "meta"):
            self._db.execute(f"DELETE FROM {table}")

    def _meta(self, name: str) -> str:
        row = self._db.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
        return row[0] if row else ""

    def _set_meta(self, name: str, value: str) -> None:
        self._db.execute("INSERT OR REPLACE INTO meta VALUES(?, ?)", (name, value))

    def _start_over(self, error: Exception) -> None:
        """Be empty, since what is there is broken; raise where only the moment is."""
        if isinstance(error, sqlite3.Error):
            if is_busy(error):
                raise Busy("another process is writing vectors", path=self.path) from error
            if is_unwritable(error):
                raise StorageFailed("vectors cannot be kept: the disk refuses", path=self.path)
        else:
            try:  # a sound database with a damaged block in it, which others may have open
                with transaction(self._db):
                    self._empty()
                return
            except sqlite3.Error:
                pass  # not so sound: the whole file goes
        self._db.close()
        discard(self.path)
        self._db = _opened(self.path)


def vectors_of(path: str, model: str, dimensions: int) -> Vectors:
    """The vectors a model made of the rows of the database at a path."""
    # A database that took the place of another gives its rows the same numbers.
    source = str(os.stat(path).st_ino) if os.path.exists(path) else ""
    return Vectors(vectors_path(path), model, dimensions, source)


def keep_only(path: str, rows: Collection[int]) -> None:
    """Leave no trace of any but these rows in the vectors at a path, of whatever model."""
    vectors = Vectors(path, "", 0)
    try:
        vectors.keep_only(rows)
    finally:
        vectors.close()


def _opened(path: str) -> sqlite3.Connection:
    try:
        return connect(path, SCHEMA)
    except sqlite3.Error:
        return empty(SCHEMA)  # held by a process that hangs: do without it


def _maker(model: str, dimensions: int, source: str) -> str:
    return f"{model} {dimensions} {source}"
