"""How much of what could be tried is tried: a sample, or all of it with LTM_FAULTS=all."""

from __future__ import annotations

import os

ALL = os.environ.get("LTM_FAULTS") == "all"

EXAMPLES = 100 if ALL else 40
"""Examples for a property, where it does not say otherwise."""


def examples(whole: int) -> int:
    """So many examples, or two fifths of them: for those that take long to make."""
    return whole if ALL else max(1, whole * 2 // 5)
