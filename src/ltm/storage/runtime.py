"""Which Python can do the work that a hook leaves for later.

A hook runs on whatever `python3` the client finds, with no package installed. Any process in an
environment that has everything notes it in `<home>/runtime.json`, and hooks start the drain with
it. Imports the standard library and `durable`, and little of it: hooks load this.
"""

from __future__ import annotations

import os
import sys

from ltm.core.errors import LtmError
from ltm.core.quickjson import read_object, write
from ltm.storage.durable import write_file
from ltm.storage.plainfile import read_plain

FILE = "runtime.json"
SAVE_INTERVAL = 5
"""Tool calls after which a long turn is saved, unless the user chose another number."""


def runtime(home: str) -> dict[str, object]:
    """What is noted: `python`, `version` and `save_interval`; nothing when it cannot be read."""
    try:
        return read_object(read_plain(os.path.join(home, FILE)).decode("utf-8"))
    except (OSError, ValueError):
        return {}


def python(noted: dict[str, object]) -> str:
    """The noted Python, if it is still there and can be run; else ''."""
    path = noted.get("python")
    if isinstance(path, str) and os.path.isabs(path) and os.access(path, os.X_OK):
        return path
    return ""


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
    if not python(old) or numbers(version) > numbers(old.get("version")):
        new |= {"python": sys.executable, "version": version}
    if save_interval is not None:
        new["save_interval"] = save_interval
    if new != old:
        try:
            write_file(os.path.join(home, FILE), (write(new) + "\n").encode("ascii"))
        except LtmError:
            pass


def numbers(version: object) -> tuple[int, ...]:
    """A version as what can be compared; what is none comes before all others."""
    parts = str(version or "").split(".")
    return tuple(int(part) for part in parts if part.isdigit())
