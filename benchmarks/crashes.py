"""kill -9 at the system calls of the commands that write: `python -m benchmarks.crashes`.

Each command is killed at many of its system calls (`--kills 100`, `--all`: at each of them), in a
fresh copy of a project with memories, and what is left is examined: was anything lost that had been
acknowledged, is a file torn, does a temporary file stay, does the same command work again. The
baseline, killed in the same way, writes a memory and an `index.json` in place. Needs `strace`.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.report import keep, table
from tests.faults.crashing import OPERATIONS, POINTS, kill_everywhere
from tests.faults.scene import make_scene
from tests.faults.tracing import Starter
from tests.figures import count

_NAIVE = """
import json, sys
index, memory = sys.argv[1:]
with open(index) as file:
    known = json.load(file)
with open(memory, "w") as file:
    file.write("a newer text " * 1000)
known["new"] = "a newer text"
with open(index, "w") as file:
    json.dump(known, file)
"""


def naive(folder: Path) -> dict[str, int]:
    """What is left of a memory and an index that are written in place."""
    index, memory = folder / "index.json", folder / "memory.md"
    old = {f"memory {number}": "an older text" for number in range(100)}
    calls = "openat,write,close"
    figures = {"points": 0, "lost": 0, "torn": 0}
    for call in calls.split(","):
        for number in range(1, 50):
            index.write_text(json.dumps(old))
            memory.write_text("an older text " * 1000)
            inject = f"inject={call}:signal=SIGKILL:when={number}"
            traced = ("-P", str(index), "-P", str(memory), "-e", f"trace={calls}", "-e", inject)
            program = (sys.executable, "-I", "-S", "-c", _NAIVE, str(index), str(memory))
            done = subprocess.run(
                ["strace", "-f", "-qq", "-o", os.devnull, *traced, *program], check=False
            )
            if done.returncode == 0:
                break  # it makes fewer calls than that
            figures["points"] += 1
            text = memory.read_text()
            torn = text not in ("an older text " * 1000, "a newer text " * 1000)
            try:
                known = json.loads(index.read_text())
            except ValueError:
                known, torn = {}, True
            figures["torn"] += torn
            figures["lost"] += len(old.keys() - known.keys())
    return figures


def main() -> None:
    """Kill, examine and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=POINTS, help="of each command")
    parser.add_argument("--all", action="store_true", help="kill at every system call")
    parser.add_argument("--json")
    given = parser.parse_args()
    if not shutil.which("strace"):
        sys.exit("strace is not installed, and nothing else kills at a system call")
    if given.all:
        os.environ["LTM_FAULTS"] = "all"
    results: list[dict[str, Any]] = []
    begun = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="ltm-crashes-") as name, Starter() as starter:
        folder = Path(name)
        scene = make_scene(folder / "template")
        for operation in OPERATIONS:
            killed = kill_everywhere(operation, scene, starter, folder, given.kills)
            figures = {"points": killed.points} | {
                what: killed.count(what) for what in ("lost", "torn", "temporary", "unusable")
            }
            count("R1", **figures)
            results.append({"command": operation.name, **figures, "wrong": list(killed.wrong)})
        baseline = naive(folder)
    taken = time.perf_counter() - begun
    columns = ("points", "lost", "torn", "temporary", "unusable")
    table(
        "Killed at a system call",
        ["command", "kills", "acknowledged lost", "torn", "temporary files", "unusable after"],
        [
            *[[each["command"], *[each[column] for column in columns]] for each in results],
            ["all", *[sum(each[column] for each in results) for column in columns]],
            ["written in place", baseline["points"], baseline["lost"], baseline["torn"], "", ""],
        ],
    )
    keep(given.json, "crashes", {"commands": results, "naive": baseline, "taken_s": taken})
    sys.exit(1 if any(each["wrong"] for each in results) else 0)


if __name__ == "__main__":
    main()
