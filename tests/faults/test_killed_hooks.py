"""Events whose hooks are killed: what was written whole is done, once (reliability R27)."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from ltm.spool import events as spool
from ltm.worker.drain import drain
from tests.faults.tracing import strace_or_outcome
from tests.figures import count
from tests.hook.runner import PROGRAM, Hooks
from tests.sessions.writing import Transcript

pytestmark = pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="kills what /proc lists")

CALLS = ("openat", "fchmod", "write", "utimensat", "fsync", "rename", "close")
PUT = f"""
import os, sys
sys.path.insert(0, {str(PROGRAM.parents[2])!r})
from ltm.spool import events
record = {{"event": "SessionEnd", "session": "s1", "cwd": "/", "transcript": "/gone"}}
events.put(sys.argv[1], record, {{"TMPDIR": sys.argv[2]}})
"""


def traced(words: list[str], log: Path, *inject: str) -> None:
    """Run a program under strace; with `inject` it is killed on the way."""
    strace_or_outcome()
    options = ["-f", "-y", "-o", str(log), "-e", f"trace={','.join(CALLS)}", *inject]
    subprocess.run(["strace", *options, *words], capture_output=True, check=False)


def points(log: str) -> list[tuple[str, int]]:
    """The calls on an event's file, each by its name and number."""
    met: Counter[str] = Counter()
    found = []
    for call, about in re.findall(r"^\d+ +(\w+)\((.*)$", log, re.MULTILINE):
        met[call] += 1
        if "/spool" in about:
            found.append((call, met[call]))
    return found


def test_an_event_that_was_written_whole_before_its_hook_was_killed_is_done_once(
    tmp_path: Path,
) -> None:
    """It used to lie there for an hour and then be swept away."""
    log, tmp = tmp_path / "log", tmp_path / "tmp"
    tmp.mkdir()

    def words(home: Path) -> list[str]:
        (home / "spool").mkdir(parents=True)
        return [sys.executable, "-I", "-S", "-c", PUT, str(home), str(tmp)]

    traced(words(tmp_path / "first"), log)
    adopted = 0
    for place, (call, number) in enumerate(points(log.read_text())):
        home = tmp_path / str(place)
        inject = f"inject={call}:signal=SIGKILL:when={number}"
        traced(words(home), log, "-e", inject)
        files = list((home / "spool").iterdir())
        whole = [path for path in files if path.read_bytes().endswith(b"}")]
        adopted += sum(path.name.endswith(".tmp") for path in whole)
        done = drain(str(home), environ={"TMPDIR": str(tmp)}, settle=0)
        again = drain(str(home), environ={"TMPDIR": str(tmp)}, settle=0)
        count(
            "R27",
            hooks_killed=1,
            whole_events_lost=len(whole) - done.events,
            events_twice=again.events,
        )
        assert (done.events, again.events) == (len(whole), 0), inject
        assert [path for path in whole if path.exists()] == []
    assert adopted >= 3


def _event(home: Path, name: str, text: str, age: float = 0.0) -> Path:
    path = home / "spool" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    os.utime(path, (time.time() - age, time.time() - age))
    return path


KEY = "00001794842000000000-0000007-00000000"
WHOLE = '{"event":"Stop","session":"s1"}'


@pytest.mark.parametrize(
    ("name", "text", "age", "events"),
    [
        (f".{KEY}.St.0123456789ab.tmp", WHOLE, 0, 1),
        (f".{KEY}.St.0123456789ab.tmp", WHOLE[:-1], 0, 0),
        (f".{KEY}.St.0123456789ab.tmp", WHOLE + "{", 0, 0),
        (f".{KEY}.St.0123456789ab.tmp", "\0" * 30, 0, 0),
        (f".{KEY}.St.0123456789ab.tmp", '{"event":"../../Stop","session":"s1"}', 0, 0),
        (f".{KEY}.ev.0123456789ab.tmp", f'{{"events":{{"{KEY}":{WHOLE}}}}}', 0, 1),
        (".runtime.json.0123456789ab.tmp", '{"python":"/usr/bin/python3"}', 0, 0),
        (f".{KEY}.tmp", WHOLE + "\n", 60, 1),
        (f".{KEY}.tmp", WHOLE + "\n", 0, 0),
    ],
    ids=[
        "whole",
        "cut off",
        "too much",
        "nothing but zeros",
        "a path for a name",
        "several",
        "no event",
        "of a hook in sh",
        "of a hook in sh that may be at work",
    ],
)
def test_only_what_is_whole_and_left_alone_is_taken_for_an_event(
    tmp_path: Path, name: str, text: str, age: float, events: int
) -> None:
    home, environ = tmp_path / "home", {"TMPDIR": str(tmp_path)}
    path = _event(home, name, text, age)
    assert drain(str(home), environ=environ, settle=0).events == events
    assert path.exists() is not bool(events)


def test_an_event_that_also_has_its_name_already_is_one_event(tmp_path: Path) -> None:
    home, environ = tmp_path / "home", {"TMPDIR": str(tmp_path)}
    _event(home, f".{KEY}.St.0123456789ab.tmp", WHOLE)
    _event(home, f"{KEY}.Stop.json", WHOLE)
    assert drain(str(home), environ=environ, settle=0).events == 1
    assert os.listdir(home / "spool") == []


def test_an_event_someone_is_still_writing_is_left_to_them(tmp_path: Path) -> None:
    import fcntl

    home, environ = tmp_path / "home", {"TMPDIR": str(tmp_path)}
    path = _event(home, f".{KEY}.St.0123456789ab.tmp", WHOLE)
    with path.open("r+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert spool.is_waiting(str(home), environ) is False
    assert spool.is_waiting(str(home), environ) is True


def test_in_a_storm_of_kills_no_transcript_is_lost(tmp_path: Path) -> None:
    """Each hook of a session's end is killed with all its processes, at any moment of its life."""
    hooks = Hooks(tmp_path)
    chance = random.Random(26)
    sessions = [f"storm-{number}" for number in range(12)]
    for session in sessions:
        hooks.session = session
        transcript = Transcript(tmp_path / f"{session}.jsonl", session)
        cwd = str(hooks.project)
        transcript.user(f"Please remember that rack {session} has a red lamp.", cwd=cwd)
        transcript.says("I will.", cwd=cwd)
        hooks.fire("SessionStart", source="startup")
        with hooks.running(start_new_session=True) as running:
            running.say(json.dumps(hooks.payload("SessionEnd", reason="other")).encode())
            running.close()
            time.sleep(chance.uniform(0, 0.05))
            _kill_all(hooks.environ["TMPDIR"])
    folder = hooks.home / "spool"
    whole = {
        path.name.lstrip(".").partition(".")[0]
        for path in folder.iterdir()
        if '"SessionEnd"' in path.read_text() and path.read_text().endswith("}")
    }
    drain(str(hooks.home), environ=hooks.environ, settle=0)
    listed = json.loads(hooks.ltm("sessions", "--all", "--json").stdout)["sessions"]
    ended = sum(bool(each["ended"]) for each in listed)
    hooks.session = "after"
    hooks.fire("SessionStart", source="startup")
    drain(str(hooks.home), environ=hooks.environ, settle=0)
    said = hooks.ltm("list", "--limit", "50").stdout
    lost = [session for session in sessions if session not in said]
    count("R27", ends_killed=len(sessions), ends_kept=ended, transcripts_lost=len(lost))
    assert ended >= len(whole)  # one may still be written while the files are counted
    assert lost == []


def _kill_all(mark: str) -> None:
    """Kill every process that works for one test, which its environment tells."""
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            if f"TMPDIR={mark}".encode() in path.read_bytes().split(b"\0"):
                os.kill(int(path.parent.name), signal.SIGKILL)
        except OSError:
            continue
