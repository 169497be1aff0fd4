"""A memory is found by its id, or by as much of it as is meant for one memory only."""

from __future__ import annotations

from pathlib import Path

import pytest

from ltm.core.decision import Add
from ltm.core.errors import Ambiguous, NotFound
from ltm.core.model import Scope
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
