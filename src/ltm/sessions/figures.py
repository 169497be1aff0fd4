"""Bringing a session's figures up to date from its transcripts, without counting anything twice.

Owns which files belong to a session (its own and its sub-agents') and the order of things: what was
counted, how far it was read and which messages it was are noted together. Imports this package and
`storage.sessionlog`.
"""

from __future__ import annotations

import os
from datetime import datetime

from ltm.sessions.lines import cursor_of
from ltm.sessions.tally import Tally
from ltm.sessions.transcript import read
from ltm.storage.sessionlog import Session, SessionLog

READER = "figures"
_COUNTED = (b"tool_result", b"compact_boundary")
"""What stands in every line that counts."""
_AT_ONCE = 5_000  # turns


def update(log: SessionLog, session: Session, at: datetime) -> None:
    """Count what a session's transcripts say that was not counted yet."""
    for path in transcripts(session.transcript):
        _update_from(log, session.id, path, at)


def transcripts(path: str) -> list[str]:
    """A session's transcript and those of its sub-agents, as far as they are there."""
    if not path:
        return []
    folder = os.path.join(path.removesuffix(".jsonl"), "subagents")
    try:
        names = sorted(os.listdir(folder))
    except (OSError, ValueError):
        names = []
    agents = [os.path.join(folder, name) for name in names if name.endswith(".jsonl")]
    return [path, *agents]


def _update_from(log: SessionLog, session: str, path: str, at: datetime) -> None:
    former = log.cursor(session, READER, path)
    reading = read(path, cursor_of(former), log.turns_read(READER, at), only=_COUNTED)
    messages = reading.messages()
    read_on = True
    while read_on:
        # Short transactions: others count the use of memories in the same database.
        with log.transaction():
            tally, left = Tally(), _AT_ONCE
            for turns in messages:
                tally.add(turns)
                left -= len(turns)
                if left <= 0:
                    break
            read_on = left <= 0
            cursor = reading.cursor.text()
            if cursor != former:  # else there is nothing to wait for the disk for
                log.count(session, tally.ok, tally.failed, tally.compactions)
                log.keep_cursor(session, READER, path, cursor)
