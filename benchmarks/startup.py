"""What a person waits for before anything happens: `python -m benchmarks.startup`.

The baseline is the interpreter doing nothing, `python -I -S -c pass`, in the same run. Commands
take turns, and processor time is shown beside the clock's, so that a busy machine disturbs all
alike.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

from benchmarks.report import keep, percentile, table

BARE = "python -I -S -c pass"
WITH_VECTORS = "ltm recall WORDS, with vectors"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=30)
    parser.add_argument("--json")
    given = parser.parse_args()
    ltm = str(Path(sys.executable).with_name("ltm"))
    with tempfile.TemporaryDirectory(prefix="ltm-start-") as folder:
        # An installed package comes with its byte code, or writes it at the first call.
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        os.environ["LTM_HOME"] = f"{folder}/home"
        os.chdir(folder)
        for text in ("We use ruff for linting", "The gateway retries three times"):
            subprocess.run([ltm, "remember", text], check=True, capture_output=True)
        with_vectors = os.path.join(folder, "with-vectors")
        shutil.copytree(os.environ["LTM_HOME"], with_vectors)
        subprocess.run([ltm, "config", "embed.backend", "none"], check=True, capture_output=True)
        question = [ltm, "recall", "gateway", "retries"]
        runs = {
            BARE: [sys.executable, "-I", "-S", "-c", "pass"],
            "ltm --version": [ltm, "--version"],
            "ltm recall WORDS": question,
            "ltm recall --limit 5 WORDS": [*question, "--limit", "5"],
            "ltm list": [ltm, "list"],
            "ltm inject": [ltm, "inject"],
            "ltm remember": [ltm, "remember", "We use ruff for linting"],
        }
        if find_spec("numpy"):
            runs[WITH_VECTORS] = ["env", f"LTM_HOME={with_vectors}", *question]
        taken = in_turns(runs, given.runs)
        os.chdir("/")
    middle = {
        name: [percentile([run[which] for run in each], 0.5) for which in (0, 1)]
        for name, each in taken.items()
    }
    table(
        "Cold start",
        ["command", "median ms", "times bare", "median cpu ms", "times bare"],
        [
            [name, wall, wall / middle[BARE][0], cpu, cpu / middle[BARE][1]]
            for name, (wall, cpu) in middle.items()
        ],
    )
    keep(given.json, "startup", {"median_ms": middle})


def in_turns(
    commands: Mapping[str, Sequence[str]], times: int
) -> dict[str, list[tuple[float, float]]]:
    """Milliseconds of the clock and of the processor of whole runs, one of each command a round."""
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
    for number in range(times + 1):
        for name, command in commands.items():
            start = time.perf_counter()
            child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            _, status, used = os.wait4(child.pid, 0)
            wall = time.perf_counter() - start
            child.returncode = os.waitstatus_to_exitcode(status)
            if child.returncode:
                raise SystemExit(f"{name} failed with {child.returncode}")
            if number:  # the first round warms the disk and writes the byte code
                taken[name].append((wall * 1000, (used.ru_utime + used.ru_stime) * 1000))
    return taken


if __name__ == "__main__":
    main()
