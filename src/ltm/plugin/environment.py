"""The environment the plugin's server and commands run from, built once in the plugin's own folder.

A client installs nothing for Python, so the plugin does: an environment with this package and what
it needs, in the folder the client gives a plugin for its data (and deletes with it). uv builds it
where there is uv, else venv and pip, from the plugin's pins and their hashes. Each state of the
code has its own, named after its bytes: an update builds a new one next to the old, which serves
until then. Runs on any Python from 3.8 with nothing installed.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from hashlib import blake2b

from ltm.errors import LtmError
from ltm.files.atomic import write_file
from ltm.files.lock import Lock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import IO, Any

    _Run = Callable[[Sequence[str], str], None]

STATE = "environment.json"
LOG = "environment.log"
_LOCK = "environment.lock"
_PREFIX = "env-"
_FINISHED = "ltm-finished"
_OLDEST = (3, 11)
_PINS = ("requirements.txt", "vectors.txt")
_PATIENCE = 900.0  # seconds one step may take: the connection may be slow
_WORKS = "import ltm.mcp.server, ltm.cli.app"


def ready(data: str, root: str) -> str:
    """The Python of the environment for exactly this code, or '' while there is none."""
    return _python_of(os.path.join(data, _PREFIX + fingerprint(root)))


def outdated(data: str) -> str:
    """The Python of the newest environment for other code: better than none."""
    finished = [path for path in _environments(data) if _python_of(path)]
    return _python_of(max(finished, key=_age_of)) if finished else ""


def fingerprint(root: str) -> str:
    """A name for the state of the code in a folder."""
    digest = blake2b(digest_size=8)
    top = os.path.join(root, "src")
    paths = [os.path.join(root, "pyproject.toml"), *(_pins_of(root, name) for name in _PINS)]
    for folder, folders, names in os.walk(top):
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        paths += [os.path.join(folder, name) for name in sorted(names)]
    for path in paths:
        with open(path, "rb") as file:
            data = file.read()
        digest.update(b"%s\0%d\0" % (os.fsencode(os.path.relpath(path, root)), len(data)))
        digest.update(data)
    return digest.hexdigest()


def state(data: str) -> dict[str, Any]:
    """How the building goes: `state` is building, failed or ready, `message` is for a person."""
    try:
        with open(os.path.join(data, STATE), encoding="utf-8") as file:
            found = json.load(file)
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def build(data: str, root: str) -> bool:
    """Build the environment for this code and say whether it is there. Blocks; one at a time."""
    if not os.path.isdir(data):
        return False
    lock = Lock(os.path.join(data, _LOCK))
    if not lock.acquire(patience=0.0):
        return False
    try:
        if ready(data, root):
            return True
        path = os.path.join(data, _PREFIX + fingerprint(root))
        _note(data, "building", "LTM is being set up: about half a minute, once")
        try:
            _make(path, root, os.path.join(data, LOG))
        except _Failed as failure:
            shutil.rmtree(path, ignore_errors=True)
            _note(data, "failed", f"LTM could not be set up: {failure}")
            return False
        with open(os.path.join(path, _FINISHED), "wb"):
            pass
        _note(data, "ready", "LTM is set up")
        _clear(data, path)
        return True
    finally:
        lock.release()


class _Failed(Exception):
    """A step did not work; the text says what to do."""


def _make(path: str, root: str, log: str) -> None:
    uv = shutil.which("uv")
    old = sys.version_info[:2] < _OLDEST
    ways: list[Callable[[_Run], None]] = []
    if uv:
        ways.append(lambda run: _with_uv(run, uv, path, root, ">=3.11" if old else sys.executable))
    if not old:
        # uv does not know of the mirrors and certificates that are set up for pip.
        ways.append(lambda run: _with_pip(run, path, root))
    if not ways:
        found = ".".join(map(str, sys.version_info[:2]))
        raise _Failed(f"it needs Python 3.11 or newer, or uv, and found Python {found} only")
    with open(log, "wb") as output:
        for way in ways:
            shutil.rmtree(path, ignore_errors=True)
            try:
                way(lambda words, hint: _run(words, hint, output))
                return
            except _Failed as failure:
                if way is ways[-1]:
                    raise _Failed(f"{failure}; see {log}") from None


def _with_uv(run: _Run, uv: str, path: str, root: str, python: str) -> None:
    hint = "uv could not make an environment"
    run([uv, "venv", "--no-project", "--python", python, path], hint)
    install = [uv, "pip", "install", "--compile-bytecode", "--python", _interpreter(path)]
    _install(run, install, root, "uv could not install it, perhaps because there is no network")
    run([_interpreter(path), "-I", "-c", _WORKS], "what was installed does not work")


def _with_pip(run: _Run, path: str, root: str) -> None:
    hint = "Python could not make an environment: install uv, or your system's package python3-venv"
    run([sys.executable, "-I", "-m", "venv", path], hint)
    install = ["-m", "pip", "install", "--disable-pip-version-check", "--no-input"]
    hint = "pip could not install it, perhaps because there is no network"
    _install(run, [_interpreter(path), "-I", *install], root, hint)
    run([_interpreter(path), "-I", "-c", _WORKS], "what was installed does not work")


def _install(run: _Run, install: Sequence[str], root: str, hint: str) -> None:
    """Install the code in a folder: with vectors, or without where no wheel fits this machine.

    What it needs is exactly what was tried, byte for byte: a version with its hashes. Only wheels:
    to make one here, further packages would be fetched that no hash is known of.
    """
    pinned = [*install, "--require-hashes", "--no-deps", "--only-binary", ":all:"]
    needed, vectors = (_pins_of(root, name) for name in _PINS)
    try:
        run([*pinned, "-r", needed, "-r", vectors], hint)
    except _Failed:
        run([*pinned, "-r", needed], hint)
    built = [*install, "--no-deps", "--no-build-isolation", "--no-index", root]
    run(built, "its own code could not be installed")


def _pins_of(root: str, name: str) -> str:
    return os.path.join(root, "plugin", name)


def _run(words: Sequence[str], hint: str, output: IO[bytes]) -> None:
    output.write(("$ " + " ".join(words) + "\n").encode("utf-8", "replace"))
    output.flush()
    try:
        done = subprocess.run(
            words,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            timeout=_PATIENCE,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise _Failed(f"{hint} ({error})") from None
    if done.returncode:
        raise _Failed(hint)


def _clear(data: str, newest: str) -> None:
    """Remove environments no longer needed: all but this one and the one before, still in use."""
    others = [path for path in _environments(data) if path != newest]
    for path in sorted(others, key=_age_of)[:-1]:
        shutil.rmtree(path, ignore_errors=True)


def _environments(data: str) -> list[str]:
    try:
        names = os.listdir(data)
    except OSError:
        return []
    return [os.path.join(data, name) for name in names if name.startswith(_PREFIX)]


def _age_of(path: str) -> float:
    try:
        return os.stat(os.path.join(path, _FINISHED)).st_mtime
    except OSError:
        return 0.0


def _python_of(path: str) -> str:
    python = _interpreter(path)
    finished = os.path.exists(os.path.join(path, _FINISHED))
    return python if finished and os.access(python, os.X_OK) else ""


def _interpreter(path: str) -> str:
    windows = os.name == "nt"
    return os.path.join(
        path, "Scripts" if windows else "bin", "python.exe" if windows else "python"
    )


def _note(data: str, how: str, message: str) -> None:
    noted = {"state": how, "message": message}
    try:
        write_file(os.path.join(data, STATE), json.dumps(noted).encode())
    except LtmError:
        pass  # the plugin was removed meanwhile, and its folder must stay away
