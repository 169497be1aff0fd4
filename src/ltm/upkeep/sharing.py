"""What can keep a team's memories from being shared and merged: git's files and settings.

Imports `storage.gitfiles`, and only where a shared vault is in a git repository.
"""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING

from ltm.core.model import Problem
from ltm.upkeep.finding import Finding

if TYPE_CHECKING:
    from ltm.storage.places import Places


def sharing(places: Places) -> list[Finding]:
    """What is missing for a shared vault to be committed and merged on this machine."""
    if not places.shared_exists:
        return []
    from shutil import which

    from ltm.storage import gitfiles
    from ltm.storage.repository import find

    root = os.path.dirname(os.path.dirname(places.shared))
    if which("git") is None or find(root) is None:
        return []
    found: list[Finding] = []
    init = partial(gitfiles.init_shared, root)
    for name in (".gitignore", ".gitattributes"):
        path = os.path.join(places.shared, name)
        if not os.path.isfile(path):
            found.append(Finding(Problem(path, "is missing, so git does not know our files"), init))
    if not gitfiles.driver_installed(root):
        message = "git on this machine does not merge memories with ltm (run 'ltm init')"
        found.append(Finding(Problem(places.shared, message), init))
    if gitfiles.is_ignored(root):
        message = "git is told to leave this folder out, so no one else gets these memories"
        found.append(Finding(Problem(places.shared, message)))
    return found
