"""The vectors of memories follow the memories: new, edited, forgotten, purged."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ltm.embed.update import keep_memories, keep_passages, words
from ltm.history.db import Passages
from ltm.history.passage import Header, Passage
from ltm.index import vectors as module
from ltm.index.index import VECTORS_FILE as FILE
from ltm.index.index import Index
from ltm.index.vector_blocks import Floats, packed
from ltm.index.vectors import MemoryVectors, vectors_of
from ltm.model import Filter, Status
from ltm.store.file_store import FileStore
from tests.index.directions import DIMENSIONS, MODEL, direction
from tests.stores import file_store, make


class Numbers:
    """An embedder that gives a text the direction of the number it ends with."""

    name = MODEL
    dimensions = DIMENSIONS

    def __init__(self) -> None:
        self.texts: list[str] = []

    def embed(self, texts: Sequence[str]) -> Floats:
        self.texts += texts
        found = [direction(int(text.rsplit(" ", 1)[-1].strip(".") or 0)) for text in texts]
        return np.array(found, np.float32).reshape(-1, DIMENSIONS)

    def direction(self, text: str) -> Floats | None:
        found: Floats = self.embed([text])[0]
        return found


@pytest.fixture
def store(tmp_path: Path) -> Iterator[FileStore]:
    with closing(file_store(tmp_path)) as found:
        yield found


def add(store: FileStore, *numbers: int) -> list[str]:
    return [
        store.create(make(f"Title {n}", f"It is number {n}", tags=())).memory.id for n in numbers
    ]


def vectors_in(store: FileStore) -> MemoryVectors:
    [found] = store.vectors(MODEL, DIMENSIONS)
    return found


def found_by(store: FileStore, number: int, wanted: Filter | None = None) -> list[str]:
    near = vectors_in(store).nearest_memories(direction(number), wanted or Filter(), 3)
    return [stored.memory.id for stored, like in near if like > 0.9]


def test_a_memory_is_found_by_its_vector_once_it_has_one(store: FileStore) -> None:
    one, two = add(store, 1, 2)
    assert found_by(store, 1) == []
    assert keep_memories(store, Numbers())
    assert (found_by(store, 1), found_by(store, 2)) == ([one], [two])
    like = vectors_in(store).likeness_of(direction(1), [store.read(one), store.read(two)])
    assert like[one] > 0.99 > like[two]


def test_only_what_is_new_or_was_changed_is_embedded(store: FileStore) -> None:
    embedder = Numbers()
    one, _ = add(store, 1, 2)
    keep_memories(store, embedder)
    keep_memories(store, embedder)
    assert len(embedder.texts) == 2
    add(store, 3)
    store.update(one, {"content": "It is number 4"})
    keep_memories(store, embedder)
    assert len(embedder.texts) == 4
    assert (found_by(store, 1), found_by(store, 4)) == ([], [one])


def test_a_memory_that_was_edited_meanwhile_is_not_found_by_its_old_vector(
    store: FileStore,
) -> None:
    [one] = add(store, 1)
    keep_memories(store, Numbers())
    stored = store.read(one)
    Path(stored.path).write_text(Path(stored.path).read_text().replace("number 1", "number 7"))
    assert found_by(store, 1) == []
    assert vectors_in(store).likeness_of(direction(1), [store.read(one)]) == {}


def test_what_is_forgotten_is_found_by_no_vector_and_loses_it(store: FileStore) -> None:
    one, two = add(store, 1, 2)
    keep_memories(store, Numbers())
    store.delete(one)
    assert found_by(store, 1, Filter(statuses=tuple(Status))) == []
    keep_memories(store, Numbers())
    assert vectors_in(store).count() == 1
    assert found_by(store, 2) == [two]


def test_a_purged_memory_has_no_vector_the_moment_it_is_purged(
    store: FileStore, tmp_path: Path
) -> None:
    one, two = add(store, 1, 2)
    keep_memories(store, Numbers())
    kept = packed([1], np.array([direction(1)])).vectors.tobytes()
    folder = tmp_path / "project"
    assert kept in b"".join(each.read_bytes() for each in folder.glob(f"{FILE}*"))
    store.delete(one, purge=True)
    assert kept not in b"".join(each.read_bytes() for each in folder.glob(f"{FILE}*"))
    assert one.encode() not in b"".join(each.read_bytes() for each in folder.glob(f"{FILE}*"))
    assert found_by(store, 2) == [two]


def test_a_purge_without_numpy_takes_all_vectors_away(
    store: FileStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, _ = add(store, 1, 2)
    keep_memories(store, Numbers())
    monkeypatch.setitem(sys.modules, "ltm.index.vectors", None)
    store.delete(one, purge=True)
    assert not os.path.exists(tmp_path / "project" / FILE)


def test_a_filter_is_kept_to_however_far_its_memories_are(store: FileStore) -> None:
    embedder = Numbers()
    for number in range(1, 40):
        add(store, number)
    odd = store.create(make("Title 99", "It is number 99", kind="decision", tags=()))
    keep_memories(store, embedder)
    near = vectors_in(store).nearest_memories(direction(5), Filter(kinds=("decision",)), 3)
    assert [stored.memory.id for stored, _ in near] == [odd.memory.id]


def test_a_slice_ends_when_its_time_is_over_and_the_next_goes_on(store: FileStore) -> None:
    add(store, *range(1, 41))
    embedder = Numbers()
    assert not keep_memories(store, embedder, seconds=0.0)
    assert 0 < len(embedder.texts) < 40
    assert keep_memories(store, embedder)
    assert len(embedder.texts) == 40


def test_what_is_new_is_found_without_a_look_at_what_is_not(
    store: FileStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All memories were looked at again for each new one: time grew with their number."""
    add(store, *range(600))
    rows: list[int] = []
    after = Index.after

    def counted(index: Index, row: int, most: int) -> list[tuple[int, str, str]]:
        found = after(index, row, most)
        rows.extend(row for row, _, _ in found)
        return found

    monkeypatch.setattr(Index, "after", counted)
    assert keep_memories(store, Numbers())
    assert len(rows) <= 1_200, "each once, and its page once more"
    del rows[:]
    assert keep_memories(store, Numbers())
    assert not rows, "while nothing changes, none"
    add(store, 601)
    assert keep_memories(store, Numbers())
    assert len(rows) <= 2


def test_an_index_made_again_costs_no_embedding(store: FileStore) -> None:
    embedder = Numbers()
    add(store, 1, 2, 3)
    keep_memories(store, embedder)
    store.rebuild()
    assert keep_memories(store, embedder)
    assert len(embedder.texts) == 3


def test_a_broken_file_is_filled_again_from_the_memories(store: FileStore, tmp_path: Path) -> None:
    [one] = add(store, 1)
    keep_memories(store, Numbers())
    store.close()
    (tmp_path / "project" / FILE).write_bytes(b"broken" * 1000)
    with closing(file_store(tmp_path)) as again:
        assert found_by(again, 1) == []
        assert keep_memories(again, Numbers())
        assert found_by(again, 1) == [one]


def test_another_model_takes_over_at_its_first_vector(store: FileStore) -> None:
    [one] = add(store, 1)
    keep_memories(store, Numbers())
    other = Numbers()
    other.name = "another"
    assert [each.count() for each in store.vectors("another", DIMENSIONS)] == [0]
    keep_memories(store, other)
    assert len(other.texts) == 1
    [vectors] = store.vectors("another", DIMENSIONS)
    near = vectors.nearest_memories(direction(1), Filter(), 1)
    assert [stored.memory.id for stored, _ in near] == [one]


def test_a_store_that_keeps_no_vectors_is_left_alone() -> None:
    assert keep_memories(object(), Numbers())


def passages_of(path: Path, *numbers: int) -> Passages:
    passages = Passages(str(path))
    said = [
        Passage(n, 0, "user", f"It is number {n}", "2020-01-01", message=f"m{n}") for n in numbers
    ]
    passages.add(Header("s", transcript="t"), said)
    return passages


def test_passages_are_embedded_as_they_come(tmp_path: Path) -> None:
    with closing(passages_of(tmp_path / "sessions.db", 1, 2)) as passages:
        embedder = Numbers()
        with closing(vectors_of(passages.path, MODEL, DIMENSIONS)) as vectors:
            assert keep_passages(passages, vectors, embedder)
            more = [Passage(3, 0, "user", "It is number 3", message="m3")]
            passages.add(Header("s", transcript="t"), more)
            assert keep_passages(passages, vectors, embedder)
            assert embedder.texts == [f"It is number {n}" for n in (1, 2, 3)]
            [(row, _)] = vectors.nearest(direction(3), 1)
            assert [each.text for each in passages.read([row])] == ["It is number 3"]


@pytest.mark.parametrize("way", ["purge", "purge_session", "prune"])
def test_passages_that_are_let_go_of_lose_their_vectors_at_once(way: str, tmp_path: Path) -> None:
    with (
        closing(passages_of(tmp_path / "sessions.db", 1, 2)) as passages,
        closing(vectors_of(passages.path, MODEL, DIMENSIONS)) as vectors,
    ):
        keep_passages(passages, vectors, Numbers())
        assert vectors.count() == 2
        if way == "purge":
            passages.purge([each.row for each in passages.of_session("s")][:1])
            assert vectors.count() == 1
        elif way == "purge_session":
            passages.purge_session("s")
            assert vectors.count() == 0
        else:
            passages.add(Header("later"), [Passage(1, 0, "user", "now 3", at="2030-01-01")])
            passages.prune(before="2029-01-01")
            assert vectors.count() == 0


def test_a_passage_purged_while_it_was_embedded_keeps_no_vector(tmp_path: Path) -> None:
    with (
        closing(passages_of(tmp_path / "sessions.db", 1, 2)) as passages,
        closing(vectors_of(passages.path, MODEL, DIMENSIONS)) as vectors,
    ):

        class Slow(Numbers):
            def embed(self, texts: Sequence[str]) -> Floats:
                passages.purge([passages.of_session("s")[0].row])
                return super().embed(texts)

        keep_passages(passages, vectors, Slow())
        assert vectors.count() == 1


def test_what_is_embedded_is_title_tags_and_text() -> None:
    memory = make("Title", "The text", tags=("one", "two"))
    assert words(memory) == f"Title\none two\n{memory.text}"
    assert "The text" in memory.text


changes = st.lists(
    st.one_of(
        st.tuples(st.just("add"), st.integers(1, 30)),
        st.tuples(st.just("edit"), st.integers(1, 30)),
        st.tuples(st.just("forget"), st.integers(0, 5)),
        st.tuples(st.just("purge"), st.integers(0, 5)),
        st.tuples(st.just("keep"), st.just(0)),
    ),
    min_size=1,
    max_size=12,
)


@settings(max_examples=25)
@given(changes=changes)
def test_kept_up_step_by_step_equals_made_again_from_the_texts(
    changes: list[tuple[str, int]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("changes")
    ids: list[str] = []
    with closing(file_store(folder)) as store:
        for change, number in changes:
            if change == "add":
                ids += add(store, number)
            elif change == "edit" and ids:
                store.update(ids[0], {"content": f"It is number {number}"})
            elif change in ("forget", "purge") and ids:
                store.delete(ids.pop(number % len(ids)), purge=change == "purge")
            else:
                keep_memories(store, Numbers())
        keep_memories(store, Numbers())
        stepwise = likeness_by_id(store)
        for path in folder.rglob(f"{FILE}*"):
            path.unlink()
    module._LOADED.clear()
    with closing(file_store(folder)) as store:
        keep_memories(store, Numbers())
        assert likeness_by_id(store) == pytest.approx(stepwise, abs=1e-5)
        assert sorted(stepwise) == sorted(ids)


def likeness_by_id(store: FileStore) -> dict[str, float]:
    return {
        stored.memory.id: like
        for vectors in store.vectors(MODEL, DIMENSIONS)
        for stored, like in vectors.nearest_memories(direction(3), Filter(), 100)
    }
