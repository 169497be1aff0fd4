"""What came of an import. Pure; imports core."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from ltm.core.model import Problem


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
