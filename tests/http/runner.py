"""A real `ltm serve` process, and raw requests to it."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http.client import HTTPResponse
from pathlib import Path
from typing import Any

from ltm.files.lock import Lock
from ltm.hook.receive import LOCK
from ltm.http.address import FILE
from tests import forking
from tests.hook.runner import Hooks

PATIENCE = 60.0
"""Seconds after which a test gives up; nothing is measured with it."""

JSON = ("Content-Type", "application/json")
Headers = Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Answer:
    """What the server said to a request."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes

    def header(self, name: str) -> str | None:
        return next((value for key, value in self.headers if key.lower() == name), None)


class Server:
    """A server for the home of some hooks."""

    def __init__(
        self, hooks: Hooks, *args: str, umask: int = 0o077, handles: int = 0, **env: str
    ) -> None:
        """`handles` is how many files and connections it may have open at first; 0 for any."""
        self.hooks = hooks
        how: dict[str, Any] = {
            "cwd": hooks.project,
            "env": {**hooks.environ, **env},
            "stdout": subprocess.PIPE,
            "stderr": subprocess.PIPE,
            "umask": umask,
        }
        words = ("serve", "--json", *args)
        self.process: subprocess.Popen[bytes]
        if handles:
            limited = ("prlimit", f"--nofile={handles}:1024")
            self.process = subprocess.Popen([*limited, sys.executable, "-m", "ltm", *words], **how)
        else:
            self.process = forking.start(words, **how)
        assert self.process.stdout
        line = self.process.stdout.readline()
        assert line, self.process.stderr and self.process.stderr.read().decode()
        self.told: dict[str, Any] = json.loads(line)
        self.noted: dict[str, Any] = json.loads((hooks.home / FILE).read_text())
        self.port = int(self.noted["port"])

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate(timeout=PATIENCE)

    def end(self, number: int = signal.SIGTERM) -> tuple[int, str]:
        """Tell it to end; its exit code and what it had to complain about."""
        self.process.send_signal(number)
        _, errors = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, errors.decode()

    @property
    def authorized(self) -> tuple[str, str]:
        return ("Authorization", f"Bearer {self.noted['token']}")

    def ask(
        self,
        method: str,
        target: str,
        headers: Headers = (),
        body: bytes = b"",
        *,
        host: str | None = "own",
    ) -> Answer:
        """Send a request as these bytes; `host` None sends no Host header."""
        lines = [f"{method} {target} HTTP/1.1"]
        if host is not None:
            lines.append(f"Host: {f'127.0.0.1:{self.port}' if host == 'own' else host}")
        lines += [f"{name}: {value}" for name, value in headers]
        if body or method == "POST":
            lines.append(f"Content-Length: {len(body)}")
        return self.send("\r\n".join([*lines, "", ""]).encode() + body, method)

    def send(self, data: bytes, method: str = "POST") -> Answer:
        """Send raw bytes and read one answer."""
        with socket.create_connection(("127.0.0.1", self.port), PATIENCE) as wire:
            try:
                wire.sendall(data)
            except (BrokenPipeError, ConnectionResetError):
                pass  # it has heard enough
            answer = HTTPResponse(wire, method=method)
            answer.begin()
            return Answer(answer.status, answer.getheaders(), answer.read())

    def tell(self, event: str, payload: object, *more: tuple[str, str]) -> Answer:
        """Post an event's message as an authorized client does."""
        data = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        return self.ask("POST", f"/hook/{event}", [self.authorized, JSON, *more], data)

    def call(self, method: str, **params: Any) -> Any:
        """A request to MCP; its result."""
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        accept = ("Accept", "application/json, text/event-stream")
        headers = [self.authorized, JSON, accept]
        answer = self.ask("POST", "/mcp", headers, json.dumps(message).encode())
        assert answer.status == 200, answer
        return json.loads(answer.body)["result"]


@contextmanager
def door(meet: Callable[[socket.socket], None], port: int = 0) -> Iterator[int]:
    """A port of this machine where `meet` deals with whoever comes; its number."""
    with socket.create_server(("127.0.0.1", port)) as listening:

        def serve() -> None:
            while True:
                try:
                    wire, _ = listening.accept()
                except OSError:
                    return
                meet(wire)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield int(listening.getsockname()[1])
        listening.shutdown(socket.SHUT_RDWR)
        thread.join(PATIENCE)


@contextmanager
def listener(answer: bytes | None, port: int = 0) -> Iterator[int]:
    """Somebody who hears all and says this, or nothing; the port."""
    heard: list[socket.socket] = []

    def meet(wire: socket.socket) -> None:
        heard.append(wire)
        if answer is not None:
            with wire, suppress(OSError):  # the other side may have heard enough
                wire.recv(65536)
                wire.sendall(answer)

    with door(meet, port) as number:
        yield number
    for wire in heard:
        wire.close()


@contextmanager
def nobody_drains(hooks: Hooks) -> Iterator[None]:
    """What waits in the spool stays there, to be looked at."""
    hooks.home.mkdir(mode=0o700, exist_ok=True)
    with Lock(os.path.join(hooks.home, LOCK)):
        yield


def until(is_so: Callable[[], object]) -> None:
    """Wait for something that another process does."""
    end = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)


def files_with(top: Path, text: bytes) -> list[Path]:
    """The files under a folder that hold these bytes."""
    found = [path for path in top.rglob("*") if path.is_file() and not path.is_symlink()]
    assert found
    return [path for path in found if text in path.read_bytes()]
