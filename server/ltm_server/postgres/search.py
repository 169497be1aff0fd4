"""Looking memories up in one project: by id, by filter and by words.

The database finds candidates with `ts_rank`, weighed by how rare each word is in the project;
`text/bm25` puts the best of them in the order that files have.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ltm.errors import Ambiguous, NotFound
from ltm.model import Filter, Stored, from_record
from ltm.store.store import Match, Matches
from ltm.text.bm25 import DISCOUNT, SATURATION, TAGS, TEXT, TITLE, USUAL, rarity, relevance
from ltm.text.terms import question_terms
from ltm_server.postgres.database import Transaction, one
from ltm_server.postgres.people import TeamProject
from ltm_server.postgres.rows import MemoryRow, lexeme

_MOST_WORDS = 64  # of a long question, which may be a whole text
_CANDIDATES = 100  # at least so many matches are ranked by `text/bm25`
_ONCE = TITLE * 1.645  # how often a title has a word of which `ts_rank` says 1
_BYTES = 6.5  # of a word and the space after it
_PAGE = 200  # memories that a walk over all of them holds at once
_SHOWN_OF_LEGACY = 8  # characters of an id that LTM/Anima prints


class Lookup:
    """The questions about the memories of one project, within one transaction."""

    def __init__(self, db: Transaction, project: TeamProject) -> None:
        self._db = db
        self._slug = project.slug
        self._here = {"tenant": project.tenant_id, "project": project.id}

    def row(self, memory_id: str, *, lock: bool = False) -> MemoryRow | None:
        """The memory of an id; with `lock`, no one else changes it before this transaction ends."""
        found = self._db.execute(
            "select record, file, etag, seq from ltm.memory"
            " where tenant_id = %(tenant)s and project_id = %(project)s and id = %(id)s"
            + (" for update" if lock else ""),
            self._here | {"id": memory_id},
        ).fetchone()
        return _row(*found) if found else None

    def is_purged(self, memory_id: str) -> bool:
        """Whether a memory of this id was purged."""
        gone = self._db.execute(
            "select count(*) from ltm.purged where tenant_id = %(tenant)s"
            " and project_id = %(project)s and id = %(id)s",
            self._here | {"id": memory_id},
        ).fetchone()
        return bool(one(gone))

    def last_change(self) -> int:
        """The number of the project's last change; 0 if there was none."""
        row = self._db.execute(
            "select greatest("
            "(select max(seq) from ltm.memory"
            " where tenant_id = %(tenant)s and project_id = %(project)s),"
            " (select max(seq) from ltm.purged"
            " where tenant_id = %(tenant)s and project_id = %(project)s), 0)",
            self._here,
        ).fetchone()
        return int(one(row))

    def find(self, text: str) -> MemoryRow:
        """The memory that a full or short id means."""
        if (found := self.row(text)) is not None:
            return found
        ids = self._ids_like(text, 6) if len(text) >= 3 else []
        if len(ids) > 1:
            shown = ", ".join(ids[:5])
            raise Ambiguous(f"'{text}' fits several memories: {shown}", hint="type more of the id")
        row = self.row(ids[0]) if ids else None
        if row is None:
            raise NotFound(
                f"there is no memory '{text}' in this project",
                hint="find it with 'ltm recall WORDS' or 'ltm list'",
            )
        return row

    def _ids_like(self, text: str, most: int) -> list[str]:
        escaped = text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
        legacy = "%" if len(text) >= _SHOWN_OF_LEGACY else ""
        rows = self._db.execute(
            "select id from ltm.memory where tenant_id = %(tenant)s and project_id = %(project)s"
            " and (id like %(begun)s or id like %(named)s or id like %(ended)s"
            " or record->>'legacy_id' like %(legacy)s) order by id collate \"C\" limit %(most)s",
            self._here
            | {
                "begun": f"{escaped}%",
                "named": f"mem\\_{escaped}%",
                "ended": f"%{escaped}",
                "legacy": f"{escaped}{legacy}",
                "most": most,
            },
        )
        return [row[0] for row in rows]

    def page(
        self, wanted: Filter, limit: int | None, offset: int
    ) -> tuple[tuple[Stored, ...], int]:
        """A page of memories, newest first, and how many there are in all."""
        condition, values = where(wanted)
        values |= self._here
        rows = self._db.execute(
            "select record, file, etag, seq from ltm.memory m"
            f" where tenant_id = %(tenant)s and project_id = %(project)s and {condition}"
            ' order by created desc, id collate "C" desc limit %(limit)s offset %(offset)s',
            values | {"limit": limit, "offset": offset},
        ).fetchall()
        items = tuple(stored_row(row, self._slug) for row in rows)
        if limit is None and not offset:
            return items, len(items)
        counted = self._db.execute(
            "select count(*) from ltm.memory m"
            f" where tenant_id = %(tenant)s and project_id = %(project)s and {condition}",
            values,
        ).fetchone()
        return items, int(counted[0]) if counted else 0

    def after(self, last: str, wanted: Filter) -> list[Stored]:
        """The next memories in the order of their ids; few at a time."""
        condition, values = where(wanted)
        rows = self._db.execute(
            "select record, file, etag, seq from ltm.memory m"
            " where tenant_id = %(tenant)s and project_id = %(project)s"
            f' and id collate "C" > %(last)s and {condition}'
            ' order by id collate "C" limit %(page)s',
            values | self._here | {"last": last, "page": _PAGE},
        )
        return [stored_row(row, self._slug) for row in rows]

    def newest(self, kind: str, scope: str) -> str:
        """Id of the newest active memory of a kind, or nothing."""
        row = self._db.execute(
            "select id from ltm.memory where tenant_id = %(tenant)s and project_id = %(project)s"
            " and kind = %(kind)s and scope = %(scope)s and status = 'active'"
            ' order by created desc, id collate "C" desc limit 1',
            self._here | {"kind": kind, "scope": scope},
        ).fetchone()
        return str(row[0]) if row else ""

    def search(self, query: str, wanted: Filter, limit: int) -> Matches:
        """The memories that match any word of a question, best first."""
        words = question_terms(query)[:_MOST_WORDS]
        if not words:
            return Matches()
        asked = {f"word{n}": lexeme(word) for n, word in enumerate(words)}
        ranks = [f"ts_rank(%(weights)s::real[], words, %({name})s::tsquery)" for name in asked]
        each = range(1, len(words) + 1)
        holders = [f"count(*) filter (where ranks[{n}] > 0)" for n in each]
        # What `text/bm25` makes of these figures, as far as `ts_rank` tells how often a word is
        # there; the length of a text is told by its bytes. Not in the exact numbers of PostgreSQL,
        # whose logarithm is slow.
        telling = [
            f"ln(1 + (memories - holders[{n}] + 0.5::float8) / (holders[{n}] + 0.5::float8))"
            for n in each
        ]
        score = [f"telling[{n}] * ranks[{n}] / (ranks[{n}] + discount)" for n in each]
        condition, more = where(wanted)
        rows = self._db.execute(
            "with hits as materialized (select id, file, title_terms, tag_terms, text_terms,"
            f" {condition} as is_wanted, array[{', '.join(ranks)}] as ranks,"
            " %(short)s + %(long)s * octet_length(text_terms) as discount"
            " from ltm.memory m where tenant_id = %(tenant)s and project_id = %(project)s"
            " and words @@ %(any)s::tsquery),"
            " figures as (select count(*) filter (where is_wanted) as total,"
            f" array[{', '.join(holders)}] as holders, (select count(*) from ltm.memory"
            " where tenant_id = %(tenant)s and project_id = %(project)s) as memories from hits),"
            f" weights as materialized (select *, array[{', '.join(telling)}] as telling"
            " from figures)"
            " select total, memories, holders, id, file, title_terms, tag_terms, text_terms"
            " from hits, weights where is_wanted"
            f' order by {" + ".join(score)} desc, file collate "C" desc limit %(most)s',
            self._here
            | asked
            | more
            | {
                "any": " | ".join(asked.values()),
                "weights": [TEXT / TITLE, 0.0, TAGS / TITLE, 1.0],
                "most": max(limit, _CANDIDATES),
                "short": SATURATION * (1 - DISCOUNT) / _ONCE,
                "long": SATURATION * DISCOUNT / USUAL / _BYTES / _ONCE,
            },
        ).fetchall()
        if not rows:
            return Matches()
        total, memories, held, *_ = rows[0]
        rarities = {word: rarity(has, memories) for word, has in zip(words, held, strict=True)}
        scored = []
        for *_, name, file, title, tags, text in rows:
            scored.append((*relevance(rarities, title, tags, text), file, name))
        scored.sort(key=lambda item: (item[0], item[2]), reverse=True)
        best = self._rows([name for *_, name in scored[:limit]])
        items = tuple(
            Match(best[name].stored(self._slug), score, matched)
            for score, matched, _, name in scored[:limit]
            if name in best  # it may be purged by now
        )
        return Matches(items, total)

    def _rows(self, ids: Sequence[str]) -> dict[str, MemoryRow]:
        rows = self._db.execute(
            "select record, file, etag, seq, id from ltm.memory"
            " where tenant_id = %(tenant)s and project_id = %(project)s and id = any(%(ids)s)",
            self._here | {"ids": list(ids)},
        )
        return {name: _row(*row) for *row, name in rows}

    def versions(self, ids: Sequence[str]) -> Iterator[tuple[str, int, str, Any]]:
        """(id, version, etag, record) of what is kept of memories, oldest first."""
        rows = self._db.execute(
            "select id, version, etag, record from ltm.former"
            " where tenant_id = %(tenant)s and project_id = %(project)s"
            ' and id = any(%(ids)s) and kept order by id, version, etag collate "C"',
            self._here | {"ids": list(ids)},
        )
        yield from rows

    def counts(self) -> list[tuple[str, str, str, int, int]]:
        """(kind, scope, status, phase, how many) for each combination there is."""
        rows = self._db.execute(
            "select kind, scope, status, phase, count(*) from ltm.memory"
            " where tenant_id = %(tenant)s and project_id = %(project)s"
            " group by kind, scope, status, phase order by kind, scope, status, phase",
            self._here,
        )
        return [(row[0], row[1], row[2], row[3], row[4]) for row in rows]


def where(wanted: Filter) -> tuple[str, dict[str, Any]]:
    """A filter as a condition on `memory m`, with its values."""
    clauses: list[str] = ["true"]
    values: dict[str, Any] = {}
    columns: tuple[tuple[str, Sequence[Any] | None], ...] = (
        ("kind", wanted.kinds or None),
        ("status", [str(each) for each in wanted.statuses] or None),
        ("scope", [str(each) for each in wanted.scopes] or None),
        ("phase", [int(each) for each in wanted.phases] or None),
        ("id", wanted.ids),
    )
    for column, options in columns:
        if options is not None:
            clauses.append(f"m.{column} = any(%({column}s)s)")
            values[f"{column}s"] = list(options)
    if wanted.tags:
        clauses.append("m.tags @> %(tags)s::text[]")
        values["tags"] = [tag.lower() for tag in wanted.tags]
    if wanted.state:
        clauses.append("m.state = %(state)s")
        values["state"] = wanted.state
    if wanted.naming:
        clauses.append("m.names @> %(naming)s::text[]")
        values["naming"] = [wanted.naming]
    if wanted.spared:
        clauses.append("m.spared")
    return " and ".join(clauses), values


def stored_row(row: Sequence[Any], slug: str) -> Stored:
    """A row of record, file, etag and number as a memory with where it lies."""
    return _row(*row).stored(slug)


def _row(record: Any, file: str, tag: str, seq: int) -> MemoryRow:
    return MemoryRow(from_record(record), file, tag, seq)
