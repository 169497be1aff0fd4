"""A disk that says no, at each step of a change (reliability R4).

Whatever the disk refuses: the person is told the cause and the path, the old file is there byte for
byte, nothing half-written is left, and the same command works once the disk gives way. What is only
derived, the index, may fail without anybody noticing.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.scene import Scene, make_scene
from tests.faults.tracing import Ended, Starter, strace_or_outcome

CAUSES = {
    "ENOSPC": "the disk is full",
    "EDQUOT": "the disk quota is used up",
    "EROFS": "the disk is read-only",
    "EACCES": "permission denied",
    "EIO": "input/output error",
    "EMFILE": "too many files are open",
}
OPERATIONS = {
    "remember": ("remember", "Builds run on two cores only", "--json"),
    "edit": ("edit", "{plain}", "--content", "Entirely new words", "--json"),
    "forget": ("forget", "{plain}", "--json"),
    "purge": ("forget", "{edited}", "--purge", "--yes", "--json"),
}
CALLS = ("openat", "write", "fsync", "rename", "unlink")


@pytest.fixture(scope="module")
def starter() -> Iterator[Starter]:
    strace_or_outcome()
    with Starter() as running:
        yield running


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Scene:
    return make_scene(tmp_path_factory.mktemp("scene") / "template")


def steps(ended: Ended) -> list[tuple[str, int]]:
    """The calls of a command that touch its own files, databases apart, while changing them."""
    found = []
    counts: dict[str, int] = {}
    begun = False
    for line in ended.log.splitlines():
        call = line.split(None, 1)[-1].partition("(")[0]
        counts[call] = counts.get(call, 0) + 1
        # Before the first lock a command only looks around.
        begun = begun or '/.lock"' in line
        if begun and call in CALLS and "/home/" in line and ".db" not in line:
            found.append((call, counts[call]))
    return found


@pytest.mark.parametrize("name", OPERATIONS)
def test_a_refusal_is_told_and_changes_nothing(
    name: str, scene: Scene, starter: Starter, tmp_path: Path
) -> None:
    argv = [word.format(**scene.roles) for word in OPERATIONS[name]]
    whole = scene.copied(tmp_path / "whole")
    ended = starter.run(argv, whole.project, whole.env)
    assert ended.status == 0, ended.err
    wrong: list[str] = []
    tried = 0
    for number, (call, place) in enumerate(steps(ended)):
        # Every step meets two of the six, and every two steps another two.
        errors = list(CAUSES)
        for error in (errors[number % 6], errors[(number + 2) % 6]):
            point = scene.copied(tmp_path / "point")
            inject = f"{call}:error={error}:when={place}"
            refused = starter.run(argv, point.project, point.env, inject=inject)
            wrong += [f"{inject}: {each}" for each in examine(name, argv, point, refused, starter)]
            tried += "(INJECTED)" in refused.log
            shutil.rmtree(point.top)
    assert not wrong, "\n".join(wrong)
    assert tried >= 20


def examine(
    name: str, argv: list[str], point: Scene, refused: Ended, starter: Starter
) -> Iterator[str]:
    """What is wrong after a refusal."""
    (line,) = [each for each in refused.log.splitlines() if "(INJECTED)" in each] or [""]
    if not line:
        return  # this time it made fewer calls
    cause = CAUSES[line.partition(" = -1 ")[2].split()[0]]
    if refused.status == 1:
        if "should not have happened" in refused.err or "Traceback" in refused.err:
            yield f"surprised us: {refused.err}"
        if cause not in refused.err or str(point.home) not in refused.err:
            yield f"does not name cause and path: {refused.err} ({line})"
    elif refused.status != 0:
        yield f"ended with {refused.status}: {refused.err}"
    found = point.memories()
    for path in point.temporary():
        yield f"left {path.relative_to(point.top)}"
    changed = [each for each, before in point.before.items() if found.get(each) != before]
    # Only the very last promise of the disk can fail with the new file in its place.
    promise = "fsync(" in line and "/memories>" in line
    # And what is purged stays so when a view cannot be written without it, which is said.
    promise = promise or "the memory is purged, but" in refused.err
    if refused.status == 1 and not promise and (changed or len(found) != len(point.before)):
        yield f"changed something all the same: {line}"
    again = starter.run(argv, point.project, point.env, traced=False)
    if again.status not in ((0, 1) if name == "purge" else (0,)):
        yield f"does not work when the fault is gone: {again.err}"


def test_a_refused_edit_leaves_the_file_byte_for_byte(
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
            shutil.rmtree(point.top)


def _first_temporary(scene: Scene, starter: Starter, tmp_path: Path) -> int:
    """Which `openat` of an edit makes its first unfinished file."""
    point = scene.copied(tmp_path / "measured")
    argv = ["edit", scene.roles["plain"], "--content", "Entirely new words"]
    log = starter.run(argv, point.project, point.env).log
    shutil.rmtree(point.top)
    calls = [line for line in log.splitlines() if " openat(" in line]
    return 1 + next(n for n, line in enumerate(calls) if '.tmp"' in line)


@pytest.mark.parametrize("call", ["pwrite64", "fdatasync", "ftruncate"])
@pytest.mark.parametrize("error", ["ENOSPC", "EIO"])
def test_an_index_that_cannot_be_written_stops_nobody(
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
