"""Waiting for something to become true, with a deadline.

The only place of the package that sleeps. Imports: the standard library.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

# The client is a 235 MB program on a machine that may be busy: a deadline only bounds how long a
# broken test takes, it is never a measurement.
PATIENCE = 120.0
POLL, SELDOM = 0.02, 0.2
"""Seconds between two looks: what takes longer is looked for less often, as looking costs too."""


class DeadlineError(AssertionError):
    """What the test waited for did not happen in time."""


def wait_until(
    condition: Callable[[], T],
    what: str,
    timeout: float = PATIENCE,
    state: Callable[[], str] = str,
) -> T:
    """Return the first true value of `condition`, or raise DeadlineError.

    `what` completes the sentence "waited for ..."; `state` describes how things stand when the
    time is over, for the one who reads the failure.
    """
    end = time.monotonic() + timeout
    pause = POLL
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() >= end:
            raise DeadlineError(f"waited {timeout:g} s for {what}\n{state()}")
        time.sleep(pause)
        pause = min(1.3 * pause, SELDOM)
