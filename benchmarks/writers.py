"""Many writers on one store, and none of their work lost: `python -m benchmarks.writers`.

Sixteen processes make 250 changes each (remember, edit, forget, restore, and confirming memories
they all share), most through the library and some through the command line. Every change that was
acknowledged must be found again. The baseline, in the same run, is the design that suggests itself:
one `index.json`, read, changed, written to a temporary file and renamed, without a lock.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks import naive
from benchmarks.report import keep, table
from benchmarks.together import begin, let_go, wait_for_start
from ltm.capture.remember import Wish, remember
from ltm.core.decision import Forget, Reinforce, Restore, Revise
from ltm.core.model import Filter, Status
from ltm.storage.config import load
from ltm.storage.filestore import FileStore
from ltm.storage.opening import open_files
from ltm.storage.places import places

SHARED = 4
_LETTERS = "bcdfghjklmnpqrstvwxz"
_CYCLE = ("remember", "confirm", "edit", "forget", "restore")


def words(chance: random.Random) -> str:
    """A sentence that resembles no other, so that each one is a memory of its own."""
    return " ".join("".join(chance.choices(_LETTERS, k=7)) for _ in range(12))


class Library:
    """Changes through the library."""

    def __init__(self, folder: Path) -> None:
        self.store = opened(folder)

    def remember(self, text: str) -> str:
        wish = Wish(text, kind="fact", scope="project")
        return remember(self.store, wish).applied.stored.memory.id

    def confirm(self, memory_id: str) -> None:
        self.store.apply(Reinforce(memory_id))

    def edit(self, memory_id: str, text: str) -> None:
        self.store.apply(Revise(memory_id, {"content": text}))

    def forget(self, memory_id: str) -> None:
        self.store.apply(Forget(memory_id))

    def restore(self, memory_id: str) -> None:
        self.store.apply(Restore(memory_id))


class CommandLine:
    """Changes through the installed `ltm`, one process for each."""

    def __init__(self, folder: Path) -> None:
        self.shared = {each.memory.id: each.memory.content for each in shared(opened(folder))}
        self.ltm = str(Path(sys.executable).with_name("ltm"))
        self.project = folder / "project"
        self.env = environ(folder)

    def remember(self, text: str) -> str:
        return str(self._run("remember", text, "--kind", "fact", "--scope", "project")["id"])

    def confirm(self, memory_id: str) -> None:
        # Saying what is known confirms it.
        said = self._run("remember", self.shared[memory_id], "--kind", "fact", "--scope", "project")
        assert (said["id"], said["action"]) == (memory_id, "reinforced"), said

    def edit(self, memory_id: str, text: str) -> None:
        self._run("edit", memory_id, "--content", text)

    def forget(self, memory_id: str) -> None:
        self._run("forget", memory_id)

    def restore(self, memory_id: str) -> None:
        self._run("restore", memory_id)

    def _run(self, *said: str) -> Any:
        done = subprocess.run(
            [self.ltm, *said, "--json"],
            cwd=self.project,
            env=self.env,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(done.stderr)
        return json.loads(done.stdout)


WAYS: dict[str, Callable[[Path], Library | CommandLine]] = {
    "library": Library,
    "command line": CommandLine,
}


def environ(folder: Path) -> dict[str, str]:
    """The surroundings of every writer."""
    return {**os.environ, "LTM_HOME": str(folder / "home")}


def opened(folder: Path) -> FileStore:
    """The store that all writers share."""
    where = places(str(folder / "project"), environ=environ(folder))
    return open_files(where, load(where.home, where.shared))


def shared(store: FileStore) -> list[Any]:
    """The memories that all writers confirm."""
    return list(store.list(Filter(tags=("shared",))).items)


def work(way: str, folder: Path, changes: int, seed: int) -> None:
    """Make changes and print what was acknowledged, one JSON value a line; then how it went."""
    chance = random.Random(seed)
    everybodys = [each.memory.id for each in shared(opened(folder))]
    hands = WAYS[way](folder)
    wait_for_start()
    mine: list[str] = []
    errors: list[str] = []
    last = ""
    for number in range(changes):
        step = _CYCLE[number % len(_CYCLE)]
        text = words(chance)
        try:
            if step == "remember":
                last = hands.remember(text)
                mine.append(last)
                print(json.dumps({"id": last, "content": text, "status": "active"}))
            elif step == "confirm":
                each = chance.choice(everybodys)
                hands.confirm(each)
                print(json.dumps({"confirmed": each}))
            elif step == "edit":
                last = chance.choice(mine)
                hands.edit(last, text)
                print(json.dumps({"id": last, "content": text, "status": "active"}))
            elif step == "forget":
                hands.forget(last)
                print(json.dumps({"id": last, "status": "forgotten"}))
            else:
                hands.restore(last)
                print(json.dumps({"id": last, "status": "active"}))
        except Exception as error:  # whatever a person would have seen counts
            errors.append(f"{step}: {type(error).__name__}: {error}")
    print(json.dumps({"errors": errors}))


def run_writers(folder: Path, processes: int, changes: int, through_cli: int) -> dict[str, Any]:
    """All writers at once, and what became of their work."""
    (folder / "project").mkdir()
    store = opened(folder)
    chance = random.Random(0)
    for _ in range(SHARED):
        remember(store, Wish(words(chance), kind="fact", scope="project", tags=("shared",)))
    ways = ["command line"] * through_cli + ["library"] * (processes - through_cli)
    number = ("--changes", changes)
    writers = [
        begin("benchmarks.writers", "--work", way, "--folder", folder, "--seed", seed, *number)
        for seed, way in enumerate(ways, start=1)
    ]
    begun = let_go(writers)
    said: list[tuple[str, list[Any]]] = []
    taken: dict[str, float] = {}
    for way, each in sorted(
        zip(ways, writers, strict=True), key=lambda pair: pair[0], reverse=True
    ):
        assert each.stdout is not None
        said.append((way, [json.loads(line) for line in each.stdout.readlines()]))
        each.wait()
        taken[way] = time.perf_counter() - begun
    store.close()
    return {**examine(folder, said), "taken_s": taken}


def examine(folder: Path, said: list[tuple[str, list[Any]]]) -> dict[str, Any]:
    """What was acknowledged, and what of it is not there."""
    acknowledged: Counter[str] = Counter()
    confirmed: Counter[str] = Counter()
    owners: dict[str, set[int]] = {}
    last: dict[str, dict[str, str]] = {}
    errors: list[str] = []
    for number, (way, values) in enumerate(said):
        for value in values:
            if "errors" in value:
                errors += value["errors"]
                continue
            acknowledged[way] += 1
            if "confirmed" in value:
                confirmed[value["confirmed"]] += 1
                continue
            owners.setdefault(value["id"], set()).add(number)
            last.setdefault(value["id"], {}).update(
                {name: value[name] for name in ("content", "status") if name in value}
            )
    store = opened(folder)
    found = {
        each.memory.id: each.memory for each in store.list(Filter(statuses=tuple(Status))).items
    }
    lost = 0
    for memory_id, wanted in last.items():
        memory = found.get(memory_id)
        there = {} if memory is None else {"content": memory.content, "status": str(memory.status)}
        if wanted["status"] == "forgotten":
            wanted = {"content": "", "status": "forgotten"}
        lost += there != wanted
    for memory_id, times in confirmed.items():
        lost += abs(times + 1 - found[memory_id].observations)
    problems = len(store.problems())
    store.close()
    return {
        "acknowledged": sum(acknowledged.values()),
        "through": dict(acknowledged),
        "lost": lost,
        "duplicate_ids": sum(len(each) > 1 for each in owners.values()),
        "locked_shown": sum("locked" in each for each in errors),
        "errors": errors,
        "broken_files": problems,
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--processes", type=int, default=16)
    parser.add_argument("--changes", type=int, default=250)
    parser.add_argument("--cli", type=int, default=2, help="processes that use the command line")
    parser.add_argument("--json")
    for hidden in ("--work", "--folder", "--seed"):
        parser.add_argument(hidden, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.work:
        work(given.work, Path(given.folder), given.changes, int(given.seed))
        return
    with tempfile.TemporaryDirectory(prefix="ltm-writers-") as folder:
        ours = run_writers(Path(folder), given.processes, given.changes, given.cli)
    with tempfile.TemporaryDirectory(prefix="ltm-naive-") as folder:
        theirs = naive.run(Path(folder), 8, 200)
    rate = {way: ours["through"][way] / ours["taken_s"][way] for way in ours["through"]}
    print_table(given.processes, ours, theirs, rate)
    for error in ours["errors"][:10]:
        print("error:", error)
    keep(given.json, "writers", {"ours": ours, "naive": theirs, "writes_per_s": rate})
    wanted = (given.processes * given.changes, 0, 0, 0)
    got = (ours["acknowledged"], ours["lost"], ours["duplicate_ids"], len(ours["errors"]))
    sys.exit(0 if got == wanted else 1)


def print_table(
    processes: int, ours: dict[str, Any], theirs: dict[str, Any], rate: dict[str, float]
) -> None:
    """The figures, with the baseline beside them."""
    naive_rate = theirs["acknowledged"] / theirs["taken_s"]
    table(
        "Many writers",
        ["figure", f"LTM, {processes} processes", "naive index.json, 8 processes"],
        [
            ["acknowledged", ours["acknowledged"], theirs["acknowledged"]],
            *[[f"  through the {way}", times, ""] for way, times in ours["through"].items()],
            ["lost", ours["lost"], theirs["lost"]],
            ["duplicate ids", ours["duplicate_ids"], ""],
            ["errors shown", len(ours["errors"]), theirs["errors"]],
            ['  of them "database is locked"', ours["locked_shown"], ""],
            ["broken files", ours["broken_files"], ""],
            *[[f"writes/s through the {way}", each, ""] for way, each in rate.items()],
            ["writes/s, nothing synced", "", naive_rate],
        ],
    )


if __name__ == "__main__":
    main()
