"""The state of memory-mcp moves in."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ltm.decisions import Restore
from ltm.model import Phase, Status, iso
from tests.transfer.importing import Machine, write


def memory(number: int, kind: str, content: str, **more: object) -> dict[str, object]:
    """One of its memories; its id ends in six letters."""
    return {
        "id": f"mem_170634560000{number}_{'abcdef'[number] * 6}",
        "type": kind,
        "content": content,
        "tags": [],
        "created": "2026-01-27T09:00:00.000Z",
        "updated": "2026-01-28T09:00:00.000Z",
        "confidence": 1,
        "accessCount": 0,
        **more,
    }


def memory_mcp(root: Path) -> Path:
    """A state as that tool leaves it."""
    forms = "mem_1706345600001_bbbbbb"
    memories = [
        memory(0, "architecture", "Stripe in lib", tags=["billing"], accessCount=25),
        memory(1, "decision", "Forms of our own", tags=["billing", "superseded"]),
        memory(2, "decision", "Stripe Checkout", supersedes=forms),
        memory(3, "progress", "Half done", confidence=0.57),
        memory(4, "gotcha", "Raw body needed", tags=["archived"], confidence=0.4),
        memory(5, "pattern", "Merged", mergedFrom=[forms]),
        {"id": "broken"},
    ]
    return write(
        root / ".memory" / "state.json",
        {
            "version": 2,
            "project": "Shop",
            "description": "Sells things",
            "memories": memories,
            "extractionCount": 3,
        },
    )


def test_a_memory_mcp_state_moves_in(machine: Machine) -> None:
    """traps 2.4 #13, #14, 2.6 #9: states that were tags, confidence that would fade twice, ids."""
    memory_mcp(machine.project)
    report = machine.take(machine.project)
    assert (report.sources, report.added) == (["memory-mcp"], 7)
    assert [problem.message for problem in report.problems] == ["memory 7 has no content"]
    found = machine.by_legacy()
    stripe = found["mem_1706345600000_aaaaaa"]
    assert (stripe.kind, stripe.tags) == ("architecture", ("billing",))
    assert (iso(stripe.created), iso(stripe.updated), stripe.confirmed) == (
        "2026-01-27T09:00:00Z",
        "2026-01-28T09:00:00Z",
        stripe.created,
    )
    assert machine.store().usage([stripe.id])[stripe.id].uses == 10
    old, new = found["mem_1706345600001_bbbbbb"], found["mem_1706345600002_cccccc"]
    assert (old.status, old.tags) == (Status.SUPERSEDED, ("billing",))
    assert new.supersedes == (old.id,)
    assert found["mem_1706345600003_dddddd"].confidence == 1.0
    archived = found["mem_1706345600004_eeeeee"]
    assert (archived.phase, archived.confidence) == (Phase.ARCHIVED, 0.4)
    assert machine.store().apply(Restore(archived.id)).stored.memory.content == "Raw body needed"
    assert found["mem_1706345600005_ffffff"].merged_from == (old.id,)
    assert found["description"].title == "About Shop"
    assert machine.store().read("mem_1706345600000_aaaaaa").memory == stripe, "old ids still work"


def test_what_changed_in_the_source_is_taken_with_merge_and_the_former_text_kept(
    machine: Machine,
) -> None:
    path = memory_mcp(machine.project)
    machine.take(machine.project)
    state = json.loads(path.read_text())
    state["memories"][0] |= {"content": "Stripe moved to pay", "updated": "2026-03-01T09:00:00Z"}
    state["memories"][2] |= {"content": "older edit", "updated": "2026-01-01T09:00:00Z"}
    write(path, state)
    assert machine.take(path).updated == 0, "without --merge what is known stays as it is"
    report = machine.take(path, merge=True)
    assert (report.added, report.updated) == (0, 1)
    changed = machine.by_legacy()["mem_1706345600000_aaaaaa"]
    assert changed.content == "Stripe moved to pay"
    assert [each.content for each in machine.originals(changed)] == ["Stripe in lib"]
    assert machine.take(path, merge=True).updated == 0
    edited = machine.store().update(changed.id, {"content": "mine"}).memory
    assert machine.take(path, merge=True).updated == 0
    assert machine.by_legacy()["mem_1706345600000_aaaaaa"] == edited


@pytest.mark.parametrize("cut", [0.3, 0.6, 0.95])
def test_a_state_that_is_cut_off_is_refused_whole(machine: Machine, cut: float) -> None:
    path = memory_mcp(machine.project)
    text = path.read_text()
    path.write_text(text[: int(len(text) * cut)])
    report = machine.take(path)
    assert (report.added, machine.memories()) == (0, [])
    (problem,) = report.problems
    assert "is not valid JSON" in problem.message
    assert problem.line == 1


def test_a_file_that_is_cut_off_anywhere_is_told(machine: Machine, tmp_path: Path) -> None:
    memory = {"id": "m1", "type": "fact", "content": "C:\\a \u00e9", "confidence": 0.5, "x": None}
    whole = json.dumps({"version": 2, "memories": [memory], "last": True})
    for end in range(whole.index('"m1"'), len(whole)):
        report = machine.take(write(tmp_path / "state.json", whole[:end]), "memory-mcp")
        assert "the file is cut off" in report.problems[0].message, whole[:end]
        assert report.added == 0
