"""Tenants, people, projects, who may do what in them, tokens, and the record of what was done.

A person sees the projects they are a member of and no others: a project that is not theirs is not
found, as if there were none. Tenants, people and tokens of others are made by the operator, who
has the database's own login. Each of these questions names what it asks for, so none depends on
row-level security, and row-level security depends on none of them.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from psycopg.types.json import Jsonb

from ltm.errors import NotFound, Refused, WrongUsage
from ltm.record import NamedTuple
from ltm_server.postgres.database import Database, Person, Transaction, one

ROLES = ("reader", "writer", "curator", "owner")
"""Each may do what those before it may."""

TOKEN_PREFIX = "ltm_"  # noqa: S105 (secret scanners know tokens by it)
NO_PROJECT = "00000000-0000-0000-0000-000000000000"
"""The project of what concerns a whole tenant."""

_HOLDS = ("tools", "agent", "all")


class TeamProject(NamedTuple):
    """A project of a tenant, and the role in it of who asked; '' for the operator."""

    tenant_id: str
    id: str
    slug: str
    remote: str
    hold: str
    role: str


class Member(NamedTuple):
    """A person in a project."""

    person_id: str
    name: str
    role: str


class Account(NamedTuple):
    """A person as the operator sees them."""

    person: Person
    email: str
    issuer: str
    subject: str
    disabled: bool


class Token(NamedTuple):
    """What is known of a token; the token itself is not."""

    id: str
    person_id: str
    label: str
    created: datetime
    expires: datetime
    revoked: datetime | None


class AuditLine(NamedTuple):
    """One thing that was done."""

    at: datetime
    person: str
    client: str
    what: str
    project: str
    id: str
    detail: Mapping[str, Any]


def at_least(role: str, least: str) -> bool:
    """Whether a role may do what another one may."""
    return role in ROLES and ROLES.index(role) >= ROLES.index(least)


def note(
    db: Transaction,
    tenant_id: str,
    project_id: str,
    person: Person | None,
    what: str,
    *,
    memory_id: str = "",
    client: str = "",
    detail: Mapping[str, Any] | None = None,
) -> None:
    """Write a line into the audit log, in the transaction that makes the change."""
    db.execute(
        "insert into ltm.audit (tenant_id, project_id, person_id, client, what, id, detail)"
        " values (%s, %s, %s, %s, %s, %s, %s)",
        (
            tenant_id,
            project_id,
            person.id if person else None,
            client,
            what,
            memory_id,
            Jsonb(dict(detail or {})),
        ),
    )


class People:
    """Questions and changes about people, by one of them or, without a person, by the operator."""

    def __init__(self, database: Database, person: Person | None = None) -> None:
        self._database = database
        self._person = person

    @contextmanager
    def _asking(self) -> Iterator[Transaction]:
        if self._person is None:
            with self._database.as_operator() as db:
                yield db
        else:
            with self._database.as_person(self._person) as db:
                yield db

    def _only_operator(self, what: str) -> None:
        if self._person is not None:
            raise Refused(
                f"only the operator of the server {what}", hint="type it on the server itself"
            )

    # -- who is it -------------------------------------------------------------------------------

    def by_token(self, token: str) -> Person | None:
        """The person a token stands for; None if it is unknown, over, or taken back."""
        if not token.startswith(TOKEN_PREFIX):
            return None
        with self._database.as_nobody() as db:
            row = db.execute(
                "select tenant_id::text, id::text, name from ltm.person_by_token(%s)",
                (_hash(token),),
            ).fetchone()
        return Person(*row) if row else None

    def by_subject(self, issuer: str, subject: str) -> Person | None:
        """The person an identity provider means; None if that is not a person here."""
        with self._database.as_nobody() as db:
            row = db.execute(
                "select tenant_id::text, id::text, name from ltm.person_by_subject(%s, %s)",
                (issuer, subject),
            ).fetchone()
        return Person(*row) if row else None

    # -- tenants and people ----------------------------------------------------------------------

    def create_tenant(self, name: str) -> str:
        """A new tenant; its id."""
        self._only_operator("makes tenants")
        with self._asking() as db:
            query = "insert into ltm.tenant (name) values (%s) returning id::text"
            tenant_id = str(one(db.execute(query, (name,)).fetchone()))
            note(db, tenant_id, NO_PROJECT, None, "tenant created", detail={"name": name})
        return tenant_id

    def tenant(self, name: str = "") -> str:
        """The id of a tenant; without a name, of the only one there is."""
        with self._asking() as db:
            rows = db.execute(
                "select id::text, name from ltm.tenant"
                " where name = %(name)s or %(name)s = '' order by name",
                {"name": name},
            ).fetchall()
        if len(rows) > 1:
            names = ", ".join(row[1] for row in rows)
            raise WrongUsage(f"there are several teams: {names}", hint="name one: --team TEAM")
        if not rows:
            raise NotFound(
                f"there is no team '{name}'" if name else "there is no team yet",
                hint="on the server, type: ltm team create NAME",
            )
        return str(rows[0][0])

    def tenants(self) -> list[tuple[str, str]]:
        """The id and the name of every tenant."""
        self._only_operator("lists tenants")
        with self._asking() as db:
            return list(db.execute("select id::text, name from ltm.tenant order by name"))

    def add_person(
        self, tenant_id: str, name: str, *, email: str = "", issuer: str = "", subject: str = ""
    ) -> Person:
        """A new person; without an identity provider they come with tokens only."""
        self._only_operator("adds people")
        issuer = issuer or f"urn:ltm:{tenant_id}"
        with self._asking() as db:
            query = (
                "insert into ltm.person (tenant_id, name, email, issuer, subject)"
                " values (%s, %s, %s, %s, %s) returning id::text"
            )
            values = (tenant_id, name, email, issuer, subject or name)
            person_id = str(one(db.execute(query, values).fetchone()))
            person = Person(tenant_id, person_id, name)
            self._note(db, person, "person added", {"person": person_id, "name": name})
        return person

    def identify(self, person: Person, issuer: str, subject: str) -> None:
        """Say who a person is to an identity provider."""
        self._only_operator("says who people are")
        with self._asking() as db:
            db.execute(
                "update ltm.person set issuer = %s, subject = %s where tenant_id = %s and id = %s",
                (issuer, subject, person.tenant_id, person.id),
            )
            detail = {"person": person.id, "name": f"{subject} of {issuer}"}
            self._note(db, person, "identity set", detail)

    def people(self, tenant_id: str) -> list[Account]:
        """All people of a tenant."""
        self._check_tenant(tenant_id)
        with self._asking() as db:
            rows = db.execute(
                "select tenant_id::text, id::text, name, email, issuer, subject,"
                " disabled is not null from ltm.person where tenant_id = %s order by name",
                (tenant_id,),
            ).fetchall()
        return [Account(Person(*row[:3]), *row[3:]) for row in rows]

    def person(self, tenant_id: str, name: str) -> Person:
        """The person of a name."""
        for each in self.people(tenant_id):
            if each.person.name == name:
                return each.person
        raise NotFound(f"there is no person '{name}'", hint="list them with: ltm team project")

    def disable(self, person: Person, *, disabled: bool = True) -> None:
        """End everything a person may do, at once, or let them in again."""
        self._only_operator("disables people")
        with self._asking() as db:
            db.execute(
                "update ltm.person set disabled = case when %s then now() end"
                " where tenant_id = %s and id = %s",
                (disabled, person.tenant_id, person.id),
            )
            what = "person disabled" if disabled else "person enabled"
            self._note(db, person, what, {"person": person.id})

    def _check_tenant(self, tenant_id: str) -> None:
        if self._person is not None and self._person.tenant_id != tenant_id:
            raise NotFound("there is no such tenant", hint="ask the operator of the server")

    # -- projects --------------------------------------------------------------------------------

    def create_project(self, tenant_id: str, slug: str, remote: str = "") -> TeamProject:
        """A new project; it belongs to who made it."""
        self._check_tenant(tenant_id)
        person = self._person
        with self._asking() as db:
            if person is None:
                query = (
                    "insert into ltm.project (tenant_id, slug, remote) values (%s, %s, %s)"
                    " returning id::text"
                )
                made = db.execute(query, (tenant_id, slug, remote)).fetchone()
            else:
                _check_owner_somewhere(db, person)
                made = db.execute("select ltm.new_project(%s, %s)::text", (slug, remote)).fetchone()
            project_id = str(one(made))
            note(db, tenant_id, project_id, person, "project created", detail={"slug": slug})
        role = "owner" if person else ""
        return TeamProject(tenant_id, project_id, slug, remote, _HOLDS[0], role)

    def projects(self, tenant_id: str) -> list[TeamProject]:
        """The projects of who asks; all of them for the operator."""
        self._check_tenant(tenant_id)
        with self._asking() as db:
            if self._person is None:
                rows = db.execute(
                    "select tenant_id::text, id::text, slug, remote, hold, '' from ltm.project"
                    " where tenant_id = %s order by slug",
                    (tenant_id,),
                ).fetchall()
            else:
                rows = db.execute(
                    "select p.tenant_id::text, p.id::text, p.slug, p.remote, p.hold, m.role"
                    " from ltm.member m join ltm.project p"
                    " on p.tenant_id = m.tenant_id and p.id = m.project_id"
                    " join ltm.person who on who.tenant_id = m.tenant_id and who.id = m.person_id"
                    " where m.tenant_id = %s and m.person_id = %s and who.disabled is null"
                    " order by p.slug",
                    (tenant_id, self._person.id),
                ).fetchall()
        return [TeamProject(*row) for row in rows]

    def project(self, tenant_id: str, slug: str) -> TeamProject:
        """The project of a name; one that is not theirs is not there for a person."""
        for each in self.projects(tenant_id):
            if each.slug == slug:
                return each
        if self._person is None:
            raise NotFound(f"there is no project '{slug}'", hint="list all: ltm team project")
        raise NotFound(
            f"there is no project '{slug}' for you", hint="list yours with: ltm team projects"
        )

    def hold(self, project: TeamProject, whose: str) -> None:
        """Set whose memories wait for a curator in a project."""
        if whose not in _HOLDS:
            raise WrongUsage(f"'{whose}' is not known", hint=f"use one of: {', '.join(_HOLDS)}")
        with self._asking() as db:
            self._check_owner(db, project)
            db.execute(
                "update ltm.project set hold = %s where tenant_id = %s and id = %s",
                (whose, project.tenant_id, project.id),
            )
            detail = {"hold": whose}
            note(db, project.tenant_id, project.id, self._person, "hold set", detail=detail)

    # -- members ---------------------------------------------------------------------------------

    def members(self, project: TeamProject) -> list[Member]:
        """Who may do what in a project; every member sees it."""
        with self._asking() as db:
            self._check_role(db, project, "reader")
            rows = db.execute(
                "select m.person_id::text, p.name, m.role from ltm.member m join ltm.person p"
                " on p.tenant_id = m.tenant_id and p.id = m.person_id"
                " where m.tenant_id = %s and m.project_id = %s order by p.name",
                (project.tenant_id, project.id),
            ).fetchall()
        return [Member(*row) for row in rows]

    def set_role(self, project: TeamProject, person_id: str, role: str) -> None:
        """Give a person of the tenant a role in a project; '' takes them out."""
        if role and role not in ROLES:
            raise WrongUsage(f"'{role}' is not a role", hint=f"use one of: {', '.join(ROLES)}")
        key = (project.tenant_id, project.id, person_id)
        with self._asking() as db:
            self._check_owner(db, project)
            if role:
                db.execute(
                    "insert into ltm.member (tenant_id, project_id, person_id, role)"
                    " values (%s, %s, %s, %s) on conflict (tenant_id, project_id, person_id)"
                    " do update set role = excluded.role",
                    (*key, role),
                )
            else:
                db.execute(
                    "delete from ltm.member"
                    " where tenant_id = %s and project_id = %s and person_id = %s",
                    key,
                )
            detail = {"person": person_id, "role": role}
            note(db, project.tenant_id, project.id, self._person, "role set", detail=detail)

    def _check_owner(self, db: Transaction, project: TeamProject) -> None:
        self._check_role(db, project, "owner")

    def _check_role(self, db: Transaction, project: TeamProject, least: str) -> None:
        if self._person is not None:
            check_role(db, self._person, project, least)

    # -- tokens ----------------------------------------------------------------------------------

    def create_token(self, person: Person, *, days: int = 90, label: str = "") -> str:
        """A new token of a person, to be shown once; only its hash is kept."""
        self._check_self(person)
        token = TOKEN_PREFIX + secrets.token_urlsafe(32)
        with self._asking() as db:
            db.execute(
                "insert into ltm.token (tenant_id, person_id, hash, label, expires)"
                " values (%s, %s, %s, %s, now() + make_interval(days => %s))",
                (person.tenant_id, person.id, _hash(token), label, days),
            )
            detail = {"person": person.id, "label": label, "days": days}
            self._note(db, person, "token created", detail)
        return token

    def tokens(self, person: Person) -> list[Token]:
        """What tokens a person has, or had."""
        self._check_self(person)
        with self._asking() as db:
            rows = db.execute(
                "select id::text, person_id::text, label, created, expires, revoked from ltm.token"
                " where tenant_id = %s and person_id = %s order by created",
                (person.tenant_id, person.id),
            ).fetchall()
        return [Token(*row) for row in rows]

    def revoke_token(self, person: Person, token_id: str) -> None:
        """Take a token of a person back, at once."""
        self._check_self(person)
        with self._asking() as db:
            done = db.execute(
                "update ltm.token set revoked = now() where tenant_id = %s and person_id = %s"
                " and id::text = %s and revoked is null",
                (person.tenant_id, person.id, token_id),
            )
            if not done.rowcount:
                raise NotFound(
                    f"{person.name} has no token '{token_id}' in use",
                    hint=f"list them with: ltm team token {person.name}",
                )
            self._note(db, person, "token revoked", {"token": token_id})

    def _note(self, db: Transaction, of: Person, what: str, detail: Mapping[str, Any]) -> None:
        note(db, of.tenant_id, NO_PROJECT, self._person, what, detail=detail)

    def _check_self(self, person: Person) -> None:
        if self._person is not None and self._person != person:
            self._only_operator("has to do with the tokens of others")

    # -- the record ------------------------------------------------------------------------------

    def audit(self, project: TeamProject, limit: int = 100) -> list[AuditLine]:
        """What was done in a project, newest first; curators and owners see it. The operator sees
        what was done about the people of its tenant too."""
        places = [project.id, NO_PROJECT] if self._person is None else [project.id]
        with self._asking() as db:
            self._check_role(db, project, "curator")
            rows = db.execute(
                "select a.at, coalesce(p.name, ''), a.client, a.what, a.project_id::text, a.id,"
                " a.detail from ltm.audit a left join ltm.person p"
                " on p.tenant_id = a.tenant_id and p.id = a.person_id"
                " where a.tenant_id = %s and a.project_id = any(%s::uuid[])"
                " order by a.at desc, a.number limit %s",
                (project.tenant_id, places, limit),
            ).fetchall()
        return [AuditLine(*row) for row in rows]


def check_role(db: Transaction, person: Person, project: TeamProject, least: str) -> TeamProject:
    """The project as it is now, with the role the person has in it; refused if that is less, not
    found if there is none."""
    row = db.execute(
        "select m.role, j.remote, j.hold from ltm.member m join ltm.person p"
        " on p.tenant_id = m.tenant_id and p.id = m.person_id join ltm.project j"
        " on j.tenant_id = m.tenant_id and j.id = m.project_id"
        " where m.tenant_id = %s and m.project_id = %s and m.person_id = %s"
        " and p.tenant_id = %s and p.disabled is null",
        (project.tenant_id, project.id, person.id, person.tenant_id),
    ).fetchone()
    if row is None:
        raise NotFound("there is no such project for you", hint="ask one of its owners")
    role, remote, hold = row
    if not at_least(role, least):
        raise Refused(
            f"that needs the role {least}, and you are a {role} of {project.slug}",
            hint="ask one of its owners",
        )
    return project._replace(role=role, remote=remote, hold=hold)


def _check_owner_somewhere(db: Transaction, person: Person) -> None:
    row = db.execute(
        "select count(*) from ltm.member where tenant_id = %s and person_id = %s"
        " and role = 'owner'",
        (person.tenant_id, person.id),
    ).fetchone()
    if not one(row):
        raise Refused(
            "only people who own a project make another", hint="ask the operator of the server"
        )


def _hash(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()
