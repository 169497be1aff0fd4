"""What was said in a project's sessions, word for word and searchable: one SQLite file a project.

Owns `sessions.db`. A client deletes its transcripts after some weeks, so this cannot be derived
again: a broken file is moved aside and told as a problem, and another is begun from the transcripts
that are still there. For that, and so that nothing is kept twice, how far a transcript was read is
noted in the same transaction as what was read: a crash or a power cut loses both or neither.

Passages are found by words (`find`), whole sessions by all words or by the user's (`find_views`),
and by the file, error, lines or moment they belong to. A project never sees another's file.
Imports core and storage's tables.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ltm.core.errors import Conflict, StorageFailed
from ltm.core.model import Problem
from ltm.core.passage import Header, Passage
from ltm.storage import passagequery
from ltm.storage.database import empty, keep, look, transaction
from ltm.storage.durable import make_folder
from ltm.storage.passagequery import ANY_TIME, Matches, View
from ltm.storage.passagerows import SCHEMA, TABLES, PassageRows, base_name, kept_path

_HEADER = "id, cwd, transcript, started, ended, title, turns, passages, size"
_PASSAGE = (
    "SELECT p.turn, p.part, p.role, t.text, p.at, p.first, p.last, t.message, t.agent, t.named,"
    " p.row, s.id FROM passages p JOIN texts t USING(row) JOIN sessions s ON s.number = p.session"
)
_AT_ONCE = 500  # rows asked for in one statement


@dataclass(frozen=True, slots=True)
class Size:
    """How much is kept."""

    sessions: int = 0
    passages: int = 0
    bytes: int = 0
    """What the file takes on the disk."""


class Passages:
    """The passages of one project, in the file at `path`. Used by one thread at a time.

    Whoever only asks gets an answer: where there is no file, or it cannot be read, there is
    nothing. Whoever adds gets `StorageFailed` when it cannot be kept.
    """

    def __init__(self, path: str, *, readonly: bool = False) -> None:
        self.path = path
        self.problem: Problem | None = None
        """What was wrong with the file, if anything was."""
        self._readonly = readonly
        self._db = self._opened()
        self._rows = PassageRows(self._db)

    def close(self) -> None:
        """Give the file back."""
        self._db.close()

    # -- keeping ---------------------------------------------------------------------------------

    def cursor(self, session: str, transcript: str) -> str:
        """How far a transcript was read into this file; '' at its beginning."""
        row = self._db.execute(
            "SELECT cursor FROM cursors WHERE session = ? AND path = ?",
            (session, kept_path(transcript)),
        ).fetchone()
        return row[0] if row else ""

    def is_known(self, session: str, passage: Passage) -> bool:
        """Whether a message was kept before, by whatever session it was repeated."""
        return self._rows.is_known(session, passage)

    def add(
        self,
        header: Header,
        passages: Iterable[Passage],
        *,
        after: str = "",
        cursor: str = "",
    ) -> int:
        """Keep passages of a session and how far it was read, all or nothing; how many were new.

        A message that is known, from this session or from one it was forked from, is left out.
        `after` is the cursor the reading began at: if somebody else has read on meanwhile, this is
        a `Conflict`, and reading begins again from there.
        """
        try:
            with transaction(self._db):
                if self.cursor(header.id, header.transcript) != after:
                    raise Conflict("somebody else has read on in this session", path=self.path)
                fresh = [
                    each
                    for each in dict.fromkeys(passages)
                    if not self._rows.is_known(header.id, each)
                ]
                if fresh:
                    number = self._rows.put_session(header)
                    self._rows.put(number, header.id, fresh)
                if cursor:
                    self._db.execute(
                        "INSERT OR REPLACE INTO cursors VALUES(?, ?, ?)",
                        (header.id, kept_path(header.transcript), cursor),
                    )
        except sqlite3.Error as error:
            raise StorageFailed(f"the session could not be kept: {error}", path=self.path) from None
        return len(fresh)

    # -- finding ---------------------------------------------------------------------------------

    def find(
        self, words: Sequence[str], limit: int, *, since: str = "", until: str = ""
    ) -> Matches:
        """The best passages for any of the words (`core.words.query_terms` of a question).

        `since` and `until` are moments as ISO 8601 in UTC, the second one excluded.
        """
        return passagequery.find(self._db, words, limit, _span(since, until))

    def find_errors(self, words: Sequence[str], limit: int) -> Matches:
        """The best passages whose error texts have any of the words."""
        return passagequery.find(self._db, words, limit, ANY_TIME, "errors")

    def find_views(
        self,
        words: Sequence[str],
        limit: int,
        *,
        user: bool = False,
        since: str = "",
        until: str = "",
    ) -> list[View]:
        """The best sessions for any of the words: by all that was said, or by the user's words.

        A very long session is looked at in stretches, and can be in the answer more than once.
        """
        return passagequery.find_views(self._db, words, limit, _span(since, until), user=user)

    def holders(self, word: str) -> int:
        """How many passages have a word."""
        return passagequery.holders(self._db, word)

    def naming_file(self, path: str, limit: int = 100) -> list[Passage]:
        """The passages that name a file, newest first; a path names all it is the end of."""
        wanted = _parts(path)
        rows = self._db.execute(
            "SELECT row, path FROM files WHERE name = ? ORDER BY row DESC", (base_name(path),)
        )
        found: dict[int, None] = {}
        for row, known in rows:
            parts = _parts(known)
            shared = min(len(parts), len(wanted))
            if parts[-shared:] == wanted[-shared:]:
                found[row] = None
                if len(found) == limit:
                    break
        return self.read(found)

    def with_message(self, uuid: str) -> list[Passage]:
        """The passages of a message of this project."""
        rows = self._db.execute("SELECT row FROM texts WHERE message = ? AND ? <> ''", (uuid, uuid))
        return self.read(row for (row,) in rows)

    # -- reading ---------------------------------------------------------------------------------

    def read(self, rows: Iterable[int]) -> list[Passage]:
        """The passages at these rows, in this order, without those that are gone."""
        wanted = list(rows)
        found: dict[int, Passage] = {}
        for start in range(0, len(wanted), _AT_ONCE):
            part = wanted[start : start + _AT_ONCE]
            asked = f"{_PASSAGE} WHERE p.row IN ({', '.join('?' * len(part))})"
            found.update((each.row, each) for each in self._passages(asked, part))
        return [found[row] for row in wanted if row in found]

    def around(self, session: str, turn: int, before: int = 2, after: int = 2) -> list[Passage]:
        """The passages of a turn and of the turns beside it, in order."""
        return list(
            self._passages(
                f"{_PASSAGE} WHERE s.id = ? AND p.turn BETWEEN ? AND ? ORDER BY p.turn, p.part",
                (session, turn - before, turn + after),
            )
        )

    def of_session(self, session: str) -> Iterator[Passage]:
        """All passages of a session, in order."""
        return self._passages(f"{_PASSAGE} WHERE s.id = ? ORDER BY p.turn, p.part", (session,))

    def at_lines(self, session: str, lines: str) -> list[Passage]:
        """The passages on these lines of a session's transcript: `120-134`, as a memory's source
        says, so that a memory and the lines it came from can be told to be one."""
        first, last = line_range(lines)
        return list(
            self._passages(
                f"{_PASSAGE} WHERE s.id = ? AND p.first <= ? AND p.last >= ?"
                " ORDER BY p.turn, p.part",
                (session, last, first),
            )
        )

    def after(self, row: int, limit: int = 1_000) -> list[Passage]:
        """The passages that were kept after the one at a row, in the order of their rows."""
        return list(
            self._passages(f"{_PASSAGE} WHERE p.row > ? ORDER BY p.row LIMIT ?", (row, limit))
        )

    def header(self, session: str) -> Header | None:
        """What is known of a session."""
        row = self._db.execute(
            f"SELECT {_HEADER} FROM sessions WHERE id = ?", (session,)
        ).fetchone()
        return Header(*row) if row else None

    def sessions(self, limit: int = 100, *, since: str = "", until: str = "") -> list[Header]:
        """The sessions that were going on in a span of time, the one that ended last first."""
        rows = self._db.execute(
            f"SELECT {_HEADER} FROM sessions WHERE ended >= ? AND started < ?"
            " ORDER BY ended DESC, number DESC LIMIT ?",
            (*_span(since, until), limit),
        )
        return [Header(*row) for row in rows]

    def size(self) -> Size:
        """How much is kept."""
        sessions, passages = self._db.execute(
            "SELECT count(*), ifnull(sum(passages), 0) FROM sessions"
        ).fetchone()
        return Size(sessions, passages, sum(map(_bytes, (self.path, f"{self.path}-wal"))))

    # -- letting go ------------------------------------------------------------------------------

    def purge(self, rows: Iterable[int]) -> int:
        """Delete passages for good, leaving no trace of their words; how many there were.

        They do not come back when their transcript is read again.
        """
        doomed = [each.row for each in self.read(rows)]
        if doomed:
            with transaction(self._db):
                self._rows.remove(doomed)
            self._wipe()
        return len(doomed)

    def _wipe(self) -> None:
        # FTS5 keeps deleted words in its segments, and SQLite keeps old pages, until told.
        for table in ("words", "views"):
            self._db.execute(f"INSERT INTO {table}({table}) VALUES('optimize')")
        self._db.execute("VACUUM")
        self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    # -- the file --------------------------------------------------------------------------------

    def _opened(self) -> sqlite3.Connection:
        if self._readonly:
            return self._looked_at()
        try:
            make_folder(os.path.dirname(self.path))
            db, aside = keep(self.path, TABLES, SCHEMA)
        except (OSError, sqlite3.Error, StorageFailed):
            return self._looked_at()
        if aside:
            self.problem = Problem(
                self.path,
                f"was damaged and is begun anew; what it held is in {aside}"
                " (fill it again with: ltm capture --all)",
            )
        return db

    def _looked_at(self) -> sqlite3.Connection:
        """What is there to read; nothing where there is no file that can be read."""
        self._readonly = True
        try:
            if os.path.exists(self.path):
                return look(self.path, SCHEMA)
        except sqlite3.Error as error:
            self.problem = Problem(self.path, f"cannot be read: {error}")
        return empty(TABLES, SCHEMA)

    def _passages(self, statement: str, values: Sequence[Any]) -> Iterator[Passage]:
        for row in self._db.execute(statement, values):
            named = map(tuple, json.loads(row[9])) if row[9] else ((), (), ())
            fields: list[Any] = [*row[:9], *named, *row[10:]]
            yield Passage(*fields)


def line_range(lines: str) -> tuple[int, int]:
    """The first and the last line of `120-134` or `120`; nothing is from 0 to 0."""
    first, _, last = lines.partition("-")
    try:
        return int(first), int(last or first)
    except ValueError:
        return 0, 0


def _span(since: str, until: str) -> tuple[str, str]:
    return since or ANY_TIME[0], until or ANY_TIME[1]


def _parts(path: str) -> list[str]:
    return [part for part in path.replace("\\", "/").split("/") if part not in ("", ".")]


def _bytes(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0
