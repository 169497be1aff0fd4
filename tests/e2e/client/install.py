"""Installs the real client with npm, each version in a folder of its own in the cache.

    python -m tests.e2e.client.install 2.1.197 latest

Imports: binary.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from .binary import GIVEN, PACKAGE, VERSIONS, Client, ClientMissing, binary_in, cache_folder, find


def install(label: str, environ: Mapping[str, str]) -> Client:
    """Install a version (an npm version or tag) into the cache, replacing what is there."""
    if not re.fullmatch(r"[0-9A-Za-z][0-9A-Za-z.-]*", label) or label == GIVEN:
        raise ClientMissing(f"not a version or tag of {PACKAGE}: {label!r}")
    if shutil.which("npm") is None:
        raise ClientMissing("npm is not on the PATH: install Node.js first")
    cache = cache_folder(environ)
    cache.mkdir(parents=True, exist_ok=True)
    # Beside its place, then moved there: a broken download never looks like a client.
    fresh = Path(tempfile.mkdtemp(prefix=f".{label}-", dir=cache))
    try:
        quiet = ["--no-audit", "--no-fund", "--loglevel=error"]
        command = ["npm", "install", *quiet, "--prefix", str(fresh), f"{PACKAGE}@{label}"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode or binary_in(fresh) is None:
            said = (done.stderr or done.stdout).strip()
            raise ClientMissing(f"npm could not install {PACKAGE}@{label}: {said or 'no binary'}")
        shutil.rmtree(cache / label, ignore_errors=True)
        fresh.rename(cache / label)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    return find(label, environ)


def main(wanted: list[str]) -> int:
    """Install every version named, or all that the suite runs on; all at once."""
    labels = wanted or VERSIONS
    with ThreadPoolExecutor(len(labels)) as threads:
        coming = [(label, threads.submit(install, label, os.environ)) for label in labels]
    for label, each in coming:
        try:
            client = each.result()
        except ClientMissing as problem:
            print(problem, file=sys.stderr)
            return 1
        print(f"{label}: {client.version} at {client.binary}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
