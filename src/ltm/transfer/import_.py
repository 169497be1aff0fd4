"""Ltm import: compare, write, report.

What a store holds already, so that nothing is taken in twice.

Owns the three ways of knowing a memory again: by its id, by the id it has in its source, by what it
says. One walk over the store, then look-ups only. Imports core and the store's port.

Where imported memories go: each to its own project and agent, and nowhere else.

Owns the way from what a source says of a memory's project and agent to the store it belongs in.
Imports core and storage.

What came of an import. Pure; imports core.

Writing what an import decided, a batch at a time, and counting what was really written.

Owns the batches and what happens when one cannot be written: a memory that is refused is told and
left out, a disk that fails ends the import with what is in by then. Imports core, the store's port
and this package.

Taking memories in: from our own export, or from what another tool kept.

Owns the order of things: everything is read and compared before the first memory is written, then
written batch by batch, each memory whole. A run that is cut short leaves what it wrote; the next
one knows it again and goes on. Imports core and this package.

An import from beginning to end: look at a source, tell what it is, take it in, report.

Owns which importers read a source. Imports core, storage's places and this package.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, TypeAlias

from ltm.config.options import agent_name
from ltm.decisions import Adopt, Contradict, Copy
from ltm.errors import Busy, Conflict, LtmError, NotFound, Refused, StorageFailed, WrongUsage
from ltm.files.atomic import make_folder
from ltm.files.lock import Lock
from ltm.kinds import Kinds
from ltm.model import Filter, Memory, Problem, Scope, Status, Stored, Trust, as_record, new_id
from ltm.policy import Mass, is_active, masses
from ltm.project.layout import Places, places
from ltm.store.project import OpenProject
from ltm.store.share import CameAlong
from ltm.store.store import Store
from ltm.text.display import counted
from ltm.text.sameness import Sameness, judge
from ltm.transfer import own_export, vault_folder
from ltm.transfer.importer import IMPORTERS, Importer, detect, named
from ltm.transfer.importers import claude_ltm
from ltm.transfer.item import Item, as_copy, born, clean
from ltm.transfer.source import LARGE, USUAL, Origin
from ltm.transfer.vault_folder import VaultFolder
from ltm.vault import key_file
from ltm.vault.vault import MAX_FILE

_DATES = ("created", "updated", "confirmed")
_VOLATILE = (*_DATES, "version", "previous", "signature", "shown_signature")


@dataclass(frozen=True, slots=True)
class Held:
    """A memory of the store, as far as an import needs it."""

    id: str
    updated: datetime
    created: datetime
    version: int
    scope: Scope
    etag: str
    active: bool
    """Whether it is in use: in force, and not archived."""
    exact: bytes
    """Fingerprint of every field."""
    sense: bytes
    """Fingerprint of what it means, whenever it was changed."""


class StoreMemories:
    """The memories of one store, to be looked up in."""

    def __init__(self, store: Store, reusing: Collection[str] = ()) -> None:
        """`reusing` are the sources whose ids can mean another memory later on."""
        self.ids: dict[str, Held] = {}
        self._reusing = reusing
        self._legacy: dict[tuple[str, str, str], Held] = {}
        self._texts: dict[bytes, Held] = {}
        self._active: Counter[Scope] = Counter()
        for stored in store.every(Filter(statuses=())):
            self._note(stored)
        self.was_empty = not self._active.total()

    def active(self, scope: Scope) -> int:
        """How many memories of a scope are in use."""
        return self._active[scope]

    def by_legacy(self, source: str, legacy_id: str, created: datetime) -> Held | None:
        """The memory that was taken in from there under this id."""
        return self._legacy.get(self._key(source, legacy_id, created))

    def by_text(self, memory: Memory) -> Held | None:
        """A memory that says just this."""
        return self._texts.get(text_key(memory.text))

    def add(self, memory: Memory) -> None:
        """Know a memory from now on."""
        self._note(Stored(memory, "", "", ""))

    def _note(self, stored: Stored) -> None:
        memory = stored.memory
        held = Held(
            memory.id,
            memory.updated,
            memory.created,
            memory.version,
            memory.scope,
            stored.etag,
            is_active(memory),
            exact(memory),
            sense(memory),
        )
        self.ids[memory.id] = held
        self._active[memory.scope] += held.active
        if memory.source.trust is Trust.IMPORT and memory.legacy_id:
            key = self._key(memory.source.tool, memory.legacy_id, memory.created)
            self._legacy.setdefault(key, held)
        if memory.text.strip():
            self._texts.setdefault(text_key(memory.text), held)

    def _key(self, source: str, legacy_id: str, created: datetime) -> tuple[str, str, str]:
        day = created.date().isoformat() if source in self._reusing else ""
        return source, legacy_id, day


def text_key(text: str) -> bytes:
    """The same for texts that differ in blanks only: whatever else differs is kept."""
    return _digest(" ".join(text.split()))


def exact(memory: Memory) -> bytes:
    """The same for memories that are equal."""
    return _digest(json.dumps(as_record(memory)))


def sense(memory: Memory) -> bytes:
    """The same for memories that mean the same, however they came to it."""
    record = as_record(memory)
    return _digest(json.dumps({key: record[key] for key in record if key not in _VOLATILE}))


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=16).digest()


@dataclass(frozen=True, slots=True)
class Target:
    """A store and what it holds already."""

    store: Store
    known: StoreMemories
    whose: str = ""
    """The agent or the project's folder, if it is not the one that imports."""


class Targets:
    """The stores an import fills, opened when first needed. Close it afterwards."""

    def __init__(
        self,
        store: Store,
        where: Places,
        *,
        remap_agent: str = "",
        source_project: str = "",
        reusing: Collection[str] = (),
    ) -> None:
        """`store` is that of the current project and agent, and stays open."""
        self._here = where
        self._remap = agent_name(remap_agent) if remap_agent else ""
        self._only = source_project
        self._reusing = reusing
        self._found: dict[tuple[str, str], Target] = {}
        self._folders: dict[str, str | None] = {}
        self._opened: list[OpenProject] = []
        self._current = store
        self._left_out: Counter[tuple[str, str, str]] = Counter()

    def close(self) -> None:
        """Close what was opened here."""
        for project in self._opened:
            project.close()

    def here(self) -> Target:
        """The store of the current project and agent."""
        return self._target("", "")

    def of_agent(self, name: str) -> Target:
        """The store for memories of an agent's own; '' is the agent that imports."""
        agent = self._remap or (_safe_name(name) if name else "")
        return self._target("", "" if agent == self._here.agent else agent)

    def of_item(self, item: Item) -> Target | None:
        """The store an item belongs in; None, and noted, when its project is not on this machine.

        A project is found by its folder, else by its name if that is the current project's.
        """
        if item.scope is Scope.AGENT:
            return self.of_agent(item.agent)
        if not item.belongs_elsewhere:
            return None if self._only else self.here()
        name = item.project_name or os.path.basename(item.project)
        if self._only:
            return self.here() if self._only in (name, item.project) else None
        folder = self._folder(item.project)
        if folder is not None:
            return self._target(folder, "")
        if self._here.project.name in (name, name.split("/")[0]):
            return self.here()
        self._left_out[item.path, name, item.project] += 1
        return None

    def left_out(self) -> list[Problem]:
        """What found no project here, and how to take it in all the same."""
        return [
            Problem(
                path,
                f"{counted(count, 'memory')} of the project '{name}'"
                f"{f' ({folder})' if folder else ''} left out:"
                f" run this in its folder with --source-project '{name}'",
            )
            for (path, name, folder), count in sorted(self._left_out.items())
        ]

    def _folder(self, path: str) -> str | None:
        """A project's folder if it is there, '' for the current project's."""
        if path not in self._folders:
            found: str | None = None
            if path and os.path.isdir(path):
                same = places(path).project.id == self._here.project.id
                found = "" if same else path
            self._folders[path] = found
        return self._folders[path]

    def _target(self, folder: str, agent: str) -> Target:
        key = folder, agent
        if key not in self._found:
            store = self._open(folder, agent) if folder or agent else self._current
            self._found[key] = Target(store, StoreMemories(store, self._reusing), agent or folder)
        return self._found[key]

    def _open(self, folder: str, agent: str) -> Store:
        project = OpenProject(folder or self._here.project.root, agent or self._here.agent)
        self._opened.append(project)
        return project.store


def _safe_name(name: str) -> str:
    """An agent's name as we can keep it; what else stands in a foreign one becomes hyphens."""
    plain = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:50]
    for each in (name, plain, f"agent-{plain}"):
        try:
            return agent_name(each)
        except WrongUsage:
            continue
    return "imported"


@dataclass(slots=True)
class ImportReport:
    """How many memories were taken in, and what was mapped how."""

    sources: list[str] = field(default_factory=list)
    added: int = 0
    skipped: int = 0
    """Known already, or older than what is here."""
    updated: int = 0
    redacted: int = 0
    """Memories in which a secret was found and taken out."""
    quarantined: int = 0
    """Of all these, those that wait for `ltm approve`."""
    conflicts: int = 0
    """New memories that disagree with one that was here; both stay and name each other."""
    problems: list[Problem] = field(default_factory=list)
    mapped: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    """(source, its word, our kind): how many."""
    elsewhere: Counter[str] = field(default_factory=Counter)
    """Memories that went to another agent or project, by its name or folder."""
    dry_run: bool = False

    def as_record(self) -> dict[str, Any]:
        """The report for `--json`."""
        return {
            "added": self.added,
            "skipped": self.skipped,
            "updated": self.updated,
            "problems": [
                {"path": each.path, "line": each.line, "message": each.message}
                for each in self.problems
            ],
            "quarantined": self.quarantined,
            "conflicts": self.conflicts,
            "sources": self.sources,
            "mapped": [
                {"source": source, "from": word, "to": kind, "count": count}
                for (source, word, kind), count in sorted(self.mapped.items())
            ],
            "elsewhere": dict(sorted(self.elsewhere.items())),
            "redacted": self.redacted,
            "dry_run": self.dry_run,
        }


BATCH = 200
_MOST_USES = 10  # more do not raise a memory's priority
_PEERS = 10
_RIVALS = 3
_OTHERWISE = (Sameness.CONFLICT, Sameness.CHANGE)

Progress: TypeAlias = Callable[[int, int], None]
"""Told how many of how many memories are dealt with."""

HeldBack: TypeAlias = Callable[[Memory, str], bool]
"""Whether a memory in a file has no trusted source, so that it starts in quarantine."""


@dataclass(frozen=True, slots=True)
class _Waiting:
    """A copy that is to be written, and where it comes from."""

    target: Target
    copy: Copy
    path: str
    line: int
    uses: int


class Writing:
    """One import on its way to the disk."""

    def __init__(
        self, report: ImportReport, progress: Progress, total: int, is_held_back: HeldBack
    ) -> None:
        """`is_held_back` tells which memories wait for a person before they are in force."""
        self._report = report
        self._is_held_back = is_held_back
        self._progress = progress
        self._total = total
        self._done = 0
        self._waiting: list[_Waiting] = []
        self._added: list[_Waiting] = []
        self._met: set[str] = set()
        """Every id of the source: what lay side by side there is no news to each other here."""

    def take(self, target: Target, copy: Copy, path: str, line: int, uses: int = 0) -> None:
        """Have a copy written: a new memory, or one in the place of what it names."""
        if copy.memory.status is Status.ACTIVE and self._is_held_back(copy.memory, path):
            copy = replace(copy, memory=copy.memory._replace(status=Status.QUARANTINED))
            self._report.quarantined += 1
        self._met.add(copy.memory.id)
        self._waiting.append(_Waiting(target, copy, path, line, uses))
        if len(self._waiting) >= BATCH:
            self._flush()

    def skip(self, memory_id: str) -> None:
        """Leave a memory out, because it is here."""
        self._met.add(memory_id)
        self._report.skipped += 1
        self._advance(1)

    def finish(self) -> None:
        """Write what is left, and link what is new with what was here and says otherwise.

        Nothing is replaced by an import: which of two machines knew better is for a person to say.
        """
        self._flush()
        for each in self._added:
            rivals = self._rivals(each)
            if rivals:
                self._report.conflicts += 1
            if rivals and not self._report.dry_run:
                with suppress(Conflict, NotFound, Refused):  # changed by others in this moment
                    each.target.store.apply(Contradict(rivals, each.copy.memory))

    def _rivals(self, each: _Waiting) -> tuple[str, ...]:
        """The memories that were here before and disagree with a new one."""
        memory, store = each.copy.memory, each.target.store
        if store.kinds[memory.kind].event:
            return ()
        wanted = Filter(scopes=(memory.scope,))
        found = (
            match.stored.memory for match in store.search(memory.text[:2_000], wanted, _PEERS).items
        )
        linked = {*memory.conflicts, *memory.distinct, *self._met}
        return tuple(
            other.id
            for other in found
            if other.id not in linked
            and memory.id not in other.distinct
            and not store.kinds[other.kind].event
            and judge(memory.text, other.text).relation in _OTHERWISE
        )[:_RIVALS]

    def _flush(self) -> None:
        waiting, self._waiting = self._waiting, []
        stores: dict[int, list[_Waiting]] = {}
        for each in waiting:
            stores.setdefault(id(each.target.store), []).append(each)
        for batch in stores.values():
            self._write(batch[0].target.store, batch)
        self._advance(len(waiting))

    def _write(self, store: Store, batch: list[_Waiting]) -> None:
        if self._report.dry_run:
            self._count(batch)
            return
        try:
            store.apply(Adopt(tuple(each.copy for each in batch)))
        except (Refused, Conflict) as error:
            # Nothing of a batch is written when one of it is refused: find out which.
            if len(batch) > 1:
                for each in batch:
                    self._write(store, [each])
                return
            where = batch[0]
            self._report.problems.append(Problem(where.path, _told(error), where.line))
            return
        except (StorageFailed, Busy) as error:
            raise type(error)(
                f"{error.message}; taken in before:"
                f" {counted(self._report.added + self._report.updated, 'memory')},"
                " and perhaps a few more",
                path=error.path,
                hint=f"{error.hint or 'look into it'}; running the import again finishes it",
            ) from error
        self._count(batch)
        self._note_uses(store, batch)

    def _count(self, batch: list[_Waiting]) -> None:
        for each in batch:
            if each.copy.over:
                self._report.updated += 1
            else:
                self._report.added += 1
                memory = each.copy.memory
                if memory.status is Status.ACTIVE and not each.target.known.was_empty:
                    self._added.append(each)
            if each.target.whose:
                self._report.elsewhere[each.target.whose] += 1

    def _note_uses(self, store: Store, batch: list[_Waiting]) -> None:
        """What was needed often where it comes from does not start from nothing here."""
        for times in range(_MOST_USES):
            used = [each.copy.memory.id for each in batch if each.uses > times]
            if not used:
                return
            store.used(used)

    def _advance(self, count: int) -> None:
        self._done += count
        self._progress(self._done, self._total)


def _told(error: LtmError) -> str:
    return f"was not taken in: {error.message}"


Ours: TypeAlias = own_export.Export | VaultFolder
"""What LTM itself wrote."""


@dataclass(frozen=True, slots=True)
class Bringing:
    """One import: what is read, where it goes, and how."""

    origin: Origin
    targets: Targets
    kinds: Kinds
    report: ImportReport
    progress: Progress
    at: datetime
    merge: bool = False
    """Take what is newer than the memory here, and leave the rest, instead of refusing."""
    consent: bool = False
    """Also take what puts a mass of the memories here out of use."""
    is_held_back: HeldBack = lambda memory, path: False

    def writing(self, total: int) -> Writing:
        """The way to the disk for so many memories."""
        return Writing(self.report, self.progress, total, self.is_held_back)


# -- our own export ------------------------------------------------------------------------------


def bring_export(work: Bringing) -> None:
    """Import an export of ltm, or a vault that lies elsewhere, every field as it is there.

    Without `merge`, a memory that is here and different is refused, and so is a file that brings
    nothing new; what a run that was cut short has written is accepted. A file in which most of
    the memories here were forgotten or archived needs consent.
    """
    export = VaultFolder(work.origin) if work.origin.is_folder else own_export.Export(work.origin)
    path = work.origin.shown(work.origin.path)
    work.report.sources.append(own_export.NAME)
    new, same, other, too_many = _compared(work, export)
    if not work.merge and (other or (same and not new)):
        raise Refused(
            f"holds {counted(same + other, 'memory')} that you have already",
            path=path,
            hint="add --merge to leave what you have, and to take what is newer in the file",
        )
    if too_many and not (work.consent or work.report.dry_run):
        raise Refused(
            f"would put {' and '.join(map(str, too_many))} out of use at once",
            path=path,
            hint="they are forgotten or archived in it; if that is right, add --yes",
        )
    writing = work.writing(new + same + other)
    for entry in export.entries(work.kinds, telling=False):
        target, held = _found(work, export, entry.copy.memory)
        if held is not None and entry.copy.memory.updated <= held.updated:
            writing.skip(held.id)
            continue
        if held is not None and held.scope is not entry.copy.memory.scope:
            work.origin.problem(work.origin.path, f"{held.id} is here in another scope", entry.line)
            continue
        copy, had_secrets = own_export.cleaned(entry.copy)
        work.report.redacted += had_secrets
        work.report.mapped[own_export.NAME, copy.memory.kind, copy.memory.kind] += 1
        over = "" if held is None else held.etag
        writing.take(target, replace(copy, over=over), path, entry.line)
    writing.finish()


def _compared(work: Bringing, export: Ours) -> tuple[int, int, int, tuple[Mass, ...]]:
    """How many memories of the file are new here, the same here, and different here; and which
    masses of those here it would put out of use."""
    new = same = other = 0
    leaving: Counter[Scope] = Counter()
    active: dict[Scope, int] = {}
    for entry in export.entries(work.kinds, telling=True):
        memory = entry.copy.memory
        target, held = _found(work, export, memory)
        if held is not None and held.active and not is_active(memory):
            leaving[held.scope] += memory.updated > held.updated
            active[held.scope] = target.known.active(held.scope)
        if held is None:
            new += 1
        elif held.exact == exact(own_export.cleaned(entry.copy)[0].memory):
            same += 1
        else:
            other += 1
    return new, same, other, masses(leaving, active)


def _found(work: Bringing, export: Ours, memory: Memory) -> tuple[Target, Held | None]:
    """The store a memory of an export belongs in, and the memory of its id there."""
    of_agent = memory.scope is Scope.AGENT
    target = work.targets.of_agent(export.agent) if of_agent else work.targets.here()
    return target, target.known.ids.get(memory.id)


# -- other tools ---------------------------------------------------------------------------------


@dataclass(slots=True)
class _Plan:
    """An item, where it goes, and which id it has or gets there."""

    item: Item
    target: Target
    id: str
    held: Held | None
    had_secrets: bool = False
    same_text: bool = False
    """It is known because another memory says just this, so there is nothing to take over."""


@dataclass(slots=True)
class _Ids:
    """Our ids for those of the source."""

    by_legacy: dict[str, str] = field(default_factory=dict)

    def resolve(self, legacy_id: str) -> str:
        return self.by_legacy.get(legacy_id, "")


def bring(work: Bringing, importer: Importer) -> None:
    """Take in what another tool kept. What is known already is left; with `merge` newer is taken.

    Known are the source's ids, and for what has none there, the text.
    """
    work.report.sources.append(importer.name)
    ids = _Ids()
    plans = list(_planned(work, importer, ids))
    plans.sort(key=lambda plan: born(plan.item, work.at))
    writing = work.writing(len(plans))
    newest: dict[tuple[str, str, str], str] = {}
    for plan in plans:
        item, held = plan.item, plan.held
        copy = as_copy(item, plan.id, work.kinds, importer.name, work.at, ids.resolve)
        copy = _chained(copy, plan.target, newest)
        newer = held is not None and work.merge and _is_newer(copy, held) and not plan.same_text
        if held is not None and not newer:
            writing.skip(held.id)
            continue
        if held is not None:
            copy = _over(copy, held)
        work.report.redacted += plan.had_secrets
        work.report.mapped[importer.name, item.word, copy.memory.kind] += 1
        writing.take(plan.target, copy, work.origin.shown(item.path), item.line, item.uses)
    writing.finish()


def _planned(work: Bringing, importer: Importer, ids: _Ids) -> Iterator[_Plan]:
    met: set[tuple[int, str]] = set()
    for number, raw in enumerate(importer.read(work.origin, work.kinds), start=1):
        work.origin.budget.refuse_more(number, work.origin.said)
        if len(raw.text) > MAX_FILE:  # before it is searched for secrets, which takes long
            size = f"{len(raw.text) // 1024:,} of {MAX_FILE // 1024:,} KiB"
            problem = f"was not taken in: it is too long to be kept as one memory ({size})"
            work.origin.problem(raw.path, problem, raw.line)
            continue
        done = clean(raw)
        item = done.item
        if not item.text.strip():
            work.origin.problem(item.path, "a memory without text was left out", item.line)
            continue
        target = work.targets.of_item(item)
        if target is None:
            continue
        plan = _plan(item, target, importer, work.kinds, work.at)
        plan.had_secrets = bool(done.redacted)
        if item.legacy_id:
            ids.by_legacy[item.legacy_id] = plan.id
        if (id(target.store), plan.id) in met:
            work.report.skipped += 1
            continue
        met.add((id(target.store), plan.id))
        yield plan


def _plan(item: Item, target: Target, importer: Importer, kinds: Kinds, at: datetime) -> _Plan:
    """Whether an item is known, by its id there or by what it says."""
    known, created = target.known, born(item, at)
    legacy = item.legacy_id or f"text-{text_key(item.text).hex()[:12]}"
    held = known.by_legacy(importer.name, legacy, created)
    if held is not None:
        return _Plan(replace(item, legacy_id=legacy), target, held.id, held)
    fresh = replace(item, legacy_id=legacy)
    draft = as_copy(fresh, new_id(created), kinds, importer.name, at, lambda _: "").memory
    held = None if item.legacy_id else known.by_text(draft)
    if held is None:
        known.add(draft)
    same_text = held is not None
    return _Plan(fresh, target, held.id if held else draft.id, held, same_text=same_text)


def _chained(copy: Copy, target: Target, newest: dict[tuple[str, str, str], str]) -> Copy:
    """A memory with the one of its kind before it, unless its source names one."""
    memory = copy.memory
    key = (target.whose, memory.scope, memory.kind)
    linked = memory._replace(previous=memory.previous or newest.get(key, ""))
    if memory.status is Status.ACTIVE:
        newest[key] = memory.id
    return replace(copy, memory=linked)


def _is_newer(copy: Copy, held: Held) -> bool:
    return copy.memory.updated > held.updated and sense(copy.memory) != held.sense


def _over(copy: Copy, held: Held) -> Copy:
    """A copy in the place of a memory that is here, as its next version."""
    memory = copy.memory._replace(created=held.created, scope=held.scope, version=held.version + 1)
    return replace(copy, memory=memory, over=held.etag)


@dataclass(frozen=True, slots=True)
class ImportRequest:
    """What is to be imported, and how."""

    path: str
    """A file or folder, packed or not; `-` is standard input."""
    source: str = ""
    """The tool it comes from, by the importer's name; '' to find out."""
    merge: bool = False
    dry_run: bool = False
    remap_agent: str = ""
    """The agent that gets what belongs to an agent, whichever it was."""
    source_project: str = ""
    """Only what belongs to this project of the source, taken into the current one."""
    large: bool = False
    """Lift the limits that keep bombs out, for a source the person trusts."""
    quarantine: bool = False
    """Let it all wait for a person's approval, for a source they do not trust."""
    consent: bool = False
    """Also take what puts a mass of the memories here out of use."""


def import_memories(
    wish: ImportRequest,
    store: Store,
    where: Places,
    *,
    at: datetime,
    progress: Progress = lambda done, total: None,
) -> ImportReport:
    """Take memories in; what could not be read or kept is in the report's problems."""
    with nullcontext() if wish.dry_run else _alone(where.home):
        return _imported(wish, store, where, at, progress)


def _alone(home: str) -> Lock:
    """One import at a time: two at once would both find that nothing is here yet."""
    make_folder(home)
    return Lock(os.path.join(home, "import.lock"))


def _imported(
    wish: ImportRequest, store: Store, where: Places, at: datetime, progress: Progress
) -> ImportReport:
    report = ImportReport(dry_run=wish.dry_run)
    targets = Targets(
        store,
        where,
        remap_agent=wish.remap_agent,
        source_project=wish.source_project,
        reusing=frozenset(each.name for each in IMPORTERS if each.reuses_ids),
    )
    try:
        with Origin(wish.path, LARGE if wish.large else USUAL) as origin:
            work = Bringing(
                origin,
                targets,
                store.kinds,
                report,
                progress,
                at,
                merge=wish.merge,
                consent=wish.consent,
                is_held_back=_held_back(wish, where),
            )
            if _is_ours(origin, wish.source):
                bring_export(work)
            else:
                for importer in _importers(origin, wish.source):
                    bring(work, importer)
            report.problems[:0] = origin.problems
            report.problems += targets.left_out()
    finally:
        targets.close()
    return report


def _held_back(wish: ImportRequest, where: Places) -> HeldBack:
    """A user who imports vouches for what they name, unless they say otherwise, said so about the
    repository it lies in, or never said anything about it and others put it there. What their own
    key signed is theirs in any case."""
    there = None if wish.path == "-" else places(os.path.abspath(wish.path), where.agent)
    trusted = there.trusted if there is not None else True
    everything = wish.quarantine or trusted is False
    key = key_file.load(where.home)
    along = CameAlong()

    def is_held_back(memory: Memory, path: str) -> bool:
        doubtful = everything or (trusted is None and along.has(_on_disk(path)))
        return doubtful and (key is None or key.is_doubtful(memory))

    return is_held_back


def _on_disk(shown: str) -> str:
    """The file a shown path means: of what lies in an archive, the archive."""
    archive, mark, _ = shown.partition(": ")
    return archive if mark and not os.path.lexists(shown) else shown


def _is_ours(origin: Origin, source: str) -> bool:
    found = own_export.finds(origin) or vault_folder.finds(origin)
    if source.strip().lower() != own_export.NAME:
        # claude-ltm uses the same folder: what it left there is taken first.
        return not source and found and not claude_ltm.finds(origin)
    if not found:
        raise Refused(
            "is neither an export nor a vault of ltm",
            path=origin.shown(origin.path),
            hint="name the file 'ltm export' wrote, or the folder with 'memories' in it",
        )
    return True


def _importers(origin: Origin, source: str) -> list[Importer]:
    return [named(source)] if source else detect(origin)
