"""Killing commands at their system calls, and what must hold afterwards.

Owns the commands that are killed, the choice of the calls, and the examination of what is left.
Used by the tests and by `benchmarks.crashes`.
"""

from __future__ import annotations

import json
import os
import shutil
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from ltm.errors import LtmError
from ltm.kinds import Kinds
from ltm.vault import codec, frontmatter
from tests.faults.scene import Scene
from tests.faults.tracing import Ended, Starter

Memories = dict[str, dict[str, Any]]
T = TypeVar("T")

POINTS = 40
"""Kills for each command, spread over its system calls; LTM_FAULTS=all kills at every one."""

SPARSE = ("pwrite64", "fdatasync", "ftruncate")
"""Calls that only SQLite makes, on files that are derived: a few of them will do."""


@dataclass(frozen=True)
class Operation:
    """A command, and what must hold when it has done all or nothing of its work."""

    name: str
    words: tuple[str, ...]
    """`{plain}` and the like stand for ids."""
    target: str
    is_old: Callable[[Scene, Memories], bool]
    is_new: Callable[[Scene, Memories], bool]
    repeated: tuple[int, ...] = (0,)
    """Exit codes of the same command said again."""
    touched: tuple[str, ...] = ()
    """Further memories that it may change; `*` for all."""

    def may_change(self, scene: Scene, memory: str) -> bool:
        """Whether it is this command's business to change a memory."""
        roles = (self.target, *self.touched)
        return "*" in roles or memory in [scene.roles.get(role) for role in roles]

    def argv(self, scene: Scene) -> list[str]:
        return [word.format(**scene.roles) for word in self.words]


def said(text: str, most: int = 1) -> Callable[[Scene, Memories], bool]:
    """One memory in force says a text, or a few do."""

    def holds(scene: Scene, found: Memories) -> bool:
        active = [each["content"] for each in found.values() if each["status"] == "active"]
        return 1 <= active.count(text) <= most

    return holds


def target(role: str, **fields: object) -> Callable[[Scene, Memories], bool]:
    """The memory in a role has these values."""

    def holds(scene: Scene, found: Memories) -> bool:
        memory = found.get(scene.roles[role])
        return memory is not None and all(memory[name] == value for name, value in fields.items())

    return holds


def unchanged(role: str) -> Callable[[Scene, Memories], bool]:
    """The memory in a role is as it was."""
    return lambda scene, found: found.get(scene.roles[role]) == scene.before[scene.roles[role]]


def restorable(text: str) -> Callable[[Scene, Memories], bool]:
    """The plain memory is a tombstone, and its text is kept."""

    def holds(scene: Scene, found: Memories) -> bool:
        store = scene.open()
        try:
            kept = [each.memory.content for each in store.versions(scene.roles["plain"])]
        finally:
            store.close()
        return target("plain", status="forgotten", content="")(scene, found) and text in kept

    return holds


def purged(role: str, text: bytes) -> Callable[[Scene, Memories], bool]:
    """The memory in a role is gone, and no file holds a byte of it."""
    return lambda scene, found: scene.roles[role] not in found and scene.holding(text) == []


def saying(words: str) -> Callable[[Scene, Memories], bool]:
    """Exactly one memory in force has these words."""

    def holds(scene: Scene, found: Memories) -> bool:
        active = [each["content"] for each in found.values() if each["status"] == "active"]
        return sum(words in content for content in active) == 1

    return holds


def nothing_lost(scene: Scene, found: Memories) -> bool:
    """Every text there ever was is in some file, in force or kept as a version."""
    files = b"\n".join(scene.files().values()).decode()
    texts = [each["content"] for each in scene.before.values() if each["content"]]
    return all(text in files for text in texts)


def merged(scene: Scene, found: Memories) -> bool:
    """Of two that say the same, one is in force."""
    states = [found[scene.roles[role]]["status"] for role in ("twin", "other twin")]
    return states.count("active") == 1 and nothing_lost(scene, found)


PLAIN = "The gateway drops one request in a hundred, zanzibarquux says"
OPERATIONS = (
    Operation(
        "remember",
        ("remember", "Builds run on two cores only", "--json"),
        "",
        lambda scene, found: len(found) == len(scene.before),
        said("Builds run on two cores only"),
    ),
    Operation(
        "remember what replaces another",
        ("remember", "Uploads above five megabytes fail", "--replaces", "{other}", "--json"),
        "other",
        unchanged("other"),
        # Who says twice that something replaces another memory has said it twice.
        said("Uploads above five megabytes fail", most=2),
    ),
    Operation(
        "remember what does not agree",
        ("remember", f"{PLAIN.replace('one', 'two')}", "--json"),
        "plain",
        unchanged("plain"),
        said(PLAIN.replace("one", "two")),
    ),
    Operation(
        "settle",
        ("settle", "{other}", "{plain}", "--json"),
        "plain",
        nothing_lost,
        target("plain", status="superseded"),
        touched=("other",),
    ),
    Operation(
        "edit",
        ("edit", "{plain}", "--content", "Entirely new words", "--json"),
        "plain",
        unchanged("plain"),
        target("plain", content="Entirely new words", version=2),
    ),
    Operation(
        "forget", ("forget", "{plain}", "--json"), "plain", unchanged("plain"), restorable(PLAIN)
    ),
    Operation(
        "purge",
        ("forget", "{edited}", "--purge", "--yes", "--json"),
        "edited",
        unchanged("edited"),
        purged("edited", b"mandalorquux"),
        repeated=(0, 1),
    ),
    Operation(
        "restore",
        ("restore", "{forgotten}", "--json"),
        "forgotten",
        unchanged("forgotten"),
        target("forgotten", status="active"),
    ),
    Operation(
        "init",
        ("init", "--json"),
        "",
        lambda scene, found: True,
        lambda scene, found: (scene.project / ".claude/ltm/memories").is_dir(),
    ),
    Operation(
        "init --move",
        ("init", "--move", "--json"),
        "",
        lambda scene, found: True,
        lambda scene, found: len(list(scene.project.glob(".claude/ltm/memories/*.md"))) == 6,
    ),
    Operation(
        "capture",
        ("capture", "../session.jsonl", "--json"),
        "",
        lambda scene, found: True,
        saying("linter"),
    ),
    Operation(
        "import",
        ("import", "../notes", "--from", "markdown", "--json"),
        "",
        lambda scene, found: True,
        saying("Larches lose their needles"),
    ),
    Operation(
        "consolidate",
        ("consolidate", "--json"),
        "",
        nothing_lost,
        merged,
        touched=("twin", "other twin"),
    ),
    Operation(
        "upkeep",
        ("upkeep", "--json"),
        "*",
        nothing_lost,
        # Killed before it began, it leaves its batch to the next session.
        nothing_lost,
    ),
    Operation(
        "doctor --fix",
        ("doctor", "--fix", "--json"),
        "",
        lambda scene, found: True,
        lambda scene, found: len(found) == len(scene.before),
        repeated=(0, 1),
    ),
)


def points(ended: Ended, most: int = POINTS) -> list[tuple[str, int]]:
    """The system calls at which a command is to be killed: some of each name."""
    if os.environ.get("LTM_FAULTS") == "all":
        return [(call, n) for call, times in ended.calls.items() for n in range(1, times + 1)]
    calls = ended.calls
    derived = spread([(call, n) for call in SPARSE for n in range(1, calls[call] + 1)], 4)
    others = [
        (call, n) for call in sorted(calls) if call not in SPARSE for n in range(1, calls[call] + 1)
    ]
    return spread(others, most - 4) + derived


def spread(values: list[T], most: int) -> list[T]:
    """At most so many values, evenly from all of them."""
    if len(values) <= most:
        return values
    return [values[round(n * (len(values) - 1) / (most - 1))] for n in range(most)]


@dataclass(frozen=True)
class Killed:
    """What came of killing a command at many of its system calls."""

    points: int
    """How often it was really killed."""
    wrong: tuple[tuple[str, str], ...]
    """(what is wrong, at which call), for everything that is."""

    def count(self, what: str) -> int:
        """How often something of that name is wrong."""
        return Counter(name for name, _ in self.wrong)[what]

    def __str__(self) -> str:
        return "\n".join(f"{what}: {where}" for what, where in self.wrong)


def kill_everywhere(
    operation: Operation, scene: Scene, starter: Starter, folder: Path, most: int = POINTS
) -> Killed:
    """Run a command once in peace, then kill it at each of its points, in a copy of the scene."""
    whole = scene.copied(folder / "whole")
    ended = starter.run(operation.argv(whole), whole.project, whole.env)
    assert ended.status == 0, ended.err
    assert operation.is_new(whole, whole.memories())
    shutil.rmtree(whole.top)
    wrong: list[tuple[str, str]] = []
    killed = 0
    for call, number in points(ended, most):
        point = scene.copied(folder / "point")
        inject = f"{call}:signal=SIGKILL:when={number}"
        dead = starter.run(operation.argv(point), point.project, point.env, inject=inject)
        killed += dead.status == -9
        for what, details in examine(operation, point, dead, starter):
            wrong.append((what, f"at {call} {number}: {details}"))
        shutil.rmtree(point.top)
    return Killed(killed, tuple(wrong))


def remains(point: Scene, litter: str) -> Generator[tuple[str, str], None, Memories | None]:
    """What is wrong with the files as they were left, as (what, details).

    `litter` is what a temporary file counts as. What it gives back in the end are the memories, or
    None where they cannot be read.
    """
    yield from torn(point)
    try:
        found = point.memories()
    except (LtmError, AssertionError, OSError) as error:
        yield "unusable", f"cannot be opened: {error!r}"
        return None
    for path in point.temporary():
        yield litter, f"left {path.relative_to(point.top)}"
    return found


def examine(
    operation: Operation, point: Scene, dead: Ended, starter: Starter
) -> Iterator[tuple[str, str]]:
    """What is wrong after a kill, as (what, details)."""
    acknowledged = is_json(dead.out)
    if dead.status not in (0, -9):
        yield "unusable", f"it ended with {dead.status}: {dead.err}"
    found = yield from remains(point, "temporary")
    if found is None:
        return
    for memory, before in point.before.items():
        if not operation.may_change(point, memory) and found.get(memory) != before:
            yield "lost", f"another memory changed: {before['title']}"
    is_new = operation.is_new(point, found)
    if acknowledged and not is_new:
        yield "lost", "it was acknowledged"
    if not is_new and not operation.is_old(point, found):
        yield "torn", f"neither old nor new: {found.get(point.roles.get(operation.target, ''))}"
    again = starter.run(operation.argv(point), point.project, point.env, traced=False)
    if again.status not in operation.repeated:
        yield "unusable", f"said again, it ended with {again.status}: {again.err}"
    if not operation.is_new(point, point.memories()):
        yield "unusable", "said again, it did not do its work"
    for path in point.temporary():
        yield "temporary", f"said again, it left {path.relative_to(point.top)}"


def torn(point: Scene) -> Iterator[tuple[str, str]]:
    """Files that are visible under their name and cannot be read."""
    for name, data in point.files().items():
        try:
            if name.endswith(".json"):
                json.loads(data)
            elif "/memories/" in name or "/archives/" in name:
                codec.decode(frontmatter.parse(data, name), name, Kinds())
        except (LtmError, ValueError) as error:
            yield "torn", f"{name}: {error}"


def is_json(text: str) -> bool:
    """Whether a command has told its result."""
    try:
        json.loads(text)
    except ValueError:
        return False
    return True
