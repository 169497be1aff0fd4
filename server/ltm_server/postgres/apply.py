"""What each decision does to the rows of one project, within one transaction.

The rows a decision is about are locked and read as they are now, the pure functions of `decisions`
say what becomes of them, and all of it is written at the end: under the project's lock, which gives
each change its number in the order in which changes are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from psycopg.types.json import Jsonb

from ltm import decisions, policy
from ltm.decisions import TEXT, Applied, Decision
from ltm.errors import Conflict, NotFound, Refused
from ltm.kinds import Kinds
from ltm.model import Memory, Phase, Status, Stored, Trust, from_record, short_record
from ltm.vault import codec, frontmatter
from ltm.vault.merge import merge
from ltm.vault.vault import etag
from ltm_server.postgres.database import Person, Transaction
from ltm_server.postgres.people import TeamProject, at_least, note
from ltm_server.postgres.rows import MemoryRow, as_file, columns
from ltm_server.postgres.search import Lookup

_COLUMNS = (
    "etag, kind, scope, status, trust, phase, spared, state, tags, names, created, record,"
    " title_terms, tag_terms, text_terms, words"
)


@dataclass(slots=True)
class _Pending:
    """What becomes of one memory in this transaction."""

    before: MemoryRow | None
    after: Memory
    tag: str
    archive: bool = False

    @property
    def approves(self) -> bool:
        """Whether a memory that waited comes into force."""
        waited = self.before is not None and self.before.memory.status is Status.QUARANTINED
        return waited and self.after.status is Status.ACTIVE


class RowChanges:
    """One decision, from reading under locks to writing all it changes."""

    def __init__(
        self,
        db: Transaction,
        project: TeamProject,
        person: Person,
        kinds: Kinds,
        at: datetime,
        *,
        held: Iterable[Trust],
        client: str = "",
        bases: Mapping[str, str] | None = None,
        before: Memory | None = None,
    ) -> None:
        """`held` are those whose words wait for a curator; `project.role` is that of the person.

        `bases` are the etags of memories as the decision's author saw them, by id: what others did
        since then is merged with it, as two files would be. `before` is such a state itself, for
        the case that no row ever was like this.
        """
        self.lookup = Lookup(db, project)
        self._db = db
        self._project = project
        self._person = person
        self._kinds = kinds
        self._at = at
        self._held = frozenset(held)
        self._client = client
        self._here = {"tenant": project.tenant_id, "project": project.id, "person": person.id}
        self._bases = bases or {}
        self._before = before
        self._current: dict[str, MemoryRow] = {}
        """Memories that are not as the author of the decision saw them, as they are now."""
        self._pending: dict[str, _Pending] = {}
        self._kept: list[Memory] = []
        self._stepped: list[str] = []
        self._purged: list[str] = []
        self.seq = 0
        """The number of the last change that was written, 0 if none was."""
        self._changes: Mapping[type[Decision], Callable[[Any], Applied]] = {
            decisions.Add: self._add,
            decisions.Adopt: self._adopt,
            decisions.Revise: self._revise,
            decisions.Reinforce: self._reinforce,
            decisions.Supersede: self._supersede,
            decisions.Contradict: self._contradict,
            decisions.Settle: self._settle,
            decisions.Merge: self._merge,
            decisions.Forget: self._forget,
            decisions.Reduce: self._reduce,
            decisions.Restore: self._restore,
            decisions.Sign: self._sign,
            decisions.Purge: self._purge,
        }

    def apply(self, decision: Decision, *, detail: Mapping[str, Any] | None = None) -> Applied:
        """Make a decision happen; nothing is kept before the transaction ends."""
        applied = self._changes[type(decision)](decision)
        self._write()
        approves = any(each.approves for each in self._pending.values())
        memory_id = applied.stored.memory.id
        said = dict(detail or {}) | (
            {"superseded": list(applied.superseded)} if applied.superseded else {}
        )
        note(
            self._db,
            self._project.tenant_id,
            self._project.id,
            self._person,
            "approved" if approves else applied.action,
            memory_id=memory_id,
            client=self._client,
            detail=said,
        )
        return applied

    def hold(self, ids: Sequence[str], expected: str | Mapping[str, str] = "") -> list[MemoryRow]:
        """Memories as they are now; no one else changes them before this transaction ends.

        Locks are taken in the order of ids, so that two decisions rarely wait for each other.
        """
        etags = dict.fromkeys(ids, expected) if isinstance(expected, str) else expected
        full = {each: self.lookup.find(each).memory.id for each in ids}
        rows = {each: self.lookup.row(each, lock=True) for each in sorted(set(full.values()))}
        found = []
        for given, name in full.items():
            row = rows[name]
            if row is None:
                raise Conflict(f"{name} was removed meanwhile", hint="run 'ltm list'")
            if name in self._bases:
                found.append(self._as_seen(row))
                continue
            wanted = etags.get(given, "")
            if wanted and row.etag != wanted:
                raise Conflict(
                    f"{name} was changed elsewhere meanwhile",
                    path=row.stored(self._project.slug).path,
                    hint=f"look at it with 'ltm show {name}', then make your change again",
                )
            found.append(row)
        return found

    def _as_seen(self, row: MemoryRow) -> MemoryRow:
        """A memory as the author of the decision saw it, if that is still known."""
        name, seen = row.memory.id, self._bases[row.memory.id]
        if seen == row.etag or (not seen and self._before is None):
            return row
        found = self._db.execute(
            "select record from ltm.former where tenant_id = %(tenant)s"
            " and project_id = %(project)s and id = %(id)s and etag = %(etag)s",
            self._here | {"id": name, "etag": seen},
        ).fetchone()
        memory = from_record(found[0]) if found else self._before
        if memory is None or memory.id != name or _is_same(memory, row.memory):
            return row
        self._current[name] = row
        return MemoryRow(memory, row.file, seen, row.seq)

    @property
    def merged(self) -> bool:
        """Whether others had changed what this decision is about."""
        return bool(self._current)

    def put(self, after: Memory, over: MemoryRow | None = None, *, archive: bool = False) -> Stored:
        """Let a memory be this, in the place of its former self if it had one."""
        if over is not None and after.id in self._current:
            seen, over = over, self._current[after.id]
            after = self._merge_files(seen.memory, over.memory, after)
        after = self._waiting(after, over)
        if over is not None and after == over.memory:
            return over.stored(self._project.slug)
        tag = etag(as_file(after, self._kinds))
        pending = self._pending.get(after.id)
        if pending is None:
            self._pending[after.id] = _Pending(over, after, tag, archive)
        else:
            pending.after, pending.tag, pending.archive = after, tag, pending.archive or archive
        file = over.file if over is not None else codec.file_name(after)
        return MemoryRow(after, file, tag, 0).stored(self._project.slug)

    def _merge_files(self, base: Memory, ours: Memory, theirs: Memory) -> Memory:
        path = codec.file_name(ours)
        was, here, there = (as_file(each, self._kinds) for each in (base, ours, theirs))
        data = merge(was, here, there, path)
        return codec.decode(frontmatter.parse(data, path), path, self._kinds)

    def _waiting(self, after: Memory, over: MemoryRow | None) -> Memory:
        """The memory as it may be: what is held back comes into force by a curator only."""
        if after.status is not Status.ACTIVE:
            return after
        if over is None:
            waits = after.source.trust in self._held
        elif over.memory.status is Status.ACTIVE or at_least(self._project.role, "curator"):
            waits = False
        else:
            waits = over.memory.status is Status.QUARANTINED or self._never_came_into_force(over)
        return after._replace(status=Status.QUARANTINED) if waits else after

    def _never_came_into_force(self, row: MemoryRow) -> bool:
        """Whether a memory that is forgotten or replaced was waiting before, and never approved."""
        found = self._db.execute(
            "select distinct coalesce(record->>'status', 'active') from ltm.former"
            " where tenant_id = %(tenant)s and project_id = %(project)s and id = %(id)s",
            self._here | {"id": row.memory.id},
        ).fetchall()
        had = {status for (status,) in found}
        is_held = row.memory.source.trust in self._held
        return str(Status.ACTIVE) not in had and (str(Status.QUARANTINED) in had or is_held)

    # -- the decisions ---------------------------------------------------------------------------

    def _add(self, decision: decisions.Add) -> Applied:
        return Applied("added", self._new(decision.memory))

    def _new(self, memory: Memory) -> Stored:
        self._check_free(memory.id)
        linked = memory._replace(previous=memory.previous or self._newest(memory))
        return self.put(linked)

    def _newest(self, memory: Memory) -> str:
        return self.lookup.newest(memory.kind, str(memory.scope))

    def _check_free(self, memory_id: str) -> None:
        if self.lookup.row(memory_id) is not None:
            raise Refused(f"a memory with the id {memory_id} is already there")
        if self.lookup.is_purged(memory_id):
            raise Refused(
                f"{memory_id} was purged and does not come back",
                hint="to say it again, remember it again",
            )

    def _adopt(self, decision: decisions.Adopt) -> Applied:
        for copy in decision.copies:
            if not copy.over:
                self._check_free(copy.memory.id)
            row = self.hold((copy.memory.id,), copy.over)[0] if copy.over else None
            for kept in copy.kept:
                self._keep(self._waiting(kept, row))
            stored = self.put(copy.memory, row)
        return Applied("adopted", stored)

    def _revise(self, decision: decisions.Revise) -> Applied:
        (row,) = self.hold((decision.id,), decision.expected)
        memory = whole = row.memory
        if memory.phase is not Phase.FULL:
            whole = policy.whole(memory, self._versions(memory.id))
        approves = decision.changes.get("status") is Status.ACTIVE
        if approves and memory.status is Status.QUARANTINED:
            self._check("curator", "approve what waits")
        after = decisions.revised(memory, decision.changes, self._at, whole=whole)
        return Applied("revised", self.put(after, row))

    def _reinforce(self, decision: decisions.Reinforce) -> Applied:
        (row,) = self.hold((decision.id,), decision.expected)
        memory, wording = row.memory, decision.wording
        after = decisions.reinforced(memory, decision.source, self._at)
        if wording is not None and wording.text.strip() != memory.text.strip():
            kept = self._versions(memory.id)
            whole = policy.whole(memory, kept)
            if wording.text.strip() not in {each.text.strip() for each in (whole, *kept)}:
                other = decisions.reworded(whole, wording)
                self._keep(other)
                after = after._replace(
                    content=whole.content, phase=Phase.FULL, version=other.version + 1
                )
        after = decisions.revised(after, decision.changes, self._at)
        return Applied("reinforced", self.put(after, row))

    def _forget(self, decision: decisions.Forget) -> Applied:
        (row,) = self.hold((decision.id,), decision.expected)
        stored = self.put(decisions.forgotten(row.memory, self._at), row)
        self._release(row.memory)
        return Applied("forgotten", stored)

    def _supersede(self, decision: decisions.Supersede) -> Applied:
        old = self.hold(decision.ids, decision.expected)
        by, ids = decision.by, tuple(each.memory.id for each in old)
        newer = by._replace(
            supersedes=tuple(dict.fromkeys((*by.supersedes, *ids))),
            previous=by.previous or self._newest(by),
            version=max([each.memory.version for each in old], default=0) + 1,
        )
        self._check_free(newer.id)
        stored = self.put(newer)
        self._retire(old, newer.id)
        return Applied("superseded", stored, ids)

    def _contradict(self, decision: decisions.Contradict) -> Applied:
        by, at = decision.by, self._at
        there = self.lookup.row(by.id) is not None
        names = (*decision.ids, by.id) if there else decision.ids
        old = self.hold(names, decision.etags)
        mine = old.pop() if there else None
        ids = [each.memory.id for each in old]
        if mine is None:
            newer = decisions.contradicted(by, ids, at)._replace(updated=by.updated)
            stored = self._new(newer)
        else:
            stored = self.put(decisions.contradicted(mine.memory, ids, at), mine)
        for each in old:
            self.put(decisions.contradicted(each.memory, [stored.memory.id], at), each)
        return Applied("contradicted", stored)

    def _settle(self, decision: decisions.Settle) -> Applied:
        row, *others = self.hold((decision.id, *decision.others))
        at, memory, both = self._at, row.memory, decision.all_hold
        gone = tuple(each.memory.id for each in others)
        after = decisions.settled(memory, gone, at, all_hold=both)
        if both:
            stored = self.put(after, row)
            for each in others:
                rest = decisions.settled(each.memory, {memory.id}, at, all_hold=True)
                self.put(rest, each)
            return Applied("settled", stored)
        names = tuple(dict.fromkeys((*memory.supersedes, *gone)))
        stored = self.put(after._replace(supersedes=names, confirmed=at, updated=at), row)
        self._retire(others, memory.id)
        return Applied("settled", stored, gone)

    def _merge(self, decision: decisions.Merge) -> Applied:
        row, *others = self.hold((decision.into, *decision.ids), decision.etags)
        parts = [each.memory for each in others]
        after = decisions.merged(row.memory, parts, decision.content, self._at)
        stored = self.put(after, row)
        self._retire(others, row.memory.id)
        return Applied("merged", stored, decision.ids)

    def _retire(self, old: Sequence[MemoryRow], by: str) -> None:
        for each in old:
            self.put(decisions.superseded(each.memory, by, self._at), each, archive=True)
        self._release(*(each.memory for each in old))

    def _release(self, *gone: Memory) -> None:
        """End the conflicts that other memories had with these."""
        ids = {each.id for each in gone}
        for name in sorted({name for each in gone for name in each.conflicts} - ids):
            row = self.lookup.row(name, lock=True)
            if row is not None:
                pending = self._pending.get(name)
                memory = pending.after if pending else row.memory
                self.put(decisions.settled(memory, ids, self._at, all_hold=False), row)

    def _reduce(self, decision: decisions.Reduce) -> Applied:
        (row,) = self.hold((decision.id,), decision.expected)
        memory = row.memory
        original, is_kept = policy.original(memory, self._versions(memory.id))
        after = decisions.reduced(memory, original, decision.phase)
        if after == memory:
            return Applied("reduced", row.stored(self._project.slug))
        if not is_kept:
            self._keep(original)
        self._stepped.append(memory.id)
        return Applied("reduced", self.put(after, row))

    def _restore(self, decision: decisions.Restore) -> Applied:
        (row,) = self.hold((decision.id,), decision.expected)
        memory, kept = row.memory, self._versions(row.memory.id)
        original = _original(memory, kept, decision.version)
        same = [each.status for each in kept if each.version == memory.version]
        was = same[-1] if same and memory.status is not Status.ACTIVE else memory.status
        after = decisions.restored(memory, original, self._at, was=was)
        return Applied("restored", self.put(after, row))

    def _sign(self, decision: decisions.Sign) -> Applied:
        raise Refused(
            f"{decision.id} is kept by a team, whose server has no key to sign with",
            hint="sign it in files of your own: ltm team export",
        )

    def _purge(self, decision: decisions.Purge) -> Applied:
        (row,) = self.hold((decision.id,), decision.expected)
        self._check("curator", "purge")
        self._purged.append(row.memory.id)
        self._release(row.memory)
        return Applied("purged", row.stored(self._project.slug))

    def _check(self, least: str, what: str) -> None:
        if not at_least(self._project.role, least):
            raise Refused(
                f"only a {least} may {what}, and you are a {self._project.role}"
                f" of {self._project.slug}",
                hint=f"ask a {least} of the project",
            )

    def _versions(self, memory_id: str) -> list[Memory]:
        return [from_record(record) for *_, record in self.lookup.versions([memory_id])]

    def _keep(self, memory: Memory) -> None:
        """Keep a version that was never a row."""
        as_file(memory, self._kinds)
        self._kept.append(memory)

    # -- writing ---------------------------------------------------------------------------------

    def _write(self) -> None:
        for memory in self._kept:
            self._keep_row(memory, etag(as_file(memory, self._kinds)), kept=True)
        if self._pending or self._purged:
            self.seq = self._last_seq()
        for pending in self._pending.values():
            self.seq += 1
            self._write_row(pending)
        for memory_id in self._purged:
            self.seq += 1
            self._erase(memory_id)
        for memory_id in self._stepped:
            self._db.execute(
                "insert into ltm.usage (tenant_id, project_id, id, uses, uses_then, marked,"
                " idle_from, first_day) values (%(tenant)s, %(project)s, %(id)s, 0, 0, %(at)s,"
                " %(at)s::date, %(at)s::date) on conflict (tenant_id, project_id, id)"
                " do update set uses_then = usage.uses, idle_from = excluded.idle_from",
                self._here | {"id": memory_id, "at": self._at},
            )

    def _last_seq(self) -> int:
        """The number of the last change; no other transaction gets one before this one ends.

        Numbers are thus in the order in which changes are kept, and who has seen one of them has
        seen all before it.
        """
        self._db.execute(
            "select pg_advisory_xact_lock(hashtextextended(%(tenant)s || %(project)s, 0))",
            self._here,
        )
        return self.lookup.last_change()

    def _write_row(self, pending: _Pending) -> None:
        before, after = pending.before, pending.after
        values = (
            columns(after, pending.tag)
            | self._here
            | {"seq": self.seq, "file": before.file if before else codec.file_name(after)}
        )
        if before is None:
            named = ", ".join(f"%({name.strip()})s" for name in _COLUMNS.split(","))
            self._db.execute(
                f"insert into ltm.memory (tenant_id, project_id, author, id, seq, file, {_COLUMNS})"
                " values (%(tenant)s, %(project)s, %(person)s, %(id)s, %(seq)s, %(file)s,"
                f" {named})",
                values,
            )
            return
        is_version = pending.archive or any(
            getattr(before.memory, field) != getattr(after, field) for field in TEXT
        )
        self._keep_row(before.memory, before.etag, kept=is_version)
        named = ", ".join(f"{name.strip()} = %({name.strip()})s" for name in _COLUMNS.split(","))
        self._db.execute(
            f"update ltm.memory set author = %(person)s, seq = %(seq)s, {named}"
            " where tenant_id = %(tenant)s and project_id = %(project)s and id = %(id)s",
            values,
        )

    def _keep_row(self, memory: Memory, tag: str, *, kept: bool) -> None:
        self._db.execute(
            "insert into ltm.former"
            " (tenant_id, project_id, id, etag, version, kept, record, replaced)"
            " values (%(tenant)s, %(project)s, %(id)s, %(etag)s, %(version)s, %(kept)s, %(record)s,"
            " %(at)s) on conflict (tenant_id, project_id, id, etag)"
            " do update set kept = former.kept or excluded.kept, replaced = excluded.replaced",
            self._here
            | {
                "id": memory.id,
                "etag": tag,
                "version": memory.version,
                "kept": kept,
                "record": Jsonb(short_record(memory)),
                "at": self._at,
            },
        )

    def _erase(self, memory_id: str) -> None:
        values = self._here | {"id": memory_id, "seq": self.seq}
        for query in (
            "delete from ltm.former"
            " where tenant_id = %(tenant)s and project_id = %(project)s and id = %(id)s",
            "delete from ltm.usage"
            " where tenant_id = %(tenant)s and project_id = %(project)s and id = %(id)s",
            "delete from ltm.memory"
            " where tenant_id = %(tenant)s and project_id = %(project)s and id = %(id)s",
            "insert into ltm.purged (tenant_id, project_id, id, seq, person_id)"
            " values (%(tenant)s, %(project)s, %(id)s, %(seq)s, %(person)s)",
        ):
            self._db.execute(query, values)


def _is_same(memory: Memory, current: Memory) -> bool:
    """Whether nothing differs but the times, which a copy and the server note each for
    itself."""
    return memory._replace(updated=current.updated, confirmed=current.confirmed) == current


def _original(memory: Memory, kept: Sequence[Memory], version: int) -> Memory | None:
    """The text to bring back: the version asked for, else the newest that is whole."""
    if version:
        wanted = [each for each in kept if each.version == version]
        for each in reversed(wanted):
            if each.phase is Phase.FULL:
                return each
        if wanted:
            return wanted[-1]
        numbers = ", ".join(str(each.version) for each in kept) or "none"
        raise NotFound(
            f"{memory.id} has no kept version {version}", hint=f"kept versions: {numbers}"
        )
    if memory.phase is Phase.FULL and memory.text:
        return None
    return policy.whole(memory, kept)
