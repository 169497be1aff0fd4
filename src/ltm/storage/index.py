"""The index of one vault: a SQLite file derived from the memory files, deletable at any time.

Owns when it is brought up to date (`refresh`) and when it is rebuilt; how files are taken in is
`indexing`'s, its tables are those of `rows`, and what it can be asked is in `lookups`. Holds every
memory as JSON, so that listing and recall read no Markdown at all. "Rebuild equals incremental" is
a property test. Only `vaults` opens an index.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager

from ltm.core.errors import StorageFailed
from ltm.core.kinds import Kinds
from ltm.core.model import Memory
from ltm.storage.database import (
    DAMAGE,
    connect,
    copy,
    discard,
    empty,
    is_busy,
    is_kept,
    is_unwritable,
    look,
    transaction,
)
from ltm.storage.indexing import RACY_NS, take_in
from ltm.storage.lock import PATIENCE
from ltm.storage.lookups import Lookups
from ltm.storage.rows import SCHEMA, Rows
from ltm.storage.vault import FileStat, Vault

STAT_BUDGET = 1000
"""Files that are all looked at in each refresh: up to this many, every edit is seen at once."""

SLICE = 500
"""Files of a larger vault looked at in one refresh (about 1 ms). New, renamed and replaced files
are still seen at once (the folder's time tells), and edits in place within `files / SLICE`
refreshes, so a refresh costs the same at 10,000 and 100,000 files."""

_SHORT = 5.0  # seconds that a question waits for a writer before it is answered from what is there


class Index(Lookups):
    """What a vault holds, ready to be listed and searched. Used by one thread at a time."""

    def __init__(self, vault: Vault, kinds: Kinds, *, readonly: bool = False) -> None:
        self._vault = vault
        self._kinds = kinds
        self._readonly = readonly
        self.path = os.path.join(vault.local, "index.db")
        self._place: str | None = None
        """The file up to which this process looked at a large vault."""
        self._listed = 0
        """The mark of the index when the names in the folder were last counted."""
        self._in_vain = False
        """Whether this process waited for a writer for nothing: one that hangs is not waited for
        at every question."""
        self._use(look(self.path, SCHEMA) if readonly else self._connect())

    def close(self) -> None:
        """Give the file back."""
        if self._place is not None:
            try:
                # The next process goes on from here; not worth waiting for a writer.
                self._db.execute("PRAGMA busy_timeout = 0")
                self._rows.set_place(self._place)
                self._rows.set_meta("listed", self._listed)
            except sqlite3.Error:
                pass
        self._db.close()

    def is_current(self) -> bool:
        """Whether no file came, went or was replaced since the last refresh, as far as one look
        at the folder tells."""
        return self._rows.meta("stamp") == self._vault.stamp()

    # -- keeping equal to the files ------------------------------------------------------------

    def refresh(self) -> None:
        """Make the index equal to the files; costs a few milliseconds when nothing changed."""
        try:
            if not self._unchanged():
                self._update()
        except DAMAGE as error:
            if isinstance(error, sqlite3.Error) and is_busy(error):
                return  # another process is bringing it up to date: answer from what is there
            if isinstance(error, sqlite3.Error) and is_unwritable(error):
                self._go_on_in_memory()
            else:
                self._start_over()

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
            if isinstance(error, sqlite3.Error) and is_busy(error):
                raise self._vault.lock.busy() from error
        self._start_over()

    def check(self, *, at_once: bool = False) -> None:
        """Once a day, or at once, check that the index is as it was written; if not, rebuild it.

        Most damage shows when it is read. This finds the rest: a bit that flipped in a row that is
        never compared with its file. It reads the whole index, so no question waits for it.
        """
        today = int(time.time() // 86_400)
        try:
            if not at_once and self._rows.meta("checked") == today:
                return
            sound = self._rows.is_sound()
        except DAMAGE as error:
            if isinstance(error, sqlite3.Error) and (is_busy(error) or is_unwritable(error)):
                return
            sound = False
        if not sound:
            self._start_over()
        try:
            self._rows.join_words()
            self._rows.set_meta("checked", today)
        except sqlite3.Error:
            pass  # then it is looked at once more

    def _go_on_in_memory(self) -> None:
        """The disk is full or read-only. The index there is good as far as it goes: the rest is
        added to a copy of it in memory, and reading goes on."""
        self._db.close()
        self._use(copy(self.path, SCHEMA))
        try:
            self._update()
        except sqlite3.Error:  # it was copied during a write
            self._use(empty(SCHEMA))
            self._update()

    def _mend(self) -> bool:
        if self._readonly:
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
            self._use(self._connect() if gone else empty(SCHEMA))
            self._update()

    def _use(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._rows = Rows(db)

    def _connect(self) -> sqlite3.Connection:
        try:
            return connect(self.path, SCHEMA)
        except sqlite3.Error:
            return empty(SCHEMA)  # held by a process that hangs: do without it

    @contextmanager
    def _locked(self, patience: float) -> Iterator[bool]:
        """The vault's write lock, if it is to be had in that time. Where the disk cannot even hold
        a lock no one writes, so there is no one to wait for."""
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

    def put(self, seen: FileStat, tag: str, memory: Memory, stamp: int) -> None:
        """Note a file that was just written, `stamp` being the vault's before it. Lock held."""
        with transaction(self._db):
            self._rows.remove(seen.name)
            self._rows.put_file(seen, tag)
            self._rows.put_memory(seen.name, tag, memory)
            self._rows.set_meta("mark", time.time_ns())
            if self._rows.meta("stamp") == stamp:
                self._rows.set_meta("stamp", self._vault.stamp())

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
            self._rows.remove(name)
            self._rows.set_meta("mark", time.time_ns())
            self._rows.set_meta("stamp", 0)
        # FTS5 keeps deleted words in its segments, and SQLite keeps old pages, until told.
        self._rows.join_words()
        self._db.execute("VACUUM")
        self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def _unchanged(self) -> bool:
        if self._rows.meta("stamp") != self._vault.stamp():
            return False
        if self._rows.meta("memories") > STAT_BUDGET:
            return self._names_unchanged() and self._slice_unchanged()
        known = self._db.execute("SELECT file, mtime, size FROM files").fetchall()
        return len(self._vault.names()) == len(known) and self._vault.is_as(known)

    def _names_unchanged(self) -> bool:
        """Whether as many files are there as we know.

        The folder's time has told already, unless a file came within the same tick as the change we
        know of. So they are counted once after each change, as soon as that tick is surely over.
        """
        mark = self._rows.meta("mark")
        self._listed = self._listed or self._rows.meta("listed")
        if self._listed != mark and abs(time.time_ns() - mark) > RACY_NS:
            if len(self._vault.names()) != self._rows.count():
                return False
            self._listed = mark
        return True

    def _slice_unchanged(self) -> bool:
        """In a vault too large to look at whole: are the next so many files as we know them?"""
        if self._place is None:
            self._place = self._rows.place()
        known = self._db.execute(
            "SELECT file, mtime, size FROM files WHERE file > ? ORDER BY file LIMIT ?",
            (self._place, SLICE),
        ).fetchall()
        if not self._vault.is_as(known):
            return False  # and the same files are looked at once more, with the lock held
        self._place = known[-1][0] if len(known) == SLICE else ""
        return True

    def _update(self, *, rebuild: bool = False) -> None:
        # A long writer keeps the index up to date itself; but one that was never filled would
        # answer that there is nothing.
        filled = self._db.execute("SELECT count(*) FROM meta").fetchone()[0]
        patience = 0.0 if self._in_vain else _SHORT
        with self._locked(patience if filled and not rebuild else PATIENCE) as held:
            if not held and (rebuild or not filled):
                raise self._vault.lock.busy()
            self._in_vain = not held
            # The last holder of the lock may have done the work.
            if held and (rebuild or not filled or not self._unchanged()):
                take_in(self._db, self._rows, self._vault, self._kinds, rebuild=rebuild)
