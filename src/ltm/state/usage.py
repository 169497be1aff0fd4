"""How often memories were used on this machine, and which sessions ran: `state.db`.

It cannot be derived: one of a former version is migrated, and a damaged one is moved aside. Nothing
here may fail a command, so a database that cannot be had is an empty one.

Time is counted in sessions and in active days, the days on which a project had a session, so that
a paused project does not forget. Both are logs of the whole machine, numbered as they happen: what
happened to a memory is noted with the numbers of that moment, and how long ago it was is how many
entries of the project follow. A clock that is set back does not disturb that, and an agent's memory
that is used in one project is fresh in all of them.
"""

from __future__ import annotations

import os
import sqlite3
from bisect import bisect_right
from collections.abc import Iterable
from datetime import UTC, datetime

from ltm.errors import LtmError, StorageFailed
from ltm.files.atomic import make_folder
from ltm.files.sqlite import (
    Incompatible,
    Older,
    Schema,
    add_columns,
    columns,
    connect,
    copy,
    is_in_place,
    is_unwritable,
    keep,
    look,
    make,
    transaction,
)
from ltm.model import Usage, iso, utc
from ltm.spool import session_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_LOOKED = "looked"
"""Under this name `cursors` has the session in which the memories of a project were last seen."""

_DAYS = """
CREATE TABLE days(
  number INTEGER PRIMARY KEY, project TEXT NOT NULL, day TEXT NOT NULL, UNIQUE(project, day));
CREATE TABLE batches(
  project TEXT NOT NULL, vault TEXT NOT NULL, session INTEGER NOT NULL,
  PRIMARY KEY(project, vault)) WITHOUT ROWID;
"""  # since schema 2

_LOGS = """
CREATE TABLE IF NOT EXISTS cursors(
  session TEXT NOT NULL, reader TEXT NOT NULL, path TEXT NOT NULL, cursor TEXT NOT NULL,
  PRIMARY KEY(session, reader, path)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS turns(turn INTEGER PRIMARY KEY, day INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS events(
  key TEXT PRIMARY KEY, steps INTEGER NOT NULL, tries INTEGER NOT NULL) WITHOUT ROWID;
"""  # since schema 3: how far transcripts were read, which events are done

_MODELS = """
CREATE TABLE IF NOT EXISTS spend(
  day INTEGER PRIMARY KEY, calls INTEGER NOT NULL, tokens INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS unheard(
  session TEXT NOT NULL, cursor TEXT NOT NULL, lines TEXT NOT NULL, tries INTEGER NOT NULL,
  not_before INTEGER NOT NULL, error TEXT NOT NULL, PRIMARY KEY(session, cursor)) WITHOUT ROWID;
"""  # since schema 5: what models cost, and what they have yet to read

_TABLES = f"""
CREATE TABLE usage(
  id TEXT PRIMARY KEY, uses INTEGER NOT NULL, last_session INTEGER NOT NULL, last_used TEXT,
  first_day INTEGER NOT NULL, idle_day INTEGER NOT NULL, uses_then INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE sessions(
  number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, project TEXT NOT NULL,
  started TEXT NOT NULL, ended TEXT NOT NULL DEFAULT '', reason TEXT NOT NULL DEFAULT '',
  cwd TEXT NOT NULL DEFAULT '', transcript TEXT NOT NULL DEFAULT '',
  ok INTEGER NOT NULL DEFAULT 0, failed INTEGER NOT NULL DEFAULT 0,
  compactions INTEGER NOT NULL DEFAULT 0, live_ok INTEGER NOT NULL DEFAULT 0,
  live_failed INTEGER NOT NULL DEFAULT 0, live_compactions INTEGER NOT NULL DEFAULT 0,
  client TEXT NOT NULL DEFAULT '');
CREATE INDEX sessions_project ON sessions(project, number);
{_DAYS}{_LOGS}{_MODELS}"""


def _numbered(db: sqlite3.Connection) -> None:
    """Schema 2: sessions and active days are numbered as they happen on the whole machine."""
    if "first_day" in columns(db, "usage"):
        return
    make(
        db,
        f"""
ALTER TABLE sessions RENAME TO former;
DROP INDEX sessions_project;
CREATE TABLE sessions(
  number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, project TEXT NOT NULL,
  started TEXT NOT NULL);
CREATE INDEX sessions_project ON sessions(project, number);
INSERT INTO sessions(id, project, started)
  SELECT id, project, started FROM former ORDER BY started, project, former.number;
DROP TABLE former;
{_DAYS}
INSERT OR IGNORE INTO days(project, day)
  SELECT project, substr(started, 1, 10) FROM sessions ORDER BY number;
ALTER TABLE usage ADD COLUMN first_day INTEGER NOT NULL DEFAULT 0;
ALTER TABLE usage ADD COLUMN idle_day INTEGER NOT NULL DEFAULT 0;
UPDATE usage SET
  last_session = ifnull((SELECT max(number) FROM sessions WHERE started <= last_used), 0),
  idle_day = ifnull((SELECT max(number) FROM days WHERE day <= substr(last_used, 1, 10)), 0);
UPDATE usage SET first_day = idle_day
""",
    )


def _logged(db: sqlite3.Connection) -> None:
    """Schema 3: the figures of sessions, how far transcripts were read, which events are done."""
    texts = "ended", "reason", "cwd", "transcript"
    figures = "ok", "failed", "compactions", "live_ok", "live_failed", "live_compactions"
    added = [f"{name} TEXT NOT NULL DEFAULT ''" for name in texts]
    added += [f"{name} INTEGER NOT NULL DEFAULT 0" for name in figures]
    add_columns(db, "sessions", *added)
    make(db, _LOGS)


def _uses_in_phases(db: sqlite3.Connection) -> None:
    """Schema 4: how often a memory was used before it changed its phase."""
    if "uses_then" not in columns(db, "usage"):
        add_columns(db, "usage", "uses_then INTEGER NOT NULL DEFAULT 0")
        # What faded did so for want of use: no use counts as one since then.
        db.execute("UPDATE usage SET uses_then = uses")


def _with_clients(db: sqlite3.Connection) -> None:
    """Schema 6: the client of each session; there was one before."""
    if "client" not in columns(db, "sessions"):
        add_columns(db, "sessions", "client TEXT NOT NULL DEFAULT ''")
        db.execute("UPDATE sessions SET client = 'claude-code' WHERE transcript != ''")


SCHEMA = Schema(6, _TABLES, (_numbered, _logged, _uses_in_phases, _MODELS, _with_clients))


class State:
    """The local database of usage and sessions, opened when it is first needed.

    `db` is a connection to use, which the caller closes.
    """

    def __init__(
        self, path: str, *, readonly: bool = False, db: sqlite3.Connection | None = None
    ) -> None:
        self.path = path
        self._readonly = readonly
        self._db = db
        self._is_borrowed = db is not None

    def close(self) -> None:
        """Give the file back."""
        if self._db is not None and not self._is_borrowed:
            self._db.close()
            self._db = None

    def is_in_place(self) -> bool:
        """Whether it is not open, or still the file that has its name."""
        return self._db is None or is_in_place(self._db, self.path)

    # -- memories --------------------------------------------------------------------------------

    def usage(self, ids: Iterable[str], project: str = "") -> dict[str, Usage]:
        """How often each of these memories was used, and how long ago for a project.

        Ids that were never used nor seen are left out: for them time has not begun yet.
        """
        wanted = list(ids)
        found: dict[str, Usage] = {}
        sessions, days = (
            [
                n
                for (n,) in self._ask(
                    f"SELECT number FROM {log} WHERE project = ? ORDER BY 1", project
                )
            ]
            for log in ("sessions", "days")
        )
        for start in range(0, len(wanted), 500):
            part = wanted[start : start + 500]
            rows = self._ask(
                "SELECT id, uses, last_session, last_used, first_day, idle_day, uses_then"
                f" FROM usage WHERE id IN ({', '.join('?' * len(part))})",
                *part,
            )
            for name, uses, mark, moment, first, idle, then in rows:
                session = bisect_right(sessions, mark)
                found[name] = Usage(
                    uses,
                    session,
                    utc(moment) if moment else None,
                    uses_since=uses - then,
                    sessions_since=len(sessions) - session,
                    idle_days=len(days) - bisect_right(days, idle),
                    known_days=len(days) - bisect_right(days, first),
                )
        return found

    def used_again(self) -> list[str]:
        """The ids of memories that were used since they last changed their phase."""
        return [row[0] for row in self._ask("SELECT id FROM usage WHERE uses > uses_then")]

    def used(self, ids: Iterable[str], moment: datetime) -> None:
        """Count one use of each of these memories, now, in the current session."""
        change = (
            "DO UPDATE SET uses = uses + 1, last_session = excluded.last_session,"
            " last_used = excluded.last_used, idle_day = excluded.idle_day"
        )
        self._note(ids, 1, iso(moment), change)

    def shown(self, ids: Iterable[str]) -> None:
        """Note that memories were told to the current session: what is told does not fade.

        That is not counted as a use: telling must not be the reason to tell again.
        """
        self._note(
            ids,
            0,
            None,
            "DO UPDATE SET last_session = excluded.last_session, idle_day = excluded.idle_day",
        )

    def seen(self, ids: Iterable[str], project: str = "") -> None:
        """Note the first sight of memories in a project; those that are known stay as they are.

        Time begins for a memory when this machine first sees it, however old it is, so that what is
        pulled from a teammate does not fade first. Its sessions count from the last look before: it
        may have been there since, and must not seem to be used in this session.
        """
        self._note(ids, 0, None, "DO NOTHING", looking_at=project)

    def stepped(self, memory_id: str) -> None:
        """Note that a memory changed its phase: its idle time begins again. Not a use."""
        change = "DO UPDATE SET idle_day = excluded.idle_day, uses_then = uses"
        self._note([memory_id], 0, None, change)

    def forget(self, memory_id: str) -> None:
        """Drop what is known of a memory that was purged, and the texts that may quote it."""
        session_text.clear(os.path.dirname(self.path))
        self._ask("DELETE FROM usage WHERE id = ?", memory_id)

    # -- sessions --------------------------------------------------------------------------------

    def sessions(self, project: str) -> int:
        """How many sessions a project has had."""
        return self._number("SELECT count(*) FROM sessions WHERE project = ?", project)

    def active_days_since(self, project: str, moment: datetime) -> int:
        """On how many days after that of a moment a project had a session."""
        question = "SELECT count(*) FROM days WHERE project = ? AND day > ?"
        return self._number(question, project, _day(moment))

    # -- eviction --------------------------------------------------------------------------------

    def batch_taken(self, project: str, vault: str) -> bool:
        """Whether a vault has already given its batch in the project's current session."""
        question = (
            "SELECT count(*) FROM batches WHERE project = ? AND vault = ? AND session ="
            " (SELECT ifnull(max(number), 0) FROM sessions WHERE project = ?)"
        )
        return self._number(question, project, vault, project) > 0

    def take_batch(self, project: str, vault: str) -> None:
        """Note that a vault gives its batch in the project's current session."""
        try:
            self._open().execute(
                "INSERT OR REPLACE INTO batches SELECT ?, ?, ifnull(max(number), 0)"
                " FROM sessions WHERE project = ?",
                (project, vault, project),
            )
        except (sqlite3.Error, LtmError):
            pass

    def _note(
        self,
        ids: Iterable[str],
        uses: int,
        used: str | None,
        change: str,
        looking_at: str | None = None,
    ) -> None:
        """Write rows for memories with the numbers of this moment, or change those there are.

        `looking_at` is a project whose memories are looked at: theirs is the session of the look
        before.
        """
        try:
            db = self._open()
            with transaction(db):
                session, day = db.execute(
                    "SELECT ifnull((SELECT max(number) FROM sessions), 0),"
                    " ifnull((SELECT max(number) FROM days), 0)"
                ).fetchone()
                if looking_at is not None:
                    place = ("", _LOOKED, looking_at)
                    row = db.execute(
                        "SELECT cursor FROM cursors WHERE session = ? AND reader = ? AND path = ?",
                        place,
                    ).fetchone()
                    db.execute(
                        "INSERT OR REPLACE INTO cursors VALUES(?, ?, ?, ?)", (*place, str(session))
                    )
                    session = int(row[0]) if row else 0
                db.executemany(
                    f"INSERT INTO usage VALUES(?, ?, ?, ?, ?, ?, 0) ON CONFLICT(id) {change}",
                    [(each, uses, session, used, day, day) for each in ids],
                )
        except (sqlite3.Error, LtmError):
            pass

    def _number(self, question: str, *values: str) -> int:
        rows = self._ask(question, *values)
        return int(rows[0][0]) if rows else 0

    def _ask(self, question: str, *values: str) -> list[Any]:
        """The rows that answer a question; none where the database cannot be opened."""
        if not os.path.exists(self.path):
            return []
        try:
            return self._open().execute(question, values).fetchall()
        except (sqlite3.Error, LtmError):
            return []

    def _open(self) -> sqlite3.Connection:
        if self._db is None and self._readonly:
            try:
                self._db = look(self.path, SCHEMA)
            except Older:
                self._db = copy(self.path, SCHEMA)  # migrated in memory: nothing is written
        elif self._db is None:
            make_folder(os.path.dirname(self.path))
            self._db = connect(self.path, SCHEMA)
        return self._db


def open_log(path: str) -> sqlite3.Connection:
    """The database for callers whose notes must be kept, also after a power cut.

    Raises `StorageFailed` or `sqlite3.Error` where it cannot be.
    """
    make_folder(os.path.dirname(path))
    try:
        # A copy in memory is good for reading. Here it would only pretend to remember.
        db, _ = keep(path, SCHEMA)
    except Incompatible as error:
        raise StorageFailed(f"the state database {error}", path=path, hint=error.hint) from error
    except (OSError, sqlite3.Error) as error:
        if isinstance(error, sqlite3.Error) and not is_unwritable(error):
            raise
        raise StorageFailed(
            "the state database cannot be written", path=path, hint="check the disk"
        ) from error
    db.execute("PRAGMA synchronous = FULL")
    return db


def note_session(db: sqlite3.Connection, session: str, project: str, moment: datetime) -> None:
    """Write that a session of a project is going on, within the caller's transaction."""
    db.execute(
        "INSERT OR IGNORE INTO sessions(id, project, started) VALUES(?, ?, ?)",
        (session, project, iso(moment)),
    )
    db.execute("INSERT OR IGNORE INTO days(project, day) VALUES(?, ?)", (project, _day(moment)))


def _day(moment: datetime) -> str:
    return moment.astimezone(UTC).date().isoformat()
