"""Import memories: from an export or a vault of LTM, or from what another tool kept.

Everything is read and compared before the first memory is written, batch by batch. A run that is
cut short leaves what it wrote, and the next one goes on. A memory that is refused is reported and
left out; a disk that fails ends the import.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, TypeAlias

from ltm.config.config import CONFIG_FILE, load, set_option
from ltm.config.options import BY_NAME, agent_name
from ltm.decisions import Adopt, Contradict, Copy
from ltm.errors import Busy, Conflict, NotFound, Refused, StorageFailed, WrongUsage
from ltm.files.atomic import make_folder
from ltm.files.lock import Lock
from ltm.kinds import Kinds
from ltm.model import Filter, Memory, Problem, Scope, Status, Trust, as_record, new_id
from ltm.policy import is_active
from ltm.project.layout import Places, places
from ltm.record import NamedTuple
from ltm.store.open import open_files, open_store
from ltm.store.share import CameAlong
from ltm.store.store import Store
from ltm.text.display import counted
from ltm.text.sameness import Sameness, judge
from ltm.transfer.export import NAME, Export, VaultFolder, cleaned, is_export, is_vault
from ltm.transfer.importer import IMPORTERS, Importer, detect, named
from ltm.transfer.importers import claude_ltm
from ltm.transfer.item import Item, as_copy, born, clean
from ltm.transfer.source import LARGE, USUAL, Origin
from ltm.upkeep.plan import Mass, masses
from ltm.vault import key_file
from ltm.vault.vault import MAX_FILE

_BATCH = 200
_MOST_USES = 10  # more do not raise a memory's priority
_PEERS = 10
_RIVALS = 3
_OTHERWISE = (Sameness.CONFLICT, Sameness.CHANGE)
_REUSED = frozenset(each.name for each in IMPORTERS if each.reuses_ids)
_VOLATILE = "created updated confirmed version previous signature shown_signature".split()  # noqa: SIM905

Progress: TypeAlias = Callable[[int, int], None]

HeldBack: TypeAlias = Callable[[Memory, str], bool]
"""Whether a memory in a file has no trusted source, so that it starts in quarantine."""


@dataclass(frozen=True, slots=True)
class ImportRequest:
    path: str
    """A file or folder, packed or not; `-` is standard input."""
    source: str = ""
    """The tool it comes from, by the importer's name; '' to find out."""
    merge: bool = False
    """Take what is newer than the memory here, and leave the rest, instead of refusing."""
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
    options: dict[str, str] = field(default_factory=dict)
    """What was set in the tool and not yet here, by our names."""
    dry_run: bool = False

    def as_record(self) -> dict[str, Any]:
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
            "options": self.options,
            "redacted": self.redacted,
            "dry_run": self.dry_run,
        }


def import_memories(
    wish: ImportRequest,
    store: Store,
    where: Places,
    *,
    at: datetime,
    progress: Progress = lambda done, total: None,
) -> ImportReport:
    """Take memories in; what could not be read or kept is in the report's problems."""
    report = ImportReport(dry_run=wish.dry_run)
    with ExitStack() as stack:
        if not wish.dry_run:  # two imports at once would both find that nothing is here yet
            make_folder(where.home)
            stack.enter_context(Lock(os.path.join(where.home, "import.lock")))
        targets = stack.enter_context(closing(_Targets(store, where, wish)))
        origin = stack.enter_context(Origin(wish.path, LARGE if wish.large else USUAL))
        held_back = _held_back(wish, where)
        run = _Run(wish, origin, targets, store.kinds, report, progress, held_back, at)
        if _is_ours(origin, wish.source):
            _import_ours(run)
        else:
            for importer in [named(wish.source)] if wish.source else detect(origin):
                _import_foreign(run, importer)
                _take_options(run, importer, where)
        run.finish()
        report.problems[:0] = origin.problems
        report.problems += targets.left_out()
    return report


def _take_options(run: _Run, importer: Importer, where: Places) -> None:
    """Set what a person set in the tool, where they did not say it here.

    Nothing is taken from a source they do not vouch for, nor what others put into a repository.
    """
    path, found = importer.options_of(run.origin)
    if not found or run.wish.quarantine or CameAlong().has(path):
        return
    own = os.path.join(where.home, CONFIG_FILE)
    chosen = load(where.home).user_values
    for name, value in found.items():
        if name in chosen:
            continue
        try:
            known = agent_name(_safe_name(value)) if name == "agent" else value
            BY_NAME[name].parse(known)
            if not run.wish.dry_run:
                set_option(own, name, known)
            run.report.options[name] = known
        except (WrongUsage, Refused) as error:
            run.origin.problem(path, f"an option was not taken over: {error.message}")


def _held_back(wish: ImportRequest, where: Places) -> HeldBack:
    """Which memories wait for a person before they are in force.

    A user who imports vouches for what they name, unless they say otherwise, said so about the
    repository it lies in, or never said anything about it and others put it there. What their own
    key signed is theirs in any case.
    """
    there = None if wish.path == "-" else places(os.path.abspath(wish.path), where.agent)
    trusted = there.trusted if there is not None else True
    everything = wish.quarantine or trusted is False
    key = key_file.load(where.home)
    along = CameAlong()

    def is_held_back(memory: Memory, path: str) -> bool:
        archive, mark, _ = path.partition(": ")  # of what lies in an archive, the archive counts
        file = archive if mark and not os.path.lexists(path) else path
        doubtful = everything or (trusted is None and along.has(file))
        return doubtful and (key is None or key.is_doubtful(memory))

    return is_held_back


def _is_ours(origin: Origin, source: str) -> bool:
    found = is_export(origin) or is_vault(origin)
    if source.strip().lower() != NAME:
        # claude-ltm uses the same folder: what it left there is taken first.
        return not source and found and not claude_ltm.finds(origin)
    if not found:
        raise Refused(
            "is neither an export nor a vault of ltm",
            path=origin.shown(origin.path),
            hint="name the file 'ltm export' wrote, or the folder with 'memories' in it",
        )
    return True


# -- where it goes -------------------------------------------------------------------------------


class _Held(NamedTuple):
    """A memory of a store, as far as an import needs it."""

    memory: Memory
    etag: str
    digest: bytes
    """Of every field."""


class _Target:
    """A store and what it holds already: one walk over it, then look-ups only.

    A memory is recognized by its id, by the id it has in its source, or by its text.
    """

    def __init__(self, store: Store, whose: str = "") -> None:
        """`whose` is the agent or the project's folder, if it is not the one that imports."""
        self.store, self.whose = store, whose
        self.ids: dict[str, _Held] = {}
        self.active: Counter[Scope] = Counter()
        """How many memories of a scope are in use."""
        self._legacy: dict[tuple[str, str, str], _Held] = {}
        self._texts: dict[bytes, _Held] = {}
        for stored in store.every(Filter(statuses=())):
            self.add(stored.memory, stored.etag)
        self.was_empty = not self.active.total()

    def by_legacy(self, source: str, legacy_id: str, created: datetime) -> _Held | None:
        """The memory that was taken in from there under this id."""
        return self._legacy.get(_legacy_key(source, legacy_id, created))

    def by_text(self, text: str) -> _Held | None:
        """A memory with just this text."""
        return self._texts.get(_text_digest(text))

    def add(self, memory: Memory, etag: str = "") -> None:
        """Hold a memory from now on."""
        bare = memory._replace(content="", summary="")
        held = self.ids[memory.id] = _Held(bare, etag, _digest(as_record(memory)))
        self.active[memory.scope] += is_active(memory)
        if memory.source.trust is Trust.IMPORT and memory.legacy_id:
            key = _legacy_key(memory.source.tool, memory.legacy_id, memory.created)
            self._legacy.setdefault(key, held)
        if memory.text.strip():
            self._texts.setdefault(_text_digest(memory.text), held)


class _Targets:
    """The stores an import fills, opened when first needed: every memory goes to its own project
    and agent, and nowhere else."""

    def __init__(self, store: Store, where: Places, wish: ImportRequest) -> None:
        """`store` is that of the current project and agent, and stays open."""
        self._current, self._here = store, where
        self._remap = agent_name(wish.remap_agent) if wish.remap_agent else ""
        self._only = wish.source_project
        self._dry_run = wish.dry_run
        self._found: dict[tuple[str, str, bool], _Target] = {}
        self._left_out: Counter[tuple[str, str, str]] = Counter()

    def close(self) -> None:
        for target in self._found.values():
            if target.store is not self._current:
                target.store.close()

    def of_agent(self, name: str) -> _Target:
        """The store for memories of an agent's own; '' is the agent that imports."""
        agent = self._remap or (_safe_name(name) if name else "")
        return self.of("", "" if agent == self._here.agent else agent)

    def of_item(self, item: Item) -> _Target | None:
        """The store an item belongs in; None, and noted, when its project is not on this machine.

        A project is found by its folder, else by its name if that is the current project's.
        """
        if item.scope is Scope.AGENT:
            return self.of_agent(item.agent)
        agent = _safe_name(item.agent) if item.agent and not self._remap else ""
        whose = "" if agent == self._here.agent else agent
        if not item.belongs_elsewhere:
            return None if self._only else self.of(agent=whose, own=bool(whose))
        name = item.project_name or os.path.basename(item.project)
        if self._only:
            here = self._only in (name, item.project)
            return self.of(agent=whose, own=bool(whose)) if here else None
        if item.project and os.path.isdir(item.project):
            return self.of(item.project, whose, own=bool(whose))
        if self._here.project.name in (name, name.split("/")[0]):
            return self.of(agent=whose, own=bool(whose))
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

    def of(self, folder: str = "", agent: str = "", *, own: bool = False) -> _Target:
        """The store of a project's folder and an agent; '' is the one that imports.

        With `own`, what belongs to the project is for that agent alone.
        """
        key = folder, agent, own
        if key not in self._found:
            where = places(folder or self._here.project.root, agent or self._here.agent)
            if not agent and where.project.id == self._here.project.id:
                target = self._found.get(("", "", False)) or _Target(self._current)
                self._found["", "", False] = target
            else:
                config = load(where.home, where.settings)
                private = own and not self._dry_run and config.own("store") == "files"
                opened = (
                    open_files(where, config, own=True) if private else open_store(where, config)
                )
                target = _Target(opened, agent or folder)
            self._found[key] = target
        return self._found[key]


def _legacy_key(source: str, legacy_id: str, created: datetime) -> tuple[str, str, str]:
    return source, legacy_id, created.date().isoformat() if source in _REUSED else ""


def _text_digest(text: str) -> bytes:
    """The same for texts that differ in blanks only; any other difference counts."""
    return _digest(" ".join(text.split()))


def _digest(value: Any) -> bytes:
    return hashlib.blake2b(json.dumps(value).encode(), digest_size=16).digest()


def _safe_name(name: str) -> str:
    """An agent's name as it can be kept; what else stands in a foreign one becomes hyphens."""
    plain = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:50]
    for each in (name, plain, f"agent-{plain}"):
        with suppress(WrongUsage):
            return agent_name(each)
    return "imported"


# -- exports and vaults of LTM -------------------------------------------------------------------


def _import_ours(run: _Run) -> None:
    """Import an export of ltm, or a vault that lies elsewhere, every field as it is there.

    Without `merge`, a memory that is here and different is refused, and so is a file that brings
    nothing new; what a run that was cut short has written is accepted. A file in which most of
    the memories here were forgotten or archived needs consent. It is read twice: no more than one
    batch of memories is held at a time.
    """
    export = VaultFolder(run.origin) if run.origin.is_folder else Export(run.origin)
    path = run.origin.shown(run.origin.path)
    run.report.sources.append(NAME)
    new, same, other, too_many = _compared(run, export)
    if not run.wish.merge and (other or (same and not new)):
        raise Refused(
            f"holds {counted(same + other, 'memory')} that you have already",
            path=path,
            hint="add --merge to leave what you have, and to take what is newer in the file",
        )
    if too_many and not (run.wish.consent or run.wish.dry_run):
        raise Refused(
            f"would put {' and '.join(map(str, too_many))} out of use at once",
            path=path,
            hint="they are forgotten or archived in it; if that is right, add --yes",
        )
    run.total += new + same + other
    for line, there in export.entries(run.kinds, reporting=False):
        target, held = _counterpart(run, export, there.memory)
        if held is not None and there.memory.updated <= held.memory.updated:
            run.skip(held.memory.id)
            continue
        if held is not None and held.memory.scope is not there.memory.scope:
            run.origin.problem(run.origin.path, f"{held.memory.id} is here in another scope", line)
            continue
        copy, had_secrets = cleaned(there)
        run.report.redacted += had_secrets
        run.report.mapped[NAME, copy.memory.kind, copy.memory.kind] += 1
        over = "" if held is None else held.etag
        run.take(_Waiting(target, replace(copy, over=over), path, line))


def _compared(run: _Run, export: Export | VaultFolder) -> tuple[int, int, int, tuple[Mass, ...]]:
    """How many memories of the file are new here, the same here, and different here; and which
    masses of those here it would put out of use."""
    new = same = other = 0
    leaving: Counter[Scope] = Counter()
    active: dict[Scope, int] = {}
    for _, copy in export.entries(run.kinds, reporting=True):
        target, held = _counterpart(run, export, copy.memory)
        if held is None:
            new += 1
            continue
        here = held.memory
        if is_active(here) and not is_active(copy.memory):
            leaving[here.scope] += copy.memory.updated > here.updated
            active[here.scope] = target.active[here.scope]
        is_same = held.digest == _digest(as_record(cleaned(copy)[0].memory))
        same += is_same
        other += not is_same
    return new, same, other, masses(leaving, active)


def _counterpart(
    run: _Run, export: Export | VaultFolder, memory: Memory
) -> tuple[_Target, _Held | None]:
    """The store a memory of an export belongs in, and the memory of its id there."""
    of_agent = memory.scope is Scope.AGENT
    target = run.targets.of_agent(export.agent) if of_agent else run.targets.of()
    return target, target.ids.get(memory.id)


# -- other tools ---------------------------------------------------------------------------------


class _Plan(NamedTuple):
    """An item, where it goes, and which id it has or gets there."""

    item: Item
    target: _Target
    id: str
    had_secrets: bool
    held: _Held | None = None
    same_text: bool = False
    """It is known because another memory has just this text, so there is nothing to take over."""


def _import_foreign(run: _Run, importer: Importer) -> None:
    """Take in what another tool kept. What is known already is left; with `merge` newer is taken.

    Known are the source's ids, and for what has none there, the text.
    """
    run.report.sources.append(importer.name)
    ids: dict[str, str] = {}
    plans = sorted(_planned(run, importer, ids), key=lambda plan: born(plan.item, run.at))
    run.total += len(plans)
    newest: dict[tuple[str, str, str], str] = {}
    for plan in plans:
        item, held = plan.item, plan.held
        copy = as_copy(item, plan.id, run.kinds, importer.name, run.at, ids)
        memory = copy.memory
        # Each has the one of its kind before it, unless its source names one.
        key = (plan.target.whose, memory.scope, memory.kind)
        memory = memory._replace(previous=memory.previous or newest.get(key, ""))
        if memory.status is Status.ACTIVE:
            newest[key] = memory.id
        if held is not None:
            if not run.wish.merge or plan.same_text or not _is_newer(memory, held, plan.target):
                run.skip(held.memory.id)
                continue
            here = held.memory
            memory = memory._replace(
                created=here.created, scope=here.scope, version=here.version + 1
            )
        copy = replace(copy, memory=memory, over="" if held is None else held.etag)
        run.report.redacted += plan.had_secrets
        run.report.mapped[importer.name, item.word, memory.kind] += 1
        path = run.origin.shown(item.path)
        run.take(_Waiting(plan.target, copy, path, item.line, item.uses))


def _planned(run: _Run, importer: Importer, ids: dict[str, str]) -> Iterator[_Plan]:
    """What becomes of each item; `ids` is filled with our ids for those of the source."""
    met: set[tuple[int, str]] = set()
    for number, raw in enumerate(importer.module.read(run.origin, run.kinds), start=1):
        run.origin.limits.check_entries(number, run.origin.given)
        if len(raw.text) > MAX_FILE:  # before it is searched for secrets, which takes long
            size = f"{len(raw.text) // 1024:,} of {MAX_FILE // 1024:,} KiB"
            problem = f"was not taken in: it is too long to be kept as one memory ({size})"
            run.origin.problem(raw.path, problem, raw.line)
            continue
        item, had_secrets = clean(raw)
        if not item.text.strip():
            run.origin.problem(item.path, "a memory without text was left out", item.line)
            continue
        target = run.targets.of_item(item)
        if target is None:
            continue
        plan = _plan(run, item, target, importer, had_secrets)
        if item.legacy_id:
            ids[item.legacy_id] = plan.id
        if (id(target), plan.id) in met:
            run.report.skipped += 1
            continue
        met.add((id(target), plan.id))
        yield plan


def _plan(run: _Run, item: Item, target: _Target, importer: Importer, had_secrets: bool) -> _Plan:
    """Whether an item is known, by its id there or by its text."""
    created = born(item, run.at)
    legacy = item.legacy_id or f"text-{_text_digest(item.text).hex()[:12]}"
    named_item = replace(item, legacy_id=legacy)
    held = target.by_legacy(importer.name, legacy, created)
    if held is not None:
        return _Plan(named_item, target, held.memory.id, had_secrets, held)
    draft = as_copy(named_item, new_id(created), run.kinds, importer.name, run.at, {}).memory
    held = None if item.legacy_id else target.by_text(draft.text)
    if held is not None:
        return _Plan(named_item, target, held.memory.id, had_secrets, held, same_text=True)
    target.add(draft)
    return _Plan(named_item, target, draft.id, had_secrets)


def _is_newer(memory: Memory, held: _Held, target: _Target) -> bool:
    """Whether a memory is newer than the one here, and means something else."""
    if memory.updated <= held.memory.updated:
        return False
    one, two = as_record(memory), as_record(target.store.read(held.memory.id).memory)
    return any(one[name] != two[name] for name in one if name not in _VOLATILE)


# -- writing -------------------------------------------------------------------------------------


class _Waiting(NamedTuple):
    """A copy that is to be written, and where it comes from."""

    target: _Target
    copy: Copy
    path: str
    line: int
    uses: int = 0


@dataclass(slots=True)
class _Run:
    """One import: what is read, where it goes, and how. It writes what was decided, a batch at a
    time, and counts what was really written."""

    wish: ImportRequest
    origin: Origin
    targets: _Targets
    kinds: Kinds
    report: ImportReport
    progress: Progress
    is_held_back: HeldBack
    at: datetime
    total: int = 0
    _done: int = 0
    _waiting: list[_Waiting] = field(default_factory=list)
    _added: list[_Waiting] = field(default_factory=list)
    _met: set[str] = field(default_factory=set)
    """Every id of the source: what lay side by side there does not conflict here."""

    def take(self, each: _Waiting) -> None:
        """Have a copy written: a new memory, or one in the place of what it names."""
        memory = each.copy.memory
        if memory.status is Status.ACTIVE and self.is_held_back(memory, each.path):
            memory = memory._replace(status=Status.QUARANTINED)
            each = each._replace(copy=replace(each.copy, memory=memory))
            self.report.quarantined += 1
        self._met.add(memory.id)
        self._waiting.append(each)
        if len(self._waiting) >= _BATCH:
            self._flush()

    def skip(self, memory_id: str) -> None:
        """Leave a memory out, because it is here."""
        self._met.add(memory_id)
        self.report.skipped += 1
        self._advance(1)

    def finish(self) -> None:
        """Write what is left, and link what is new with what was here and disagrees.

        Nothing is replaced by an import: which of two machines knew better is for a person to say.
        """
        self._flush()
        for each in self._added:
            rivals = self._rivals(each)
            if rivals:
                self.report.conflicts += 1
            if rivals and not self.report.dry_run:
                with suppress(Conflict, NotFound, Refused):  # changed by others in this moment
                    each.target.store.apply(Contradict(rivals, each.copy.memory))

    def _rivals(self, each: _Waiting) -> tuple[str, ...]:
        """The memories that were here before and disagree with a new one."""
        memory, store = each.copy.memory, each.target.store
        if store.kinds[memory.kind].event:
            return ()
        found = store.search(memory.text[:2_000], Filter(scopes=(memory.scope,)), _PEERS).items
        linked = {*memory.conflicts, *memory.distinct, *self._met}
        return tuple(
            other.id
            for other in (match.stored.memory for match in found)
            if other.id not in linked
            and memory.id not in other.distinct
            and not store.kinds[other.kind].event
            and judge(memory.text, other.text).relation in _OTHERWISE
        )[:_RIVALS]

    def _flush(self) -> None:
        waiting, self._waiting = self._waiting, []
        batches: dict[_Target, list[_Waiting]] = {}
        for each in waiting:
            batches.setdefault(each.target, []).append(each)
        for target, batch in batches.items():
            self._write(target.store, batch)
        self._advance(len(waiting))

    def _advance(self, count: int) -> None:
        self._done += count
        self.progress(self._done, self.total)

    def _write(self, store: Store, batch: list[_Waiting]) -> None:
        if self.report.dry_run:
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
            problem = f"was not taken in: {error.message}"
            self.report.problems.append(Problem(batch[0].path, problem, batch[0].line))
            return
        except (StorageFailed, Busy) as error:
            raise type(error)(
                f"{error.message}; taken in before:"
                f" {counted(self.report.added + self.report.updated, 'memory')},"
                " and perhaps a few more",
                path=error.path,
                hint=f"{error.hint or 'look into it'}; running the import again finishes it",
            ) from error
        self._count(batch)
        # What was needed often where it comes from does not start from nothing here.
        for times in range(_MOST_USES):
            if used := [each.copy.memory.id for each in batch if each.uses > times]:
                store.used(used)

    def _count(self, batch: list[_Waiting]) -> None:
        for each in batch:
            if each.copy.over:
                self.report.updated += 1
            else:
                self.report.added += 1
                if each.copy.memory.status is Status.ACTIVE and not each.target.was_empty:
                    self._added.append(each)
            if each.target.whose:
                self.report.elsewhere[each.target.whose] += 1
