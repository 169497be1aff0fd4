"""Real `ltm` processes under `strace`: counting their system calls, failing or killing at one."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

import pytest

CALLS = (
    "openat",
    "write",
    "pwrite64",
    "fsync",
    "fdatasync",
    "rename",
    "renameat",
    "renameat2",
    "unlink",
    "unlinkat",
    "linkat",
    "ftruncate",
    "mkdir",
    "fchmod",
)
"""The calls that change what is on a disk, or begin to."""


def strace_or_outcome() -> None:
    """Skip the test without `strace`, or fail where it must be there."""
    if shutil.which("strace"):
        return
    if os.environ.get("CI"):
        pytest.fail("strace is not installed, and in CI it must be", pytrace=False)
    pytest.skip("strace is not installed")


@dataclass(frozen=True)
class Ended:
    """How a traced command ended."""

    status: int
    """Its exit code, or minus the signal that ended it."""
    out: str
    err: str
    log: str
    """What strace saw."""

    @property
    def calls(self) -> Counter[str]:
        """How often each system call was made."""
        return Counter(re.findall(r"^\d+ +(\w+)\(", self.log, re.MULTILINE))

    def value(self) -> Any:
        """The JSON value it printed."""
        return json.loads(self.out)


class Starter:
    """A running `starter.py`."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("starter.py"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._answer()

    def run(
        self,
        argv: Sequence[str],
        cwd: Path,
        env: Mapping[str, str],
        *,
        traced: bool = True,
        inject: str = "",
        short: int = 0,
    ) -> Ended:
        """Run `ltm` with these words; traced, with strace's `inject=` expression if any. With
        `short`, no write takes more bytes than that."""
        out = cwd.parent / "said"
        log = cwd.parent / "strace.log"
        for path in (out.with_suffix(".out"), out.with_suffix(".err"), log):
            path.unlink(missing_ok=True)
        wish = {"argv": list(argv), "cwd": str(cwd), "env": dict(env), "out": str(out)}
        self._say({**wish, "short": short})
        pid = self._answer()["pid"]
        tracer = _trace(pid, log, inject) if traced else None
        self._say({})
        status = self._answer()["status"]
        if tracer is not None:
            tracer.communicate(timeout=60)
        return Ended(
            status,
            _text(out.with_suffix(".out")),
            _text(out.with_suffix(".err")),
            _text(log),
        )

    def __enter__(self) -> Starter:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.communicate()

    def _say(self, value: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(value) + "\n")
        self._process.stdin.flush()

    def _answer(self) -> Any:
        assert self._process.stdout is not None
        return json.loads(self._process.stdout.readline())


def _trace(pid: int, log: Path, inject: str) -> subprocess.Popen[str]:
    """A tracer at work on a process, which has done nothing yet."""
    words = ["strace", "-f", "-y", "-o", str(log), "-e", f"trace={','.join(CALLS)}"]
    words += ["-e", f"inject={inject}"] if inject else []
    tracer = subprocess.Popen([*words, "-p", str(pid)], stderr=subprocess.PIPE, text=True)
    assert tracer.stderr is not None
    said = tracer.stderr.readline()
    assert "attached" in said, said
    return tracer


def _text(path: Path) -> str:
    try:
        return path.read_text(errors="surrogateescape")
    except FileNotFoundError:
        return ""
