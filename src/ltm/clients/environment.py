"""The plugin's environment: packages that add to what works without any, built in the background.

Hooks and the MCP server run on the standard library. Search by meaning, the `ltm` commands, HTTP
and unusual YAML need packages. They go into the folder the client gives a plugin for its data, and
deletes with it. uv builds it where there is uv, else venv and pip, from the plugin's pins and their
hashes. Each state of the pins has its own: new pins are built next to the old, which serve until
then. The code itself is not in it, so an update of that builds nothing.
"""

from __future__ import annotations

import json
import os
import sys
import time
from zlib import crc32

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import IO, Any

    _Run = Callable[[Sequence[str], str], None]

STATE = "environment.json"
LOG = "environment.log"
_LOCK = "environment.lock"
_PREFIX = "env-"
_FINISHED = "ltm-finished"
_PINS = ("requirements.txt", "vectors.txt")
_PATIENCE = 900.0  # seconds one step may take: the connection may be slow
_AGAIN = 3600.0  # seconds after a failure until it is tried again
_WORKS = "import click, mcp, rich, tomlkit, uvicorn, yaml"
_WITH = "LTM now also searches by meaning, and its ltm commands work"
_WITH_COMMANDS = "LTM's ltm commands now work; for search by meaning no package fits this machine"
_WITHOUT = "LTM works, but without search by meaning and its ltm commands"
_COMMAND = """\
#!/bin/sh
# `ltm` as LTM's plugin brings it, for a terminal. The plugin writes this file again when it moves.
LTM_HOME=${{LTM_HOME:-{home}}}
export LTM_HOME
[ ! -r {run} ] || exec sh {run} ltm "$@"
echo "ltm: the plugin it came with is gone: install it again, or remove this file: $0" >&2
exit 1
"""
_OWN = _COMMAND.index(",")  # what comes before names it as ours
BUILDING = "building"
FAILED = "failed"
READY = "ready"


def data_folder(environ: Mapping[str, str]) -> str:
    """The folder a client keeps the plugin's data in, or ''.

    A client names it to hooks and servers, and some leave it to them to make it. To what an agent
    or a person runs it is not named: then it is the one of the plugin that was built for last.
    """
    named = environ.get("CLAUDE_PLUGIN_DATA", "")
    if os.path.isabs(named):
        try:
            os.makedirs(named, mode=0o700, exist_ok=True)
        except OSError:
            pass  # what would be built in it is done without
        return named
    from ltm.clients.table import CLIENTS
    from ltm.clients.wire import PLUGIN
    from ltm.errors import WrongUsage
    from ltm.project.home import path_of

    found = []
    for client in CLIENTS:
        try:
            top = path_of(client.plugin_data, environ) if client.plugin_data else ""
            names = os.listdir(top) if top else []
        except (OSError, WrongUsage):
            continue  # it has no such plugin, or there is no home
        found += [os.path.join(top, name) for name in names if name.partition("-")[0] == PLUGIN]
    return max(found, key=lambda data: _time_of(os.path.join(data, STATE)), default="")


def ready(data: str, root: str) -> str:
    """The environment for these pins, or else the newest for others, which is better than none."""
    try:
        exact = os.path.join(data, _PREFIX + _name(root))
    except OSError:
        return ""
    if python_of(exact):
        return exact
    finished = [path for path in _environments(data) if python_of(path)]
    return max(finished, key=_age_of, default="")


def packages_of(prefix: str) -> str:
    """Where an environment has the packages for the Python that runs now; '' if it has none."""
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    windows = os.name == "nt"
    folder = os.path.join(prefix, *(("Lib",) if windows else ("lib", version)), "site-packages")
    return folder if os.path.isdir(os.path.join(folder, "click")) else ""


def python_of(path: str) -> str:
    """The Python of an environment that is finished and can be run; else ''."""
    python = _interpreter(path)
    finished = os.path.exists(os.path.join(path, _FINISHED))
    return python if finished and os.access(python, os.X_OK) else ""


def state(data: str) -> dict[str, Any]:
    """How the building goes: `state` is building, failed or ready, `message` is for a person."""
    try:
        with open(os.path.join(data, STATE), encoding="utf-8") as file:
            found = json.load(file)
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def note_command(root: str, environ: Mapping[str, str]) -> None:
    """Have an `ltm` for a terminal next to the memories, if there are any yet. Never raises."""
    from ltm.errors import LtmError
    from ltm.files.atomic import write_file
    from ltm.project.home import home as find_home
    from ltm.project.home import plugin_command

    try:
        home = find_home(environ)
        if not os.path.isdir(home):
            return
        path, run = plugin_command(home), os.path.join(root, "run.sh")
        text = os.fsencode(_COMMAND.format(home=_quoted(home), run=_quoted(run)))
        try:
            with open(path, "rb") as file:
                there = file.read(len(text) + 1)
        except FileNotFoundError:
            there = b""
            os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        if there != text and (not there or there.startswith(_COMMAND[:_OWN].encode())):
            write_file(path, text, mode=0o700)
    except (OSError, LtmError):
        pass


def _quoted(path: str) -> str:
    """A path as a word of the shell; `shlex` costs a server 5 ms of its start."""
    return "'" + path.replace("'", "'\\''") + "'"


def lack(environ: Mapping[str, str]) -> str:
    """What the environment has yet to bring, or why it could not be built; '' where it is there."""
    how = state(environ.get("CLAUDE_PLUGIN_DATA", ""))
    return "" if how.get("state") == READY else str(how.get("message", ""))


def is_due(data: str, root: str) -> bool:
    """Whether there is something to build, and it has not failed a moment ago."""
    try:
        if not os.path.isdir(data) or python_of(os.path.join(data, _PREFIX + _name(root))):
            return False
    except OSError:
        return False  # there are no pins: this is not the plugin's folder
    failed = state(data).get("state") == FAILED
    return not failed or time.time() - _time_of(os.path.join(data, STATE)) > _AGAIN


def build(data: str, root: str, environ: Mapping[str, str]) -> bool:
    """Build the environment and say whether it is there. Blocks; one at a time.

    Where an `ltm` that is not older is on the PATH, its packages serve and nothing is built.
    """
    from ltm.files.lock import Lock

    lock = Lock(os.path.join(data, _LOCK))
    if not os.path.isdir(data) or not lock.acquire(patience=0.0):
        return False
    try:
        if not is_due(data, root):
            return bool(ready(data, root))
        if _is_installed(environ):
            _note(data, READY, "")
            return True
        import shutil

        path = os.path.join(data, _PREFIX + _name(root))
        _note(
            data, BUILDING, "packages for search by meaning and the ltm commands are on their way"
        )
        try:
            with_vectors = _make(path, root, os.path.join(data, LOG))
        except _Failed as failure:
            shutil.rmtree(path, ignore_errors=True)
            _note(data, FAILED, f"{_WITHOUT}: {failure}")
            return False
        with open(os.path.join(path, _FINISHED), "wb"):
            pass
        _note(data, READY, _WITH if with_vectors else _WITH_COMMANDS)
        _clear(data, path)
        return True
    finally:
        lock.release()


def _name(root: str) -> str:
    """A name for the state of the pins."""
    number = 0
    for name in _PINS:
        with open(os.path.join(root, name), "rb") as file:
            number = crc32(file.read(), number)
    return f"{number:08x}"


def _is_installed(environ: Mapping[str, str]) -> bool:
    """Whether the PATH has an `ltm` that is not older; then it is noted as the one to use."""
    import shutil
    import subprocess

    from ltm import __version__
    from ltm.spool.hook_log import numbers

    program = shutil.which("ltm", path=environ.get("PATH"))
    if not program:
        return False
    try:
        said = subprocess.run(
            [program, "--version"], capture_output=True, text=True, timeout=60, check=True
        ).stdout.split()
        if said[:1] != ["ltm"] or numbers(said[-1]) < numbers(__version__):
            return False
        # It notes its Python for hooks, and for the next start of this plugin.
        subprocess.run([program, "drain"], capture_output=True, timeout=_PATIENCE, check=True)
    except (OSError, subprocess.SubprocessError):
        return False
    return True


class _Failed(Exception):
    """A step did not work; the text says why, for a person."""


def _make(path: str, root: str, log: str) -> bool:
    """Make the environment and say whether the packages for vectors are in it."""
    import shutil

    uv = shutil.which("uv")
    # uv does not know of the mirrors and certificates that are set up for pip.
    ways: list[Callable[[_Run], bool]] = [lambda run: _with_pip(run, path, root)]
    if uv:
        ways.insert(0, lambda run: _with_uv(run, uv, path, root))
    with open(log, "wb") as output:
        for way in ways:
            shutil.rmtree(path, ignore_errors=True)
            try:
                return way(lambda words, hint: _run(words, hint, output))
            except _Failed as failure:
                if way is ways[-1]:
                    raise _Failed(f"{failure}; see {log}") from None
    raise AssertionError


def _with_uv(run: _Run, uv: str, path: str, root: str) -> bool:
    hint = "uv could not make an environment"
    run([uv, "venv", "--no-project", "--python", sys.executable, path], hint)
    install = [uv, "pip", "install", "--compile-bytecode", "--python", _interpreter(path)]
    hint = "uv could not install their packages, perhaps because there is no network"
    return _install(run, install, _interpreter(path), root, hint)


def _with_pip(run: _Run, path: str, root: str) -> bool:
    hint = "Python could not make an environment: install uv, or your system's package python3-venv"
    run([sys.executable, "-I", "-m", "venv", path], hint)
    install = ["-m", "pip", "install", "--disable-pip-version-check", "--no-input"]
    hint = "pip could not install their packages, perhaps because there is no network"
    python = _interpreter(path)
    return _install(run, [python, "-I", *install], python, root, hint)


def _install(run: _Run, install: Sequence[str], python: str, root: str, hint: str) -> bool:
    """Install the packages and say whether those for vectors are there: for some machines no wheel
    of them fits.

    They are exactly what was tried, byte for byte: a version with its hashes. Only wheels: to make
    one here, further packages would be fetched that no hash is known of.
    """
    pinned = [*install, "--require-hashes", "--no-deps", "--only-binary", ":all:"]
    needed, vectors = (os.path.join(root, name) for name in _PINS)
    try:
        run([*pinned, "-r", needed, "-r", vectors], hint)
        with_vectors = True
    except _Failed:
        run([*pinned, "-r", needed], hint)
        with_vectors = False
    run([python, "-I", "-c", _WORKS], "what was installed does not work")
    return with_vectors


def _run(words: Sequence[str], hint: str, output: IO[bytes]) -> None:
    import subprocess

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
    import shutil

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
    return _time_of(os.path.join(path, _FINISHED))


def _time_of(path: str) -> float:
    try:
        return os.stat(path).st_mtime
    except OSError:
        return 0.0


def _interpreter(path: str) -> str:
    windows = os.name == "nt"
    return os.path.join(
        path, "Scripts" if windows else "bin", "python.exe" if windows else "python"
    )


def _note(data: str, how: str, message: str) -> None:
    from ltm.errors import LtmError
    from ltm.files.atomic import write_file

    noted = {"state": how, "message": message}
    try:
        write_file(os.path.join(data, STATE), json.dumps(noted).encode())
    except LtmError:
        pass  # the plugin was removed meanwhile, and its folder must stay away
