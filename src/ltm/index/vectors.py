"""Vectors of texts in a SQLite file next to their database: appended, dropped, scanned exactly.

A vector is kept as signed bytes, which scan as fast as floats in a quarter of the memory
(`vector_blocks`). Vectors are kept in blocks, each a run of rows with its checksum, and a process
reads a block once.

All of it can be derived again: a file that is broken, or was made by another model or from another
source, is emptied without a word and filled again by `ltm.embed.update`.

Those of a vault's memories belong to ids, each to one state of a memory (its etag): one that was
edited meanwhile is found by its words until it has a new vector. Only memories in force have one.

numpy is loaded for a change, and for questions once it would have been the quicker way: until then
`plain_blocks` answers.
"""

from __future__ import annotations

import os
import sqlite3
import sys
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import closing
from heapq import nlargest

from ltm.errors import Busy, StorageFailed
from ltm.files.sqlite import (
    Schema,
    connect,
    discard,
    empty,
    is_busy,
    is_in_place,
    is_unwritable,
    snapshot,
    transaction,
)
from ltm.index import plain_blocks
from ltm.index.full_text import mending
from ltm.index.index import Index, vectors_path
from ltm.index.plain_blocks import PlainBlock
from ltm.model import Filter, Stored

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

    from ltm.index.vector_blocks import Block, Floats

    Direction: TypeAlias = Floats | Sequence[float]

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

PLAIN = 20_000
"""Vectors a process goes through without numpy. To load that takes about as long."""

_gone_through = 0


def has_numpy() -> bool:
    """Whether this process has loaded numpy, or has gone through so many vectors that it should."""
    if "ltm.index.vector_blocks" in sys.modules:
        return True
    if _gone_through <= PLAIN:
        return False
    try:
        import ltm.index.vector_blocks  # noqa: F401
    except ImportError:
        return False  # it is broken, which the doctor says
    return True


class Vectors:
    """The vectors one model made of one source, by row. Used by one thread at a time.

    `source` names what the rows are rows of: where that is rebuilt, so are the vectors.
    """

    def __init__(self, path: str, model: str, dimensions: int, source: str = "") -> None:
        self.path = path
        self._made_by = f"{model} {dimensions} {source}"
        self._dimensions = dimensions
        self._db = _opened(path)

    def is_of(self, model: str, dimensions: int, source: str = "") -> bool:
        """Whether these are the vectors that model made of that source."""
        return self._made_by == f"{model} {dimensions} {source}"

    def is_in_place(self) -> bool:
        """Whether it still is the file that has its name, and not a copy in memory."""
        return is_in_place(self._db, self.path)

    def close(self) -> None:
        """Close the file; the blocks that were read stay loaded in this process."""
        self._db.close()

    # -- changing --------------------------------------------------------------------------------

    @mending
    def put(self, rows: Sequence[int], vectors: Floats) -> None:
        """Keep the vectors of these rows, in the place of former ones."""
        if len(rows):
            from ltm.index.vector_blocks import packed

            added = packed(rows, vectors)
            with transaction(self._db):
                self._take_over()
                self._add(added)

    @mending
    def drop(self, rows: Collection[int]) -> None:
        """Leave no trace of these rows."""
        with transaction(self._db):
            dropped = self._drop(rows)
        if dropped:
            self.scrub()

    @mending
    def keep_only(self, rows: Collection[int]) -> None:
        """Leave no trace of any row but these."""
        with transaction(self._db):
            found = self._db.execute("SELECT number FROM blocks").fetchall()
            dropped = self._rewrite(found, lambda block: block.only(rows))
        if dropped:
            self.scrub()

    def drop_names(self, gone: Collection[str]) -> None:
        """Leave no trace of these memories, whose vectors are kept by their ids."""
        self._drop_names(gone)
        self.scrub()

    @mending
    def _drop_names(self, gone: Collection[str]) -> None:
        with transaction(self._db):
            rows = [row for each in gone for row in self._row(each)]
            self._drop(rows)
            self._db.executemany("DELETE FROM names WHERE row = ?", [(row,) for row in rows])

    def _row(self, memory_id: str) -> list[int]:
        found = self._db.execute("SELECT row FROM names WHERE id = ?", (memory_id,))
        return [row[0] for row in found]

    def scrub(self) -> None:
        """Take what was dropped out of SQLite's log too; its own pages are overwritten already."""
        self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    @mending
    def last(self) -> int:
        """The highest row that was ever put: what is above it has no vector yet."""
        return int(self._meta("last") or 0) if self._is_ours() else 0

    def _add(self, added: Block) -> None:
        self._drop(added.rows.tolist())
        last = max(int(self._meta("last") or 0), int(added.rows.max()))
        self._set_meta("last", str(last))
        found = self._db.execute("SELECT max(number) FROM blocks").fetchone()[0]
        number = 0 if found is None else found + 1
        if found is not None:
            block = self._block(found)
            if len(block) < BLOCK:
                number, added = found, block.with_more(added)
        for start in range(0, len(added), BLOCK):
            self._write(number, added.where(slice(start, start + BLOCK)))
            number += 1

    def _drop(self, rows: Collection[int]) -> bool:
        if not rows:
            return False
        found = self._db.execute(
            "SELECT number FROM blocks WHERE last >= ? AND first <= ?",
            (min(rows), max(rows)),
        ).fetchall()
        return self._rewrite(found, lambda block: block.without(rows))

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

    def nearest(self, query: Direction, limit: int, least: float = -1.0) -> list[tuple[int, float]]:
        """The rows most like a vector of unit length, best first, and how like they are, from -1 to
        1: at least so like; among equals the later one first."""
        if not has_numpy():
            return self._plainly_nearest(query, limit, least)
        from ltm.index.vector_blocks import best, np, scores

        rows, likeness = scores(self._blocks(), np.asarray(query, np.float32))
        if least > -1.0:
            near = np.flatnonzero(likeness >= least)
            rows, likeness = rows[near], likeness[near]
        at = best(likeness, limit)
        return list(zip(rows[at].tolist(), likeness[at].tolist(), strict=True))

    def _plainly_nearest(
        self, query: Direction, limit: int, least: float
    ) -> list[tuple[int, float]]:
        global _gone_through
        found: list[tuple[float, int, int]] = []
        place = 0
        parts = [float(part) for part in query]
        for block in self._plain_blocks():
            for row, like in zip(block.rows, block.likeness(parts), strict=True):
                place += 1
                if like >= least:
                    found.append((like, place, row))
        _gone_through += place
        return [(row, like) for like, _, row in nlargest(limit, found)]

    def likeness(self, query: Direction, rows: Collection[int]) -> dict[int, float]:
        """How like a vector of unit length these rows are; those that have no vector are left out.

        For some hundred rows that were found in another way; it looks at no others.
        """
        wanted = sorted(set(rows))
        found: dict[int, float] = {}
        if not has_numpy():
            parts = [float(part) for part in query]
            for plain in self._plain_blocks():
                found |= plain.likeness_of(parts, wanted)
            return found
        from ltm.index.vector_blocks import np

        direction = np.asarray(query, np.float32)
        for block in self._blocks():
            found |= block.likeness_of(direction, wanted)
        return found

    @mending
    def _plain_blocks(self) -> list[PlainBlock]:
        """Every block, as the standard library compares it."""
        with snapshot(self._db):
            if not self._is_ours():
                return []
            found = self._db.execute("SELECT data, rows FROM blocks")
            return [plain_blocks.unpacked(data, rows) for data, rows in found]

    @mending
    def _blocks(self) -> list[Block]:
        """Every block, those read from the file that this process has not read before."""
        known = _LOADED.pop(self.path, {})
        blocks: dict[int, Block] = {}
        with snapshot(self._db):
            numbers = (
                self._db.execute("SELECT number, stamp FROM blocks") if self._is_ours() else ()
            )
            for number, stamp in list(numbers):
                block = known.get(number)
                if block is None or block.stamp != stamp:
                    block = self._block(number)
                blocks[number] = block
        _LOADED[self.path] = blocks
        while len(_LOADED) > _KEPT:
            _LOADED.pop(next(iter(_LOADED)), None)  # another thread may have been quicker
        return list(blocks.values())

    def _block(self, number: int) -> Block:
        """A block as it is in the file; `ValueError` when that is damaged."""
        from ltm.index.vector_blocks import unpacked

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

    def _mend(self, error: Exception) -> bool:
        """Be empty, since what is there is broken; raise where only the moment is."""
        if is_busy(error):
            raise Busy("another process is writing vectors", path=self.path) from error
        if is_unwritable(error):
            raise StorageFailed("vectors cannot be kept: the disk refuses", path=self.path)
        if not isinstance(error, sqlite3.Error):
            try:  # a sound database with a damaged block in it, which others may have open
                with transaction(self._db):
                    self._empty()
                return True
            except sqlite3.Error:
                pass  # not so sound: the whole file goes
        self._db.close()
        discard(self.path)
        self._db = _opened(self.path)
        return True


def vectors_of(path: str, model: str, dimensions: int) -> Vectors:
    """The vectors a model made of the rows of the database at a path."""
    # A database that took the place of another gives its rows the same numbers.
    source = str(os.stat(path).st_ino) if os.path.exists(path) else ""
    return Vectors(vectors_path(path), model, dimensions, source)


def keep_only(path: str, rows: Collection[int]) -> None:
    """Leave no trace of any but these rows in the vectors at a path, of whatever model."""
    with closing(Vectors(path, "", 0)) as vectors:
        vectors.keep_only(rows)


def _opened(path: str) -> sqlite3.Connection:
    try:
        db = connect(path, SCHEMA)
        db.execute("PRAGMA cache_size = -128")  # a block is read once, and then never again
        return db
    except sqlite3.Error:
        return empty(SCHEMA)  # held by a process that hangs: do without it


_FIRST = 256  # nearest memories looked at before those a filter leaves are counted


def forget(path: str, memory_id: str) -> None:
    """Leave no trace of a memory in the vectors at a path, of whatever model."""
    with closing(Vectors(path, "", 0)) as vectors:
        vectors.drop_names([memory_id])


class MemoryVectors(Vectors):
    """The vectors one model made of the memories of one vault."""

    def __init__(self, index: Index, path: str, model: str, dimensions: int) -> None:
        super().__init__(path, model, dimensions)
        self._index = index

    @mending
    def missing(self) -> list[str]:
        """The ids of the next memories that have no vector as they are now; [] when all have one.

        Memories are walked over in the order of their rows, from where the last walk came: a change
        gives a memory a new row. So it costs next to nothing where little is new, at any size.
        """
        index, mark = self._index, str(self._index.mark())
        if self._is_ours() and self._meta("mark") == mark:
            return []
        name = index.rows_name()
        is_going_on = self._is_ours() and name and self._meta("rows") == name
        begun = last = int(self._meta("seen") or 0) if is_going_on else 0
        lacking: list[str] = []
        while not lacking and (page := index.after(last, _FIRST)):
            have = self._etags([each for _, each, _ in page])
            for row, each, etag in page:
                if have.get(each) != etag:
                    lacking.append(each)
                elif not lacking:
                    last = row
        if last != begun or not lacking:
            with transaction(self._db):
                self._take_over()
                self._set_meta("rows", name)
                self._set_meta("seen", str(last))
                self._set_meta("mark", "" if lacking else mark)
        return lacking

    @mending
    def drop_gone(self) -> None:
        """Leave no trace of memories that are no longer in force."""
        mark = str(self._index.mark())
        if not self._is_ours() or self._meta("clean") == mark:
            return
        counted = self._db.execute("SELECT count(*) FROM names").fetchone()
        if counted[0] != self._index.active():
            held = self._index.active_ids()
            names = self._db.execute("SELECT id FROM names").fetchall()
            gone = [each for (each,) in names if each not in held]
            if gone:
                self.drop_names(gone)
        self._set_meta("clean", mark)

    def _etags(self, ids: Sequence[str]) -> dict[str, str]:
        """The states of memories that have a vector, by id."""
        if not self._is_ours():
            return {}
        named = f"SELECT id, etag FROM names WHERE id IN ({', '.join('?' * len(ids))})"
        return dict(self._db.execute(named, list(ids)).fetchall())

    def memories(self, ids: Sequence[str]) -> list[Stored]:
        """The memories of these ids that are in force, as they are now."""
        return self._index.some(ids, Filter())

    @mending
    def put_memories(self, memories: Sequence[Stored], vectors: Floats) -> None:
        """Keep the vectors of memories, as these memories are."""
        if not memories:
            return
        from ltm.index.vector_blocks import packed

        block = packed(range(len(memories)), vectors)
        with transaction(self._db):
            self._take_over()
            self._drop([row for each in memories for row in self._row(each.memory.id)])
            insert = "INSERT OR REPLACE INTO names(id, etag) VALUES(?, ?)"
            rows = [
                self._db.execute(insert, (each.memory.id, each.etag)).lastrowid or 0
                for each in memories
            ]
            self._add(block.numbered(rows))

    def nearest_memories(
        self, query: Direction, wanted: Filter, limit: int, least: float = -1.0
    ) -> list[tuple[Stored, float]]:
        """The memories most like a vector of unit length, among those a filter wants and that are
        at least so like it."""
        look = max(_FIRST, limit)
        while True:
            like = dict(self.nearest(query, look, least))
            names = self._named(list(like))
            states = self._index.states([name for name, _ in names.values()], wanted)
            found = [
                (like[row], name) for row, (name, etag) in names.items() if states.get(name) == etag
            ]
            if len(found) >= limit or len(like) < look:
                break
            look *= 8
        found.sort(reverse=True)
        of_id = {name: score for score, name in found[:limit]}
        stored = {each.memory.id: each for each in self._index.some(list(of_id), wanted)}
        return [(stored[name], score) for name, score in of_id.items() if name in stored]

    def likeness_of(self, query: Direction, memories: Collection[Stored]) -> dict[str, float]:
        """How like a vector of unit length memories are, by id; those without one are left out."""
        rows = self._rows_of(memories)
        return {rows[row]: score for row, score in self.likeness(query, rows).items()}

    @mending
    def _named(self, rows: Sequence[int]) -> dict[int, tuple[str, str]]:
        found: dict[int, tuple[str, str]] = {}
        for start in range(0, len(rows), _FIRST):
            page = rows[start : start + _FIRST]
            named = f"SELECT row, id, etag FROM names WHERE row IN ({', '.join('?' * len(page))})"
            found |= {row: (name, etag) for row, name, etag in self._db.execute(named, page)}
        return found

    @mending
    def _rows_of(self, memories: Collection[Stored]) -> dict[int, str]:
        found: dict[int, str] = {}
        for each in memories:
            named = (each.memory.id, each.etag)
            row = self._db.execute("SELECT row FROM names WHERE id = ? AND etag = ?", named)
            found |= {number: each.memory.id for (number,) in row}
        return found
