"""What goes out comes back exactly: every field, every status, every version, however many."""

from __future__ import annotations

import gzip
import io
import json
import os
import re
import tempfile
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ltm.decisions import Adopt, Copy, Forget, Reduce, Restore, Revise, Supersede
from ltm.errors import NotFound, Refused
from ltm.model import Filter, Impact, Memory, Phase, Scope, Status
from ltm.project.layout import places
from ltm.redact.redact import redacted
from ltm.store.file_store import FileStore
from ltm.store.store import Store
from ltm.text.display import one_line
from ltm.transfer.export import ExportHeader, export, export_file
from ltm.transfer.import_ import ImportReport, ImportRequest, import_memories
from ltm.vault import codec
from tests.figures import count
from tests.stores import START, file_store, make
from tests.transfer.importing import NOW, Machine, write
from tests.vault import strategies

EVERYTHING = Filter(statuses=())
MANY = 10_000
HEADER = ExportHeader("default", "app-1", "app", NOW)


def exported(store: Store, *, versions: bool = True, wanted: Filter = EVERYTHING) -> str:
    """The export of a store as text."""
    out = io.StringIO()
    export(store, out, HEADER, wanted, versions=versions)
    return out.getvalue()


def imported(text: str, store: Store, where: Machine) -> ImportReport:
    """Import a text into a store."""
    path = write(where.home.parent / "export.json", text)
    return import_memories(ImportRequest(str(path)), store, places(str(where.project)), at=NOW)


def clean(memory: Memory) -> Memory:
    """A memory as ltm keeps it: without secrets. What an example holds by chance is taken out."""
    return memory._replace(
        title=one_line(redacted(memory.title)) or "x",
        summary=redacted(memory.summary),
        content=redacted(memory.content),
        reason=redacted(memory.reason),
    )


@settings(max_examples=40)
@given(st.lists(strategies.memories.map(clean), max_size=5, unique_by=lambda memory: memory.id))
def test_any_memories_come_back_byte_for_byte(memories: list[Memory]) -> None:
    """reliability R21"""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        where = Machine(folder / "home", folder)
        first, second = file_store(folder / "one"), file_store(folder / "two")
        if memories:
            first.apply(Adopt(tuple(Copy(memory) for memory in memories)))
        text = exported(first)
        report = imported(text, second, where)
        assert (report.added, report.problems) == (len(memories), [])
        assert exported(second) == text
        assert [each.memory for each in second.every(EVERYTHING)] == sorted(
            memories, key=lambda memory: memory.id
        )
        first.close()
        second.close()


def lived_in(store: FileStore) -> list[str]:
    """A store in which everything has happened that leaves a version behind."""
    ids = [
        store.create(make(f"matter {n}", f"first {n}\n\nsecond {n}\n\nthird {n}")).memory.id
        for n in range(6)
    ]
    store.apply(Revise(ids[0], {"content": "another wording", "tags": ("x",)}))
    store.apply(Reduce(ids[1], Phase.HINT))
    store.apply(Reduce(ids[2], Phase.ARCHIVED))
    store.apply(Forget(ids[3]))
    store.apply(Supersede((ids[4],), make("newer matter", scope=Scope.AGENT)))
    return ids


def test_versions_travel_along_and_can_be_restored_where_they_arrive(machine: Machine) -> None:
    here = file_store(machine.home / "one")
    there = file_store(machine.home / "two")
    ids = lived_in(here)
    text = exported(here)
    assert imported(text, there, machine).problems == []
    assert exported(there) == text
    for memory_id, content in (
        (ids[1], "first 1\n\nsecond 1\n\nthird 1"),
        (ids[2], "first 2\n\nsecond 2\n\nthird 2"),
        (ids[3], "first 3\n\nsecond 3\n\nthird 3"),
        (ids[4], "first 4\n\nsecond 4\n\nthird 4"),
    ):
        back = there.apply(Restore(memory_id)).stored.memory
        assert (back.content, back.phase, back.status) == (content, Phase.FULL, Status.ACTIVE)
    assert there.apply(Restore(ids[0], version=1)).stored.memory.content.startswith("first 0")


def test_without_versions_only_what_is_there_now_goes_out(machine: Machine) -> None:
    store = file_store(machine.home / "one")
    ids = lived_in(store)
    out = io.StringIO()
    done = export(store, out, HEADER, EVERYTHING)
    assert (done.memories, done.versions, done.without) == (7, 0, 6)
    assert "third 3" not in out.getvalue(), "a forgotten text stays behind"
    document = json.loads(out.getvalue())
    assert {each["id"] for each in document["memories"]} >= set(ids)
    assert "versions" not in document["memories"][0]


@pytest.mark.slow
def test_ten_thousand_memories_come_back_byte_for_byte(machine: Machine) -> None:
    """reliability R21"""
    here, there = file_store(machine.home / "one"), file_store(machine.home / "two")
    for vault in here.vaults:
        vault.prepare()
    for n in range(MANY):
        memory = make(
            f"Memory {n} about topic {n % 97}",
            f"Text {n}: 日本語 “quoted” \\ back\n\n- item {n % 7}\n",
            id=f"mem_{n:017d}",
            kind=("fact", "decision", "gotcha", "episode")[n % 4],
            scope=(Scope.PROJECT, Scope.AGENT)[n % 10 == 0],
            status=list(Status)[n % 4],
            impact=list(Impact)[n % 3],
            confidence=n % 11 / 10,
            created=START + timedelta(minutes=n),
            tags=(f"t{n % 5}", "no", "1.10"),
        )
        vault = here.vaults[memory.scope is Scope.AGENT]
        Path(vault.path(codec.file_name(memory))).write_bytes(codec.to_bytes(memory))
    text = exported(here)
    added = imported(text, there, machine).added
    back = exported(there)
    count("R21", memories=MANY, not_equal=MANY - added + (back != text))
    assert added == MANY
    assert back == text


def test_an_export_holds_few_memories_at_a_time(machine: Machine) -> None:
    store = file_store(machine.home / "one")
    (vault, _) = store.vaults
    vault.prepare()
    for n in range(2_500):  # the index remembers a thousand
        memory = make(f"large {n}", "word" * 700, id=f"mem_{n:017d}")
        Path(vault.path(codec.file_name(memory))).write_bytes(codec.to_bytes(memory))
    store.rebuild()
    with (machine.home / "out.json").open("w", encoding="utf-8") as out:
        tracemalloc.start()
        export(store, out, HEADER, EVERYTHING)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    size = (machine.home / "out.json").stat().st_size
    assert size > 5_000_000
    assert peak < size / 2


def test_the_format_is_one_json_value_with_every_field(machine: Machine) -> None:
    """traps 2.3 #13: no column is left out, superseded memories are in it."""
    store = file_store(machine.home / "one")
    store.create(make(title='Title with "quotes" and \u2028'))
    document = json.loads(exported(store))
    assert (document["format"], document["version"], document["count"]) == ("ltm", 2, 1)
    assert document["agent"] == {"name": "default"}
    assert document["project"] == {"id": "app-1", "name": "app"}
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", document["exported_at"])
    assert list(document["memories"][0]) == [*Memory._fields]


def test_filters_choose_what_goes_out(machine: Machine) -> None:
    store = file_store(machine.home / "one")
    store.create(make("one", kind="decision"))
    store.create(make("two", scope=Scope.AGENT))
    store.delete(store.create(make("three")).memory.id)
    for wanted, titles in (
        (EVERYTHING, ["one", "three", "two"]),
        (Filter(statuses=(), kinds=("decision",)), ["one"]),
        (Filter(statuses=(), scopes=(Scope.AGENT,)), ["two"]),
        (Filter(statuses=(Status.FORGOTTEN,)), ["three"]),
    ):
        document = json.loads(exported(store, wanted=wanted))
        assert sorted(each["title"] for each in document["memories"]) == titles


def test_a_file_that_another_tool_reformatted_is_read_as_well(machine: Machine) -> None:
    here, there = file_store(machine.home / "one"), file_store(machine.home / "two")
    lived_in(here)
    text = exported(here)
    pretty = json.dumps(json.loads(text), indent=4, sort_keys=False)
    assert imported(pretty, there, machine).added == 7
    assert exported(there) == text


def test_an_exported_file_is_private_whole_and_packed_if_its_name_says_so(tmp_path: Path) -> None:
    """traps 2.1 #19: in place at once and durably, or not at all."""
    plain, packed = tmp_path / "a.json", tmp_path / "a.json.gz"
    for path in (plain, packed):
        for _ in range(2):  # over an older export is fine
            with export_file(str(path)) as out:
                out.write('{"format":"ltm"')
        assert path.stat().st_mode & 0o777 == 0o600
    assert gzip.decompress(packed.read_bytes()) == plain.read_bytes()
    with pytest.raises(ZeroDivisionError), export_file(str(plain)) as out:
        out.write(f"half {1 / 0}")
    assert plain.read_text() == '{"format":"ltm"'
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.json", "a.json.gz"]


def test_an_export_never_replaces_a_file_that_is_not_one(tmp_path: Path) -> None:
    notes = write(tmp_path / "notes.md", "my notes")
    with pytest.raises(Refused, match="not an export"), export_file(str(notes)):
        pass
    with pytest.raises(Refused, match="folder"), export_file(str(tmp_path)):
        pass
    assert notes.read_text() == "my notes"


def test_an_export_to_a_pipe_or_device_goes_through_it_and_leaves_it_there(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with ThreadPoolExecutor() as side:
        read = side.submit(pipe.read_text, "utf-8")
        with export_file(str(pipe)) as out:
            out.write('{"format":"ltm"}')
        assert read.result(20) == '{"format":"ltm"}'
    assert pipe.is_fifo()
    assert [path.name for path in tmp_path.iterdir()] == ["pipe"]


def test_an_export_to_a_link_goes_to_what_it_leads_to(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    link = tmp_path / "latest.json"
    link.symlink_to(tmp_path / "kept" / "today.json")
    for _ in range(2):
        with export_file(str(link)) as out:
            out.write('{"format":"ltm"}')
    assert link.is_symlink()
    assert (tmp_path / "kept" / "today.json").read_text() == '{"format":"ltm"}'


def test_an_export_into_a_folder_that_is_not_there_says_how_to_make_it(tmp_path: Path) -> None:
    export = export_file(str(tmp_path / "backup" / "a.json"))
    with pytest.raises(NotFound, match="no such folder") as refused, export:
        pass
    assert refused.value.path == str(tmp_path / "backup")
    assert "mkdir -p" in refused.value.hint
