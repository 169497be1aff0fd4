"""One writer at a time, and a dead one holds nothing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from ltm.core.errors import Busy
from ltm.storage import lock as module
from ltm.storage.lock import Lock

HOLD = """
import sys
from ltm.storage.lock import Lock
with Lock(sys.argv[1]):
    print("held", flush=True)
    sys.stdin.read()
"""


def hold(path: Path) -> subprocess.Popen[bytes]:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"held\n"
    return process


def test_a_held_lock_is_not_given_twice(tmp_path: Path) -> None:
    process = hold(tmp_path / "lock")
    try:
        assert not Lock(str(tmp_path / "lock")).acquire(patience=0.0)
    finally:
        process.communicate()


def test_a_killed_holder_holds_nothing(tmp_path: Path) -> None:
    process = hold(tmp_path / "lock")
    process.kill()
    process.communicate()
    assert Lock(str(tmp_path / "lock")).acquire(patience=0.0)


def test_the_holder_may_take_it_again(tmp_path: Path) -> None:
    lock = Lock(str(tmp_path / "lock"))
    with lock, lock:
        assert not Lock(str(tmp_path / "lock")).acquire(patience=0.0)
    other = Lock(str(tmp_path / "lock"))
    assert other.acquire(patience=0.0)
    other.release()


def test_waiting_too_long_is_told_plainly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PATIENCE", 0.0)
    monkeypatch.setattr(Lock.acquire, "__defaults__", (0.0,))
    process = hold(tmp_path / "lock")
    try:
        with (
            pytest.raises(Busy, match="another process has been writing"),
            Lock(str(tmp_path / "lock")),
        ):
            pass
    finally:
        process.communicate()
