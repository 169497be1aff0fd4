"""Looking passages up: by words, by file, error, lines or time, one by one or session by session.

Owns what a project's passages can be asked. Every question is answered: a file that turns out to
be damaged on the way is put aside first. Imports core and storage's tables.
"""

from __future__ import annotations

import json
import os
import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any, TypeVar, cast

from ltm.core.filenames import is_inside, parts_of, same_end
from ltm.core.passage import Header, Passage
from ltm.core.words import query_terms
from ltm.storage import passagequery
from ltm.storage.database import DAMAGE, is_busy
from ltm.storage.passagequery import ANY_TIME, PassageMatch, PassageMatches, View
from ltm.storage.passagerows import base_name

_HEADER = "id, cwd, transcript, started, ended, title, turns, passages, size"
_PASSAGE = (
    "SELECT p.turn, p.part, p.role, t.text, p.at, p.first, p.last, t.message, t.agent, t.named,"
    " p.row, s.id FROM passages p JOIN texts t USING(row) JOIN sessions s ON s.number = p.session"
)
_AT_ONCE = 500  # rows asked for in one statement

_F = TypeVar("_F", bound=Callable[..., Any])


def _mending(method: _F) -> _F:
    """A look-up that is asked again of what is there once a damaged file was put aside: damage
    shows only when it is read."""

    @wraps(method)
    def call(self: PassageLookups, *values: Any, **named: Any) -> Any:
        try:
            return method(self, *values, **named)
        except DAMAGE as error:
            if isinstance(error, sqlite3.Error) and is_busy(error):
                raise
            self._put_aside(error)
            return method(self, *values, **named)

    return cast(_F, call)


@dataclass(frozen=True, slots=True)
class Size:
    """How much is kept."""

    sessions: int = 0
    passages: int = 0
    bytes: int = 0
    """What the file takes on the disk."""


class PassageLookups(ABC):
    """The questions a project's passages answer."""

    path: str
    _db: sqlite3.Connection

    @abstractmethod
    def _put_aside(self, error: Exception) -> None:
        """Go on without a file that is damaged."""

    # -- finding ---------------------------------------------------------------------------------

    @_mending
    def find(
        self, words: Sequence[str], limit: int, *, since: str = "", until: str = ""
    ) -> PassageMatches:
        """The best passages for any of the words (`core.words.query_terms` of a question).

        `since` and `until` are moments as ISO 8601 in UTC, the second one excluded.
        """
        return passagequery.find(self._db, words, limit, _span(since, until))

    @_mending
    def find_errors(self, words: Sequence[str], limit: int) -> PassageMatches:
        """The best passages whose error texts have any of the words."""
        return passagequery.find(self._db, words, limit, ANY_TIME, "errors")

    @_mending
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

    @_mending
    def neighbours(self, rows: Sequence[int], reach: int) -> list[PassageMatch]:
        """The passages at these rows, and those kept up to `reach` rows before and after each in
        the same session: what was said just before and after. None of them has a cost."""
        return passagequery.neighbours(self._db, rows, reach)

    @_mending
    def holders(self, word: str) -> int:
        """How many passages have a word."""
        return passagequery.holders(self._db, word)

    @_mending
    def naming_file(self, path: str, limit: int = 100) -> list[Passage]:
        """The passages that name a file, newest first; a path names all it is the end of."""
        wanted = parts_of(path)
        rows = self._db.execute(
            "SELECT row, path FROM files WHERE name = ? ORDER BY row DESC", (base_name(path),)
        )
        found: dict[int, None] = {}
        for row, known in rows:
            if same_end(parts_of(known), wanted):
                found[row] = None
                if len(found) == limit:
                    break
        return self.read(found)

    @_mending
    def in_folder(self, path: str, limit: int = 100) -> list[Passage]:
        """The passages that name anything in a folder of the project, newest first."""
        wanted = parts_of(path)
        inside = "/".join(wanted)
        rows = self._db.execute(
            "SELECT row, path FROM files WHERE instr(path, ?) ORDER BY row DESC", (inside + "/",)
        )
        found: dict[int, None] = {}
        for row, known in rows:
            if is_inside(parts_of(known)[:-1], wanted):
                found[row] = None
                if len(found) == limit:
                    break
        return self.read(found)

    @_mending
    def saying(self, text: str) -> list[int]:
        """The rows of passages that have every word of a text."""
        words = query_terms(text)
        if not words:
            return []
        found = self._db.execute(
            "SELECT rowid FROM words WHERE words MATCH ?",
            (f"{{text}} : ({passagequery.all_of(words)})",),
        )
        return [row for (row,) in found]

    # -- reading ---------------------------------------------------------------------------------

    @_mending
    def read(self, rows: Iterable[int]) -> list[Passage]:
        """The passages at these rows, in this order, without those that are gone."""
        wanted = list(rows)
        found: dict[int, Passage] = {}
        for start in range(0, len(wanted), _AT_ONCE):
            part = wanted[start : start + _AT_ONCE]
            asked = f"{_PASSAGE} WHERE p.row IN ({', '.join('?' * len(part))})"
            found.update((each.row, each) for each in self._passages(asked, part))
        return [found[row] for row in wanted if row in found]

    @_mending
    def around(self, session: str, turn: int, before: int = 2, after: int = 2) -> list[Passage]:
        """The passages of a turn and of the turns around it, in order."""
        return self._passages(
            f"{_PASSAGE} WHERE s.id = ? AND p.turn BETWEEN ? AND ? ORDER BY p.turn, p.part",
            (session, turn - before, turn + after),
        )

    @_mending
    def of_session(self, session: str) -> list[Passage]:
        """All passages of a session, in order."""
        return self._passages(f"{_PASSAGE} WHERE s.id = ? ORDER BY p.turn, p.part", (session,))

    @_mending
    def at_lines(self, session: str, lines: str) -> list[Passage]:
        """The passages on these lines of a session's transcript: `120-134`, as a memory's source
        says, so that a memory and the lines it came from can be told to be one."""
        first, last = line_range(lines)
        return self._passages(
            f"{_PASSAGE} WHERE s.id = ? AND p.first <= ? AND p.last >= ? ORDER BY p.turn, p.part",
            (session, last, first),
        )

    @_mending
    def after(self, row: int, limit: int = 1_000) -> list[Passage]:
        """The passages that were kept after the one at a row, in the order of their rows."""
        return self._passages(f"{_PASSAGE} WHERE p.row > ? ORDER BY p.row LIMIT ?", (row, limit))

    @_mending
    def header(self, session: str) -> Header | None:
        """What is known of a session."""
        row = self._db.execute(
            f"SELECT {_HEADER} FROM sessions WHERE id = ?", (session,)
        ).fetchone()
        return Header(*row) if row else None

    @_mending
    def known_as(self, name: str) -> list[str]:
        """The sessions whose id is this, or begins like this; at most two, enough to tell."""
        rows = self._db.execute(
            "SELECT id FROM sessions WHERE substr(id, 1, ?) = ? ORDER BY id != ? LIMIT 2",
            (len(name), name, name),
        )
        found = [each for (each,) in rows]
        return found[:1] if found[:1] == [name] else found

    @_mending
    def sessions(self, limit: int = 100, *, since: str = "", until: str = "") -> list[Header]:
        """The sessions that were going on in a span of time, the one that ended last first."""
        rows = self._db.execute(
            f"SELECT {_HEADER} FROM sessions WHERE ended >= ? AND started < ?"
            " ORDER BY ended DESC, number DESC LIMIT ?",
            (*_span(since, until), limit),
        )
        return [Header(*row) for row in rows]

    @_mending
    def size(self) -> Size:
        """How much is kept."""
        sessions, passages = self._db.execute(
            "SELECT count(*), ifnull(sum(passages), 0) FROM sessions"
        ).fetchone()
        return Size(sessions, passages, sum(map(_bytes, (self.path, f"{self.path}-wal"))))

    def _passages(self, statement: str, values: Sequence[Any]) -> list[Passage]:
        found: list[Passage] = []
        for row in self._db.execute(statement, values):
            named = map(tuple, json.loads(row[9])) if row[9] else ((), (), ())
            fields: list[Any] = [*row[:9], *named, *row[10:]]
            found.append(Passage(*fields))
        return found


def line_range(lines: str) -> tuple[int, int]:
    """The first and the last line of `120-134` or `120`; nothing is from 0 to 0."""
    first, _, last = lines.partition("-")
    try:
        return int(first), int(last or first)
    except ValueError:
        return 0, 0


def _span(since: str, until: str) -> tuple[str, str]:
    return since or ANY_TIME[0], until or ANY_TIME[1]


def _bytes(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0
