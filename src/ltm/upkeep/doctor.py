"""Finding what is wrong and putting it right, without ever deleting what a person wrote.

Owns the round of all checks, the order of a repair (mend, reindex, look again) and the shape of
the report. The checks themselves are in `disk`, `records`, `sharing` and `standing`.
Imports core and storage.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ltm.core.errors import LtmError
from ltm.core.model import Problem
from ltm.storage.config import problems_in
from ltm.storage.filestore import FileStore
from ltm.upkeep.disk import databases, leftovers, modes, stranded
from ltm.upkeep.finding import Finding
from ltm.upkeep.records import records
from ltm.upkeep.sharing import sharing
from ltm.upkeep.standing import standing

if TYPE_CHECKING:
    from ltm.storage.config import Config
    from ltm.storage.places import Places
    from ltm.storage.store import Store

_ROUNDS = 3
# One repair can be in the way of another on the same file, which then has its turn in the next.


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
                    continue  # it is still there at the next look, and told
        _index_anew(store)
        found = _look(store, places, config)
        if not any(finding.mend for finding in found):
            break
    still = {finding.problem for finding in found}
    fixed = [each.problem._replace(fixed=True) for each in first if each.problem not in still]
    return _report(found, fixed)


def _index_anew(store: Store) -> None:
    if isinstance(store, FileStore):
        try:
            store.rebuild()
        except (LtmError, OSError, sqlite3.Error):
            pass  # an index that cannot be written is told at the next look


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
    found += standing(store, places)
    found += stranded(places.home)
    return found


def _report(findings: Iterable[Finding], fixed: Sequence[Problem]) -> DoctorReport:
    found = list(findings)
    healthy = not any(finding.problem.ill for finding in found)
    return DoctorReport((*fixed, *(finding.problem for finding in found)), healthy)
