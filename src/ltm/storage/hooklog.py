"""The log of errors in hooks and drains, which have no output of their own.

Owns `<home>/hook.log`, one line per error, the newest last, and keeps it small. `ltm doctor` shows
the last line. A line never holds what a client sent. Standard library only: hooks load this.
"""

from __future__ import annotations

import os
import time

from ltm.core.errors import LtmError

FILE = "hook.log"
LIMIT = 256 * 1024
_LONGEST = 400


def note(home: str, doing: str, error: BaseException) -> None:
    """Add a line about an error; nothing without a home. Never raises, as no one could be told."""
    if not home:
        return
    path = os.path.join(home, FILE)
    moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    try:
        data = f"{moment} {doing}: {describe(error)}\n".encode("utf-8", "replace")
        _rotate(path)
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
        with open(os.path.join(home, FILE), "rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - 4096))
            lines = file.read().decode("utf-8", "replace").splitlines()
    except OSError:
        return ""
    return lines[-1] if lines else ""


def describe(error: BaseException) -> str:
    """What kind of error and where, in one line.

    Only the system's and our own errors are quoted: the text of any other might hold a piece of
    what a client sent.
    """
    said = f" {error}" if isinstance(error, OSError | LtmError) else ""
    trace = error.__traceback__
    where = ""
    while trace is not None:
        where = f" ({os.path.basename(trace.tb_frame.f_code.co_filename)}:{trace.tb_lineno})"
        trace = trace.tb_next
    return " ".join(f"{type(error).__name__}{said}{where}".split())[:_LONGEST]


def _rotate(path: str) -> None:
    try:
        if os.stat(path).st_size > LIMIT:
            os.replace(path, f"{path}.1")
    except OSError:
        pass
