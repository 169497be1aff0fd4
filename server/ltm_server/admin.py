"""The part of `ltm team` for those who run a team's server, next to its database.

Loaded when one of its commands is called, because it needs the packages of the extra `team`.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import wraps
from typing import Any

import click

from ltm.cli import output
from ltm.cli.command import Number
from ltm.errors import NotFound, Refused, WrongUsage
from ltm.model import iso, now
from ltm.project.home import home
from ltm.team.teams import MAIN
from ltm.text.display import counted
from ltm_server.app import TeamSettings, serve
from ltm_server.bearer import (
    IntrospectedTokens,
    SignedTokens,
    TokenVerifier,
    checked_address,
    issuer_metadata,
)
from ltm_server.postgres import changes, migration
from ltm_server.postgres.database import VARIABLE, Database, Person, database_url
from ltm_server.postgres.people import ROLES, AuditLine, People, TeamProject

URL_VARIABLE = "LTM_TEAM_URL"
CLIENT_ID, CLIENT_SECRET = "LTM_OAUTH_CLIENT_ID", "LTM_OAUTH_CLIENT_SECRET"
_UNKNOWN = "https://YOUR-SERVER"
_IN_USE = "in use"
_DETAILS = ("name", "slug", "person", "role", "hold", "label")
_SLUG = re.compile(r"[a-z0-9][a-z0-9-]{0,62}\Z")


@contextmanager
def _database() -> Iterator[Database]:
    database = Database(database_url(home()))
    try:
        database.reach()
        if owner := migration.owner_instead(database):
            raise Refused(
                "this is the login of the server, which sees no team by itself",
                hint=f"give the address with the login '{owner}' in {VARIABLE}",
            )
        yield database
    finally:
        database.close()


def admin(name: str) -> Callable[[Callable[..., None]], click.Command]:
    """A command about the database: it gets a `People` as the operator, and has `--json`."""

    def make(function: Callable[..., None]) -> click.Command:
        @click.command(name)
        @click.option("--json", "as_json", is_flag=True, help="Print one JSON value.")
        @wraps(function)
        def call(**arguments: Any) -> None:
            with _database() as database:
                function(database, **arguments)

        return call

    return make


def team_option(function: Any) -> Any:
    """`--team`: which of the teams in the database."""
    help_text = "The team; the only one in the database if not given."
    return click.option("--team", metavar="TEAM", default="", help=help_text)(function)


def project_option(function: Any) -> Any:
    """`--in`: which of the team's projects."""
    return click.option(
        "--in", "slug", metavar="PROJECT", default=MAIN, show_default=True, help="The project."
    )(function)


def _slug(said: str, what: str) -> str:
    if not _SLUG.fullmatch(said):
        raise WrongUsage(
            f"'{said}' cannot be the name of a {what}",
            hint="use lower-case letters, digits and dashes: it is part of an address",
        )
    return said


def _person(name: str) -> None:
    if not name.strip() or not name.isprintable():
        raise WrongUsage("a person needs a name", hint="give a name or an e-mail address")


def _address(team: str, slug: str) -> str:
    top = os.environ.get(URL_VARIABLE, "").rstrip("/") or _UNKNOWN
    return f"{top}/t/{team}/p/{slug}"


@admin("create")
@click.argument("team")
@click.option("--owner", metavar="PERSON", required=True, help="Who owns it: a name or e-mail.")
@click.option("--days", type=Number(1, 3650), default=90, show_default=True, help="Of the token.")
def create(database: Database, team: str, owner: str, days: int, as_json: bool) -> None:
    """Create a team with its first project, 'main', and an owner; print the owner's token.

    \b
    ltm team create acme --owner anna

    The database is named by LTM_DATABASE_URL, or in the file database-url in LTM_HOME. Its tables
    are made or brought up to date first.
    """
    _slug(team, "team")
    _person(owner)
    migration.migrate(database)
    people = People(database)
    if team in dict(people.tenants()).values():
        raise Refused(
            f"there is a team '{team}' already", hint=f"add people to it: ltm team invite {owner}"
        )
    tenant = people.create_tenant(team)
    person = people.add_person(tenant, owner)
    project = new_project(people, tenant, MAIN, [person.id])
    token = people.create_token(person, days=days, label="first")
    _say_invited(team, project, person, "owner", token, days, as_json)


@admin("invite")
@click.argument("person")
@click.option("--role", type=click.Choice(ROLES), default="writer", show_default=True)
@team_option
@project_option
@click.option("--email", default="", help="Their e-mail address.")
@click.option("--issuer", default="", help="The identity provider that knows them.")
@click.option("--subject", default="", help="Who they are to that identity provider.")
@click.option("--days", type=Number(1, 3650), default=90, show_default=True, help="Of the token.")
def invite(
    database: Database,
    person: str,
    role: str,
    team: str,
    slug: str,
    email: str,
    issuer: str,
    subject: str,
    days: int,
    as_json: bool,
) -> None:
    """Add PERSON to a project, and print the address and token to give to them.

    \b
    ltm team invite ben
    ltm team invite cleo --role curator --issuer https://id.example.org --subject 4711

    With --issuer and --subject they, or a person who is there already, come with tokens of your
    identity provider, and no token is made; nor is one for a person who has one, because it holds
    in all their projects. A reader reads; a writer also changes; a curator also approves what
    agents wrote, and purges; an owner also manages the project.
    """
    if bool(issuer) != bool(subject):
        raise WrongUsage("--issuer and --subject belong together", hint="give both or neither")
    _person(person)
    people = People(database)
    tenant, project = _project(people, team, slug)
    has = {each.name: each.role for each in people.members(project)}.get(person)
    if has and not issuer:
        raise Refused(
            f"{person} is {has} of {slug} already",
            hint=f"another role: ltm team role {person} ROLE; another token:"
            f" ltm team token {person} --new",
        )
    try:
        who = people.person(tenant, person)
    except NotFound:
        who = people.add_person(tenant, person, email=email, issuer=issuer, subject=subject)
    else:
        if issuer:
            people.identify(who, issuer, subject)
    if has:
        role = has
    else:
        people.set_role(project, who.id, role)
    has_token = any(_state(each) == _IN_USE for each in people.tokens(who))
    needs_one = not (issuer or has_token)
    token = people.create_token(who, days=days, label="invitation") if needs_one else ""
    name, joins = _name_of(database, tenant), bool(token) or has_token
    _say_invited(name, project, who, role, token, days, as_json, joins=joins)
    if as_json:
        return
    if has_token:
        output.note(f"The token they have holds here too. Another: ltm team token {person} --new")
    elif issuer:
        output.note("Agents of theirs sign in there, with /mcp behind the address. To join with a")
        output.note(f"machine they need a token: ltm team token {person} --new")


def _say_invited(
    team: str,
    project: TeamProject,
    person: Person,
    role: str,
    token: str,
    days: int,
    as_json: bool,
    *,
    joins: bool = True,
) -> None:
    """Print what to pass on to a person; `joins` says whether they have a token to join with."""
    address = _address(team, project.slug)
    if as_json:
        said = {"team": team, "project": project.slug, "person": person.name, "role": role}
        output.emit({**said, "address": address, "token": token})
        return
    output.say(f"{person.name} is {role} of {project.slug} in the team {team}.")
    output.say(f"address  {address}")
    if token:
        output.say(f"token    {token}")
        output.note(f"The token is shown once, and holds for {counted(days, 'day')}.")
    if joins:
        output.note(f"They type: ltm team join {address}")
    if _UNKNOWN in address:
        output.note(f"Say where that is with {URL_VARIABLE}, and it stands here in full.")


def _project(people: People, team: str, slug: str) -> tuple[str, TeamProject]:
    tenant = people.tenant(team)
    return tenant, people.project(tenant, slug)


def _name_of(database: Database, tenant: str) -> str:
    return dict(People(database).tenants())[tenant]


@admin("token")
@click.argument("person")
@click.option("--new", is_flag=True, help="Make one, and show it once.")
@click.option("--revoke", metavar="ID", default="", help="Take one back, at once.")
@click.option("--label", default="", help="What the new one is for, such as a machine.")
@click.option("--days", type=Number(1, 3650), default=90, show_default=True, help="Of a new one.")
@team_option
def token(
    database: Database,
    person: str,
    new: bool,
    revoke: str,
    label: str,
    days: int,
    team: str,
    as_json: bool,
) -> None:
    """List the tokens of PERSON, make one, or take one back.

    \b
    ltm team token anna
    ltm team token anna --new --label laptop
    """
    people = People(database)
    who = people.person(people.tenant(team), person)
    if revoke:
        people.revoke_token(who, revoke)
    made = people.create_token(who, days=days, label=label) if new else ""
    rows = people.tokens(who)
    if as_json:
        listed = [
            {
                "id": each.id,
                "label": each.label,
                "created": iso(each.created),
                "expires": iso(each.expires),
                "revoked": iso(each.revoked) if each.revoked else None,
            }
            for each in rows
        ]
        output.emit({"person": who.name, "token": made, "tokens": listed})
        return
    if made:
        output.say(made)
        output.note(f"It is shown once, and holds for {counted(days, 'day')}.")
        return
    output.table(
        ("id", "label", "expires", "state"),
        [(each.id, each.label, f"{each.expires:%Y-%m-%d}", _state(each)) for each in rows],
    )


def _state(each: Any) -> str:
    if each.revoked:
        return "taken back"
    return "over" if each.expires < now() else _IN_USE


@admin("role")
@click.argument("person")
@click.argument("role", type=click.Choice((*ROLES, "none", "disabled", "enabled")))
@team_option
@project_option
def role(database: Database, person: str, role: str, team: str, slug: str, as_json: bool) -> None:
    """Give PERSON another role in a project, take them out ('none'), or lock them out of all.

    \b
    ltm team role ben curator
    ltm team role ben none
    ltm team role ben disabled
    """
    people = People(database)
    tenant, project = _project(people, team, slug)
    who = people.person(tenant, person)
    if role in ("disabled", "enabled"):
        people.disable(who, disabled=role == "disabled")
    else:
        people.set_role(project, who.id, "" if role == "none" else role)
    if as_json:
        output.emit({"person": who.name, "project": slug, "role": role})
    else:
        output.say(f"{who.name}: {role}")


@admin("project")
@click.argument("name", default="")
@click.option("--owner", metavar="PERSON", help="Who owns it; the owners of 'main' if not given.")
@team_option
def project(database: Database, name: str, owner: str | None, team: str, as_json: bool) -> None:
    """Create the project NAME in a team; without NAME, list all projects and their members.

    \b
    ltm team project web
    ltm team project salaries --owner cleo

    Only its owners are in a new project; all others must be invited to it.
    """
    people = People(database)
    tenant = people.tenant(team)
    if name:
        owners = [people.person(tenant, owner).id] if owner else owners_of(people, tenant)
        new_project(people, tenant, name, owners)
    rows: list[dict[str, Any]] = [
        {"project": each.slug, "members": {m.name: m.role for m in people.members(each)}}
        for each in people.projects(tenant)
    ]
    if as_json:
        output.emit({"projects": rows})
        return
    output.table(
        ("project", "members"),
        [
            (str(row["project"]), ", ".join(f"{n} ({r})" for n, r in row["members"].items()))
            for row in rows
        ],
    )


def owners_of(people: People, tenant: str) -> list[str]:
    """The ids of those who own a team's first project."""
    members = people.members(people.project(tenant, MAIN))
    return [each.person_id for each in members if each.role == "owner"]


def new_project(people: People, tenant: str, name: str, owners: Sequence[str]) -> TeamProject:
    """A project of these people, in which what agents say waits."""
    made = people.create_project(tenant, _slug(name, "project"))
    for each in owners:
        people.set_role(made, each, "owner")
    people.hold(made, "agent")
    return made


@admin("audit")
@click.option("--limit", "-n", type=Number(1, 10_000), default=50, show_default=True)
@team_option
@project_option
def audit(database: Database, limit: int, team: str, slug: str, as_json: bool) -> None:
    """List who did what in a project, newest first."""
    people = People(database)
    _, found = _project(people, team, slug)
    lines = people.audit(found, limit=limit)
    if as_json:
        output.emit({"audit": [{**each._asdict(), "at": iso(each.at)} for each in lines]})
        return
    names = {each.person.id: each.person.name for each in people.people(found.tenant_id)}
    output.table(
        ("at", "person", "what", "about", "client"),
        [
            (iso(each.at), each.person or "operator", each.what, _about(each, names), each.client)
            for each in lines
        ],
    )


def _about(line: AuditLine, names: Mapping[str, str]) -> str:
    """What something that was done was about: a memory, or a person or project and what of it."""
    said = [str(line.detail[name] or "none") for name in _DETAILS if name in line.detail]
    return line.id or " ".join(dict.fromkeys(names.get(each, each) for each in said))


@click.command("migrate")
def migrate() -> None:
    """Bring the tables of the database up to date, as their owner.

    It also drops what sync no longer needs, after 30 days: run it after an update, and once a week.
    """
    with _database() as database:
        done = migration.migrate(database)
        gone = changes.tidy(database)
    output.say(f"applied: {', '.join(done)}" if done else "The tables are up to date.")
    if gone:
        output.say(f"{gone:,} rows that sync no longer needs are dropped.")


@click.command("serve")
@click.option("--port", type=Number(0, 65_535), default=8766, show_default=True)
@click.option("--host", metavar="IP", default="127.0.0.1", help="Where to listen.")
@click.option("--url", metavar="URL", help="The https address that clients use, of a TLS proxy.")
@click.option("--allow-remote", is_flag=True, help="Allow a --host that others can reach.")
@click.option("--issuer", metavar="URL", help="The identity provider whose tokens are accepted.")
@click.option("--audience", metavar="URL", multiple=True, help="What its tokens must be made for.")
@click.option("--keys", metavar="URL", default="", help="Its keys, if its metadata has no address.")
@click.option("--introspect", metavar="URL", help="Ask it about each token there (RFC 7662).")
@click.option("--check", "only_check", is_flag=True, help="Start nothing: say whether one could.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON value when it is ready.")
def serve_(
    port: int,
    host: str,
    url: str | None,
    allow_remote: bool,
    issuer: str | None,
    audience: tuple[str, ...],
    keys: str,
    introspect: str | None,
    only_check: bool,
    as_json: bool,
) -> None:
    """Serve the teams of the database to laptops and agents, until Ctrl-C.

    \b
    ltm team serve --url https://memory.example.org
    ltm team serve --url https://memory.example.org --issuer https://id.example.org

    It speaks plain http, and belongs behind a proxy that speaks https. Static tokens (`ltm team
    token`) always work; with --issuer, access tokens of that identity provider do too, made for
    the address of the server, or for --audience. With --introspect, LTM_OAUTH_CLIENT_ID and
    LTM_OAUTH_CLIENT_SECRET say who we are to it.
    """
    url = (url or os.environ.get(URL_VARIABLE, "")).rstrip("/")
    # All of the server is a resource too: most identity providers know one audience only.
    audiences = audience or ((url,) if url else ())
    verifier: TokenVerifier | None = None
    if issuer and introspect:
        client, secret = (os.environ.get(name, "") for name in (CLIENT_ID, CLIENT_SECRET))
        verifier = IntrospectedTokens(issuer, audiences, introspect, client, secret)
    elif issuer:
        verifier = SignedTokens(issuer, audiences, keys)
    elif audience or keys or introspect:
        raise WrongUsage("--audience, --keys and --introspect need --issuer", hint="give --issuer")
    if url:
        checked_address(url)
    database = Database(database_url(home()))
    database.reach()
    if only_check:
        _check(database, "" if keys or introspect else issuer or "", as_json)
        return

    def ready(address: str) -> None:
        if as_json:
            print(json.dumps({"address": address, "pid": os.getpid()}), flush=True)
        else:
            whom = f", for clients of {url}" if url else ""
            output.note(f"Listening on {address}{whom}. Ctrl-C ends it.")

    settings = TeamSettings(url, verifier, issuer or "")
    serve(host, port, database, settings, allow_remote=allow_remote, ready=ready)


def _check(database: Database, issuer: str, as_json: bool) -> None:
    try:
        migration.check(database)
        owns = not migration.owner_instead(database)
        teams = len(People(database).tenants()) if owns else None
    finally:
        database.close()
    if issuer:
        issuer_metadata(issuer)
    if as_json:
        output.emit({"database": "ok", "teams": teams, "issuer": issuer or None})
    else:
        has = "" if teams is None else f", and has {counted(teams, 'team')}"
        output.say(f"The database answers{has}.")
        if issuer:
            output.say(f"{issuer} says where its keys are.")


ADMIN_COMMANDS = {
    each.name: each
    for each in (
        create,
        invite,
        token,
        role,
        project,
        audit,
        migrate,
        serve_,
    )
}
"""The commands by their names."""
