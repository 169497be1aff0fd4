"""Starting the drain as a process of its own, which lives on when the hook and its client end.

Owns how it is let go: a session of its own, none of our pipes in its hands, no signal ignored. At
most one runs: if the lock of the drain is held, there is nothing to start. Standard library
and `storage.runtime` only: hooks load this.
"""

from __future__ import annotations

import os

from ltm.storage.runtime import python, runtime

LOCK = "drain.lock"


def start_drain(home: str) -> bool:
    """Start a drain of this home, unless one runs or nothing here could run one."""
    program = python(runtime(home))
    if not program or is_draining(home) or not hasattr(os, "posix_spawn"):
        return False
    _keep_to_ourselves()
    # `-I`: the folder a session runs in must not be able to bring its own `ltm` or `click`.
    command = [program, "-I", "-m", "ltm", "drain"]
    nothing = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
        (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
    ]
    environ = {**os.environ, "LTM_HOME": home}
    # SIGHUP, SIGINT, SIGQUIT and SIGTERM, which the hook or its shell ignores for its short life.
    heard = [1, 2, 3, 15]
    try:
        os.posix_spawn(
            program, command, environ, file_actions=nothing, setsid=True, setsigdef=heard
        )
    except NotImplementedError:  # a system that cannot do this in one step: a group must do
        os.posix_spawn(
            program, command, environ, file_actions=nothing, setpgroup=0, setsigdef=heard
        )
    return True


def is_draining(home: str) -> bool:
    """Whether a drain of this home is running. Never waits."""
    try:
        import fcntl

        handle = os.open(os.path.join(home, LOCK), os.O_RDWR)
    except (ImportError, OSError):
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(handle)
    return False


def _keep_to_ourselves() -> None:
    """What we inherited stays here: a pipe that a child keeps open makes its reader wait."""
    try:
        names = os.listdir("/dev/fd")
    except OSError:
        return
    for name in names:
        if name.isdigit() and int(name) > 2:
            try:
                os.set_inheritable(int(name), False)
            except OSError:
                continue
