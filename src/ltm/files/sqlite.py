"""Local SQLite files that never fail a command: opening, migrating, setting aside what is broken.

A database of a former schema is migrated to the present one. A broken or foreign file makes place
for a new one, and a disk that cannot be written gives a copy in memory.
"""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from itertools import count

from ltm.files.atomic import inode
from ltm.record import NamedTuple

PATIENCE_MS = 10_000

READ_ONLY = "mode=ro&immutable=1"
"""The options under which a database is read and nothing is written next to it."""

TOKENIZER = "ascii tokenchars '_'"
"""The FTS5 `tokenize=` setting under which space-joined terms (`ltm.text.terms`) come back exactly
as they are: `ascii` takes every byte beyond ASCII as part of a word, whereas `unicode61` has its
own Unicode tables, which change between versions of SQLite."""

DAMAGE = (sqlite3.Error, ValueError, TypeError)
"""What reading from a damaged database raises: its own errors, and those of values that are no
longer what was written, such as a text that became bytes."""

LONGEST_ROW = 16 * 1024 * 1024
"""Bytes of a row in a database that another program made."""

Migration = str | Callable[[sqlite3.Connection], None]
"""One step from a schema to the next: statements, or a function that is called in a transaction."""


class Schema(NamedTuple):
    """The tables of a database, and how a file that has former tables gets the present ones.

    A change of the tables raises `number` and adds a step to `migrations` that makes the same
    change to an existing file, rows included. A step must also work on a file that already has part
    of the change: a dump that was read back has lost its number, so all steps are applied to it.
    """

    number: int
    tables: str
    migrations: tuple[Migration, ...] = ()
    """The steps from schema 1 to 2, from 2 to 3 and so on, up to the present one."""
    derived: bool = False
    """Whether everything in it can be derived again: it is rebuilt then, and never migrated."""


class _FileConnection(sqlite3.Connection):
    """A connection that knows which file it was opened from, whatever has the name of that now."""

    inode = -1


class Older(sqlite3.DatabaseError):
    """A database of a former schema, where nothing may be written to bring it up to date."""


class Incompatible(sqlite3.DatabaseError):
    """A sound database that this ltm cannot use. It stays as it is."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.hint = hint
        """What a person can do about it."""


def keep(path: str, schema: Schema) -> tuple[sqlite3.Connection, str]:
    """The database at `path`, for what cannot be derived, and where a broken one was moved to.

    One of a former schema is migrated first. One that is broken is moved aside, never deleted, and
    another is begun. A disk that cannot be written is a `sqlite3.Error` or an `OSError`: nothing
    pretends to be kept. A database that is `Incompatible` is an error too, and left as it is.
    """
    try:
        return _open(path, schema), ""
    except sqlite3.DatabaseError as error:
        if is_busy(error) or is_unwritable(error) or isinstance(error, Incompatible):
            raise
    aside = set_aside(path)
    return _open(path, schema), aside


def migrate(path: str, schema: Schema) -> None:
    """Bring the database at `path` to the present schema; an error leaves it as it was."""
    _open(path, schema).close()


def set_aside(path: str) -> str:
    """Move a database out of the way, so that a new one is begun, and say where it is now.

    A person may still want to look at it. Does nothing if it was moved already.
    """
    for number in count(1):
        aside = f"{path}.damaged{number}"
        try:  # an empty file, so that its name is taken
            os.close(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
            break
        except FileExistsError:
            pass
    try:
        os.replace(path, aside)
    except FileNotFoundError:
        os.unlink(aside)
        return ""
    for suffix in ("-wal", "-shm", "-journal"):
        if os.path.exists(path + suffix):
            os.rename(path + suffix, f"{aside}{suffix}")
    return aside


def connect(path: str, schema: Schema) -> sqlite3.Connection:
    """The database at `path`, for what can be derived again or done without.

    A broken one makes place for another: deleted where it can be derived, else moved aside. Where
    the disk cannot be written, the answer is a copy in memory, so that reading goes on, and an
    empty one in the place of a database that is `Incompatible`.
    """
    for _ in range(3):
        try:
            return _open(path, schema)
        except sqlite3.DatabaseError as error:
            if is_busy(error):
                raise
            if is_unwritable(error):
                break
            if isinstance(error, Incompatible):
                return empty(schema)
        except OSError:
            break
        try:
            if schema.derived:
                discard(path)
            else:
                set_aside(path)
        except OSError:
            break
    return copy(path, schema)


def look(path: str, schema: Schema, *, long: bool = False) -> sqlite3.Connection:
    """Open the database at `path` to read from only, without writing and without waiting.

    For a hook. A database that is missing, broken, locked or of another schema is a
    `sqlite3.Error`; what is being written at the moment may not be seen yet. With `long` later
    writes are seen, for which SQLite may have to make its files next to it.
    """
    logged = long or os.path.exists(f"{path}-wal")
    for options in ("mode=ro", READ_ONLY) if logged else (READ_ONLY,):
        db = _connected(path, uri(path, options), timeout=0.0)
        try:
            found = db.execute("PRAGMA user_version").fetchone()[0]
            if found == schema.number:
                return db
        except sqlite3.Error:
            found = None  # its log cannot be used here: the file itself may do
        db.close()
    is_older = found is not None and found < schema.number
    raise (Older if is_older else sqlite3.DatabaseError)(f"schema {found} is not {schema.number}")


def is_in_place(db: sqlite3.Connection, path: str) -> bool:
    """Whether a connection is to the file that has this path now. While it is open, no other file
    gets the number of its own."""
    return getattr(db, "inode", -1) == inode(path) != -1


def _connected(path: str, name: str, *, timeout: float) -> sqlite3.Connection:
    """A connection to the file at a path, which SQLite is to open by that name."""
    before = inode(path)
    db = sqlite3.connect(
        name,
        timeout=timeout,
        isolation_level=None,
        check_same_thread=False,
        factory=_FileConnection,
        uri=name is not path,
    )
    db.inode = before if before == inode(path) else -1
    return db


def is_kept(db: sqlite3.Connection) -> bool:
    """Whether a database is the file it was opened from, and not a copy in memory."""
    return bool(db.execute("PRAGMA database_list").fetchone()[2])


def discard(path: str) -> None:
    """Delete a database file and what SQLite keeps next to it."""
    for suffix in ("", "-wal", "-shm", "-journal"):
        try:
            os.unlink(path + suffix)
        except OSError:
            pass


@contextmanager
def transaction(db: sqlite3.Connection) -> Iterator[None]:
    """All of a change or nothing of it; the write lock is taken at once, so it never upgrades."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")


@contextmanager
def snapshot(db: sqlite3.Connection) -> Iterator[None]:
    """Within this, all questions are answered from one state, whatever others write meanwhile."""
    if db.in_transaction:
        yield
        return
    db.execute("BEGIN")
    try:
        yield
    finally:
        if db.in_transaction:
            db.execute("ROLLBACK")


@contextmanager
def naming_damage() -> Iterator[None]:
    """Within this, a damaged schema is an error of SQLite like all other damage. SQLite quotes the
    damaged bytes in its message, and where these are not text, Python complains of that instead."""
    try:
        yield
    except UnicodeDecodeError as error:
        damage = sqlite3.DatabaseError("malformed database schema")
        damage.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
        raise damage from error


def make(db: sqlite3.Connection, tables: str) -> None:
    """Make the tables; call it in a transaction."""
    for statement in tables.split(";\n"):
        db.execute(statement)


def is_busy(error: Exception) -> bool:
    """Whether the database is merely locked by another connection."""
    return _code(error) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def is_damaged(error: Exception) -> bool:
    """Whether the file itself is the trouble."""
    return _code(error) in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def is_unwritable(error: Exception) -> bool:
    """Whether the disk, and not the file, is the trouble."""
    refusals = sqlite3.SQLITE_READONLY, sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR
    return _code(error) in (*refusals, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM)


def _code(error: Exception) -> int:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF  # the extended codes hold the plain one


def _open(path: str, schema: Schema) -> sqlite3.Connection:
    try:  # with a mode that does not depend on the umask
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        # A file that is there is not opened: to close it would end the locks that other connections
        # of this process hold on it. The next process to close the database would then take itself
        # for the last one and delete the log that those connections go on writing to.
        if os.path.islink(path):
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path) from None
        if not os.access(path, os.R_OK | os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path) from None
    db = _connected(path, path, timeout=PATIENCE_MS / 1000)
    try:
        with naming_damage():
            _prepare(db, schema)
    except BaseException:
        db.close()
        raise
    return db


def _prepare(db: sqlite3.Connection, schema: Schema) -> None:
    # NORMAL may lose the last commits in a power cut and never corrupts: right for derived data.
    db.executescript("PRAGMA synchronous = NORMAL; PRAGMA secure_delete = ON")
    if _number(db, schema) == schema.number:
        return
    if db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
        _migrate(db, schema)
        return
    db.execute("PRAGMA journal_mode = WAL")
    with transaction(db):
        if _number(db, schema) < schema.number:  # else another process was quicker
            make(db, schema.tables)
            db.execute(f"PRAGMA user_version = {int(schema.number)}")


def _number(db: sqlite3.Connection, schema: Schema) -> int:
    """The number of the schema a database has, never one above the present."""
    found = int(db.execute("PRAGMA user_version").fetchone()[0])
    if found > schema.number:
        if schema.derived:
            raise sqlite3.DatabaseError(f"schema {found} is not {schema.number}")
        raise Incompatible(
            f"was written by a newer ltm (schema {found}, this one knows {schema.number})",
            "update ltm",
        )
    return found


def _migrate(db: sqlite3.Connection, schema: Schema) -> None:
    """Take a database from whatever schema it has to the present one, all the way or not at all."""
    with transaction(db):
        found = _number(db, schema)
        if found == schema.number:
            return  # another process was quicker
        if schema.derived:
            raise sqlite3.DatabaseError(f"schema {found} is not {schema.number}")
        try:
            for step in schema.migrations[max(found, 1) - 1 :]:
                if callable(step):
                    step(db)
                else:
                    make(db, step)
            with closing(empty(schema)) as present:
                missing = _columns(present) - _columns(db)
            if missing:
                raise sqlite3.DatabaseError(f"no column {min(missing)}")
        except DAMAGE as error:
            if is_damaged(error) or is_unwritable(error):
                raise
            if not found:
                raise sqlite3.DatabaseError("has tables of another program") from error
            raise Incompatible(
                f"cannot be brought from schema {found} to {schema.number}: {error}",
                "it is left as it is: report this, or move it away to begin another",
            ) from error
        db.execute(f"PRAGMA user_version = {int(schema.number)}")


def _columns(db: sqlite3.Connection) -> set[str]:
    tables = db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    return {f"{table}.{column}" for (table,) in tables for column in columns(db, table)}


def columns(db: sqlite3.Connection, table: str) -> list[str]:
    """The columns of a table; none where there is no such table."""
    return [row[0] for row in db.execute("SELECT name FROM pragma_table_info(?)", (table,))]


def add_columns(db: sqlite3.Connection, table: str, *added: str) -> None:
    """Add columns to a table, each as `name TYPE NOT NULL DEFAULT value`, if it lacks them."""
    known = columns(db, table)
    for column in added:
        if column.split()[0] not in known:
            db.execute(f"ALTER TABLE {table} ADD COLUMN {column}")


def copy(path: str, schema: Schema) -> sqlite3.Connection:
    """A database in memory, with what is at `path` if that can be read."""
    memory = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    try:
        with closing(sqlite3.connect(uri(path, READ_ONLY), uri=True)) as there:
            there.backup(memory)
        with naming_damage():
            _prepare(memory, schema)
    except sqlite3.Error:
        memory.close()
        return empty(schema)
    return memory


def empty(schema: Schema) -> sqlite3.Connection:
    """A database in memory that holds nothing yet."""
    memory = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    _prepare(memory, schema)
    return memory


def foreign(path: str, options: str = READ_ONLY) -> sqlite3.Connection:
    """A database that another program made, to read columns of its tables and nothing else.

    Its schema is that program's, or an attacker's: a view, a computed column or a default may ask
    for gigabytes, and what the schema's rows are called need not be what they make. So SQLite is
    told to run none of it: a statement that would is an error.
    """
    db = sqlite3.connect(uri(path, options), uri=True, isolation_level=None)
    db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST_ROW)
    db.setlimit(sqlite3.SQLITE_LIMIT_EXPR_DEPTH, 100)
    db.set_authorizer(_is_plain_reading)
    return db


def foreign_tables(db: sqlite3.Connection) -> list[str]:
    """The tables that are stored in such a database: no view, no virtual table."""
    stored = "SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0"
    return [row[0] for row in db.execute(stored)]


def foreign_columns(db: sqlite3.Connection, table: str) -> frozenset[str]:
    """The columns that are stored in such a table, and not computed."""
    return frozenset(row[1] for row in db.execute(f"PRAGMA table_info({quoted(table)})"))


def quoted(name: str) -> str:
    """A name as it stands in a statement, whatever characters it has."""
    escaped = name.replace('"', '""')
    return f'"{escaped}"'


def _is_plain_reading(
    action: int, first: str | None, second: str | None, base: str | None, inside: str | None
) -> int:
    """What SQLite asks before it prepares a step; `inside` is the view the step is part of."""
    if inside is None and action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ):
        return sqlite3.SQLITE_OK
    is_listing = action == sqlite3.SQLITE_PRAGMA and first == "table_info"
    return sqlite3.SQLITE_OK if is_listing else sqlite3.SQLITE_DENY


def uri(path: str, options: str) -> str:
    """A path as SQLite takes it together with options, such as `mode=ro`."""
    # Only these three mean something inside; `urllib.parse` would cost a hook ten milliseconds.
    for mark, escaped in (("%", "%25"), ("?", "%3f"), ("#", "%23")):
        path = path.replace(mark, escaped)
    return f"file:{path}?{options}"
