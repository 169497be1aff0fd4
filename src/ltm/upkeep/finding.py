"""What a check found: the problem, and how to mend it where that can be done without a person."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ltm.core.errors import LtmError
from ltm.core.model import Problem


@dataclass(frozen=True, slots=True)
class Finding:
    """A problem, its repair if there is one, and whether it means that something is ill."""

    problem: Problem
    mend: Callable[[], object] | None = None
    """Repairs it or raises; it never deletes what a person wrote."""
    ill: bool = True
    """False for what is only worth knowing."""


def told(error: LtmError, path: str) -> Problem:
    """An error as a problem: what is wrong, where, and what to do about it."""
    hint = f" ({error.hint})" if error.hint else ""
    return Problem(error.path or path, f"{error.message}{hint}", error.line or 0)
