"""Vectors are found exactly, kept step by step, dropped without a trace, and never wrong."""

from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ltm.errors import Busy, StorageFailed
from ltm.index import plain_blocks
from ltm.index import vectors as memoryvectors
from ltm.index import vectors as module
from ltm.index.index import VECTORS_FILE, keep_vectors, vectors_path
from ltm.index.vector_blocks import best, packed, scores, unpacked
from ltm.index.vectors import BLOCK, MemoryVectors, Vectors, vectors_of
from ltm.model import Filter
from ltm.store.file_store import FileStore
from tests.index.directions import DIMENSIONS, MODEL, direction, directions
from tests.index.vector_writer import EACH
from tests.stores import file_store, make


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / VECTORS_FILE)


@pytest.fixture
def vectors(path: str) -> Iterator[Vectors]:
    with closing(opened(path)) as found:
        yield found


def opened(path: str, model: str = MODEL, source: str = "") -> Vectors:
    return Vectors(path, model, DIMENSIONS, source)


def fill(vectors: Vectors, *numbers: int) -> None:
    vectors.put(numbers, directions(numbers))


def is_itself(vectors: Vectors, row: int, number: int) -> bool:
    """Whether the vector nearest to a number's is that row's, and the same."""
    [(found, like)] = vectors.nearest(direction(number), 1)
    return found == row and abs(like - 1) < 1e-4


def kept_bytes(number: int) -> bytes:
    """A number's direction as it is kept."""
    return bytes(packed([1], directions([number])).vectors.tobytes())


def rows_in(vectors: Vectors) -> list[int]:
    # In one question: between a count and a question another process may append.
    return sorted(row for row, _ in vectors.nearest(direction(0), 1_000_000))


def test_without_numpy_a_block_compares_the_same(vectors: Vectors) -> None:
    numbers = [*range(1, 40), 77]
    made = np.array([direction(number) for number in numbers], np.float32)
    made[3] = 0
    data = packed(numbers, made).data()
    query = direction(5)
    rows, likeness = scores([unpacked(data, len(numbers))], query)
    block, parts = plain_blocks.unpacked(data, len(numbers)), query.tolist()
    assert list(block.rows) == rows.tolist()
    assert block.likeness(parts) == pytest.approx(likeness.tolist(), abs=1e-6)
    wanted = [2, 5, 40, 77]
    found = unpacked(data, len(numbers)).likeness_of(query, wanted)
    assert block.likeness_of(parts, wanted) == pytest.approx(found, abs=1e-6)
    for damaged, count in ((data[:-1], 40), (data[:-1] + b"?", 40), (data, 39), (data, 0)):
        with pytest.raises(ValueError, match="damaged"):
            plain_blocks.unpacked(damaged, count)


def test_the_nearest_are_those_a_comparison_with_every_vector_finds(vectors: Vectors) -> None:
    numbers = range(1, 3 * BLOCK)
    vectors.put(numbers, directions(numbers))
    query = direction(0)
    exact = sorted(((float(direction(n) @ query), n) for n in numbers), reverse=True)
    found = vectors.nearest(query, 20)
    # Rounding to bytes may swap two that are equal to the third digit, and no others.
    assert {row for row, _ in found} >= {n for like, n in exact if like > exact[19][0] + 0.01}
    exactly = {n: like for like, n in exact}
    assert all(abs(like - exactly[row]) < 0.01 for row, like in found)
    assert [like for _, like in found] == sorted((like for _, like in found), reverse=True)


def test_a_vector_is_like_itself_and_one_of_no_length_like_nothing(vectors: Vectors) -> None:
    fill(vectors, 1)
    vectors.put([2], np.zeros((1, DIMENSIONS), np.float32))
    like = vectors.likeness(direction(1), [1, 2, 3])
    assert like == {1: pytest.approx(1.0, abs=1e-4), 2: 0.0}


def test_a_row_put_again_has_the_new_vector_only(vectors: Vectors) -> None:
    fill(vectors, 1, 2, 3)
    vectors.put([2], directions([9]))
    assert rows_in(vectors) == [1, 2, 3]
    assert is_itself(vectors, 2, 9)


def test_nothing_there_is_nothing_found(vectors: Vectors) -> None:
    assert vectors.nearest(direction(1), 5) == []
    assert vectors.likeness(direction(1), [1]) == {}
    assert (vectors.count(), vectors.last()) == (0, 0)


def test_the_best_of_equals_is_the_same_every_time() -> None:
    scores = np.array([0.5, 0.9, 0.5, 0.9, 0.1], np.float32)
    assert best(scores, 10).tolist() == [3, 1, 2, 0, 4]
    assert best(scores, 2).tolist() == [3, 1]


steps = st.lists(
    st.one_of(
        st.tuples(st.just("put"), st.lists(st.integers(1, 60), unique=True, max_size=12)),
        st.tuples(st.just("drop"), st.lists(st.integers(1, 60), unique=True, max_size=12)),
        st.tuples(st.just("keep"), st.lists(st.integers(1, 60), unique=True, max_size=50)),
        st.tuples(st.just("reopen"), st.just([])),
    ),
    max_size=12,
)


@settings(max_examples=60)
@given(steps=steps)
def test_kept_step_by_step_equals_made_again(
    steps: list[tuple[str, list[int]]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Also with blocks so small that every step crosses their borders."""
    folder = tmp_path_factory.mktemp("steps")
    kept: set[int] = set()
    before, module.BLOCK = module.BLOCK, 8
    try:
        stepwise = opened(str(folder / "stepwise.db"))
        for step, numbers in steps:
            if step == "put":
                fill(stepwise, *numbers)
                kept |= set(numbers)
            elif step == "drop":
                stepwise.drop(numbers)
                kept -= set(numbers)
            elif step == "keep":
                stepwise.keep_only(numbers)
                kept &= set(numbers)
            else:
                stepwise.close()
                stepwise = opened(str(folder / "stepwise.db"))
            assert rows_in(stepwise) == sorted(kept)
        anew = opened(str(folder / "anew.db"))
        fill(anew, *sorted(kept))
        assert held(stepwise) == held(anew)
        stepwise.close()
        anew.close()
    finally:
        module.BLOCK = before


def held(vectors: Vectors) -> dict[int, bytes]:
    return {
        int(row): block.vectors[at].tobytes() + block.scales[at].tobytes()
        for block in vectors._blocks()
        for at, row in enumerate(block.rows)
    }


def test_an_append_writes_its_own_rows_and_one_unfinished_block(
    vectors: Vectors, path: str
) -> None:
    numbers = range(1, 5 * BLOCK + 10)
    vectors.put(numbers, directions(numbers))
    before = stamps(path)
    fill(vectors, 5 * BLOCK + 10)
    after = stamps(path)
    assert len(before) == len(after) == 6
    assert [a == b for a, b in zip(before, after, strict=True)] == [True] * 5 + [False]


def stamps(path: str) -> list[int]:
    with closing(sqlite3.connect(path)) as db:
        return [row[0] for row in db.execute("SELECT stamp FROM blocks ORDER BY number")]


def test_a_process_reads_again_only_what_was_written_since(vectors: Vectors, path: str) -> None:
    numbers = range(1, 2 * BLOCK + 1)
    vectors.put(numbers, directions(numbers))
    first = vectors._blocks()
    with closing(opened(path)) as other:
        fill(other, 2 * BLOCK + 1)
    again = vectors._blocks()
    assert [a is b for a, b in zip(first, again, strict=False)] == [True, True]
    assert len(again) == 3


def test_what_was_dropped_is_in_no_file(vectors: Vectors, path: str) -> None:
    """Purged means gone: not in a free page, not in SQLite's log."""
    fill(vectors, *range(1, 40))
    secret = kept_bytes(20)
    assert secret in everything(path)
    vectors.drop([20])
    assert secret not in everything(path)
    fill(vectors, 50)
    vectors.keep_only([1])
    for number in (2, 39, 50):
        assert kept_bytes(number) not in everything(path)
    assert rows_in(vectors) == [1]


def everything(path: str) -> bytes:
    folder = Path(path).parent
    return b"".join(each.read_bytes() for each in folder.iterdir())


def test_where_numpy_is_missing_a_purge_takes_the_whole_file(
    vectors: Vectors, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(vectors, 1, 2)
    vectors.close()
    monkeypatch.setitem(sys.modules, "ltm.index.vectors", None)
    keep_vectors(path, [1])
    assert not os.path.exists(path)


def test_a_purge_of_rows_that_never_had_vectors_makes_no_file(path: str) -> None:
    keep_vectors(path, [1])
    assert not os.path.exists(path)


@pytest.mark.parametrize(
    ("model", "source"), [("another", ""), (MODEL, "another")], ids=["model", "source"]
)
def test_vectors_of_another_model_or_source_are_neither_read_nor_kept(
    vectors: Vectors, path: str, model: str, source: str
) -> None:
    fill(vectors, 1, 2)
    with closing(opened(path, model, source)) as other:
        assert (other.nearest(direction(1), 5), other.last()) == ([], 0)
        fill(other, 3)
        assert rows_in(other) == [3]
    assert rows_in(vectors) == []


def test_what_is_not_there_has_no_vectors(tmp_path: Path) -> None:
    with closing(vectors_of(str(tmp_path / "sessions.db"), MODEL, DIMENSIONS)) as vectors:
        assert vectors.nearest(direction(1), 1) == []


def test_a_database_in_the_place_of_another_has_no_vectors_yet(tmp_path: Path) -> None:
    source = tmp_path / "sessions.db"
    source.write_bytes(b"one")
    with closing(vectors_of(str(source), MODEL, DIMENSIONS)) as first:
        fill(first, 1)
    source.rename(tmp_path / "aside.db")
    source.write_bytes(b"two")
    with closing(vectors_of(str(source), MODEL, DIMENSIONS)) as second:
        assert (rows_in(second), second.last()) == ([], 0)
    assert vectors_path(str(source)) == str(tmp_path / "sessions-vectors.db")


def damage_tail(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size * 2 // 3])


def damage_head(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[:64] = os.urandom(64)
    path.write_bytes(data)


def damage_everything(path: Path) -> None:
    path.write_bytes(b"no database at all" * 500)


def damage_to_nothing(path: Path) -> None:
    path.write_bytes(b"")


@pytest.mark.parametrize(
    "damage",
    [damage_tail, damage_head, damage_everything, damage_to_nothing],
    ids=lambda d: d.__name__,
)
def test_a_broken_file_gives_no_wrong_answer_and_is_filled_again(path: str, damage: object) -> None:
    with closing(opened(path)) as vectors:
        fill(vectors, *range(1, 3000))
        vectors.scrub()
    module._LOADED.clear()
    assert callable(damage)
    damage(Path(path))
    with closing(opened(path)) as vectors:
        assert not rows_in(vectors) or is_itself(vectors, 5, 5)
        missing = range(vectors.last() + 1, 3000)
        vectors.put(missing, directions(missing))
        assert rows_in(vectors) == list(range(1, 3000))
        assert vectors.nearest(direction(5), 1)[0][0] == 5


@settings(max_examples=25)
@given(at=st.floats(0, 0.999), bit=st.integers(0, 7))
def test_a_bit_that_fell_over_is_noticed(
    at: float, bit: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """A disk may lie; a checksum tells. What was damaged is empty then, never wrong."""
    path = str(tmp_path_factory.mktemp("bit") / VECTORS_FILE)
    with closing(opened(path)) as vectors:
        fill(vectors, *range(1, 50))
    with closing(sqlite3.connect(path)) as db, db:
        data = bytearray(db.execute("SELECT data FROM blocks").fetchone()[0])
        data[int(at * len(data))] ^= 1 << bit
        db.execute("UPDATE blocks SET data = ?, stamp = stamp + 1", (bytes(data),))
    with closing(opened(path)) as vectors:
        assert vectors.nearest(direction(5), 3) == []
        assert vectors.last() == 0
        fill(vectors, *range(1, 50))
        assert rows_in(vectors) == list(range(1, 50))


def test_what_holds_the_file_for_long_is_not_waited_for_for_ever(
    vectors: Vectors, path: str
) -> None:
    fill(vectors, 1)
    vectors._db.execute("PRAGMA busy_timeout = 1")
    with closing(sqlite3.connect(path, isolation_level=None)) as holder:
        holder.execute("BEGIN IMMEDIATE")
        assert rows_in(vectors) == [1]
        with pytest.raises(Busy):
            fill(vectors, 2)
    fill(vectors, 2)
    assert rows_in(vectors) == [1, 2]


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may write anywhere")
def test_a_disk_that_cannot_be_written_is_read_as_it_is(vectors: Vectors, path: str) -> None:
    fill(vectors, 1, 2)
    vectors.close()
    folder = Path(path).parent
    folder.chmod(stat.S_IRUSR | stat.S_IXUSR)
    try:
        with closing(opened(path)) as readable:
            assert readable.nearest(direction(2), 1)[0][0] == 2
    finally:
        folder.chmod(stat.S_IRWXU)


class Process:
    """Another process that appends."""

    def __init__(self, path: str, rounds: int) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.index.vector_writer", path, str(rounds)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.line() == "ready"
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def line(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def end(self) -> None:
        assert self.process.stdout is not None
        assert self.process.stdin is not None
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        self.process.stdin.close()


def test_who_reads_while_another_appends_sees_whole_rounds_and_right_vectors(path: str) -> None:
    writer = Process(path, 40)
    try:
        with closing(opened(path)) as vectors:
            for _ in range(40):
                acknowledged = int(writer.line())
                rows = rows_in(vectors)
                assert rows == list(range(1, len(rows) + 1))
                assert len(rows) >= acknowledged
                assert len(rows) % EACH == 0
                assert is_itself(vectors, acknowledged, acknowledged)
    finally:
        writer.end()


@pytest.mark.parametrize("rounds", range(1, 9))
def test_a_writer_that_was_killed_leaves_whole_rounds(path: str, rounds: int) -> None:
    writer = Process(path, 10_000)
    try:
        acknowledged = [int(writer.line()) for _ in range(rounds)][-1]
    finally:
        writer.end()
    with closing(opened(path)) as vectors:
        rows = rows_in(vectors)
        assert rows == list(range(1, vectors.last() + 1))
        assert len(rows) >= acknowledged
        assert len(rows) % EACH == 0
        fill(vectors, len(rows) + 1)
        assert vectors.nearest(direction(len(rows) + 1), 1)[0][0] == len(rows) + 1


def test_two_who_append_the_same_rows_leave_each_row_once(path: str) -> None:
    with closing(opened(path)) as one, closing(opened(path)) as two:
        for vectors in (one, two, one):
            fill(vectors, 1, 2, 3)
        assert rows_in(one) == rows_in(two) == [1, 2, 3]


# -- vectors on a disk that refuses, blocks that are no blocks, and filters that leave little over


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
        vectors.drop_gone()
        near = vectors.nearest_memories(direction(1), Filter(), 10)
        assert gone.memory.id not in {each.memory.id for each, _ in near}
        assert vectors.count() == 5
