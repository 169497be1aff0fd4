"""The vectors of a project's memories, where the database has pgvector: derived, and scanned whole.

They are kept and asked for as `index.vectors` does it for files, so that search by meaning is the
same for both. Memories get theirs in the order of their changes: a change gives a memory a new
number, so that those without a vector are the ones above the highest number that has one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from psycopg import sql

from ltm.model import Filter, Stored
from ltm_server.postgres.database import Transaction
from ltm_server.postgres.people import TeamProject
from ltm_server.postgres.search import stored_row, where

if TYPE_CHECKING:
    from ltm.index.vector_blocks import Floats
    from ltm.index.vectors import Direction

_NEXT = 500  # memories without a vector that are named at once


class ProjectVectors:
    """The vectors one model made of the memories of one project."""

    def __init__(
        self,
        asking: Callable[[], AbstractContextManager[Transaction]],
        project: TeamProject,
        model: str,
        schema: str,
    ) -> None:
        """`asking` begins a transaction of who asks; `schema` is where pgvector is."""
        self._asking = asking
        self._slug = project.slug
        self._here = {"tenant": project.tenant_id, "project": project.id, "model": model}
        place = sql.Identifier(schema).as_string()
        self._type = f"{place}.halfvec"
        self._likeness = f"-(v.direction operator({place}.<#>) %(query)s::{self._type})"

    def missing(self) -> list[str]:
        """The ids of the next memories in force that have no vector; [] when all have one."""
        with self._asking() as db:
            rows = db.execute(
                "select id from ltm.memory where tenant_id = %(tenant)s"
                " and project_id = %(project)s and status = 'active' and seq >"
                " (select coalesce(max(seq), 0) from ltm.vector where tenant_id = %(tenant)s"
                " and project_id = %(project)s and model = %(model)s) order by seq limit %(most)s",
                self._here | {"most": _NEXT},
            )
            return [row[0] for row in rows]

    def drop_gone(self) -> None:
        """Leave no vector of what is no longer in force, or was changed since."""
        with self._asking() as db:
            db.execute(
                "delete from ltm.vector v where v.tenant_id = %(tenant)s"
                " and v.project_id = %(project)s and not exists (select from ltm.memory m"
                " where m.tenant_id = v.tenant_id and m.project_id = v.project_id and m.id = v.id"
                " and m.seq = v.seq and m.status = 'active')",
                self._here,
            )

    def memories(self, ids: Sequence[str]) -> list[Stored]:
        """The memories of these ids that are in force, in the order of their changes."""
        with self._asking() as db:
            rows = db.execute(
                "select record, file, etag, seq from ltm.memory where tenant_id = %(tenant)s"
                " and project_id = %(project)s and id = any(%(ids)s) and status = 'active'"
                " order by seq",
                self._here | {"ids": list(ids)},
            )
            return [stored_row(row, self._slug) for row in rows]

    def put_memories(self, memories: Sequence[Stored], vectors: Floats) -> None:
        """Keep the vectors of memories, of those that are still as they are here."""
        with self._asking() as db:
            db.execute(
                "insert into ltm.vector (tenant_id, project_id, id, model, seq, direction)"
                " select m.tenant_id, m.project_id, m.id, %(model)s, m.seq,"
                f" given.direction::{self._type} from ltm.memory m"
                " join unnest(%(ids)s::text[], %(etags)s::text[], %(vectors)s::text[])"
                " as given(id, etag, direction) on given.id = m.id and given.etag = m.etag"
                " where m.tenant_id = %(tenant)s and m.project_id = %(project)s order by m.id"
                " on conflict (tenant_id, project_id, id, model)"
                " do update set seq = excluded.seq, direction = excluded.direction",
                self._here
                | {
                    "ids": [each.memory.id for each in memories],
                    "etags": [each.etag for each in memories],
                    "vectors": [str(each) for each in vectors.tolist()],
                },
            )

    def nearest_memories(
        self, query: Direction, wanted: Filter, limit: int, least: float = -1.0
    ) -> list[tuple[Stored, float]]:
        """The memories most like a vector of unit length, among those a filter wants and that are
        at least so like it."""
        condition, values = where(wanted)
        with self._asking() as db:
            rows = db.execute(
                f"select m.record, m.file, m.etag, m.seq, {self._likeness} as likeness"
                " from ltm.vector v join ltm.memory m on m.tenant_id = v.tenant_id"
                " and m.project_id = v.project_id and m.id = v.id and m.seq = v.seq"
                " where v.tenant_id = %(tenant)s and v.project_id = %(project)s"
                f" and v.model = %(model)s and {self._likeness} >= %(least)s and {condition}"
                ' order by likeness desc, m.id collate "C" limit %(most)s',
                self._here | values | {"query": _written(query), "most": limit, "least": least},
            )
            return [(stored_row(row[:4], self._slug), float(row[4])) for row in rows]

    def likeness_of(self, query: Direction, memories: Collection[Stored]) -> dict[str, float]:
        """How like a vector of unit length memories are, by id; those without one are left out."""
        with self._asking() as db:
            rows = db.execute(
                f"select v.id, {self._likeness} from ltm.vector v join ltm.memory m"
                " on m.tenant_id = v.tenant_id and m.project_id = v.project_id and m.id = v.id"
                " and m.seq = v.seq where v.tenant_id = %(tenant)s and v.project_id = %(project)s"
                " and v.model = %(model)s and v.id = any(%(ids)s)",
                self._here
                | {"query": _written(query), "ids": [each.memory.id for each in memories]},
            )
            return {name: float(likeness) for name, likeness in rows}


def _written(query: Direction) -> str:
    """A vector as the database reads it."""
    return str([float(part) for part in query])
