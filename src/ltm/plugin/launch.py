"""What the plugin starts: `ltm` with the words it was given, from a Python that can run it.

That is, in this order: the environment built for exactly this code, an installed `ltm` that is not
older, an environment of the version before. Runs as a plain file, `python3 -I -S launch.py mcp`, on
any Python from 3.8 with nothing installed.
"""

from __future__ import annotations

import os
import subprocess
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_FOLDER = os.path.dirname
ROOT = _FOLDER(_FOLDER(_FOLDER(_FOLDER(os.path.abspath(__file__)))))
"""The folder the plugin was installed into: it holds `src`."""

BUILD = "--build"
_CAN_RUN = (
    "from importlib.util import find_spec as f; raise SystemExit(not (f('ltm') and f('mcp')))"
)


def main(words: Sequence[str], environ: Mapping[str, str] = os.environ) -> int:
    """Become `ltm` with these words; stand in for its server where that takes a while."""
    data = environ.get("CLAUDE_PLUGIN_DATA", "")
    if list(words) == [BUILD]:
        return _build(data, environ)
    python = choose(data, environ)
    if python:
        return _become([python, "-I", "-m", "ltm", *words])
    if words[:1] == ["mcp"]:
        from ltm.plugin.stand_in import stand_in

        return stand_in(data, ROOT)
    from ltm.plugin.environment import state

    message = state(data).get("message", "LTM is not set up yet: start a session with its plugin")
    sys.stderr.write(f"ltm: {message}\n")
    return 1


def choose(data: str, environ: Mapping[str, str]) -> str:
    """A Python that can run `ltm`, or ''; when it is not the best one, that is being built."""
    from ltm.plugin.environment import outdated, ready

    python = ready(data, ROOT) if data else ""
    if python:
        return python
    python = _installed(environ)
    if python:
        return python
    if not data:
        return ""
    start_building(environ)
    return outdated(data)


def start_building(environ: Mapping[str, str]) -> None:
    """Build the environment in a process of its own; it ends at once where one is at it."""
    subprocess.Popen(
        [sys.executable, "-I", "-S", os.path.abspath(__file__), BUILD],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        env=dict(environ),
        cwd=environ["CLAUDE_PLUGIN_DATA"],
    )


def _build(data: str, environ: Mapping[str, str]) -> int:
    from ltm.plugin.environment import build, outdated, ready

    if not build(data, ROOT):
        return 1
    python = ready(data, ROOT) or outdated(data)
    # Hooks look there for a Python that can do what they leave for later.
    note = "from ltm import __version__ as v; from ltm.project.home import home; "
    note += "from ltm.spool.hook_log import note_runtime as n; n(home(), v)"
    return subprocess.call([python, "-I", "-c", note], env=dict(environ))


def _installed(environ: Mapping[str, str]) -> str:
    """The Python of an `ltm` the user installed, if it is there and not older than this code."""
    from ltm import __version__
    from ltm.errors import LtmError
    from ltm.project.home import home
    from ltm.spool.hook_log import numbers, python, runtime

    try:
        noted = runtime(home(environ))
    except LtmError:
        return ""
    found = python(noted)
    if not found or numbers(noted.get("version")) < numbers(__version__):
        return ""
    # What was noted may be gone from there: a Python without ltm cannot be used.
    quiet = subprocess.DEVNULL
    done = subprocess.call([found, "-I", "-c", _CAN_RUN], stdin=quiet, stdout=quiet, stderr=quiet)
    return "" if done else found


def _become(command: Sequence[str]) -> int:
    if os.name == "nt":  # there exec would end us while our client still waits
        return subprocess.call(command)
    os.execv(command[0], list(command))  # noqa: S606
    return 0


if __name__ == "__main__":
    sys.path.insert(0, os.path.join(ROOT, "src"))
    sys.exit(main(sys.argv[1:]))
