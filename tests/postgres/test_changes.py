"""Decisions are applied once each, merged as files are, and handed out in the order of keeping."""

from __future__ import annotations

import random
import threading
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchmarks import corpus
from ltm.decisions import (
    Add,
    Adopt,
    Copy,
    Forget,
    Purge,
    Reinforce,
    Revise,
)
from ltm.errors import Busy, Conflict, Refused, StorageFailed
from ltm.model import Filter, Memory, Source, Status, Trust
from ltm_server.postgres.changes import Sent, pull, push, tidy
from ltm_server.postgres.database import Database
from ltm_server.postgres.migration import check, migrate
from ltm_server.postgres.people import People
from ltm_server.postgres.store import PostgresStore
from tests.effort import ALL, EXAMPLES
from tests.figures import count as note
from tests.postgres.cluster import Cluster
from tests.postgres.copies import AT, ProjectCopy, Step, as_files
from tests.postgres.team import Team
from tests.stores import file_store, make

CLIENTS, DECISIONS, MEMORIES = (16, 500, 50) if ALL else (8, 25, 10)
TEXT = make("A text", "First line.\n\nSecond line.\n\nThird line.")


def test_a_decision_is_applied_once_however_often_it_is_sent(team: Team) -> None:
    store = team.store("writer")
    memory = store.create(make())
    sent = Sent("a key", Reinforce(memory.memory.id), memory.etag)
    first, again = (push(store, [sent])[0] for _ in range(2))
    assert first == again
    with ThreadPoolExecutor(8) as pool:
        answers = set(pool.map(lambda _: push(store, [sent])[0], range(16)))
    assert answers == {first}
    assert store.read(memory.memory.id).memory.observations == 2
    # Another person may have the same key for another decision.
    (other,) = push(team.store("owner"), [sent])
    assert (other.action, store.read(memory.memory.id).memory.observations) == ("reinforced", 3)


def test_a_decision_that_is_refused_stops_no_other(team: Team) -> None:
    store = team.store("writer")
    memory = make("kept")
    answers = push(
        store,
        [
            Sent("1", Forget("mem_nobody000")),
            Sent("2", Purge("mem_nobody000")),
            Sent("", Add(make())),
            Sent("4", Add(memory)),
            Sent("5", Purge(memory.id)),
        ],
    )
    assert [bool(each.error) for each in answers] == [True, True, True, False, True]
    assert "curator" in answers[4].error
    assert store.read(memory.id).memory.title == "kept"


def test_what_two_people_changed_at_once_is_all_there(team: Team) -> None:
    writer, curator = team.store("writer"), team.store("curator")
    base = writer.create(TEXT)
    curator.update(TEXT.id, {"content": TEXT.content.replace("First", "Changed first")})
    curator.update(TEXT.id, {"tags": ("theirs",)})
    mine = {"content": TEXT.content.replace("Third", "Changed third"), "tags": ("mine",)}
    (answer,) = push(writer, [Sent("k", Revise(TEXT.id, mine, expected=base.etag), base.etag)])
    after = writer.read(TEXT.id)
    assert (answer.merged, answer.etag) == (True, after.etag)
    assert after.memory.content == "Changed first line.\n\nSecond line.\n\nChanged third line."
    assert set(after.memory.tags) == {"mine", "theirs"}
    assert after.memory.content not in {each.memory.content for each in writer.versions(TEXT.id)}
    # A file that a person edited by hand comes as a whole memory on the state it was made from.
    edited = TEXT._replace(content=TEXT.content + "\n\nFourth line.", version=2)
    adopted = Sent("k2", Adopt((Copy(edited, over=base.etag),)), base.etag)
    assert push(writer, [adopted])[0].merged
    lines = set(writer.read(TEXT.id).memory.content.splitlines())
    assert lines > {"Changed first line.", "Changed third line.", "Fourth line."}


def test_a_state_no_one_knows_any_more_is_not_a_reason_to_lose_a_decision(team: Team) -> None:
    store = team.store()
    base = store.create(TEXT)
    store.update(TEXT.id, {"content": "Others said this."})
    with team.database.as_operator() as db:
        db.execute("update ltm.former set replaced = now() - interval '31 days'")
    store.update(TEXT.id, {"tags": ("x",)})
    with team.database.as_operator() as db:
        db.execute("update ltm.former set replaced = now() - interval '31 days'")
        db.execute("update ltm.applied set at = now() - interval '31 days'")
    assert tidy(team.database) == 1, "the former text stays, as a version"
    (answer,) = push(store, [Sent("k", Revise(TEXT.id, {"content": "I said this."}), "0" * 32)])
    assert not answer.error
    texts = {each.memory.content for each in store.versions(TEXT.id)}
    assert texts == {TEXT.content, "Others said this."}
    assert base.etag != answer.etag


def test_a_state_the_server_never_had_is_merged_too(team: Team) -> None:
    """The second of two edits made offline was made on the first, which is merged by now."""
    writer, curator = team.store("writer"), team.store("curator")
    base = writer.create(TEXT)
    curator.update(TEXT.id, {"content": TEXT.content.replace("First", "Changed first")})
    mine = TEXT._replace(content=TEXT.content.replace("Second", "Changed second"), version=2)
    push(writer, [Sent("1", Revise(TEXT.id, {"content": mine.content}), base.etag)])
    twice = {"content": mine.content.replace("Third", "Changed third")}
    (answer,) = push(writer, [Sent("2", Revise(TEXT.id, twice), "unsent", before=mine)])
    assert (answer.error, answer.merged) == ("", True)
    assert writer.read(TEXT.id).memory.content.count("Changed") == 3
    (purged,) = push(curator, [Sent("p", Purge(TEXT.id), "unsent", before=mine)])
    assert (purged.error, purged.merged) == ("", False), "nothing is left to merge"
    # What it is said to have been gives nobody a right.
    said = make("from a page", source=Source(Trust.TOOL, "s", "1-2", "WebFetch"))
    waiting = writer.create(said).memory
    forged = waiting._replace(status=Status.ACTIVE)
    push(writer, [Sent("3", Revise(said.id, {"tags": ("x",)}), "unsent", before=forged)])
    assert writer.read(said.id).memory.status is Status.QUARANTINED


def test_changes_come_in_order_each_memory_once_and_purges_too(team: Team) -> None:
    store = team.store()
    kept, gone, forgotten = (store.create(make(name)).memory.id for name in ("a", "b", "c"))
    store.update(gone, {"content": "a former text of what is purged"})
    copy = ProjectCopy(team.store("reader"))
    copy.pull(limit=1)
    assert copy.memories.keys() == {kept, gone, forgotten}
    store.apply(Forget(forgotten))
    store.update(kept, {"content": "new"})
    store.apply(Purge(gone))
    pulled = pull(team.store("reader"), copy.cursor)
    assert [each.id for each in pulled.changes] == [forgotten, kept, gone]
    assert pulled.changes[2].record is None
    assert {each.author for each in pulled.changes} == {"acme-owner"}
    copy.pull()
    assert copy.memories.keys() == {kept, forgotten}
    assert copy.memories[forgotten].status is Status.FORGOTTEN
    assert pull(store, copy.cursor) == ((), copy.cursor, False)
    with team.database.as_operator() as db:
        left = "select count(*) from ltm.former where record::text like '%purged%'"
        assert db.execute(left).fetchone() == (0,)
    (answer,) = push(store, [Sent("late", Revise(gone, {"content": "x"}), "0" * 32)])
    assert answer.error
    with pytest.raises(Refused, match="purged"):
        store.create(make("b", id=gone))
    with pytest.raises(Conflict, match="backup"):
        pull(store, copy.cursor + 1)


def test_who_has_seen_a_number_has_seen_all_before_it(team: Team) -> None:
    """Pulled all the time while eight people write: nothing appears behind the cursor."""
    copy, done = ProjectCopy(team.store("reader")), threading.Event()

    def write(number: int) -> None:
        store = team.store("writer")
        for each in range(12):
            store.create(make(f"{number} {each}"))

    def follow() -> None:
        while not done.is_set():
            copy.pull(limit=3)

    with ThreadPoolExecutor(9) as pool:
        following = pool.submit(follow)
        list(pool.map(write, range(8)))
        done.set()
        following.result()
    copy.pull()
    assert len(copy.memories) == 96
    assert copy.cursor == 96


def run(
    team: Team, project: str, clients: int, decisions: int, first: list[Memory], seed: int
) -> tuple[list[ProjectCopy], dict[str, Memory], list[Step]]:
    """Clients that decide all at once, pulling now and then; the copies and what files make."""
    place = team.add_project(project)
    writer = team.people["writer"]
    team.operator.set_role(place, writer.id, "writer")

    def copy() -> ProjectCopy:
        return ProjectCopy(PostgresStore(team.database, writer, place, clock=lambda: AT))

    begun = copy()
    made = [begun.store.create(each).memory for each in first]
    copies = [copy() for _ in range(clients)]

    def work(number: int) -> None:
        luck, mine = random.Random(seed + number), copies[number]
        mine.pull()
        for _ in range(decisions):
            mine.send(mine.decide(luck))
            if luck.random() < 0.15:
                mine.pull()

    with ThreadPoolExecutor(clients) as pool:
        list(pool.map(work, range(clients)))
    steps: list[Step] = [step for each in copies for step in each.steps]
    for each in copies:
        each.pull()
    return copies, as_files(made, steps), steps


def test_all_copies_converge_to_what_the_merge_of_files_gives(team: Team) -> None:
    first = [make(f"memory {n}", "One.\n\nTwo.\n\nThree.") for n in range(MEMORIES)]
    copies, files, steps = run(team, "many", CLIENTS, DECISIONS, first, 7)
    assert len(steps) == CLIENTS * DECISIONS
    assert any(step.receipt.merged for step in steps)
    merged = sum(step.receipt.merged for step in steps)
    note("R22", copies=CLIENTS, decisions_of_copies=len(steps), merged=merged)
    note("R22", copies_unlike_files=sum(each.memories != files for each in copies))
    for each in copies:
        assert each.memories == files


@settings(
    max_examples=max(5, EXAMPLES // 10),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    deadline=None,
)
@given(seed=st.integers(0, 10**6), clients=st.integers(1, 4), decisions=st.integers(1, 8))
def test_any_few_clients_converge_to_what_the_merge_of_files_gives(
    team: Team, seed: int, clients: int, decisions: int
) -> None:
    name = f"p{seed}-{clients}-{decisions}-{random.randrange(10**9)}"
    copies, files, _ = run(team, name, clients, decisions, [make(), make("two", "A.\n\nB.")], seed)
    for each in copies:
        assert each.memories == files


def test_the_schema_goes_forward_only(cluster: Cluster) -> None:
    name = cluster.empty()
    database = Database(cluster.url(name))
    with pytest.raises(Refused, match="no tables"):
        check(database)
    with ThreadPoolExecutor(4) as pool:
        done = list(pool.map(lambda _: migrate(database), range(4)))
    assert sorted(each for one in done for each in one) == sorted(
        {each for one in done for each in one}
    ), "each step is applied once"
    check(database)
    assert migrate(database) == []
    with database.as_operator() as db:
        db.execute("insert into ltm.schema_version (version, name) values (999, 'of tomorrow')")
    for use in (check, migrate):
        with pytest.raises(Refused, match="newer ltm"):
            use(database)
    database.close()
    cluster.drop(name)


def test_what_the_owner_dumps_is_all_there_and_restores(team: Team, tmp_path: Path) -> None:
    store = team.store()
    memory = store.create(make()).memory
    store.update(memory.id, {"content": "new words"})
    cluster, dump = team.cluster, team.cluster.data.parent / "dump.sql"
    words = ("--enable-row-security", "-n", "ltm", "-f", str(dump), "-d", cluster.url(team.name))
    cluster.run("pg_dump", *words)
    restored = cluster.empty()
    cluster.run("psql", "-q", "-v", "ON_ERROR_STOP=1", "-f", str(dump), cluster.url(restored))
    dump.unlink()
    database = Database(cluster.url(restored))
    again = PostgresStore(database, store.person, store.project)
    assert again.list(Filter()) == store.list(Filter())
    assert again.versions(memory.id) == store.versions(memory.id)
    assert pull(again, 0) == pull(store, 0)
    again.update(memory.id, {"content": "newer words"})
    database.close()
    cluster.drop(restored)


def test_a_database_that_is_gone_is_told_without_its_address(cluster: Cluster) -> None:
    database = Database("host=/nowhere password=hunter2 connect_timeout=1", patience=0.5)
    with pytest.raises(Busy, match="did not answer") as late:
        migrate(database)
    with pytest.raises(StorageFailed, match=r"cannot reach .* No such file") as refused:
        database.reach()
    assert "hunter2" not in f"{late.value} {refused.value}"
    database.close()


def test_searches_come_in_the_order_of_files(team: Team, tmp_path: Path) -> None:
    rows, files = team.store(), file_store(tmp_path)
    special = ("getUserById fails", "the 数据库 is slow", "see src/app/user_store.py, twice")
    made = [*corpus.memories(600), *(make(each, f"{each} {each}") for each in special)]
    asked = ["getUserById", "数据库 slow", "user_store.py", *corpus.questions(60)]
    for store in (rows, files):
        store.apply(Adopt(tuple(map(Copy, made))))
    most = 0
    for question, wanted in product(asked, (Filter(), Filter(tags=("storage",)))):
        mine, theirs = (each.search(question, wanted, 10) for each in (rows, files))
        most = max(most, mine.total)
        assert mine.total == theirs.total
        assert [(m.stored.memory.id, m.score, m.matched) for m in mine.items] == [
            (m.stored.memory.id, m.score, m.matched) for m in theirs.items
        ], question
    assert most > 300, "more matches than are compared word for word"
    files.close()


def test_what_is_done_is_on_record(team: Team) -> None:
    store = team.store("writer")
    memory = store.create(make()).memory
    store.apply(Forget(memory.id))
    team.store().apply(Purge(memory.id))
    lines = People(team.database, team.people["owner"]).audit(team.project)
    assert [(each.what, each.person) for each in lines[:3]] == [
        ("purged", "acme-owner"),
        ("forgotten", "acme-writer"),
        ("added", "acme-writer"),
    ]
    for command in ("delete from ltm.audit", "update ltm.audit set what = 'x'"):
        with pytest.raises(Refused), team.database.as_person(team.people["owner"]) as db:
            db.execute(command.encode())
