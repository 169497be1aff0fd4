"""The log of errors in hooks and drains, and which Python hooks start the worker with.

`<home>/hook.log` has one line per error, the newest last, and is kept small: hooks and drains have
no output of their own. `ltm doctor` shows the last line. A line never holds what a client sent.

A hook runs on whatever `python3` the client finds, with no package installed. An installed `ltm`
notes its Python in `<home>/runtime.json`, and hooks start the drain with it. Hooks of the plugin
need none: they start the drain from the plugin's own code.
"""

from __future__ import annotations

import os
import sys
import time

from ltm.errors import LtmError
from ltm.files.atomic import read_plain, write_file
from ltm.files.fastjson import read_object, write

TYPE_CHECKING = False  # without `typing`, which alone costs a hook half its time
if TYPE_CHECKING:
    from collections.abc import Mapping

LOG_FILE = "hook.log"
LIMIT = 256 * 1024
_LONGEST = 400


def note(home: str, doing: str, error: BaseException) -> None:
    """Add a line about an error; nothing without a home. Never raises."""
    if not home:
        return
    path = os.path.join(home, LOG_FILE)
    moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    try:
        if os.stat(path).st_size > LIMIT:
            os.replace(path, f"{path}.1")
    except OSError:
        pass
    try:
        data = f"{moment} {doing}: {describe(error)}\n".encode("utf-8", "replace")
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            os.write(handle, data)
        finally:
            os.close(handle)
    except OSError:
        pass


def last(home: str) -> str:
    """The last line, or '' when nothing ever went wrong."""
    try:
        with open(os.path.join(home, LOG_FILE), "rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - 4096))
            lines = file.read().decode("utf-8", "replace").splitlines()
    except OSError:
        return ""
    return lines[-1] if lines else ""


def describe(error: BaseException) -> str:
    """What kind of error and where, in one line.

    Only the system's and LTM's own errors are quoted: the text of any other might hold a piece of
    what a client sent.
    """
    said = f" {error}" if isinstance(error, OSError | LtmError) else ""
    trace = error.__traceback__
    where = ""
    while trace is not None:
        where = f" ({os.path.basename(trace.tb_frame.f_code.co_filename)}:{trace.tb_lineno})"
        trace = trace.tb_next
    return " ".join(f"{type(error).__name__}{said}{where}".split())[:_LONGEST]


RUNTIME_FILE = "runtime.json"
SAVE_INTERVAL = 5
"""Tool calls after which a long turn is saved, unless the user chose another number."""


def runtime(home: str) -> dict[str, object]:
    """What is noted: `python`, `version` and `save_interval`; nothing when it cannot be read."""
    try:
        return read_object(read_plain(os.path.join(home, RUNTIME_FILE)).decode("utf-8"))
    except (OSError, ValueError):
        return {}


def python(noted: dict[str, object]) -> str:
    """The noted Python, if it is still there and can be run; else ''."""
    path = noted.get("python")
    if isinstance(path, str) and os.path.isabs(path) and os.access(path, os.X_OK):
        return path
    return ""


def ltm_command(home: str, environ: Mapping[str, str] = os.environ) -> list[str]:
    """The words that run `ltm`, without those for it; none where nothing here can run it.

    `-I`: the folder a session runs in must not be able to bring its own `ltm` or `click`.
    """
    noted = python(runtime(home))
    if noted:
        return [noted, "-I", "-m", "ltm"]
    if not environ.get("CLAUDE_PLUGIN_DATA"):
        return []
    launcher = os.path.join(os.path.dirname(os.path.dirname(__file__)), "cli", "launch.py")
    return [sys.executable, "-I", "-S", launcher]


def save_interval(noted: dict[str, object]) -> int:
    """The noted number of tool calls, or the usual one."""
    number = noted.get("save_interval")
    return number if isinstance(number, int) and number > 0 else SAVE_INTERVAL


def note_runtime(home: str, version: str, save_interval: int | None = None) -> None:
    """Note the Python that is running now, if it serves better than the one that is noted.

    The noted one stays while it can be run and is not older, so that two installations of the same
    version do not take turns. Never raises, and writes nothing where there is no home yet.
    """
    # A path from the environment would not be there for a drain that a hook starts.
    if not os.path.isdir(home) or "PYTHONPATH" in os.environ or not sys.executable:
        return
    old = runtime(home)
    new = dict(old)
    is_better = not python(old) or numbers(version) > numbers(old.get("version"))
    if is_better and not sys.flags.no_site:  # with `-S` it is the plugin's code, on any Python
        new |= {"python": sys.executable, "version": version}
    if save_interval is not None:
        new["save_interval"] = save_interval
    if new != old:
        try:
            write_file(os.path.join(home, RUNTIME_FILE), (write(new) + "\n").encode("ascii"))
        except LtmError:
            pass


def numbers(version: object) -> tuple[int, ...]:
    """A version as a tuple to compare; what is not a version comes before all others."""
    parts = str(version or "").split(".")
    return tuple(int(part) for part in parts if part.isdigit())
