"""Row R14, the life of a server: `python -m benchmarks.soak.lifecycle [--cycles 200]`.

Fifty servers are started at once for one home: one serves, the others say so and end. Then a server
is ended and killed again and again: each time the next one takes over, and nothing is left of the
one before: no process, no listener, no file.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from ltm.surfaces.http.running import FILE
from tests.figures import count
from tests.surfaces.hook_runner import Hooks
from tests.surfaces.http_runner import Server

TOGETHER = 50


def start_together(hooks: Hooks, many: int) -> tuple[int, int]:
    """Start many at once; how many serve, and how many of the others failed in another way."""
    words = [sys.executable, "-m", "ltm", "serve", "--json"]
    started = [
        subprocess.Popen(
            words,
            cwd=hooks.project,
            env=hooks.environ,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(many)
    ]
    serving: list[subprocess.Popen[str]] = []
    odd = 0
    for each in started:
        assert each.stdout is not None
        if each.stdout.readline():
            serving.append(each)
        else:
            _, errors = each.communicate()
            odd += each.returncode != 1 or "Traceback" in errors
    for each in serving:
        each.terminate()
        each.communicate()
    return len(serving), odd


def processes_of(home: Path) -> int:
    """Processes whose environment names a home."""
    found = 0
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                found += str(home).encode() in (entry / "environ").read_bytes()
            except OSError:
                continue
    return found


def cycle(hooks: Hooks, number: int) -> tuple[int, int]:
    """One server's life; its open files, and 1 if its successor could not be told where it is."""
    with Server(hooks) as server:
        handles = len(os.listdir(f"/proc/{server.process.pid}/fd"))
        told = json.loads((hooks.home / FILE).read_text())
        wrong = int(told["pid"] != server.process.pid)
        wrong += server.tell("stop", hooks.payload("Stop")).status >= 300
        if number % 2:
            server.process.send_signal(signal.SIGKILL)
            server.process.communicate()
        else:
            code, _ = server.end()
            wrong += code != 0 or (hooks.home / FILE).exists()
    return handles, wrong


def main() -> None:
    """Start, end, kill, count; fail if anything is left."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cycles", type=int, default=200)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ltm-life-") as folder:
        hooks = Hooks(Path(folder))
        serving, odd = start_together(hooks, TOGETHER)
        handles, wrong = zip(*(cycle(hooks, each) for each in range(given.cycles)), strict=True)
        orphans = processes_of(hooks.user_home)
    figures = {
        "started_together": TOGETHER,
        "serving": serving,
        "other_failures": odd,
        "cycles": given.cycles,
        "cycles_wrong": sum(wrong),
        "orphans": orphans,
        "handles_more": handles[-1] - handles[0],
    }
    count("R14", **figures)
    print(figures)
    sys.exit(serving != 1 or bool(odd or sum(wrong) or orphans or handles[-1] > handles[0]))


if __name__ == "__main__":
    main()
