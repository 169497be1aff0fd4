"""Who made what is in a repository: this clone, or others whose work came along with it.

The clone's own log of what happened tells, which no clone and no pull brings along; names and
addresses in commits are what their authors say they are. What git has let go of after months counts
as another person's: then the user is asked. Imports core, `git` and `repository`.
"""

from __future__ import annotations

import os
import subprocess

from ltm.core.errors import LtmError
from ltm.storage.git import run
from ltm.storage.repository import find

_FOLLOWING = 2.0  # seconds in which git may tell former names; a long history takes longer
_MADE = ("commit", "rebase", "cherry-pick", "am:")


def git(
    folder: str, command: str, *words: str, seconds: float | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Run git in a folder, whatever becomes of it.

    `LtmError` when there is no git to run, or when it is not done in so many seconds.
    """
    try:
        return run(folder, command, *words, seconds=seconds)
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        raise LtmError(f"git does not run: {error}", path=folder) from error


def former_names(folder: str, path: str) -> list[str]:
    """The paths a file had before it was renamed, newest first, as the repository has them.

    What git cannot tell, or not soon, is left out.
    """
    form = ("--diff-filter=R", "--name-status", "--relative", "--format=", "-z")
    try:
        done = git(folder, "log", "--follow", *form, "--", path, seconds=_FOLLOWING)
    except LtmError:
        return []
    fields = [os.fsdecode(each.strip(b"\n")) for each in done.stdout.split(b"\0")]
    # Each renaming is its mark, the path before and the path after.
    return list(dict.fromkeys(fields[at + 1] for at in range(0, len(fields) - 2, 3)))


def made_here(folder: str) -> set[str]:
    """The commits that were made in this clone. What others wrote is their word."""
    done = git(folder, "reflog", "--all", "--format=%H%x1f%gs")
    rows = (row.partition("\x1f") for row in done.stdout.decode(errors="replace").splitlines())
    return {commit for commit, _, what in rows if what.startswith(_MADE)}


class CameAlong:
    """Tells which files others committed to the repository they lie in."""

    def __init__(self) -> None:
        self._of_folders: dict[str, set[str]] = {}
        self._made: dict[str, set[str]] = {}

    def has(self, path: str) -> bool:
        """Whether a file, or anything in a folder, came along with a clone or a pull.

        Where git is not there to say, it may have.
        """
        is_folder = os.path.isdir(path)
        folder = path if is_folder else os.path.dirname(path)
        try:
            if folder not in self._of_folders:
                self._of_folders[folder] = self._theirs(folder)
        except LtmError:
            return True
        theirs = self._of_folders[folder]
        return bool(theirs) if is_folder else os.path.basename(path) in theirs

    def _theirs(self, folder: str) -> set[str]:
        """The files below a folder that others committed, by their paths in it."""
        repository = find(folder)
        if repository is None:
            return set()
        tracked = set(git(folder, "ls-files", "-z", "--", ".").stdout.split(b"\0"))
        if repository.common_dir not in self._made:
            self._made[repository.common_dir] = made_here(folder)
        made = self._made[repository.common_dir]
        done = git(folder, "log", "--format=%x01%H", "--name-only", "--relative", "-z", "--", ".")
        found: set[str] = set()
        # Each entry is a commit and then, after a line end, names: any byte but 0 may be in them.
        for entry in (b"\0" + done.stdout).split(b"\0\x01")[1:]:
            commit, _, names = entry.partition(b"\0\n")
            if commit.decode() not in made:
                found.update(
                    os.fsdecode(name) for name in tracked & set(names.split(b"\0")) if name
                )
        return found
