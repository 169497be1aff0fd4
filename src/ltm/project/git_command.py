"""Running git, in the one place that does: no setting of a repository starts a program.

A repository's own config can name programs for git to run: a file monitor, hooks, a signature
check, external diffs, a pager, the other end of a fetch. A folder that was unpacked from an archive
brings such a config along, so each is switched off here. Filters (`filter.*.clean`) have names that
only the repository knows and cannot be switched off; they run in commands that compare or write the
work tree (`status`, `add`, `diff`, `checkout`), so those are not run. Git is started without a
shell.
"""

from __future__ import annotations

import os
import subprocess

_SETTINGS = (
    "core.fsmonitor=false",
    f"core.hooksPath={os.devnull}",
    "core.pager=cat",
    "core.editor=false",
    "core.askPass=",
    "core.sshCommand=false",
    "credential.helper=",
    "log.showSignature=false",
    "gpg.program=false",
    "gpg.openpgp.program=false",
    "gpg.x509.program=false",
    "gpg.ssh.program=false",
    "protocol.allow=never",
)
_OPTIONS = ("--no-pager", *(word for setting in _SETTINGS for word in ("-c", setting)))

_ENVIRONMENT = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    # A missing object of a partial clone would be fetched, by a program that the config names.
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",  # for a git that does not know the line above
}

_NO_DIFF_PROGRAMS = ("--no-ext-diff", "--no-textconv")
_COMMANDS = {
    "check-ignore": (),
    "config": (),
    "log": _NO_DIFF_PROGRAMS,
    "ls-files": (),
    "merge-file": (),
    "reflog": ("show", *_NO_DIFF_PROGRAMS),
}
"""What git is run for. Before another one is added, see which settings make it start a program."""


def run(
    folder: str, command: str, *words: str, seconds: float | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Run a git command in a folder, however it ends.

    `OSError` when git cannot be started, `subprocess.TimeoutExpired` after so many seconds.
    """
    # Git's own variables name programs, and in a git hook another repository.
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return subprocess.run(
        ["git", "-C", folder, *_OPTIONS, command, *_COMMANDS[command], *words],
        env=kept | _ENVIRONMENT,
        stdin=subprocess.DEVNULL,  # a client may speak to ltm on it, not to git
        capture_output=True,
        check=False,
        timeout=seconds,
    )


def is_ignored(root: str, path: str) -> bool:
    """Whether git ignores a path."""
    try:
        return run(root, "check-ignore", "-q", "--", path).returncode == 0
    except OSError:
        return False
