"""What was too much at once for a machine alone: noted by the drain, told by `status` and commands.

Owns the note in the session log, one a command and project, and the words for a person. A run that
holds nothing back, or has a person's consent, takes the note away.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

from ltm.core.errors import StorageFailed
from ltm.core.fuse import SHARE, Mass
from ltm.storage.places import Places
from ltm.storage.sessionlog import SessionLog

UPKEEP, CONSOLIDATE = COMMANDS = ("upkeep", "consolidate")
"""The commands that a person gives consent with."""


def note(log: SessionLog, project: str, command: str, held: Sequence[Mass]) -> None:
    """Keep what a run held back, for `ltm status`."""
    reader, said = f"held by {command}", ", ".join(map(str, held))
    if log.cursor("", reader, project) != said:
        with log.transaction():
            log.keep_cursor("", reader, project, said)


def note_in(places: Places, command: str, held: Sequence[Mass]) -> None:
    """The same for who has no log open; where there is none, nothing was noted before."""
    with _log(places) as log:
        if log is not None:
            note(log, places.project.id, command, held)


def waiting(places: Places) -> dict[str, str]:
    """By command, what waits for consent; nothing where there is no log."""
    found: dict[str, str] = {}
    with _log(places) as log:
        if log is not None:
            project = places.project.id
            found = {each: log.cursor("", f"held by {each}", project) for each in COMMANDS}
    return {command: said for command, said in found.items() if said}


def told(command: str, said: str) -> str:
    """What a person is told of it."""
    return (
        f"{said} would go out of use at once, which is more than {SHARE:.0%}: left alone."
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
