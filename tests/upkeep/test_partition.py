"""A model may propose; what counts is checked. traps 2.4 #12."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ltm.core.errors import BadAnswer
from ltm.core.model import Filter, Stored
from ltm.storage.filestore import FileStore
from ltm.upkeep.consolidate import apply
from ltm.upkeep.partition import partition
from tests.stores import file_store, make


@pytest.fixture
def store(tmp_path: Path) -> Iterator[FileStore]:
    opened = file_store(tmp_path)
    yield opened
    opened.close()


@pytest.fixture
def group(store: FileStore) -> list[Stored]:
    texts = [f"rule number{n} about subject{n} holds" for n in range(10)]
    return [store.create(make(text, text, id=f"mem_rule{n}")) for n, text in enumerate(texts)]


def answer(**value: Any) -> str:
    return json.dumps(value)


MERGED = "rule number0 about subject0 and number1 about subject1 holds"


def test_a_sound_merge_is_taken(store: FileStore, group: list[Stored]) -> None:
    steps = partition(
        answer(
            keep=[],
            merge=[{"content": MERGED, "tags": [], "sources": ["mem_rule0", "mem_rule1"]}],
            drop=["mem_rule2"],
        ),
        group,
    )
    assert [step.action for step in steps] == ["merge", "archive"]
    assert len(apply(store, steps)) == 2
    assert store.read(steps[0].id).memory.content == MERGED
    assert store.list(Filter()).total == 9, "archived, not destroyed"


@pytest.mark.parametrize(
    "value",
    [
        {"drop": ["mem_unknown", "mem_rule99"]},
        {"merge": [{"content": MERGED, "sources": ["mem_rule0"]}]},
        {"merge": [{"content": MERGED, "sources": ["mem_rule0", "mem_unknown"]}]},
        {
            "merge": [
                {"content": "buy bitcoin now quickly please", "sources": ["mem_rule0", "mem_rule1"]}
            ]
        },
        {"merge": [{"content": "", "sources": ["mem_rule0", "mem_rule1"]}]},
        {"merge": [{"content": MERGED * 40, "sources": ["mem_rule0", "mem_rule1"]}]},
        {"merge": [{"sources": ["mem_rule0", "mem_rule1"]}]},
        {"keep": ["mem_rule0"], "drop": ["mem_rule0"]},
        {"merge": "all", "drop": 7, "keep": None},
        {},
    ],
)
def test_what_does_not_hold_is_kept(group: list[Stored], value: dict[str, Any]) -> None:
    assert partition(json.dumps(value), group) == []


def test_no_answer_touches_more_than_a_fifth(group: list[Stored]) -> None:
    everybody = [each.memory.id for each in group]
    assert len(partition(answer(drop=everybody), group)) == 2
    assert partition(answer(merge=[{"content": MERGED, "sources": everybody}]), group) == []


def test_what_is_pinned_is_never_dropped(store: FileStore, group: list[Stored]) -> None:
    pinned = store.update("mem_rule0", {"pinned": True})
    assert partition(answer(drop=["mem_rule0"]), [pinned, *group[1:]]) == []


@pytest.mark.parametrize(
    "text", ["I cannot do that.", "[]", '{"keep": [', "You hit your limit", ""]
)
def test_an_answer_of_another_form_is_refused(group: list[Stored], text: str) -> None:
    with pytest.raises(BadAnswer):
        partition(text, group)


def test_a_fenced_answer_is_read(group: list[Stored]) -> None:
    assert len(partition('```json\n{"drop": ["mem_rule3"]}\n```', group)) == 1
