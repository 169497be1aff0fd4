"""When the next round with a team's server is due, and how the last one went (`sync.json`).

Apart from the round itself, because a server asks it after every event and must not load what
speaks HTTP.
"""

from __future__ import annotations

import os
import time

from ltm.files.atomic import names_in, read_plain, write_file
from ltm.files.fastjson import read_object, write
from ltm.project.layout import teams_in
from ltm.record import NamedTuple

SYNC_FILE = "sync.json"
EVERY = 120
"""Seconds after a round until the next one, where nothing waits to be sent."""

_PAUSE, _LONGEST = 30, 3600  # seconds after a failure: twice as long each time


class LastRound(NamedTuple):
    """The last round with a team's server."""

    at: int = 0
    """When it ended, in seconds since 1970; 0 if there was none."""
    error: str = ""
    failures: int = 0
    """How many failed one after another."""
    succeeded: int = 0
    """When one last succeeded."""


def last_round(folder: str) -> LastRound:
    """How the last round with a team went."""
    try:
        said = read_object(read_plain(os.path.join(folder, SYNC_FILE)).decode("utf-8"))
    except (OSError, ValueError):
        return LastRound()
    numbers = [said.get(name) for name in ("at", "failures", "succeeded")]
    at, failures, succeeded = (each if isinstance(each, int) else 0 for each in numbers)
    return LastRound(at, str(said.get("error") or ""), failures, succeeded)


def note_round(folder: str, error: str = "") -> None:
    """Note that a round ended now."""
    before, moment = last_round(folder), int(time.time())
    after = LastRound(moment, "", 0, moment)
    if error:
        after = before._replace(at=moment, error=error, failures=before.failures + 1)
    write_file(os.path.join(folder, SYNC_FILE), f"{write(after._asdict())}\n".encode())


def is_due(folder: str) -> bool:
    last = last_round(folder)
    passed = time.time() - last.at
    if passed < 0:
        return True  # the clock was set back
    if last.failures:
        return passed >= min(_LONGEST, _PAUSE << min(10, last.failures - 1))
    return passed >= EVERY or bool(names_in(os.path.join(folder, "outbox")))


def any_due(home: str) -> bool:
    return any(is_due(place.folder) for place in teams_in(home))
