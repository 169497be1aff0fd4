"""Many rows in one test: each is checked, and all that fail are told."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

import pytest

Row = TypeVar("Row")


def for_each(rows: Iterable[Row], check: Callable[[Row], object]) -> None:
    """Check every row; the test fails with each one that does not hold, and why."""
    failed = []
    checked = 0
    for row in rows:
        checked += 1
        try:
            check(row)
        except AssertionError as error:
            failed.append(f"{row!r}: {error}")
    assert checked, "there were no rows"
    if failed:
        pytest.fail(f"{len(failed)} of {checked} rows:\n" + "\n".join(failed), pytrace=False)
