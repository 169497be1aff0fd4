"""What a person waits for before anything happens: `python -m benchmarks.startup`.

The baseline is the interpreter doing nothing, `python -I -S -c pass`, in the same run.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.report import keep, percentile, spawned, table


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=30)
    parser.add_argument("--json")
    given = parser.parse_args()
    ltm = str(Path(sys.executable).with_name("ltm"))
    with tempfile.TemporaryDirectory(prefix="ltm-start-") as folder:
        env = {**os.environ, "LTM_HOME": f"{folder}/home"}
        here = ["--project", folder]
        for text in ("We use ruff for linting", "The gateway retries three times"):
            subprocess.run([ltm, "remember", text, *here], env=env, check=True, capture_output=True)
        runs = {
            "python -I -S -c pass": [sys.executable, "-I", "-S", "-c", "pass"],
            "ltm --version": [ltm, "--version"],
            "ltm recall": [ltm, "recall", "gateway retries", *here],
            "ltm list": [ltm, "list", *here],
            "ltm inject": [ltm, "inject", *here],
            "ltm remember": [ltm, "remember", "We use ruff for linting", *here],
        }
        taken = {
            name: percentile(spawned(command, given.runs, env), 0.5)
            for name, command in runs.items()
        }
    base = taken["python -I -S -c pass"]
    table(
        "Cold start",
        ["command", "median ms", "times bare"],
        [[n, t, t / base] for n, t in taken.items()],
    )
    keep(given.json, "startup", {"median_ms": taken})


if __name__ == "__main__":
    main()
