"""Several vaults as one: a memory is found in any of them, and every index is taken care of."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from ltm.decisions import Add
from ltm.errors import Ambiguous, NotFound
from ltm.model import Scope
from tests.stores import file_store, make


def test_three_letters_of_an_id_are_enough_if_they_fit_one_memory(tmp_path: Path) -> None:
    store = file_store(tmp_path)
    for name in ("abc1234567", "abd1234567"):
        store.apply(Add(make(name, id=f"mem_{name}")))
    store.apply(Add(make("far", id="mem_xyz1234567", scope=Scope.AGENT)))
    assert store.read("mem_abc").memory.title == "abc1234567"
    assert store.read("abd").memory.title == "abd1234567"
    assert store.read("xyz").memory.title == "far"
    with pytest.raises(NotFound):
        store.read("xy")
    with pytest.raises(NotFound):
        store.read("abz")
    with pytest.raises(Ambiguous, match="'mem_ab' fits several") as caught:
        store.read("mem_ab")
    assert caught.value.hint == "type more of the id"
    store.close()


def test_a_whole_id_is_never_ambiguous_and_of_many_five_are_shown(tmp_path: Path) -> None:
    store = file_store(tmp_path)
    for end in ("", *"0123456789"):
        store.apply(Add(make(f"number {end}", id=f"mem_abcdef{end}")))
    assert store.read("mem_abcdef").memory.title.strip() == "number"
    with pytest.raises(Ambiguous) as caught:
        store.read("mem_abcde")
    assert str(caught.value).count("mem_abcdef") == 5
    store.close()


@pytest.mark.parametrize("folder", ["project", "agent"])
def test_the_index_of_every_vault_is_checked(tmp_path: Path, folder: str) -> None:
    store = file_store(tmp_path)
    store.apply(Add(make("near", "some words")))
    store.apply(Add(make("far", "some words", scope=Scope.AGENT)))
    store.close()
    path = tmp_path / folder / "index.db"
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("UPDATE texts SET data = replace(data, 'some words', 'other lies')")
    store = file_store(tmp_path)
    store.check(at_once=True)
    store.close()
    with closing(sqlite3.connect(path)) as db:
        (data,) = db.execute("SELECT data FROM texts").fetchone()
    assert "some words" in data
    assert "other lies" not in data
