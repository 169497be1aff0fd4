"""The tables of a project's passages, and how sessions and passages become rows in them.

Owns the schema and every statement that changes it. What is asked is `passagequery`'s, when to
change what is `passages`'. Three things can be searched by words, each kept up as passages come:

- `words`: every passage, its text and the errors it names as two columns;
- `views`: every stretch of a session as one text, the user's words and all others as two columns,
  so that one table serves the session's view and the user's. A stretch is a whole session up to
  `STRETCH` characters; a longer session has several, so that a passage added to a long session
  costs one stretch and not the session. It holds no text of its own: what it consists of is read
  from `words` when it must be changed.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable, Sequence
from hashlib import blake2b

from ltm.core.passage import USER, Header, Passage
from ltm.core.words import TOKENIZER, terms

SCHEMA = 1

STRETCH = 60_000
"""Characters of a stretch. A session of 30 exchanges fits; what has more is about many things, and
one text of all of it would be near to every question and to none."""

_TITLE = 120

TABLES = f"""
CREATE TABLE sessions(
  number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, cwd TEXT NOT NULL,
  transcript TEXT NOT NULL, started TEXT NOT NULL DEFAULT '', ended TEXT NOT NULL DEFAULT '',
  title TEXT NOT NULL DEFAULT '', turns INTEGER NOT NULL DEFAULT 0,
  passages INTEGER NOT NULL DEFAULT 0, size INTEGER NOT NULL DEFAULT 0);
CREATE INDEX sessions_newest ON sessions(ended);
CREATE TABLE passages(
  row INTEGER PRIMARY KEY AUTOINCREMENT, session INTEGER NOT NULL, turn INTEGER NOT NULL,
  part INTEGER NOT NULL, role TEXT NOT NULL, at TEXT NOT NULL, first INTEGER NOT NULL,
  last INTEGER NOT NULL, stretch INTEGER NOT NULL);
CREATE INDEX passages_turn ON passages(session, turn, part);
CREATE INDEX passages_time ON passages(at);
CREATE INDEX passages_stretch ON passages(stretch);
CREATE TABLE texts(
  row INTEGER PRIMARY KEY, text TEXT NOT NULL, message TEXT NOT NULL, agent TEXT NOT NULL,
  named TEXT NOT NULL);
CREATE TABLE files(
  name TEXT NOT NULL, row INTEGER NOT NULL, path TEXT NOT NULL,
  PRIMARY KEY(name, row, path)) WITHOUT ROWID;
CREATE TABLE messages(message INTEGER PRIMARY KEY);
CREATE TABLE cursors(
  session TEXT NOT NULL, path TEXT NOT NULL, cursor TEXT NOT NULL,
  PRIMARY KEY(session, path)) WITHOUT ROWID;
CREATE TABLE stretches(
  row INTEGER PRIMARY KEY AUTOINCREMENT, session INTEGER NOT NULL, size INTEGER NOT NULL);
CREATE INDEX stretches_session ON stretches(session);
CREATE VIRTUAL TABLE words USING fts5(text, errors, tokenize = "{TOKENIZER}");
CREATE VIRTUAL TABLE vocabulary USING fts5vocab('words', 'col');
CREATE VIRTUAL TABLE views USING fts5(user, rest, content = '', tokenize = "{TOKENIZER}");
CREATE VIRTUAL TABLE view_vocabulary USING fts5vocab('views', 'row');
"""


class PassageRows:
    """The rows of one project. Every change belongs in a transaction of the caller."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def is_known(self, session: str, passage: Passage) -> bool:
        """Whether this passage's message was kept before, in whatever session."""
        found = self._db.execute(
            "SELECT 1 FROM messages WHERE message = ?", (_number(session, passage),)
        )
        return found.fetchone() is not None

    def put_session(self, header: Header) -> int:
        """The number of a session, noted if it is new."""
        self._db.execute(
            "INSERT INTO sessions(id, cwd, transcript) VALUES(?1, ?2, ?3) ON CONFLICT(id)"
            " DO UPDATE SET cwd = CASE cwd WHEN '' THEN ?2 ELSE cwd END,"
            " transcript = CASE ?3 WHEN '' THEN transcript ELSE ?3 END",
            (header.id, header.cwd, header.transcript),
        )
        found = self._db.execute("SELECT number FROM sessions WHERE id = ?", (header.id,))
        return int(found.fetchone()[0])

    def put(self, number: int, session: str, passages: Sequence[Passage]) -> None:
        """Keep passages of a session, in their order, and its figures with them."""
        filling = _Filling(self._db, number)
        for passage in passages:
            said = " ".join(terms(passage.text))
            self._put_one(number, filling.stretch_for(passage), passage, said)
            filling.take(passage, said)
        filling.write()
        self._db.executemany(
            "INSERT OR IGNORE INTO messages VALUES(?)",
            {(_number(session, passage),) for passage in passages},
        )
        self._db.executemany(
            "UPDATE sessions SET turns = max(turns, ?), passages = passages + 1, size = size + ?,"
            " started = CASE WHEN started = '' OR (?3 <> '' AND ?3 < started) THEN ?3 ELSE started"
            " END, ended = max(ended, ?3),"
            " title = CASE title WHEN '' THEN ?4 ELSE title END WHERE number = ?5",
            [(each.turn, len(each.text), each.at, _title(each), number) for each in passages],
        )

    def _put_one(self, number: int, stretch: int, passage: Passage, said: str) -> None:
        row = self._db.execute(
            "INSERT INTO passages(session, turn, part, role, at, first, last, stretch)"
            " VALUES(?, ?, ?, ?, ?, ?, ?, ?)",
            (
                number,
                passage.turn,
                passage.part,
                passage.role,
                passage.at,
                passage.first,
                passage.last,
                stretch,
            ),
        ).lastrowid
        named = [passage.files, passage.commands, passage.errors]
        self._db.execute(
            "INSERT INTO texts VALUES(?, ?, ?, ?, ?)",
            (
                row,
                passage.text,
                passage.message,
                passage.agent,
                json.dumps(named, ensure_ascii=False) if any(named) else "",
            ),
        )
        self._db.execute(
            "INSERT INTO words(rowid, text, errors) VALUES(?, ?, ?)",
            (row, said, " ".join(terms("\n".join(passage.errors)))),
        )
        self._db.executemany(
            "INSERT OR IGNORE INTO files VALUES(?, ?, ?)",
            [(base_name(path), row, path) for path in passage.files],
        )

    def remove(self, rows: Iterable[int]) -> None:
        """Drop passages. Their messages stay known, so that reading them again adds nothing."""
        doomed = list(rows)
        stretches: set[int] = set()
        sessions: set[int] = set()
        for row in doomed:
            found = self._db.execute(
                "SELECT stretch, session FROM passages WHERE row = ?", (row,)
            ).fetchone()
            if found:
                stretches.add(found[0])
                sessions.add(found[1])
        before = {stretch: stretch_words(self._db, stretch) for stretch in stretches}
        for row in doomed:
            self._db.execute("DELETE FROM words WHERE rowid = ?", (row,))
            named = self._db.execute("SELECT named FROM texts WHERE row = ?", (row,)).fetchone()
            for path in json.loads(named[0])[0] if named and named[0] else ():
                self._db.execute(
                    "DELETE FROM files WHERE name = ? AND row = ?", (base_name(path), row)
                )
            self._db.execute("DELETE FROM texts WHERE row = ?", (row,))
            self._db.execute("DELETE FROM passages WHERE row = ?", (row,))
        for stretch, former in before.items():
            replace_view(self._db, stretch, former, stretch_words(self._db, stretch))
        for number in sessions:
            self._count_anew(number)

    def _count_anew(self, number: int) -> None:
        """The figures of a session that lost passages; without any, it is gone."""
        left = self._db.execute(
            "SELECT count(*), ifnull(sum(length(text)), 0), ifnull(min(nullif(at, '')), ''),"
            " ifnull(max(at), '') FROM passages JOIN texts USING(row) WHERE session = ?",
            (number,),
        ).fetchone()
        if not left[0]:
            self._db.execute("DELETE FROM sessions WHERE number = ?", (number,))
            return
        title = self._db.execute(
            "SELECT text FROM passages JOIN texts USING(row) WHERE session = ? AND role = ?"
            " ORDER BY turn, part LIMIT 1",
            (number, USER),
        ).fetchone()
        # The number of turns stays: what is added later must not take the number of what was lost.
        self._db.execute(
            "UPDATE sessions SET passages = ?, size = ?, started = ?, ended = ?, title = ?"
            " WHERE number = ?",
            (*left, shown_title(title[0]) if title else "", number),
        )


class _Filling:
    """The last stretch of a session, and those begun after it, while passages are put into them."""

    def __init__(self, db: sqlite3.Connection, number: int) -> None:
        self._db = db
        self._number = number
        self._former: tuple[str, str] | None = None
        self._words: tuple[list[str], list[str]] = ([], [])
        last = db.execute(
            "SELECT row, size FROM stretches WHERE session = ? ORDER BY row DESC LIMIT 1",
            (number,),
        ).fetchone()
        self._row: int = last[0] if last else 0
        self._size: int = last[1] if last else 0
        if self._row and self._size < STRETCH:
            self._former = stretch_words(db, self._row)
            self._words = ([self._former[0]], [self._former[1]])

    def stretch_for(self, passage: Passage) -> int:
        """The stretch that takes a passage: the last one while there is room in it."""
        if not self._row or self._size + len(passage.text) > STRETCH:
            self.write()
            self._row = int(
                self._db.execute(
                    "INSERT INTO stretches(session, size) VALUES(?, 0)", (self._number,)
                ).lastrowid
                or 0
            )
            self._size, self._former, self._words = 0, None, ([], [])
        return self._row

    def take(self, passage: Passage, said: str) -> None:
        """Add a passage and its words."""
        self._words[passage.role != USER].append(said)
        self._size += len(passage.text)

    def write(self) -> None:
        """Put the words of the stretch at hand into its view."""
        if self._row:
            user, rest = (" ".join(filter(None, each)) for each in self._words)
            if (user, rest) != self._former and (user or rest):
                replace_view(self._db, self._row, self._former or ("", ""), (user, rest))
            self._db.execute("UPDATE stretches SET size = ? WHERE row = ?", (self._size, self._row))


def stretch_words(db: sqlite3.Connection, stretch: int) -> tuple[str, str]:
    """The user's words of a stretch and all others, as they stand in its view."""
    said: tuple[list[str], list[str]] = ([], [])
    for role, text in db.execute(
        "SELECT p.role, w.text FROM passages p CROSS JOIN words w ON w.rowid = p.row"
        " WHERE p.stretch = ? ORDER BY p.row",
        (stretch,),
    ):
        if text:
            said[role != USER].append(text)
    return " ".join(said[0]), " ".join(said[1])


def replace_view(
    db: sqlite3.Connection, stretch: int, former: tuple[str, str], words: tuple[str, str]
) -> None:
    """Change the view of a stretch from one text to another; an empty one is none."""
    if any(former):
        db.execute(
            "INSERT INTO views(views, rowid, user, rest) VALUES('delete', ?, ?, ?)",
            (stretch, *former),
        )
    if any(words):
        db.execute("INSERT INTO views(rowid, user, rest) VALUES(?, ?, ?)", (stretch, *words))
    else:
        db.execute("DELETE FROM stretches WHERE row = ?", (stretch,))


def base_name(path: str) -> str:
    """What a file is looked up by: the last part of its path, in small letters."""
    return path.replace("\\", "/").rstrip("/").rpartition("/")[2].lower()


def shown_title(text: str) -> str:
    """The beginning of a text in one line."""
    return " ".join(text[: 4 * _TITLE].split())[:_TITLE]


def _title(passage: Passage) -> str:
    return shown_title(passage.text) if passage.role == USER else ""


def _number(session: str, passage: Passage) -> int:
    """A message as a number: by its uuid, which forks and resumed sessions repeat, else by what
    it says and where."""
    key = passage.message or f"{session}\0{passage.at}\0{passage.first}\0{passage.text}"
    digest = blake2b(key.encode("utf-8", "replace"), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


def kept_path(path: str) -> str:
    """A path as SQLite takes it: bytes that are no UTF-8 are told by their escapes."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")
