"""Running git, in the one place that does: no setting of a repository starts a program.

A repository's own config can name programs for git to run (a file monitor, hooks, external diffs, a
pager), and a folder from an archive brings such a config along: each is switched off here. Filters
(`filter.*.clean`) cannot be, so commands that run them (`status`, `add`, `diff`, `checkout`) are
not used. No shell.

The repository of `ltm remote` is a bare one with a config that LTM writes. Only for that one the
network is used, with the login the person's own git has: it never asks, and has a time limit that
ends whatever git started.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress

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

_OWN = frozenset(
    ("core.sshCommand=false", "credential.helper=", "gpg.program=false", "protocol.allow=never")
)
"""Settings of `_SETTINGS` that would also switch off the person's own login and encryption."""

_NETWORK = (
    "credential.interactive=false",
    "fetch.fsckObjects=true",
    "fetch.recurseSubmodules=false",
    "fetch.writeCommitGraph=false",
    "gc.auto=0",
    "http.lowSpeedLimit=1",
    "http.lowSpeedTime=30",
    "maintenance.auto=false",
    "push.followTags=false",
    "push.gpgSign=false",
    "push.recurseSubmodules=no",
)
_NEVER_ASKS = {
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",  # what went wrong is told from git's words
    "GCM_INTERACTIVE": "never",
    "SSH_ASKPASS_REQUIRE": "never",
}
_UMASK = -1 if os.name == "nt" else 0o077
"""What git writes into a home is for its user alone, also while it is being written."""

_OTHER_END = {"fetch": "upload-pack", "ls-remote": "upload-pack", "push": "receive-pack"}
_SSH_OPTIONS = "-o BatchMode=yes -o ConnectTimeout=20"
_GPG_ARGUMENT = "gcrypt.gpg-args"

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

_BARE = (
    "cat-file",
    "config",
    "fast-import",
    "for-each-ref",
    "gc",
    "init",
    "ls-tree",
    "merge-base",
    "rev-list",
    "update-ref",
)


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


def run_bare(
    repository: str, command: str, *words: str, given: bytes = b""
) -> subprocess.CompletedProcess[bytes]:
    """Run a command on a bare repository that LTM made; it starts no program and no connection."""
    assert command in _BARE
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return subprocess.run(
        ["git", f"--git-dir={repository}", *_OPTIONS, command, *words],
        env=kept | _ENVIRONMENT,
        input=given,
        capture_output=True,
        check=False,
        umask=_UMASK,
    )


def run_network(
    repository: str,
    command: str,
    *words: str,
    protocols: Sequence[str],
    seconds: float,
    anonymous: bool = False,
    environ: Mapping[str, str] = os.environ,
) -> subprocess.CompletedProcess[bytes]:
    """Run a command that speaks with another repository, by these protocols only.

    `anonymous` goes without any login. `subprocess.TimeoutExpired` after so many seconds: then all
    that git started has ended too.
    """
    options = [
        word
        for setting in (*_SETTINGS, *_NETWORK)
        if anonymous or setting not in _OWN
        for word in ("-c", setting)
    ]
    kept = {name: value for name, value in environ.items() if not name.startswith("GIT_")}
    allowed = {"GIT_ALLOW_PROTOCOL": ":".join(protocols)}
    if not anonymous:
        ssh = _own_setting(repository, "core.sshCommand") or "ssh"
        allowed["GIT_SSH_COMMAND"] = f"{ssh} {_SSH_OPTIONS}"
    if "gcrypt" in protocols:
        gpg = _own_setting(repository, _GPG_ARGUMENT) or "--pinentry-mode=error"
        options += ["-c", f"{_GPG_ARGUMENT}={gpg}"]
    if "file" in protocols:
        # The other end runs on this machine too, with the hooks and settings of that folder.
        end = _OTHER_END[command]
        switched_off = f"{' '.join(_OPTIONS)} -c core.alternateRefsCommand=true"
        words = (f"--{end}=git {switched_off} {end}", *words)
    process = subprocess.Popen(
        ["git", f"--git-dir={repository}", "--no-pager", *options, command, *words],
        env=kept | _NEVER_ASKS | allowed,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # A group of its own, so that ssh and the like can be ended with it; and no terminal at
        # which any of them could ask.
        start_new_session=True,
        umask=_UMASK,
    )
    try:
        out, said = process.communicate(timeout=seconds)
    except BaseException:
        with suppress(OSError):
            _end(process)
        process.communicate()
        raise
    return subprocess.CompletedProcess((command, *words), process.returncode, out, said)


def _end(process: subprocess.Popen[bytes]) -> None:
    if os.name == "nt":  # pragma: no cover - exercised on Windows only
        process.kill()
    else:
        os.killpg(process.pid, signal.SIGKILL)


def _own_setting(repository: str, name: str) -> str:
    """A setting of the person's own git, never a repository's; '' when it is not set."""
    done = run_bare(repository, "config", "--global", "--includes", "--get", name)
    return done.stdout.decode(errors="replace").strip()


def is_ignored(root: str, path: str) -> bool:
    """Whether git ignores a path."""
    try:
        return run(root, "check-ignore", "-q", "--", path).returncode == 0
    except OSError:
        return False
