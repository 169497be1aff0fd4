"""The schema of the database: numbered SQL files, applied once each, in order, forward only.

Each file runs in a transaction of its own, together with the line that says it was applied. Two
servers that start at once do not meet: the first holds a lock until it is done. The table of
vectors has no number: it needs pgvector, which a database may get at any time, or never.
"""

from __future__ import annotations

import re
from importlib import resources

from psycopg import errors

from ltm.errors import Refused
from ltm.record import NamedTuple
from ltm_server.postgres.database import Database, Transaction, one

OLDEST = 150_000
"""PostgreSQL 15, as its `server_version_num`."""

_NAME = re.compile(r"(\d{4})_([a-z_]+)\.sql\Z")
_FILES = resources.files("ltm_server.postgres").joinpath("migrations")
_VECTORS = "vectors.sql"
_LOCK = 5_071_815  # any number that no other use of the database takes
_BEGIN = """
do $$ begin
  if not exists (select from pg_roles where rolname = 'ltm_app') then
    create role ltm_app nologin;
  end if;
exception when duplicate_object or unique_violation then null;
end $$;
do $$ begin
  set local role ltm_app;
  reset role;
exception when insufficient_privilege then
  execute format('grant ltm_app to %I', current_user);
end $$;
create schema if not exists ltm;
create table if not exists ltm.schema_version (
  version integer primary key, name text not null, applied timestamptz not null default now());
"""


class SchemaStep(NamedTuple):
    """One step of the schema."""

    number: int
    name: str
    sql: str


def migrations() -> list[SchemaStep]:
    """Every step, in order."""
    found = []
    for file in _FILES.iterdir():
        if match := _NAME.match(file.name):
            text = file.read_text(encoding="utf-8")
            found.append(SchemaStep(int(match[1]), match[2], text))
    return sorted(found)


def migrate(database: Database) -> list[str]:
    """Bring the schema up to date as its owner; the names of the steps that were missing."""
    with database.as_operator() as db:
        _check_server(db)
        db.execute("select pg_advisory_xact_lock(%s)", (_LOCK,))
        try:
            db.execute(_BEGIN)
        except errors.InsufficientPrivilege as error:
            login = db.info.user
            raise Refused(
                f"the login '{login}' may not prepare this database: {error.diag.message_primary}",
                hint="as a superuser, in psql: create role ltm_app nologin;"
                f' grant ltm_app to "{login}"; and make it the owner of the database',
            ) from error
    done = []
    for each in migrations():
        with database.as_operator() as db:
            db.execute("select pg_advisory_xact_lock(%s)", (_LOCK,))
            current = version(db)
            _check_not_newer(current)
            if each.number > current:
                db.execute(each.sql)
                db.execute(
                    "insert into ltm.schema_version (version, name) values (%s, %s)",
                    (each.number, each.name),
                )
                done.append(each.name)
    with database.as_operator() as db:
        db.execute("select pg_advisory_xact_lock(%s)", (_LOCK,))
        if _lacks_vectors(db):
            db.execute(_FILES.joinpath(_VECTORS).read_text(encoding="utf-8"))
            done.append("vectors")
    return done


def _lacks_vectors(db: Transaction) -> bool:
    """Whether pgvector is here, and the table of vectors is not; pgvector is added where the owner
    may do that."""
    try:
        with db.transaction():
            db.execute("create extension if not exists vector")
    except (errors.FeatureNotSupported, errors.UndefinedFile, errors.InsufficientPrivilege):
        return False  # memories are found by their words
    missing = "select to_regtype('halfvec') is not null and to_regclass('ltm.vector') is null"
    return bool(one(db.execute(missing).fetchone()))


def check(database: Database) -> None:
    """Refuse a database whose schema is not the one this version of ltm knows."""
    with database.as_nobody() as db:
        _check_server(db)
        current = version(db)
    _check_not_newer(current)
    if current < (needed := migrations()[-1].number):
        raise Refused(
            f"the schema of the database is {current}, and this ltm needs {needed}",
            hint="bring it up to date, with the address of its owner: ltm team migrate",
        )


def owner_instead(database: Database) -> str:
    """Who owns the tables, if the login of the address does not, and so sees no line of them."""
    with database.as_operator() as db:
        row = db.execute(
            "select pg_get_userbyid(nspowner) from pg_namespace"
            " where nspname = 'ltm' and not pg_has_role(nspowner, 'usage')"
        ).fetchone()
    return str(row[0]) if row else ""


def version(db: Transaction) -> int:
    """The number of the newest step that was applied."""
    found = db.execute("select coalesce(max(version), 0) from ltm.schema_version").fetchone()
    return int(one(found))


def _check_server(db: Transaction) -> None:
    number = db.info.server_version
    if number < OLDEST:
        raise Refused(
            f"this is PostgreSQL {number // 10_000}, and ltm needs {OLDEST // 10_000} or newer",
            hint="update the database server",
        )
    if (encoding := db.info.parameter_status("server_encoding")) != "UTF8":
        raise Refused(
            f"the database keeps texts as {encoding}, and ltm needs UTF8",
            hint="make another one: create database ltm encoding 'UTF8' template template0",
        )


def _check_not_newer(current: int) -> None:
    newest = migrations()[-1].number
    if current > newest:
        raise Refused(
            f"a newer ltm made this schema: it is {current}, and this ltm knows {newest}",
            hint="update ltm on this machine",
        )
