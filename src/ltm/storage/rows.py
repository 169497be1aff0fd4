"""The tables of an index, and how a file and a memory become rows in them.

Owns the schema and every statement that changes it. When to change what is `index`'s business.
"""

from __future__ import annotations

import sqlite3
from binascii import crc32

from ltm.core.model import Memory
from ltm.storage.database import TOKENIZER, Schema, make
from ltm.storage.vault import FileStat

_TABLES = f"""
CREATE TABLE files(
  file TEXT PRIMARY KEY, mtime INTEGER NOT NULL, size INTEGER NOT NULL, etag TEXT NOT NULL,
  line INTEGER NOT NULL DEFAULT 0, problem TEXT) WITHOUT ROWID;
CREATE TABLE memories(
  row INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, file TEXT NOT NULL UNIQUE, etag TEXT NOT NULL,
  kind TEXT NOT NULL, scope TEXT NOT NULL, status TEXT NOT NULL, phase INTEGER NOT NULL,
  created TEXT NOT NULL, spared INTEGER NOT NULL);
CREATE TABLE texts(row INTEGER PRIMARY KEY, data TEXT NOT NULL, sum INTEGER NOT NULL);
CREATE INDEX memories_newest ON memories(status, created, phase);
CREATE INDEX memories_spared ON memories(row) WHERE spared;
CREATE INDEX memories_kind ON memories(kind, status, created);
CREATE TABLE tags(tag TEXT NOT NULL, row INTEGER NOT NULL, PRIMARY KEY(tag, row)) WITHOUT ROWID;
CREATE INDEX tags_row ON tags(row);
CREATE TABLE names(name TEXT NOT NULL, row INTEGER NOT NULL, PRIMARY KEY(name, row)) WITHOUT ROWID;
CREATE INDEX names_row ON names(row);
CREATE TABLE meta(name TEXT PRIMARY KEY, value NOT NULL) WITHOUT ROWID;
CREATE VIRTUAL TABLE words USING fts5(title, tags, content, tokenize = "{TOKENIZER}");
CREATE VIRTUAL TABLE vocabulary USING fts5vocab('words', 'row');
"""

SCHEMA = Schema(6, _TABLES, derived=True)
"""Raised when the tables or the words in them change: an index of another schema is rebuilt."""


_SHORT = "id, file, etag, kind, scope, status, phase, created, spared"


class Rows:
    """The rows of one index."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def put_file(
        self, seen: FileStat, tag: str, *, line: int = 0, problem: str | None = None
    ) -> None:
        """Note a file as it was seen, and what is wrong with it, if anything is."""
        self._db.execute(
            "INSERT OR REPLACE INTO files VALUES(?, ?, ?, ?, ?, ?)",
            (seen.name, seen.mtime, seen.size, tag, line, problem),
        )

    def known_files(self) -> dict[str, tuple[int, int, str, str | None]]:
        """By name, the time, size, tag and problem each file was seen with."""
        found = self._db.execute("SELECT file, mtime, size, etag, problem FROM files")
        return {file: (mtime, size, tag, problem) for file, mtime, size, tag, problem in found}

    def note_look(self, seen: FileStat) -> None:
        """Note the time and size of a file that says what it said."""
        self._db.execute(
            "UPDATE files SET mtime = ?, size = ? WHERE file = ?",
            (seen.mtime, seen.size, seen.name),
        )

    def holder(self, memory_id: str) -> str:
        """The file that holds the memory of an id; '' when none does."""
        row = self._db.execute("SELECT file FROM memories WHERE id = ?", (memory_id,)).fetchone()
        return row[0] if row else ""

    def put_memory(self, name: str, tag: str, memory: Memory) -> None:
        """Note what a file says."""
        import json  # not needed to read

        from ltm.core.policy import is_spared
        from ltm.core.record import short_record
        from ltm.core.words import terms

        short = (
            memory.id,
            name,
            tag,
            memory.kind,
            str(memory.scope),
            str(memory.status),
            int(memory.phase),
            memory.created.isoformat(),
            int(is_spared(memory)),
        )
        row = self._db.execute(
            f"INSERT INTO memories({_SHORT}) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)", short
        ).lastrowid
        # Apart from the rest, so that matching and sorting touch short rows only.
        data = json.dumps(short_record(memory), ensure_ascii=False, separators=(",", ":"))
        self._db.execute("INSERT INTO texts VALUES(?, ?, ?)", (row, data, _sum(*short, data)))
        self._db.executemany(
            "INSERT OR IGNORE INTO tags VALUES(?, ?)", [(each.lower(), row) for each in memory.tags]
        )
        self._db.executemany(
            "INSERT INTO names VALUES(?, ?)", [(each, row) for each in _named(memory)]
        )
        self._db.execute(
            "INSERT INTO words(rowid, title, tags, content) VALUES(?, ?, ?, ?)",
            (
                row,
                " ".join(terms(memory.title)),
                " ".join(terms(" ".join(memory.tags))),
                " ".join(terms(memory.words)),
            ),
        )
        self._grow(1)

    def is_sound(self) -> bool:
        """Whether everything is as it was written; looks at every page, and takes a while.

        SQLite finds pages that are none and entries that do not belong together. A letter that
        turned into another is found by the sums.
        """
        if self._db.execute("PRAGMA integrity_check(1)").fetchone() != ("ok",):
            return False
        self._db.execute("INSERT INTO words(words) VALUES('integrity-check')")
        rows = self._db.execute(f"SELECT {_SHORT}, data, sum FROM memories JOIN texts USING(row)")
        held = 0
        for *values, known in rows:
            if _sum(*values) != known:
                return False
            held += 1
        (texts,) = self._db.execute("SELECT count(*) FROM texts").fetchone()
        return bool(held == texts == self.meta("memories"))

    def join_words(self) -> None:
        """Make one piece of the many that small writes leave; a search looks into each of them."""
        self._db.execute("INSERT INTO words(words) VALUES('optimize')")

    def remove(self, name: str) -> None:
        """Drop a file and what it said."""
        found = self._db.execute("SELECT row FROM memories WHERE file = ?", (name,)).fetchone()
        if found:
            self._db.execute("DELETE FROM words WHERE rowid = ?", found)
            self._db.execute("DELETE FROM tags WHERE row = ?", found)
            self._db.execute("DELETE FROM names WHERE row = ?", found)
            self._db.execute("DELETE FROM texts WHERE row = ?", found)
            self._db.execute("DELETE FROM memories WHERE row = ?", found)
            self._grow(-1)
        self._db.execute("DELETE FROM files WHERE file = ?", (name,))

    def demote(self, name: str, problem: str) -> None:
        """Drop what a file said, and note why."""
        mtime, size, tag = self._db.execute(
            "SELECT mtime, size, etag FROM files WHERE file = ?", (name,)
        ).fetchone()
        self.remove(name)
        self.put_file(FileStat(name, mtime, size), tag, problem=problem)

    def meta(self, name: str) -> int:
        """A number kept under a name; 0 when there is none."""
        row = self._db.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
        return int(row[0]) if row else 0

    def set_meta(self, name: str, value: int) -> None:
        """Keep a number under a name."""
        self._db.execute("INSERT OR REPLACE INTO meta VALUES(?, ?)", (name, value))

    def _grow(self, by: int) -> None:
        # SQLite counts by walking through all rows, and every search asks how many there are.
        self.set_meta("memories", self.meta("memories") + by)

    def place(self) -> str:
        """The file up to which a large vault was looked at last; '' before the first."""
        row = self._db.execute("SELECT value FROM meta WHERE name = 'place'").fetchone()
        return str(row[0]) if row else ""

    def set_place(self, name: str) -> None:
        """Keep up to which file a large vault was looked at."""
        self._db.execute("INSERT OR REPLACE INTO meta VALUES('place', ?)", (name,))

    def count(self) -> int:
        """How many files are noted."""
        return int(self._db.execute("SELECT count(*) FROM files").fetchone()[0])

    def empty(self) -> None:
        """Drop and create all tables; call it in a transaction."""
        for table in ("vocabulary", "words", "meta", "names", "tags", "texts", "memories", "files"):
            self._db.execute(f"DROP TABLE {table}")
        make(self._db, SCHEMA.tables)


def _named(memory: Memory) -> set[str]:
    """The ids a memory names, and the session it came from."""
    named = {memory.superseded_by, memory.previous, memory.source.session}
    named.update(memory.supersedes, memory.merged_from, memory.links, memory.conflicts)
    return named.union(memory.distinct) - {"", memory.id}


def _sum(*values: object) -> int:
    return crc32("\0".join(map(str, values)).encode())
