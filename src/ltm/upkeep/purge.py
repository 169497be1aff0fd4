"""Purge a memory or a session: delete every trace of it that LTM keeps.

For a memory, the messages that say it are found and marked while there is something to compare them
with, then it goes from sessions, notes, stashes and the ledger. The memory itself goes last, by the
store, so that a purge that was cut short can be repeated.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime

from ltm.capture.pipeline import STATE
from ltm.config.config import load
from ltm.decisions import Purge
from ltm.errors import LtmError, StorageFailed
from ltm.friction import report
from ltm.history.db import Passages
from ltm.history.ingest import (
    messages_quoting,
    note_unsaid,
    passages_behind,
    purge_session,
    quoting,
    transcript_of,
)
from ltm.inject import memory_md
from ltm.model import Memory, Scope, Stored, now
from ltm.notes.session_notes import SessionNotes
from ltm.notes.stash import Stashes
from ltm.project.identity import known
from ltm.project.layout import STATE as STATE_DB
from ltm.project.layout import Places, sessions_file
from ltm.remote.contents import note_purged
from ltm.spool import session_text
from ltm.state import corrections
from ltm.state.candidates import Candidates
from ltm.state.session_log import Session, SessionLog
from ltm.state.usage import State
from ltm.store.file_store import FileStore
from ltm.store.open import vaults_of
from ltm.store.project import OpenProject
from ltm.vault.vault import Vault

_LATEST = 50
"""Sessions of the project whose transcripts are looked through."""


def purge_traces(memory: Memory, where: Places) -> tuple[int, str]:
    """Delete for good what was kept of the words of a memory that is about to be purged.

    How many passages there were, and the client's own transcript, which is not ours to change.
    """
    messages: list[str] = []
    source: Session | None = None
    if os.path.exists(where.state_db):
        with closing(SessionLog(where.state_db)) as log:
            source = log.get(memory.source.session) if memory.source.session else None
            sessions = log.sessions(where.project.id, _LATEST)
            for session in {
                each.id: each for each in (*sessions, *filter(None, [source]))
            }.values():
                if transcript_of(session):
                    quoted = messages_quoting(memory, session.id, session.transcript)
                    messages += quoted
                    if quoted:
                        log.drop_cursors(session.id, STATE)
            note_unsaid(log, messages, datetime.now(UTC))
    gone = 0
    paths = [where.sessions_db, *([sessions_file(where.home, source.project)] if source else ())]
    for path in dict.fromkeys(paths):
        if messages or os.path.exists(path):
            with closing(Passages(path)) as passages:
                gone += passages.purge(passages_behind(passages, memory), messages)
    quotes = quoting(memory)
    for folder in {os.path.dirname(path) for path in paths}:
        Candidates(folder).purge(lambda each: quotes(each.text))
    SessionNotes(where.private).rewrite(lambda line: not quotes(line))
    Stashes(where.project.root, where.private).rewrite(lambda line: not quotes(line))
    purge_copies(memory, where)
    if os.path.exists(os.path.join(where.home, corrections.FILE)):
        with corrections.opened(where.home) as book:
            book.purge(where.project.id, quotes)
    if messages:
        report.remove(where.project.root)
    return gone, transcript_of(source)


def purge_session_traces(session: str, where: Places) -> tuple[int, str]:
    """Delete for good what was said in a session and what was noted of it, in whatever project.

    How many passages there were, and the client's own transcript, which is not ours to change.
    """
    gone, transcript, database = purge_session(session, where)
    Candidates(os.path.dirname(database)).purge(lambda each: each.session == session)
    notes = SessionNotes(os.path.dirname(database))
    notes.purge(session)
    if os.path.isdir(notes.folder):
        notes.summarise()
    session_text.clear(where.home)  # they say where the last session stopped
    if os.path.exists(where.state_db):
        with closing(SessionLog(where.state_db)) as log:
            log.drop_cursors(session, STATE)
    return gone, transcript


def purge_memories(project: OpenProject, found: Sequence[Stored]) -> tuple[int, list[str]]:
    """Delete memories for good, with their traces and the lines of views that quote them.

    How many passages went with them, and the client's own transcripts that still have them.
    """
    store, where = project.store, project.places
    gone = 0
    transcripts: dict[str, None] = {}
    # Noted first: then the next sync finishes a purge that is cut short.
    names = {stored.memory.id: os.path.basename(stored.path) for stored in found}
    note_purged(where.home, names)
    with store.in_a_row():
        for stored in found:
            # Its traces first: while the memory is there, an interrupted purge can be repeated.
            passages, transcript = purge_traces(stored.memory, where)
            store.apply(Purge(stored.memory.id))
            gone += passages
            transcripts |= {transcript: None} if transcript else {}
    try:
        if not any(stored.team for stored in found):  # no view quotes a team's memory
            memory_md.write_views(store, vaults_of(where), where.project.root, now=now())
        for stored in found:
            purge_copies(stored.memory, where)
    except LtmError as error:
        raise StorageFailed(
            f"the memory is purged, but the views may still quote it: {error.message}",
            path=error.path,
            hint="run 'ltm sync' when that is mended",
        ) from error
    return gone, list(transcripts)


def purge_in_vaults(home: str, found: Mapping[str, Vault]) -> list[str]:
    """Delete for good memories that were purged on another machine, given by ids and vaults.

    Where the project's folder is not on this machine, nothing but the memory itself is here.
    """
    roots = {project.id: project.root for project in known(home)}
    for memory_id, vault in found.items():
        folder, agent = _folder_and_agent(home, vault, roots)
        if folder:
            environ = {**os.environ, "LTM_HOME": home}
            with OpenProject(folder, agent, environ) as project:
                purge_memories(project, [project.store.read(memory_id)])
            continue
        state, homes = State(os.path.join(home, STATE_DB)), dict.fromkeys(Scope, vault)
        note_purged(home, {memory_id: ""})
        with closing(FileStore((vault,), homes, state, load(home).kinds)) as store:
            store.apply(Purge(memory_id))
    return list(found)


def _folder_and_agent(home: str, vault: Vault, roots: Mapping[str, str]) -> tuple[str, str]:
    """A folder from which a vault is seen, and its agent; '' where there is none."""
    words = os.path.relpath(vault.folder, home).split(os.sep)
    agent = words[1] if words[0] == "agents" else ""
    if vault.name == "agent":
        return next(iter(roots.values()), home), agent
    return roots.get(words[-1], ""), agent


def purge_copies(memory: Memory, where: Places) -> None:
    """The same for the copies of what stood in views: one may be made when its line goes there."""
    quotes = quoting(memory)
    memory_md.rewrite(where.private, lambda line: not quotes(line))
