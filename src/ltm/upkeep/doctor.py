"""`ltm doctor`: run all checks, repair, report; and measure how good the memories are.

A repair mends, reindexes and looks again, and never deletes what a person wrote. The audit only
counts: shares of junk, repetition, staleness, disuse and secrets.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from ltm.config.config import Config, problems_in
from ltm.errors import LtmError
from ltm.model import Problem, Usage
from ltm.policy import is_hidden
from ltm.project.layout import Places
from ltm.store.file_store import FileStore
from ltm.store.store import Store
from ltm.text.sameness import key
from ltm.text.similarity import tokens_of
from ltm.upkeep.doctor_checks import (
    Finding,
    databases,
    in_step,
    leftovers,
    modes,
    records,
    secrets_in,
    sharing,
    stranded,
    trust,
)
from ltm.upkeep.plan import ACTIVE

# One repair can be in the way of another on the same file, which then has its turn in the next.
_ROUNDS = 3


@dataclass(frozen=True, slots=True)
class DoctorReport:
    """How things stand."""

    problems: tuple[Problem, ...]
    healthy: bool
    audit: Mapping[str, Any] = field(default_factory=dict)

    def as_record(self) -> dict[str, Any]:
        """The report in the fields scripts read."""
        return {
            "healthy": self.healthy,
            "problems": [
                {
                    "path": problem.path,
                    "line": problem.line,
                    "message": problem.message,
                    "fixed": problem.fixed,
                    "ill": problem.ill,
                }
                for problem in self.problems
            ],
            "audit": dict(self.audit),
        }


def examine(store: Store, places: Places, config: Config) -> DoctorReport:
    """Everything that is wrong, and nothing changed but what any reading brings up to date."""
    return _report(_look(store, places, config), ())


def mend(store: Store, places: Places, config: Config) -> DoctorReport:
    """Repair what can be repaired, reindex, and say what is mended and what still is wrong."""
    first = found = _look(store, places, config)
    for _ in range(_ROUNDS):
        for finding in found:
            if finding.mend is not None:
                try:
                    finding.mend()
                except (LtmError, OSError):
                    continue  # it is still there at the next look, and reported
        if isinstance(store, FileStore):
            # An index that cannot be written is reported at the next look.
            with suppress(LtmError, OSError, sqlite3.Error):
                store.rebuild()
        found = _look(store, places, config)
        if not any(finding.mend for finding in found):
            break
    still = {finding.problem for finding in found}
    fixed = [each.problem._replace(fixed=True) for each in first if each.problem not in still]
    return _report(found, fixed)


def _look(store: Store, places: Places, config: Config) -> list[Finding]:
    found = [Finding(problem) for problem in (*places.problems, *problems_in(config, places.home))]
    if isinstance(store, FileStore):
        # Before any memory is read: reading sweeps leftovers away and replaces a broken index.
        found += leftovers(store.vaults, places.home)
        found += databases(store.vaults, places.home)
        found += records(store, places.home)
    else:
        found += [Finding(problem) for problem in store.problems()]
    found += modes(places.home, places.shared if places.shared_exists else "")
    found += sharing(places)
    found += trust(store, places)
    found += stranded(places.home)
    found += in_step(places.home)
    return found


def _report(found: Sequence[Finding], fixed: Sequence[Problem]) -> DoctorReport:
    healthy = not any(finding.problem.ill for finding in found)
    return DoctorReport((*fixed, *(finding.problem for finding in found)), healthy)


UNUSED_DAYS = 7
"""Active days after which a memory that was never used counts as unused."""

_LEAST_WORDS = 2


def audit(store: Store, now: datetime) -> dict[str, Any]:
    """Of the active memories: how many there are, and how many, and which share, are of each sort.

    junk: hardly a word in them. duplicate: says the same as an older one of its kind. stale: too
    old to be shown to a new session. unused: known for `UNUSED_DAYS` active days and never used.
    secret: seems to hold one.
    """
    memories = [each.memory for each in store.list(ACTIVE).items]
    usage = store.usage([memory.id for memory in memories])
    known: set[tuple[str, ...]] = set()
    repeated: list[str] = []
    for memory in sorted(memories, key=lambda each: (each.created, each.id)):
        text = (memory.kind, *key(memory.text))
        repeated += [memory.id] if text in known else []
        known.add(text)
    words = {each.id: tokens_of(f"{each.title} {each.text}") for each in memories}
    used = {each.id: usage.get(each.id, Usage()) for each in memories}
    sorts = {
        "junk": [name for name, found in words.items() if len(found) < _LEAST_WORDS],
        "duplicate": sorted(repeated),
        "stale": [
            memory.id for memory in memories if is_hidden(memory, store.kinds[memory.kind], now)
        ],
        "unused": [
            name
            for name, found in used.items()
            if found.uses == 0 and found.known_days >= UNUSED_DAYS
        ],
        "secret": [memory.id for memory in memories if secrets_in(memory)],
    }
    return {
        "memories": len(memories),
        **{
            name: {
                "count": len(ids),
                "rate": round(len(ids) / len(memories), 4) if memories else 0.0,
                "ids": ids,
            }
            for name, ids in sorts.items()
        },
    }
