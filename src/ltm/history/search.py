"""Looking passages up: by words, file, error, lines or time, one by one or session by session.

Every question is answered, in the same time however much is kept: a search scores a bounded number
of matches, and a file that turns out to be damaged on the way is put aside first. Where all words
of a question are common, passages that have the rarest with another come first, then those that
have any; of too many, the newest.
"""

from __future__ import annotations

import json
import os
import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date

from ltm.history.passage import Header, Passage, line_range
from ltm.history.tables import base_name
from ltm.index import full_text
from ltm.index.full_text import affordable, all_of, any_of, mending, rarest_first
from ltm.record import NamedTuple
from ltm.text.display import is_inside, parts_of, same_end
from ltm.text.terms import query_terms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

RANKING = 10
"""How many times more passages may be walked for the sake of ranking. Without any, a tenth of the
answers among 150,000 passages are lost; with all words, ranking costs half as much again."""

_ANY_TIME = ("", "~")  # both ends as ISO 8601: nothing is left out, also not what has no time
_HEADER = "id, cwd, transcript, started, ended, title, turns, passages, size"
_PASSAGE = (
    "SELECT p.turn, p.part, p.role, t.text, p.at, p.first, p.last, t.message, t.agent, t.named,"
    " p.row, s.id FROM passages p JOIN texts t USING(row) JOIN sessions s ON s.number = p.session"
)
_ASKS = (  # the text is looked up for short ones only
    "CASE WHEN length(w.text) < 200 THEN"
    " (SELECT substr(text, -1) IN ('?', '？') FROM texts WHERE row = w.rowid) ELSE 0 END"
)
_AT_ONCE = 500  # rows asked for in one statement


class PassageMatch(NamedTuple):
    row: int
    session: str
    turn: int
    part: int
    role: str
    at: str
    cost: float
    """SQLite's BM25: below 0, and the lower the better."""
    words: str
    """All its terms, in order, with a blank between."""
    asks: bool
    """Whether it is a question: short, with a question mark at its end. A longer text says more
    than it asks."""

    @property
    def day(self) -> date | None:
        try:
            return date.fromisoformat(self.at[:10])
        except ValueError:
            return None


class View(NamedTuple):
    """A stretch of a session that matches: the whole session unless that is very long."""

    stretch: int
    session: str
    cost: float
    """SQLite's BM25: below 0, and the lower the better."""
    user_cost: float = 0.0
    """The same for what the user said, 0 where that has none of the words."""


class PassageMatches(NamedTuple):
    """Passages that match, and the figures a ranking needs: how common each word is here."""

    candidates: tuple[PassageMatch, ...]
    holders: Mapping[str, int]
    """How many passages have a word."""
    passages: int
    """How many passages there are."""


class Size(NamedTuple):
    """How much is kept."""

    sessions: int = 0
    passages: int = 0
    bytes: int = 0
    """What the file takes on the disk."""


class PassageLookups(ABC):
    """The questions a project's passages answer.

    `words` are the terms of a question (`query_terms`); `since` and `until` are moments as ISO 8601
    in UTC, the second one excluded.
    """

    path: str
    _db: sqlite3.Connection

    @abstractmethod
    def _mend(self, error: Exception) -> bool:
        """Go on without a file that is damaged; whether questions can be asked again."""

    # -- finding ---------------------------------------------------------------------------------

    @mending
    def find(
        self, words: Sequence[str], limit: int, *, since: str = "", until: str = ""
    ) -> PassageMatches:
        """The best passages for any of the words."""
        return self._find(words, limit, "text", _span(since, until))

    @mending
    def find_errors(self, words: Sequence[str], limit: int) -> PassageMatches:
        """The best passages whose error texts have any of the words."""
        return self._find(words, limit, "errors", _ANY_TIME)

    def _find(
        self, words: Sequence[str], limit: int, column: str, span: tuple[str, str]
    ) -> PassageMatches:
        holders = self._holders("vocabulary", words, " AND col = ?", column)
        total = int(self._db.execute("SELECT passages FROM totals").fetchone()[0])
        low, high = self._rows_in(span)
        weights = "1.0, 0.0" if column == "text" else "0.0, 1.0"
        # CROSS JOIN keeps SQLite from asking the full-text index once per passage. Without a span
        # there is nothing to look up in passages, which saves a quarter of the time.
        joined = "" if span == _ANY_TIME else " CROSS JOIN passages p ON p.row = words.rowid"
        in_span = " AND p.at >= ? AND p.at < ?" if joined else ""
        costs: dict[int, float] = {}
        for expression in _expressions(holders, total):
            given = f"{{{column}}} : ({expression})"
            floor = self._floor("words", given, low, high)
            found = self._db.execute(
                f"SELECT words.rowid, bm25(words, {weights}) AS cost FROM words{joined}"
                f" WHERE words MATCH ? AND words.rowid BETWEEN ? AND ?{in_span}"
                " ORDER BY cost, words.rowid DESC LIMIT ?",
                (given, floor, high, *(span if joined else ()), limit),
            )
            for row, cost in found:
                costs.setdefault(row, cost)
            if len(costs) >= limit:
                break
        rows = list(costs)[:limit]
        matches = {
            row: PassageMatch(row, session, turn, part, role, at, costs[row], said, asks)
            for row, session, turn, part, role, at, said, asks in self._db.execute(
                f"SELECT p.row, s.id, p.turn, p.part, p.role, p.at, w.{column}, {_ASKS}"
                " FROM passages p CROSS JOIN sessions s ON s.number = p.session"
                " CROSS JOIN words w ON w.rowid = p.row"
                f" WHERE p.row IN ({', '.join('?' * len(rows))})",
                rows,
            )
        }
        return PassageMatches(tuple(matches[row] for row in rows), holders, total)

    @mending
    def find_views(self, words: Sequence[str], limit: int, *, until: str = "") -> list[View]:
        """The best sessions for any of the words, by all that was said in them.

        A very long session is looked at in stretches, and can be in the answer more than once.
        """
        holders = self._holders("view_vocabulary", words)
        total, last = self._db.execute(
            "SELECT count(*), ifnull(max(row), 0) FROM stretches"
        ).fetchone()
        found: dict[int, View] = {}
        for expression in _expressions(holders, total):
            rows = self._db.execute(
                "SELECT views.rowid, s.id, bm25(views, 1.0, 1.0) AS cost, bm25(views, 1.0, 0.0)"
                " FROM views CROSS JOIN stretches t ON t.row = views.rowid"
                " CROSS JOIN sessions s ON s.number = t.session"
                " WHERE views MATCH ? AND views.rowid >= ? AND s.started < ?"
                " ORDER BY cost, views.rowid DESC LIMIT ?",
                (expression, self._floor("views", expression, 0, last), until or "~", limit),
            )
            for view in map(View._make, rows):
                found.setdefault(view.stretch, view)
            if len(found) >= limit:
                break
        return list(found.values())[:limit]

    @mending
    def neighbours(self, rows: Sequence[int], reach: int) -> list[PassageMatch]:
        """The passages at these rows, and those kept up to `reach` rows before and after each in
        the same session: what was said just before and after. None of them has a cost."""
        found = self._db.execute(
            f"SELECT DISTINCT n.row, s.id, n.turn, n.part, n.role, n.at, 0.0, w.text, {_ASKS}"
            " FROM passages p CROSS JOIN passages n"
            " ON n.row BETWEEN p.row - ? AND p.row + ? AND n.session = p.session"
            " CROSS JOIN sessions s ON s.number = n.session CROSS JOIN words w ON w.rowid = n.row"
            f" WHERE p.row IN ({', '.join('?' * len(rows))})",
            (reach, reach, *rows),
        )
        return [PassageMatch(*each) for each in found]

    @mending
    def naming_file(self, path: str, limit: int = 100) -> list[Passage]:
        """The passages that name a file, newest first; a path names all it is the end of."""
        wanted = parts_of(path)
        rows = self._db.execute(
            "SELECT row, path FROM files WHERE name = ? ORDER BY row DESC", (base_name(path),)
        )
        return self._first(limit, (row for row, known in rows if same_end(parts_of(known), wanted)))

    @mending
    def in_folder(self, path: str, limit: int = 100) -> list[Passage]:
        """The passages that name anything in a folder of the project, newest first."""
        wanted = parts_of(path)
        rows = self._db.execute(
            "SELECT row, path FROM files WHERE instr(path, ?) ORDER BY row DESC",
            ("/".join(wanted) + "/",),
        )
        return self._first(
            limit, (row for row, known in rows if is_inside(parts_of(known)[:-1], wanted))
        )

    @mending
    def openings(self, since: str, until: str, limit: int) -> list[int]:
        """The rows of what the user said first in each session of a span, the newest first."""
        span = _span(since, until)
        rows = self._db.execute(
            "SELECT (SELECT row FROM passages WHERE session = s.number AND role = 'user'"
            " AND at >= ? AND at < ? ORDER BY turn, part LIMIT 1) FROM sessions s"
            " WHERE s.ended >= ? AND s.started < ? ORDER BY s.ended DESC LIMIT ?",
            (*span, *span, limit),
        )
        return [row for (row,) in rows if row]

    @mending
    def saying(self, text: str) -> list[int]:
        """The rows of passages that have every word of a text."""
        words = query_terms(text)
        if not words:
            return []
        found = self._db.execute(
            "SELECT rowid FROM words WHERE words MATCH ?", (f"{{text}} : ({all_of(words)})",)
        )
        return [row for (row,) in found]

    # -- reading ---------------------------------------------------------------------------------

    @mending
    def read(self, rows: Iterable[int]) -> list[Passage]:
        wanted = list(rows)
        found: dict[int, Passage] = {}
        for start in range(0, len(wanted), _AT_ONCE):
            part = wanted[start : start + _AT_ONCE]
            asked = f"{_PASSAGE} WHERE p.row IN ({', '.join('?' * len(part))})"
            found.update((each.row, each) for each in self._passages(asked, part))
        return [found[row] for row in wanted if row in found]

    @mending
    def around(self, session: str, turn: int, before: int = 2, after: int = 2) -> list[Passage]:
        """The passages of a turn and of the turns around it, in order."""
        return self._passages(
            f"{_PASSAGE} WHERE s.id = ? AND p.turn BETWEEN ? AND ? ORDER BY p.turn, p.part",
            (session, turn - before, turn + after),
        )

    @mending
    def exchanges(self, rows: Sequence[int]) -> dict[int, tuple[int, int]]:
        """For each of these rows, the rows of what the user said last up to it, and of what the
        agent said last before the user spoke again; 0 where there is none."""
        near = "FROM passages n WHERE n.session = p.session AND n.part = 0 AND n.role ="
        following = f"SELECT n.turn {near} 'user' AND n.turn > p.turn ORDER BY n.turn LIMIT 1"
        before = f"SELECT n.row {near} 'user' AND n.turn <= p.turn ORDER BY n.turn DESC LIMIT 1"
        after = (
            f"SELECT n.row {near} 'assistant' AND n.turn >= p.turn"
            f" AND n.turn < ifnull(({following}), 1 << 60) ORDER BY n.turn DESC LIMIT 1"
        )
        found = self._db.execute(
            f"SELECT p.row, ifnull(({before}), 0), ifnull(({after}), 0) FROM passages p"
            f" WHERE p.row IN ({', '.join('?' * len(rows))})",
            list(rows),
        )
        return {row: (asked, answered) for row, asked, answered in found}

    @mending
    def of_session(self, session: str) -> list[Passage]:
        return self._passages(f"{_PASSAGE} WHERE s.id = ? ORDER BY p.turn, p.part", (session,))

    @mending
    def at_lines(self, session: str, lines: str) -> list[Passage]:
        """The passages on these lines of a session's transcript: `120-134`, as a memory's source
        says, so that a memory and the lines it came from can be told to be one."""
        first, last = line_range(lines)
        return self._passages(
            f"{_PASSAGE} WHERE s.id = ? AND p.first <= ? AND p.last >= ? ORDER BY p.turn, p.part",
            (session, last, first),
        )

    @mending
    def after(self, row: int, limit: int = 1_000) -> list[Passage]:
        """The passages that were kept after the one at a row, in the order of their rows."""
        return self._passages(f"{_PASSAGE} WHERE p.row > ? ORDER BY p.row LIMIT ?", (row, limit))

    @mending
    def header(self, session: str) -> Header | None:
        row = self._db.execute(
            f"SELECT {_HEADER} FROM sessions WHERE id = ?", (session,)
        ).fetchone()
        return Header(*row) if row else None

    @mending
    def known_as(self, name: str) -> list[str]:
        """The sessions whose id is this, or begins like this; at most two, enough to tell."""
        rows = self._db.execute(
            "SELECT id FROM sessions WHERE substr(id, 1, ?) = ? ORDER BY id != ? LIMIT 2",
            (len(name), name, name),
        )
        found = [each for (each,) in rows]
        return found[:1] if found[:1] == [name] else found

    @mending
    def sessions(self, limit: int = 100, *, since: str = "", until: str = "") -> list[Header]:
        """The sessions that were going on in a span of time, the one that ended last first."""
        rows = self._db.execute(
            f"SELECT {_HEADER} FROM sessions WHERE ended >= ? AND started < ?"
            " ORDER BY ended DESC, number DESC LIMIT ?",
            (*_span(since, until), limit),
        )
        return [Header(*row) for row in rows]

    @mending
    def size(self) -> Size:
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

    def _first(self, limit: int, rows: Iterator[int]) -> list[Passage]:
        """The passages at the first of some rows, each once."""
        found: dict[int, None] = {}
        for row in rows:
            found[row] = None
            if len(found) == limit:
                break
        return self.read(found)

    def _holders(
        self, vocabulary: str, words: Sequence[str], condition: str = "", *values: str
    ) -> dict[str, int]:
        """How many texts have each of the words."""
        found = self._db.execute(
            f"SELECT term, doc FROM {vocabulary}"
            f" WHERE term IN ({', '.join('?' * len(words))}){condition}",
            (*words, *values),
        )
        return dict.fromkeys(words, 0) | dict(found.fetchall())

    def _floor(self, table: str, expression: str, low: int, high: int) -> int:
        """The row from which on there are no more matches than may be scored."""
        found = self._db.execute(
            f"SELECT rowid FROM {table} WHERE {table} MATCH ? AND rowid BETWEEN ? AND ?"
            " ORDER BY rowid DESC LIMIT 1 OFFSET ?",
            (expression, low, high, full_text.POSTINGS - 1),
        ).fetchone()
        return max(low, found[0]) if found else low

    def _rows_in(self, span: tuple[str, str]) -> tuple[int, int]:
        """Rows between which all passages of a span of time are, and others too."""
        if span == _ANY_TIME:
            last = self._db.execute("SELECT ifnull(max(row), 0) FROM passages").fetchone()
            return 0, int(last[0])
        low, high = self._db.execute(
            "SELECT ifnull(min(first_row), 0), ifnull(max(last_row), 0) FROM sessions"
            " WHERE ended >= ? AND started < ?",
            span,
        ).fetchone()
        return int(low), int(high)


def _expressions(holders: Mapping[str, int], total: int) -> Iterator[str]:
    """FTS5 expressions to try in turn until there are enough matches."""
    words = rarest_first(holders)
    if total <= full_text.POSTINGS and words:
        yield any_of(words)
    elif expression := affordable(holders, RANKING):
        yield expression
    else:
        if len(words) > 1:
            yield f'"{words[0]}" AND ({any_of(words[1:])})'
        if words:
            yield any_of(words)


def _span(since: str, until: str) -> tuple[str, str]:
    return since or _ANY_TIME[0], until or _ANY_TIME[1]


def _bytes(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0
