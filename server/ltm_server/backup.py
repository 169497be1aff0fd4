"""The commands of `ltm team` that make files of a team, and a team of files.

Loaded when one of them is called, because they need the packages of the extra `team`.
"""

from __future__ import annotations

import os
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import click

from ltm.cli import output
from ltm.decisions import Adopt
from ltm.errors import NotFound, Refused
from ltm.files.atomic import make_folder, names_in
from ltm.kinds import Kinds
from ltm.model import Filter, Status, now
from ltm.text.display import counted
from ltm.transfer.export import Export, ExportHeader, export, export_file
from ltm.transfer.source import LARGE, Origin
from ltm_server.admin import admin, new_project, owners_of, team_option
from ltm_server.postgres.database import Database, Person
from ltm_server.postgres.people import ROLES, People, TeamProject
from ltm_server.postgres.store import PostgresStore

_PACKED = ".json.gz"


@admin("export")
@click.argument("folder", type=click.Path(file_okay=False))
@team_option
def export_(database: Database, folder: str, team: str, as_json: bool) -> None:
    """Write every project of a team to a file of its own in FOLDER, as `ltm export` does.

    \b
    ltm team export backup/
    ltm import backup/main.json.gz

    This is the way out, and a backup that needs no database: any ltm reads the files.
    """
    people = People(database)
    tenant = people.tenant(team)
    make_folder(os.path.abspath(folder))
    rows: list[dict[str, Any]] = []
    for each in people.projects(tenant):
        path = os.path.join(os.path.abspath(folder), f"{each.slug}{_PACKED}")
        header = ExportHeader("team", each.id, each.slug, now())
        store = PostgresStore(database, _operator(people, tenant, each), each)
        with export_file(path) as out:
            done = export(store, out, header, Filter(statuses=tuple(Status)), versions=True)
        rows.append({"project": each.slug, "path": path, "memories": done.memories})
    if as_json:
        output.emit({"exports": rows})
        return
    for row in rows:
        output.say(f"{row['project']}: {counted(row['memories'], 'memory')} to {row['path']}")


def _operator(people: People, tenant: str, project: TeamProject) -> Person:
    """A member of a project, one with as many rights as there is, as whom the operator acts."""
    members = people.members(project)
    if not members:
        owning = f"ltm team role PERSON owner --in {project.slug}"
        raise Refused(f"the project {project.slug} has no members", hint=f"name one: {owning}")
    first = max(members, key=lambda each: ROLES.index(each.role))
    return Person(tenant, first.person_id, first.name)


@admin("import")
@click.argument("folder", type=click.Path(exists=True, file_okay=False))
@team_option
def import_(database: Database, folder: str, team: str, as_json: bool) -> None:
    """Put what `ltm team export` wrote to FOLDER back, each file into the project of its name.

    \b
    ltm team create acme --owner anna
    ltm team import backup/

    Projects that are missing are made. A memory that is here as it was then, or was changed since,
    stays as it is; one that was purged stays away. The files hold no people: invite them.
    """
    people = People(database)
    tenant = people.tenant(team)
    paths = sorted(each for each in names_in(folder) if each.endswith(_PACKED))
    if not paths:
        raise NotFound("has no files of 'ltm team export'", path=folder, hint="name their folder")
    rows: list[dict[str, Any]] = []
    for name in paths:
        slug = name.removesuffix(_PACKED)
        there = {each.slug: each for each in people.projects(tenant)}
        into = there.get(slug) or new_project(people, tenant, slug, owners_of(people, tenant))
        store = PostgresStore(
            database,
            _operator(people, tenant, into),
            into,
            client="ltm team import",
            restoring=True,
        )
        rows.append({"project": slug, **_put_back(store, os.path.join(folder, name))})
    if as_json:
        output.emit({"projects": rows})
        return
    for row in rows:
        purged = f", {row['purged']} purged here" if row["purged"] else ""
        output.say(
            f"{row['project']}: {counted(row['added'], 'memory')} put back,"
            f" {row['here']} here already{purged}"
        )


def _put_back(store: PostgresStore, path: str) -> dict[str, int]:
    """Keep every memory of a backup that is not here as it is there, or newer."""
    found = {"added": 0, "here": 0, "purged": 0}
    here = {each.memory.id: each for each in store.every(Filter(statuses=tuple(Status)))}
    with Origin(path, LARGE) as origin:
        for _, copy in Export(origin).entries(store.kinds, reporting=True):
            held = here.get(copy.memory.id)
            if held is not None and held.memory.updated >= copy.memory.updated:
                found["here"] += 1
            elif held is None and store.is_purged(copy.memory.id):
                found["purged"] += 1
            else:
                store.apply(Adopt((replace(copy, over=held.etag if held else ""),)))
                found["added"] += 1
    return found


@admin("check")
@click.argument("folder", type=click.Path(exists=True, file_okay=False))
@team_option
def check(database: Database, folder: str, team: str, as_json: bool) -> None:
    """Compare the files of `ltm team export` with the database: is the backup whole?

    It lists memories that are missing in FOLDER or say something else there, and fails if there
    are any that are older than the files.
    """
    people = People(database)
    tenant = people.tenant(team)
    rows = []
    for each in people.projects(tenant):
        path = os.path.join(folder, f"{each.slug}{_PACKED}")
        store = PostgresStore(database, _operator(people, tenant, each), each)
        rows.append({"project": each.slug, "path": path, **_compared(store, path)})
    if as_json:
        output.emit({"projects": rows})
    else:
        for row in rows:
            output.say(
                f"{row['project']}: {row['same']} the same, {row['newer']} changed since,"
                f" {row['missing']} missing or different"
            )
    if any(row["missing"] for row in rows):
        raise Refused("the backup is not whole", path=folder, hint="ltm team export FOLDER")


def _compared(store: PostgresStore, path: str) -> dict[str, int]:
    """How many memories a backup has as they are, before a later change, or not."""
    with Origin(path, LARGE) as origin:
        copies = Export(origin).entries(Kinds(), reporting=False)
        kept = {copy.memory.id: copy.memory for _, copy in copies}
    written = datetime.fromtimestamp(os.path.getmtime(path), UTC).replace(microsecond=0)
    found = {"same": 0, "newer": 0, "missing": 0}
    for stored in store.every(Filter(statuses=tuple(Status))):
        memory = stored.memory
        if kept.get(memory.id) == memory:
            found["same"] += 1
        elif memory.updated >= written:
            found["newer"] += 1
        else:
            found["missing"] += 1
    return found


BACKUP_COMMANDS = {each.name: each for each in (export_, import_, check)}
"""The commands by their names."""
