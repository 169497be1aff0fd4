"""Vectors on a disk that refuses, blocks that are no blocks, and filters that leave little over."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from ltm.errors import StorageFailed
from ltm.index import vectors as memoryvectors
from ltm.index.vectors import MemoryVectors, Vectors, best, packed, unpacked
from ltm.model import Filter
from ltm.store.file_store import FileStore
from tests.index.directions import DIMENSIONS, MODEL, direction, directions
from tests.stores import file_store, make


def test_a_disk_that_refuses_is_told_and_costs_no_vector(tmp_path: Path) -> None:
    with closing(Vectors(str(tmp_path / "v.db"), MODEL, DIMENSIONS)) as vectors:
        vectors.put([1], directions([1]))
        vectors._db.execute("PRAGMA query_only = ON")
        with pytest.raises(StorageFailed, match="the disk refuses") as caught:
            vectors.put([2], directions([2]))
        assert caught.value.path == str(tmp_path / "v.db")
        vectors._db.execute("PRAGMA query_only = OFF")
        assert vectors.nearest(direction(1), 5)[0][0] == 1


def test_a_damaged_block_empties_the_file_that_others_have_open(tmp_path: Path) -> None:
    path = str(tmp_path / "v.db")
    with closing(Vectors(path, MODEL, DIMENSIONS)) as vectors:
        vectors.put([1, 2], directions([1, 2]))
    with closing(sqlite3.connect(path)) as other:
        with other:
            other.execute("UPDATE blocks SET data = x'0011'")
        with closing(Vectors(path, MODEL, DIMENSIONS)) as vectors:
            assert vectors.nearest(direction(1), 5) == []
            vectors.put([1], directions([1]))
        assert other.execute("SELECT count(*) FROM blocks").fetchone() == (1,)


def test_as_many_rows_as_vectors_make_a_block() -> None:
    with pytest.raises(ValueError, match="2 rows and 1 vectors"):
        packed([1, 2], directions([1]))
    block = packed([7, 3], directions([7, 3]))
    assert block.rows.tolist() == [3, 7]
    again = unpacked(block.data(), 2, 9)
    assert (again.rows.tolist(), again.stamp) == ([3, 7], 9)
    assert np.array_equal(again.vectors, block.vectors)
    assert np.array_equal(again.scales, block.scales)


@pytest.mark.parametrize("count", [0, -1, 3, 1])
def test_bytes_that_are_not_so_many_rows_are_no_block(count: int) -> None:
    data = packed([1, 2], directions([1, 2])).data()
    if count == 1:
        data = data[:-1] + bytes([data[-1] ^ 1])
    with pytest.raises(ValueError, match="damaged"):
        unpacked(data, count)


@pytest.mark.parametrize(("limit", "places"), [(1, [1]), (2, [1, 3]), (9, [1, 3, 2, 0])])
def test_the_best_are_the_highest_and_of_equals_the_later(limit: int, places: list[int]) -> None:
    scores = np.array([0.1, 0.9, 0.5, 0.5], np.float32)
    assert best(scores, limit).tolist() == places


def test_a_vector_of_no_length_is_like_nothing_and_the_largest_part_of_one_is_kept_whole() -> None:
    block = packed([1, 2], np.array([[0.0, 0.0], [-4.0, 2.0]], np.float32))
    assert block.scales[0] == 0.0
    assert block.vectors.tolist() == [[0, 0], [-127, 64]]
    assert float(block.scales[1]) == pytest.approx(1 / np.hypot(127, 64))


class TestMemories:
    @pytest.fixture
    def store(self, tmp_path: Path) -> Iterator[FileStore]:
        with closing(file_store(tmp_path)) as opened:
            yield opened

    @pytest.fixture
    def vectors(self, store: FileStore, tmp_path: Path) -> Iterator[MemoryVectors]:
        for number in range(6):
            kind = "decision" if number == 5 else "fact"
            store.create(make(f"Title {number}", kind=kind))
        index = store._vaults.index(store.vaults[0])
        path = str(tmp_path / "v.db")
        with closing(MemoryVectors(index, path, MODEL, DIMENSIONS)) as made:
            lacking = made.memories(made.missing())
            numbers = [int(each.memory.title[-1]) for each in lacking]
            made.put_memories(lacking, directions(numbers))
            yield made

    def test_what_a_filter_wants_is_found_however_far_it_is(
        self, vectors: MemoryVectors, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(memoryvectors, "_FIRST", 1)
        ((found, like),) = vectors.nearest_memories(direction(1), Filter(kinds=("decision",)), 1)
        assert found.memory.title == "Title 5"
        assert like == pytest.approx(float(direction(1) @ direction(5)), abs=0.02)
        near = vectors.nearest_memories(direction(1), Filter(), 3)
        assert near[0][0].memory.title == "Title 1"
        assert [score for _, score in near] == sorted((s for _, s in near), reverse=True)
        assert len(near) == 3

    def test_nothing_put_is_nothing_changed(self, vectors: MemoryVectors) -> None:
        vectors.put_memories([], directions([]))
        assert vectors.missing() == []

    def test_only_what_was_edited_lacks_a_vector_and_is_like_nothing_until_it_has_one(
        self, vectors: MemoryVectors, store: FileStore
    ) -> None:
        stored = store.list(Filter()).items
        before = vectors.likeness_of(direction(2), stored)
        assert len(before) == 6
        changed = store.update(stored[0].memory.id, {"content": "other words"})
        assert vectors.missing() == [changed.memory.id]
        now = vectors.likeness_of(direction(2), store.list(Filter()).items)
        assert set(now) == set(before) - {changed.memory.id}

    def test_what_was_forgotten_has_no_vector_any_more(
        self, vectors: MemoryVectors, store: FileStore
    ) -> None:
        (gone,) = (each for each in store.list(Filter()).items if each.memory.title == "Title 1")
        store.delete(gone.memory.id)
        assert vectors.missing() == []
        near = vectors.nearest_memories(direction(1), Filter(), 10)
        assert gone.memory.id not in {each.memory.id for each, _ in near}
        assert len(vectors.scores(direction(1))[0]) == 5
