"""Nobody sees or changes what is not theirs, by either of two guards alone.

The matrix is made from lists: what can be asked and done, times who must not, times the guards that
are in place. `queries` means that row-level security is off; `rows` means that the code has
forgotten to ask whether the person is a member.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import psycopg
import pytest

from ltm.decisions import Add, Adopt, Copy, Forget, Purge, Reinforce, Restore, Revise
from ltm.errors import LtmError, NotFound, Refused
from ltm.model import Filter, Memory, Source, Status, Stored, Trust
from ltm.redact.redact import redact
from ltm_server.postgres import people as people_module
from ltm_server.postgres import store as store_module
from ltm_server.postgres.changes import Sent, pull, push
from ltm_server.postgres.database import Database, Person
from ltm_server.postgres.people import People, TeamProject
from ltm_server.postgres.store import PostgresStore
from ltm_server.postgres.vectors import ProjectVectors
from tests.figures import count as note
from tests.index.directions import DIMENSIONS, MODEL, direction
from tests.postgres.cluster import Cluster
from tests.postgres.team import Team
from tests.stores import make

SECRET = "xylophone"
TABLES = ("memory", "former", "purged", "applied", "usage", "activity", "batch", "audit", "vector")
"""Those that hold a project's data; the last one with pgvector only."""
PEOPLE = {
    "member": "project_id = %(project)s",
    "project": "id = %(project)s",
    "person": "tenant_id = %(tenant)s",
    "token": "tenant_id = %(tenant)s",
    "tenant": "id = %(tenant)s",
}
"""Those that say who may what, and which of their lines are the room's."""

Act = Callable[[PostgresStore, Memory], Any]


def vectors_of(store: PostgresStore) -> ProjectVectors:
    [found] = store.vectors(MODEL, DIMENSIONS)
    return found


READS: dict[str, Act] = {
    "read": lambda store, memory: store.read(memory.id),
    "list": lambda store, _: store.list(Filter(statuses=())),
    "every": lambda store, _: list(store.every(Filter(statuses=()))),
    "search": lambda store, _: store.search(SECRET, Filter(statuses=()), 5),
    "versions": lambda store, memory: store.versions(memory.id),
    "histories": lambda store, memory: store.histories([memory.id]),
    "counts": lambda store, _: store.counts(),
    "usage": lambda store, memory: store.usage([memory.id]),
    "used again": lambda store, _: store.used_again(),
    "sessions": lambda store, _: store.sessions(),
    "batch taken": lambda store, _: store.batch_taken("team"),
    "pull": lambda store, _: pull(store, 0),
}
CHANGES: dict[str, Act] = {
    "add": lambda store, _: store.apply(Add(make("mine"))),
    "revise": lambda store, memory: store.apply(Revise(memory.id, {"content": "mine"})),
    "reinforce": lambda store, memory: store.apply(Reinforce(memory.id)),
    "forget": lambda store, memory: store.apply(Forget(memory.id)),
    "restore": lambda store, memory: store.apply(Restore(memory.id, version=1)),
    "take a batch": lambda store, _: store.take_batch("team"),
}
USES: dict[str, Act] = {
    "used": lambda store, memory: store.used([memory.id]),
    "seen": lambda store, memory: store.seen([memory.id]),
}
CURATES: dict[str, Act] = {"purge": lambda store, memory: store.apply(Purge(memory.id))}
BY_MEANING: dict[str, Act] = {
    "nearest": lambda store, _: vectors_of(store).nearest_memories(
        direction(1), Filter(statuses=()), 5
    ),
    "likeness": lambda store, memory: vectors_of(store).likeness_of(
        direction(1), [Stored(memory, "", "", "")]
    ),
    "without a vector": lambda store, _: vectors_of(store).missing(),
    "to embed": lambda store, memory: vectors_of(store).memories([memory.id]),
    "embed": lambda store, memory: vectors_of(store).put_memories(
        [Stored(memory, "", "", "")], np.array([direction(2)])
    ),
    "drop vectors": lambda store, _: vectors_of(store).drop_gone(),
}
"""With pgvector only."""

OUTSIDERS = ("another tenant's owner", "colleague", "removed", "disabled", "nobody")
GUARDS = ("both", "queries", "rows")


class Room:
    """A project with a secret in it, and everybody who must not see it."""

    def __init__(self, team: Team) -> None:
        self.team = team
        store = team.store()
        self.memory = store.create(make(f"The {SECRET}", f"old {SECRET}")).memory
        store.update(self.memory.id, {"content": f"new {SECRET}"})
        store.used([self.memory.id])
        store.take_batch("team")
        push(store, [Sent("key-1", Reinforce(self.memory.id))])
        self.everything = READS | CHANGES | USES | CURATES
        self.tables: Sequence[str] = TABLES[:-1]
        if store.vectors(MODEL, DIMENSIONS):
            vectors_of(store).put_memories([store.read(self.memory.id)], np.array([direction(1)]))
            self.everything |= BY_MEANING
            self.tables = TABLES
        gone = store.create(make(f"purged {SECRET}")).memory
        store.delete(gone.id, purge=True)
        operator = team.operator
        other = operator.create_tenant("other")
        stranger = operator.add_person(other, "stranger")
        theirs = operator.create_project(other, "theirs")
        operator.set_role(theirs, stranger.id, "owner")
        colleague = team.add_person("colleague")
        self.elsewhere = team.add_project("elsewhere")
        operator.set_role(self.elsewhere, colleague.id, "owner")
        removed, disabled = team.add_person("removed"), team.add_person("disabled")
        for each in (removed, disabled):
            operator.set_role(team.project, each.id, "owner")
        operator.set_role(team.project, removed.id, "")
        operator.disable(disabled)
        operator.create_token(team.people["owner"])
        self.outsiders = dict(
            zip(
                OUTSIDERS,
                (stranger, colleague, removed, disabled, Person(team.tenant, theirs.id, "?")),
                strict=True,
            )
        )
        self.colleague = colleague

    def rows(self) -> list[list[Any]]:
        """Everything there is of the project, to see whether anything changed."""
        mine = {"project": self.team.project.id, "tenant": self.team.tenant}
        lines = dict.fromkeys(self.tables, "project_id = %(project)s") | PEOPLE
        with self.team.database.as_operator() as db:
            return [
                sorted(map(str, db.execute(f"select * from ltm.{table} where {line}", mine)))
                for table, line in lines.items()
            ]


@pytest.fixture
def room(team: Team) -> Room:
    return Room(team)


def as_owner(_: object, __: object, project: TeamProject, ___: object) -> TeamProject:
    """What is found of a project when it is forgotten to ask."""
    return project._replace(role="owner")


def forget_to_ask(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take the question away that is asked in each transaction."""
    for module in (people_module, store_module):
        monkeypatch.setattr(module, "check_role", as_owner)


@pytest.fixture(params=GUARDS)
def guard(request: pytest.FixtureRequest, room: Room, monkeypatch: pytest.MonkeyPatch) -> str:
    """The guards that are in place."""
    if request.param == "queries":
        with room.team.database.as_operator() as db:
            for table in (*room.tables, *PEOPLE):
                db.execute(f"alter table ltm.{table} disable row level security")
                db.execute(f"grant select, insert, update, delete on ltm.{table} to ltm_app")
    if request.param == "rows":
        forget_to_ask(monkeypatch)
    return str(request.param)


def attempts(room: Room) -> Iterator[tuple[str, str, PostgresStore, Act]]:
    for who, person in room.outsiders.items():
        for project in (room.team.project, room.team.project._replace(tenant_id=person.tenant_id)):
            store = PostgresStore(room.team.database, person, project)
            for what, act in room.everything.items():
                yield who, what, store, act


def outcome(act: Act, store: PostgresStore, memory: Memory) -> tuple[str, type | None]:
    """All that is told, and the kind of error with which it is, if so."""
    try:
        return str(act(store, memory)), None
    except LtmError as error:
        return f"{error} {error.hint}", type(error)


def test_an_outsider_gets_and_changes_nothing(room: Room, guard: str) -> None:
    before = room.rows()
    for who, what, store, act in attempts(room):
        got, refused = outcome(act, store, room.memory)
        note("R22", attempts_of_strangers=1, leaks=SECRET in got)
        assert SECRET not in got, (who, what)
        assert guard == "rows" or refused is NotFound, (who, what, got)
    assert room.rows() == before


def test_the_matrix_sees_a_leak(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without either guard each question gets what it asks for."""
    forget_to_ask(monkeypatch)
    with room.team.database.as_operator() as db:
        for table in room.tables:
            db.execute(f"alter table ltm.{table} disable row level security")
    store = PostgresStore(room.team.database, room.colleague, room.team.project)
    reads = {name: act for name, act in room.everything.items() if name in READS | BY_MEANING}
    told = {what: outcome(act, store, room.memory)[0] for what, act in reads.items()}
    assert [what for what, got in told.items() if SECRET in got] == [
        *("read", "list", "every", "search", "versions", "histories", "pull"),
        *(("nearest", "to embed") if "nearest" in reads else ()),
    ]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the database is asked: as much for one question as for another, or time tells."""
    questions: list[str] = []
    execute = psycopg.Connection.execute

    def noted(db: Any, query: Any, *rest: Any, **more: Any) -> Any:
        questions.append(str(query))
        return execute(db, query, *rest, **more)

    monkeypatch.setattr(psycopg.Connection, "execute", noted)
    return questions


def test_a_project_of_others_and_none_at_all_look_the_same(room: Room, asked: list[str]) -> None:
    none = room.team.project._replace(id="99999999-9999-9999-9999-999999999999")
    for person in room.outsiders.values():
        for what, act in room.everything.items():
            told = set()
            for project in (room.team.project, none):
                store = PostgresStore(room.team.database, person, project)
                asked.clear()
                with pytest.raises(NotFound) as refused:
                    act(store, room.memory)
                error = refused.value
                told.add((error.message, error.hint, error.path, tuple(asked)))
            assert len(told) == 1, (what, told)


def test_a_memory_of_another_project_and_none_at_all_look_the_same(
    room: Room, asked: list[str]
) -> None:
    store = PostgresStore(room.team.database, room.colleague, room.elsewhere)
    for what, act in (CHANGES | CURATES | {"read": READS["read"]}).items():
        if what in ("add", "take a batch"):
            continue
        told = set()
        for memory in (room.memory, room.memory._replace(id="mem_00000nobody")):
            asked.clear()
            with pytest.raises(NotFound) as refused:
                act(store, memory)
            told.add((refused.value.message.replace(memory.id, "ID"), tuple(asked)))
        assert len(told) == 1, (what, told)


@pytest.mark.parametrize("role", ["reader", "writer", "curator", "owner"])
def test_a_role_may_what_is_its_own_and_no_more(room: Room, role: str) -> None:
    allowed = {name: act for name, act in room.everything.items() if name in BY_MEANING}
    allowed |= READS | USES
    if role != "reader":
        allowed |= CHANGES
    if role in ("curator", "owner"):
        allowed |= CURATES
    store = room.team.store(role)
    for what, act in allowed.items():
        act(store, room.memory)
        assert what
    before = room.rows()
    for what, act in room.everything.items():
        if what not in allowed:
            with pytest.raises(Refused, match=role):
                act(store, room.memory)
    assert room.rows() == before


@pytest.mark.parametrize("table", [*TABLES, *PEOPLE])
def test_rows_guard_themselves_against_any_query(room: Room, table: str) -> None:
    """Row-level security alone: raw questions and changes that name no project, of each outsider
    and of the colleague, who may do everything elsewhere."""
    before = room.rows()
    tenant = "id" if table == "tenant" else "tenant_id"
    commands = (
        f"select * from ltm.{table}",
        f"update ltm.{table} set {tenant} = {tenant}",
        f"delete from ltm.{table}",
        f"insert into ltm.{table} select * from ltm.{table}",
        f"select * from ltm.{table} for update",
        f"with x as (select * from ltm.{table}) select * from x where x::text like '%{SECRET}%'",
    )
    for who, person in room.outsiders.items():
        for command in commands:
            try:
                with room.team.database.as_person(person) as db:
                    done = db.execute(command.encode())
                    rows = done.fetchall() if done.description else []
                    assert room.team.project.id not in str(rows), (who, command)
                    assert SECRET not in str(rows), (who, command)
                    if person not in (room.colleague, room.outsiders["removed"]):
                        assert room.team.tenant not in str(rows), (who, command)
            except Refused:
                continue  # it has no right to such a command at all
    assert room.rows() == before


def test_copy_and_prepared_questions_give_each_person_their_own(room: Room) -> None:
    """One connection for everybody, so that what is prepared for one is used for the next."""
    database = Database(room.team.cluster.url(room.team.name), most=1)
    mine = make("colleague's own")
    PostgresStore(database, room.colleague, room.elsewhere).create(mine)
    owner = room.team.people["owner"]
    for turn in range(20):
        person = (owner, room.colleague)[turn % 2]
        with database.as_person(person) as db:
            question = "select id from ltm.memory where status <> %s"
            found = {row[0] for row in db.execute(question, ("none",), prepare=True)}
            with db.cursor().copy("copy (select id from ltm.memory) to stdout") as copy:
                copied = b"".join(bytes(each) for each in copy).decode()
        expected = {room.memory.id} if person is owner else {mine.id}
        assert found == expected
        assert set(copied.split()) == expected
    with database.as_nobody() as db:
        assert db.execute("select count(*) from ltm.memory").fetchone() == (0,)
    with database.as_operator() as db:
        setting = "select current_setting('ltm.person', true), current_user"
        left = db.execute(setting).fetchone()
    assert left is not None
    assert left[0] in (None, ""), "nothing of a person is left on the connection"
    assert left[1] == "ltm_owner"
    database.close()


def test_a_stranger_gets_no_further_by_people_and_projects(room: Room, guard: str) -> None:
    team, before = room.team, room.rows()
    attempts: dict[str, Callable[[People, Person], Any]] = {
        "members": lambda people, _: people.members(team.project),
        "audit": lambda people, _: people.audit(team.project),
        "role": lambda people, me: people.set_role(team.project, me.id, "owner"),
        "hold": lambda people, _: people.hold(team.project, "all"),
        "project": lambda people, _: people.project(team.tenant, "shop"),
        "token": lambda people, _: people.create_token(team.people["owner"]),
        "tenant": lambda people, _: people.create_tenant("x"),
        "person": lambda people, _: people.add_person(team.tenant, "x"),
        "disable": lambda people, _: people.disable(team.people["owner"]),
        "identity": lambda people, _: people.identify(team.people["owner"], "https://id", "me"),
    }
    for who, person in room.outsiders.items():
        for what, attempt in attempts.items():
            try:
                got = attempt(People(team.database, person), person)
            except (NotFound, Refused):
                continue
            assert (guard, got) == ("rows", []), (who, what)
    for role in ("reader", "writer", "curator"):
        with pytest.raises(Refused):
            People(team.database, team.people[role]).set_role(
                team.project, team.people[role].id, "owner"
            )
        with pytest.raises(Refused, match="own"):
            People(team.database, team.people[role]).create_project(team.tenant, "new")
    assert room.rows() == before


def test_what_waits_is_approved_by_a_curator_only(team: Team) -> None:
    said = make("from a page", source=Source(Trust.TOOL, "s", "1-2", "WebFetch"))
    waiting = team.store("owner").create(said).memory
    assert waiting.status is Status.QUARANTINED, "whoever sends it"
    writer = team.store("writer")
    with pytest.raises(Refused, match="curator"):
        writer.update(said.id, {"status": Status.ACTIVE})
    for decision in (Reinforce(said.id), Revise(said.id, {"content": "x"}), Forget(said.id)):
        assert writer.apply(decision).stored.memory.status is not Status.ACTIVE
    assert writer.apply(Restore(said.id)).stored.memory.status is Status.QUARANTINED
    # Nor does a way round lead into force: out of the way first, and then back.
    for out in (Status.SUPERSEDED, Status.FORGOTTEN):
        for back in (Revise(said.id, {"status": Status.ACTIVE}), Restore(said.id)):
            writer.update(said.id, {"status": out})
            assert writer.apply(back).stored.memory.status is Status.QUARANTINED
    tombstone = make("gone", status=Status.FORGOTTEN, source=Source(Trust.TOOL))
    alleged = tombstone._replace(status=Status.ACTIVE, version=2)
    writer.apply(Adopt((Copy(tombstone, (alleged,)),)))
    assert writer.apply(Restore(tombstone.id)).stored.memory.status is Status.QUARANTINED
    # Nor does it help to write into the database past ltm.
    for forged in (
        "update ltm.memory set status = 'active'",
        "insert into ltm.memory select (jsonb_populate_record(m, jsonb_build_object('id',"
        " 'mem_forged', 'seq', 99, 'status', 'active'))).* from ltm.memory m",
    ):
        with pytest.raises(Refused), team.database.as_person(team.people["writer"]) as db:
            db.execute(forged.encode())
    approved = team.store("curator").update(said.id, {"status": Status.ACTIVE}).memory
    assert approved.status is Status.ACTIVE
    other = writer.create(make("from another page", source=Source(Trust.TOOL))).memory.id
    team.store("curator").update(other, {"status": Status.ACTIVE})
    writer.apply(Forget(other))
    assert writer.apply(Restore(other)).stored.memory.status is Status.ACTIVE, "it was approved"
    lines = People(team.database, team.people["curator"]).audit(team.project)
    done = [(each.what, each.person, each.id) for each in lines]
    assert ("approved", "acme-curator", said.id) in done


def test_whose_words_wait_is_asked_each_time(team: Team) -> None:
    store = team.store("writer")
    said = Source(Trust.ASSISTANT, "s")
    assert store.create(make("one", source=said)).memory.status is Status.ACTIVE
    People(team.database, team.people["owner"]).hold(team.project, "agent")
    assert store.create(make("two", source=said)).memory.status is Status.QUARANTINED


def test_every_table_has_both_locks_and_every_key_its_project(cluster: Cluster, team: Team) -> None:
    with team.database.as_operator() as db:
        tables = db.execute(
            "select relname, relrowsecurity, relforcerowsecurity, pg_get_userbyid(relowner)"
            " from pg_class where relnamespace = 'ltm'::regnamespace and relkind in ('r', 'p')"
        ).fetchall()
        keys = db.execute(
            "select c.relname, i.indexrelid::regclass::text, array(select attname from pg_attribute"
            " where attrelid = i.indexrelid order by attnum) from pg_index i"
            " join pg_class c on c.oid = i.indrelid"
            " where c.relnamespace = 'ltm'::regnamespace and i.indisunique"
        ).fetchall()
        role = db.execute(
            "select rolsuper, rolbypassrls, rolcreatedb, rolcreaterole, rolcanlogin,"
            " has_schema_privilege('ltm_app', 'ltm', 'create') from pg_roles"
            " where rolname = 'ltm_app'"
        ).fetchone()
        sequences = "select count(*) from pg_class where relkind = 'S'"
        assert db.execute(sequences).fetchone() == (0,), "a sequence tells how much others do"
    has_vectors = bool(team.store().vectors(MODEL, DIMENSIONS))
    assert has_vectors == (cluster.version == 18)
    assert {name for name, *_ in tables} >= {*TABLES[: None if has_vectors else -1], "member"}
    for name, enabled, forced, owner in tables:
        assert (enabled, forced, owner) == (True, True, "ltm_owner"), name
    for table, index, columns in keys:
        if table in TABLES:
            assert columns[:2] == ["tenant_id", "project_id"], index
    assert role == (False,) * 6
    for command in ("create table ltm.x ()", "alter table ltm.memory disable row level security"):
        with pytest.raises(Refused), team.database.as_person(team.people["owner"]) as db:
            db.execute(command.encode())


def test_a_token_is_its_persons_until_it_ends(team: Team) -> None:
    anna = team.people["writer"]
    mine = People(team.database, anna)
    token = mine.create_token(anna, days=1)
    assert redact(f"join with {token} please").kinds == ("ltm-token",)
    assert team.operator.by_token(token) == anna
    assert team.operator.by_token(token[:-1]) is None
    assert team.operator.by_token("ltm_") is None
    with psycopg.connect(team.cluster.url(team.name)) as db:
        kept = str(db.execute("select * from ltm.token").fetchall())
    assert token not in kept
    team.operator.disable(anna)
    assert team.operator.by_token(token) is None
    team.operator.disable(anna, disabled=False)
    (line,) = mine.tokens(anna)
    mine.revoke_token(anna, line.id)
    assert team.operator.by_token(token) is None
    over = mine.create_token(anna, days=0)
    assert team.operator.by_token(over) is None
