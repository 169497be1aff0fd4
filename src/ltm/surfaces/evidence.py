"""What a memory was learned from, as it was said.

Owns where to look: in the session's transcript while the client keeps it, else among the passages
we kept of it ourselves. `ltm show` and all else that shows a memory use it.
"""

from __future__ import annotations

import os
from contextlib import closing
from dataclasses import dataclass, field
from itertools import islice

from ltm.core.model import Source
from ltm.core.screen import one_line
from ltm.core.sentences import shortened
from ltm.sessions.quoted import Quoted, quoted
from ltm.storage.passagelookups import line_range
from ltm.storage.passages import Passages
from ltm.storage.places import Places
from ltm.storage.sessionlog import SessionLog

MOST = 20
"""Lines that are shown; all of them are in the transcript."""

_LOOKED_AT = 1_000
_LONG = 500
_ROLES = {"assistant": "agent"}


@dataclass(frozen=True, slots=True)
class SourceLines:
    """The lines a memory came from, as far as they are there."""

    lines: list[Quoted] = field(default_factory=list)
    more: int = 0
    """Lines that are there and not shown."""
    transcript: str = ""
    """The file they stand in, if it is there."""
    note: str = ""
    """Why there are none, or where else they come from."""


def evidence(source: Source, where: Places) -> SourceLines:
    """What stands on the lines a memory names as its source; nothing when it names none."""
    first, last = line_range(source.lines)
    if not source.session or not last:
        return SourceLines()
    last = min(last, first + _LOOKED_AT)
    path = _transcript(source.session, where)
    if path:
        found = quoted(path, first, last)
        shown = list(islice(found, MOST))
        return SourceLines(
            shown, sum(1 for _ in found), path, "" if shown else "nothing to read there"
        )
    kept = _kept(source, where)
    note = "from what was kept of the session: its transcript is gone"
    if not kept:
        note = "its transcript is gone, and nothing was kept of it"
    return SourceLines(kept[:MOST], max(0, len(kept) - MOST), "", note)


def _transcript(session: str, where: Places) -> str:
    """The session's transcript, '' when it is not there any more."""
    if not os.path.exists(where.state_db):
        return ""
    with closing(SessionLog(where.state_db)) as log:
        known = log.get(session)
    return known.transcript if known and os.path.isfile(known.transcript) else ""


def _kept(source: Source, where: Places) -> list[Quoted]:
    if not os.path.exists(where.sessions_db):
        return []
    with closing(Passages(where.sessions_db, readonly=True)) as passages:
        return [
            Quoted(
                each.first,
                _ROLES.get(each.role, each.role),
                each.at,
                shortened(one_line(each.text), _LONG),
            )
            for each in passages.at_lines(source.session, source.lines)
        ]
