"""What the plugin starts: `ltm` with the words it was given, from the plugin's own code.

Packages come from where this Python has an `ltm` installed, else from the plugin's environment.
Where there are none yet, they are built in the background: the server, hooks, their drain and a
plain `recall` or `inject` work without them, what a tool says too is said by that (`TOOLS`), and
other commands wait. An installed `ltm` that is newer than this code takes its place.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_FOLDER = os.path.dirname
ROOT = _FOLDER(_FOLDER(_FOLDER(os.path.abspath(__file__))))
"""The folder the plugin was installed into: it holds the package and the pins."""

BUILD = "--build"
WAIT = 100.0
"""Seconds a command waits for its packages: a client gives up on a command after 120."""

TOOLS = {"": "ltm_status", "status": "ltm_status", "stats": "memory_stats", "doctor": "ltm_check"}
"""Commands that a tool answers as well, in short and without packages; '' is `ltm` alone."""

_CAN_RUN = (
    "from importlib.util import find_spec as f; raise SystemExit(not (f('ltm') and f('click')))"
)


def main(words: Sequence[str], environ: Mapping[str, str] = os.environ) -> int:
    """Be `ltm` with these words, with the packages there are."""
    from ltm.clients.environment import (
        build,
        data_folder,
        is_due,
        note_command,
        packages_of,
        python_of,
        ready,
    )

    data = data_folder(environ)
    if list(words) == [BUILD]:
        os.chdir(data)
        os.nice(10)  # the user is working on this machine
        return int(not build(data, ROOT, environ))
    installed, is_newer = _installed(environ)
    found = ""
    if installed == sys.executable and not is_newer:
        found = packages_of(_FOLDER(_FOLDER(installed)))
    # What was noted may be gone from there: a Python without ltm cannot be used.
    if installed and not found and _runs([installed, "-I", "-c", _CAN_RUN]):
        return _become([installed, "-I", "-m", "ltm", *words])
    if not found and data:
        note_command(ROOT, environ)
        environment = ready(data, ROOT)
        found = packages_of(environment) if environment else ""
        if environment and not found:  # it is of another Python, which can be used as well
            return _become([python_of(environment), *_launcher(), *words])
        if is_due(data, ROOT):
            _start_building(environ)
    if found:
        sys.path.append(found)
    sys.argv = ["ltm", *words]
    from ltm.cli.main import main as ltm

    try:
        ltm()
    except ModuleNotFoundError as error:
        if found or error.name != "click":
            raise
        said = _said_by_tool(data, words)
        return _wait(data, words) if said is None else said
    return 0


def _said_by_tool(data: str, words: Sequence[str]) -> int | None:
    """Let the tool of a plain command answer; None where there is none."""
    tool = TOOLS.get(" ".join(words))
    if tool is None:
        return None
    from ltm.clients.environment import FAILED, state
    from ltm.mcp.call import tool_result
    from ltm.project.installation import of_plugin

    result = tool_result(tool, {}, os.getcwd())
    sys.stdout.write(f"{result['content'][0]['text']}\n")
    if tool == TOOLS["status"] and (typed := of_plugin()):
        sys.stdout.write(f"command: {typed} (type it where it says ltm)\n")
    sys.stdout.flush()
    why = "the packages of its commands come with the next session"
    if data:
        how = state(data)
        why = "the packages of its commands are being installed"
        if how.get("state") == FAILED:
            why = str(how.get("message"))
    sys.stderr.write(f"ltm: this is the short form: {why}\n")
    return int(result["isError"])


def _wait(data: str, words: Sequence[str]) -> int:
    """Run a command as soon as its packages are there, or say why they are not."""
    import time

    from ltm.clients.environment import BUILDING, FAILED, READY, ready, state

    name = words[0]
    why = "start a session with its plugin, which installs them"
    if data:
        if state(data).get("state") != FAILED:
            sys.stderr.write(f"ltm: installing the packages that '{name}' needs, once ...\n")
        why, until = "they are still being installed: try again in a minute", time.time() + WAIT
        while time.time() < until:
            how = state(data)
            if ready(data, ROOT) or how.get("state") == READY:
                return _become([sys.executable, *_launcher(), *words])
            if how.get("state") == FAILED:
                why = str(how.get("message"))
                break
            time.sleep(0.2 if how.get("state") == BUILDING else 0.05)
    sys.stderr.write(
        f"ltm: '{name}' needs packages that are not installed: {why}\n"
        "     what works without them: recall WORDS, inject, status, stats, doctor, and all tools\n"
    )
    return 1


def _installed(environ: Mapping[str, str]) -> tuple[str, bool]:
    """The Python of an installed `ltm` that is not older than this code; whether it is newer."""
    from ltm import __version__
    from ltm.errors import LtmError
    from ltm.project.home import home
    from ltm.spool.hook_log import numbers, python, runtime

    try:
        noted = runtime(home(environ))
    except LtmError:
        return "", False
    there, here = numbers(noted.get("version")), numbers(__version__)
    return (python(noted), there > here) if there >= here else ("", False)


def _runs(command: Sequence[str]) -> bool:
    import subprocess

    quiet = subprocess.DEVNULL
    return not subprocess.call(command, stdin=quiet, stdout=quiet, stderr=quiet)


def _launcher() -> list[str]:
    return ["-I", "-S", os.path.join(_FOLDER(os.path.abspath(__file__)), "launch.py")]


def _start_building(environ: Mapping[str, str]) -> None:
    """Build the environment in a process of its own; it ends at once where one is at it."""
    quiet = [(os.POSIX_SPAWN_OPEN, handle, os.devnull, os.O_RDWR, 0) for handle in range(3)]
    command = [sys.executable, *_launcher(), BUILD]
    os.posix_spawn(sys.executable, command, environ, file_actions=quiet, setsid=True)


def _become(command: Sequence[str]) -> int:
    os.execv(command[0], list(command))  # noqa: S606
