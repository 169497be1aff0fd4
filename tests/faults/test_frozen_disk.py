"""A disk that stops for a while, as a network disk or a tired one does (reliability R26).

A small file system is frozen with `fsfreeze`: what writes to it waits, and cannot be ended either.
Hooks return in their time all the same, and when the disk is back every event is there, once.
"""

from __future__ import annotations

import json
import os
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ltm.spool.events import in_order
from ltm.worker.drain import drain
from tests.e2e.client import wait_until
from tests.figures import count, worst
from tests.hook.runner import Hooks
from tests.hook.test_hook import EVENTS
from tests.sessions.writing import Transcript

_TOOLS = {"PATH": f"{os.environ['PATH']}:/usr/sbin:/sbin"}
_LONGEST = 20.0  # seconds after which a frozen disk goes on even if a test does not


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of its own."""
    if os.name == "nt" or os.geteuid() != 0:
        pytest.skip("only root can mount a disk and freeze it")
    image, folder = tmp_path / "disk.img", tmp_path / "disk"
    folder.mkdir()
    with image.open("wb") as file:
        file.truncate(32 * 2**20)
    subprocess.run(["mkfs.ext4", "-q", str(image)], check=True, env=_TOOLS)
    words = ["mount", "-o", "loop", str(image), str(folder)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"no disk can be mounted here: {done.stderr.strip()}")
    try:
        with frozen(folder):
            pass
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


@contextmanager
def frozen(disk: Path) -> Iterator[None]:
    done = subprocess.run(
        ["fsfreeze", "-f", str(disk)], env=_TOOLS, capture_output=True, text=True, check=False
    )
    if done.returncode:
        pytest.skip(f"no disk can be frozen here: {done.stderr.strip()}")
    # A process that waits for it cannot be ended: a test that waits for the process must not.
    timer = threading.Timer(_LONGEST, _thaw, [disk])
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        _thaw(disk)


def _thaw(disk: Path) -> None:
    words = ["fsfreeze", "-u", str(disk)]
    subprocess.run(words, env=_TOOLS, capture_output=True, check=False)


def fire(hooks: Hooks, event: str) -> None:
    """Fire a hook, check how it ends, and note how long the client waited for it."""
    fields = {"agent_id": "a", "agent_type": "b", "source": "startup"}
    began = time.perf_counter()
    ran = hooks.fire(event, **fields)
    taken = time.perf_counter() - began
    assert taken < _LONGEST / 2, "it waited for the disk"
    said = json.loads(ran.out or "{}")
    assert list(said) == (["systemMessage"] if event == "SessionStart" else [])
    kind = "session_end_ms" if event == "SessionEnd" else "slowest_ms"
    worst("R26", **{kind: round(taken * 1000)})


def waiting(hooks: Hooks, home: str) -> set[str]:
    """The keys of the events that wait."""
    return {each.key for each in in_order(home, hooks.environ)}


@pytest.fixture(params=["elsewhere", "on the same disk"])
def hooks(request: pytest.FixtureRequest, tmp_path: Path, disk: Path) -> Hooks:
    """Hooks whose home is on the disk; where temporary files go may be on it too."""
    made = Hooks(tmp_path, env={"LTM_HOME": str(disk / "home")})
    made.home.mkdir(parents=True)
    (disk / "home").mkdir()
    if request.param == "on the same disk":
        (disk / "tmp").mkdir()
        made.env["TMPDIR"] = str(disk / "tmp")
    return made


def test_hooks_return_in_time_and_their_events_are_there_when_the_disk_is_back(
    hooks: Hooks, disk: Path
) -> None:
    transcript = Transcript(hooks.top / f"{hooks.session}.jsonl", hooks.session)
    cwd = str(hooks.project)
    transcript.user("Please remember that the staging database is wiped every night.", cwd=cwd)
    transcript.says("I will.", cwd=cwd)
    home = str(disk / "home")
    with frozen(disk):
        for event in EVENTS:
            fire(hooks, event)
    wait_until(lambda: len(waiting(hooks, home)) == len(EVENTS), "every event")
    done = drain(home, environ=hooks.environ, settle=0)
    again = drain(home, environ=hooks.environ, settle=0)
    count(
        "R26",
        hooks_on_a_frozen_disk=len(EVENTS),
        events_lost=len(EVENTS) - done.events,
        events_twice=again.events,
    )
    assert (done.events, done.errors, again.events) == (len(EVENTS), 0, 0)
    assert "wiped every night" in hooks.ltm("list").stdout


def test_a_disk_that_stops_again_and_again_loses_no_event(hooks: Hooks, disk: Path) -> None:
    home = str(disk / "home")
    sessions = [f"s{number}" for number in range(8)]
    ends = threading.Event()

    def stutter() -> None:
        while not ends.is_set():
            with frozen(disk):
                ends.wait(0.7)
            ends.wait(0.02)

    thread = threading.Thread(target=stutter)
    thread.start()
    try:
        for session in sessions:
            hooks.session = session
            assert hooks.fire("SessionEnd", reason="other").out == ""
    finally:
        ends.set()
        thread.join()
    wait_until(lambda: len(waiting(hooks, home)) == len(sessions), "every event")
    done = drain(home, environ=hooks.environ, settle=0)
    count("R26", hooks_on_a_slow_disk=len(sessions), events_lost=len(sessions) - done.events)
    assert (done.events, done.errors) == (len(sessions), 0)
