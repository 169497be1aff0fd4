"""How a command ends: the one place where errors become messages and exit codes.

0 done, 1 refused or not found, 2 wrong usage. Data goes to stdout, messages to stderr. Knows
nothing of the command line library, which a question in plain words does without.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable
from typing import Any, NoReturn

from ltm.core.errors import LtmError


def finish(command: Callable[[], object]) -> NoReturn:
    """Run a command and leave with its exit code, which is what it returns, or 0."""
    open_streams()
    try:
        code = command()
        sys.stdout.flush()
        sys.exit(code if isinstance(code, int) else 0)
    except KeyboardInterrupt:
        _say("stopped")
        sys.exit(130)
    except BrokenPipeError:
        _silence()  # the reader has seen enough
        sys.exit(0)
    except LtmError as error:
        _say(str(error), error.hint)
        sys.exit(error.exit_code)
    except Exception as error:
        if os.environ.get("LTM_DEBUG"):
            raise
        if isinstance(error, OSError) and _is_unwritable():
            _silence()
            _say(f"the answer could not be written: {error.strerror}")
            sys.exit(1)
        from ltm.storage.refusal import as_refusal

        refusal = as_refusal(error)
        if refusal is not None:
            _say(str(refusal), refusal.hint)
            sys.exit(refusal.exit_code)
        _say(
            f"this should not have happened: {type(error).__name__}: {error}",
            "set LTM_DEBUG=1 and run it again to see where",
        )
        sys.exit(1)


def open_streams() -> None:
    """Let every command print: where an output is closed (`>&-`), to nowhere, and where messages
    cannot be written, without them. What was done decides the exit code."""
    messages = sys.__stderr__
    if messages is not None and messages is sys.stderr:
        sys.stderr = io.TextIOWrapper(
            io.BufferedWriter(_MessageStream(2, "w", closefd=False)),
            encoding=messages.encoding,
            line_buffering=True,
        )
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


class _MessageStream(io.FileIO):
    """The stream of messages, where neither a full disk nor a missing reader is an error. Python
    would leave with 120 for what it could not write at its end."""

    def write(self, data: Any, /) -> int:
        """Write what can be written; all of it counts as written."""
        try:
            return super().write(data)
        except OSError:
            return len(data)


def _is_unwritable() -> bool:
    """Whether it is the output that failed: what could not be written is still to be."""
    try:
        sys.stdout.flush()
    except OSError:
        return True
    return False


def _silence() -> None:
    """Python would complain once more at its own end of what it could not write."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _say(message: str, hint: str = "") -> None:
    from ltm.core.screen import visible

    print(f"ltm: {visible(message)}", file=sys.stderr)
    if hint:
        print(f"     {visible(hint)}", file=sys.stderr)
