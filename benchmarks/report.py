"""Timing, percentiles, and one way to print and keep figures."""

from __future__ import annotations

import json
import platform
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any


def timed(function: Callable[[], object], times: int) -> list[float]:
    """Milliseconds of each of so many calls."""
    taken: list[float] = []
    for _ in range(times):
        start = time.perf_counter()
        function()
        taken.append((time.perf_counter() - start) * 1000)
    return taken


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which this share of the values lies."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def spawned(
    command: Sequence[str],
    times: int,
    env: dict[str, str] | None = None,
    cwd: Path | None = None,
) -> list[float]:
    """Milliseconds of whole runs of a command, started from nothing."""

    def run() -> None:
        subprocess.run(command, capture_output=True, env=env, cwd=cwd, check=True)

    run()
    return timed(run, times)


def peak_mb() -> float:
    """Most memory this process has held, in MB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1024 * 1024 if sys.platform == "darwin" else 1024)


def table(title: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print rows as a Markdown table."""
    print(f"\n## {title}\n")
    cells = [list(columns), *[[_text(cell) for cell in row] for row in rows]]
    widths = [max(len(row[place]) for row in cells) for place in range(len(columns))]
    for number, row in enumerate(cells):
        print("| " + " | ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)) + " |")
        if number == 0:
            print("|" + "|".join("-" * (width + 2) for width in widths) + "|")


def keep(path: str | None, name: str, figures: dict[str, Any]) -> None:
    """Write figures to a JSON file, if one was asked for."""
    if path:
        machine = {"python": platform.python_version(), "machine": platform.machine()}
        Path(path).write_text(json.dumps({"benchmark": name, **machine, **figures}, indent=2))


def _text(cell: object) -> str:
    return f"{cell:.2f}" if isinstance(cell, float) else str(cell)
