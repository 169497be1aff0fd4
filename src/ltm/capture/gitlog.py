"""Achievements from a repository's own history.

Owns reading `git log`, with separators no subject can contain. Imports core, storage's
`githistory` and this package.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ltm.capture.achievements import achievement
from ltm.capture.candidate import Candidate
from ltm.core.errors import LtmError, NotFound, WrongUsage
from ltm.core.model import Source, Trust
from ltm.storage.githistory import git, made_here

_FORMAT = "%H%x1f%s%x1f%aI%x1e"


def from_git(folder: str, hours: int) -> Iterator[Candidate]:
    """The achievements among the commits of the last so many hours, oldest first."""
    if hours < 1:
        raise WrongUsage("the time to look back is at least one hour", hint="try: --since 24")
    since = f"--since={hours} hours ago"
    done = git(folder, "log", "--no-merges", "--reverse", since, f"--format={_FORMAT}")
    if done.returncode != 0:
        told = done.stderr.decode(errors="replace").strip().splitlines()
        if any("does not have any commits" in line for line in told):
            return
        if any("not a git repository" in line for line in told):
            raise NotFound(
                "is not a git repository, so there are no commits to look at",
                path=folder,
                hint="name one that is: ltm achievements --project DIR",
            )
        raise LtmError(told[-1] if told else "git log failed", path=folder)
    here = made_here(folder)
    for row in done.stdout.decode(errors="replace").split("\x1e"):
        parts = row.strip("\n").split("\x1f")
        if len(parts) == 3:
            commit, subject, at = parts
            trust = Trust.ASSISTANT if commit in here else Trust.TOOL
            source = Source(trust, tool=f"git {commit[:12]}")
            for found in achievement(subject, commit, source):
                yield replace(found, at=at)
