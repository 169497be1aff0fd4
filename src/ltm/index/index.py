"""The index of one vault: a SQLite file derived from the memory files, deletable at any time.

It holds every memory as JSON, so that listing and recall read no Markdown at all. `refresh` takes
in the files that changed, each as a memory or as a problem; `rebuild` takes in all of them, with
the same result. What it can be asked is in `search`. Only `ltm.store.vaults` opens an index.

Vectors (`vectors`) are kept next to a database. A purge must reach them also where numpy is not
installed any more: then their file goes as a whole, since all of it can be derived again.
"""

from __future__ import annotations

import os
import sqlite3
import time
from binascii import crc32
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import closing, contextmanager
from types import ModuleType

from ltm.errors import LtmError, StorageFailed
from ltm.files.atomic import sweep
from ltm.files.lock import PATIENCE
from ltm.files.sqlite import (
    DAMAGE,
    PATIENCE_MS,
    TOKENIZER,
    Schema,
    connect,
    copy,
    discard,
    empty,
    is_busy,
    is_in_place,
    is_kept,
    is_unwritable,
    look,
    make,
    snapshot,
    transaction,
    uri,
)
from ltm.index.search import IN_FORCE, Lookups
from ltm.kinds import Kinds
from ltm.model import Memory, short_record
from ltm.vault.vault import FileStat, Vault, etag, modified

_TABLES = f"""

CREATE TABLE files(
  file TEXT PRIMARY KEY, mtime INTEGER NOT NULL, size INTEGER NOT NULL, etag TEXT NOT NULL,
  line INTEGER NOT NULL DEFAULT 0, problem TEXT) WITHOUT ROWID;
CREATE TABLE memories(
  row INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, file TEXT NOT NULL UNIQUE,
  etag TEXT NOT NULL, kind TEXT NOT NULL, scope TEXT NOT NULL, status TEXT NOT NULL,
  phase INTEGER NOT NULL, created TEXT NOT NULL, spared INTEGER NOT NULL, stated INTEGER NOT NULL,
  worth REAL NOT NULL, difficulty REAL NOT NULL, seen REAL NOT NULL, state TEXT NOT NULL,
  updated REAL NOT NULL);
CREATE TABLE counts(
  kind TEXT NOT NULL, scope TEXT NOT NULL, status TEXT NOT NULL, phase INTEGER NOT NULL,
  memories INTEGER NOT NULL, PRIMARY KEY(kind, scope, status, phase)) WITHOUT ROWID;
CREATE TABLE texts(row INTEGER PRIMARY KEY, data TEXT NOT NULL, sum INTEGER NOT NULL);
CREATE INDEX memories_newest ON memories(status, created, phase);
CREATE INDEX memories_spared ON memories(row) WHERE spared;
CREATE INDEX memories_kind ON memories(kind, status, created);
CREATE INDEX memories_worth ON memories(kind, stated, worth) WHERE {IN_FORCE};
CREATE TABLE tags(tag TEXT NOT NULL, row INTEGER NOT NULL, PRIMARY KEY(tag, row)) WITHOUT ROWID;
CREATE INDEX tags_row ON tags(row);
CREATE TABLE names(name TEXT NOT NULL, row INTEGER NOT NULL, PRIMARY KEY(name, row)) WITHOUT ROWID;
CREATE INDEX names_row ON names(row);
CREATE TABLE meta(name TEXT PRIMARY KEY, value NOT NULL) WITHOUT ROWID;
CREATE VIRTUAL TABLE words USING fts5(title, tags, content, tokenize = "{TOKENIZER}");
CREATE VIRTUAL TABLE vocabulary USING fts5vocab('words', 'row');
"""

SCHEMA = Schema(8, _TABLES, derived=True)
"""Raised when the tables or the words in them change: an index of another schema is rebuilt."""

VECTORS_FILE = "vectors.db"

STAT_BUDGET = 1000
"""Files that are all looked at in each refresh: up to this many, every edit is seen at once."""

SLICE = 250
"""Files of a larger vault looked at in one refresh (half a millisecond). New, renamed and replaced
files are still seen at once (the folder's time tells), and edits in place within `files / SLICE`
refreshes, so a refresh costs the same at 10,000 and 100,000 files."""

LONG_SLICE = 5_000
"""Files of a larger vault looked at when no one waits, after an event of a session (7 ms)."""

RACY_NS = 50_000_000
"""A file younger than this may change again within the same tick of the file system's clock, and
neither its time nor its size would tell: its time is not trusted until a later look."""

_NOTED = 8  # looks after which a process notes how far it came
_SHORT_WAIT = 5.0  # seconds a question waits for a writer before it is answered from what is there
_TABLE_NAMES = (
    *("vocabulary", "words", "meta", "names", "tags", "texts", "counts", "memories", "files"),
)
_SHORT_COLUMNS = (
    "id, file, etag, kind, scope, status, phase, created, spared, stated, worth, difficulty, seen,"
    " state, updated"
)


class Index(Lookups):
    """What a vault holds, ready to be listed and searched. Used by one thread at a time."""

    def __init__(self, vault: Vault, kinds: Kinds, *, readonly: bool = False) -> None:
        self._vault = vault
        self._kinds = kinds
        self._readonly = readonly
        self.path = os.path.join(vault.local, "index.db")
        self._place: str | None = None
        """The file up to which this process looked at a large vault."""
        self._looks = 0
        self._owes_look = self._is_stale = False
        self._listed = 0
        """The mark of the index when the names in the folder were last counted."""
        self._known: tuple[int, list[tuple[str, int, int]]] = (0, [])
        """The files of a small vault as they are known, and the mark of the index at that time."""
        self._gave_up = False
        """Whether this process waited too long for a writer: one that hangs is not waited for at
        every question."""
        self._db = look(self.path, SCHEMA) if readonly else self._connect()

    def close(self) -> None:
        """Give the file back."""
        self._note_place()
        self._db.close()

    def _note_place(self) -> None:
        """Let the next process go on where this one looked; not worth waiting for a writer."""
        if self._place is not None:
            try:
                self._db.execute("PRAGMA busy_timeout = 0")
                self._set_meta("place", self._place)
                self._set_meta("listed", self._listed)
            except sqlite3.Error:
                pass
            self._db.execute(f"PRAGMA busy_timeout = {PATIENCE_MS}")

    def is_in_place(self) -> bool:
        """Whether it still is the file that has its name, and not a copy in memory."""
        return is_in_place(self._db, self.path)

    def is_current(self) -> bool:
        """Whether no file came, went or was replaced since the last refresh, as far as one look
        at the folder tells."""
        return self._stamp() == self._vault.stamp()

    # -- keeping equal to the files ------------------------------------------------------------

    def refresh(self, *, later: bool = False) -> None:
        """Make the index equal to the files; costs a few milliseconds when nothing changed.

        With `later` the files of a large vault are left to `look`.
        """
        try:
            if not self._unchanged(later=later):
                self._update()
        except DAMAGE as error:
            if is_busy(error):
                return  # another process is bringing it up to date: answer from what is there
            if is_unwritable(error):
                self._go_on_in_memory()
            else:
                self._start_over()

    def look(self) -> None:
        """Look at the next files of a large vault, if a refresh left that to do. The next refresh
        takes in what has changed."""
        if self._owes_look:
            self._owes_look = False
            self._is_stale = not self._is_next_as_known(SLICE)

    def rebuild(self) -> None:
        """Rebuild the whole index from the files.

        In place if it is sound: other processes have it open, and SQLite, when the last of them
        closes it, deletes the log of whatever file has its name by then.
        """
        try:
            if self._db.execute("PRAGMA quick_check(1)").fetchone() == ("ok",):
                self._update(rebuild=True)
                return
        except DAMAGE as error:
            if is_busy(error):
                raise self._vault.lock.busy() from error
        self._start_over()

    def check(self, *, at_once: bool = False) -> None:
        """Look at more files than a question does, and once a day, or at once, check that the index
        is as it was written; if not, rebuild it.

        Most damage shows when it is read. This finds the rest: a bit that flipped in a row that is
        never compared with its file. It reads the whole index, so no question waits for it.
        """
        today = int(time.time() // 86_400)
        try:
            self._look_around()
            if not at_once and self._meta("checked") == today:
                return
            sound = self._is_sound()
        except DAMAGE as error:
            if is_busy(error) or is_unwritable(error):
                return
            sound = False
        if not sound:
            self._start_over()
        try:
            self._join_words()
            self._set_meta("checked", today)
        except sqlite3.Error:
            pass  # then it is looked at once more

    def _look_around(self) -> None:
        """Look for what a question may not see at once: an edit in place in a large vault, and a
        file of another program that came between our own file and its seal."""
        mark = self._meta("mark")
        is_known = self._meta("memories") <= STAT_BUDGET or self._is_next_as_known(LONG_SLICE)
        is_counted = self._meta("counted") == mark
        if not (is_known and (is_counted or self._has_all_names())):
            self._set_meta("stamp", "")
            self.refresh()
        if not is_counted:
            self._set_meta("counted", mark)

    def _go_on_in_memory(self) -> None:
        """The disk is full or read-only. The index there is good as far as it goes: the rest is
        added to a copy of it in memory, and reading goes on."""
        self._db.close()
        self._db = copy(self.path, SCHEMA)
        try:
            self._update()
        except sqlite3.Error:  # it was copied during a write
            self._db = empty(SCHEMA)
            self._update()

    def _mend(self, error: Exception) -> bool:
        if self._readonly or is_busy(error):
            return False
        self._start_over()
        return True

    def _start_over(self) -> None:
        """Throw the index away and make another."""
        with self._locked(PATIENCE) as held:
            if not held:
                raise self._vault.lock.busy()
            self._db.close()
            discard(self.path)
            # What cannot be deleted is not to be copied either.
            gone = not os.path.exists(self.path)
            self._db = self._connect() if gone else empty(SCHEMA)
            self._update()

    def _connect(self) -> sqlite3.Connection:
        try:
            return connect(self.path, SCHEMA)
        except sqlite3.Error:
            return empty(SCHEMA)  # held by a process that hangs: do without it

    @contextmanager
    def _locked(self, patience: float) -> Iterator[bool]:
        """The vault's write lock, if it is free in that time. A disk that cannot hold a lock has no
        writers to wait for."""
        lock = self._vault.lock
        try:
            held = lock.acquire(patience)
        except StorageFailed:
            yield True
            return
        try:
            yield held
        finally:
            if held:
                lock.release()

    def put(
        self,
        seen: FileStat,
        tag: str,
        memory: Memory,
        before: str,
        sealed: str,
        *,
        late: bool = False,
    ) -> None:
        """Note a file that was just written, with the vault's stamp before that and its seal after.

        Lock held; or `late`, when it was given back since. Then nothing is noted unless the index
        knows just what it knew before: else others took the file in, or the next refresh does.
        """
        with transaction(self._db):
            is_next = self._stamp() == before
            if late and not is_next:
                return
            mark, is_listed = time.time_ns(), self._listed == self._meta("mark")
            self._remove(seen.name)
            self._put_file(seen, tag)
            self._put_memory(seen.name, tag, memory)
            self._set_meta("mark", mark)
            self._name_rows()
            if is_next:
                self._set_meta("stamp", sealed or self._vault.stamp())
                if sealed and is_listed:
                    self._listed = mark
                    self._set_meta("listed", mark)

    def drop(self, name: str) -> None:
        """Note that a file was purged, leaving no trace of its words. Lock held."""
        if not is_kept(self._db):
            # A copy in memory has nothing to lose, and the file it was made from cannot be written.
            discard(self.path)
            if os.path.exists(self.path):
                raise StorageFailed(
                    "could not take it out of the index, which can be neither written nor deleted",
                    path=self.path,
                    hint="check the disk and the rights of this folder, then say it again",
                )
        with transaction(self._db):
            self._remove(name)
            self._set_meta("mark", time.time_ns())
            self._set_meta("stamp", "")
        # FTS5 keeps deleted words in its segments, and SQLite keeps old pages, until told.
        self._join_words()
        self._db.execute("VACUUM")
        self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def _unchanged(self, *, later: bool = False) -> bool:
        if self._is_stale:
            return False
        meta = dict(self._db.execute("SELECT name, value FROM meta").fetchall())
        if not meta.get("stamp") or meta["stamp"] != self._vault.stamp():
            return False
        mark, is_small = meta.get("mark", 0), meta.get("memories", 0) <= STAT_BUDGET
        if mark == meta.get("listed"):
            self._listed = mark
        if mark != self._listed:
            # The folder's time has told already, unless a file came within the same tick as a
            # change of others. So they are counted after it, until that tick is surely over.
            is_over = abs(time.time_ns() - mark) > RACY_NS
            if (is_over or is_small) and not self._has_all_names():
                return False
            self._listed = mark if is_over else self._listed
        if is_small:
            if self._known[0] != mark:
                files = self._db.execute("SELECT file, mtime, size FROM files").fetchall()
                self._known = mark, files
            return self._vault.is_as(self._known[1])
        self._owes_look = later  # too large to look at whole
        return later or self._is_next_as_known(SLICE)

    def _is_next_as_known(self, count: int) -> bool:
        """Whether the next so many files are as they are known; if so, the look goes on there."""
        if self._place is None:
            row = self._db.execute("SELECT value FROM meta WHERE name = 'place'").fetchone()
            self._place = str(row[0]) if row else ""
        known = self._db.execute(
            "SELECT file, mtime, size FROM files WHERE file > ? ORDER BY file LIMIT ?",
            (self._place, count),
        ).fetchall()
        if not self._vault.is_as(known):
            return False  # and the same files are looked at once more, with the lock held
        self._place = known[-1][0] if len(known) == count else ""
        self._looks += 1
        if self._looks % _NOTED == 0:  # a server may be ended without being asked
            self._note_place()
        return True

    def _has_all_names(self) -> bool:
        """Whether there are as many files as are known; lists the folder."""
        (count,) = self._db.execute("SELECT count(*) FROM files").fetchone()
        return len(self._vault.names()) == int(count)

    def _update(self, *, rebuild: bool = False) -> None:
        # A long writer keeps the index up to date itself; but one that was never filled would
        # answer that there is nothing.
        filled = self._db.execute("SELECT count(*) FROM meta").fetchone()[0]
        patience = 0.0 if self._gave_up else _SHORT_WAIT
        with self._locked(patience if filled and not rebuild else PATIENCE) as held:
            if not held and (rebuild or not filled):
                raise self._vault.lock.busy()
            self._gave_up = not held
            # The last holder of the lock may have done the work.
            if held and (rebuild or not filled or not self._unchanged()):
                self._take_in(rebuild)

    def _take_in(self, rebuild: bool) -> None:
        """Make the index equal to the files, all or nothing. Lock held.

        Only files that look changed are read; with `rebuild` all of them, into empty tables.
        """
        vault = self._vault
        self._is_stale = False
        sweep(vault.memories)
        known: dict[str, tuple[int, int, str, str | None]] = {}
        if not rebuild:
            rows = self._db.execute("SELECT file, mtime, size, etag, problem FROM files")
            known = {file: (mtime, size, tag, problem) for file, mtime, size, tag, problem in rows}
        stamp, started = vault.stamp(), time.time_ns()
        seen = vault.scan()
        with transaction(self._db):
            if rebuild:
                for table in _TABLE_NAMES:
                    self._db.execute(f"DROP TABLE {table}")
                make(self._db, SCHEMA.tables)
            for name in known.keys() - {each.name for each in seen}:
                self._remove(name)
            for each in sorted(seen, key=lambda file: file.name):
                mtime, size, tag, problem = known.get(each.name, (None, None, "", None))
                if problem or (mtime, size) != (each.mtime, each.size):
                    racy = each.mtime > started - RACY_NS
                    trusted = FileStat(each.name, -1, each.size) if racy else each
                    self._take_in_file(trusted, "" if problem else tag)
            self._set_meta("mark", time.time_ns())
            self._set_meta("stamp", stamp)
            self._name_rows()

    def _take_in_file(self, seen: FileStat, known_tag: str) -> None:
        from ltm.vault import codec, frontmatter  # YAML is slow to load and often not needed

        path = self._vault.path(seen.name)
        tag = ""
        try:
            data = self._vault.read(seen.name)
            tag = etag(data)
            if tag == known_tag:  # it says what it said
                self._db.execute(
                    "UPDATE files SET mtime = ?, size = ? WHERE file = ?",
                    (seen.mtime, seen.size, seen.name),
                )
                return
            document = frontmatter.parse(data, path)
            memory = codec.decode(document, path, self._kinds, seen=modified(path))
        except StorageFailed as error:
            # The disk does not give it out now. What is known of it stays, and it is tried again.
            self._put_file(FileStat(seen.name, -1, seen.size), known_tag, problem=error.message)
            return
        except LtmError as error:
            self._remove(seen.name)
            self._put_file(seen, tag, line=error.line or 0, problem=error.message)
            return
        self._remove(seen.name)
        holder = self._db.execute(
            "SELECT file, mtime, size, files.etag FROM memories JOIN files USING(file)"
            " WHERE id = ?",
            (memory.id,),
        ).fetchone()
        if holder and holder[0] < seen.name:
            self._put_file(seen, tag, problem=_same_id(memory.id, holder[0]))
            return
        if holder:
            # The file whose name sorts first holds the id, in whatever order the two were met.
            *stat, other_tag = holder
            self._remove(holder[0])
            self._put_file(FileStat(*stat), other_tag, problem=_same_id(memory.id, seen.name))
        self._put_file(seen, tag)
        self._put_memory(seen.name, tag, memory)

    # -- rows ----------------------------------------------------------------------------------

    def _put_file(
        self, seen: FileStat, tag: str, *, line: int = 0, problem: str | None = None
    ) -> None:
        """Note a file as it was seen, and what is wrong with it, if anything is."""
        self._db.execute(
            "INSERT OR REPLACE INTO files VALUES(?, ?, ?, ?, ?, ?)",
            (seen.name, seen.mtime, seen.size, tag, line, problem),
        )

    def _put_memory(self, name: str, tag: str, memory: Memory) -> None:
        """Note what a file says."""
        import json  # not needed to read

        from ltm import policy
        from ltm.text.terms import terms

        counted = memory.kind, str(memory.scope), str(memory.status), int(memory.phase)
        short = (
            memory.id,
            name,
            tag,
            *counted,
            memory.created.isoformat(),
            int(policy.is_spared(memory)),
            int(policy.is_stated(memory)),
            policy.worth(memory),
            float(memory.difficulty),
            max(memory.created, memory.confirmed).timestamp(),
            memory.state,
            memory.updated.timestamp(),
        )
        row = self._db.execute(
            f"INSERT INTO memories({_SHORT_COLUMNS}) VALUES({', '.join('?' * len(short))})", short
        ).lastrowid
        # Apart from the rest, so that matching and sorting touch short rows only.
        data = json.dumps(short_record(memory), ensure_ascii=False, separators=(",", ":"))
        self._db.execute("INSERT INTO texts VALUES(?, ?, ?)", (row, data, _sum(*short, data)))
        # The ids a memory names, and the session it came from.
        named = {memory.superseded_by, memory.previous, memory.source.session}
        named.update(memory.supersedes, memory.merged_from, memory.links, memory.conflicts)
        named = named.union(memory.distinct) - {"", memory.id}
        tags = [(each.lower(), row) for each in memory.tags]
        self._db.executemany("INSERT OR IGNORE INTO tags VALUES(?, ?)", tags)
        self._db.executemany("INSERT INTO names VALUES(?, ?)", [(each, row) for each in named])
        words = (" ".join(terms(t)) for t in (memory.title, " ".join(memory.tags), memory.words))
        self._db.execute(
            "INSERT INTO words(rowid, title, tags, content) VALUES(?, ?, ?, ?)", (row, *words)
        )
        self._count(counted, 1)

    def _remove(self, name: str) -> None:
        """Drop a file and what it said."""
        found = self._db.execute(
            "SELECT row, kind, scope, status, phase FROM memories WHERE file = ?", (name,)
        ).fetchone()
        if found:
            row, *counted = found
            self._db.execute("DELETE FROM words WHERE rowid = ?", (row,))
            for table in ("tags", "names", "texts", "memories"):
                self._db.execute(f"DELETE FROM {table} WHERE row = ?", (row,))
            self._count(counted, -1)
        self._db.execute("DELETE FROM files WHERE file = ?", (name,))

    def _is_sound(self) -> bool:
        """Whether everything is as it was written; looks at every page, and takes a while.

        SQLite finds pages that are none and entries that do not belong together. A letter that
        turned into another is found by the sums.
        """
        if self._db.execute("PRAGMA integrity_check(1)").fetchone() != ("ok",):
            return False
        self._db.execute("INSERT INTO words(words) VALUES('integrity-check')")
        with snapshot(self._db):  # others may write meanwhile
            rows = self._db.execute(
                f"SELECT {_SHORT_COLUMNS}, data, sum FROM memories JOIN texts USING(row)"
            )
            held = 0
            for *values, known in rows:
                if _sum(*values) != known:
                    return False
                held += 1
            (texts,) = self._db.execute("SELECT count(*) FROM texts").fetchone()
            return bool(held == texts == self._meta("memories")) and self.is_counted()

    def _join_words(self) -> None:
        """Make one piece of the many that small writes leave; a search looks into each of them."""
        self._db.execute("INSERT INTO words(words) VALUES('optimize')")

    def _meta(self, name: str) -> int:
        """A number kept under a name; 0 when there is none."""
        row = self._db.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
        return int(row[0]) if row else 0

    def _stamp(self) -> str:
        """The vault's stamp when its files were last known; '' when they must be looked at."""
        row = self._db.execute("SELECT value FROM meta WHERE name = 'stamp'").fetchone()
        return str(row[0]) if row else ""

    def _name_rows(self) -> None:
        """Tell this numbering of rows from any other: an index that is made again counts from 1."""
        self._db.execute("INSERT OR IGNORE INTO meta VALUES('rows', lower(hex(randomblob(8))))")

    def _set_meta(self, name: str, value: int | str) -> None:
        self._db.execute("INSERT OR REPLACE INTO meta VALUES(?, ?)", (name, value))

    def _count(self, counted: Sequence[object], by: int) -> None:
        # SQLite counts by walking through all rows, and every search asks how many there are.
        self._set_meta("memories", self._meta("memories") + by)
        self._db.execute(
            "INSERT INTO counts VALUES(?, ?, ?, ?, ?) ON CONFLICT DO UPDATE"
            " SET memories = memories + excluded.memories",
            (*counted, by),
        )


def _same_id(memory_id: str, other: str) -> str:
    return f"has the same id {memory_id} as {other}; give one of them another id"


def _sum(*values: object) -> int:
    return crc32("\0".join(map(str, values)).encode())


# -- the vectors next to a database ----------------------------------------------------------------


def vectors_path(path: str) -> str:
    """Where the vectors of a database's rows are kept."""
    return f"{os.path.splitext(path)[0]}-{VECTORS_FILE}"


def vectors_meta(path: str) -> dict[str, str]:
    """What is noted about the vectors kept at a path, without numpy; nothing where that cannot be
    read."""
    if not os.path.exists(path):
        return {}
    try:
        with closing(sqlite3.connect(uri(path, "mode=ro"), timeout=0.0, uri=True)) as db:
            return dict(db.execute("SELECT name, value FROM meta").fetchall())
    except sqlite3.Error:
        return {}


def forget_vectors(folder: str, memory_id: str) -> None:
    """Leave no trace of a memory in the vectors kept in a folder."""
    path = os.path.join(folder, VECTORS_FILE)
    _change_vectors(path, lambda vectors: vectors.forget(path, memory_id))


def keep_vectors(path: str, rows: Collection[int]) -> None:
    """Leave no trace of any but these rows in the vectors kept at a path."""
    _change_vectors(path, lambda vectors: vectors.keep_only(path, rows))


def _change_vectors(path: str, change: Callable[[ModuleType], None]) -> None:
    if os.path.exists(path):
        from importlib import import_module  # not needed to look something up

        try:
            change(import_module("ltm.index.vectors"))  # may load numpy
        except (ImportError, LtmError):
            discard(path)
