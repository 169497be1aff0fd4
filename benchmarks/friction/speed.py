"""How fast friction is found, beside `json.loads` over the same bytes three times.

In processes of their own, so that memory can be told; user time, because the machine may be busy.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.friction.corpus import write
from benchmarks.report import peak_mb, table

GOAL = 1.2
"""Times of three readings of the same bytes that a whole analysis may take."""
GOAL_MB = 80.0
_TIMES = 15
"""Runs of which the best counts: on a busy machine the others tell about the machine."""


def measure(how: str, folder: str) -> None:
    """Do one thing to all files, and print seconds of processor time and peak memory."""
    paths = sorted(str(path) for path in Path(folder).glob("*.jsonl"))
    best = 1e9
    if how == "json":
        for _ in range(_TIMES):
            started = time.process_time()
            for _ in range(3):
                for path in paths:
                    with open(path, "rb") as file:
                        for line in file:
                            json.loads(line)
            best = min(best, time.process_time() - started)
    else:
        from datetime import UTC, datetime

        from ltm.friction.analysis import analyse, learn
        from ltm.friction.report import write as write_files
        from ltm.friction.ruleset import rules
        from ltm.friction.sources import find, group
        from ltm.state.corrections import opened

        for _ in range(_TIMES):
            with tempfile.TemporaryDirectory(prefix="ltm-friction-") as out:
                started = time.process_time()
                rule_set = rules(classic=how == "classic")
                found = analyse(group(find([folder])), rule_set, datetime.now(UTC))
                if how == "now":
                    with opened(out) as ledger:
                        heard = (each.heard for each in found.sessions)
                        learn(ledger, heard, rule_set, lambda cwd: "project")
                write_files(found, str(Path(out) / "friction"))
                best = min(best, time.process_time() - started)
    print(best, peak_mb())


def measured(sessions: int, kilobytes: int) -> dict[str, object]:
    """Measure a corpus of this size, print a table and give the figures back."""
    figures: dict[str, object] = {}
    with tempfile.TemporaryDirectory(prefix="ltm-friction-") as folder:
        write(Path(folder), sessions, kilobytes, calm=True)
        megabytes = sum(path.stat().st_size for path in Path(folder).iterdir()) / 1e6
        rows: list[list[object]] = []
        base = 0.0
        for how, what in (
            ("json", "json.loads, three times"),
            ("now", "friction: read, score, learn, write"),
            ("classic", "friction --classic"),
        ):
            command = [sys.executable, "-m", "benchmarks.friction", "--measure", how, folder]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            seconds, peak = map(float, done.stdout.split())
            base = base or seconds
            rows.append([what, seconds * 1000, seconds / base, peak])
            figures[how] = {"ms": seconds * 1000, "of json": seconds / base, "peak_mb": peak}
        table(
            f"{sessions} sessions, {megabytes:.1f} MB (goal: {GOAL}, {GOAL_MB:.0f} MB)",
            ["what", "ms", "of json x3", "peak MB"],
            rows,
        )
    return figures
