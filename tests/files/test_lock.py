"""One writer at a time, and a dead one holds nothing."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ltm.errors import Busy, StorageFailed
from ltm.files import lock as module
from ltm.files.lock import Lock

HOLD = """
import sys
from ltm.files.lock import Lock
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
    """traps 2.4 #4: one look whether a lock is there and another to take it."""
    process = hold(tmp_path / "lock")
    try:
        assert not Lock(str(tmp_path / "lock")).acquire(patience=0.0)
    finally:
        process.communicate()


def test_a_killed_holder_holds_nothing(tmp_path: Path) -> None:
    """traps 2.4 #4: a process number that was given away again kept a lock for ever."""
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
    process = hold(tmp_path / "lock")
    try:
        with (
            pytest.raises(Busy, match="another process has been writing"),
            Lock(str(tmp_path / "lock")),
        ):
            pass
    finally:
        process.communicate()


def test_a_lock_file_that_was_deleted_keeps_no_one_out_and_lets_no_one_in(tmp_path: Path) -> None:
    """`git clean -xdf` takes the lock's file away; the next two to come agree on another."""
    path = tmp_path / "lock"
    process = hold(path)
    path.unlink()
    first, second = Lock(str(path)), Lock(str(path))
    assert first.acquire(patience=0.0)
    assert not second.acquire(patience=0.0)
    process.communicate()
    assert not second.acquire(patience=0.0)
    first.release()
    assert second.acquire(patience=0.0)
    second.release()


def test_a_place_that_can_hold_no_lock_is_named(tmp_path: Path) -> None:
    with pytest.raises(StorageFailed, match="take the write lock") as caught:
        Lock(str(tmp_path / "nowhere" / "lock")).acquire(patience=0.0)
    assert str(tmp_path) in str(caught.value)


def test_who_gives_no_time_is_told_at_once_and_a_disk_that_fails_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = Lock(str(tmp_path / "lock")), Lock(str(tmp_path / "lock"))
    assert one.acquire(0)
    assert not two.acquire(0)
    one.release()
    assert two.acquire(0)
    two.release()

    def refuse(handle: int, how: int) -> None:
        raise OSError(errno.EIO, "broken")

    monkeypatch.setattr("fcntl.flock", refuse)
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    with pytest.raises(StorageFailed, match="could not take the write lock"):
        one.acquire(0)
    after = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    assert after == before, "the file is closed again"


def test_a_lock_that_cannot_be_given_back_is_given_back_by_closing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = Lock(str(tmp_path / "lock")), Lock(str(tmp_path / "lock"))
    assert one.acquire(0)

    def refuse(handle: int, how: int) -> None:
        raise OSError(errno.EIO, "broken")

    with monkeypatch.context() as patch:
        patch.setattr("fcntl.flock", refuse)
        one.release()
    assert two.acquire(0)
    two.release()
