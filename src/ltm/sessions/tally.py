"""The figures of a session, counted from its turns: how much was done and how hard it was.

Owns what counts as a tool's success or failure (the transcript's own verdict, never words in its
output; a call the user refused is neither). Pure; imports `core.policy` and `turns`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ltm.core import policy
from ltm.sessions.turns import Compaction, ToolResult, Turn


@dataclass(slots=True)
class Tally:
    """What was counted so far; turns are added as they are read."""

    ok: int = 0
    """Tool calls that did their work."""
    failed: int = 0
    compactions: int = 0
    first: str = ""
    """When the first turn was, as the transcript writes it."""
    last: str = ""

    def add(self, turns: Iterable[Turn]) -> None:
        """Count turns."""
        for turn in turns:
            if turn.at:
                self.first = min(self.first or turn.at, turn.at)
                self.last = max(self.last, turn.at)
            if isinstance(turn, ToolResult):
                self.failed += turn.failed
                self.ok += not (turn.failed or turn.refused)
            elif isinstance(turn, Compaction):
                self.compactions += 1

    @property
    def tools(self) -> int:
        """Tool calls that ran."""
        return self.ok + self.failed

    @property
    def difficulty(self) -> float:
        """How hard the session was, from 0 to 1."""
        return policy.difficulty(self.failed, self.ok, self.compactions > 0)
