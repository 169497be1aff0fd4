"""A disk that says no, at each step of a change (reliability R4).

Whatever the disk refuses: the person is told the cause and the path, the old file is there byte for
byte, nothing half-written is left, what was acknowledged holds, and the same command works once the
disk gives way. What is only derived, the index, may fail without anybody noticing.

A sample of the points is tried, and a larger one with LTM_FAULTS=all.
"""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from ltm.spool import events
from tests.faults.crashing import OPERATIONS, Operation, is_json, remains, saying, spread, torn
from tests.faults.scene import Scene
from tests.faults.tracing import CALLS, Ended, Starter
from tests.figures import count

ALL = os.environ.get("LTM_FAULTS") == "all"
POINTS = 60 if ALL else 8
"""Faults for each command, spread over all its calls."""

CAUSES = {
    "ENOSPC": "the disk is full",
    "EDQUOT": "the disk quota is used up",
    "EROFS": "the disk is read-only",
    "EACCES": "permission denied",
    "EIO": "input/output error",
    "EMFILE": "too many files are open",
}
PASSING = {"EINTR": "error=EINTR", "nothing written": "retval=0"}
"""What is no refusal: the call is made again."""

_AGAIN = {"EINTR": ("openat", "write", "fsync"), "nothing written": ("write",)}
_AT_ONCE = ("remember", "edit", "forget", "restore")
"""Commands of one change: refused means that no byte is different."""


@dataclass(frozen=True)
class Tried:
    """A command, and what is done to a scene before it."""

    operation: Operation
    prepare: Callable[[Scene], None] = lambda scene: None

    def copy(self, scene: Scene, folder: Path) -> Scene:
        made = scene.copied(folder)
        self.prepare(made)
        return made


def leave_event(scene: Scene) -> None:
    """A session ended, and its event waits."""
    record = {
        "event": "SessionEnd",
        "session": "s1",
        "cwd": str(scene.project),
        "transcript": str(scene.top / "session.jsonl"),
    }
    for event in ("SessionStart", "SessionEnd"):
        events.put(str(scene.home), {**record, "event": event}, scene.env)


def lose_index(scene: Scene) -> None:
    for path in scene.home.rglob("index.db*"):
        path.unlink()


DRAIN = Operation("drain", ("drain", "--json"), "*", lambda *_: True, saying("linter"))
REBUILD = Operation(
    "rebuild",
    ("list", "--json"),
    "",
    lambda *_: True,
    lambda scene, found: len(found) == len(scene.before),
)
TRIED = (
    *(Tried(each) for each in OPERATIONS),
    Tried(DRAIN, leave_event),
    Tried(REBUILD, lose_index),
)


def steps(ended: Ended, scene: Scene) -> list[tuple[str, int, str]]:
    """The calls of a command that touch its own files, while changing them: (call, which of them,
    the line about it)."""
    found = []
    counts: Counter[str] = Counter()
    begun = False
    for line in ended.log.splitlines():
        call = line.split(None, 1)[-1].partition("(")[0]
        counts[call] += 1
        # Before the first lock a command only looks around.
        begun = begun or ".lock" in line or "O_CREAT" in line
        place = line.partition("(")[2].removeprefix(f"AT_FDCWD<{scene.project}>")
        ours = str(scene.home) in place or str(scene.project) in place
        if begun and call in CALLS and ours and "/.git/" not in line:
            found.append((call, counts[call], line))
    return found


def can_happen(fault: str, call: str, line: str) -> bool:
    """Whether a system may answer a call like that; a folder is opened without interruption."""
    able = call in _AGAIN.get(fault, (call,)) and not (fault == "EINTR" and "O_DIRECTORY" in line)
    return able and bool(line)


def injected(ended: Ended) -> str:
    """The line about the call that met its fault; '' if none did."""
    return next((line for line in ended.log.splitlines() if "(INJECTED)" in line), "")


def faults(ended: Ended, scene: Scene) -> list[tuple[str, int, str]]:
    """(call, which of them, what happens to it): each call meets some of the faults in turn."""
    names = [*CAUSES, *PASSING]
    chosen = []
    for number, (call, place, line) in enumerate(steps(ended, scene)):
        able = [each for each in names if can_happen(each, call, line)]
        chosen += [(call, place, able[(number + turn) % len(able)]) for turn in (0, 3)]
    return spread(chosen, POINTS)


@pytest.mark.parametrize("tried", TRIED, ids=lambda each: each.operation.name)
def test_a_refusal_is_told_and_changes_nothing(
    tried: Tried, scene: Scene, starter: Starter, tmp_path: Path
) -> None:
    operation = tried.operation
    whole = tried.copy(scene, tmp_path / "whole")
    ended = starter.run(operation.argv(whole), whole.project, whole.env)
    assert ended.status == 0, ended.err
    figures: Counter[str] = Counter(points=0, lost=0, torn=0, changed=0, unnamed=0, unusable=0)
    wrong: list[str] = []
    for call, place, fault in faults(ended, whole):
        point = tried.copy(scene, tmp_path / "point")
        how = PASSING.get(fault, f"error={fault}")
        inject = f"{call}:{how}:when={place}"
        refused = starter.run(operation.argv(point), point.project, point.env, inject=inject)
        line = injected(refused)
        if can_happen(fault, call, line):  # else it made other calls this time
            figures["points"] += 1
            for what, details in examine(
                operation, fault, memory_files(scene), point, refused, starter
            ):
                figures[what] += 1
                wrong.append(f"{inject} {fault}: {what}: {details}")
        shutil.rmtree(point.top)
    count("R4", **figures)
    assert not wrong, "\n".join(wrong)
    assert figures["points"] >= 5


def examine(
    operation: Operation,
    fault: str,
    before: dict[str, bytes],
    point: Scene,
    refused: Ended,
    starter: Starter,
) -> Iterator[tuple[str, str]]:
    """What is wrong after a refusal, as (what, details)."""
    line = injected(refused)
    said = refused.err + refused.out
    if "should not have happened" in said or "Traceback" in said:
        yield "unnamed", f"surprised us: {said} ({line})"
    elif refused.status not in operation.repeated and refused.status != 1:
        yield "unusable", f"ended with {refused.status}: {said}"
    elif fault in PASSING and refused.status not in operation.repeated:
        yield "unusable", f"does not try again: {said} ({line})"
    elif refused.status == 1 and 1 not in operation.repeated:
        named = CAUSES.get(fault, "") in said or ".db" in line
        if not named or not (str(point.home) in said or str(point.project) in said):
            yield "unnamed", f"does not name cause and path: {said} ({line})"
    found = yield from remains(point, "torn")
    if found is None:
        return
    yield from changed(operation, before, point, refused, line)
    is_new = operation.is_new(point, found)
    if is_acknowledged(refused) and not is_new:
        yield "lost", f"was acknowledged: {line}"
    if not is_new and not operation.is_old(point, found):
        yield "torn", f"neither old nor new: {line}"
    again = starter.run(operation.argv(point), point.project, point.env, traced=False)
    if again.status not in operation.repeated:
        yield "unusable", f"does not work when the fault is gone: {again.err} ({line})"
    elif not operation.is_new(point, point.memories()):
        yield "unusable", f"said again, it did not do its work: {line}"


def is_acknowledged(ended: Ended) -> bool:
    """Whether a command said that it did its work; a drain says how much of it."""
    if ended.status != 0 or not is_json(ended.out):
        return False
    return not ended.value().get("errors")


def changed(
    operation: Operation, before: dict[str, bytes], point: Scene, refused: Ended, line: str
) -> Iterator[tuple[str, str]]:
    """Memory files of before that are not as they were, although nobody had the right to."""
    # Only the very last promise of the disk can fail with the new file in its place.
    promised = "fsync(" in line and "/memories>" in line
    own = refused.status == 0 or promised or operation.name not in _AT_ONCE
    after = memory_files(point)
    for name, data in before.items():
        (memory,) = [each for each in point.before if each in name] or [""]
        if after.get(name) != data and not (own and operation.may_change(point, memory)):
            yield "changed", f"{name}: {line}"


def memory_files(scene: Scene) -> dict[str, bytes]:
    """The files of memories by their names, which they keep wherever they are moved."""
    files = scene.files().items()
    return {name.rpartition("/")[2]: data for name, data in files if "/memories/" in name}


def test_a_refused_edit_leaves_every_file_byte_for_byte(
    scene: Scene, starter: Starter, tmp_path: Path
) -> None:
    before = scene.files()
    for error in CAUSES:
        for call in ("openat", "write", "fsync", "rename"):
            point = scene.copied(tmp_path / "point")
            # From the lock on, so that the command gets as far as it can.
            first = 1 if call != "openat" else _first_temporary(scene, starter, tmp_path)
            refused = starter.run(
                ["edit", scene.roles["plain"], "--content", "Entirely new words"],
                point.project,
                point.env,
                inject=f"{call}:error={error}:when={first}+",
            )
            assert refused.status == 1, (call, error)
            assert before.items() <= point.files().items(), (call, error)
            count("R4", points=1)
            shutil.rmtree(point.top)


def _first_temporary(scene: Scene, starter: Starter, tmp_path: Path) -> int:
    """Which `openat` of an edit makes its first unfinished file."""
    point = scene.copied(tmp_path / "measured")
    argv = ["edit", scene.roles["plain"], "--content", "Entirely new words"]
    log = starter.run(argv, point.project, point.env).log
    shutil.rmtree(point.top)
    calls = [line for line in log.splitlines() if " openat(" in line]
    return 1 + next(n for n, line in enumerate(calls) if '.tmp"' in line)


@pytest.mark.parametrize("tried", TRIED, ids=lambda each: each.operation.name)
def test_a_disk_that_takes_a_few_bytes_at_a_time_gets_all_of_them(
    tried: Tried, scene: Scene, starter: Starter, tmp_path: Path
) -> None:
    operation = tried.operation
    point = tried.copy(scene, tmp_path / "point")
    done = starter.run(operation.argv(point), point.project, point.env, traced=False, short=7)
    assert done.status == 0, done.err
    assert list(torn(point)) == []
    assert operation.is_new(point, point.memories())
    count("R4", points=1)


def test_a_purge_whose_index_cannot_be_opened_leaves_no_byte_in_it(
    scene: Scene, starter: Starter, tmp_path: Path
) -> None:
    (purge,) = (each for each in OPERATIONS if each.name == "purge")
    whole = scene.copied(tmp_path / "whole")
    ended = starter.run(purge.argv(whole), whole.project, whole.env)
    places = [n for call, n, line in steps(ended, whole) if 'index.db", O_RDWR|O_CREAT' in line]
    assert places
    for place in places:
        point = scene.copied(tmp_path / f"point{place}")
        inject = f"openat:error=ENOSPC:when={place}"
        done = starter.run(purge.argv(point), point.project, point.env, inject=inject)
        assert done.status == 0, done.err
        assert point.holding(b"mandalorquux") == []
        count("R4", points=1)


@pytest.mark.parametrize("call", ["pwrite64", "fdatasync", "ftruncate"])
@pytest.mark.parametrize("error", ["ENOSPC", "EIO"])
def test_an_index_that_cannot_be_written_stops_no_one(
    call: str, error: str, scene: Scene, starter: Starter, tmp_path: Path
) -> None:
    point = scene.copied(tmp_path / "point")
    inject = f"{call}:error={error}:when=1+"
    kept = starter.run(
        ["remember", "Builds run on two cores only", "--json"],
        point.project,
        point.env,
        inject=inject,
    )
    assert kept.status == 0, kept.err
    asked = starter.run(["recall", "cores", "--json"], point.project, point.env, inject=inject)
    assert asked.status == 0, asked.err
    assert [hit["id"] for hit in asked.value()["hits"]] == [kept.value()["id"]]
    assert kept.value()["id"] in point.memories()
    count("R4", points=2)
