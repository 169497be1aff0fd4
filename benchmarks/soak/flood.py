"""Row S15, floods: `python -m benchmarks.soak.flood [--handshakes 50000]`.

A server is given handshakes without end, clients that send a byte now and then, a body of 100 MB
and ten thousand headers, while a good client goes on asking. Its memory must stay flat, and the
good client must be answered.
"""

from __future__ import annotations

import argparse
import json
import socket
import sys
import tempfile
import threading
import time
from http.client import HTTPException
from pathlib import Path

from benchmarks.report import percentile
from tests.figures import count, worst
from tests.hook.runner import Hooks
from tests.http.runner import JSON, Server
from tests.mcp.wire import INITIALIZE

SLOW = 200
_WARM = 1_000  # handshakes after which everything was met once


def resident_mb(pid: int) -> float:
    """What a process holds in memory now."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1000
    return 0.0


def shake_hands(server: Server, times: int) -> float:
    """Shake hands without end; by how much the server grew after the first."""
    body = json.dumps(
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": INITIALIZE}
    ).encode()
    lines = [
        "POST /mcp HTTP/1.1",
        f"Host: 127.0.0.1:{server.port}",
        f"Authorization: Bearer {server.noted['token']}",
        "Content-Type: application/json",
        "Accept: application/json, text/event-stream",
        f"Content-Length: {len(body)}",
    ]
    request = "\r\n".join([*lines, "", ""]).encode() + body
    warm = 0.0
    with socket.create_connection(("127.0.0.1", server.port), 60) as wire:
        answers = wire.makefile("rb")
        for number in range(times):
            wire.sendall(request)
            length = 0
            while (line := answers.readline().strip().lower()) != b"":
                if line.startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            answers.read(length)
            if number == min(_WARM, times // 2):
                warm = resident_mb(server.process.pid)
    return resident_mb(server.process.pid) - warm


def dawdle(server: Server, many: int) -> list[socket.socket]:
    """Clients that begin a request and never finish it."""
    wires = [socket.create_connection(("127.0.0.1", server.port), 60) for _ in range(many)]
    for wire in wires:
        wire.sendall(b"POST /hook/stop HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ")
    return wires


def exaggerate(server: Server) -> list[int]:
    """A body and a head far too large; how they are answered, 0 for a closed door."""
    said: list[int] = []
    large = [server.authorized, JSON]
    many = [(f"X-{number}", "x") for number in range(10_000)]
    for headers, body in ((large, b"x" * 100_000_000), ([*large, *many], b"{}")):
        try:
            said.append(server.ask("POST", "/hook/stop", headers, body).status)
        except (OSError, HTTPException) as error:
            print("closed:", type(error).__name__)
            said.append(0)
    return said


def main() -> None:
    """Flood, measure, print; fail if the server grew or a good client waited."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--handshakes", type=int, default=50_000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ltm-flood-") as folder:
        hooks = Hooks(Path(folder))
        with Server(hooks) as server:
            growth = shake_hands(server, given.handshakes)
            before = resident_mb(server.process.pid)
            wires = dawdle(server, SLOW)
            answers: list[int] = []
            large = threading.Thread(target=lambda: answers.extend(exaggerate(server)))
            large.start()
            waits: list[float] = []
            refused = 0
            while large.is_alive() or len(waits) < 200:
                begun = time.perf_counter()
                refused += server.ask("GET", "/health", [server.authorized]).status != 200
                waits.append((time.perf_counter() - begun) * 1000)
            large.join()
            peak = resident_mb(server.process.pid) - before
            for wire in wires:
                wire.close()
    accepted = int(answers[0] < 300 and answers[0] != 0)
    count("S15", handshakes=given.handshakes, slow_clients=SLOW, refused=refused)
    count("S15", large_body_accepted=accepted)
    worst("S15", growth_mb=round(growth, 1), growth_by_flood_mb=round(peak, 1))
    worst("S15", good_client_p99_ms=round(percentile(waits, 0.99), 1))
    print(growth, peak, percentile(waits, 0.99), refused, answers)
    sys.exit(growth > 5 or peak > 50 or bool(refused or accepted))


if __name__ == "__main__":
    main()
