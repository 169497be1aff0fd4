"""A change is taken back whole, or not at all."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from ltm.decisions import (
    Add,
    Contradict,
    Decision,
    Forget,
    Merge,
    Reduce,
    Reinforce,
    Restore,
    Revise,
    Settle,
    Supersede,
)
from ltm.errors import Conflict
from ltm.model import Memory, Phase, Status
from ltm.store.file_store import FileStore
from ltm.store.undo import noted, take_back, touched
from tests.stores import file_store, make

VOLATILE = {"updated", "version", "confirmed", "signature", "shown_signature", "distinct"}
CHANGES: dict[str, Callable[[Memory, Memory], Decision]] = {
    "revise": lambda one, two: Revise(one.id, {"content": "Other words. " * 9, "tags": ("x",)}),
    "pin": lambda one, two: Revise(one.id, {"pinned": True}),
    "forget": lambda one, two: Forget(one.id),
    "merge": lambda one, two: Merge(one.id, (two.id,), "Both of them in one text."),
    "settle": lambda one, two: Settle(one.id, (two.id,)),
    "settle both": lambda one, two: Settle(one.id, (two.id,), all_hold=True),
    "reinforce": lambda one, two: Reinforce(one.id),
    "reduce": lambda one, two: Reduce(one.id, Phase.ABSTRACT),
    "restore": lambda one, two: Restore(one.id),
    "supersede": lambda one, two: Supersede((one.id,), make("A newer one that takes its place")),
    "add": lambda one, two: Add(make("Quite another one")),
}


def fields(memory: Memory) -> dict[str, object]:
    return {name: value for name, value in memory._asdict().items() if name not in VOLATILE}


def pair(store: FileStore) -> tuple[Memory, Memory]:
    """Two memories in conflict."""
    texts = ("The cache keeps prices for ten minutes.\n\nMore of it.", "It keeps them for an hour.")
    one, two = (store.create(make(text[:20], text)).memory for text in texts)
    store.apply(Contradict((one.id,), two))
    return store.read(one.id).memory, store.read(two.id).memory


@pytest.mark.parametrize("name", CHANGES)
def test_every_change_is_taken_back(tmp_path: Path, name: str) -> None:
    store = file_store(tmp_path)
    one, two = pair(store)
    before = touched(store, [one.id])
    assert before.keys() == {one.id, two.id}  # a conflict is of both
    done = store.apply(CHANGES[name](one, two)).stored.memory
    undo = noted(store, before, () if done.id in before else (done.id,))
    take_back(store, undo)
    for each in (one, two):
        after = store.read(each.id).memory
        left_out = {"phase", "content"} if name == "reduce" else set()
        assert {k: v for k, v in fields(after).items() if k not in left_out} == {
            k: v for k, v in fields(each).items() if k not in left_out
        }
        assert after.text == each.text
    if done.id not in before:
        assert store.read(done.id).memory.status is Status.FORGOTTEN
    store.close()


@pytest.mark.parametrize("name", ["revise", "restore", "forget", "pin"])
@pytest.mark.parametrize("phase", [Phase.HINT, Phase.ABSTRACT, Phase.ARCHIVED])
def test_a_shortened_memory_is_as_short_again_and_loses_no_word(
    tmp_path: Path, name: str, phase: Phase
) -> None:
    store = file_store(tmp_path)
    memory = store.create(make("Long", "First sentence of it.\n\n" + "And more. " * 30)).memory
    short = store.apply(Reduce(memory.id, phase)).stored.memory
    assert short.text != memory.text
    before = touched(store, [memory.id])
    store.apply(CHANGES[name](short, short))
    take_back(store, noted(store, before))
    assert fields(store.read(memory.id).memory) == fields(short)
    assert store.apply(Restore(memory.id)).stored.memory.text == memory.text
    store.close()


def test_nothing_is_undone_over_a_later_change(tmp_path: Path) -> None:
    store = file_store(tmp_path)
    one, two = pair(store)
    before = touched(store, [one.id])
    store.apply(Forget(one.id))
    undo = noted(store, before)
    store.apply(Revise(two.id, {"tags": ("later",)}))
    with pytest.raises(Conflict, match="was changed since"):
        take_back(store, undo)
    assert store.read(one.id).memory.status is Status.FORGOTTEN
    store.close()


def test_a_change_that_changed_nothing_has_nothing_to_undo(tmp_path: Path) -> None:
    store = file_store(tmp_path)
    memory = store.create(make()).memory
    before = touched(store, [memory.id])
    store.apply(Revise(memory.id, {"tags": memory.tags}))
    assert noted(store, before).is_empty
    store.close()
