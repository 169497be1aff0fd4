"""The vectors of a vault's memories, by id, kept equal to what its index holds.

Owns which memory lacks a vector and which vector lacks its memory. A vector belongs to one state of
a memory (its etag): one that was edited meanwhile is found by its words until it has a new one.
Only memories in force have vectors. Imports core and storage, and numpy through `vectors`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ltm.core.model import Filter, Stored
from ltm.storage.database import transaction
from ltm.storage.index import Index
from ltm.storage.vectorblock import Block, Floats, best, packed
from ltm.storage.vectors import Vectors, starting_over

_FIRST = 256  # nearest memories looked at before those a filter leaves are counted


class NamedVectors(Vectors):
    """Vectors that belong to names: ids of memories, each in one state."""

    def drop_memory(self, memory_id: str) -> None:
        """Leave no trace of a memory."""
        self._drop_names([memory_id])
        self.scrub()

    @starting_over
    def _drop_names(self, gone: Collection[str]) -> None:
        with transaction(self._db):
            rows = [row for each in gone for row in self._row(each)]
            self._drop(rows)
            self._db.executemany("DELETE FROM names WHERE row = ?", [(row,) for row in rows])

    def _row(self, memory_id: str) -> list[int]:
        found = self._db.execute("SELECT row FROM names WHERE id = ?", (memory_id,))
        return [row[0] for row in found]


def forget(path: str, memory_id: str) -> None:
    """Leave no trace of a memory in the vectors at a path, of whatever model."""
    vectors = NamedVectors(path, "", 0)
    try:
        vectors.drop_memory(memory_id)
    finally:
        vectors.close()


class MemoryVectors(NamedVectors):
    """The vectors one model made of the memories of one vault."""

    def __init__(self, index: Index, path: str, model: str, dimensions: int) -> None:
        super().__init__(path, model, dimensions)
        self._index = index

    def missing(self) -> list[str]:
        """The ids of all memories that have no vector as they are now.

        Costs next to nothing while the index is as it was when none was missing; else all of them
        are looked at, so who makes vectors asks once for many.
        """
        mark = str(self._index.mark())
        if self._is_caught_up(mark):
            return []
        held, have = self._index.etags(), self._names()
        lacking = [each for each, etag in held.items() if have.get(each) != etag]
        gone = [each for each in have if each not in held]
        if gone:
            self._drop_names(gone)
            self.scrub()
        if not lacking:
            self._catch_up(mark)
        return lacking

    def memories(self, ids: Sequence[str]) -> list[Stored]:
        """The memories of these ids that are in force, as they are now."""
        return self._index.some(ids, Filter())

    def put_memories(self, memories: Sequence[Stored], vectors: Floats) -> None:
        """Keep the vectors of memories, as these memories are."""
        if memories:
            named = [(each.memory.id, each.etag) for each in memories]
            self._put_named(named, packed(range(len(named)), vectors))

    def nearest_memories(
        self, query: Floats, wanted: Filter, limit: int
    ) -> list[tuple[Stored, float]]:
        """The memories most like a vector of unit length, among those a filter wants."""
        rows, scores = self.scores(query)
        look = max(_FIRST, limit)
        while True:
            at = best(scores, look)
            names = self._named([int(row) for row in rows[at]])
            like = {
                names[int(row)]: float(score)
                for row, score in zip(rows[at], scores[at], strict=True)
                if int(row) in names
            }
            found = self._index.some([each for each, _ in like], wanted)
            found = [each for each in found if (each.memory.id, each.etag) in like]
            if len(found) >= limit or look >= len(rows):
                break
            look *= 8
        near = [(each, like[each.memory.id, each.etag]) for each in found]
        near.sort(key=lambda item: (item[1], item[0].memory.id), reverse=True)
        return near[:limit]

    def likeness_of(self, query: Floats, memories: Collection[Stored]) -> dict[str, float]:
        """How like a vector of unit length memories are, by id; those without one are left out."""
        rows = self._rows_of([(each.memory.id, each.etag) for each in memories])
        like = self.likeness(query, rows)
        return {rows[row]: score for row, score in like.items()}

    @starting_over
    def _is_caught_up(self, mark: str) -> bool:
        return self._is_ours() and self._meta("mark") == mark

    @starting_over
    def _names(self) -> dict[str, str]:
        if not self._is_ours():
            return {}
        return dict(self._db.execute("SELECT id, etag FROM names").fetchall())

    @starting_over
    def _catch_up(self, mark: str) -> None:
        """Note the state of the index in which nothing was missing."""
        with transaction(self._db):
            self._take_over()
            self._set_meta("mark", mark)

    @starting_over
    def _put_named(self, named: Sequence[tuple[str, str]], block: Block) -> None:
        with transaction(self._db):
            self._take_over()
            self._drop([row for each, _ in named for row in self._row(each)])
            rows = [
                self._db.execute(
                    "INSERT OR REPLACE INTO names(id, etag) VALUES(?, ?)", each
                ).lastrowid
                for each in named
            ]
            self._add(block.as_rows([row or 0 for row in rows]))

    @starting_over
    def _named(self, rows: Sequence[int]) -> dict[int, tuple[str, str]]:
        found: dict[int, tuple[str, str]] = {}
        for row in rows:
            name = self._db.execute("SELECT id, etag FROM names WHERE row = ?", (row,)).fetchone()
            if name is not None:
                found[row] = name
        return found

    @starting_over
    def _rows_of(self, named: Sequence[tuple[str, str]]) -> dict[int, str]:
        found: dict[int, str] = {}
        for each in named:
            row = self._db.execute(
                "SELECT row FROM names WHERE id = ? AND etag = ?", each
            ).fetchone()
            if row is not None:
                found[row[0]] = each[0]
        return found
