"""With pgvector a team's memories are found by meaning too; without it, by their words."""

from __future__ import annotations

import numpy as np

from ltm.embed.update import keep_memories
from ltm.model import Filter, Status
from ltm_server.postgres.store import PostgresStore
from tests.embed.test_update import Numbers
from tests.index.directions import DIMENSIONS, MODEL, direction
from tests.postgres.team import Team
from tests.stores import make


def add(store: PostgresStore, *numbers: int) -> list[str]:
    return [
        store.create(make(f"Title {n}", f"It is number {n}", tags=())).memory.id for n in numbers
    ]


def found_by(store: PostgresStore, number: int, wanted: Filter | None = None) -> list[str]:
    [vectors] = store.vectors(MODEL, DIMENSIONS)
    near = vectors.nearest_memories(direction(number), wanted or Filter(), 3, 0.9)
    return [stored.memory.id for stored, _ in near]


def test_memories_have_vectors_as_they_are_now(team: Team) -> None:
    store, embedder = team.store(), Numbers()
    if team.cluster.version == 15:
        assert store.vectors(MODEL, DIMENSIONS) == []
        assert keep_memories(store, embedder)
        return
    one, two, three = add(store, 1, 2, 3)
    assert found_by(store, 1) == []
    reader = team.store("reader")
    assert not keep_memories(reader, embedder, seconds=0.0) or len(embedder.texts) == 3
    assert keep_memories(reader, embedder)
    assert keep_memories(reader, embedder)
    assert len(embedder.texts) == 3, "each once"
    assert [found_by(reader, number) for number in (1, 2, 3)] == [[one], [two], [three]]
    [vectors] = store.vectors(MODEL, DIMENSIONS)
    like = vectors.likeness_of(direction(1), [store.read(one), store.read(two)])
    assert like[one] > 0.99 > like[two]
    assert found_by(store, 1, Filter(kinds=("lesson",))) == []
    # A vector of a former state is none, whoever keeps it.
    former = store.read(one)
    store.update(one, {"content": "It is number 4"})
    vectors.put_memories([former], np.array([direction(1)]))
    assert found_by(store, 1) == []
    keep_memories(store, embedder)
    assert (found_by(store, 4), len(embedder.texts)) == ([one], 4)
    store.delete(two)
    assert found_by(store, 2, Filter(statuses=tuple(Status))) == []
    store.delete(three, purge=True)
    keep_memories(store, embedder)
    with team.database.as_operator() as db:
        kept = db.execute("select id from ltm.vector").fetchall()
    assert kept == [(one,)]
    # Another model starts anew, and does not get in the way of the first.
    other = Numbers()
    other.name = "another"
    keep_memories(store, other)
    assert (len(other.texts), found_by(store, 4)) == (1, [one])
