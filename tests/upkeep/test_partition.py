"""A model may propose; what counts is checked. traps 2.4 #12."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ltm.errors import BadAnswer
from ltm.model import Filter, Stored
from ltm.store.file_store import FileStore
from ltm.upkeep.consolidate import SHARE, apply, partition, propose
from tests.figures import count
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
        3,
    )
    assert [step.action for step in steps] == ["merge", "archive"]
    assert sum(1 + len(step.ids) for step in steps) == 3
    assert len(apply(store, steps)) == 2
    assert store.read(steps[0].id).memory.content == MERGED
    assert store.list(Filter()).total == 9, "archived, not destroyed"


@pytest.mark.parametrize(
    ("texts", "merged"),
    [
        (("The pool has 10 connections", "The pool is shared"), "The pool is shared"),
        (("Never deploy on Friday", "Deploy with make"), "Deploy on Friday with make"),
        (("Use BuildKit to build", "Pass --no-cache to build"), "Use a cache to build"),
    ],
)
def test_a_merge_that_loses_a_number_a_name_or_a_denial_is_none(
    store: FileStore, texts: tuple[str, str], merged: str
) -> None:
    known = [store.create(make(text, text)) for text in texts]
    ids = [each.memory.id for each in known]
    said = answer(keep=[], merge=[{"content": merged, "tags": [], "sources": ids}], drop=[])
    assert partition(said, known, 5) == []
    whole = " and ".join(texts)
    said = answer(keep=[], merge=[{"content": whole, "tags": [], "sources": ids}], drop=[])
    assert len(partition(said, known, 5)) == 1
    apart = [known[0], known[1]._replace(memory=known[1].memory._replace(distinct=(ids[0],)))]
    assert partition(said, apart, 5) == []


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
    assert partition(json.dumps(value), group, 10) == []


def test_no_answer_touches_more_than_it_may(group: list[Stored]) -> None:
    everybody = [each.memory.id for each in group]
    assert len(partition(answer(drop=everybody), group, 2)) == 2
    assert partition(answer(merge=[{"content": MERGED, "sources": everybody}]), group, 2) == []
    pair = [{"content": MERGED, "sources": ["mem_rule0", "mem_rule1"]}]
    assert partition(answer(merge=pair), group, 1) == [], "a pair is two: reworded and taken in"
    assert len(partition(answer(merge=pair, drop=["mem_rule2"]), group, 2)) == 1


class Ruinous:
    """A model that wants all gone, or all of it made one, whatever it is asked about."""

    def __init__(self, way: str) -> None:
        self.way = way

    def ask(self, system: str, prompt: str) -> str:
        lines = [line.split(" ", 1) for line in prompt.split("\n")[1:-2]]
        ids = [name for name, _ in lines]
        if self.way == "drop":
            return answer(drop=ids)
        pairs = zip(lines[::2], lines[1::2], strict=False)
        merges = [{"content": f"{a[1]} {b[1]}", "sources": [a[0], b[0]]} for a, b in pairs]
        return answer(merge=merges, drop=ids[len(merges) * 2 :])


@pytest.mark.parametrize("way", ["drop", "merge"])
@pytest.mark.parametrize("kinds", [1, 4])
def test_no_run_drops_or_rewords_more_than_a_fifth_of_all_there_is(
    store: FileStore, way: str, kinds: int
) -> None:
    """Reliability R18: whatever kinds a model is asked about, one after the other."""
    names = ("fact", "pattern", "decision", "preference")[:kinds]
    for number in range(40):
        text = f"rule number{number} about subject{number} holds"
        store.create(make(text, text, id=f"mem_rule{number}", kind=names[number % kinds]))
    before = {each.memory.id: each.memory for each in store.list(Filter()).items}
    apply(store, propose(store, Ruinous(way)))  # type: ignore[arg-type]
    after = {each.memory.id: each.memory for each in store.list(Filter()).items}
    touched = [name for name in before if before[name] != after.get(name)]
    count("R18", memories_at_stake=len(before), changed_by_a_ruinous_model=len(touched))
    assert 0 < len(touched) <= len(before) // SHARE


def test_what_is_pinned_is_never_dropped(store: FileStore, group: list[Stored]) -> None:
    pinned = store.update("mem_rule0", {"pinned": True})
    assert partition(answer(drop=["mem_rule0"]), [pinned, *group[1:]], 2) == []


@pytest.mark.parametrize(
    "text", ["I cannot do that.", "[]", '{"keep": [', "You hit your limit", ""]
)
def test_an_answer_of_another_form_is_refused(group: list[Stored], text: str) -> None:
    with pytest.raises(BadAnswer):
        partition(text, group, 2)


def test_a_fenced_answer_is_read(group: list[Stored]) -> None:
    assert len(partition('```json\n{"drop": ["mem_rule3"]}\n```', group, 2)) == 1
