"""A store that answers first: the file is on the disk, and its index is made to know it later.

Whoever asks in between, and whatever happens, sees what a store that does all at once would show.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from benchmarks.corpus import memories
from ltm.decisions import Contradict, Forget, Merge, Reinforce, Revise, Settle, Supersede
from ltm.index import index
from ltm.model import Filter, Source, Status
from ltm.store.file_store import FileStore
from ltm.vault import codec
from tests.stores import file_store, make

ALL = Filter(statuses=tuple(Status))


def shown(store: FileStore) -> set[tuple[str, str, str]]:
    """What a store holds: titles, statuses and the fingerprints of the files."""
    return {(each.memory.title, each.memory.status, each.etag) for each in store.list(ALL).items}


def on_disk(folder: Path) -> set[tuple[str, str, str]]:
    """The same as an index says that is made anew from the files."""
    with closing(file_store(folder)) as store:
        store.rebuild()
        return shown(store)


def let_others_ask(store: FileStore, folder: Path) -> None:
    with closing(file_store(folder)) as other:
        assert len(shown(other)) == len(os.listdir(store.vaults[0].memories))


def let_others_change(store: FileStore, folder: Path) -> None:
    with closing(file_store(folder)) as other:
        for each in other.list(Filter()).items:
            other.apply(Revise(each.memory.id, {"tags": ("others",)}))
        other.create(make("From another process"))


def let_others_purge(store: FileStore, folder: Path) -> None:
    with closing(file_store(folder)) as other:
        for each in other.list(ALL).items:
            other.delete(each.memory.id, purge=True)


def edit_by_hand(store: FileStore, folder: Path) -> None:
    for name in os.listdir(store.vaults[0].memories):
        path = Path(store.vaults[0].path(name))
        path.write_text(path.read_text().replace("kind: fact", "kind: gotcha"))


MEANWHILE = (
    lambda store, folder: None,
    lambda store, folder: store.finish(),
    let_others_ask,
    let_others_change,
    let_others_purge,
    edit_by_hand,
)


@pytest.mark.parametrize("meanwhile", MEANWHILE)
@pytest.mark.parametrize("ends", ["finishes", "asks at once", "is killed"])
def test_what_happens_after_the_answer_makes_no_difference(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    meanwhile: Callable[[FileStore, Path], None],
    ends: str,
) -> None:
    if meanwhile is not edit_by_hand:  # a large vault, where a wrong row is not found at once
        monkeypatch.setattr(index, "STAT_BUDGET", 0)
        monkeypatch.setattr(index, "SLICE", 1)
    store = file_store(tmp_path, answers_first=True)
    store.create(make("First"))
    store.finish()
    kept = store.create(make("Second"))
    assert os.path.exists(kept.path)
    meanwhile(store, tmp_path)
    if ends == "is killed":
        store = file_store(tmp_path, answers_first=True)
    elif ends == "finishes":
        store.finish()
    with closing(store):
        seen = shown(store)
        store.finish()
        assert seen == shown(store) == on_disk(tmp_path)


def test_every_kind_of_change_is_seen_by_the_next_question(tmp_path: Path) -> None:
    with closing(file_store(tmp_path, answers_first=True)) as store:
        one, other, third, fourth = (store.create(make(f"Title {n}")).memory.id for n in range(4))
        for change in (
            Revise(one, {"content": "other words"}),
            Reinforce(one, Source(), wording=make("Title 0", "yet other words")),
            Contradict((one, other), make("Against both"), {}),
            Settle(one, (other,), all_hold=True),
            Supersede((other,), make("In its place")),
            Merge(one, (third,), "both in one", {}),
            Forget(fourth),
        ):
            store.apply(change)
            assert shown(store) == on_disk(tmp_path), change
        store.delete(one, purge=True)
        assert shown(store) == on_disk(tmp_path)
        assert one not in {each.memory.id for each in store.list(ALL).items}


def test_the_files_of_a_large_vault_are_all_looked_at_after_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index, "STAT_BUDGET", 10)
    monkeypatch.setattr(index, "SLICE", 7)
    with closing(file_store(tmp_path, answers_first=True)) as store:
        vault = store.vaults[0]
        vault.prepare()
        for memory in memories(30):
            Path(vault.path(codec.file_name(memory))).write_bytes(codec.to_bytes(memory))
        last = sorted(os.listdir(vault.memories))[-1]
        store.list(Filter())
        store.finish()
        path = Path(vault.path(last))
        path.write_bytes(path.read_bytes().replace(b"\nkind: ", b"\npinned: true\nkind: "))
        for _ in range(30 // 7 + 1):
            store.list(Filter())
            store.finish()
        assert [each.memory.pinned for each in store.list(Filter()).items].count(True) == 1
