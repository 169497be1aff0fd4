"""Many processes change one store: nothing is lost, nobody hangs or sees a database's troubles.

Reliability R6 and R2 in small; `benchmarks.writers` does it in full.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ltm.files.lock import Lock
from ltm.index import index
from ltm.model import Filter, Status
from tests.store.writer import memory, open_store

ANY = Filter(statuses=tuple(Status))


class Writer:
    """One of the processes."""

    def __init__(self, job: str, folder: Path, times: int = 1) -> None:
        self.process = subprocess.Popen(
            [
                sys.executable,
                str(Path(__file__).with_name("writer.py")),
                job,
                str(folder),
                str(times),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.line() == "ready"

    def line(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().rstrip("\n")

    def said(self) -> Any:
        """The next thing it acknowledges."""
        line = self.line()
        if not line:
            pytest.fail(f"the writer has ended: {self.process.communicate()[1]}")
        return json.loads(line)

    def go(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def rest(self) -> list[Any]:
        """All that it still acknowledges, when it has ended well."""
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        lines = self.process.stdout.readlines()
        assert (self.process.wait(), self.process.stderr.read()) == (0, "")
        return [json.loads(line) for line in lines]

    def kill(self) -> list[Any]:
        """End it at once; what it had acknowledged and nobody had read yet."""
        self.process.kill()
        assert self.process.stdout is not None
        lines = self.process.stdout.readlines()
        # The last line may be cut: that was no acknowledgement yet.
        return [json.loads(line) for line in lines if line.endswith("\n")]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Any]:
    writers: list[Writer] = []

    def make(job: str, times: int = 1) -> Writer:
        writers.append(Writer(job, tmp_path, times))
        return writers[-1]

    yield make
    for each in writers:
        if each.process.poll() is None:
            each.process.kill()
        each.process.communicate()


def together(start: Any, job: str, count: int, times: int) -> list[list[Any]]:
    """What so many writers acknowledge that begin at the same moment."""
    writers = [start(job, times) for _ in range(count)]
    for each in writers:
        each.go()
    return [each.rest() for each in writers]


def test_all_that_many_writers_were_told_is_there(start: Any, tmp_path: Path) -> None:
    acknowledged = together(start, "mixed", count=6, times=40)
    assert [len(each) for each in acknowledged] == [40] * 6
    last: dict[str, Any] = {}
    for each in acknowledged:
        ours = {value["id"]: value for value in each}
        assert not ours.keys() & last.keys(), "two writers got the same id"
        last |= ours
    store = open_store(str(tmp_path))
    found = {each.memory.id: each.memory for each in store.list(ANY).items}
    assert found.keys() == last.keys()
    for kept, value in last.items():
        assert found[kept].content == value["content"]
        assert found[kept].status == value["status"]
        assert found[kept].version == value["version"]
    assert store.problems() == []
    uses = store.usage(found)
    assert sum(each.uses for each in uses.values()) == 240
    before = store.counts()
    store.rebuild()
    assert sorted(store.counts()) == sorted(before)
    store.close()


def test_a_vault_that_all_begin_at_once_is_begun_once(start: Any, tmp_path: Path) -> None:
    ids = [each["id"] for (each,) in together(start, "once", count=12, times=1)]
    store = open_store(str(tmp_path))
    assert sorted(each.memory.id for each in store.list(ANY).items) == sorted(ids)
    store.close()


def test_writers_that_are_killed_take_nothing_with_them(start: Any, tmp_path: Path) -> None:
    chance = random.Random(7)
    counts: dict[str, int] = {}

    def note(values: list[Any]) -> None:
        for value in values:
            counts[value["id"]] = max(counts.get(value["id"], 0), value["count"])

    writers = [start("endless", 10) for _ in range(4)]
    for each in writers:
        each.go()
    for _ in range(12):
        for each in writers:
            note([each.said() for _ in range(chance.randrange(1, 8))])
        victim = writers.pop(chance.randrange(len(writers)))
        note(victim.kill())
        writers.append(start("endless", 10))
        writers[-1].go()
    for each in writers:
        note(each.kill())

    store = open_store(str(tmp_path))
    found = {each.memory.id: int(each.memory.content) for each in store.list(ANY).items}
    for kept, count in counts.items():
        # One more may have been written and not yet acknowledged when the writer died.
        assert found[kept] in (count, count + 1), kept
    assert len(found.keys() - counts.keys()) <= 16
    assert store.problems() == []
    assert list(tmp_path.rglob("*.tmp")) == []
    store.close()


def freeze(start: Any) -> Writer:
    """A writer that stopped while it holds the lock."""
    frozen: Writer = start("frozen")
    frozen.go()
    _, status = os.waitpid(frozen.process.pid, os.WUNTRACED)
    assert os.WIFSTOPPED(status)
    return frozen


def test_a_frozen_writer_makes_the_others_say_busy_and_readers_go_on(
    start: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index, "_SHORT_WAIT", 0.1)
    store = open_store(str(tmp_path))
    kept = store.create(memory("kept", "before the frost")).memory
    frozen = freeze(start)

    hurried = start("hurried")
    hurried.go()
    (said,) = hurried.rest()
    assert "another process has been writing to this vault" in said["busy"]
    assert "end it if it hangs" in said["hint"]
    assert kept in [each.memory for each in store.list(Filter()).items]
    assert store.search("frost", Filter(), 5).total == 1
    assert store.read(kept.id).memory == kept

    os.kill(frozen.process.pid, signal.SIGCONT)
    (done,) = frozen.rest()
    assert {each.memory.id for each in store.list(Filter()).items} == {kept.id, done["id"]}
    store.close()


def test_a_frozen_writer_is_waited_for_once_and_not_at_every_question(
    start: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A command that asked four times was answered after twenty seconds."""
    monkeypatch.setattr(index, "_SHORT_WAIT", 0.1)
    store = open_store(str(tmp_path))
    store.create(memory("kept", "before the frost"))
    frozen = freeze(start)
    asked: list[float | None] = []

    class Watched(Lock):
        def acquire(self, patience: float | None = None) -> bool:
            asked.append(patience)
            return super().acquire(patience)

    for vault in store.vaults:
        vault.lock.__class__ = Watched
    for _ in range(3):
        assert store.list(Filter()).total == 1
    assert asked == [0.1, 0.0, 0.0]

    os.kill(frozen.process.pid, signal.SIGCONT)
    frozen.rest()
    assert store.list(Filter()).total == 2
    store.close()


def test_no_update_is_lost_when_all_change_the_same_memory(start: Any, tmp_path: Path) -> None:
    """traps 2.4 #4: what was read before the lock was written under it."""
    store = open_store(str(tmp_path))
    kept = store.create(memory("a counter", "0")).memory.id
    together(start, "counting", count=4, times=15)
    after = store.read(kept).memory
    assert (after.content, after.version) == ("60", 61)
    together(start, "reinforcing", count=4, times=15)
    assert store.read(kept).memory.observations == 61
    store.close()


def test_one_of_two_that_replace_the_same_memory_wins(start: Any, tmp_path: Path) -> None:
    store = open_store(str(tmp_path))
    kept = store.create(memory("an old one", "text")).memory.id
    writers = [start("superseding") for _ in range(2)]
    for each in writers:
        each.go()
    assert len({each.said()["seen"] for each in writers}) == 1
    for each in writers:
        each.go()
    said = [value for each in writers for value in each.rest()]
    (won,) = [value["won"] for value in said if "won" in value]
    assert {"lost": True} in said
    assert [each.memory.id for each in store.list(Filter()).items] == [won]
    assert store.read(kept).memory.superseded_by == won
    store.close()
