"""kill -9 at many points of a sync, of ltm and of the git it runs: the next sync finishes it.

No memory is lost, no file is torn, no removal is undone that was not meant to be, and both machines
end with the same.
"""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path

from tests.effort import ALL
from tests.faults.conftest import starter  # noqa: F401
from tests.faults.tracing import CALLS, Starter
from tests.figures import count
from tests.remote.machines import Machine, pair

KILLS = 60 if ALL else 16
EDITED = "Apples are red.\nPears are green.\nPlums are blue."


def scene(top: Path) -> tuple[Machine, Machine]:
    """Both have changed the same memory, added some and removed one, and only `two` has synced."""
    one, two = pair(top)
    memory, doomed = one.remember(EDITED), one.remember("The old queue is drained by hand")
    one.now(), two.now()
    one.ok("edit", memory, "--content", EDITED.replace("red", "yellow"))
    two.ok("edit", memory, "--content", EDITED.replace("blue", "violet"))
    two.file_of(doomed).unlink()
    for number in range(3):
        one.remember(f"Machine one learned that service {number} needs {number + 2} replicas")
        two.remember(f"Machine two learned that table {number} has {number + 5} shards")
    two.now()
    return one, two


def moved(machine: Machine, here: Path, top: Path) -> Machine:
    """The machine in a copy of its folders."""
    path = machine.home.relative_to(here)
    project = machine.project.relative_to(here)
    env = {**machine.env, "GIT_CONFIG_GLOBAL": str(top / path / "gitconfig")}
    return Machine(top / path, top / project, env, remote=str(top / "memories.git"))


def copied(one: Machine, two: Machine, here: Path, top: Path) -> tuple[Machine, Machine]:
    shutil.copytree(here, top, symlinks=True)
    for each in (one, two):
        settings = top / each.ltm_home.relative_to(here) / "remote" / "settings.json"
        value = json.loads(settings.read_text())
        settings.write_text(json.dumps({**value, "address": str(top / "memories.git")}))
    return moved(one, here, top), moved(two, here, top)


def problems(machine: Machine) -> list[str]:
    """What the doctor says: the memory that was removed is named by the next one."""
    found = json.loads(machine.run("doctor", "--json").stdout)["problems"]
    return sorted(each["message"] for each in found)


def test_a_killed_sync_loses_nothing_and_is_finished_by_the_next(
    starter: Starter,  # noqa: F811
    tmp_path: Path,
) -> None:
    here = tmp_path / "scene"
    first, second = scene(here)
    words = ["remote", "now", "--json"]
    one, two = copied(first, second, here, tmp_path / "whole")
    done = starter.run(words, one.project, one.environ())
    assert done.status == 0, done.err
    two.now()
    expected = one.texts()
    assert two.texts() == expected
    assert len(expected) == 7
    known = problems(one)
    per_process: Counter[tuple[str, str]] = Counter()
    for line in done.log.splitlines():
        pid, _, rest = line.partition(" ")
        call = rest.strip().partition("(")[0]
        if call in CALLS:
            per_process[pid, call] += 1
    most: Counter[str] = Counter()
    for (_, call), number in per_process.items():
        most[call] = max(most[call], number)
    points = [(call, when) for call, number in most.items() for when in range(1, number + 1)]
    chosen = points[:: max(1, len(points) // KILLS)]
    killed = 0
    for number, (call, when) in enumerate(chosen):
        top = tmp_path / f"kill-{number}"
        one, two = copied(first, second, here, top)
        dead = starter.run(
            words, one.project, one.environ(), inject=f"{call}:signal=KILL:when={when}"
        )
        killed += dead.status == -9
        one.now(), two.now(), one.now()
        point = f"{call} {when}: {dead.status} {dead.err}"
        assert one.files() == two.files(), point
        texts = one.texts()
        assert texts.keys() == expected.keys(), point
        assert all(
            sorted(texts[each].splitlines()) == sorted(expected[each].splitlines())
            for each in expected
        ), point
        assert problems(one) == known, point
        shutil.rmtree(top)
    count("R1", points=len(chosen), lost=0, torn=0, temporary=0, unusable=0)
    assert killed >= KILLS // 5  # the others ended a git that the sync had started
