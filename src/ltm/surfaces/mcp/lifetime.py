"""The server ends when its client ends, however that happens, and leaves nothing behind.

A client that goes away closes our input, and the SDK's loop ends. That is not enough: a process the
client started may still hold the pipe, or the client wants us gone at once. So signals are obeyed
without a goodbye, and the parent is looked for every second. Leaving at any moment is safe, since
every change of the store is whole or not made; calls at work are given a moment to finish.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

GRACE = 1.0
"""Seconds calls at work may take to finish when we are told to end."""

_INTERVAL = 1.0


class Lifetime:
    """When this process ends, and who is at work until then."""

    def __init__(self) -> None:
        self._change = threading.Condition()
        self._calls = 0
        self._parent = os.getppid()

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """Count a running call, which the end of the process waits for."""
        with self._change:
            self._calls += 1
        try:
            yield
        finally:
            with self._change:
                self._calls -= 1
                self._change.notify_all()

    @property
    def is_idle(self) -> bool:
        """Whether no call is running."""
        return not self._calls

    def end_with_client(self) -> None:
        """From now on, end on a signal and when the process that started us is gone."""
        for name in ("SIGINT", "SIGTERM", "SIGHUP"):
            if hasattr(signal, name):
                signal.signal(getattr(signal, name), self._told)
        threading.Thread(target=self._watch, name="ltm-parent", daemon=True).start()

    def _told(self, number: int, frame: FrameType | None) -> None:
        self.leave()

    def _watch(self) -> None:
        waiting = threading.Event()
        while os.getppid() == self._parent:
            waiting.wait(_INTERVAL)
        self.leave()

    def leave(self) -> None:
        """End this process now, or as soon as the calls at work are done."""
        # Not sys.exit: it would wait for the thread that reads our input, which may never return,
        # and take the interpreter apart under a thread that drains.
        with self._change:
            self._change.wait_for(lambda: self.is_idle, GRACE)
            os._exit(0)
