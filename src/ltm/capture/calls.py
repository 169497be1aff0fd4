"""What the agent did with its tools, call and result put together, without secrets.

Owns which tools run commands and which change files. Pure; imports `core`, the turns of
`sessions` and this package.
"""

from __future__ import annotations

from dataclasses import dataclass

from ltm.capture.commands import hides_failure
from ltm.capture.failures import looks_failed
from ltm.capture.plainwords import opening
from ltm.core.redact import redacted
from ltm.sessions.turns import ToolResult, ToolUse, Turn

SHELLS = frozenset({"Bash", "PowerShell", "Shell"})
EDITORS = frozenset({"Edit", "Write", "MultiEdit", "NotebookEdit"})
_OPEN = 200
_COMMAND, _OUTPUT, _TEXT = 2_000, 20_000, 2_000


@dataclass(frozen=True, slots=True)
class Run:
    """A command that was run."""

    command: str
    output: str
    """What it printed, up to a length; only this may hold secrets."""
    failed: bool
    line: int
    at: str


@dataclass(frozen=True, slots=True)
class Change:
    """A file that was changed."""

    path: str
    old: str
    new: str
    """What stood there and what took its place, as far as the tool was told."""


class Calls:
    """Joins calls to their results."""

    def __init__(self) -> None:
        self._open: dict[str, ToolUse] = {}

    def see(self, turn: Turn) -> Run | Change | None:
        """What came to its end with a turn, if anything did that was not refused."""
        if isinstance(turn, ToolUse):
            if turn.tool in SHELLS or turn.tool in EDITORS:
                if len(self._open) >= _OPEN:
                    self._open.clear()  # calls that never got a result
                self._open[turn.id] = turn
            return None
        if not isinstance(turn, ToolResult):
            return None
        call = self._open.pop(turn.id, None)
        if call is None or turn.refused:
            return None
        if call.tool in SHELLS:
            command = redacted(opening(_given(call, "command"), _COMMAND))
            output = opening(turn.text, _OUTPUT)
            failed = turn.failed or (hides_failure(command) and looks_failed(output))
            return Run(command, output, failed, turn.line, turn.at)
        if turn.failed:
            return None
        old, new = (
            redacted(opening(_given(call, each), _TEXT)) for each in ("old_string", "new_string")
        )
        return Change(_given(call, "file_path") or _given(call, "path"), old, new)


def _given(call: ToolUse, name: str) -> str:
    value = call.input.get(name)
    return value if isinstance(value, str) else ""
