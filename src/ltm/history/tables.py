"""The tables of a project's passages, and every statement that changes them.

Two things can be searched by words, each kept up as passages come:

- `words`: every passage, its text and the errors it names as two columns;
- `views`: every stretch of a session as one text, the user's words and all others as two columns,
  so that one table serves the look at whole sessions and the look at what the user said.

A stretch is a whole session up to `STRETCH` characters; a longer session has several, so that
adding to it costs one stretch and not the session. Its text stands in `views` only: what it
consists of is read from the words of its passages when it must be changed.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Collection, Iterable, Sequence

from ltm.files.sqlite import TOKENIZER, Schema, add_columns, columns
from ltm.history.passage import USER, Header, Passage
from ltm.index.full_text import any_of
from ltm.text.terms import SEPARATE, porter, terms

STRETCH = 60_000
"""Characters of a stretch. A session of 30 exchanges fits; what has more is about many things, and
one text of all of it would be near to every question and to none."""

_TITLE = 120

_TABLES = f"""
CREATE TABLE sessions(
  number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, cwd TEXT NOT NULL,
  transcript TEXT NOT NULL, started TEXT NOT NULL DEFAULT '', ended TEXT NOT NULL DEFAULT '',
  title TEXT NOT NULL DEFAULT '', turns INTEGER NOT NULL DEFAULT 0,
  passages INTEGER NOT NULL DEFAULT 0, size INTEGER NOT NULL DEFAULT 0,
  first_row INTEGER NOT NULL DEFAULT 0, last_row INTEGER NOT NULL DEFAULT 0);
CREATE INDEX sessions_newest ON sessions(ended);
CREATE TABLE passages(
  row INTEGER PRIMARY KEY AUTOINCREMENT, session INTEGER NOT NULL, turn INTEGER NOT NULL,
  part INTEGER NOT NULL, role TEXT NOT NULL, at TEXT NOT NULL, first INTEGER NOT NULL,
  last INTEGER NOT NULL, stretch INTEGER NOT NULL);
CREATE INDEX passages_turn ON passages(session, turn, part);
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
CREATE TABLE totals(passages INTEGER NOT NULL, traces INTEGER NOT NULL);
INSERT INTO totals VALUES(0, 0);
CREATE VIRTUAL TABLE words USING fts5(text, errors, tokenize = "{TOKENIZER}");
CREATE VIRTUAL TABLE vocabulary USING fts5vocab('words', 'col');
CREATE VIRTUAL TABLE views USING fts5(user, rest, content = '', tokenize = "{TOKENIZER}");
CREATE VIRTUAL TABLE view_vocabulary USING fts5vocab('views', 'row');
"""


def _counted(db: sqlite3.Connection) -> None:
    """Schema 2: which rows a session has, how many there are, and whether traces are left of
    others. Files with all, some and none of this have the number 1."""
    added = ("first_row", "last_row")
    if not set(added) <= {*columns(db, "sessions")}:
        add_columns(db, "sessions", *(f"{name} INTEGER NOT NULL DEFAULT 0" for name in added))
        rows = "FROM passages WHERE session = sessions.number"
        db.execute(
            f"UPDATE sessions SET first_row = ifnull((SELECT min(row) {rows}), 0),"
            f" last_row = ifnull((SELECT max(row) {rows}), 0)"
        )
    if "traces" not in columns(db, "totals"):
        db.execute("DROP TABLE IF EXISTS totals")
        db.execute("CREATE TABLE totals(passages INTEGER NOT NULL, traces INTEGER NOT NULL)")
        # A purge may have been cut short: the next one removes what it left.
        db.execute("INSERT INTO totals SELECT count(*), 1 FROM passages")
    db.execute("DROP INDEX IF EXISTS passages_time")


def _stemmed(db: sqlite3.Connection) -> None:
    """Schema 3: words that had the stem of a word with another meaning have their own."""
    former = {"go", *map(porter, SEPARATE)}
    rows = db.execute("SELECT rowid FROM words WHERE words MATCH ?", (any_of(sorted(former)),))
    by_stretch: dict[int, list[int]] = {}
    for (row,) in rows.fetchall():
        found = db.execute("SELECT stretch FROM passages WHERE row = ?", (row,)).fetchone()
        by_stretch.setdefault(found[0], []).append(row)
    for stretch, changed in by_stretch.items():
        before = _stretch_words(db, stretch)
        for row in changed:
            text, named = db.execute(
                "SELECT text, named FROM texts WHERE row = ?", (row,)
            ).fetchone()
            errors = json.loads(named)[2] if named else ()
            db.execute(
                "UPDATE words SET text = ?, errors = ? WHERE rowid = ?",
                (*_words(text, errors), row),
            )
        _replace_view(db, stretch, before, _stretch_words(db, stretch))


def _words(text: str, errors: Iterable[str]) -> tuple[str, str]:
    """The terms of a passage's text and of its errors, as `words` holds them."""
    return " ".join(terms(text)), " ".join(terms("\n".join(errors)))


SCHEMA = Schema(3, _TABLES, (_counted, _stemmed))


class PassageRows:
    """The rows of one project. Every change belongs in a transaction of the caller."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def known(self, messages: Sequence[int]) -> set[int]:
        """Those of a few hundred messages that were kept before, in whatever session."""
        marks = ", ".join("?" * len(messages))
        found = self._db.execute(
            f"SELECT message FROM messages WHERE message IN ({marks})", messages
        )
        return {number for (number,) in found}

    def note_known(self, messages: Iterable[str]) -> None:
        """Take messages for kept, so that reading them adds nothing."""
        numbers = [(message_number(uuid),) for uuid in messages]
        self._db.executemany("INSERT OR IGNORE INTO messages VALUES(?)", numbers)

    def put_cursor(self, session: str, path: str, cursor: str) -> None:
        """Note how far a transcript of a session was read."""
        self._db.execute(
            "INSERT OR REPLACE INTO cursors VALUES(?, ?, ?)", (session, kept_path(path), cursor)
        )

    def put(self, header: Header, passages: Sequence[Passage]) -> None:
        """Keep passages of a session, in their order, and its figures with them."""
        number = self._put_session(header)
        filling = _Filling(self._db, number)
        rows: list[int] = []
        for passage in passages:
            said = " ".join(terms(passage.text))
            rows.append(self._put_one(number, filling.stretch_for(passage), passage, said))
            filling.take(passage, said)
        filling.write()
        self._db.execute("UPDATE totals SET passages = passages + ?", (len(rows),))
        self._db.executemany(
            "INSERT OR IGNORE INTO messages VALUES(?)",
            {(message_of(header.id, passage),) for passage in passages},
        )
        times = sorted(each.at for each in passages if each.at) or [""]
        self._db.execute(
            "UPDATE sessions SET turns = max(turns, :turn), passages = passages + :passages,"
            " size = size + :size, ended = max(ended, :ended), started = CASE WHEN started = ''"
            " OR (:started <> '' AND :started < started) THEN :started ELSE started END,"
            " title = CASE title WHEN '' THEN :title ELSE title END, last_row = :last,"
            " first_row = CASE first_row WHEN 0 THEN :first ELSE first_row END"
            " WHERE number = :number",
            {
                "turn": max(each.turn for each in passages),
                "passages": len(passages),
                "size": sum(len(each.text) for each in passages),
                "started": times[0],
                "ended": times[-1],
                "title": _title(each.text for each in passages if each.role == USER),
                "number": number,
                "first": rows[0],
                "last": rows[-1],
            },
        )

    def _put_session(self, header: Header) -> int:
        self._db.execute(
            "INSERT INTO sessions(id, cwd, transcript) VALUES(:id, :cwd, :transcript)"
            " ON CONFLICT(id) DO UPDATE SET cwd = CASE cwd WHEN '' THEN :cwd ELSE cwd END,"
            " transcript = CASE :transcript WHEN '' THEN transcript ELSE :transcript END",
            {
                "id": header.id,
                "cwd": kept_path(header.cwd),
                "transcript": kept_path(header.transcript),
            },
        )
        found = self._db.execute("SELECT number FROM sessions WHERE id = ?", (header.id,))
        return int(found.fetchone()[0])

    def _put_one(self, number: int, stretch: int, passage: Passage, said: str) -> int:
        row = self._db.execute(
            "INSERT INTO passages(session, turn, part, role, at, first, last, stretch)"
            " VALUES(?, ?, ?, ?, ?, ?, ?, ?)",
            (number, *passage[:3], *passage[4:7], stretch),  # the text has a table of its own
        ).lastrowid
        lists = [passage.files, passage.commands, passage.errors]
        named = json.dumps(lists, ensure_ascii=False) if any(lists) else ""
        self._db.execute(
            "INSERT INTO texts VALUES(?, ?, ?, ?, ?)",
            (row, passage.text, passage.message, passage.agent, named),
        )
        self._db.execute(
            "INSERT INTO words(rowid, text, errors) VALUES(?, ?, ?)",
            (row, said, " ".join(terms("\n".join(passage.errors)))),
        )
        self._db.executemany(
            "INSERT OR IGNORE INTO files VALUES(?, ?, ?)",
            [(base_name(path), row, path) for path in passage.files],
        )
        return row or 0

    def of_session(self, session: str) -> list[int]:
        found = self._db.execute(
            "SELECT row FROM passages JOIN sessions ON number = session WHERE id = ?", (session,)
        )
        return [row for (row,) in found]

    def ended_before(self, moment: str) -> list[str]:
        """The sessions that ended before a moment."""
        found = self._db.execute(
            "SELECT id FROM sessions WHERE ended < ? AND ended <> ''", (moment,)
        )
        return [session for (session,) in found]

    def oldest(self, share: float, *, but: Collection[str]) -> list[str]:
        """So many of the oldest sessions that they make up a share of all there is, the newest
        excepted; those that go anyway count and are not named again."""
        sizes = self._db.execute("SELECT id, size FROM sessions ORDER BY ended, number").fetchall()
        wanted = share * sum(size for _, size in sizes)
        wanted -= sum(size for session, size in sizes if session in but)
        chosen: list[str] = []
        for session, size in sizes[:-1]:
            if wanted <= 0:
                break
            if session not in but:
                chosen.append(session)
                wanted -= size
        return chosen

    def used_bytes(self) -> int:
        """What the database needs on the disk, without what is free inside."""
        pages, free, size = (
            self._db.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("page_count", "freelist_count", "page_size")
        )
        return int((pages - free) * size)

    def has_traces(self) -> bool:
        """Whether words of what was removed may still be somewhere in the file."""
        return bool(self._db.execute("SELECT traces FROM totals").fetchone()[0])

    def wipe(self) -> None:
        """Leave no trace of what was removed; not in a transaction. It costs the whole file."""
        # FTS5 keeps deleted words in its segments, and SQLite keeps old pages, until told.
        for table in ("words", "views"):
            self._db.execute(f"INSERT INTO {table}({table}) VALUES('optimize')")
        self._db.execute("VACUUM")
        self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def note_wiped(self) -> None:
        self._db.execute("UPDATE totals SET traces = 0")

    def all(self) -> list[int]:
        return [row for (row,) in self._db.execute("SELECT row FROM passages")]

    def remove(self, rows: Iterable[int]) -> int:
        """Drop passages and say how many there were. Their messages stay known, so that reading
        them again adds nothing."""
        places: dict[int, tuple[int, int, str]] = {}
        for row in rows:
            found = self._db.execute(
                "SELECT stretch, session, named FROM passages JOIN texts USING(row) WHERE row = ?",
                (row,),
            ).fetchone()
            if found:
                places[row] = found
        stretches = {stretch for stretch, _, _ in places.values()}
        before = {stretch: _stretch_words(self._db, stretch) for stretch in stretches}
        for row, (_, _, named) in places.items():
            for path in json.loads(named)[0] if named else ():
                self._db.execute(
                    "DELETE FROM files WHERE name = ? AND row = ?", (base_name(path), row)
                )
            self._db.execute("DELETE FROM words WHERE rowid = ?", (row,))
            self._db.execute("DELETE FROM texts WHERE row = ?", (row,))
            self._db.execute("DELETE FROM passages WHERE row = ?", (row,))
        for stretch, former in before.items():
            _replace_view(self._db, stretch, former, _stretch_words(self._db, stretch))
        if places:
            self._db.execute(
                "UPDATE totals SET passages = passages - ?, traces = 1", (len(places),)
            )
        for number in {session for _, session, _ in places.values()}:
            self._count_again(number)
        return len(places)

    def _count_again(self, number: int) -> None:
        """The figures of a session that lost passages; without any, it is gone."""
        left = self._db.execute(
            "SELECT count(*), ifnull(sum(length(text)), 0), ifnull(min(nullif(at, '')), ''),"
            " ifnull(max(at), '') FROM passages JOIN texts USING(row) WHERE session = ?",
            (number,),
        ).fetchone()
        if not left[0]:
            self._db.execute("DELETE FROM sessions WHERE number = ?", (number,))
            return
        said = self._db.execute(
            "SELECT text FROM passages JOIN texts USING(row) WHERE session = ? AND role = ?"
            " ORDER BY turn, part",
            (number, USER),
        )
        # The number of turns stays: what is added later must not take the number of what was lost.
        self._db.execute(
            "UPDATE sessions SET passages = ?, size = ?, started = ?, ended = ?, title = ?"
            " WHERE number = ?",
            (*left, _title(text for (text,) in said), number),
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
            self._former = _stretch_words(db, self._row)
            self._words = ([self._former[0]], [self._former[1]])

    def stretch_for(self, passage: Passage) -> int:
        """The stretch that takes a passage: the last one while it fits in there."""
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
                _replace_view(self._db, self._row, self._former or ("", ""), (user, rest))
            self._db.execute("UPDATE stretches SET size = ? WHERE row = ?", (self._size, self._row))


def _stretch_words(db: sqlite3.Connection, stretch: int) -> tuple[str, str]:
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


def _replace_view(
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


def _title(texts: Iterable[str]) -> str:
    """The beginning of the first text that says anything, in one line."""
    lines = (" ".join(text[: 4 * _TITLE].split())[:_TITLE] for text in texts)
    return next(filter(None, lines), "")


def message_of(session: str, passage: Passage) -> int:
    """The message a passage is from, as a number; one without a uuid is known by what it says."""
    if passage.message:
        return message_number(passage.message)
    return message_number(f"{session}\0{passage.at}\0{passage.first}\0{passage.text}")


def message_number(uuid: str) -> int:
    """A message's uuid, which forks and resumed sessions repeat, as a number."""
    from hashlib import blake2b  # reading needs none

    digest = blake2b(uuid.encode("utf-8", "replace"), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


def kept_path(path: str) -> str:
    """A path as SQLite takes it: bytes that are not UTF-8 become escapes."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")
