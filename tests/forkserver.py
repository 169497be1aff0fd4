"""A program that begins `ltm` commands as processes of their own, within milliseconds.

It loads all of LTM once and forks for each command. A child gets the folder, the environment, the
words, the three streams and the umask of a process that was started, runs `ltm` as `python -m ltm`
does, and ends as Python ends. What is loaded is the one difference; a test of that starts a
process (see `tests.forking`).

A request is a packet on the socket whose handle is the first argument: a JSON object with `words`,
`cwd`, `env` (pairs), `umask`, `rights` (groups, group and user, if it is to have others), `session`
and `changed` (values of LTM's that are to be others), and
four handles: stdin, stdout, stderr and a socket for answers. On that the pid is told, then the exit
status as `os.waitpid` gives it; or the number of the error, negative, if there is no such folder.
A program that was not started by the tests connects to the socket that listens, whose handle is the
second argument, sends the same with three handles, and is answered on that connection.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import pkgutil
import runpy
import selectors
import signal
import socket
import struct
import sys
import tempfile
import threading
import time
from typing import Any

STATUS = struct.Struct("=q")
MOST = 150_000
"""Bytes of the longest request."""

_LATER = ("mcp.server.stdio", "mcp.types", "numpy", "rich.table", "uvicorn", "yaml", "zoneinfo")
"""What commands load when they need it."""

_START = dict(os.environ)  # with what Python itself sets when it starts
_RUNNING: dict[int, socket.socket] = {}


def main() -> None:
    """Serve until the other end of the socket is closed."""
    _load()
    requests = socket.socket(fileno=int(sys.argv[1]))
    public = socket.socket(fileno=int(sys.argv[2]))
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    os.set_blocking(woken, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    waiting = selectors.DefaultSelector()
    waiting.register(requests, selectors.EVENT_READ)
    waiting.register(woken, selectors.EVENT_READ)
    waiting.register(public, selectors.EVENT_READ)
    gc.collect()
    gc.freeze()
    while True:
        for key, _ in waiting.select():
            if key.fd == woken:
                _read_all(woken)
                _report_ended()
                continue
            if key.fd == public.fileno():
                connection = public.accept()[0]
                message, handles, _, _ = socket.recv_fds(connection, MOST, 3)
                if message:
                    _begin(json.loads(message), [*handles, connection.detach()])
                continue
            message, handles, _, _ = socket.recv_fds(requests, MOST, 4)
            if not message:
                return
            _begin(json.loads(message), handles)


def _load() -> None:
    import ltm
    import ltm_server

    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # one that has threads must not fork
    for package in (ltm, ltm_server):
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not found.name.endswith("__main__"):
                importlib.import_module(found.name)
    for name in _LATER:
        try:
            importlib.import_module(name)
        except ImportError:
            pass


def _read_all(handle: int) -> None:
    try:
        while os.read(handle, 4096):
            pass
    except BlockingIOError:
        pass


def _report_ended() -> None:
    while _RUNNING:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if not pid:
            return
        _tell(_RUNNING.pop(pid), status)


def _tell(answers: socket.socket, value: int) -> None:
    try:
        answers.sendall(STATUS.pack(value))
    except OSError:
        pass  # the test did not wait
    answers.close()


def _begin(wish: dict[str, Any], handles: list[int]) -> None:
    """Fork; the child never comes back from here."""
    *streams, answering = handles
    answers = socket.socket(fileno=answering)
    try:
        folder = os.open(wish["cwd"], os.O_PATH | os.O_DIRECTORY)
    except OSError as error:
        _tell(answers, -(error.errno or 1))
    else:
        pid = os.fork()
        if pid == 0:
            os.fchdir(folder)
            _be_a_command(wish, streams)
        os.close(folder)
        _RUNNING[pid] = answers
        answers.sendall(STATUS.pack(pid))
    for handle in streams:
        os.close(handle)


def _be_a_command(wish: dict[str, Any], streams: list[int]) -> None:
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for number, handle in enumerate(streams):
        os.dup2(handle, number)
    os.closerange(3, 1024)
    os.umask(wish["umask"])
    if wish["rights"]:
        groups, group, user = wish["rights"]
        os.setgroups(groups)
        os.setgid(group)
        os.setuid(user)
    if wish["session"]:
        os.setsid()
    words = [os.fsdecode(bytes.fromhex(word)) for word in wish["words"]]
    os.environ.clear()
    os.environ.update(_START)
    for name, value in wish["env"]:
        os.environb[bytes.fromhex(name)] = bytes.fromhex(value)
    time.tzset()
    tempfile.tempdir = None
    for stream in (sys.stdin, sys.stdout):
        stream.reconfigure(line_buffering=stream.isatty())  # type: ignore[union-attr]
    sys.path[0] = os.getcwd()
    sys.argv = ["ltm", *words]
    sys.orig_argv = [sys.executable, "-m", "ltm", *words]
    for name, value in wish["changed"].items():
        module, _, attribute = name.rpartition(".")
        setattr(importlib.import_module(module), attribute, value)
    try:
        runpy.run_module("ltm", run_name="__main__", alter_sys=True)
    except SystemExit as leave:
        if not (leave.code is None or type(leave.code) is int):
            raise
        _leave(leave.code or 0)
    _leave(0)


def _leave(code: int) -> None:
    """As Python ends, but for taking apart what the process no longer needs."""
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):
        code = 120
    os._exit(code & 0xFF)


if __name__ == "__main__":
    main()
