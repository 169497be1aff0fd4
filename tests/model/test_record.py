"""A memory as JSON values and back, and what is no memory."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltm.model import (
    Impact,
    Memory,
    Phase,
    Scope,
    Status,
    Trust,
    as_record,
    from_record,
    short_record,
)
from tests.stores import make
from tests.vault.strategies import memories


@given(memories)
def test_a_memory_comes_back_from_json_as_it_was(memory: Memory) -> None:
    assert from_record(json.loads(json.dumps(as_record(memory)))) == memory


@given(memories)
def test_a_short_record_leaves_out_only_what_is_as_usual(memory: Memory) -> None:
    short = json.loads(json.dumps(short_record(memory)))
    assert from_record(short) == memory
    assert short.items() <= as_record(memory).items()


def test_a_short_record_of_an_ordinary_memory_is_its_words_and_its_dates() -> None:
    assert list(short_record(make())) == [
        *("id", "kind", "title", "summary", "content"),
        *("created", "updated", "confirmed"),
    ]


def test_what_a_record_leaves_out_is_as_usual() -> None:
    record = as_record(make())
    needed = ("id", "kind", "title", "summary", "content", "created", "updated", "confirmed")
    memory = from_record({name: record[name] for name in needed} | {"unknown": 1})
    assert (memory.scope, memory.impact, memory.status, memory.phase) == (
        Scope.PROJECT,
        Impact.MEDIUM,
        Status.ACTIVE,
        Phase.FULL,
    )
    assert (memory.source.trust, memory.source.session, memory.tags) == (Trust.USER, "", ())


@pytest.mark.parametrize(
    "change",
    [
        {"created": None},
        {"created": "some day"},
        {"tags": 3},
        {"source": "me"},
        {"source": {"trust": "nobody"}},
        {"phase": 17},
        {"status": "unheard of"},
    ],
)
def test_what_is_no_memory_is_told_in_one_way(change: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"."):
        from_record(as_record(make()) | change)


@given(st.dictionaries(st.sampled_from(list(as_record(make()))), st.none() | st.integers()))
def test_whatever_a_record_holds_it_is_a_memory_or_a_value_error(record: dict[str, Any]) -> None:
    try:
        found = from_record(record)
    except ValueError:
        return
    assert isinstance(found, Memory)
