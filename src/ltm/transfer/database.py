"""Reading a foreign SQLite file without leaving a trace beside it.

Owns how it is opened and walked: read-only and immutable, a copy when a writer left a log, and from
both ends when a page in its middle is broken. Imports storage's database and this package's origin.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from ltm.storage.database import uri
from ltm.transfer.origin import Origin

MAGIC = b"SQLite format 3\0"
BROKEN = (sqlite3.Error, UnicodeDecodeError)
"""What a damaged database raises: names in it, and messages about it, may be no text any more."""

Row = Mapping[str, Any]


@contextmanager
def open_database(origin: Origin, path: str) -> Iterator[sqlite3.Connection]:
    """A foreign database to read from; its file and its folder stay as they are."""
    log = f"{path}-wal"
    target = path
    # What is only in the log is newer than the file, and reading it in place would write there.
    if os.path.isfile(log) and os.path.getsize(log) and not os.path.islink(log):
        target = origin.copy(path, log)
        options = "mode=rw"
    else:
        options = "mode=ro&immutable=1"
    db = sqlite3.connect(uri(target, options), uri=True, isolation_level=None)
    db.row_factory = sqlite3.Row
    db.text_factory = lambda data: data.decode("utf-8", "replace")
    try:
        yield db
    finally:
        db.close()


def tables(origin: Origin, path: str) -> dict[str, frozenset[str]]:
    """The tables of a database and their columns; nothing when it cannot be read."""
    if path not in origin.tables:
        origin.tables[path] = _tables(origin, path)
    return origin.tables[path]


def _tables(origin: Origin, path: str) -> dict[str, frozenset[str]]:
    if not origin.head(path, 16).startswith(MAGIC):
        return {}
    try:
        with open_database(origin, path) as db:
            names = [
                row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type='table'")
            ]
            return {name: _columns(db, name) for name in names}
    except BROKEN as error:
        origin.problem(path, f"cannot be read as a database: {error}")
        return {}


def rows(origin: Origin, path: str, db: sqlite3.Connection, table: str) -> Iterator[Row]:
    """The rows of a table, oldest first; what lies behind a broken page is read from the end."""
    met: set[int] = set()
    for order in ("ASC", "DESC"):
        try:
            found = db.execute(
                f"SELECT rowid AS _row, * FROM {_quoted(table)} ORDER BY rowid {order}"
            )
            for row in found:
                if row["_row"] in met:
                    return
                met.add(row["_row"])
                origin.budget.enter(origin.shown(path))
                size = sum(len(cell) for cell in row if isinstance(cell, str | bytes))
                origin.budget.spend(size, origin.shown(path))
                yield dict(row)
            return
        except BROKEN as error:
            if order == "ASC":
                origin.problem(
                    path, f"the table {table} is broken ({error}); what can be read of it is taken"
                )


def _columns(db: sqlite3.Connection, table: str) -> frozenset[str]:
    return frozenset(row[1] for row in db.execute(f"PRAGMA table_info({_quoted(table)})"))


def _quoted(name: str) -> str:
    escaped = name.replace('"', '""')
    return f'"{escaped}"'
