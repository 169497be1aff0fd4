"""Every line of two texts: the line work of a merge, done by git's own union.

Owns nothing but that. Imports `home` and `git`, which is there: it is git that calls the merge.
"""

from __future__ import annotations

import os
import tempfile

from ltm.storage.git import run
from ltm.storage.home import scratch_folder


def merge_lines(base: str | None, older: str, newer: str) -> str:
    """Every line that either side has, except those one of them removed from a known base."""
    if older in (newer, base):
        return newer
    if newer == base:
        return older
    return _git_union(base or "", older, newer)


def _git_union(base: str, older: str, newer: str) -> str:
    with tempfile.TemporaryDirectory(prefix="ltm-merge-", dir=scratch_folder()) as folder:
        for name, text in (("base", base), ("older", older), ("newer", newer)):
            with open(os.path.join(folder, name), "wb") as file:
                # Git would join a last line without an end to what follows it.
                file.write(f"{text}\n".encode() if text else b"")
        done = run(folder, "merge-file", "-p", "-q", "--union", "older", "base", "newer")
    done.check_returncode()
    return done.stdout.decode().removesuffix("\n")
