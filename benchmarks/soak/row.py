"""A promise, how it is tried, and what came of it."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

FIGURES = Path(__file__).with_name("figures.json")


@dataclass(frozen=True)
class Part:
    """A command that tries a promise: it ends with 0 only if the promise held."""

    words: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    minutes: float = 10
    """After so long it has failed."""
    more: bool = False
    """Whether these tests try far more of the same when all is asked for."""
    needs: str = ""
    """The variable without which this machine cannot try it."""

    @property
    def is_test(self) -> bool:
        """Whether it is a run of tests, whose cases are counted."""
        return self.words[0] == "pytest"

    @property
    def whole(self) -> Part:
        """The command when all is asked for."""
        return replace(self, env={**self.env, "LTM_FAULTS": "all"}) if self.more else self

    def argv(self) -> list[str]:
        return [sys.executable, "-m", *self.words]

    def __str__(self) -> str:
        setting = "".join(f"{name}={value} " for name, value in self.env.items())
        return f"{setting}python -m {shlex.join(self.words)}"


@dataclass(frozen=True)
class Row:
    """A promise."""

    id: str
    promise: str
    goal: str
    quick: tuple[Part, ...] = ()
    """What CI runs as well."""
    full: tuple[Part, ...] = ()
    """What takes longer, and runs only when all is asked for."""
    instead: str = ""
    """Why it is not tried, or not all of it."""
    most: Mapping[str, float] = field(default_factory=dict)
    """Figures that may not be higher: tests note time and never judge it."""
    alone: bool = False
    """Whether time or memory is part of the promise, so that nothing may run beside it."""

    def parts(self, *, full: bool) -> tuple[Part, ...]:
        parts = (*(part.whole for part in self.quick), *self.full) if full else self.quick
        return tuple(part for part in parts if not part.needs or os.environ.get(part.needs))


@dataclass(frozen=True)
class Outcome:
    """What came of a promise the last time it was tried."""

    row: str
    met: bool
    figures: Mapping[str, float]
    commands: tuple[str, ...]
    seconds: float
    commit: str
    date: str
    failed: tuple[str, ...] = ()
    """Commands that did not end well."""


def tried(
    *paths: str, minutes: float = 10, words: str = "", more: bool = False, needs: str = ""
) -> Part:
    """Tests by their files or names; `words` chooses some by their names."""
    chosen = ("-k", words) if words else ()
    return Part(("pytest", "-q", *paths, *chosen), {}, minutes, more, needs)


def program(*words: str, minutes: float = 10, **env: str) -> Part:
    """A module of this project with its arguments."""
    return Part(words, env, minutes)


def read(path: Path = FIGURES) -> dict[str, Outcome]:
    """What is on record, by row."""
    if not path.exists():
        return {}
    known: dict[str, dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    return {
        row: Outcome(
            row=row,
            **{**facts, "commands": tuple(facts["commands"]), "failed": tuple(facts["failed"])},
        )
        for row, facts in known.items()
    }


def write(outcomes: Mapping[str, Outcome], order: tuple[str, ...], path: Path = FIGURES) -> None:
    """Put outcomes on record."""
    facts = {
        row: {name: value for name, value in vars(outcomes[row]).items() if name != "row"}
        for row in order
        if row in outcomes
    }
    path.write_text(json.dumps(facts, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
