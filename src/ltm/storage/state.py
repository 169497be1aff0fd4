"""What one machine knows and no file says: how often memories were used, and which sessions ran.

Owns `state.db`. It cannot be derived, and it may be lost: the price is ranking history and one more
reading of transcripts. Nothing here may fail a command, so a database that cannot be had is an
empty one. Imports the standard library, `core.model` and `database`.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable
from datetime import datetime

from ltm.core.errors import LtmError
from ltm.core.model import Usage, iso, utc
from ltm.storage.database import connect, transaction
from ltm.storage.durable import make_folder

SCHEMA = 1

_TABLES = """
CREATE TABLE usage(
  id TEXT PRIMARY KEY, uses INTEGER NOT NULL, last_session INTEGER NOT NULL, last_used TEXT)
  WITHOUT ROWID;
CREATE TABLE sessions(
  id TEXT PRIMARY KEY, project TEXT NOT NULL, number INTEGER NOT NULL, started TEXT NOT NULL)
  WITHOUT ROWID;
CREATE INDEX sessions_project ON sessions(project, number);
"""


class State:
    """The local database of usage and sessions, opened when it is first needed."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._db: sqlite3.Connection | None = None

    def close(self) -> None:
        """Give the file back."""
        if self._db is not None:
            self._db.close()
            self._db = None

    def usage(self, ids: Iterable[str]) -> dict[str, Usage]:
        """How often and when each of these memories was used; ids never used are left out."""
        wanted = list(ids)
        found: dict[str, Usage] = {}
        if not os.path.exists(self.path):
            return found
        try:
            for start in range(0, len(wanted), 500):
                part = wanted[start : start + 500]
                marks = ", ".join("?" * len(part))
                rows = self._open().execute(
                    f"SELECT id, uses, last_session, last_used FROM usage WHERE id IN ({marks})",
                    part,
                )
                for name, uses, session, moment in rows:
                    found[name] = Usage(uses, session, utc(moment) if moment else None)
        except (sqlite3.Error, LtmError):
            pass
        return found

    def used(self, ids: Iterable[str], project: str, moment: datetime) -> None:
        """Count one use of each of these memories, now, in the project's current session."""
        try:
            db = self._open()
            session = self.sessions(project)
            with transaction(db):
                db.executemany(
                    "INSERT INTO usage VALUES(?, 1, ?, ?) ON CONFLICT(id) DO UPDATE SET"
                    " uses = uses + 1, last_session = excluded.last_session,"
                    " last_used = excluded.last_used",
                    [(each, session, iso(moment)) for each in ids],
                )
        except (sqlite3.Error, LtmError):
            pass

    def forget(self, memory_id: str) -> None:
        """Drop what is known of a memory that was purged."""
        if not os.path.exists(self.path):
            return
        try:
            self._open().execute("DELETE FROM usage WHERE id = ?", (memory_id,))
        except (sqlite3.Error, LtmError):
            pass

    def sessions(self, project: str) -> int:
        """How many sessions a project has had."""
        if not os.path.exists(self.path):
            return 0
        try:
            row = (
                self._open()
                .execute("SELECT max(number) FROM sessions WHERE project = ?", (project,))
                .fetchone()
            )
        except (sqlite3.Error, LtmError):
            return 0
        return int(row[0] or 0)

    def _open(self) -> sqlite3.Connection:
        if self._db is None:
            make_folder(os.path.dirname(self.path))
            self._db = connect(self.path, _TABLES, SCHEMA)
        return self._db
