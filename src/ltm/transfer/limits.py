"""How much one import may read: what a source may hold before it is taken for a bomb.

Owns the figures and the counting. Imports `core.errors` only.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ltm.core.errors import Refused

_MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class SourceLimits:
    """The most a source may be."""

    total: int = 100 * _MIB
    """Bytes read, or unpacked, in all."""
    note: int = 4 * _MIB
    """Bytes of one Markdown file: it is taken apart into lines, which need more room than it."""
    entries: int = 100_000
    """Files, rows or memories."""
    ratio: int = 100
    """How many times larger than itself a packed file may become."""
    depth: int = 32
    """Folders below each other."""


USUAL = SourceLimits()
LARGE = SourceLimits(total=100 * USUAL.total, note=100 * USUAL.note, entries=100 * USUAL.entries)
"""For a source a person vouches for, with `--large`; the ratio stays."""


@dataclass(slots=True)
class Budget:
    """What is left of the limits while a source is read."""

    limits: SourceLimits = USUAL
    bytes: int = field(default=0, init=False)
    entries: int = field(default=0, init=False)

    @property
    def left(self) -> int:
        """Bytes that may still be read."""
        return max(0, self.limits.total - self.bytes)

    def spend(self, count: int, path: str) -> None:
        """Count bytes; refused beyond the limit."""
        self.bytes += count
        if self.bytes > self.limits.total:
            raise too_large(path, self.limits)

    def enter(self, path: str) -> None:
        """Count a file or a row; refused beyond the limit."""
        self.entries += 1
        self.refuse_more(self.entries, path)

    def refuse_more(self, count: int, path: str) -> None:
        """Refuse what has more entries than may be."""
        if count > self.limits.entries:
            raise Refused(
                f"holds more than {self.limits.entries:,} entries",
                path=path,
                hint="import a part of it, or say --large if you trust it",
            )


def too_large(path: str, limits: SourceLimits) -> Refused:
    """The error for a source that is larger than may be read."""
    return Refused(
        f"holds more than {limits.total // _MIB:,} MiB",
        path=path,
        hint="import a part of it, or say --large if you trust it",
    )
