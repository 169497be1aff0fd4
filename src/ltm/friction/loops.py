"""Whether an agent makes the same call again and again to no other effect.

Polling is not a loop, nor is a test that is run again after an edit or because the user said
something: what counts is the same call with the same result and nothing in between that could
change it. Imports `sessions.turns`.
"""

from __future__ import annotations

import re

from ltm.friction.heard import Signal
from ltm.sessions.turns import ToolResult, ToolUse

LOOP = 3
"""Calls from which it is a loop."""

COMMANDS = frozenset(("Bash", "PowerShell", "Shell", "shell", "run_command", "execute_command"))
"""Tools that run a command, whose success says that something worked."""

EDITS = frozenset(("Edit", "MultiEdit", "Write", "NotebookEdit", "apply_patch", "str_replace"))
_POLLING_TOOLS = frozenset(
    name
    for names in (
        ("BashOutput", "TaskOutput", "AgentOutput", "KillShell", "KillBash", "Sleep", "Monitor"),
        ("TodoRead", "TodoWrite", "TaskList", "TaskGet", "TaskUpdate", "TaskCreate"),
        ("AskUserQuestion",),
    )
    for name in names
)
_POLLING = re.compile(
    r"\b(?:sleep|watch|wait|curl|wget|ping|tail|ps|pgrep|lsof|nc|ss|netstat|(?:kubectl|docker"
    r"|podman|systemctl|gh|git)\s+(?:get|ps|status|logs|run|pr|describe|inspect|fetch|pull))\b"
)
_HELD = 500


class Loops:
    """The calls made lately, with what they gave back."""

    def __init__(self) -> None:
        self._open: dict[str, int] = {}
        self._seen: dict[int, tuple[int, int, Signal | None]] = {}

    def clear(self) -> None:
        """Something happened after which the same call may be worth making again."""
        self._seen.clear()

    def call(self, turn: ToolUse) -> None:
        """A call is made."""
        if turn.tool in _POLLING_TOOLS:
            return
        command = turn.input.get("command")
        if isinstance(command, str) and _POLLING.search(command[:2_000]):
            return
        if len(self._open) >= _HELD:
            self._open.clear()  # calls that never got a result
        self._open[turn.id] = hash((turn.tool, repr(turn.input)))

    def result(self, turn: ToolResult) -> Signal | None:
        """It gave something back: the signal, when this makes it a loop."""
        call = self._open.pop(turn.id, None)
        if turn.tool in EDITS and not turn.failed and not turn.refused:
            self.clear()
            return None
        if call is None or turn.refused:
            return None
        # The ends and the length tell results apart as well as all of it, in a tenth of the time.
        given = hash((turn.failed, len(turn.text), turn.text[:300], turn.text[-300:]))
        before, count, signal = self._seen.get(call, (given, 0, None))
        if before != given:
            count, signal = 0, None
        count += 1
        if signal is not None:
            signal.more["loop_count"] = count
        new = None
        if count == LOOP:
            new = signal = Signal(
                "tool_loop",
                turn.at,
                f"{turn.tool or 'tool'}: the same call, the same result",
                turn.uuid,
                more={"tool": turn.tool, "loop_count": count},
            )
        if len(self._seen) >= _HELD:
            self._seen.clear()
        self._seen[call] = (given, count, signal)
        return new
