"""Row R6, many writers on one store: `python -m benchmarks.writers [--processes 16]`.

Sixteen processes make 250 changes each at once, through the library, the command line, MCP servers
of their own and the HTTP server they share: they remember, edit, tag, forget and restore memories
of their own, and confirm and count up memories they all share. What was acknowledged is compared
with the files. The baseline, in the same run, is the design that suggests itself: one `index.json`,
read, changed, written to a temporary file and renamed, without a lock.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks import naive
from benchmarks.hands import COUNTER, SHARED, WAYS, World
from benchmarks.report import keep, table
from benchmarks.together import begin, let_go, wait_for_start
from ltm.capture.remember import RememberRequest, remember
from ltm.kinds import Kinds
from ltm.model import Filter, Memory, Status
from ltm.vault import codec, frontmatter
from tests.figures import count
from tests.http.runner import Server

SPREAD = (
    *("library", "MCP", "HTTP", "command line") * 2,
    *("library", "MCP", "HTTP", "library") * 2,
)
"""The way of each writer; a run with fewer has the first ones."""

_SHARED = 4
_LETTERS = "bcdfghjklmnpqrstvwxz"


def words(chance: random.Random) -> str:
    """A sentence that resembles no other, so that each one is a memory of its own."""
    return " ".join("".join(chance.choices(_LETTERS, k=7)) for _ in range(12))


def work(way: str, world: World, changes: int, seed: int) -> None:
    """Make changes and print what was acknowledged, one JSON value a line; then how it went."""
    chance = random.Random(seed)
    shared = world.tagged(SHARED)
    (counter,) = world.tagged(COUNTER)
    hands = WAYS[way](world)
    wait_for_start()
    mine: list[str] = []
    errors: list[str] = []
    last = ""
    for number in range(changes):
        step = hands.STEPS[number % len(hands.STEPS)]
        text = words(chance)
        told: dict[str, Any]
        try:
            match step:
                case "remember":
                    last = hands.remember(text)
                    mine.append(last)
                    told = {"id": last, "content": text, "status": "active"}
                case "confirm":
                    each = chance.choice(list(shared))
                    hands.confirm(each, shared[each])
                    told = {"confirmed": each}
                case "count":
                    hands.count(counter)
                    told = {"counted": counter}
                case "edit":
                    place = chance.randrange(len(mine))
                    old, last = mine[place], hands.edit(mine[place], text)
                    mine[place] = last
                    told = {"id": last, "content": text, "status": "active", "replaced": old}
                case "tag":
                    hands.tag(last, f"t{number}")
                    told = {"id": last, "tags": [f"t{number}"]}
                case "forget":
                    hands.forget(last)
                    told = {"id": last, "status": "forgotten"}
                case _:
                    hands.restore(last)
                    told = {"id": last, "status": "active"}
        except Exception as error:  # whatever a person would have seen counts
            errors.append(f"{way}, {step}: {type(error).__name__}: {error}")
        else:
            print(json.dumps(told))
    hands.close()
    print(json.dumps({"errors": errors}))


@dataclass
class Told:
    """What writers were told is done."""

    through: Counter[str] = field(default_factory=Counter)
    """How many changes, by the way they were made."""
    shared: Counter[str] = field(default_factory=Counter)
    """How often each shared memory was confirmed or counted up."""
    last: dict[str, dict[str, Any]] = field(default_factory=dict)
    """What each memory of one writer must be in the end."""
    texts: dict[str, list[str]] = field(default_factory=dict)
    """Every text a memory was ever given."""
    owners: dict[str, set[int]] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)

    def note(self, writer: int, way: str, value: dict[str, Any]) -> None:
        """One line of a writer."""
        if "errors" in value:
            self.errors += value["errors"]
            return
        self.through[way] += 1
        common = value.get("confirmed") or value.get("counted")
        if common:
            self.shared[common] += 1
            return
        memory_id = value.pop("id")
        replaced = value.pop("replaced", memory_id)
        self.owners.setdefault(memory_id, set()).add(writer)
        self.last.setdefault(memory_id, {}).update(value)
        if replaced != memory_id:
            self.last[replaced]["status"] = "superseded"
        if "content" in value:
            self.texts.setdefault(memory_id, []).append(value["content"])


def run_writers(top: Path, ways: tuple[str, ...], changes: int) -> dict[str, Any]:
    """All writers at once, and what became of their work."""
    world = World(top)
    store = world.open()
    chance = random.Random(0)
    for _ in range(_SHARED):
        remember(
            store, RememberRequest(words(chance), kind="fact", scope="project", tags=(SHARED,))
        )
    remember(store, RememberRequest("0", kind="fact", scope="project", tags=(COUNTER,)))
    store.close()
    told = Told()
    with Server(world.hooks) as server:
        writers = [
            begin("benchmarks.writers", "--work", way, top, seed, "--changes", changes)
            for seed, way in enumerate(ways, start=1)
        ]
        begun = let_go(writers)
        taken: dict[str, float] = {}
        # The quick ones first: the slow ones' lines wait in their pipes until then.
        for way in WAYS:
            for number, each in enumerate(writers):
                if ways[number] == way:
                    for line in each.communicate()[0].splitlines():
                        told.note(number, way, json.loads(line))
                    taken[way] = time.perf_counter() - begun
        code, complaints = server.end()
    if code or complaints:
        told.errors.append(f"ltm serve ended with {code}: {complaints}")
    return {**examine(world, told), "taken_s": taken}


def examine(world: World, told: Told) -> dict[str, Any]:
    """What was acknowledged, and what of it the files do not say."""
    held: dict[str, list[Memory]] = {}
    kept: list[str] = []
    for path in sorted(world.hooks.home.rglob("*.md")):
        memory = codec.decode(frontmatter.parse(path.read_bytes(), str(path)), str(path), Kinds())
        kept.append(memory.content)
        if path.parent.name == "memories":
            held.setdefault(memory.id, []).append(memory)
    found = {memory_id: each[0] for memory_id, each in held.items()}
    every = set(kept)
    lost = reverted = 0
    for memory_id, wanted in told.last.items():
        if wanted["status"] == "forgotten":
            wanted = {**wanted, "content": ""}
        there = _shown(found[memory_id]) if memory_id in found else {}
        if {name: there.get(name) for name in wanted} != wanted:
            older = there.get("content") in told.texts[memory_id][:-1]
            reverted, lost = reverted + older, lost + (not older)
    for memory_id, times in told.shared.items():
        memory = found[memory_id]
        is_counter = COUNTER in memory.tags
        seen = int(memory.content) if is_counter else memory.observations - 1
        lost += abs(times - seen)
    lost += sum(text not in every for texts in told.texts.values() for text in texts)
    twice = sum(len(each) > 1 for each in (*held.values(), *told.owners.values()))
    return {
        "acknowledged": told.through.total(),
        "through": dict(told.through),
        "lost": lost,
        "reverted": reverted,
        "duplicate_ids": twice,
        "not_asked_for": len(found.keys() - told.last.keys()) - _SHARED - 1,
        "locked_shown": sum("locked" in each for each in told.errors),
        "errors": told.errors,
        "unlike_index": _unlike_index(world, found),
    }


def _shown(memory: Memory) -> dict[str, Any]:
    return {
        "content": memory.content,
        "status": str(memory.status),
        "tags": list(memory.tags),
    }


def _unlike_index(world: World, found: dict[str, Memory]) -> int:
    """How many memories the index shows otherwise than the files, and files it cannot read."""
    store = world.open()
    shown = {
        each.memory.id: each.memory for each in store.list(Filter(statuses=tuple(Status))).items
    }
    broken = len(store.problems())
    store.close()
    ids = found.keys() | shown.keys()
    return broken + sum(found.get(each) != shown.get(each) for each in ids)


WRONG = ("lost", "reverted", "duplicate_ids", "not_asked_for", "unlike_index")
"""Figures that must be 0."""


def held(ours: dict[str, Any], wanted: int) -> bool:
    """Whether every change was acknowledged, and nothing is wrong with any."""
    clean = not ours["errors"] and not any(ours[name] for name in WRONG)
    return clean and ours["acknowledged"] == wanted


def main() -> None:
    """Measure, print, note; fail if anything was lost or anybody saw an error."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--processes", type=int, default=len(SPREAD))
    parser.add_argument("--changes", type=int, default=250)
    parser.add_argument("--json")
    parser.add_argument("--work", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.work:
        way, top, seed = given.work
        work(way, World(Path(top)), given.changes, int(seed))
        return
    ways = SPREAD[: given.processes]
    with tempfile.TemporaryDirectory(prefix="ltm-writers-") as folder:
        ours = run_writers(Path(folder), ways, given.changes)
    with tempfile.TemporaryDirectory(prefix="ltm-naive-") as folder:
        theirs = naive.run(Path(folder), 8, 200)
    rate = {way: ours["through"][way] / ours["taken_s"][way] for way in ours["through"]}
    print_table(len(ways), ours, theirs, rate)
    for error in ours["errors"][:10]:
        print("error:", error)
    keep(given.json, "writers", {"ours": ours, "naive": theirs, "writes_per_s": rate})
    names = ("acknowledged", *WRONG, "locked_shown")
    count("R6", writers=len(ways), **{name: ours[name] for name in names})
    count("R6", errors_shown=len(ours["errors"]))
    sys.exit(0 if held(ours, len(ways) * given.changes) else 1)


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
            ["reverted", ours["reverted"], ""],
            ["duplicate ids", ours["duplicate_ids"], ""],
            ["memories nobody asked for", ours["not_asked_for"], ""],
            ["errors shown", len(ours["errors"]), theirs["errors"]],
            ['  of them "database is locked"', ours["locked_shown"], ""],
            ["index unlike the files", ours["unlike_index"], ""],
            *[[f"writes/s through the {way}", each, ""] for way, each in rate.items()],
            ["writes/s, nothing synced", "", naive_rate],
        ],
    )


if __name__ == "__main__":
    main()
