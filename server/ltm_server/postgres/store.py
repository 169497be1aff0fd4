"""The memories of one project of a team, as a store: what a person may see and do of them.

Each question and each change is a transaction of its own, which first asks the database what the
person may do in the project at this moment: so a person who is taken out is out at once.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import datetime
from typing import Any, TypeVar

from ltm.config.config import Config
from ltm.decisions import Add, Applied, Decision, Forget, Purge, Revise
from ltm.errors import Busy, NotFound, Refused
from ltm.kinds import Kinds
from ltm.model import Filter, Memory, Page, Problem, Stored, Trust, Usage, from_record, now
from ltm.project.layout import Places
from ltm.store.open import HOLDS
from ltm.store.store import Matches, Version
from ltm.vault import codec
from ltm_server.postgres.apply import RowChanges
from ltm_server.postgres.database import (
    Database,
    Person,
    Transaction,
    database_url,
    is_passing,
    one,
)
from ltm_server.postgres.migration import check
from ltm_server.postgres.people import ROLES, People, TeamProject, at_least, check_role
from ltm_server.postgres.search import Lookup
from ltm_server.postgres.vectors import ProjectVectors

_T = TypeVar("_T")
_TRIES = 5  # of a transaction that others got in the way of

TOKEN_VARIABLE = "LTM_TEAM_TOKEN"  # noqa: S105 (its name, not a token)


class PostgresStore:
    """A project's memories as one person sees them (the methods are those of `store.Store`)."""

    def __init__(
        self,
        database: Database,
        person: Person,
        project: TeamProject,
        kinds: Kinds | None = None,
        *,
        clock: Callable[[], datetime] = now,
        client: str = "",
        owns: bool = False,
        most: str = "owner",
        restoring: bool = False,
    ) -> None:
        """`client` is the program that asks, for the record of what was done; `owns` says that
        nothing else uses the database. Whatever the person's role is, they do no more here than
        the role `most` may. With `restoring` the operator puts back what a backup holds, and
        nothing of it waits for a curator once more."""
        self.kinds = kinds or Kinds()
        self.hold: Collection[Trust] = HOLDS[project.hold]
        self.person = person
        self.project = project
        self._database = database
        self._clock = clock
        self._client = client
        self._owns = owns
        self._most = most
        self._restoring = restoring
        self._here = {"tenant": project.tenant_id, "project": project.id, "person": person.id}

    # -- reading ---------------------------------------------------------------------------------

    def read(self, memory_id: str) -> Stored:
        with self.asking() as db:
            return self._lookup(db).find(memory_id).stored(self.project.slug)

    def list(self, wanted: Filter, limit: int | None = None, offset: int = 0) -> Page:
        with self.asking() as db:
            return Page(*self._lookup(db).page(wanted, limit, offset))

    def every(self, wanted: Filter) -> Iterator[Stored]:
        last = ""
        while True:
            with self.asking() as db:
                page = self._lookup(db).after(last, wanted)
            yield from page
            if not page:
                return
            last = page[-1].memory.id

    def search(self, query: str, wanted: Filter, limit: int) -> Matches:
        with self.asking() as db:
            return self._lookup(db).search(query, wanted, limit)

    def is_purged(self, memory_id: str) -> bool:
        """Whether a memory of this id was purged, and does not come back."""
        with self.asking() as db:
            return self._lookup(db).is_purged(memory_id)

    def in_a_row(self) -> AbstractContextManager[None]:
        return nullcontext()  # each question sees what is kept at its moment, as always

    def versions(self, memory_id: str) -> Sequence[Version]:
        with self.asking() as db:
            name = self._lookup(db).find(memory_id).memory.id
        return self.histories([name]).get(name, ())

    def histories(self, ids: Collection[str]) -> Mapping[str, Sequence[Version]]:
        found: dict[str, list[Version]] = {}
        with self.asking() as db:
            for name, version, tag, record in self._lookup(db).versions(list(ids)):
                path = f"{self.project.slug}/{name}.v{version}.{tag[:12]}.md"
                found.setdefault(name, []).append(Version(version, path, from_record(record)))
        return found

    def problems(self) -> Sequence[Problem]:
        return ()  # every row was a memory when it was written, and rows are not edited by hand

    def counts(self) -> Sequence[tuple[str, str, str, int, int]]:
        with self.asking() as db:
            return self._lookup(db).counts()

    def vectors(
        self, model: str, dimensions: int, *, teams: bool = False
    ) -> Sequence[ProjectVectors]:
        """The vectors a model made of the memories; none where the database has no pgvector."""
        schema = self._database.vectors_schema()
        name = f"{model}/{dimensions}"
        return [ProjectVectors(self.asking, self.project, name, schema)] if schema else []

    # -- usage -----------------------------------------------------------------------------------

    def usage(self, ids: Iterable[str]) -> dict[str, Usage]:
        with self.asking() as db:
            rows = db.execute(
                "select u.id, u.uses, u.uses_then, u.last_used, u.marked,"
                " count(a.at) filter (where a.at <= u.marked),"
                " count(a.at) filter (where a.at > u.marked),"
                " count(distinct a.day) filter (where a.day > u.idle_from),"
                " count(distinct a.day) filter (where a.day > u.first_day)"
                " from ltm.usage u left join ltm.activity a"
                " on a.tenant_id = u.tenant_id and a.project_id = u.project_id"
                " where u.tenant_id = %(tenant)s and u.project_id = %(project)s"
                " and u.id = any(%(ids)s)"
                " group by u.id, u.uses, u.uses_then, u.last_used, u.marked",
                self._here | {"ids": list(ids)},
            )
            return {
                name: Usage(uses, session, last_used, uses - then, since, idle, known)
                for name, uses, then, last_used, _, session, since, idle, known in rows
            }

    def used_again(self) -> Collection[str]:
        with self.asking() as db:
            rows = db.execute(
                "select id from ltm.usage where tenant_id = %(tenant)s and project_id = %(project)s"
                " and uses > uses_then",
                self._here,
            )
            return [row[0] for row in rows]

    def used(self, ids: Iterable[str]) -> None:
        self._note(
            ids,
            1,
            "do update set uses = usage.uses + 1, last_used = excluded.last_used,"
            " marked = excluded.marked, idle_from = excluded.idle_from",
        )

    def seen(self, ids: Iterable[str]) -> None:
        self._note(ids, 0, "do nothing")

    def _note(self, ids: Iterable[str], uses: int, change: str) -> None:
        at = self._clock()
        values = self._here | {"ids": sorted(set(ids)), "at": at, "uses": uses}
        with self.asking() as db:
            if uses:
                db.execute(
                    "insert into ltm.activity (tenant_id, project_id, person_id, day, at)"
                    " values (%(tenant)s, %(project)s, %(person)s, %(at)s::date, %(at)s)"
                    " on conflict (tenant_id, project_id, person_id, day) do nothing",
                    values,
                )
            db.execute(
                "insert into ltm.usage (tenant_id, project_id, id, uses, uses_then, last_used,"
                " marked, idle_from, first_day)"
                " select %(tenant)s, %(project)s, name, %(uses)s, 0,"
                " case when %(uses)s > 0 then %(at)s::timestamptz end, %(at)s, %(at)s::date,"
                " %(at)s::date from unnest(%(ids)s::text[]) as name"
                f" on conflict (tenant_id, project_id, id) {change}",
                values,
            )

    def sessions(self) -> int:
        with self.asking() as db:
            return self._sessions(db)

    def _sessions(self, db: Transaction) -> int:
        row = db.execute(
            "select count(*) from ltm.activity"
            " where tenant_id = %(tenant)s and project_id = %(project)s",
            self._here,
        ).fetchone()
        return int(one(row))

    def active_days_since(self, moment: datetime) -> int:
        with self.asking() as db:
            row = db.execute(
                "select count(distinct day) from ltm.activity"
                " where tenant_id = %(tenant)s and project_id = %(project)s"
                " and day > %(moment)s::date",
                self._here | {"moment": moment},
            ).fetchone()
            return int(one(row))

    def batch_taken(self, vault: str) -> bool:
        with self.asking() as db:
            row = db.execute(
                "select count(*) from ltm.batch where tenant_id = %(tenant)s"
                " and project_id = %(project)s and vault = %(vault)s and sessions = %(sessions)s",
                self._here | {"vault": vault, "sessions": self._sessions(db)},
            ).fetchone()
            return bool(one(row))

    def take_batch(self, vault: str) -> None:
        with self.asking("writer") as db:
            db.execute(
                "insert into ltm.batch (tenant_id, project_id, vault, sessions)"
                " values (%(tenant)s, %(project)s, %(vault)s, %(sessions)s)"
                " on conflict (tenant_id, project_id, vault)"
                " do update set sessions = excluded.sessions",
                self._here | {"vault": vault, "sessions": self._sessions(db)},
            )

    def close(self) -> None:
        if self._owns:
            self._database.close()

    # -- changing --------------------------------------------------------------------------------

    def create(self, memory: Memory) -> Stored:
        return self.apply(Add(memory)).stored

    def update(self, memory_id: str, changes: Mapping[str, Any], expected: str = "") -> Stored:
        return self.apply(Revise(memory_id, changes, expected)).stored

    def delete(self, memory_id: str, *, purge: bool = False) -> None:
        self.apply(Purge(memory_id) if purge else Forget(memory_id))

    def apply(self, decision: Decision) -> Applied:
        return self.changing(lambda db: self.work(db).apply(decision))

    def changing(self, change: Callable[[Transaction], _T]) -> _T:
        """Make a change in a transaction of a person who may write, and return its result.

        It is tried again if another transaction was in its way.
        """
        for left in reversed(range(_TRIES)):
            try:
                with self.asking("writer") as db:
                    return change(db)
            except Busy as error:
                if not left or not is_passing(error.__cause__):
                    raise
        raise AssertionError("unreachable")

    # -- transactions ----------------------------------------------------------------------------

    @contextmanager
    def asking(self, least: str = "reader") -> Iterator[Transaction]:
        """A transaction of the person, who has at least a role in the project."""
        database = self._database
        begun = database.as_operator() if self._restoring else database.as_person(self.person)
        with begun as db:
            found = check_role(db, self.person, self.project, least)
            role = min(found.role, self._most, key=ROLES.index)
            if not at_least(role, least):
                raise Refused(f"here you do no more than a {role} may")
            self.project = found._replace(role=role)
            yield db

    def work(
        self,
        db: Transaction,
        bases: Mapping[str, str] | None = None,
        before: Memory | None = None,
    ) -> RowChanges:
        """What a decision is applied with, within a transaction; the rest as for `RowChanges`."""
        return RowChanges(
            db,
            self.project,
            self.person,
            self.kinds,
            self._clock(),
            held=() if self._restoring else HOLDS[self.project.hold],
            client=self._client,
            bases=bases,
            before=before,
        )

    def _lookup(self, db: Transaction) -> Lookup:
        return Lookup(db, self.project)


def open_postgres(places: Places, config: Config) -> PostgresStore:
    """The store of the project of a folder, for the person whose token this machine has.

    This is the entry point `ltm.stores: postgres`, for a server that works on the database
    directly. The project is the one with the folder's remote, else the one with its name.
    """
    token = os.environ.get(TOKEN_VARIABLE, "").strip()
    database = Database(database_url(places.home), most=4)
    check(database)
    person = People(database).by_token(token)
    if person is None:
        raise Refused(
            f"{TOKEN_VARIABLE} holds no token of a person of this database",
            hint="on the server, type: ltm team token PERSON --new",
        )
    projects = People(database, person).projects(person.tenant_id)
    mine = places.project
    found = [each for each in projects if mine.remote and each.remote == mine.remote]
    found += [each for each in projects if each.slug == codec.slug(mine.name)]
    if not found:
        raise NotFound(
            f"the team has no project '{codec.slug(mine.name)}' for you",
            hint="ask one of its owners, or go back to files: ltm config store files",
        )
    return PostgresStore(database, person, found[0], config.kinds, client="ltm", owns=True)
