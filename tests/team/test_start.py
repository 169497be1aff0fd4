"""A session's start and a question with a team: the same work as without, and no network."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

from ltm.files.lock import Lock
from ltm.hook import main
from ltm.hook.receive import LOCK
from tests.team.world import Machine, TeamWorld

_COUNTED = """
import atexit, os, sys
seen = {{}}
def hear(name, arguments):
    if name.startswith("socket.") or name in ("open", "os.listdir", "os.scandir"):
        seen[name] = seen.get(name, 0) + 1
sys.addaudithook(hear)
before = set(sys.modules)
shown = os.dup(2)
def show():
    loaded = sorted(set(sys.modules) - before)
    lines = [f"{{name}}={{count}}" for name, count in sorted(seen.items())]
    os.write(shown, "\\n".join([*loaded, *lines, ""]).encode())
atexit.register(show)
leave = os._exit
def end(code):
    show()
    leave(code)
os._exit = end
sys.path.insert(0, {root!r})
{run}
"""
_HOOK = "from ltm.hook import main; main.main()"
_RECALL = "sys.argv = ['ltm', 'recall', 'harbour']; from ltm.cli.main import main; main()"


Ran: TypeAlias = tuple[str, set[str], Counter[str]]
Ask: TypeAlias = Callable[[Machine], Ran]


def ran(machine: Machine, run: str, stdin: str) -> Ran:
    """What a process prints, the modules it loads, and how often it opens and connects."""
    program = _COUNTED.format(root=str(Path(main.__file__).parents[2]), run=run)
    bare = ["-I", "-S"] if run == _HOOK else []
    done = subprocess.run(
        [sys.executable, *bare, "-c", program],
        input=stdin,
        cwd=machine.project,
        env=machine.env,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    words = done.stderr.split()
    counts = dict(word.split("=") for word in words if "=" in word)
    modules = {word for word in words if "=" not in word}
    return done.stdout, modules, Counter({name: int(count) for name, count in counts.items()})


def start(machine: Machine) -> Ran:
    """A session's start, its text composed from nothing."""
    event = {"hook_event_name": "SessionStart", "session_id": "s", "source": "startup"}
    message = {**event, "cwd": str(machine.project), "transcript_path": ""}
    with Lock(os.path.join(machine.home, LOCK)):  # a drain would make the text meanwhile
        for path in (machine.home / "briefs").glob("*"):
            path.unlink()
        return ran(machine, _HOOK, json.dumps(message))


def question(machine: Machine) -> Ran:
    return ran(machine, _RECALL, "")


def settled(machine: Machine, ask: Ask) -> Ran:
    """What is asked of a machine once nothing is left to compile and index, a little each time."""
    before = ask(machine)
    for _ in range(9):
        after = ask(machine)
        if after == before:
            break
        before = after
    return before


@pytest.mark.parametrize("ask", [start, question])
def test_with_a_dead_server_the_work_is_that_of_a_live_one_and_none_is_network(
    world: TeamWorld, ask: Ask
) -> None:
    machine = world.machine("ben")
    machine.remember("The harbour opens at six")
    machine.sync()
    machine.ltm("remember", "The harbour is closed on Sundays")
    alive = settled(machine, ask)
    world.server.kill()
    machine.run("team", "sync")
    dead = ask(machine)
    world.server.start()
    assert "opens at six" in dead[0]
    assert dead == alive
    assert not [name for name in dead[2] if name.startswith("socket.")]
    alone = Machine(world.folder / "alone")
    alone.ltm("remember", "The harbour is closed on Sundays")
    without = settled(alone, ask)
    assert dead[1] == without[1]  # modules
    assert not {name for name in dead[1] if name.startswith(("ltm.team", "ltm_server"))}
    # The folder of teams, the team's note, its index and what a look at its files opens.
    assert dead[2].total() - without[2].total() <= 16


def test_a_round_that_fails_is_tried_later_and_later(world: TeamWorld) -> None:
    machine = world.machine("ben")
    machine.remember("Fish is sold on Thursdays")
    world.server.kill()
    assert machine.run("team", "sync").returncode == 1
    said = json.loads((machine.replica / "sync.json").read_text())
    assert said["failures"] == 1
    machine.ltm("drain")  # not due yet, so it is not tried
    assert json.loads((machine.replica / "sync.json").read_text()) == said
    (machine.replica / "sync.json").write_text(json.dumps({**said, "at": said["at"] - 31}))
    machine.ltm("drain")
    again = json.loads((machine.replica / "sync.json").read_text())
    assert again["failures"] == 2
    assert "cannot be reached" in machine.status()["error"]
    assert machine.status()["unsent"] == 1
    assert "1 team not reached: ltm team" in machine.run("status").stderr
    world.server.start()
    (machine.replica / "sync.json").write_text(json.dumps({**again, "at": again["at"] - 61}))
    machine.ltm("drain")
    assert machine.status()["unsent"] == 0
    assert machine.status()["error"] == ""
    assert world.memories() == 1
