"""An export meets a store that is not empty: nothing is overwritten unasked or comes twice."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from ltm.decisions import Forget, Restore, Revise
from ltm.errors import BadFile, NotFound, Refused, WrongUsage
from ltm.model import Filter, Memory, Scope, Status, as_record
from tests.stores import START, file_store, make
from tests.transfer.importing import Machine, counts, snapshot, write

LATER = START + timedelta(days=1)


def export(path: Path, *memories: Memory, agent: str = "default", **head: Any) -> Path:
    """An export with these memories, laid out as `ltm export` does."""
    top = {
        "format": "ltm",
        "version": 2,
        "exported_at": "2026-01-01T00:00:00Z",
        "agent": {"name": agent},
        "project": {"id": "x", "name": "x"},
        **head,
    }
    lines = ",\n".join(json.dumps(as_record(memory)) for memory in memories)
    return write(
        path,
        f'{json.dumps(top)[:-1]},\n"memories":[\n{lines}\n],"count":{len(memories)}}}\n',
    )


@pytest.fixture
def file(tmp_path: Path) -> Callable[..., Path]:
    return lambda *memories, **more: export(tmp_path / "e.json", *memories, **more)


def test_an_id_that_is_here_is_refused_without_merge(
    machine: Machine, file: Callable[..., Path]
) -> None:
    one, two = make("one"), make("two")
    machine.take(file(one))
    changed = one._replace(content="changed", updated=LATER)
    with pytest.raises(Refused, match="holds 1 memory that you have already") as refused:
        machine.take(file(two, changed))
    assert "--merge" in refused.value.hint
    assert machine.memories() == [one], "refused before anything is written"


def test_a_file_that_brings_nothing_new_is_refused_without_merge(
    machine: Machine, file: Callable[..., Path]
) -> None:
    memory = make()
    machine.take(file(memory))
    with pytest.raises(Refused, match="you have already"):
        machine.take(file(memory))
    assert counts(machine.take(file(memory), merge=True)) == (0, 0, 1)


def test_a_run_that_was_cut_short_is_finished_by_the_same_command(
    machine: Machine, file: Callable[..., Path]
) -> None:
    memories = [make(f"m{n}") for n in range(5)]
    machine.take(file(*memories[:3]))
    assert counts(machine.take(file(*memories))) == (2, 0, 3)


def test_what_disagrees_with_a_memory_here_is_linked_with_it_and_nothing_is_replaced(
    machine: Machine, file: Callable[..., Path]
) -> None:
    here = machine.store().create(make("The timeout", "The request timeout is 30 seconds")).memory
    path = file(
        disagrees := make("The timeout", "The request timeout is 60 seconds"),
        changed := make("The timeout", "The request timeout is now 90 seconds, no longer 30"),
        other := make("The branch", "We deploy from the main branch"),
    )
    planned = machine.take(path, dry_run=True)
    report = machine.take(path)
    assert (planned.conflicts, report.conflicts) == (2, 2)
    found = {memory.id: memory for memory in machine.memories()}
    assert {*found[here.id].conflicts} == {disagrees.id, changed.id}
    assert found[disagrees.id].conflicts == found[changed.id].conflicts == (here.id,)
    assert found[other.id] == other
    assert {memory.status for memory in found.values()} == {Status.ACTIVE}
    assert {memory.text for memory in found.values()} >= {here.text, disagrees.text, changed.text}


def test_what_lay_side_by_side_in_a_file_opens_no_conflict(
    machine: Machine, file: Callable[..., Path]
) -> None:
    ports = [make("Port", f"The server listens on port {n}") for n in (80, 443, 8080)]
    machine.take(file(*ports[:1]))
    assert machine.take(file(*ports)).conflicts == 0
    assert machine.memories() == sorted(ports, key=lambda each: each.id)


def test_merging_takes_what_is_newer_and_keeps_the_former_text(
    machine: Machine, file: Callable[..., Path]
) -> None:
    older, newer, same = make("older"), make("newer"), make("same")
    machine.take(file(older, newer, same))
    update = newer._replace(content="their words", updated=LATER, version=7)
    stale = older._replace(content="stale words", updated=START - timedelta(days=1))
    report = machine.take(file(stale, update, same), merge=True)
    assert counts(report) == (0, 1, 2)
    found = {memory.id: memory for memory in machine.memories()}
    assert found == {older.id: older, newer.id: update, same.id: same}
    assert [each.content for each in machine.originals(update)] == [newer.content]


def test_a_newer_edit_elsewhere_wins_even_if_it_was_imported_before_ours(
    machine: Machine, file: Callable[..., Path]
) -> None:
    """`updated` travels with the memory: the moment of an import is not an edit."""
    memory = make()
    machine.take(file(memory))
    first = memory._replace(content="first edit", updated=LATER)
    machine.take(file(first), merge=True, at=LATER + timedelta(days=30))
    second = memory._replace(content="second edit", updated=LATER + timedelta(days=1))
    assert machine.take(file(second), merge=True).updated == 1


def test_a_dry_run_tells_the_same_and_changes_nothing(
    machine: Machine, file: Callable[..., Path]
) -> None:
    one, two = make("one"), make("two")
    machine.take(file(one))
    path = file(one._replace(content="x", updated=LATER), two)
    report = machine.take(path, merge=True, dry_run=True)
    assert counts(report) == (1, 1, 0)
    assert report.as_record()["dry_run"] is True
    assert machine.memories() == [one]
    with pytest.raises(Refused):
        machine.take(path, dry_run=True)


def test_an_agents_own_memories_go_to_that_agent_or_to_whom_the_person_says(
    machine: Machine, file: Callable[..., Path]
) -> None:
    """traps 2.3 #13: there is something to remap."""
    mine, ours = make("mine", scope=Scope.AGENT), make("ours")
    path = file(mine, ours, agent="reviewer")
    report = machine.take(path)
    assert report.elsewhere == {"reviewer": 1}
    assert machine.memories() == [ours]
    assert machine.memories(agent="reviewer") == [mine, ours]
    machine.take(path, merge=True, remap_agent="default")
    assert machine.memories() == [mine, ours]
    with pytest.raises(WrongUsage, match="name of an agent"):
        machine.take(path, remap_agent="../../etc")


def test_a_newer_format_is_refused_without_a_write(
    machine: Machine, file: Callable[..., Path]
) -> None:
    """reliability R21"""
    with pytest.raises(Refused, match="newer ltm") as refused:
        machine.take(file(make(), version=3))
    assert "update ltm" in refused.value.hint
    assert not machine.home.exists() or machine.memories() == []


def test_a_file_that_is_cut_off_gives_what_is_whole(
    machine: Machine, file: Callable[..., Path]
) -> None:
    path = file(make("one"), make("two"), make("three"))
    text = path.read_text()
    path.write_text(text[: text.index('"three"') + 3])
    report = machine.take(path)
    assert report.added == 2
    assert [(p.line, p.message) for p in report.problems] == [
        (5, "a memory is not an object"),
        (0, "the file is cut off; the rest was read"),
    ]
    path.write_text(text)
    assert machine.take(path).added == 1
    path.write_text('{"format":"ltm"')
    with pytest.raises(BadFile, match=r"not a whole export"):
        machine.take(path)


BAD: dict[str, list[object]] = {
    "id": ["../../etc/passwd", "mem_", "", 7, None, "MEM_ABC"],
    "kind": ["nonsense", 1],
    "title": ["", " ", "two\nlines", None],
    "summary": [None, "nul\0", "\ud800"],
    "content": [1, ["x"]],
    "created": ["yesterday", "", None, 5, "9999-12-31T23:59:59Z", "0001-01-01T00:00:00Z"],
    "updated": ["x"],
    "scope": ["galaxy", 1],
    "impact": ["huge"],
    "status": ["gone"],
    "tags": ["a,b", [1], {"a": 1}],
    "pinned": ["yes", 1],
    "difficulty": [-0.1, 1.1, "0.5", True],
    "confidence": [2],
    "observations": [0, 1.5, 10**12, True],
    "version": [0, "1"],
    "phase": [4, -1, "0"],
    "supersedes": ["mem_x"],
    "links": [[None]],
    "source": ["user", ["x"], {"trust": "god"}, {"session": 1}],
    "versions": [[{"id": "mem_other"}], ["x"]],
}


@pytest.mark.parametrize("field", sorted(BAD))
def test_a_field_that_cannot_be_is_told_with_its_line_and_hides_no_other(
    machine: Machine, tmp_path: Path, field: str
) -> None:
    records = [{**as_record(make(f"m{n}")), field: bad} for n, bad in enumerate(BAD[field])]
    good = as_record(make("good"))
    lines = ",\n".join(json.dumps(record) for record in [*records, good])
    head = '{"format":"ltm","version":2'
    path = write(
        tmp_path / "e.json", f'{head},\n"memories":[\n{lines}\n],"count":{len(records) + 1}}}\n'
    )
    report = machine.take(path)
    assert [memory.title for memory in machine.memories()] == ["good"]
    assert [problem.line for problem in report.problems] == list(range(3, 3 + len(records)))
    if field != "versions":
        assert all(f"'{field}" in problem.message for problem in report.problems)


def test_one_id_twice_in_a_file_is_told(machine: Machine, file: Callable[..., Path]) -> None:
    memory = make()
    report = machine.take(file(memory, memory._replace(title="again")))
    assert report.added == 1
    assert "second time" in report.problems[0].message


def test_what_is_too_long_for_a_file_is_told_and_the_rest_is_taken(
    machine: Machine, file: Callable[..., Path]
) -> None:
    report = machine.take(file(make("one"), make("long", "x" * 2_000_000), make("three")))
    assert report.added == 2
    (problem,) = report.problems
    assert problem.line == 4
    assert "too long" in problem.message


def test_secrets_in_a_foreign_export_are_taken_out(
    machine: Machine, file: Callable[..., Path]
) -> None:
    token = "ghp_" + "a1B2" * 9
    report = machine.take(file(make("one", f"push with {token} now")))
    assert report.redacted == 1
    assert token not in machine.memories()[0].content


def test_a_superseded_memory_stays_so(machine: Machine, file: Callable[..., Path]) -> None:
    old = make("old", status=Status.SUPERSEDED, superseded_by="mem_newer00")
    machine.take(file(old))
    assert machine.memories() == [old]


def test_a_path_that_is_not_there_is_told(machine: Machine, tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="no such file"):
        machine.take(tmp_path / "nothing.json")
    with pytest.raises(Refused, match="neither a file nor a folder"):
        machine.take("/dev/null")
    with pytest.raises(WrongUsage, match="not a known source") as refused:
        machine.take(write(tmp_path / "x.json", "{}"), "chatgpt")
    assert "claude-mem" in refused.value.hint
    with pytest.raises(Refused, match="no memories that ltm knows"):
        machine.take(tmp_path / "x.json")


def test_a_vault_that_lies_elsewhere_is_taken_in_like_an_export(
    machine: Machine, tmp_path: Path
) -> None:
    there = file_store(tmp_path / "backup")
    one = there.create(make("one", "first\n\nsecond", tags=("x",))).memory
    there.apply(Revise(one.id, {"content": "another wording"}))
    gone = there.create(make("two")).memory
    there.apply(Forget(gone.id))
    expected = [each.memory for each in there.every(Filter(statuses=()))]
    there.close()
    write(tmp_path / "backup" / "project" / "memories" / "bad.md", "---\nid: mem_bad\n")
    before = snapshot(tmp_path / "backup")
    report = machine.take(tmp_path / "backup" / "project")
    assert (report.sources, report.added) == (["ltm"], 2)
    assert [problem.line for problem in report.problems] == [1]
    assert sorted(machine.memories(), key=lambda memory: memory.id) == expected
    assert machine.store().apply(Restore(gone.id)).stored.memory.content == gone.content
    assert [each.content for each in machine.originals(one)] == ["first\n\nsecond"]
    assert snapshot(tmp_path / "backup") == before
    with pytest.raises(Refused, match="you have already"):
        machine.take(tmp_path / "backup" / "project")
    with pytest.raises(Refused, match="neither an export nor a vault"):
        machine.take(tmp_path, "ltm")


@pytest.mark.parametrize("end", range(20, 200, 15))
def test_an_export_that_was_laid_out_again_and_cut_off_is_told(
    machine: Machine, tmp_path: Path, end: int
) -> None:
    path = export(tmp_path / "e.json", make("one"))
    whole = json.dumps(json.loads(path.read_text()), indent=2)
    with pytest.raises(BadFile, match=r"not a whole export of ltm: it .*the file is cut off"):
        machine.take(write(path, whole[:-end]))
    assert machine.memories() == []
