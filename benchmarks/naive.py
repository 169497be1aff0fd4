"""The design that suggests itself: one `index.json`, read, changed, renamed into place, no lock.

The baseline of `benchmarks.writers`, which runs it.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.together import begin, let_go, wait_for_start


def add(path: Path, number: int, changes: int) -> None:
    """Add entries to one file the way that suggests itself."""
    wait_for_start()
    for change in range(changes):
        entries = json.loads(path.read_text())
        entries[f"{number}-{change}"] = change
        temporary = path.with_suffix(f".{number}.tmp")
        temporary.write_text(json.dumps(entries))
        temporary.rename(path)


def run(folder: Path, processes: int, changes: int) -> dict[str, Any]:
    """How many entries the naive design keeps."""
    path = folder / "index.json"
    path.write_text("{}")
    writers = [begin("benchmarks.naive", path, number, changes) for number in range(processes)]
    begun = let_go(writers)
    failed = sum(each.wait() != 0 for each in writers)
    taken = time.perf_counter() - begun
    kept = len(json.loads(path.read_text()))
    total = processes * changes
    return {"acknowledged": total, "lost": total - kept, "errors": failed, "taken_s": taken}


if __name__ == "__main__":
    add(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
