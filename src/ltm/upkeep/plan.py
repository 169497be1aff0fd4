"""Upkeep: which memories fade, give way, are archived or revived now, and doing it.

`plan` works out a list of actions without changing anything. Four rules, in this order, and at most
one step for a memory in one run:

1. revive: a memory that was used since it was shortened, or was made critical or pinned, gets its
   whole text back.
2. archive: a memory that reached its kind's last state longer ago than the kind allows leaves the
   active set.
3. fade: a memory that sat idle for more active days than its impact allows goes one phase on. Idle
   time counts from the latest of first sight, last use, last confirmation and last step, so the
   next phase needs another full allowance, and a run straight after finds nothing to do. It only
   shortens, and archives nothing, in a vault that is less than half full.
4. evict: while a vault holds more active memories than it should, the batch with the lowest
   priorities of them all goes one phase on, once in a session. A member of the batch that fades
   anyway in this run takes that one step; one that revives does not give way in this session.

Rules a person stated, critical and pinned memories are spared by 2 to 4, though they count for the
size of the vault. Nothing here counts as a use of a memory.

A clock that jumps by years, a model that is wrong, a file from elsewhere: each can make a rule ask
for most of a store. Every step could be undone, but not noticed in time. So without a person's
consent no mass of memories leaves the active set at once: what was held back is noted in the
session log, one note a command and project, for `ltm status` and the commands to show.
"""

from __future__ import annotations

import os
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Protocol, TypeVar

from ltm.config.config import Config
from ltm.decisions import Reduce
from ltm.errors import Conflict, NotFound, Refused, StorageFailed
from ltm.kinds import Kinds
from ltm.model import Filter, Phase, Scope, Status, Stored, Usage
from ltm.policy import Limits, idle_allowance, is_lasting, is_over, priority
from ltm.project.layout import Places
from ltm.record import NamedTuple
from ltm.state.session_log import SessionLog
from ltm.store.store import Store
from ltm.text.display import counted

ACTIVE = Filter(phases=(Phase.FULL, Phase.HINT, Phase.ABSTRACT))
"""The active set: in force, and not archived."""

REVIVE, ARCHIVE, FADE, EVICT = ORDER = ("revive", "archive", "fade", "evict")
UPKEEP, CONSOLIDATE = COMMANDS = ("upkeep", "consolidate")
"""The commands that a person gives consent with."""


SHARE = 0.3
"""The part of a scope's active memories that may go in one run."""

FEW = 10
"""So many may always go, as many as give way in a session, or a small store could not change."""


class Mass(NamedTuple):
    """Memories that would go all at once, and wait for a person's consent."""

    scope: Scope
    leaving: int
    active: int

    def __str__(self) -> str:
        return f"{self.leaving} of {self.active} active memories of scope {self.scope}"

    def as_record(self) -> dict[str, Any]:
        """The mass in the fields scripts read."""
        return {"scope": str(self.scope), "leaving": self.leaving, "active": self.active}


def masses(leaving: Mapping[Scope, int], active: Mapping[Scope, int]) -> tuple[Mass, ...]:
    """The scopes of which too many would go, by how many would go and how many there are."""
    found = (Mass(scope, count, active.get(scope, 0)) for scope, count in leaving.items())
    return tuple(each for each in found if each.leaving > max(FEW, SHARE * each.active))


@dataclass(frozen=True, slots=True)
class Action:
    """One step of one memory, and why."""

    id: str
    action: str
    from_phase: Phase
    to_phase: Phase
    reason: str
    vault: str
    etag: str
    """The memory as it was looked at: if it changes meanwhile, the step is not taken."""
    scope: Scope

    @property
    def leaving(self) -> int:
        """How many memories the step puts out of use."""
        return int(self.to_phase is Phase.ARCHIVED)

    @property
    def rationed(self) -> bool:
        """Whether it is one of a batch, of which there is one in a session."""
        return self.action == EVICT

    def as_record(self) -> dict[str, Any]:
        """The action in the fields scripts read."""
        return {
            "id": self.id,
            "action": self.action,
            "from": int(self.from_phase),
            "to": int(self.to_phase),
            "reason": self.reason,
        }


@dataclass(frozen=True, slots=True)
class Upkeep:
    """What was done, and what was left alone with the reason why."""

    done: tuple[Action, ...] = ()
    skipped: tuple[tuple[Action, str], ...] = ()
    held: tuple[Mass, ...] = ()
    """What was too much at once, and waits for a person."""


def limits_of(config: Config) -> Mapping[Scope, Limits]:
    """The limits in a person's options; a repository has no say over an agent's own memories."""
    return {
        scope: Limits(
            max_memories=option("max_memories"),
            eviction_batch_size=option("eviction_batch_size"),
            low_days=option("fade_days.low"),
            medium_days=option("fade_days.medium"),
            high_days=option("fade_days.high"),
        )
        for scope, option in ((Scope.PROJECT, config.get), (Scope.AGENT, config.own))
    }


def run(
    store: Store,
    *,
    now: datetime,
    limits: Mapping[Scope, Limits] | None = None,
    consent: bool = False,
) -> Upkeep:
    """Upkeep as it happens at the end of a session: meet what is new, plan, and do it.

    Without a person's consent no mass of memories leaves the active set at once.
    """
    with store.in_a_row():
        actions, held = let_through(store, due(store, now=now, limits=limits), consent=consent)
        return replace(apply(store, actions), held=held)


def due(
    store: Store, *, now: datetime, limits: Mapping[Scope, Limits] | None = None
) -> list[Action]:
    """Meet what is new, and plan: what `run` would do now."""
    store.seen([each.memory.id for each in store.list(ACTIVE).items])
    return plan(store, now=now, limits=limits)


def plan(
    store: Store, *, now: datetime, limits: Mapping[Scope, Limits] | None = None
) -> list[Action]:
    """The actions that are due now, in the order of the rules."""
    bounds = limits or {scope: Limits() for scope in Scope}
    in_force = _reconsidered(store)
    usage = store.usage([each.memory.id for each in in_force])
    steps: dict[str, Action] = {}
    held = Counter(each.vault for each in in_force if each.memory.phase is not Phase.ARCHIVED)
    for stored in in_force:
        roomy = 2 * held[stored.vault] <= bounds[stored.memory.scope].max_memories
        step = _due(store, stored, usage.get(stored.memory.id, Usage()), bounds, now, roomy=roomy)
        if step is not None:
            steps[step.id] = step
    for vault in dict.fromkeys(each.vault for each in in_force):
        if store.batch_taken(vault):
            continue
        staying = [
            each
            for each in in_force
            if each.vault == vault
            and (steps[each.memory.id].to_phase if each.memory.id in steps else each.memory.phase)
            is not Phase.ARCHIVED
        ]
        for step in _batch(staying, usage, bounds, steps, store.kinds):
            fading = steps.pop(step.id, None)
            reason = step.reason if fading is None else f"{fading.reason}; {step.reason}"
            steps[step.id] = replace(step, reason=reason)
    return sorted(steps.values(), key=lambda step: ORDER.index(step.action))


def apply(store: Store, actions: Iterable[Action]) -> Upkeep:
    """Take each step if its memory is still as the plan saw it; what changed waits for the next."""
    done: list[Action] = []
    skipped: list[tuple[Action, str]] = []
    given: set[str] = set()
    for action in actions:
        if action.action in (REVIVE, EVICT) and action.vault not in given:
            # Noted before it happens: a crash in between makes the batch smaller, never larger.
            # Also for what revives, or a second run could take back what the first one gave.
            store.take_batch(action.vault)
            given.add(action.vault)
        try:
            store.apply(Reduce(action.id, action.to_phase, expected=action.etag))
        except (Conflict, NotFound, Refused) as error:
            skipped.append((action, str(error)))
        else:
            done.append(action)
    return Upkeep(tuple(done), tuple(skipped))


def _reconsidered(store: Store) -> list[Stored]:
    """The active set, and what is archived but may come back: a year later the rest of the archive
    is most of what there is."""
    archived = Filter(phases=(Phase.ARCHIVED,))
    again = archived._replace(ids=tuple(store.used_again()))
    rules = archived._replace(kinds=tuple(kind.name for kind in store.kinds if kind.rule))
    wanted = (ACTIVE, again, archived._replace(spared=True), rules)
    found = (store.list(each).items for each in wanted)
    return list({each.memory.id: each for items in found for each in items}.values())


def _due(
    store: Store,
    stored: Stored,
    usage: Usage,
    bounds: Mapping[Scope, Limits],
    now: datetime,
    *,
    roomy: bool,
) -> Action | None:
    """The step that rules 1 to 3 ask of a memory."""
    memory, kind = stored.memory, store.kinds[stored.memory.kind]
    lasting = is_lasting(memory, kind)
    if memory.phase is not Phase.FULL and (usage.uses_since > 0 or lasting):
        used = f"used {counted(usage.uses_since, 'time')} since it was shortened"
        reason = "rules, critical and pinned memories are kept whole" if lasting else used
        return _step(stored, REVIVE, Phase.FULL, reason)
    if memory.phase is Phase.ARCHIVED or lasting:
        return None
    if is_over(memory, kind, now):
        reason = f"{memory.state} more than {kind.resolved_days:g} days ago"
        return _step(stored, ARCHIVE, Phase.ARCHIVED, reason)
    if roomy and memory.phase is Phase.ABSTRACT:
        return None
    allowance = idle_allowance(memory.impact, bounds[memory.scope])
    if allowance is None or usage.idle_days <= allowance:
        return None
    idle = min(usage.idle_days, store.active_days_since(memory.confirmed))
    if idle <= allowance:
        return None
    days = counted(idle, "active day")
    reason = f"idle for {days}, and its impact ({memory.impact}) allows {allowance}"
    return _step(stored, FADE, Phase(memory.phase + 1), reason)


def _batch(
    staying: Sequence[Stored],
    usage: Mapping[str, Usage],
    bounds: Mapping[Scope, Limits],
    steps: Mapping[str, Action],
    kinds: Kinds,
) -> list[Action]:
    """The steps of a vault's batch, lowest priority first."""
    if not staying:
        return []
    limits = bounds[staying[0].memory.scope]
    if len(staying) <= limits.max_memories:
        return []
    lowest: list[tuple[float, datetime, str, Stored]] = []
    for each in staying:
        memory = each.memory
        step = steps.get(memory.id)
        if not is_lasting(memory, kinds[memory.kind]) and not (step and step.action == REVIVE):
            used = usage.get(memory.id, Usage())
            worth = priority(memory.difficulty, used.sessions_since, used.uses)
            lowest.append((worth, memory.created, memory.id, each))
    lowest.sort()  # among equals the oldest
    return [
        _step(
            stored,
            EVICT,
            Phase(stored.memory.phase + 1),
            f"priority {worth:.2f} is among the lowest of {len(staying)} memories,"
            f" {limits.max_memories} are wanted",
        )
        for worth, _, _, stored in lowest[: limits.eviction_batch_size]
    ]


def _step(stored: Stored, action: str, to: Phase, reason: str) -> Action:
    memory = stored.memory
    return Action(
        memory.id, action, memory.phase, to, reason, stored.vault, stored.etag, memory.scope
    )


class Leaving(Protocol):
    """A step of a plan, with how many memories it puts out of use, and whose."""

    @property
    def scope(self) -> Scope:
        """Whose memories they are."""

    @property
    def leaving(self) -> int:
        """How many memories the step puts out of use."""

    @property
    def rationed(self) -> bool:
        """Whether there are only so many of its kind in a session, whatever a clock says."""


S = TypeVar("S", bound=Leaving)


def let_through(
    store: Store, steps: Sequence[S], *, consent: bool = False
) -> tuple[list[S], tuple[Mass, ...]]:
    """The steps that may be taken, and the masses that wait for consent; with it, none waits."""
    leaving: Counter[Scope] = Counter()
    for step in steps:
        leaving[step.scope] += step.leaving
    if consent or not leaving.total():
        return list(steps), ()
    active: Counter[Scope] = Counter()
    for _, scope, status, phase, count in store.counts():
        if status == Status.ACTIVE and phase != Phase.ARCHIVED:
            active[Scope(scope)] += count
    held = masses(leaving, active)
    waiting = {each.scope for each in held}
    through: list[S] = []
    # While a mass waits, a full vault must still be able to give way a little in each session.
    left = dict.fromkeys(waiting, FEW)
    for step in steps:
        if step.leaving and step.scope in waiting:
            if not step.rationed or left[step.scope] < step.leaving:
                continue
            left[step.scope] -= step.leaving
        through.append(step)
    return through, held


def note_masses(log: SessionLog, project: str, command: str, held: Sequence[Mass]) -> None:
    """Keep what a run held back, for `ltm status`; nothing held back takes the note away."""
    reader, text = f"held by {command}", ", ".join(map(str, held))
    if log.cursor("", reader, project) != text:
        with log.transaction():
            log.keep_cursor("", reader, project, text)


def note_masses_in(places: Places, command: str, held: Sequence[Mass]) -> None:
    """The same without an open log; where there is none, nothing was noted before."""
    with _log(places) as log:
        if log is not None:
            note_masses(log, places.project.id, command, held)


def waiting_masses(places: Places) -> dict[str, str]:
    """By command, what waits for consent; nothing where there is no log."""
    found: dict[str, str] = {}
    with _log(places) as log:
        if log is not None:
            project = places.project.id
            found = {each: log.cursor("", f"held by {each}", project) for each in COMMANDS}
    return {command: text for command, text in found.items() if text}


def mass_message(command: str, held: str) -> str:
    """What a person reads about masses that wait for consent."""
    return (
        f"{held} would go out of use at once, which is more than {SHARE:.0%}: left alone."
        f" See them with 'ltm {command} --dry-run'; if that is right: ltm {command} --yes"
    )


@contextmanager
def _log(places: Places) -> Iterator[SessionLog | None]:
    """The session log, or None where there is none: the note is for the next look, no more."""
    try:
        log = SessionLog(places.state_db) if os.path.exists(places.state_db) else None
    except (sqlite3.Error, StorageFailed):
        log = None
    try:
        with suppress(sqlite3.Error):
            yield log
    finally:
        if log is not None:
            log.close()
