"""The real client on this machine: where it is, and whether it must be there.

LTM_E2E_CLAUDE names one binary; otherwise each version is looked for in the cache that `install`
fills (LTM_E2E_CACHE, else ltm-e2e in the user's cache folder). Imports: the standard library.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

PACKAGE = "@anthropic-ai/claude-code"
# The oldest client we support, and whatever npm serves as the newest.
VERSIONS = ("2.1.197", "latest")
GIVEN = "given"
# Without install scripts npm leaves a small stand-in where the client should be.
SMALLEST_CLIENT = 1_000_000


@dataclass(frozen=True, slots=True)
class Client:
    """A client that can be run: the label tests know it by, and its program."""

    label: str
    binary: Path

    @property
    def version(self) -> str:
        """The version it says it has."""
        with tempfile.TemporaryDirectory() as home:
            said = subprocess.run(
                [self.binary, "--version"],
                env={"HOME": home, "PATH": os.environ.get("PATH", os.defpath)},
                capture_output=True,
                text=True,
                timeout=60,
                check=True,
            )
        return said.stdout.split()[0]


class ClientMissing(Exception):
    """There is no such client here; the message says how to get it."""


def labels(environ: Mapping[str, str]) -> tuple[str, ...]:
    """The clients the suite runs on: the given one alone, or every supported version."""
    return (GIVEN,) if environ.get("LTM_E2E_CLAUDE") else VERSIONS


def required(environ: Mapping[str, str]) -> bool:
    """Whether a missing client is a failure: always in CI, and on request."""
    values = (environ.get("CI", ""), environ.get("LTM_E2E_REQUIRED", ""))
    return any(value.lower() not in ("", "0", "false") for value in values)


def cache_folder(environ: Mapping[str, str]) -> Path:
    """Where installed versions are kept."""
    if environ.get("LTM_E2E_CACHE"):
        return Path(environ["LTM_E2E_CACHE"]).absolute()
    home = Path(environ.get("HOME") or Path.home())
    return Path(environ.get("XDG_CACHE_HOME") or home / ".cache") / "ltm-e2e"


def find(label: str, environ: Mapping[str, str]) -> Client:
    """The client of that label, or ClientMissing."""
    if label == GIVEN:
        binary = Path(environ["LTM_E2E_CLAUDE"]).absolute()
        if not os.access(binary, os.X_OK):
            raise ClientMissing(f"LTM_E2E_CLAUDE names no program: {binary}")
        return Client(label, binary)
    folder = cache_folder(environ) / label
    found = binary_in(folder)
    if found is None:
        raise ClientMissing(
            f"no client {label} in {folder}: run python -m tests.e2e.client.install {label}, "
            "or name a binary with LTM_E2E_CLAUDE"
        )
    return Client(label, found)


def binary_in(folder: Path) -> Path | None:
    """The client's program in a folder that npm installed into."""
    modules = folder / "node_modules"
    for path in (*modules.glob(f"{PACKAGE}-*/claude"), modules / ".bin" / "claude"):
        if path.exists() and path.stat().st_size >= SMALLEST_CLIENT:
            return path
    return None
