"""Taking memories in: from our own export, or from what another tool kept.

Owns the order of things: everything is read and compared before the first memory is written, then
written batch by batch, each memory whole. A run that is cut short leaves what it wrote; the next
one knows it again and goes on. Imports core and this package.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TypeAlias

from ltm.core.counting import counted
from ltm.core.decision import Copy
from ltm.core.errors import Refused
from ltm.core.fuse import Mass, masses
from ltm.core.kinds import Kinds
from ltm.core.model import Memory, Scope, Status, new_id
from ltm.core.policy import is_active
from ltm.storage.vault import MAX_FILE
from ltm.transfer import native
from ltm.transfer.item import Item, as_copy, born, clean
from ltm.transfer.known import Held, exact, sense, text_key
from ltm.transfer.origin import Origin
from ltm.transfer.report import ImportReport
from ltm.transfer.table import Importer
from ltm.transfer.targets import Target, Targets
from ltm.transfer.vaultfolder import VaultFolder
from ltm.transfer.writing import HeldBack, Progress, Writing

Ours: TypeAlias = native.Export | VaultFolder
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
    export = VaultFolder(work.origin) if work.origin.is_folder else native.Export(work.origin)
    path = work.origin.shown(work.origin.path)
    work.report.sources.append(native.NAME)
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
        copy, had_secrets = native.cleaned(entry.copy)
        work.report.redacted += had_secrets
        work.report.mapped[native.NAME, copy.memory.kind, copy.memory.kind] += 1
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
        elif held.exact == exact(native.cleaned(entry.copy)[0].memory):
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
