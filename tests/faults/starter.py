"""A program that starts `ltm` commands as processes of their own, within milliseconds.

It loads the command line once and forks for each command, so that hundreds of real processes can be
watched, starved and killed in a test. A child waits until its parent is told to let it go: by then
a tracer is attached, and what the tracer counts is the command's work and not Python's start.

One JSON value per line. In: `{"argv", "cwd", "env", "out"}` and perhaps `short`, the most bytes
that any write takes, then anything at all to let it go.
Out: `{"pid"}`, then `{"status"}`: the exit code, or minus the signal that ended it.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence

WORDS = (
    ("remember", "a first thing to keep", "--json"),
    ("recall", "first", "--json"),
    ("list", "--json"),
    ("edit", "ID", "--content", "another text", "--json"),
    ("edit", "ID", "--content", "a third text", "--json"),
    ("show", "ID", "--json"),
    ("forget", "ID", "--json"),
    ("restore", "ID", "--json"),
    ("init", "--json"),
    ("init", "--move", "--json"),
    ("forget", "ID", "--purge", "--yes", "--json"),
    ("show", "nothing of this name"),
)
"""Commands run once before the first fork, to load all they need."""


def main() -> None:
    """Load everything, then start a command for each line."""
    with tempfile.TemporaryDirectory() as folder:
        _warm_up(folder)
    print("{}", flush=True)
    for line in sys.stdin:
        wish = json.loads(line)
        ours, theirs = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(theirs)
            _redirect(wish["out"])
            os.read(ours, 1)
            os.close(ours)
            _shorten(wish.get("short", 0))
            os._exit(_run(wish["argv"], wish["cwd"], wish["env"]))
        os.close(ours)
        print(json.dumps({"pid": pid}), flush=True)
        sys.stdin.readline()
        os.write(theirs, b"!")
        os.close(theirs)
        _, status = os.waitpid(pid, 0)
        print(json.dumps({"status": os.waitstatus_to_exitcode(status)}), flush=True)


def _redirect(out: str) -> None:
    """Nothing to read, and output that goes to two files."""
    for number, path in enumerate((os.devnull, out + ".out", out + ".err")):
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        os.dup2(handle, number)
        os.close(handle)


def _shorten(most: int) -> None:
    """Let every write take a few bytes only, as a disk, a pipe or a signal may."""
    if most:
        write = os.write
        os.write = lambda handle, data: write(handle, memoryview(data)[:most])


def _run(argv: Sequence[str], cwd: str, env: Mapping[str, str]) -> int:
    """Be the `ltm` command."""
    from ltm.cli.app import run

    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(env)
    sys.argv = ["ltm", *argv]
    try:
        run()
    except SystemExit as leave:
        return int(leave.code or 0)
    finally:
        sys.stdout.flush()
    return 0


def _warm_up(folder: str) -> None:
    import subprocess

    env = {"PATH": os.environ["PATH"], "HOME": folder, "LTM_HOME": os.path.join(folder, "home")}
    out = os.path.join(folder, "said")
    subprocess.run(["git", "init", "-q", folder], check=True, env=env)
    before = (os.dup(0), os.dup(1), os.dup(2)), os.getcwd(), dict(os.environ)
    found = ""
    _redirect(out)
    for words in WORDS:
        _run([found if word == "ID" else word for word in words], folder, env)
        if words[0] == "remember":
            with open(out + ".out", encoding="utf-8") as file:
                found = json.loads(file.readline())["id"]
    handles, cwd, environ = before
    for number, handle in enumerate(handles):
        os.dup2(handle, number)
        os.close(handle)
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(environ)


if __name__ == "__main__":
    main()
