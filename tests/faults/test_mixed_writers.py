"""Writers of every sort at once: what each was told is what the files say.

Row R6 in small; `benchmarks.writers` does it in full, with the same code. And what a writer decided
by a text that another changed before it could act.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from benchmarks.writers import SPREAD, WRONG, held, run_writers
from ltm.capture.remember import RememberRequest, remember
from ltm.decisions import Reinforce, Revise
from ltm.model import Filter, Memory, Status
from ltm.store.file_store import FileStore
from ltm.store.store import Matches
from tests.stores import file_store

CHANGES = 14
"""Of each writer: twice all that one of them can do."""


def test_what_writers_of_every_sort_were_told_is_what_the_files_say(tmp_path: Path) -> None:
    ways = SPREAD[:8]
    assert set(ways) == set(SPREAD)
    found = run_writers(tmp_path, ways, CHANGES)
    assert (found["errors"], {name: found[name] for name in WRONG}) == ([], dict.fromkeys(WRONG, 0))
    assert found["through"] == dict.fromkeys(SPREAD, 2 * CHANGES)
    assert held(found, len(ways) * CHANGES)


RULE = "Releases leave on Tuesdays after the weekly planning of the platform team"
OTHER = "The zebra enclosure opens at nine"


@pytest.fixture
def ours(tmp_path: Path) -> Iterator[FileStore]:
    store = file_store(tmp_path)
    yield store
    store.close()


@pytest.fixture
def theirs(tmp_path: Path) -> Iterator[FileStore]:
    store = file_store(tmp_path)
    yield store
    store.close()


def overtake(
    monkeypatch: pytest.MonkeyPatch, store: FileStore, act: Callable[[], object], times: int = 1
) -> None:
    """Between a look of this store at what is known and what it does then, others act."""
    search, left = store.search, [times]

    def looked(query: str, wanted: Filter, limit: int) -> Matches:
        found = search(query, wanted, limit)
        if left[0]:
            left[0] -= 1
            act()
        return found

    monkeypatch.setattr(store, "search", looked)


def keep(store: FileStore, text: str) -> Memory:
    wish = RememberRequest(text, kind="fact", scope="project")
    return remember(store, wish).applied.stored.memory


def in_force(store: FileStore) -> list[str]:
    return sorted(each.memory.content for each in store.list(Filter()).items)


def test_a_memory_that_changes_while_it_is_looked_for_is_found(
    ours: FileStore, theirs: FileStore
) -> None:
    """It got another row in the index between two statements of one search."""
    known, other = keep(theirs, RULE), keep(theirs, OTHER)
    (index,) = [index for _, index in ours._vaults.fresh()]
    begun: list[str] = []

    def change(statement: str) -> None:
        begun.append(statement)
        for each in (known, other):  # the last row's number would be given to it again
            theirs.apply(Reinforce(each.id))

    index._db.set_trace_callback(change)
    found = ours.search(RULE, Filter(), 5)
    index._db.set_trace_callback(None)
    assert len([each for each in begun if each.startswith("SELECT")]) > 3
    assert [each.stored.memory.id for each in found.items] == [known.id]
    assert theirs.read(known.id).memory.observations == len(begun) + 1


@pytest.mark.parametrize("said", [RULE, f"{RULE}, never on Fridays"], ids=["same", "better"])
def test_what_was_known_until_someone_edited_it_is_kept_and_the_edit_too(
    ours: FileStore, theirs: FileStore, monkeypatch: pytest.MonkeyPatch, said: str
) -> None:
    """In the same words or in better ones, which would have replaced what is no longer there."""
    known = keep(theirs, RULE)
    edit = Revise(known.id, {"title": OTHER, "summary": OTHER, "content": OTHER})
    overtake(monkeypatch, ours, lambda: theirs.apply(edit))
    keep(ours, said)
    assert in_force(ours) == sorted([OTHER, said])


def test_what_was_known_until_someone_forgot_it_is_kept(
    ours: FileStore, theirs: FileStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = keep(theirs, RULE)
    overtake(monkeypatch, ours, lambda: theirs.delete(known.id))
    assert keep(ours, RULE).status is Status.ACTIVE
    assert in_force(ours) == [RULE]
    assert ours.read(known.id).memory.status is Status.FORGOTTEN


def test_what_was_known_until_someone_purged_it_is_kept(
    ours: FileStore, theirs: FileStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = keep(theirs, RULE)
    overtake(monkeypatch, ours, lambda: theirs.delete(known.id, purge=True))
    keep(ours, RULE)
    assert in_force(ours) == [RULE]


def test_who_is_overtaken_by_others_who_say_the_same_confirms_it_with_them(
    ours: FileStore, theirs: FileStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = keep(theirs, RULE)
    overtake(monkeypatch, ours, lambda: theirs.apply(Reinforce(known.id)), times=3)
    assert keep(ours, RULE).id == known.id
    assert ours.read(known.id).memory.observations == 5


def test_who_is_overtaken_without_end_keeps_what_was_said_next_to_the_other(
    ours: FileStore, theirs: FileStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = keep(theirs, RULE)
    overtake(monkeypatch, ours, lambda: theirs.apply(Reinforce(known.id)), times=1_000)
    assert keep(ours, RULE).id != known.id
    assert in_force(ours) == [RULE, RULE]
