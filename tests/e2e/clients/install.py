"""Installs other clients with npm, each pinned, in a folder of its own in the cache.

python -m tests.e2e.clients.install codex copilot gemini
python -m tests.e2e.clients.install                       # all of them, about 2 GB
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ..client.binary import ClientMissing, cache_folder

PINNED = {
    "codex": ("@openai/codex@0.166.0",),
    "copilot": ("@github/copilot@1.0.102",),
    "gemini": ("@google/gemini-cli@0.61.0",),
    "qwen": ("@qwen-code/qwen-code@0.24.4", "node@22"),
    "opencode": ("opencode-ai@1.18.33",),
    "kilo": ("@kilocode/cli-linux-x64@7.7.9",),
    "cline": ("cline@3.0.65",),
}
"""What npm installs for each client; one of them needs a newer Node than most machines have."""

IN_CI = ("codex", "copilot", "gemini")


def folder_of(name: str) -> Path:
    """Where a client is, once it is installed."""
    return cache_folder(os.environ) / "clients" / "-".join(PINNED[name]).replace("/", "_")


def install(name: str) -> Path:
    """Install a client unless it is there."""
    place = folder_of(name)
    if place.is_dir():
        return place
    if shutil.which("npm") is None:
        raise ClientMissing("npm is not on the PATH: install Node.js first")
    place.parent.mkdir(parents=True, exist_ok=True)
    # In another place, then moved there: a broken download never looks like a client.
    fresh = Path(tempfile.mkdtemp(prefix=".fresh-", dir=place.parent))
    try:
        quiet = ["--no-audit", "--no-fund", "--loglevel=error"]
        command = ["npm", "install", *quiet, "--prefix", str(fresh), *PINNED[name]]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise ClientMissing(f"npm could not install {name}: {done.stderr.strip()}")
        fresh.rename(place)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    return place


def main(names: list[str]) -> int:
    """Install the clients named, or all; all at once."""
    with ThreadPoolExecutor(4) as threads:
        coming = [(name, threads.submit(install, name)) for name in names or PINNED]
    for name, each in coming:
        try:
            print(f"{name}: {' '.join(PINNED[name])} at {each.result()}")
        except (ClientMissing, KeyError) as problem:
            print(f"{name}: {problem}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
