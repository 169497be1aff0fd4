"""Row R14, the life of a server: `python -m benchmarks.soak.lifecycle [--cycles 200]`.

Fifty servers are started at once for one home: one serves, the others say so and end. Then a server
is ended, killed and followed by another version again and again: a version that comes while one
serves leaves it alone, and the next one takes over. Nothing is left of the one before: no process,
no listener, no open file more than at first.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import ltm
from ltm.http.address import FILE
from tests.figures import count
from tests.hook.runner import Hooks
from tests.http.runner import Server

TOGETHER = 50
_JITTER = 2  # open files by which two moments differ; one left behind a life would be a hundred


def start_together(hooks: Hooks, many: int, version: str = "") -> tuple[int, int]:
    """Start many at once; how many serve, and how many of the others failed in another way.

    `version` is the folder of another copy of the program.
    """
    words = [sys.executable, "-m", "ltm", "serve", "--json"]
    started = [
        subprocess.Popen(
            words,
            cwd=hooks.project,
            env={**hooks.environ, "PYTHONPATH": version},
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


def listens(port: int) -> bool:
    """Whether somebody takes connections at a port: who ends must not leave that to a child."""
    with socket.socket() as wire:
        wire.settimeout(5)
        return wire.connect_ex(("127.0.0.1", port)) == 0


def cycle(hooks: Hooks, number: int, newer: str) -> tuple[int, int, int]:
    """One server's life; its open files, what went wrong, and listeners that outlive it."""
    version = newer if number // 2 % 2 else ""
    with Server(hooks, PYTHONPATH=version) as server:
        told = json.loads((hooks.home / FILE).read_text())
        wrong = int(told["pid"] != server.process.pid)
        wrong += server.tell("stop", hooks.payload("Stop")).status >= 300
        handles = len(os.listdir(f"/proc/{server.process.pid}/fd"))
        if number % 2:
            server.process.send_signal(signal.SIGKILL)
            server.process.communicate()
        else:
            if number % 6 == 0:  # an upgrade: the newer one comes while the older one serves
                wrong += start_together(hooks, 1, "" if version else newer) != (0, 0)
                wrong += json.loads((hooks.home / FILE).read_text())["pid"] != told["pid"]
            code, _ = server.end()
            wrong += code != 0 or (hooks.home / FILE).exists()
    return handles, wrong, int(listens(server.port))


def left_over(home: Path) -> int:
    """Processes of a home that are still there after some time to finish."""
    for _ in range(100):
        if not processes_of(home):
            return 0
        time.sleep(0.1)
    return processes_of(home)


def main() -> None:
    """Start, end, kill, count; fail if anything is left."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cycles", type=int, default=200)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ltm-life-") as folder:
        hooks = Hooks(Path(folder))
        copy = Path(folder, "newer")
        shutil.copytree(Path(ltm.__file__).parent, copy / "ltm")
        serving, odd = start_together(hooks, TOGETHER)
        orphans = left_over(hooks.user_home)
        lives = [cycle(hooks, each, str(copy)) for each in range(given.cycles)]
        orphans += left_over(hooks.user_home)
    handles, wrong, listeners = zip(*lives, strict=True)
    # The least of each half: a drain that is at work has files open of its own.
    more = min(handles[len(handles) // 2 :]) - min(handles[: max(1, len(handles) // 2)])
    figures = {
        "started_together": TOGETHER,
        "serving": serving,
        "other_failures": odd,
        "cycles": given.cycles,
        "cycles_wrong": sum(wrong),
        "orphans": orphans,
        "listeners_left": sum(listeners),
        "handles_more": more,
    }
    count("R14", **figures)
    print(figures)
    sys.exit(serving != 1 or bool(odd or sum(wrong) or orphans or sum(listeners) or more > _JITTER))


if __name__ == "__main__":
    main()
