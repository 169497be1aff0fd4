"""Whether a session has grown since it was last read.

Owns that question for every reader of transcripts, each of which keeps its own place. Imports
`lines` and `storage.sessionlog`.
"""

from __future__ import annotations

import os

from ltm.sessions.lines import cursor_of
from ltm.storage.sessionlog import Session, SessionLog


def is_there(session: Session) -> bool:
    """Whether both the transcript and the folder the session ran in still exist."""
    return os.path.isfile(session.transcript) and os.path.isdir(session.cwd)


def has_grown(log: SessionLog, session: Session, reader: str, least: int = 1) -> bool:
    """Whether a session that is there has at least so many bytes that a reader has not read.

    A transcript that is shorter than what was read of it is another one, and all of it is new.
    """
    if not is_there(session):
        return False
    try:
        size = os.stat(session.transcript).st_size
    except OSError:
        return False  # its client has just deleted it
    read = cursor_of(log.cursor(session.id, reader, session.transcript)).offset
    return size < read or size - read >= least
