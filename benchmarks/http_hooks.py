"""The server under load, its life, and what the hook in sh costs in every state of the world.

Run it with `python -m benchmarks.http_hooks`; `--json FILE` keeps the figures. Load: so many events
a second, each sent when it is due whether earlier ones are answered or not, over a few connections
that stay open; what counts is from when it was due to when its answer was there. When the server
has worked through its spool, every tool's event must be counted in the session log. The hook is
timed as a client runs it, from start to exit, beside a bare `sh -c :` and a `curl` to the server.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any

from benchmarks.report import keep, percentile, spawned, table, timed
from ltm.state.session_log import SessionLog

HOOK = str(files("ltm.http").joinpath("ltm-hook.sh"))
LIMIT_MS = 1_200.0
"""What the hook in sh may take, whatever the server does."""

STOP_LIMIT_MS = 2_000.0
DRAIN_LIMIT = 600.0
EVENTS = ("post_tool_use", "post_tool_use", "post_tool_use", "stop", "session_start")


Wire = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Server:
    """A real `ltm serve` with a home of its own and some memories."""

    def __init__(self, top: str) -> None:
        self.home = os.path.join(top, ".ltm")
        self.project = os.path.join(top, "project")
        os.makedirs(self.project, exist_ok=True)
        self.environ = {**os.environ, "HOME": top, "LTM_HOME": self.home, "TMPDIR": top}
        for name in ("CLAUDE_PROJECT_DIR", "XDG_RUNTIME_DIR"):
            self.environ.pop(name, None)
        began = time.perf_counter()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "ltm", "serve", "--json"],
            cwd=self.project,
            env=self.environ,
            stdout=subprocess.PIPE,
        )
        assert self.process.stdout
        self.port = int(json.loads(self.process.stdout.readline())["port"])
        self.start_ms = (time.perf_counter() - began) * 1000
        noted = json.loads(Path(self.home, "server.json").read_text())
        self.head = (
            f"Host: 127.0.0.1:{self.port}\r\nAuthorization: Bearer {noted['token']}\r\n"
            "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"
        )

    def rss_mb(self) -> float:
        """The memory it holds now."""
        for line in Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS"):
                return int(line.split()[1]) / 1024
        return 0.0

    def stop(self) -> float:
        """End it; the milliseconds that took."""
        began = time.perf_counter()
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(30) == 0
        return (time.perf_counter() - began) * 1000

    def request(self, number: int) -> bytes:
        """One event of one of fifty sessions."""
        return self.event(EVENTS[number % len(EVENTS)], number, 2_000)

    def event(self, event: str, number: int, size: int) -> bytes:
        """An event of one of fifty sessions, with so much of a tool's output."""
        body = {
            "session_id": f"session-{number % 50}",
            "transcript_path": os.path.join(self.project, "none.jsonl"),
            "cwd": self.project,
            "source": "startup",
            "tool_name": "Bash",
            "tool_response": {"stdout": "x" * size},
        }
        return self.post(f"/hook/{event}", body)

    def post(self, path: str, body: object) -> bytes:
        """A request as it goes over the wire."""
        data = json.dumps(body).encode()
        head = f"POST {path} HTTP/1.1\r\n{self.head}Content-Length: {len(data)}\r\n\r\n"
        return head.encode() + data


async def exchange(wire: Wire, data: bytes) -> bool:
    """Send a request and read its answer; whether that was no error."""
    reader, writer = wire
    writer.write(data)
    head = await reader.readuntil(b"\r\n\r\n")
    length = 0
    for line in head.split(b"\r\n"):
        if line.lower().startswith(b"content-length:"):
            length = int(line.split(b":")[1])
    await reader.readexactly(length)
    return head.split(b" ", 2)[1] in (b"200", b"204")


async def load(
    server: Server,
    rate: float,
    seconds: float,
    wires: int,
    request: Callable[[int], bytes],
) -> tuple[list[float], int]:
    """Milliseconds until each answer, and how many were errors."""
    taken: list[float] = []
    errors = 0
    due: asyncio.Queue[tuple[int, float] | None] = asyncio.Queue()

    async def client() -> None:
        nonlocal errors
        wire = await asyncio.open_connection("127.0.0.1", server.port)
        while (job := await due.get()) is not None:
            number, moment = job
            try:
                errors += not await exchange(wire, request(number))
            except (OSError, asyncio.IncompleteReadError):
                errors += 1
                wire = await asyncio.open_connection("127.0.0.1", server.port)
            taken.append((time.perf_counter() - moment) * 1000)
        wire[1].close()

    clients = [asyncio.create_task(client()) for _ in range(wires)]
    began = time.perf_counter()
    for number in range(int(rate * seconds)):
        moment = began + number / rate
        await asyncio.sleep(max(0.0, moment - time.perf_counter()))
        due.put_nowait((number, moment))
    for _ in clients:
        due.put_nowait(None)
    await asyncio.gather(*clients)
    return taken, errors


def drained(server: Server) -> float:
    """Seconds until the server has worked through what waits."""
    began = time.perf_counter()
    while any(Path(server.home, "spool").glob("*.json")):
        assert time.perf_counter() - began < DRAIN_LIMIT, "the spool is not drained"
        time.sleep(0.05)
    return time.perf_counter() - began


def lost(server: Server, sent: int) -> int:
    """How many of the tools' events are not counted in the session log."""
    log = SessionLog(os.path.join(server.home, "state.db"))
    try:
        counted = sum(session.ok for session in log.sessions(limit=1_000))
    finally:
        log.close()
    told = sum(EVENTS[number % len(EVENTS)] == "post_tool_use" for number in range(sent))
    return told - counted


# -- the hook in sh ------------------------------------------------------------------------------


@contextmanager
def healthy(server: Server) -> Iterator[None]:
    """All is well."""
    yield


@contextmanager
def absent(server: Server) -> Iterator[None]:
    """There is no server at all."""
    note = Path(server.home, "server.json")
    kept = note.read_bytes()
    note.unlink()
    yield
    note.write_bytes(kept)


@contextmanager
def refused(server: Server) -> Iterator[None]:
    """The note is a dead server's."""
    with socket.create_server(("127.0.0.1", 0)) as door:
        port = door.getsockname()[1]
    with _moved_to(server, port):
        yield


@contextmanager
def stopped(server: Server) -> Iterator[None]:
    """The server is there and does nothing."""
    server.process.send_signal(signal.SIGSTOP)
    yield
    server.process.send_signal(signal.SIGCONT)


@contextmanager
def silent(server: Server) -> Iterator[None]:
    """Somebody takes the connection and says nothing."""
    with (
        socket.create_server(("127.0.0.1", 0), backlog=64) as door,
        _moved_to(server, door.getsockname()[1]),
    ):
        yield


@contextmanager
def _moved_to(server: Server, port: int) -> Iterator[None]:
    note = Path(server.home, "server.json")
    kept = note.read_text()
    note.write_text(kept.replace(f'"port":{server.port}', f'"port":{port}'))
    yield
    note.write_text(kept)


WORLDS = {each.__name__: each for each in (healthy, absent, refused, stopped, silent)}


def hook(server: Server, event: str) -> Callable[[], None]:
    """Run the hook for an event, as a client does."""
    payload = json.dumps(
        {"session_id": "s", "cwd": server.project, "hook_event_name": event, "source": "startup"}
    ).encode()

    def run() -> None:
        subprocess.run(
            ["sh", HOOK, event], input=payload, env=server.environ, capture_output=True, check=True
        )

    return run


def measure_hooks(server: Server, runs: int) -> list[dict[str, Any]]:
    """How long the hook takes in each world, and what the least of such things costs here."""
    rows: list[dict[str, Any]] = []
    health = ["curl", "-s", "-o", os.devnull, f"http://127.0.0.1:{server.port}/health"]
    for name, command in (("sh -c :", ["sh", "-c", ":"]), ("curl alone", health)):
        rows.append({"world": name, "event": "", "ms": spawned(command, runs)})
    for name, world in WORLDS.items():
        times = runs if name in ("healthy", "absent", "refused") else max(3, runs // 4)
        for event in ("SessionStart", "Stop", "SessionEnd"):
            with world(server):
                rows.append(
                    {"world": name, "event": event, "ms": timed(hook(server, event), times)}
                )
    return rows


def main() -> None:
    """Measure, print tables, and keep the figures if asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rate", type=int, default=200, help="events a second (default 200)")
    parser.add_argument("--seconds", type=float, default=10.0, help="for so long (default 10)")
    parser.add_argument("--wires", type=int, default=8, help="connections (default 8)")
    parser.add_argument("--runs", type=int, default=20, help="runs of the hook (default 20)")
    parser.add_argument("--json", metavar="FILE", help="write the figures to this file too")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ltm-http-") as top:
        server = Server(top)
        try:
            subprocess.run(
                [sys.executable, "-m", "ltm", "remember", "Use port 8082 for the dev server"],
                cwd=server.project,
                env=server.environ,
                capture_output=True,
                check=True,
            )
            idle = server.rss_mb()
            taken, errors = asyncio.run(
                load(server, given.rate, given.seconds, given.wires, server.request)
            )
            seconds = drained(server)
            missing = lost(server, len(taken))
            loaded = server.rss_mb()
            rows = measure_hooks(server, given.runs)
            stop = server.stop()
        finally:
            server.process.kill()
    figures = {
        "start_ms": server.start_ms,
        "idle_rss_mb": idle,
        "rss_after_load_mb": loaded,
        "stop_ms": stop,
        "requests": len(taken),
        "rate": given.rate,
        "errors": errors,
        "lost": missing,
        "drained_s": seconds,
        **{f"p{share}_ms": percentile(taken, share / 100) for share in (50, 95, 99)},
        "most_ms": max(taken),
    }
    table(
        f"Server: {given.rate} events a second for {given.seconds:g} s"
        f" (goal: no error, none lost; stop in {STOP_LIMIT_MS:g} ms)",
        ["figure", "value"],
        [[name, value] for name, value in figures.items()],
    )
    table(
        f"Hook in sh, ms from start to exit (goal: at most {LIMIT_MS:g})",
        ["world", "event", "median", "p95", "most"],
        [
            [row["world"], row["event"], *(percentile(row["ms"], each) for each in (0.5, 0.95, 1))]
            for row in rows
        ],
    )
    keep(given.json, "http_hooks", {**figures, "hook": rows})


if __name__ == "__main__":
    main()
