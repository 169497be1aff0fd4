"""What a check found: the problem, and how to mend it where that can be done without a person."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ltm.core.errors import LtmError
from ltm.core.model import Problem


@dataclass(frozen=True, slots=True)
class Finding:
    """A problem, and its repair if there is one."""

    problem: Problem
    mend: Callable[[], object] | None = None
    """Repairs it or raises; it never deletes what a person wrote."""


def told(error: LtmError, path: str) -> Problem:
    """An error as a problem: what is wrong, where, and what to do about it."""
    hint = f" ({error.hint})" if error.hint else ""
    return Problem(error.path or path, f"{error.message}{hint}", error.line or 0)
