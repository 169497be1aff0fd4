"""What was heard in one conversation: its signals, its figures, and what surrounded the worst.

Owns the shapes the detectors fill and everything after them reads. Imports `core.signals`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from ltm.core.signals import BY_NAME, REACTIONS


@dataclass(slots=True)
class Signal:
    """One sign of friction, at one moment."""

    name: str
    at: str
    """When, as the transcript writes it."""
    details: str = ""
    message: str = ""
    """The uuid of the message it was found in."""
    statement: str = ""
    """The user's own words, where a user reacted."""
    more: dict[str, Any] = field(default_factory=dict)
    """What else is known: `gap_seconds`, `tool`, `loop_count` and the like."""

    @property
    def is_reaction(self) -> bool:
        """Whether a user reacted to what the agent did."""
        return self.name in REACTIONS

    def record(self, session: str) -> dict[str, Any]:
        """As a line of `friction_raw.jsonl`."""
        return {
            "ts": self.at,
            "source": BY_NAME[self.name].source,
            "signal": self.name,
            "details": self.details,
            "session": session,
            **self.more,
        }


@dataclass(frozen=True, slots=True)
class Window:
    """The turns up to a signal: what was going on when it came to this."""

    signal: Signal
    turns: int
    files: tuple[str, ...]
    tools: tuple[str, ...]
    errors: tuple[str, ...]
    keywords: tuple[str, ...]
    contexts: tuple[str, ...]


@dataclass(slots=True)
class Heard:
    """One conversation, looked through."""

    session: str
    """The full id of the session it was read from first."""
    conversation: str
    """The uuid of its first message: the same in all its copies."""
    cwd: str = ""
    branch: str = ""
    started: str = ""
    ended: str = ""
    messages: int = 0
    """What was said and done in it, without sub-agents."""
    turns: int = 0
    """What the user typed, counted by the rules in force."""
    signals: list[Signal] = field(default_factory=list)
    windows: list[Window] = field(default_factory=list)
    name: str = ""
    """The session's name in what is written: project, moment and id."""
    project: str = ""
    """The project's name in what is written."""

    @property
    def is_interactive(self) -> bool:
        """Whether there was an exchange, and not one order only."""
        return self.turns > 1

    def saw(self, name: str) -> bool:
        """Whether a signal occurred."""
        return any(signal.name == name for signal in self.signals)


def seconds_between(before: str, after: str) -> float | None:
    """Seconds between two moments of a transcript; None when either is none."""
    try:
        return (datetime.fromisoformat(after) - datetime.fromisoformat(before)).total_seconds()
    except (ValueError, TypeError):
        return None
