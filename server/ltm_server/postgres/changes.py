"""The server's side of sync: decisions in, each applied once; changes out, in the order they
were kept in.

A decision that was made on an older state of a memory is merged with what others did since, by the
rules that merge files. What is handed out comes in the order of its numbers, and a number is given
under a lock that is held until the change is kept: so a copy that has seen one has seen all before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from psycopg.types.json import Jsonb

from ltm import decisions
from ltm.decisions import Decision
from ltm.errors import Ambiguous, Conflict, NotFound, Refused, WrongUsage
from ltm.model import Memory, as_record, from_record
from ltm.record import NamedTuple
from ltm_server.postgres.database import Database, Transaction, one
from ltm_server.postgres.people import People
from ltm_server.postgres.search import Lookup
from ltm_server.postgres.store import PostgresStore

DAYS = 30
"""How long keys of decisions and states to merge with are known."""

_LONGEST_KEY = 200
_OF_ONE = (
    decisions.Revise,
    decisions.Forget,
    decisions.Reduce,
    decisions.Restore,
    decisions.Sign,
)


class Sent(NamedTuple):
    """A decision from a copy of the project."""

    key: str
    """Names this decision among all of the person: sent again, it is answered and not repeated."""
    decision: Decision
    base: str = ""
    """Etag of the memory as the copy had it; '' for what was not there before."""
    before: Memory | None = None
    """That state itself, if only the copy ever had it: what it made of a change not sent yet."""


class Receipt(NamedTuple):
    """What became of a decision."""

    key: str
    action: str = ""
    id: str = ""
    etag: str = ""
    seq: int = 0
    merged: bool = False
    """Whether others had changed the memory meanwhile."""
    error: str = ""
    """Why nothing was changed, if so."""
    hint: str = ""


class Changed(NamedTuple):
    """A memory as it is after its latest change."""

    seq: int
    id: str
    file: str
    etag: str
    record: Mapping[str, Any] | None
    """None when it was purged: no byte of it, nor of its versions, is to be kept."""
    author: str
    """The name of the person who made the change."""


class Pulled(NamedTuple):
    """Changes in the order in which they were kept, each memory once."""

    changes: tuple[Changed, ...]
    cursor: int
    """Where to go on."""
    more: bool


def push(store: PostgresStore, sent: Sequence[Sent]) -> list[Receipt]:
    """Apply decisions in their order, each whole or not at all; one that is refused stops no other.

    A database that cannot be reached is raised: what has no receipt is sent again, with its key.
    """
    receipts = []
    for each in sent:
        try:
            receipts.append(_applied(store, each))
        except (Refused, NotFound, Ambiguous, Conflict, WrongUsage) as error:
            receipts.append(Receipt(each.key, error=error.message, hint=error.hint))
    return receipts


def pull(store: PostgresStore, after: int, limit: int = 500) -> Pulled:
    """The next changes after a number, tombstones and purges included."""
    here = {"tenant": store.project.tenant_id, "project": store.project.id}
    with store.asking() as db:
        rows = db.execute(
            "select c.seq, c.id, c.file, c.etag, c.record, coalesce(p.name, '')"
            " from (select seq, id, file, etag, record, author from ltm.memory"
            " where tenant_id = %(tenant)s and project_id = %(project)s and seq > %(after)s"
            " union all select seq, id, '', '', null, person_id from ltm.purged"
            " where tenant_id = %(tenant)s and project_id = %(project)s and seq > %(after)s) c"
            " left join ltm.person p on p.tenant_id = %(tenant)s and p.id = c.author"
            " order by c.seq limit %(most)s",
            here | {"after": after, "most": limit + 1},
        ).fetchall()
        if not rows and after > Lookup(db, store.project).last_change():
            raise Conflict(
                "the team's database is older than this copy: it was restored from a backup",
                hint="take everything again, from the beginning",
            )
    changes = tuple(
        Changed(seq, name, file, tag, as_record(from_record(record)) if record else None, author)
        for seq, name, file, tag, record, author in rows[:limit]
    )
    return Pulled(changes, changes[-1].seq if changes else after, len(rows) > limit)


def tidy(database: Database, days: int = DAYS) -> int:
    """Delete keys and states that are older than `DAYS`; return how many. For the operator."""
    gone = 0
    people = People(database)
    with database.as_operator() as db:
        tenants = [row[0] for row in db.execute("select id::text from ltm.tenant").fetchall()]
    for project in (found for each in tenants for found in people.projects(each)):
        values = (project.tenant_id, project.id, days)
        with database.as_operator() as db:
            for query in (
                "delete from ltm.former where tenant_id = %s and project_id = %s and not kept"
                " and replaced < now() - make_interval(days => %s)",
                "delete from ltm.applied where tenant_id = %s and project_id = %s"
                " and at < now() - make_interval(days => %s)",
            ):
                gone += db.execute(query, values).rowcount
    return gone


def _applied(store: PostgresStore, sent: Sent) -> Receipt:
    if not 0 < len(sent.key) <= _LONGEST_KEY or "\0" in sent.key:
        raise Refused(f"a key has 1 to {_LONGEST_KEY} characters", hint="send it with another key")
    values = {
        "tenant": store.project.tenant_id,
        "project": store.project.id,
        "person": store.person.id,
        "key": sent.key,
    }

    def change(db: Transaction) -> Receipt:
        # Who sends the same key at the same time waits here until this one is through.
        taken = db.execute(
            "insert into ltm.applied (tenant_id, project_id, person_id, key, answer)"
            " values (%(tenant)s, %(project)s, %(person)s, %(key)s, '{}')"
            " on conflict (tenant_id, project_id, person_id, key) do nothing",
            values,
        ).rowcount
        if not taken:
            known = db.execute(
                "select answer from ltm.applied where tenant_id = %(tenant)s"
                " and project_id = %(project)s and person_id = %(person)s and key = %(key)s",
                values,
            ).fetchone()
            return Receipt(**one(known))
        decision, bases = _rebased(sent)
        work = store.work(db, bases, sent.before)
        applied = work.apply(decision, detail={"key": sent.key})
        memory = applied.stored.memory
        receipt = Receipt(
            sent.key, applied.action, memory.id, applied.stored.etag, work.seq, work.merged
        )
        db.execute(
            "update ltm.applied set answer = %(answer)s where tenant_id = %(tenant)s"
            " and project_id = %(project)s and person_id = %(person)s and key = %(key)s",
            values | {"answer": Jsonb(receipt._asdict())},
        )
        return receipt

    return store.changing(change)


def _rebased(sent: Sent) -> tuple[Decision, dict[str, str]]:
    """The decision without what it expects, and the states its author saw, by id.

    What is said about several memories holds for them as they are now, and so does a purge. So does
    a confirmation: two of them at the same second would look like one to a merge.
    """
    decision = sent.decision
    if isinstance(decision, _OF_ONE):
        return replace(decision, expected=""), {decision.id: sent.base}
    if isinstance(decision, decisions.Adopt):
        return decision, {each.memory.id: each.over for each in decision.copies if each.over}
    if isinstance(decision, decisions.Supersede | decisions.Reinforce | decisions.Purge):
        return replace(decision, expected=""), {}
    if isinstance(decision, decisions.Contradict | decisions.Merge):
        return replace(decision, etags={}), {}
    return decision, {}
