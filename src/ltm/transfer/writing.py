"""Writing what an import decided, a batch at a time, and counting what was really written.

Owns the batches and what happens when one cannot be written: a memory that is refused is told and
left out, a disk that fails ends the import with what is in by then. Imports core, the store's port
and this package.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TypeAlias

from ltm.core.counting import counted
from ltm.core.decision import Adopt, Contradict, Copy
from ltm.core.errors import Busy, Conflict, LtmError, NotFound, Refused, StorageFailed
from ltm.core.model import Filter, Memory, Problem, Status
from ltm.core.sameness import Sameness, judge
from ltm.storage.store import Store
from ltm.transfer.report import ImportReport
from ltm.transfer.targets import Target

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
