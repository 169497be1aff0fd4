"""One writer at a time in a vault: a lock the kernel releases when its holder dies.

The lock is a file of its own and not a transaction of the index, because the index is disposable:
if deleting it could also delete the lock, two writers could believe they are alone.
"""

from __future__ import annotations

import os
import time

from ltm.errors import Busy
from ltm.files.atomic import failed, try_lock

PATIENCE = 30.0
"""Seconds a writer waits for its turn before it says that it could not have it."""

ADVICE = "wait for it, or end it if it hangs, then run the same command again"
"""What to do about another process that is in the way."""


class Lock:
    """An exclusive lock on a path, used with `with`; it can be taken again by its own holder."""

    def __init__(self, path: str, *, mode: int = 0o600) -> None:
        self.path = path
        self._mode = mode
        self._handle: int | None = None
        self._depth = 0

    def acquire(self, patience: float | None = None) -> bool:
        """Take the lock, waiting `patience` or PATIENCE seconds; False when it was not free."""
        if self._depth:
            self._depth += 1
            return True
        deadline = time.monotonic() + (PATIENCE if patience is None else patience)
        pause = 0.0005
        try:
            while (handle := self._try()) is None:
                if time.monotonic() >= deadline:
                    return False
                time.sleep(pause)
                pause = min(pause * 1.5, 0.02)
        except OSError as error:
            raise failed(error, "take the write lock", self.path) from error
        self._handle, self._depth = handle, 1
        return True

    def _try(self) -> int | None:
        """An open handle that holds the lock, or None while another process holds it."""
        handle = os.open(self.path, os.O_RDWR | os.O_CREAT, self._mode)
        try:
            # A lock file that was deleted meanwhile (`git clean`) no longer locks anything.
            if _try_lock(handle) and (os.name == "nt" or os.fstat(handle).st_nlink):
                return handle
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)
        return None

    def release(self) -> None:
        """Give the lock back."""
        self._depth -= 1
        if self._depth == 0 and self._handle is not None:
            handle, self._handle = self._handle, None
            try:
                _unlock(handle)
            except OSError:
                pass  # closing gives it back as well
            os.close(handle)

    def busy(self) -> Busy:
        """The error for a caller that did not get the lock in time."""
        return Busy(
            f"another process has been writing to this vault for {PATIENCE:.0f} seconds",
            path=self.path,
            hint=ADVICE,
        )

    def __enter__(self) -> Lock:
        if not self.acquire():
            raise self.busy()
        return self

    def __exit__(self, *error: object) -> None:
        self.release()


if os.name == "nt":  # pragma: no cover - exercised on Windows only
    import msvcrt

    def _try_lock(handle: int) -> bool:
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        except OSError:
            return False
        return True

    def _unlock(handle: int) -> None:
        os.lseek(handle, 0, os.SEEK_SET)
        msvcrt.locking(handle, msvcrt.LK_UNLCK, 1)  # type: ignore[attr-defined]

else:
    import fcntl

    _try_lock = try_lock

    def _unlock(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_UN)
