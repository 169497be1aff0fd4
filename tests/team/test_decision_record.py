"""A decision as JSON values: it comes back as it was, and what is unsound is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, get_args

import pytest

from ltm.decisions import (
    Add,
    Adopt,
    Contradict,
    Copy,
    Decision,
    Forget,
    Merge,
    Purge,
    Reduce,
    Reinforce,
    Restore,
    Revise,
    Settle,
    Sign,
    Supersede,
    decision_from,
    decision_record,
)
from ltm.errors import Refused
from ltm.model import Impact, Memory, Phase, Source, Status, Trust, as_record, utc
from ltm.team.outbox import Outbox

AT = utc("2026-03-01T10:00:00Z")
MEMORY = Memory("mem_one", "fact", "t", "s", "c", AT, AT, AT, tags=("a", "b"))
CHANGES = {
    "title": "x",
    "impact": Impact.HIGH,
    "tags": ("q",),
    "status": Status.ACTIVE,
    "source": Source(Trust.TOOL, "s-1"),
    "confirmed": AT,
    "phase": Phase.HINT,
    "pinned": True,
    "difficulty": 0.5,
}
DECISIONS: tuple[Decision, ...] = (
    Add(MEMORY),
    Adopt((Copy(MEMORY),)),
    Revise("mem_one", CHANGES),
    Reinforce("mem_one", Source(Trust.TOOL), wording=MEMORY, changes={"pinned": True}),
    Reinforce("mem_one"),
    Supersede(("mem_one",), MEMORY),
    Contradict(("mem_one", "mem_two"), MEMORY),
    Settle("mem_one", ("mem_two",), all_hold=True),
    Merge("mem_one", ("mem_two",), "all of it"),
    Forget("mem_one"),
    Restore("mem_one", 3),
    Purge("mem_one"),
    Reduce("mem_one", Phase.HINT),
    Sign("mem_one"),
)


def test_every_decision_is_among_them() -> None:
    assert {type(each) for each in DECISIONS} == set(get_args(Decision))


@pytest.mark.parametrize("decision", DECISIONS, ids=lambda each: type(each).__name__)
def test_a_decision_comes_back_as_it_was(decision: Decision) -> None:
    assert decision_from(json.loads(json.dumps(decision_record(decision)))) == decision


def test_what_it_says_of_files_here_does_not_travel() -> None:
    decisions: tuple[Decision, ...] = (
        Forget("mem_one", expected="etag"),
        Revise("mem_one", {}, "etag", b"edited"),
        Contradict(("mem_one",), MEMORY, {"mem_one": "etag"}),
        Adopt((Copy(MEMORY, over="etag"),)),
    )
    assert "etag" not in json.dumps([decision_record(each) for each in decisions])


def test_what_can_be_sent_waits_and_what_is_too_large_does_not(tmp_path: Path) -> None:
    outbox = Outbox(str(tmp_path))
    largest = MEMORY._replace(content="\U0001f980" * (256 * 1024))
    changed = Revise("mem_one", {"content": largest.content[1:]})
    outbox.put(changed, "", largest)
    (waiting,) = outbox.waiting()
    assert decision_from(waiting.record) == changed
    many = Adopt((Copy(largest), Copy(largest), Copy(largest)))
    with pytest.raises(Refused, match="more than a team takes at once"):
        outbox.put(many)
    assert outbox.count() == 1, "an import tries each of them then"


def memory(**fields: Any) -> dict[str, Any]:
    return {"decision": "add", "memory": {**as_record(MEMORY), **fields}}


@pytest.mark.parametrize(
    "record",
    [
        {},
        {"decision": "drop"},
        {"decision": "add"},
        {"decision": "add", "memory": {}},
        {"decision": "add", "memory": "mem_one"},
        {"decision": "adopt", "copies": [3]},
        {"decision": "forget", "id": ["mem_one"]},
        {"decision": "restore", "id": "mem_one", "version": "1"},
        {"decision": "restore", "id": "mem_one", "version": True},
        {"decision": "settle", "id": "a", "others": ["b"], "all_hold": 1},
        {"decision": "revise", "id": "mem_one", "changes": {"nothing": 1}},
        {"decision": "revise", "id": "mem_one", "changes": {"pinned": 1}},
        {"decision": "revise", "id": "mem_one", "changes": {"title": None}},
        memory(id="../escape"),
        memory(tags=[1]),
        memory(difficulty=7),
        memory(observations="9"),
        memory(observations=-1),
        memory(kind="no such kind"),
        memory(content=None),
        memory(created="some day"),
        memory(source={"trust": "user", "session": 3}),
        memory(source={"trust": "god"}),
    ],
    ids=str,
)
def test_an_unsound_decision_is_refused(record: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"."):
        decision_from(record)
