"""Sixteen states of the world times every event: exit 0, valid JSON or nothing, nothing lost.

Reliability R12. Each state is set up, every event is fired in it, the world is made right again,
and a drain must then find every event that a client told us.
"""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

import pytest

from ltm.files.lock import Lock
from ltm.spool import events
from ltm.worker.drain import drain
from tests.effort import ALL
from tests.figures import count, worst
from tests.hook.runner import Hooks, Ran
from tests.hook.test_hook import EVENTS, old_pythons

Send = Callable[[Hooks, bytes], Ran]

HUGE = 10_000_000 if ALL else 4_000_000
"""Characters of a message; a machine that is busy does not read more in the time of a hook."""


@pytest.fixture
def hooks(tmp_path: Path) -> Hooks:
    made = Hooks(tmp_path)
    made.remember("Use port 8082")
    return made


def simply(hooks: Hooks, data: bytes) -> Ran:
    return hooks.send(data)


# -- states: each is set up on entering and made right on leaving --------------------------------


@contextmanager
def all_is_well(hooks: Hooks) -> Iterator[Send]:
    """Also the state without click and PyYAML: hooks run without any installed package."""
    yield simply


@contextmanager
def no_home(hooks: Hooks) -> Iterator[Send]:
    hooks.env["HOME"] = ""
    yield simply
    del hooks.env["HOME"]


@contextmanager
def home_is_not_absolute(hooks: Hooks) -> Iterator[Send]:
    hooks.env["LTM_HOME"] = "some/where"
    yield simply
    del hooks.env["LTM_HOME"]


@contextmanager
def home_is_a_file(hooks: Hooks) -> Iterator[Send]:
    away = hooks.home.with_name("away")
    hooks.home.rename(away)
    hooks.home.write_text("")
    yield simply
    hooks.home.unlink()
    away.rename(hooks.home)


@contextmanager
def read_only_home(hooks: Hooks) -> Iterator[Send]:
    if os.getuid() != 0:
        (hooks.home / "spool").mkdir()
        folders = (hooks.home / "spool", hooks.home)
        for folder in folders:
            folder.chmod(0o500)
        yield simply
        for folder in folders:
            folder.chmod(0o700)
        return
    with mounted(["--bind", str(hooks.home)], hooks.home):
        run_mount(["-o", "remount,ro,bind", str(hooks.home)])
        yield simply


@contextmanager
def full_disk(hooks: Hooks) -> Iterator[Send]:
    away = hooks.home.with_name("away")
    hooks.home.rename(away)
    hooks.home.mkdir()
    with mounted(["-t", "tmpfs", "-o", "size=256k", "tmpfs"], hooks.home):
        filler = hooks.home / "filler"
        with filler.open("wb", buffering=0) as file:
            try:
                while True:
                    file.write(b"x" * 4096)
            except OSError:
                pass
        yield simply
        filler.unlink()
        kept = hooks.home / "spool"
        assert not kept.exists() or not [name for name in os.listdir(kept) if name[0] != "."]
    hooks.home.rmdir()
    away.rename(hooks.home)


@contextmanager
def corrupt_index(hooks: Hooks) -> Iterator[Send]:
    for path in (*hooks.home.rglob("index.db"), hooks.home / "state.db"):
        path.write_bytes(b"this is no database at all" * 1000)
    for path in hooks.home.rglob("briefs/*"):
        path.write_bytes(b"{")
    yield simply


@contextmanager
def locked_databases(hooks: Hooks) -> Iterator[Send]:
    opened = []
    for path in (*hooks.home.rglob("index.db"), hooks.home / "state.db"):
        db = sqlite3.connect(path, isolation_level=None)
        db.execute("PRAGMA locking_mode = EXCLUSIVE")
        db.execute("BEGIN EXCLUSIVE")
        opened.append(db)
    yield simply
    for db in opened:
        db.close()


@contextmanager
def hung_lock_holder(hooks: Hooks) -> Iterator[Send]:
    (hooks.home / "runtime.json").write_text(json.dumps({"python": sys.executable}))
    with ExitStack() as stack:
        vaults = [path.parent for path in hooks.home.rglob("memories")]
        for path in (hooks.home / "drain.lock", *(vault / ".lock" for vault in vaults)):
            lock = Lock(str(path))
            assert lock.acquire(patience=5)
            stack.callback(lock.release)
        yield simply
    (hooks.home / "runtime.json").unlink()


@contextmanager
def huge_transcript_path(hooks: Hooks) -> Iterator[Send]:
    def send(hooks: Hooks, data: bytes) -> Ran:
        payload = json.loads(data)
        payload["transcript_path"] = "/" + "x" * 1_000_000
        return hooks.send(json.dumps(payload).encode())

    yield send


@contextmanager
def folder_is_not_utf8(hooks: Hooks) -> Iterator[Send]:
    folder = os.fsencode(hooks.top) + b"/caf\xe9"
    try:
        os.mkdir(folder)
    except OSError:
        pytest.skip("this disk takes only names in UTF-8")

    def send(hooks: Hooks, data: bytes) -> Ran:
        # A client that passes the bytes of a path on as they are.
        sent = data.replace(os.fsencode(hooks.project), folder)
        assert sent != data
        return hooks.send(sent, cwd=os.fsdecode(folder))

    yield send


@contextmanager
def folder_was_deleted(hooks: Hooks) -> Iterator[Send]:
    def send(hooks: Hooks, data: bytes) -> Ran:
        gone = hooks.top / "gone"
        gone.mkdir()
        script = 'cd "$0" && rmdir "$0" && exec "$@"'
        command = ["/bin/sh", "-c", script, str(gone), *hooks.command()]
        sent = data.replace(os.fsencode(hooks.project), os.fsencode(gone))
        return hooks.send(sent, command=command)

    yield send


@contextmanager
def huge_message(hooks: Hooks) -> Iterator[Send]:
    def send(hooks: Hooks, data: bytes) -> Ran:
        payload = {**json.loads(data), "prompt": "x" * HUGE}
        return hooks.send(json.dumps(payload).encode())

    yield send


@contextmanager
def stdin_stays_open(hooks: Hooks) -> Iterator[Send]:
    def send(hooks: Hooks, data: bytes) -> Ran:
        with hooks.running() as running:
            running.say(data)
            return running.answer()

    yield send


@contextmanager
def old_python(hooks: Hooks) -> Iterator[Send]:
    found = [path for path in old_pythons() if not path.endswith(("3.6", "3.7"))]
    if not found:
        pytest.skip("no Python from 3.8 to 3.10 on this machine")
    hooks.python = found[0]
    (hooks.home / "runtime.json").write_text(json.dumps({"python": sys.executable}))
    lock = Lock(str(hooks.home / "drain.lock"))
    assert lock.acquire(patience=5)
    yield simply
    lock.release()


@contextmanager
def garbage_on_stdin(hooks: Hooks) -> Iterator[Send]:
    yield lambda hooks, data: hooks.send(b"\xff\x00{nonsense" + data)


@contextmanager
def nothing_on_stdin(hooks: Hooks) -> Iterator[Send]:
    yield lambda hooks, data: hooks.send(b"")


WORLDS = {
    world.__name__: world
    for world in (
        all_is_well,
        no_home,
        home_is_not_absolute,
        home_is_a_file,
        read_only_home,
        full_disk,
        corrupt_index,
        locked_databases,
        hung_lock_holder,
        huge_transcript_path,
        folder_is_not_utf8,
        folder_was_deleted,
        huge_message,
        stdin_stays_open,
        old_python,
        garbage_on_stdin,
        nothing_on_stdin,
    )
}
SAY_NOTHING = ("garbage_on_stdin", "nothing_on_stdin")


def judged(event: str, fire: Callable[[], Ran]) -> Ran:
    """Fire a hook and note for the table how it ended, and how long a session waited for it."""
    began = time.perf_counter()
    ran = fire()
    taken = round((time.perf_counter() - began) * 1000)
    try:
        invalid = bool(ran.out) and not isinstance(json.loads(ran.out), dict)
    except ValueError:
        invalid = True
    count("R12", hooks_fired=1, exits_not_0=int(ran.rc != 0), invalid_stdout=int(invalid))
    worst("R12", **{"session_end_ms" if event == "SessionEnd" else "slowest_ms": taken})
    return ran


@pytest.mark.parametrize("name", WORLDS)
def test_a_session_never_notices_and_no_event_is_lost(hooks: Hooks, name: str) -> None:
    with WORLDS[name](hooks) as send:
        for event in EVENTS:
            fields = {"agent_id": "a", "agent_type": "b", "source": "startup"}
            data = json.dumps(hooks.payload(event, **fields)).encode()
            ran = judged(event, partial(send, hooks, data))
            assert (ran.rc, ran.err) == (0, ""), event
            assert ran.told == "" or event == "SessionStart"
    kept = [str(record["event"]) for record in hooks.waiting()]
    assert kept == ([] if name in SAY_NOTHING else list(EVENTS))
    home = str(hooks.home)
    done = drain(home, environ=hooks.environ, settle=0)
    count("R12", worlds=1, events_lost=(0 if name in SAY_NOTHING else len(EVENTS)) - done.events)
    assert (done.events, done.errors) == (len(kept), 0)
    assert events.waiting(home, hooks.environ) == []


@pytest.mark.parametrize(
    "name",
    [
        "all_is_well",
        "read_only_home",
        "hung_lock_holder",
        "huge_transcript_path",
        "huge_message",
        "stdin_stays_open",
        "old_python",
    ],
)
def test_memories_are_told_wherever_they_can_be_read(hooks: Hooks, name: str) -> None:
    with WORLDS[name](hooks) as send:
        data = json.dumps(hooks.payload("SessionStart", source="startup")).encode()
        # On a busy machine a hook may run out of its time; what it then says is not looked at here.
        said = (send(hooks, data).told for _ in range(5))
        assert "8082" in next(filter(None, said), "")


@contextmanager
def mounted(words: list[str], place: Path) -> Iterator[None]:
    if os.getuid() != 0:
        pytest.skip("only root can mount a small disk")
    try:
        run_mount([*words, str(place)])
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"no disk can be mounted here: {error}")
    try:
        yield
    finally:
        # A drain that a hook started may still have it open; the disk goes with the last of them.
        subprocess.run(["umount", "--lazy", str(place)], check=True)


def run_mount(words: list[str]) -> None:
    subprocess.run(["mount", *words], capture_output=True, check=True)
