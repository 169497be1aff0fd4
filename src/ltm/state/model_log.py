"""What this machine asks of language models: today's spend, and what a model has yet to read.

The models' part of `state.db`. It raises when the database cannot be written: a call that cannot be
counted is not made. What a model could not be asked about waits here, longer after every failure;
what failed too often is kept and shown, and tried again when the user says so.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime

from ltm.errors import StorageFailed
from ltm.files.sqlite import transaction
from ltm.state.usage import open_log

PAUSES = (60, 300, 1_800, 7_200, 43_200)
"""Seconds to wait after each failure; after the last it is given up."""

GIVEN_UP = len(PAUSES)
"""Failures after which nothing is tried unless the user asks for it."""

_COLUMNS = "session, cursor, lines, tries, not_before, error"


@dataclass(frozen=True, slots=True)
class Spent:
    """What a day has cost so far."""

    calls: int = 0
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class Unheard:
    """A session, or a part of one, that no model has read yet."""

    session: str
    cursor: str = ""
    """Where the part begins; '' for all there is after the reader's own place."""
    lines: str = ""
    """The lines of the part, as `120-134`."""
    tries: int = 0
    not_before: int = 0
    error: str = ""

    @property
    def given_up(self) -> bool:
        return self.tries >= GIVEN_UP


class ModelLog:
    """The log in the state database at `path`. Used by one thread at a time."""

    def __init__(self, path: str, *, db: sqlite3.Connection | None = None) -> None:
        """`db` is a connection to use, which the caller closes."""
        # A call that was made must be counted, also after a power cut.
        self._db = db or open_log(path)
        self._is_borrowed = db is not None

    def close(self) -> None:
        if not self._is_borrowed:
            self._db.close()

    # -- spend -----------------------------------------------------------------------------------

    def spent(self, at: datetime) -> Spent:
        """What the day of this moment (UTC) has cost so far, calls under way included."""
        row = self._db.execute(
            "SELECT calls, tokens FROM spend WHERE day = ?", (_day(at),)
        ).fetchone()
        return Spent(*row) if row else Spent()

    def reserve(self, at: datetime, tokens: int, *, calls_cap: int, tokens_cap: int) -> bool:
        """Take one call and so many tokens from the day's allowance; False when it is too small.

        One transaction, so that processes that ask at the same time never take more than there is.
        """
        with transaction(self._db):
            spent = self.spent(at)
            if spent.calls + 1 > calls_cap or spent.tokens + tokens > tokens_cap:
                return False
            self._spend(at, 1, tokens)
        return True

    def settle(self, at: datetime, reserved: int, used: int) -> None:
        """Put what a call really cost in the place of what was reserved for it."""
        with transaction(self._db):
            self._spend(at, 0, used - reserved)

    def _spend(self, at: datetime, calls: int, tokens: int) -> None:
        self._db.execute(
            "INSERT INTO spend VALUES(:day, :calls, max(0, :tokens)) ON CONFLICT(day) DO UPDATE"
            " SET calls = calls + :calls, tokens = max(0, tokens + :tokens)",
            {"day": _day(at), "calls": calls, "tokens": tokens},
        )

    # -- what a model has yet to read ------------------------------------------------------------

    def note_unheard(self, session: str) -> None:
        """Note that there is something to read; what was given up gets one more chance by it."""
        self._db.execute(
            "INSERT INTO unheard VALUES(:session, '', '', 0, 0, '') ON CONFLICT DO UPDATE SET"
            " not_before = CASE WHEN tries >= :most THEN 0 ELSE not_before END,"
            " tries = min(tries, :most - 1)",
            {"session": session, "most": GIVEN_UP},
        )

    def unheard(self) -> list[Unheard]:
        """Everything that waits or was given up."""
        return [Unheard(*row) for row in self._db.execute(f"SELECT {_COLUMNS} FROM unheard")]

    def due(self, at: datetime) -> list[Unheard]:
        """What may be tried now."""
        moment = int(at.timestamp())
        return [
            each
            for each in self.unheard()
            # A clock that was set back must not make anything wait for years.
            if not each.given_up and not moment < each.not_before <= moment + PAUSES[-1]
        ]

    def note_failure(self, failed: Unheard, at: datetime, error: str, *, all_wait: bool) -> int:
        """Count a failure, and wait before the next try; `all_wait` when no other would do better.

        Returns how often it has failed now.
        """
        until = int(at.timestamp()) + PAUSES[min(failed.tries, GIVEN_UP - 1)]
        with transaction(self._db):
            self._db.execute(
                "UPDATE unheard SET tries = tries + 1, not_before = ?, error = ?"
                " WHERE session = ? AND cursor = ?",
                (until, error, failed.session, failed.cursor),
            )
            if all_wait:
                self._db.execute("UPDATE unheard SET not_before = max(not_before, ?)", (until,))
        return failed.tries + 1

    def set_aside(self, part: Unheard, error: str) -> None:
        """Keep a part that no answer could be had for, so that the rest can go on without it."""
        self._db.execute(
            "INSERT OR REPLACE INTO unheard VALUES(?, ?, ?, ?, 0, ?)",
            (part.session, part.cursor, part.lines, GIVEN_UP, error),
        )

    def note_progress(self, session: str) -> None:
        """Note that an answer was had: failures before it count no more.

        What was given up because no model could be asked is taken up again, since one can be.
        """
        self._db.execute(
            "UPDATE unheard SET tries = 0, not_before = 0 WHERE cursor = ''"
            " AND (session = ? OR tries >= ?)",
            (session, GIVEN_UP),
        )

    def forget_unheard(self, done: Unheard) -> None:
        """Drop a note on what has been read."""
        self._db.execute(
            "DELETE FROM unheard WHERE session = ? AND cursor = ?", (done.session, done.cursor)
        )


def spent_and_waiting(path: str, at: datetime) -> tuple[Spent, list[Unheard]]:
    """Today's spend and what waits, to be shown; nothing where there is no database."""
    if not os.path.exists(path):
        return Spent(), []
    try:
        with closing(ModelLog(path)) as log:
            return log.spent(at), log.unheard()
    except (sqlite3.Error, StorageFailed):
        return Spent(), []


def _day(at: datetime) -> int:
    return at.astimezone(UTC).toordinal()
