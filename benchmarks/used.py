"""What a command took of time and memory, told by a small process that starts it.

A process inherits the highest memory of whoever started it, so a benchmark that holds much itself
cannot ask the system about its children.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

_STARTER = """\
import os, sys
child = os.posix_spawn(sys.argv[2], sys.argv[2:], os.environ)
_, status, used = os.wait4(child, 0)
peak = used.ru_maxrss / (1 << 20 if sys.platform == "darwin" else 1 << 10)
with open(sys.argv[1], "w") as file:
    print(os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime, peak, file=file)
"""


class Used(NamedTuple):
    """What a command answered, and what it took."""

    answer: dict[str, object]
    """The JSON it printed."""
    seconds: float
    processor: float
    """Seconds of processor time."""
    peak: float
    """The most memory it held, in MB."""


def used_by(words: Sequence[str], cwd: Path, environ: Mapping[str, str]) -> Used:
    """Run `ltm WORDS --json`, which must succeed."""
    command = [sys.executable, "-m", "ltm", *words, "--json"]
    with tempfile.TemporaryDirectory() as folder:
        told = os.path.join(folder, "used")
        began = time.monotonic()
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-c", _STARTER, told, *command],
            cwd=cwd,
            env=environ,
            stdout=subprocess.PIPE,
            check=True,
        )
        seconds = time.monotonic() - began
        status, processor, peak = Path(told).read_text().split()
    assert status == "0", (words, status)
    return Used(json.loads(done.stdout), seconds, float(processor), float(peak))
