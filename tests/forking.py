"""`ltm` commands as processes of their own that begin within milliseconds.

Most of a command's time is Python's start. So commands are forked from a process that has loaded
everything (`tests.forkserver`), where that makes no difference: with other options of Python,
a program in between or something to do before its start, tests begin a process as ever.
"""

from __future__ import annotations

import atexit
import json
import os
import re
import select
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.forkserver import MOST, STATUS

_PYTHON_READS = ("PYTHON", "LANG", "LC_", "MALLOC", "LD_")
"""How variables begin that decide how Python itself starts."""

_AS_WITHOUT = {("LANG", "C.UTF-8")}
"""With these it starts as without them."""

_KNOWN = frozenset(
    ("bufsize", "stdin", "stdout", "stderr", "cwd", "env", "umask", "start_new_session")
) | {"text", "encoding", "errors", "universal_newlines", "user", "group", "extra_groups"}

_TOP = Path(__file__).parent.parent
_lock = threading.Lock()
_server: tuple[int, socket.socket, str] | None = None
"""The process that has a server, the way to that, and the path where it also listens."""

_PROGRAM = """\
#!{python} -IS
import json, os, signal, socket, struct, sys

way = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
way.connect({path!r})
mask = os.umask(0o77)
wish = {{
    "words": [os.fsencode(word).hex() for word in sys.argv[1:]],
    "cwd": os.getcwd(),
    "env": [[name.hex(), value.hex()] for name, value in os.environb.items()],
    "umask": mask,
    "rights": None,
    "session": False,
    "changed": {{}},
}}
socket.send_fds(way, [json.dumps(wish).encode()], [0, 1, 2])
(pid,) = struct.unpack("=q", way.recv(8))
for number in (signal.SIGINT, signal.SIGTERM):
    signal.signal(number, lambda number, _: os.kill(pid, number))
code = os.waitstatus_to_exitcode(struct.unpack("=q", way.recv(8))[0])
sys.exit(code if code >= 0 else 128 - code)
"""


def put_program(path: Path) -> None:
    """Write an `ltm` that shells and other programs can run, whose commands are forked as well."""
    _way()
    assert _server is not None
    path.write_text(_PROGRAM.format(python=sys.executable, path=_server[2]))
    path.chmod(0o755)


def start(
    words: Sequence[str | bytes], changed: Mapping[str, Any] | None = None, **how: Any
) -> subprocess.Popen[Any]:
    """Begin `ltm` with these words; `how` goes to Popen.

    `changed` are values of LTM's that are to be others, such as the length of a pause, by their
    full names. Where no process can be forked they stay as they are.
    """
    program = [sys.executable, "-m", "ltm", *words]
    if sys.platform != "linux" or how.get("env") is None or how.keys() - _KNOWN:
        return subprocess.Popen(program, **how)
    env: Mapping[str, str] = how["env"]
    size = sum(map(len, words)) + sum(map(len, env)) + sum(map(len, env.values()))
    other = any(name.startswith(_PYTHON_READS) for name, _ in env.items() - _AS_WITHOUT)
    if other or size * 4 > MOST:
        return subprocess.Popen(program, **how)
    return Forked(program, changed=changed or {}, **how)


def run(
    words: Sequence[str | bytes],
    *,
    input: str | bytes | None = None,  # noqa: A002 - as subprocess.run has it
    timeout: float | None = None,
    capture_output: bool = True,
    **how: Any,
) -> subprocess.CompletedProcess[Any]:
    """Run `ltm` with these words as `subprocess.run` would."""
    if input is not None:
        how["stdin"] = subprocess.PIPE
    if capture_output:
        how["stdout"] = how["stderr"] = subprocess.PIPE
    with start(words, **how) as process:
        try:
            out, err = process.communicate(input, timeout)
        except BaseException:
            process.kill()
            raise
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


class Forked(subprocess.Popen[Any]):
    """A process that this one did not begin itself, but may wait for, write to and kill."""

    def __init__(self, args: Sequence[str | bytes], *, changed: Mapping[str, Any], **how: Any):
        self._changed = dict(changed)
        super().__init__(args, **how)

    def _execute_child(self, args: Sequence[str | bytes], *rest: Any) -> None:
        _, _, _, _, cwd, env, _, _, _, *pipes, _, group, groups, user, umask, session, _ = rest
        given = (pipes[0], pipes[3], pipes[5])
        streams = [handle if handle >= 0 else own for own, handle in enumerate(given)]
        wish = {
            "words": [os.fsencode(word).hex() for word in args[3:]],
            "cwd": os.path.abspath(cwd or os.curdir),
            "env": [[os.fsencode(part).hex() for part in pair] for pair in env.items()],
            "umask": umask if umask >= 0 else _umask(),
            "rights": None if user is None else [groups, group, user],
            "session": session,
            "changed": self._changed,
        }
        self._answers, theirs = socket.socketpair()
        with theirs:
            socket.send_fds(_way(), [json.dumps(wish).encode()], [*streams, theirs.fileno()])
        self.pid = self._answer()
        if self.pid < 0:
            self._answers.close()
            raise OSError(-self.pid, os.strerror(-self.pid), str(cwd))
        self._child_created = True
        self._close_pipe_fds(*pipes)  # type: ignore[attr-defined]

    def _answer(self) -> int:
        said = self._answers.recv(STATUS.size, socket.MSG_WAITALL)
        assert len(said) == STATUS.size, "the process that forks has ended"
        (number,) = STATUS.unpack(said)
        return int(number)

    def _internal_poll(self, _deadstate: int | None = None) -> int | None:
        return self._ended(0)

    def _wait(self, timeout: float | None) -> int:
        code = self._ended(timeout)
        if code is None:
            raise subprocess.TimeoutExpired(self.args, timeout or 0)
        return code

    def _ended(self, timeout: float | None) -> int | None:
        """Its exit code, if it has one within so many seconds."""
        while self.returncode is None:
            ready = select.select([self._answers], [], [], timeout)[0]
            with self._waitpid_lock:  # type: ignore[attr-defined]
                if self.returncode is None and select.select([self._answers], [], [], 0)[0]:
                    self.returncode = os.waitstatus_to_exitcode(self._answer())
                    self._answers.close()
            if not ready:
                break
        return self.returncode


def _umask() -> int:
    """This process's own; `os.umask` would change it to tell it."""
    return int(re.findall(r"^Umask:\s*(\d+)$", Path("/proc/self/status").read_text(), re.M)[0], 8)


def _way() -> socket.socket:
    """The way to this process's server, which begins when it is first needed."""
    global _server
    with _lock:
        if _server is None or _server[0] != os.getpid():
            ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            folder = tempfile.mkdtemp(prefix="ltm-fork-")
            public = f"{folder}/commands"
            listening = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            listening.bind(public)  # here, so that a program finds it while the server is loading
            listening.listen(128)
            with theirs, listening:
                handles = (theirs.fileno(), listening.fileno())
                process = subprocess.Popen(
                    [sys.executable, "-m", "tests.forkserver", *map(str, handles)],
                    cwd=_TOP,
                    env={},
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    pass_fds=handles,
                )
            atexit.register(_end, os.getpid(), process, ours, folder)
            _server = (os.getpid(), ours, public)
        return _server[1]


def _end(owner: int, process: subprocess.Popen[Any], way: socket.socket, folder: str) -> None:
    if os.getpid() == owner:
        way.close()
        process.communicate()
        shutil.rmtree(folder)
