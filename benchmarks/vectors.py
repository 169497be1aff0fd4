"""How scanning vectors grows with their number: `python -m benchmarks.vectors`.

Plain floats in memory are the baseline. Each number runs in a process of its own, so that its
memory is its own. Times are of the processor, because a wall clock on a busy machine tells of its
neighbours.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.report import keep, peak_mb, percentile, table
from ltm.embed.embedder import unit
from ltm.index.vector_blocks import Floats
from ltm.index.vectors import Vectors

DIMENSIONS = 256
_SLICE = 20_480
_LIMIT = 200


def drawn(count: int, generator: np.random.Generator) -> Floats:
    """So many directions of unit length."""
    found = generator.standard_normal((count, DIMENSIONS), dtype=np.float32)
    return unit(found)


def costs(function: Callable[[], object], times: int) -> tuple[list[float], list[float]]:
    """Milliseconds of the processor and of the clock, of each of so many calls."""
    busy, passed = [], []
    for _ in range(times):
        clock, processor = time.perf_counter(), time.process_time()
        function()
        busy.append((time.process_time() - processor) * 1000)
        passed.append((time.perf_counter() - clock) * 1000)
    return busy, passed


def held_mb() -> float:
    """Memory this process holds now, in MB; where the system does not say, the most it held."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return peak_mb()
    return pages * os.sysconf("SC_PAGE_SIZE") / (1024 * 1024)


def fill(path: str, count: int) -> None:
    """Keep so many vectors."""
    vectors, generator = Vectors(path, "bench", DIMENSIONS), np.random.default_rng(1)
    for start in range(0, count, _SLICE):
        size = min(_SLICE, count - start)
        vectors.put(range(start + 1, start + size + 1), drawn(size, generator))
    vectors.close()


def measure(path: str, count: int, runs: int) -> dict[str, Any]:
    """All figures of a file with so many vectors; this process has not read it before."""
    generator = np.random.default_rng(2)
    query = drawn(1, generator)[0]
    before = held_mb()
    vectors = Vectors(path, "bench", DIMENSIONS)
    first, _ = costs(lambda: vectors.nearest(query, _LIMIT), 1)
    scan, wall = costs(lambda: vectors.nearest(query, _LIMIT), runs)
    memory = held_mb() - before
    rows = generator.integers(1, count, _LIMIT).tolist()
    some, _ = costs(lambda: vectors.likeness(query, rows), runs)
    more = iter(range(count + 1, count + 1 + runs))
    append, _ = costs(lambda: vectors.put([next(more)], drawn(1, generator)), runs)
    vectors.close()
    return {
        "vectors": count,
        "file, MB": round(os.path.getsize(path) / 1e6, 1),
        "memory, MB": round(memory, 1),
        "first question, ms": round(first[0], 1),
        "nearest 200, p50 ms": round(percentile(scan, 0.5), 2),
        "nearest 200, p95 ms": round(percentile(scan, 0.95), 2),
        "nearest 200, wall p50 ms": round(percentile(wall, 0.5), 2),
        "likeness of 200, p50 ms": round(percentile(some, 0.5), 2),
        "append of one, p50 ms": round(percentile(append, 0.5), 2),
    }


def floats(count: int, runs: int) -> dict[str, Any]:
    """The baseline: all vectors as one matrix of floats in memory, with no file behind it."""
    generator = np.random.default_rng(1)
    before = held_mb()
    matrix = np.empty((count, DIMENSIONS), np.float32)
    for start in range(0, count, _SLICE):
        matrix[start : start + _SLICE] = drawn(min(_SLICE, count - start), generator)
    query = drawn(1, generator)[0]
    scan, _ = costs(lambda: np.argpartition(matrix @ query, count - _LIMIT), runs)
    return {
        "floats: nearest 200, p50 ms": round(percentile(scan, 0.5), 2),
        "floats: memory, MB": round(held_mb() - before, 1),
    }


def _alone(*words: str) -> dict[str, Any]:
    # One thread each: a second one only waits for the first on a busy machine.
    env = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.vectors", *words],
        env=env,
        capture_output=True,
        text=True,
        check=True,
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--counts", default="10000,100000,1000000")
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--json")
    parser.add_argument("--part", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.part:
        name, path, count = given.part[0], given.part[1], int(given.part[2])
        part = measure(path, count, given.runs) if name == "ours" else floats(count, given.runs)
        print(json.dumps(part))
        return
    results = []
    for count in given.counts.split(","):
        with tempfile.TemporaryDirectory(prefix="ltm-vectors-") as folder:
            path = str(Path(folder) / "vectors.db")
            fill(path, int(count))
            runs = ("--runs", str(given.runs))
            ours = _alone("--part", "ours", path, count, *runs)
            results.append(ours | _alone("--part", "floats", path, count, *runs))
    names = [name for name in results[0] if name != "vectors"]
    table(
        f"Vectors of {DIMENSIONS} numbers",
        ["figure", *[f"{result['vectors']:,}" for result in results]],
        [[name, *[result[name] for result in results]] for name in names],
    )
    keep(given.json, "vectors", {"results": results})


if __name__ == "__main__":
    main()
