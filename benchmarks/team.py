"""A team's database as it grows: questions and changes of many clients, beside files and plain SQL.

    python -m benchmarks.team --memories 10000,100000,1000000 --projects 300 --clients 64

Needs the PostgreSQL of the development group, or the address of an empty one (`--url`). Texts are
different within a project; projects share a pool of them. `plain SQL` is what the same rows cost
without ltm: one query on one connection as their owner, ranked by PostgreSQL.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple
from uuid import UUID

import numpy as np
import psycopg

from benchmarks.corpus import memories, questions
from benchmarks.report import keep, percentile, table, timed
from ltm.decisions import Reinforce
from ltm.embed.embedder import unit
from ltm.index.vector_blocks import Floats
from ltm.kinds import Kinds
from ltm.model import Filter, Scope
from ltm.state.usage import State
from ltm.store.file_store import FileStore
from ltm.text.terms import query_terms
from ltm.vault import codec
from ltm.vault.vault import Vault, etag
from ltm_server.postgres.database import Database, Person
from ltm_server.postgres.migration import migrate
from ltm_server.postgres.people import People, TeamProject
from ltm_server.postgres.rows import as_file, columns, lexeme
from ltm_server.postgres.store import PostgresStore
from tests.postgres.cluster import Cluster, new_cluster

POOL = 20_000  # different texts
PROCESSES = 4
ASKED = 400  # questions of one client alone
COLD = 20  # questions that find the rows of a project on the disk
DIMENSIONS = 256  # of a vector


class Place(NamedTuple):
    """What a client needs to find its project again."""

    url: str
    person: Person
    project: TeamProject
    ids: tuple[str, ...]


def fill(url: str, count: int, number: int) -> list[Place]:
    """So many memories in so many projects; where they are."""
    database = Database(url)
    migrate(database)
    people = People(database)
    tenant = people.create_tenant("acme")
    person = people.add_person(tenant, "anna")
    projects = [people.create_project(tenant, f"project-{n}") for n in range(number)]
    for each in projects:
        people.set_role(each, person.id, "writer")
    projects = People(database, person).projects(tenant)
    pool = [
        columns(memory, etag(as_file(memory, Kinds())))
        | {"file": codec.file_name(memory), "author": UUID(person.id)}
        for memory in memories(min(POOL, count))
    ]
    share = count // number
    names = [name for name in pool[0] if name != "id"]
    with database.as_operator() as db:
        db.execute(
            "create temp table pool on commit drop as select row_number() over () as n, m.*"
            " from ltm.memory m limit 0"
        )
        copied = ", ".join(["n", "id", *names])
        with db.cursor().copy(f"copy pool ({copied}) from stdin") as copy:
            for n, row in enumerate(pool):
                values = [getattr(row[name], "obj", row[name]) for name in ("id", *names)]
                values = [
                    psycopg.types.json.Jsonb(value) if isinstance(value, dict) else value
                    for value in values
                ]
                copy.write_row([n, *values])
        kept = ", ".join(name for name in names if name != "record")
        # As in life, the rows of all projects come one after the other.
        db.execute(
            f"insert into ltm.memory (tenant_id, project_id, seq, id, record, {kept})"
            " select %(tenant)s, p.id, s, named,"
            " jsonb_set(record, '{id}', to_jsonb(named)),"
            f" {kept} from generate_series(1, %(share)s) s"
            " cross join (select id, row_number() over (order by slug) as nr from ltm.project) p"
            " cross join lateral (select 'mem_' || lpad(p.nr || 'x' || s, 14, '0') as named) n"
            " join pool on pool.n = (s * 7919 + p.nr * 104729) %% %(pool)s",
            {"tenant": tenant, "share": share, "pool": len(pool)},
        )
    with database.as_operator() as db:
        numbers = db.execute(
            "select id::text, row_number() over (order by slug) from ltm.project"
        ).fetchall()
    with psycopg.connect(url, autocommit=True) as db:
        db.execute("vacuum analyze")
    database.close()
    nr = dict(numbers)
    luck = random.Random(5)
    return [
        Place(
            url,
            person,
            each,
            tuple(f"mem_{f'{nr[each.id]}x{luck.randrange(share) + 1}':0>14}" for _ in range(50)),
        )
        for each in projects
    ]


def ask(store: Any, asked: Iterator[str]) -> Callable[[], object]:
    """One question to a store."""
    return lambda: store.search(next(asked), Filter(), 10)


def plain(db: Any, project: TeamProject, asked: Iterator[str]) -> Callable[[], object]:
    """The same question as one query."""

    def once() -> object:
        query = " | ".join(map(lexeme, query_terms(next(asked))))
        return db.execute(
            "select record from ltm.memory where project_id = %(project)s"
            " and words @@ %(query)s::tsquery and status = 'active'"
            " order by ts_rank(words, %(query)s::tsquery) desc limit 10",
            {"project": project.id, "query": query},
        ).fetchall()

    return once


def by_meaning(store: PostgresStore) -> list[float]:
    """Milliseconds of questions by meaning, in a project whose memories all have a vector; none
    where the database has no pgvector."""
    found = store.vectors("random", DIMENSIONS)
    if not found:
        return []
    vectors, luck = found[0], np.random.default_rng(7)

    def directions(count: int) -> Floats:
        return unit(luck.standard_normal((count, DIMENSIONS)).astype(np.float32))

    while ids := vectors.missing():
        vectors.put_memories(vectors.memories(ids), directions(len(ids)))
    asked = iter(directions(ASKED))
    return timed(lambda: vectors.nearest_memories(next(asked), Filter(), 50), ASKED)


def files(folder: Path, count: int) -> FileStore:
    """As many memories as one project has, as files."""
    vault = Vault("private", str(folder))
    vault.prepare()
    for memory in memories(count):
        Path(vault.path(codec.file_name(memory))).write_bytes(codec.to_bytes(memory))
    homes = {Scope.PROJECT: vault, Scope.AGENT: vault}
    return FileStore((vault,), homes, State(str(folder / "state.db")), Kinds())


def together(places: Sequence[Place], clients: int, seconds: float, change: bool) -> list[float]:
    """Milliseconds of each act of one process's clients, who never wait between two."""
    database = Database(places[0].url, most=clients, patience=60)
    ends = time.perf_counter() + seconds

    def work(number: int) -> list[float]:
        luck, place = random.Random(number), places[number % len(places)]
        store = PostgresStore(database, place.person, place.project)
        asked = iter(questions(5_000, seed=number))
        taken = []
        while time.perf_counter() < ends:
            start = time.perf_counter()
            if change:
                store.apply(Reinforce(luck.choice(place.ids)))
            else:
                store.search(next(asked), Filter(), 10)
            taken.append((time.perf_counter() - start) * 1000)
        return taken

    with ThreadPoolExecutor(clients) as pool:
        taken = [each for one in pool.map(work, range(clients)) for each in one]
    database.close()
    return taken


def plain_changes(place: Place, seconds: float) -> float:
    """Changes a second of one plain statement each, on one connection."""
    luck, done, ends = random.Random(1), 0, time.perf_counter() + seconds
    with psycopg.connect(place.url, autocommit=True) as db:
        while time.perf_counter() < ends:
            db.execute(
                "update ltm.memory set record = record || '{\"observations\": 2}'"
                " where project_id = %s and id = %s",
                (place.project.id, luck.choice(place.ids)),
            )
            done += 1
    return done / seconds


def file_changes(store: FileStore, seconds: float) -> float:
    """Changes a second of one writer in files."""
    ids = [each.memory.id for each in store.list(Filter(), 50).items]
    luck, done, ends = random.Random(1), 0, time.perf_counter() + seconds
    while time.perf_counter() < ends:
        store.apply(Reinforce(luck.choice(ids)))
        done += 1
    return done / seconds


def measure(url: str, count: int, given: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """All figures for one number of memories."""
    begun = time.perf_counter()
    places = fill(url, count, given.projects)
    filled = time.perf_counter() - begun
    place = places[len(places) // 2]
    database = Database(url)
    store = PostgresStore(database, place.person, place.project)
    first = timed(ask(store, iter(questions(COLD, seed=9))), COLD)
    alone = timed(ask(store, iter(questions(ASKED))), ASKED)
    meant = by_meaning(store)
    with psycopg.connect(url, autocommit=True) as db:
        sql = timed(plain(db, place.project, iter(questions(ASKED))), ASKED)
        row = db.execute("select pg_total_relation_size('ltm.memory')").fetchone()
    ends = time.perf_counter() + 3
    changed = 0
    while time.perf_counter() < ends:
        store.apply(Reinforce(place.ids[changed % 50]))
        changed += 1
    database.close()
    like_files = files(folder, count // given.projects)
    like_files.search("warm", Filter(), 1)
    asked_files = timed(ask(like_files, iter(questions(ASKED))), ASKED)
    written_files = file_changes(like_files, 3)
    like_files.close()
    figures: dict[str, Any] = {
        "memories": count,
        "in a project": count // given.projects,
        "database MB": (row[0] if row else 0) / 1e6,
        "filled in s": filled,
        "the first search ms": first[0],
        "search p50 ms": percentile(alone, 0.5),
        "search p95 ms": percentile(alone, 0.95),
        "by meaning p50 ms": percentile(meant, 0.5) if meant else 0.0,
        "by meaning p95 ms": percentile(meant, 0.95) if meant else 0.0,
        "plain SQL p50 ms": percentile(sql, 0.5),
        "plain SQL p95 ms": percentile(sql, 0.95),
        "files p50 ms": percentile(asked_files, 0.5),
        "files p95 ms": percentile(asked_files, 0.95),
        "changes a second, one client": changed / 3,
        "plain SQL changes a second": plain_changes(place, 3),
        "files changes a second": written_files,
    }
    for change, name in ((False, "searches"), (True, "changes")):
        each = given.clients // PROCESSES
        with ProcessPoolExecutor(PROCESSES, get_context("spawn")) as pool:
            parts = [places[n::PROCESSES] for n in range(PROCESSES)]
            done = [
                one
                for part in pool.map(
                    together,
                    parts,
                    [each] * PROCESSES,
                    [given.seconds] * PROCESSES,
                    [change] * PROCESSES,
                )
                for one in part
            ]
        figures[f"{given.clients} clients: {name} a second"] = len(done) / given.seconds
        figures[f"{given.clients} clients: {name} p95 ms"] = percentile(done, 0.95)
    return figures


@contextmanager
def database_of(given: argparse.Namespace, cluster: Cluster | None) -> Iterator[str]:
    """The address of an empty database."""
    if cluster is None:
        yield given.url
    else:
        name = cluster.empty()
        yield cluster.url(name)
        cluster.drop(name)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--memories", default="10000,100000")
    parser.add_argument("--projects", type=int, default=300)
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--url", help="an empty database, for one number of memories")
    parser.add_argument("--json")
    given = parser.parse_args()
    results = []
    made = nullcontext(None) if given.url else new_cluster(18, durable=True)
    with made as cluster:
        for count in map(int, given.memories.split(",")):
            with (
                database_of(given, cluster) as url,
                tempfile.TemporaryDirectory(prefix="ltm-team-") as folder,
            ):
                results.append(measure(url, count, given, Path(folder)))
    names = [name for name in results[0] if name != "memories"]
    table(
        "A team's database",
        ["figure", *[f"{result['memories']:,}" for result in results]],
        [[name, *[result[name] for result in results]] for name in names],
    )
    keep(given.json, "team", {"results": results})


if __name__ == "__main__":
    main()
