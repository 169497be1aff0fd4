"""Achievements from a repository's own history.

Owns reading `git log`, with separators no subject can contain. Imports core and this package; git
is run in exec form, without a shell.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from dataclasses import replace

from ltm.capture.achievements import achievement
from ltm.capture.candidate import Candidate
from ltm.core.errors import LtmError, WrongUsage
from ltm.core.model import Source, Trust

_FORMAT = "%H%x1f%s%x1f%aI%x1e"
_MADE = ("commit", "rebase", "cherry-pick", "am:")


def from_git(folder: str, hours: int) -> Iterator[Candidate]:
    """The achievements among the commits of the last so many hours, oldest first."""
    if hours < 1:
        raise WrongUsage("the time to look back is at least one hour", hint="try: --since 24")
    since = f"--since={hours} hours ago"
    done = _git(folder, "log", "--no-merges", "--reverse", since, f"--format={_FORMAT}")
    if done.returncode != 0:
        told = done.stderr.decode(errors="replace").strip().splitlines()
        if any("does not have any commits" in line for line in told):
            return
        raise LtmError(told[-1] if told else "git log failed", path=folder)
    here = _made_here(folder)
    for row in done.stdout.decode(errors="replace").split("\x1e"):
        parts = row.strip("\n").split("\x1f")
        if len(parts) == 3:
            commit, subject, at = parts
            trust = Trust.ASSISTANT if commit in here else Trust.TOOL
            source = Source(trust, tool=f"git {commit[:12]}")
            for found in achievement(subject, commit, source):
                yield replace(found, at=at)


def _made_here(folder: str) -> set[str]:
    """The commits that were made in this clone: its own log of what happened, which no clone and
    no pull brings along, tells. What others wrote is their word."""
    done = _git(folder, "reflog", "show", "--all", "--format=%H%x1f%gs")
    rows = (row.partition("\x1f") for row in done.stdout.decode(errors="replace").splitlines())
    return {commit for commit, _, what in rows if what.startswith(_MADE)}


def _git(folder: str, *words: str) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(["git", "-C", folder, *words], capture_output=True, check=False)
    except OSError as error:
        raise LtmError(f"git does not run: {error}", path=folder) from error
