"""A program in a pseudo-terminal: its keys, its screen, its end.

Imports: deadline, screen.
"""

from __future__ import annotations

import codecs
import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from .deadline import PATIENCE, wait_until
from .screen import Screen

T = TypeVar("T")

KEYS = {
    "enter": "\r",
    "esc": "\x1b",
    "tab": "\t",
    "up": "\x1b[A",
    "down": "\x1b[B",
    "ctrl-c": "\x03",
    "ctrl-d": "\x04",
    "backspace": "\x7f",
}
# What the client asks of its terminal, and our answers: a plain VT220 with a name.
QUERIES = {
    "\x1b[c": b"\x1b[?62;22c",
    "\x1b[0c": b"\x1b[?62;22c",
    "\x1b[>0q": b"\x1bP>|scripted\x1b\\",
    "\x1b[>q": b"\x1bP>|scripted\x1b\\",
    "\x1b[6n": b"\x1b[1;1R",
}
# Makes the terminal the controlling one, so that closing it hangs the client up, and becomes the
# client. Not pty.fork: forking a process that has threads is not safe.
TAKE_TERMINAL = (
    "import fcntl, os, sys, termios;"
    "fcntl.ioctl(0, termios.TIOCSCTTY, 0);"
    "os.execv(sys.argv[1], sys.argv[1:])"
)


class Terminal:
    """Runs `argv` in a terminal of its own until it ends, is killed or is hung up."""

    def __init__(self, argv: Sequence[str], env: Mapping[str, str], folder: Path) -> None:
        self._screen = Screen()
        self._lock = threading.Lock()
        self._master, slave = pty.openpty()
        size = struct.pack("HHHH", self._screen.rows, self._screen.columns, 0, 0)
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, size)
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", TAKE_TERMINAL, *argv],
                cwd=folder,
                env=dict(env),
                stdin=slave,
                stdout=slave,
                stderr=slave,
                start_new_session=True,
            )
        finally:
            os.close(slave)
        self._wake_read, self._wake_write = os.pipe()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        while True:
            ready, _, _ = select.select([self._master, self._wake_read], [], [])
            if self._wake_read in ready:
                return
            try:
                data = os.read(self._master, 65536)
            except OSError:
                return
            text = decoder.decode(data)
            with self._lock:
                self._screen.feed(text)
            for query, answer in QUERIES.items():
                if query in text:
                    os.write(self._master, answer)

    def look(self, view: Callable[[Screen], T]) -> T:
        """A view of the screen, taken while nothing moves."""
        with self._lock:
            return view(self._screen)

    def text(self) -> str:
        """The screen as lines."""
        return self.look(Screen.text)

    def send(self, text: str) -> None:
        """Type characters."""
        os.write(self._master, text.encode())

    def key(self, name: str) -> None:
        """Press a key of KEYS."""
        self.send(KEYS[name])

    @property
    def pid(self) -> int:
        """The program's process id."""
        return self._process.pid

    @property
    def returncode(self) -> int | None:
        """How the program ended, None while it runs; negative: the signal that ended it."""
        return self._process.poll()

    def wait_end(self, timeout: float = PATIENCE) -> int:
        """Wait until the program has ended by itself."""
        wait_until(lambda: self.returncode is not None, "the client to end", timeout, self.text)
        return self._process.wait()

    def kill(self, how: signal.Signals = signal.SIGKILL) -> int:
        """Send a signal and wait for the end."""
        self._process.send_signal(how)
        return self.wait_end()

    def close(self) -> None:
        """Close the terminal, as when a person closes the window."""
        if self._reader.is_alive():
            os.write(self._wake_write, b"x")
            self._reader.join()
        for descriptor in (self._master, self._wake_read, self._wake_write):
            if descriptor >= 0:
                os.close(descriptor)
        self._master = self._wake_read = self._wake_write = -1
