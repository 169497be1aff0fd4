"""Environments of their own for tools that only long programs need, kept in a cache folder.

They would drag some fifty packages into the constraints of everybody who works on the project. The
versions are pinned; a tool that cannot be installed is not tried, and that is said with its reason.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
import venv
from pathlib import Path
from zlib import crc32

PINNED = {
    "atheris": "3.0.0",
    "bandit": "1.9.4",
    "mcp-fuzzer": "0.7.0",
    "pip-audit": "2.10.1",
    "schemathesis": "4.32.5",
}
ROOT = Path(__file__).parents[2]

_READY = "ready"
_ONE_AT_A_TIME = threading.Lock()


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
    if with_project:
        asked = crc32((ROOT / "pyproject.toml").read_bytes())  # another environment if it changes
        folder = folder.with_name(f"{folder.name}-{asked:08x}")
    with _ONE_AT_A_TIME:
        if not (folder / _READY).exists():
            shutil.rmtree(folder, ignore_errors=True)  # one that was not finished
            _make(folder, tool, with_project)
            (folder / _READY).touch()
    return folder / "bin"


def _make(folder: Path, tool: str, with_project: bool) -> None:
    try:
        venv.create(folder, with_pip=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise NotTried(f"no environment can be made for {tool}: {error}") from error
    words = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    wanted = [f"{tool}=={PINNED[tool]}", *([str(ROOT)] if with_project else [])]
    done = subprocess.run(
        [folder / "bin" / "python", *words, *wanted], capture_output=True, text=True, check=False
    )
    if done.returncode:
        last = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
        raise NotTried(f"{wanted[0]} cannot be installed: {'; '.join(last) or done.stderr[-300:]}")
