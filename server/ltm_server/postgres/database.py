"""Connections to PostgreSQL, each transaction as one person; its errors as errors of LTM.

A transaction of a person runs as the role `ltm_app`, which owns no table, and says who asks in
settings that end with it: so nothing of a person is left on a connection that another one gets,
also behind a pool that hands out connections by the transaction.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

import psycopg
from psycopg import errors
from psycopg.rows import TupleRow
from psycopg_pool import ConnectionPool, PoolTimeout

from ltm.errors import Busy, LtmError, NotFound, Refused, StorageFailed
from ltm.record import NamedTuple

VARIABLE = "LTM_DATABASE_URL"
FILE = "database-url"
"""A file in LTM's home with the address, readable by its owner only."""

Transaction: TypeAlias = psycopg.Connection[TupleRow]

_NUMBER = re.compile(r"\[Errno -?\d+\] ")
_PATIENCE = 10.0  # seconds to wait for a connection


class Person(NamedTuple):
    """The person on whose behalf a transaction runs."""

    tenant_id: str
    id: str
    name: str


def database_url(home: str) -> str:
    """The address of the database: from the environment, or a file of the person's own home."""
    if given := os.environ.get(VARIABLE, "").strip():
        return given
    path = os.path.join(home, FILE)
    hint = f"set {VARIABLE}, or write it into this file and type: chmod 600 '{path}'"
    try:
        with open(path, encoding="utf-8") as file:
            if stat.S_IMODE(os.fstat(file.fileno()).st_mode) & 0o077:
                raise Refused("can be read by others", path=path, hint=f"chmod 600 '{path}'")
            address = file.read().strip()
    except OSError as error:
        raise NotFound("there is no address of a database here", path=path, hint=hint) from error
    if not address:
        raise NotFound("names no database", path=path, hint=hint)
    return address


class Database:
    """A pool of connections to one database, opened when first needed."""

    def __init__(self, url: str, *, most: int = 10, patience: float = _PATIENCE) -> None:
        """`most` connections at a time; `patience` is how many seconds one is waited for."""
        self._url, self._wait = url, max(2, int(patience))
        self._pool = ConnectionPool(
            url,
            min_size=0,
            max_size=most,
            open=False,
            timeout=patience,
            reconnect_timeout=patience,
            kwargs={"connect_timeout": self._wait},
            check=ConnectionPool.check_connection,
        )
        self._vectors_schema: str | None = None

    def reach(self) -> None:
        """Connect once, apart from the pool, which would only say that it took too long."""
        try:
            psycopg.connect(self._url, connect_timeout=self._wait).close()
        except psycopg.Error as error:
            lines = str(error).partition(": ")[2].splitlines() or ["its address makes no sense"]
            raise StorageFailed(
                f"cannot reach the database: {_NUMBER.sub('', lines[0])}",
                hint=f"check its address in {VARIABLE}, and that it runs",
            ) from error

    @contextmanager
    def as_person(self, person: Person) -> Iterator[Transaction]:
        """One transaction of a person, who sees and does only what this person may."""
        with self._transaction() as db:
            _become(db, person.tenant_id, person.id)
            yield db

    @contextmanager
    def as_nobody(self) -> Iterator[Transaction]:
        """One transaction before it is known who asks: it sees no row."""
        with self._transaction() as db:
            _become(db, "", "")
            yield db

    @contextmanager
    def as_operator(self) -> Iterator[Transaction]:
        """One transaction as the login of the address itself, which owns the tables."""
        with self._transaction() as db:
            yield db

    def vectors_schema(self) -> str:
        """Where pgvector is, if it and the table of vectors are in the database; else ''."""
        if self._vectors_schema is None:
            with self.as_nobody() as db:
                row = db.execute(
                    "select n.nspname from pg_extension e"
                    " join pg_namespace n on n.oid = e.extnamespace"
                    " where e.extname = 'vector' and to_regclass('ltm.vector') is not null"
                ).fetchone()
            self._vectors_schema = str(row[0]) if row else ""
        return self._vectors_schema

    def close(self) -> None:
        """Close all connections."""
        self._pool.close()

    @contextmanager
    def _transaction(self) -> Iterator[Transaction]:
        self._pool.open()
        try:
            with self._pool.connection() as db:
                yield db
        except LtmError:
            raise
        except (psycopg.Error, PoolTimeout) as error:
            raise as_ltm_error(error) from error


def _become(db: Transaction, tenant_id: str, person_id: str) -> None:
    try:
        db.execute(
            "select set_config('role', 'ltm_app', true), set_config('ltm.tenant', %s, true),"
            " set_config('ltm.person', %s, true)",
            (tenant_id, person_id),
        )
    except errors.InvalidParameterValue as error:  # there is no such role
        raise _no_tables() from error
    except errors.InsufficientPrivilege as error:
        raise Refused(
            f"the login '{db.info.user}' of the database may not become ltm_app",
            hint=f'as its owner, in psql: grant ltm_app to "{db.info.user}"',
        ) from error


def _no_tables() -> Refused:
    return Refused(
        "the database has no tables of ltm yet",
        hint="on the server, type: ltm team create TEAM --owner PERSON",
    )


def as_ltm_error(error: Exception) -> LtmError:
    """What a person is told of an error of the database: never a row, a query or an address."""
    if isinstance(error, PoolTimeout):
        return Busy(
            "the database did not answer in time", hint="check that it runs, then try again"
        )
    if isinstance(error, errors.InsufficientPrivilege):
        return Refused("your role does not allow that", hint="ask an owner of the project")
    if isinstance(error, errors.DeadlockDetected | errors.SerializationFailure):
        return Busy("others changed the same memories at this moment", hint="try again")
    if isinstance(error, errors.UndefinedTable | errors.InvalidSchemaName | errors.UndefinedObject):
        return _no_tables()
    if isinstance(error, errors.UniqueViolation):
        return Refused("this name is taken", hint="choose another name")
    if isinstance(error, psycopg.OperationalError | psycopg.InterfaceError):
        return StorageFailed(
            "the connection to the database was lost", hint="check that it runs, then try again"
        )
    state = getattr(error, "sqlstate", None) or type(error).__name__
    return StorageFailed(
        f"the database refused a statement ({state})", hint="see the database's log"
    )


def is_passing(error: BaseException | None) -> bool:
    """Whether the same transaction may succeed if it is tried again: nothing of it was kept."""
    return isinstance(error, errors.DeadlockDetected | errors.SerializationFailure)


def one(row: TupleRow | None) -> Any:
    """The single value of a row that must be there."""
    assert row is not None
    return row[0]
