"""Environments of their own for tools that only long programs need, kept in a cache folder.

They would drag some fifty packages into the constraints of everybody who works on the project. The
versions are pinned; a tool that cannot be installed is not tried, and that is said with its reason.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

PINNED = {
    "atheris": "3.0.0",
    "bandit": "1.9.4",
    "mcp-fuzzer": "0.7.0",
    "pip-audit": "2.10.1",
    "schemathesis": "4.32.5",
}
ROOT = Path(__file__).parents[2]

_READY = "ready"


class NotTried(Exception):
    """A tool cannot be had here; says why."""


def cache() -> Path:
    """Where environments are kept."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "ltm-soak"


def programs(tool: str, *, with_project: bool = False) -> Path:
    """The folder of an environment's programs, in which this tool is installed.

    `with_project` brings what the product depends on; the product itself is always the one here.
    """
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    folder = cache() / f"{tool}-{PINNED[tool]}-py{version}"
    if not (folder / _READY).exists():
        shutil.rmtree(folder, ignore_errors=True)  # one that was not finished
        venv.create(folder, with_pip=True)
        _install(folder, tool, with_project)
        (folder / _READY).touch()
    return folder / "bin"


def _install(folder: Path, tool: str, with_project: bool) -> None:
    words = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    wanted = [f"{tool}=={PINNED[tool]}", *([str(ROOT)] if with_project else [])]
    done = subprocess.run(
        [folder / "bin" / "python", *words, *wanted], capture_output=True, text=True, check=False
    )
    if done.returncode:
        last = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
        raise NotTried(f"{wanted[0]} cannot be installed: {'; '.join(last) or done.stderr[-300:]}")
