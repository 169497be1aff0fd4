"""Read a foreign SQLite file without leaving a trace next to it.

Owns how it is opened and walked: read-only and immutable, a copy when a writer left a log, and from
both ends when a page in its middle is broken. Imports storage's database and this package's origin.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from ltm.storage.database import READ_ONLY, foreign, foreign_columns, foreign_tables, quoted
from ltm.transfer.origin import Origin

MAGIC = b"SQLite format 3\0"
BROKEN = (sqlite3.Error, UnicodeDecodeError)
"""What a damaged database raises: names in it, and messages about it, may be no text any more."""

Row = Mapping[str, Any]

_FIRST, _LAST = -(2**63), 2**63 - 1  # row numbers of SQLite


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
        options = READ_ONLY
    db = foreign(target, options)
    db.row_factory = sqlite3.Row
    db.text_factory = lambda data: data.decode("utf-8", "replace")
    try:
        yield db
    finally:
        db.close()


def is_database(origin: Origin, path: str) -> bool:
    """Whether a file begins as a database does."""
    return origin.head(path, len(MAGIC)) == MAGIC


def tables(origin: Origin, path: str) -> dict[str, frozenset[str]]:
    """The tables of a database and their stored columns; nothing when it cannot be read."""
    if path not in origin.tables:
        origin.tables[path] = _tables(origin, path)
    return origin.tables[path]


def _tables(origin: Origin, path: str) -> dict[str, frozenset[str]]:
    if not is_database(origin, path):
        return {}
    try:
        with open_database(origin, path) as db:
            return {name: foreign_columns(db, name) for name in foreign_tables(db)}
    except BROKEN as error:
        origin.problem(path, f"cannot be read as a database: {error}")
        return {}


def rows(origin: Origin, path: str, db: sqlite3.Connection, table: str) -> Iterator[Row]:
    """The rows of a table, oldest first; what lies behind a broken page is read from the end.

    One question each: Python gives up the row before one that SQLite cannot read.
    """
    # By name: `*` would have SQLite compute columns that are not stored.
    columns = ", ".join(map(quoted, sorted(tables(origin, path)[table])))
    met: set[int] = set()
    for order, compared, edge, step in (("ASC", ">=", _FIRST, 1), ("DESC", "<=", _LAST, -1)):
        beyond = f"FROM {quoted(table)} WHERE rowid {compared} ? ORDER BY rowid {order} LIMIT 1"
        while _FIRST <= edge <= _LAST:
            row: sqlite3.Row | None = None
            try:
                row = db.execute(f"SELECT rowid AS _row, {columns} {beyond}", (edge,)).fetchone()
                if row is None:
                    return
                number = row["_row"]
            except BROKEN as error:
                try:
                    (number,) = db.execute(f"SELECT rowid {beyond}", (edge,)).fetchone()
                except BROKEN:
                    broken = f"the table {table} is broken ({error})"
                    origin.problem(path, f"{broken}; what can be read of it is taken")
                    break
                left_out = f"row {number} of the table {table} was left out: {error}"
                origin.problem(path, left_out)
            if number in met:
                return
            met.add(number)
            edge = number + step
            if row is not None:
                origin.budget.enter(origin.shown(path))
                size = sum(len(cell) for cell in row if isinstance(cell, str | bytes))
                origin.budget.spend(size, origin.shown(path))
                yield dict(row)
