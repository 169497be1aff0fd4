"""The figures of a session: how much was done and how hard it was, counted from its transcripts.

A tool's success is the transcript's own verdict, never words in its output; a call the user refused
is neither. What was counted, how far it was read and which messages it was are noted together.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from ltm import policy
from ltm.sessions.sources import cursor_of, extent, is_transcript
from ltm.sessions.transcript import Lines, LineSource, read
from ltm.sessions.turns import Compaction, ToolResult, Turn
from ltm.state.session_log import Session, SessionLog

READER = "figures"
_AT_ONCE = 5_000  # turns


@dataclass(slots=True)
class Tally:
    """What was counted so far; turns are added as they are read."""

    ok: int = 0
    """Tool calls that did their work."""
    failed: int = 0
    compactions: int = 0
    first: str = ""
    """When the first turn was, as the transcript writes it."""
    last: str = ""

    def add(self, turns: Iterable[Turn]) -> None:
        for turn in turns:
            if turn.at:
                self.first = min(self.first or turn.at, turn.at)
                self.last = max(self.last, turn.at)
            if isinstance(turn, ToolResult):
                self.failed += turn.failed
                self.ok += not (turn.failed or turn.refused)
            elif isinstance(turn, Compaction):
                self.compactions += 1

    @property
    def tools(self) -> int:
        return self.ok + self.failed

    @property
    def difficulty(self) -> float:
        """How hard the session was, from 0 to 1."""
        return policy.difficulty(self.failed, self.ok, self.compactions > 0)


def update(log: SessionLog, session: Session, at: datetime, *, lines: LineSource = Lines) -> None:
    """Count what a session's transcript and those of its sub-agents say that was not counted."""
    if not session.transcript:
        return
    folder = os.path.join(session.transcript.removesuffix(".jsonl"), "subagents")
    try:
        names = sorted(name for name in os.listdir(folder) if name.endswith(".jsonl"))
    except (OSError, ValueError):
        names = []
    for path in (session.transcript, *(os.path.join(folder, name) for name in names)):
        _update_from(log, session.id, path, at, lines)


def _update_from(log: SessionLog, session: str, path: str, at: datetime, lines: LineSource) -> None:
    former = log.cursor(session, READER, path)
    seen = log.turns_read(READER, at)
    reading = read(path, cursor_of(former), seen, counted=True, lines=lines)
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


def is_there(session: Session) -> bool:
    """Whether both the transcript and the folder the session ran in still exist."""
    return is_transcript(session.transcript) and os.path.isdir(session.cwd)


def has_grown(log: SessionLog, session: Session, reader: str, least: int = 1) -> bool:
    """Whether a session that is there has at least so many bytes that a reader has not read.

    A transcript that is shorter than what was read of it is another one, and all of it is new.
    """
    if not is_there(session):
        return False
    try:
        size = extent(session.transcript)
    except OSError:
        return False  # its client has just deleted it
    read = cursor_of(log.cursor(session.id, reader, session.transcript)).offset
    return size < read or size - read >= least
