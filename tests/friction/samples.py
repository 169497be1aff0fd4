"""Letting friction hear one conversation."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

from ltm.friction.analysis import Analysis, analyse
from ltm.friction.ruleset import rules
from ltm.friction.score import Scored
from ltm.friction.sources import find, group
from tests.sessions.writing import Transcript

NOW = datetime(2026, 11, 16, tzinfo=UTC)


class Talk(Transcript):
    """A transcript with the turns friction is about."""

    calls_made = 0

    def runs(self, command: str, output: object, error: bool | None = False) -> None:
        """The agent runs a command."""
        self.uses("Bash", output, error, command=command)

    def uses(self, tool: str, output: object, error: bool | None = None, **given: object) -> None:
        """The agent uses a tool."""
        self.calls_made += 1
        name = f"toolu_{self.calls_made}"
        self.calls(tool, name, **given)
        self.result(output, name, error=error)

    def stopped(self, at: str | None = None) -> None:
        """The user presses escape."""
        text = [{"type": "text", "text": "[Request interrupted by user]"}]
        fields = {"timestamp": at} if at else {}
        self.add("user", message={"role": "user", "content": text}, **fields)


def talk(folder: Path, name: str = "11111111-2222-4333-8444-555555555555") -> Talk:
    """A new transcript in a folder."""
    return Talk(folder / f"{name}.jsonl", name)


def heard(*paths: Path, classic: bool = False) -> Analysis:
    """What is found in these transcripts or folders."""
    return analyse(group(find(map(str, paths))), rules(classic=classic), NOW)


def only(path: Path, *, classic: bool = False) -> Scored:
    """The one session there is."""
    (session,) = heard(path, classic=classic).sessions
    return session


def signals(path: Path, *, classic: bool = False) -> Counter[str]:
    """How often each signal is found, without mere successes."""
    counts = Counter(each.name for each in only(path, classic=classic).heard.signals)
    del counts["exit_success"]
    return counts
