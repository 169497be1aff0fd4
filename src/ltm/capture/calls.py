"""What the agent did with its tools, call and result put together.

Owns which tools run commands and which change files. Pure; imports `core`, the turns of
`sessions` and this package.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

from ltm.capture.commands import hides_failure
from ltm.capture.failures import looks_failed
from ltm.capture.plainwords import opening
from ltm.core.redact import redacted
from ltm.sessions.turns import ToolResult, ToolUse, Turn

SHELLS = frozenset({"Bash", "PowerShell", "Shell"})
EDITORS = frozenset({"Edit", "Write", "MultiEdit", "NotebookEdit"})
MEMORY = ("mcp__ltm__", "mcp__plugin_ltm_ltm__")
"""How the names of this memory's own tools begin; other servers may have `ltm` in theirs."""

_OPEN = 200
_COMMAND, _OUTPUT, _TEXT = 2_000, 20_000, 500
_CARRIED = 8


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
class FileEdit:
    """A file that was changed."""

    path: str
    old: str
    new: str
    """What stood there and what took its place, as far as the tool was told. These may hold
    secrets: of few changes they are ever looked at, and to clean all took a tenth of listening."""


class Calls:
    """Joins calls to their results."""

    def __init__(self, state: Any = None) -> None:
        """`state` is what `state()` gave when an earlier stretch of the session ended."""
        self._open: dict[str, _Call] = {}
        for each in state if isinstance(state, list) else []:
            try:
                self._open[each["id"]] = _Call(**each)
            except (TypeError, KeyError):
                continue

    def see(self, turn: Turn) -> Run | FileEdit | None:
        """What came to its end with a turn, if anything did that was not refused."""
        if isinstance(turn, ToolUse):
            if turn.tool in SHELLS or turn.tool in EDITORS:
                if len(self._open) >= _OPEN:
                    self._open.clear()  # calls that never got a result
                self._open[turn.id] = _call(turn)
            return None
        if not isinstance(turn, ToolResult):
            return None
        call = self._open.pop(turn.id, None)
        if call is None or turn.refused:
            return None
        if call.is_command:
            output = opening(turn.text, _OUTPUT)
            failed = turn.failed or (hides_failure(call.command) and looks_failed(output))
            return Run(call.command, output, failed, turn.line, turn.at)
        return None if turn.failed else FileEdit(call.path, call.old, call.new)

    def state(self) -> list[dict[str, Any]]:
        """The calls that wait for their results, for the next stretch, without secrets."""
        waiting = list(self._open.values())[-_CARRIED:]
        return [
            asdict(replace(call, old=redacted(call.old), new=redacted(call.new)))
            for call in waiting
        ]


@dataclass(frozen=True, slots=True)
class _Call:
    """What is needed of a call when its result comes; only `old` and `new` may hold secrets."""

    id: str
    is_command: bool
    command: str = ""
    path: str = ""
    old: str = ""
    new: str = ""


def _call(turn: ToolUse) -> _Call:
    if turn.tool in SHELLS:
        return _Call(turn.id, True, redacted(opening(_given(turn, "command"), _COMMAND)))
    old, new = (opening(_given(turn, each), _TEXT) for each in ("old_string", "new_string"))
    path = _given(turn, "file_path") or _given(turn, "path")
    return _Call(turn.id, False, path=path, old=old, new=new)


def _given(call: ToolUse, name: str) -> str:
    value = call.input.get(name)
    return value if isinstance(value, str) else ""
