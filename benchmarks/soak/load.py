"""Row R15, a server under load: `python -m benchmarks.soak.load [--seconds 60]`.

Two hundred events of tools a second, 3 kB each, and five questions a second beside them, each sent
when it is due whether earlier ones are answered or not. Then as many events as can be answered,
beside how many the disk takes without any server from hooks that each write a file of their own.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import count as counting

from benchmarks.corpus import questions
from benchmarks.http_hooks import Server, drained, exchange, load
from benchmarks.report import percentile
from ltm.spool import events as spool
from ltm.state.session_log import SessionLog
from tests.figures import count, worst

RATE, ASKED = 200, 5
_SIZE = 2_700  # with what stands around it a request of 3 kB
_WIRES = 16
_PRESSED = 10.0
_MOST_MS, _MOST_MB, _LEAST_RATE = 50, 150, 1_500
_EVENT = "post_tool_use"


async def both(server: Server, seconds: float) -> tuple[list[float], list[float], int, float]:
    """Milliseconds of each event and each question, errors, and the most memory held."""
    asked = questions(200)
    peak = 0.0

    def question(number: int) -> bytes:
        given = {"name": "recall", "arguments": {"query": asked[number % len(asked)]}}
        call = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": given}
        return server.post("/mcp", call)

    async def watch() -> None:
        nonlocal peak
        while True:
            peak = max(peak, server.rss_mb())
            await asyncio.sleep(0.5)

    watching = asyncio.create_task(watch())
    (events, failed), (answers, unanswered) = await asyncio.gather(
        load(server, RATE, seconds, _WIRES, lambda number: server.event(_EVENT, number, _SIZE)),
        load(server, ASKED, seconds, 2, question),
    )
    watching.cancel()
    return events, answers, failed + unanswered, peak


async def pressed(server: Server, seconds: float) -> tuple[int, int]:
    """How many events are answered when the next is sent as soon as one is, and how many not."""
    numbers = counting()
    answered = failed = 0
    end = time.perf_counter() + seconds

    async def client() -> None:
        nonlocal answered, failed
        wire = await asyncio.open_connection("127.0.0.1", server.port)
        while time.perf_counter() < end:
            held = await exchange(wire, server.event(_EVENT, next(numbers), _SIZE))
            answered, failed = answered + held, failed + (not held)
        wire[1].close()

    await asyncio.gather(*(client() for _ in range(_WIRES)))
    return answered, failed


def disk_rate(home: str, seconds: float) -> float:
    """Events a second that the disk takes from as many threads, without a server."""
    end = time.perf_counter() + seconds
    beside = {"TMPDIR": os.path.dirname(home)}  # what finds the spool full is no other home's

    def write() -> int:
        done = 0
        while time.perf_counter() < end:
            spool.put(home, {"event": "PostToolUse", "session": "s", "tool": "Bash"}, beside)
            done += 1
        return done

    with ThreadPoolExecutor(_WIRES) as pool:
        return sum(pool.map(lambda _: write(), range(_WIRES))) / seconds


def counted(server: Server) -> int:
    """The tools' events that are in the session log."""
    log = SessionLog(f"{server.home}/state.db")
    try:
        return sum(session.ok for session in log.sessions(limit=1_000))
    finally:
        log.close()


def main() -> None:
    """Load, press, compare, and fail if a figure is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ltm-load-") as top:
        server = Server(top)
        try:
            for text in ("Use port 8082 for the dev server", "Never push to main by hand"):
                words = [sys.executable, "-m", "ltm", "remember", text]
                subprocess.run(
                    words, cwd=server.project, env=server.environ, check=True, capture_output=True
                )
            events, answers, errors, peak = asyncio.run(both(server, given.seconds))
            seconds = drained(server)
            lost = len(events) - counted(server)
            answered, failed = asyncio.run(pressed(server, _PRESSED))
            peak = max(peak, server.rss_mb())
            disk = disk_rate(f"{top}/other", _PRESSED / 2)
        finally:
            server.process.kill()
            server.process.wait()
    rate = answered / _PRESSED
    figures = {
        "p50_ms": round(percentile(events, 0.5), 1),
        "p99_ms": round(percentile(events, 0.99), 1),
        "question_p99_ms": round(percentile(answers, 0.99), 1),
        "memory_mb": round(peak, 1),
        "drained_seconds": round(seconds, 1),
        "answered_a_second": round(rate),
        "disk_takes_a_second": round(disk),
    }
    errors += failed
    count("R15", requests=len(events), questions=len(answers), errors=errors, lost=lost)
    worst("R15", **figures)
    print(
        f"{len(events)} events, {len(answers)} questions, {errors} errors, {lost} lost: {figures}"
    )
    within = figures["p99_ms"] <= _MOST_MS and peak <= _MOST_MB
    sys.exit(bool(errors or lost) or not within or rate < _LEAST_RATE)


if __name__ == "__main__":
    main()
