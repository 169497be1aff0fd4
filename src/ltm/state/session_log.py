"""The sessions of this machine: their figures, how far they were read, and which events are done.

The sessions' part of `state.db`. Unlike `usage`, it raises when the database cannot be had: a drain
must know that nothing was noted, and try again later. Every change belongs in a `transaction`, so
that an effect and the note that it happened are one.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2b
from typing import Any

from ltm import policy
from ltm.files.sqlite import is_in_place, transaction
from ltm.model import iso
from ltm.state.model_log import ModelLog
from ltm.state.usage import State, note_session, open_log

BY_RULES, BY_MODEL = "capture", "model"
"""Who reads transcripts for what they teach: under these names the log keeps how far."""

_KEPT_DAYS = 60
"""Days after which a message is not expected again: clients delete transcripts sooner."""

_KEPT_SECONDS = 3_600
"""Seconds after which an event is not expected again: a hook repeats it within one or two."""

_CAUGHT_UP = 20  # sessions among which those are looked for that died before they ended

DONE = 1_000
"""The steps of an event that is done with: more than there are."""

_SETTLED = "settled"
_COLUMNS = (
    "s.id, s.project, (SELECT count(*) FROM sessions o WHERE o.project = s.project"
    " AND o.number <= s.number), s.started, s.ended, s.reason, s.cwd, s.transcript,"
    " max(s.ok, s.live_ok), max(s.failed, s.live_failed), max(s.compactions, s.live_compactions),"
    " s.client"
)


@dataclass(frozen=True, slots=True)
class Session:
    """One session of an agent."""

    id: str
    project: str
    number: int
    """Which session of its project it is, counted from 1."""
    started: str
    ended: str
    """When it ended; '' while it goes on, or when its end was not seen."""
    reason: str
    cwd: str
    transcript: str
    ok: int
    """Tool calls that did their work, by the transcript or by events, whichever saw more."""
    failed: int
    compactions: int
    client: str = ""
    """The client it ran in, by the name of its reader; '' when nothing told."""

    @property
    def difficulty(self) -> float:
        """How hard it was, from 0 to 1."""
        return policy.difficulty(self.failed, self.ok, self.compactions > 0)


class SessionLog:
    """The log in the state database at `path`. Used by one thread at a time."""

    def __init__(self, path: str) -> None:
        # What is noted here is deleted elsewhere: it must survive a power cut.
        self._db = open_log(path)
        self._path = path

    def close(self) -> None:
        self._db.close()

    def is_in_place(self) -> bool:
        """Whether it still is the file that has its name."""
        return is_in_place(self._db, self._path)

    def usage(self) -> State:
        """The usage of memories, in the same file; not to be changed within a transaction."""
        return State(self._path, db=self._db)

    def models(self) -> ModelLog:
        """What models cost and have yet to read, in the same file; as `usage`."""
        return ModelLog(self._path, db=self._db)

    def transaction(self) -> AbstractContextManager[None]:
        """All changes inside, or none."""
        return transaction(self._db)

    def relax(self) -> None:
        """From now on changes survive a crash of ltm, and a power cut only once `settle` is done.

        Each by itself waits for the disk, which takes longer than all that is to be noted.
        """
        self._db.execute("PRAGMA synchronous = NORMAL")

    def settle(self) -> None:
        """On return all changes survive a power cut; an error when the disk does not take them."""
        self._db.execute("PRAGMA synchronous = FULL")
        # One change that is waited for takes with it all that are in the log before it.
        self.keep_cursor("", _SETTLED, "", str(time.time_ns()))

    # -- sessions --------------------------------------------------------------------------------

    def get(self, session: str) -> Session | None:
        found = self._sessions("id = ?", (session,))
        return found[0] if found else None

    def sessions(self, project: str = "", limit: int = 100) -> list[Session]:
        """The sessions of a project or of all, newest first."""
        return self._sessions("? IN ('', project) ORDER BY number DESC LIMIT ?", (project, limit))

    def _sessions(self, wanted: str, values: Sequence[object]) -> list[Session]:
        rows = self._db.execute(f"SELECT {_COLUMNS} FROM sessions s WHERE {wanted}", values)
        found: list[Session] = []
        for row in rows:
            fields: list[Any] = [os.fsdecode(v) if isinstance(v, bytes) else v for v in row]
            found.append(Session(*fields))
        return found

    def unended(self, session: Session) -> list[Session]:
        """The other latest sessions of its project that never said they ended."""
        latest = self.sessions(session.project, _CAUGHT_UP)
        return [each for each in latest if not each.ended and each.id != session.id]

    def begin(
        self,
        session: str,
        project: str,
        cwd: str,
        transcript: str,
        at: datetime,
        client: str = "",
    ) -> None:
        """Note that a session is going on. Its first project stays its project."""
        note_session(self._db, session, project, at)
        self._db.execute(
            "UPDATE sessions SET cwd = CASE cwd WHEN '' THEN :cwd ELSE cwd END,"
            " transcript = CASE :transcript WHEN '' THEN transcript ELSE :transcript END,"
            " client = CASE client WHEN '' THEN :client ELSE client END"
            " WHERE id = :id",
            {
                "id": session,
                "cwd": _kept(cwd),
                "transcript": _kept(transcript),
                "client": client,
            },
        )

    def reopen(self, session: str, at: datetime) -> None:
        """Note that a session that may have ended before this moment goes on."""
        self._db.execute(
            "UPDATE sessions SET ended = '', reason = '' WHERE id = ? AND ended <= ?",
            (session, iso(at)),
        )

    def end(self, session: str, reason: str, at: datetime) -> None:
        """Note that a session ended; one without a known beginning is ignored."""
        self._db.execute(
            "UPDATE sessions SET ended = ?, reason = ? WHERE id = ?", (iso(at), reason, session)
        )

    def count(self, session: str, ok: int, failed: int, compactions: int) -> None:
        """Add what was counted in a stretch of the transcript."""
        self._db.execute(
            "UPDATE sessions SET ok = ok + ?, failed = failed + ?, compactions = compactions + ?"
            " WHERE id = ?",
            (ok, failed, compactions, session),
        )

    def count_live(self, session: str, ok: int = 0, failed: int = 0, compactions: int = 0) -> None:
        """Add what events say. They agree with the transcript, or stand in for a missing one."""
        self._db.execute(
            "UPDATE sessions SET live_ok = live_ok + ?, live_failed = live_failed + ?,"
            " live_compactions = live_compactions + ? WHERE id = ?",
            (ok, failed, compactions, session),
        )

    def live_calls(self, session: str) -> int:
        """How many tool calls of a session were in events."""
        row = self._db.execute(
            "SELECT live_ok + live_failed FROM sessions WHERE id = ?", (session,)
        ).fetchone()
        return int(row[0]) if row else 0

    # -- how far transcripts were read -----------------------------------------------------------

    def cursor(self, session: str, reader: str, path: str) -> str:
        """Where a reader left a transcript of a session; '' at the beginning."""
        row = self._db.execute(
            "SELECT cursor FROM cursors WHERE session = ? AND reader = ? AND path = ?",
            (session, reader, _kept(path)),
        ).fetchone()
        return row[0] if row else ""

    def keep_cursor(self, session: str, reader: str, path: str, cursor: str) -> None:
        """Note where a reader is. Each reader has its own place, and its own messages."""
        self._db.execute(
            "INSERT OR REPLACE INTO cursors VALUES(?, ?, ?, ?)",
            (session, reader, _kept(path), cursor),
        )

    def drop_cursors(self, session: str, reader: str) -> None:
        """Forget what a reader noted of a session; no byte of it stays in the file."""
        with self.transaction():
            self._db.execute(
                "DELETE FROM cursors WHERE session = ? AND reader = ?", (session, reader)
            )
        self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def turns_read(self, reader: str, at: datetime) -> TurnsRead:
        """The messages a reader has read, in all transcripts."""
        return TurnsRead(self._db, reader, at.toordinal())

    def prune(self, at: datetime) -> None:
        """Forget messages and events that cannot come again."""
        oldest = at.toordinal() - _KEPT_DAYS
        self._db.execute("DELETE FROM turns WHERE day < ?", (oldest,))
        for steps, seconds in ((0, _KEPT_DAYS * 86_400), (DONE, _KEPT_SECONDS)):
            moment = int((at.timestamp() - seconds) * 1e9)
            self._db.execute(
                "DELETE FROM events WHERE steps >= ? AND key < ?", (steps, f"{moment:020d}")
            )

    # -- events ----------------------------------------------------------------------------------

    def progress(self, key: str) -> tuple[int, int]:
        """How many steps of an event are done, and how often one failed."""
        row = self._db.execute("SELECT steps, tries FROM events WHERE key = ?", (key,)).fetchone()
        return (row[0], row[1]) if row else (0, 0)

    def note_progress(self, key: str, steps: int, tries: int) -> None:
        """Note how far an event is, so that no step is done twice."""
        self._db.execute("INSERT OR REPLACE INTO events VALUES(?, ?, ?)", (key, steps, tries))

    def finish_events(self, keys: Iterable[str]) -> None:
        """Note that events are done with. One that comes again, because a hook and a server both
        kept it, is known for an hour."""
        self._db.executemany(
            "INSERT OR REPLACE INTO events VALUES(?, ?, 0)", ((key, DONE) for key in keys)
        )


class TurnsRead:
    """Which messages one reader has read, whatever transcript they were in."""

    def __init__(self, db: sqlite3.Connection, reader: str, day: int) -> None:
        self._db = db
        self._reader = reader.encode()
        self._day = day

    def is_new(self, uuid: str) -> bool:
        """Whether this message is met for the first time; from now on it is not."""
        added = self._db.execute(
            "INSERT OR IGNORE INTO turns VALUES(?, ?)", (self._number(uuid), self._day)
        )
        return added.rowcount == 1

    def has(self, uuid: str) -> bool:
        """Whether this message was read before."""
        return bool(self.known([uuid]))

    def known(self, uuids: Sequence[str]) -> set[str]:
        """Those of a few hundred messages that were read before."""
        numbers = {self._number(uuid): uuid for uuid in uuids}
        marks = ", ".join("?" * len(numbers))
        found = self._db.execute(f"SELECT turn FROM turns WHERE turn IN ({marks})", [*numbers])
        return {numbers[number] for (number,) in found}

    def note(self, uuids: Iterable[str]) -> None:
        """Take messages for read."""
        rows = [(self._number(uuid), self._day) for uuid in uuids]
        self._db.executemany("INSERT OR IGNORE INTO turns VALUES(?, ?)", rows)

    def _number(self, uuid: str) -> int:
        digest = blake2b(uuid.encode("utf-8", "replace"), digest_size=8, key=self._reader).digest()
        return int.from_bytes(digest, "big", signed=True)


def _kept(path: str) -> str | bytes:
    """A path as SQLite takes it: one that is not valid UTF-8 as the bytes it stands for."""
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        return os.fsencode(path)
    return path
