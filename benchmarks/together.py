"""Processes that begin their work at the same moment."""

from __future__ import annotations

import subprocess
import sys
import time


def begin(module: str, *job: object) -> subprocess.Popen[str]:
    """A process that is ready for a job and waits."""
    return subprocess.Popen(
        [sys.executable, "-m", module, *map(str, job)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def let_go(writers: list[subprocess.Popen[str]]) -> float:
    """Let all writers begin once all are ready; the moment they did."""
    for each in writers:
        assert each.stdout is not None
        each.stdout.readline()
    begun = time.perf_counter()
    for each in writers:
        assert each.stdin is not None
        each.stdin.write("\n")
        each.stdin.flush()
    return begun


def wait_for_start() -> None:
    """Say that everything is ready, and wait to be let go."""
    print("ready", flush=True)
    sys.stdin.readline()
