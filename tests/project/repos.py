"""Real git repositories for the tests of what git has to do with memories."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

_QUIET = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_AUTHOR_NAME": "A",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "A",
    "GIT_COMMITTER_EMAIL": "a@example.org",
    "GIT_ALLOW_PROTOCOL": "file",
    "GIT_TERMINAL_PROMPT": "0",
}


FIRST = f"@{int(time.time())} +0000"


def git(
    folder: Path | str, *words: str, check: bool = True, env: Mapping[str, str] | None = None
) -> str:
    """Run git in a folder, untouched by this machine's settings, and give back what it printed."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    done = subprocess.run(
        ["git", *words],
        cwd=folder,
        env={**environ, **_QUIET, **(env or {})},
        capture_output=True,
        check=False,
        timeout=600,  # a merge starts our driver for every file; nothing is measured with it
    )
    if check and done.returncode:
        raise AssertionError(f"git {' '.join(words)}: {done.stderr.decode(errors='replace')}")
    return done.stdout.decode("utf-8", "surrogateescape")


def make_repo(folder: Path, remote: str = "", first: str = "first") -> Path:
    """A repository with one commit, and an `origin` if an address is given.

    Those with the same first commit share their history, as clones do.
    """
    folder.mkdir(parents=True)
    git(folder, "init", "-q", "-b", "main")
    dates = {"GIT_AUTHOR_DATE": FIRST, "GIT_COMMITTER_DATE": FIRST}
    git(folder, "commit", "-q", "--allow-empty", "-m", first, env=dates)
    if remote:
        git(folder, "remote", "add", "origin", remote)
    return folder
