"""The steps of a drain: what follows from an event of a session.

A step gets a `StepContext` and is called once per event, after the session log knows of it. A
session is learned from at the end of a turn when there is enough to read, at every so many tool
calls of a long turn, before the context goes, at its end, and when a session begins after one that
never ended. Each reader of a transcript keeps its own cursor; the lines are read once for all of
them.

Most events teach nothing, above all the start of a session. What learns is `learning`, loaded when
there is something to learn.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from datetime import UTC, datetime

from ltm.clients.table import BY_NAME, CLAUDE_CODE
from ltm.clients.wire import TOOL_EVENTS
from ltm.config.config import Config, load
from ltm.config.options import OFF
from ltm.errors import LtmError
from ltm.files.block import shows_block
from ltm.history.db import is_behind, let_go
from ltm.hook.answer import settings_stamps
from ltm.model import iso, utc
from ltm.project.identity import identify
from ltm.sessions import stats
from ltm.sessions.readers import READERS
from ltm.sessions.sources import extent, is_transcript
from ltm.sessions.stats import has_grown, is_there
from ltm.sessions.transcript import LineSource, Transcripts, origin
from ltm.spool import hook_log, session_text
from ltm.state.candidates import Candidates
from ltm.state.session_log import BY_MODEL, BY_RULES, Session, SessionLog
from ltm.store.project import OpenProject

_AT_BEGINNINGS = ("SessionStart", "UserPromptSubmit")
_LEARNING = ("Stop", "PreCompact", "SessionEnd", "SessionStart")
_LEAST_BYTES = {"Stop": 600}
"""A turn that added less than about three lines waits for the next."""

_MODEL_BYTES = {"Stop": 100_000}
"""Bytes a transcript must have grown by since a model last read it, for events that come often."""

_OVER = ("SessionEnd", "SessionStart")
_NOTED = "note"
"""Under this name the log keeps how long a transcript was when its note was written."""

SEEN = "seen"
"""Under this name the log keeps when each client last reported an event."""


@dataclass(frozen=True, slots=True)
class Event:
    key: str
    """Unique and the same at every attempt: who must act only once remembers it."""
    event: str
    """Its name, such as `SessionStart` or `Stop`."""
    session: str
    at: float = 0.0
    """When the client told us, in seconds since 1970."""
    cwd: str = ""
    transcript: str = ""
    client: str = ""
    """Its name in the table of clients; '' for the one that has no need to say."""
    source: str = ""
    """How a session began: `startup`, `resume`, `clear`, `compact` or `fork`."""
    reason: str = ""
    """How it ended."""
    trigger: str = ""
    """Who asked for a compaction: `manual` or `auto`."""
    agent: str = ""
    tool: str = ""
    ok: bool = True
    """Whether the tool did its work."""


def from_record(key: str, record: Mapping[str, object]) -> Event | None:
    """The event of a spooled record; None when it lacks what makes an event."""
    if not isinstance(record.get("event"), str) or not isinstance(record.get("session"), str):
        return None
    known = {
        field.name: record[field.name]
        for field in fields(Event)
        if isinstance(record.get(field.name), str | bool)
    }
    seconds = key.partition("-")[0]
    known["at"] = int(seconds) / 1e9 if seconds.isdigit() else 0.0
    return Event(**{**known, "key": key})  # type: ignore[arg-type]  # checked field by field above


class OpenProjects:
    """What one drain has open: each project once, and the transcripts it reads."""

    def __init__(self, home: str, environ: Mapping[str, str], log: SessionLog) -> None:
        self.user = load(home)
        """The user's own options."""
        self.transcripts = Transcripts()
        self._home = home
        self.environ = {**environ, "LTM_HOME": home}
        self._log = log
        self._ids: dict[str, str] = {}
        self._opened: dict[str, tuple[OpenProject, dict[str, str]]] = {}

    def id_of(self, folder: str) -> str:
        """The id of the project a folder belongs to."""
        if folder not in self._ids:
            self._ids[folder] = identify(folder or os.sep, self._home).id
        return self._ids[folder]

    def open(self, folder: str) -> OpenProject:
        if folder not in self._opened:
            project = OpenProject(folder, environ=self.environ, user=self.user, log=self._log)
            stamps = settings_stamps(project.places, folder)
            same = (each for each, _ in self._opened.values() if each.places == project.places)
            self._opened[folder] = next(same, project), stamps
        return self._opened[folder][0]

    def open_current(self, folder: str) -> OpenProject:
        """The same, opened again if since then another process changed what it depends on."""
        project = self.open(folder)
        is_current = (
            settings_stamps(project.places, folder) == self._opened[folder][1]
            and identify(folder, self._home) == project.places.project
        )
        if not is_current:
            self.close()
            self._opened.clear()
            self.user = load(self._home)
        return self.open(folder)

    def close(self) -> None:
        """Give back every file; what is asked for later is opened again."""
        for project, _ in self._opened.values():
            project.close()
        self.transcripts.close()


@dataclass(frozen=True, slots=True)
class StepContext:
    """One event, and what a step may use to act on it."""

    event: Event
    home: str
    log: SessionLog
    at: datetime
    projects: OpenProjects

    @property
    def lines(self) -> LineSource:
        """Where readers of transcripts get the lines from."""
        return self.projects.transcripts.lines


Step = Callable[[StepContext], None]


def log_event(work: StepContext) -> None:
    event, log = work.event, work.log
    moment = begun = datetime.fromtimestamp(event.at, UTC)
    cwd, is_end = event.cwd, event.event == "SessionEnd"
    # Looked up before: no disk may be waited for while the database is held.
    transcript = _transcript_of(work)
    known = log.get(event.session)
    client = event.client or (known.client if known else "")
    if not client and is_transcript(transcript):
        client = origin(transcript, work.lines).client
    if is_end and known is None:
        # The only event of it that arrived: the transcript has what the others would have told.
        if not is_transcript(transcript):
            with log.transaction():
                _note_seen(work)
            return
        first = origin(transcript, work.lines)
        cwd = cwd or first.cwd
        try:
            begun = min(moment, utc(first.started))
        except ValueError:
            pass  # it does not say when
    project = work.projects.id_of(cwd)
    with log.transaction():
        log.begin(event.session, project, cwd, transcript, begun, client)
        if is_end:
            log.end(event.session, event.reason, moment)
        else:
            if event.event in _AT_BEGINNINGS:
                log.reopen(event.session, moment)
            if event.event in TOOL_EVENTS:
                log.count_live(event.session, ok=int(event.ok), failed=int(not event.ok))
            elif event.event == "PreCompact":
                log.count_live(event.session, compactions=1)
        _note_seen(work)
        log.note_progress(event.key, 1, 0)


def _note_seen(work: StepContext) -> None:
    """Keep when the client of an event was last heard of, for the doctor."""
    moment = datetime.fromtimestamp(work.event.at, UTC)
    work.log.keep_cursor("", SEEN, work.event.client or CLAUDE_CODE.name, iso(moment))


def _transcript_of(work: StepContext) -> str:
    """The transcript of an event's session; some clients' events leave it out."""
    event = work.event
    client = BY_NAME.get(event.client)
    reader = READERS.get(client.reader) if client else None
    if event.transcript or reader is None or reader.of_session is None:
        return event.transcript
    return reader.of_session(event.session, work.projects.environ)


def count(work: StepContext) -> None:
    """Bring the figures of the event's session up to date, and of sessions that never ended.

    Not at each call of a tool: those are counted as they come, and an agent makes hundreds before
    the figures are asked for.
    """
    session = work.log.get(work.event.session)
    if session is None or work.event.event in TOOL_EVENTS:
        return
    others = work.log.unended(session) if work.event.event == "SessionStart" else ()
    for each in (session, *others):
        stats.update(work.log, each, work.at, lines=work.lines)


def learn(work: StepContext) -> None:
    """Keep what the event's session taught, and sessions that died before they ended."""
    event = work.event
    for session in sessions_to_read(work):
        if has_grown(work.log, session, BY_RULES, _LEAST_BYTES.get(event.event, 1)):
            from ltm.worker.learning import learn_from

            learn_from(work.projects.open(session.cwd), session, work.at, lines=work.lines)
        # A model reads on if one is switched on and it is worth it, but never within a turn.
        has_model = work.projects.user.own("llm.backend") != OFF and event.event not in TOOL_EVENTS
        least = _MODEL_BYTES.get(event.event, 1)
        if has_model and has_grown(work.log, session, BY_MODEL, least):
            work.log.models().note_unheard(session.id)
        is_over = event.event == "SessionEnd" and is_there(session)
        if is_over and session.cwd and os.path.isdir(session.cwd):
            from ltm.worker.session_end import tidy_up

            tidy_up(work.projects.open(session.cwd), work.at)


def sessions_to_read(work: StepContext) -> list[Session]:
    """The sessions an event makes us read: its own, or when it begins those that never ended."""
    event, log = work.event, work.log
    reads = event.event in _LEARNING
    if event.event in TOOL_EVENTS:  # every so many of them a long turn is saved
        interval = int(work.projects.user.own("hooks.save_interval"))
        reads = log.live_calls(event.session) % interval == 0
    session = log.get(event.session) if reads else None
    if session is None:
        return []
    found = [session] if event.event != "SessionStart" else log.unended(session)
    return [each for each in found if is_wanted(work.projects.user, each.client)]


def is_wanted(user: Config, client: str) -> bool:
    """Whether the user lets sessions of a client be read."""
    names = str(user.own("capture.clients"))
    return names == "all" or not client or client in names.split(", ")


def offer(work: StepContext) -> None:
    """When a session begins, note which candidates it was offered.

    One that is resumed has in its transcript what it was told, and is offered nothing.
    """
    event = work.event
    if event.event != "SessionStart" or event.source == "resume" or not os.path.isdir(event.cwd):
        return
    project = work.projects.open(event.cwd)
    candidates = Candidates(project.places.private)
    if candidates.waiting():
        candidates.note_offered(event.at, int(project.config.get("capture.offer")))


def note_shown(work: StepContext) -> None:
    """When a session begins, note which memories it was told: they do not fade.

    The hook writes nothing; the text kept for its folder is what it told.
    """
    event = work.event
    if event.event == "SessionStart" and event.source != "resume":
        ids = session_text.shown(work.home, event.cwd)
        if ids:
            work.log.usage().shown(ids)
            session_text.note_told(work.home, event.session, ids)


def keep_said(work: StepContext) -> None:
    """Keep what was said in the event's session, and in sessions that died before they ended."""
    for session in sessions_to_read(work):
        if not is_there(session) or not session.cwd or not os.path.isdir(session.cwd):
            continue
        try:
            project = work.projects.open(session.cwd)
            if is_behind(project, session.id, session.transcript):
                from ltm.history.ingest import keep_session

                keep_session(project, session, work.at, lines=work.lines)
            if work.event.event == "SessionEnd":
                let_go(project, work.at)
        except (LtmError, OSError, sqlite3.Error) as error:
            hook_log.note(work.home, "keeping a session", error)
            work.projects.close()


def note(work: StepContext) -> None:
    """Write the note of a session that ended, and when one begins of those that never ended.

    A session is read for it once, and again only when it said more.
    """
    if work.event.event not in _OVER:
        return
    for session in sessions_to_read(work):
        try:
            size = str(extent(session.transcript))
        except (OSError, ValueError):
            continue
        known = work.log.cursor(session.id, _NOTED, session.transcript)
        if known == size or not os.path.isdir(session.cwd):
            continue
        from ltm.notes.session_notes import note_session, tidy_notes

        project = work.projects.open(session.cwd)
        note_session(project, session, lines=work.lines)
        tidy_notes(project.places, work.at)
        with work.log.transaction():
            work.log.keep_cursor(session.id, _NOTED, session.transcript, size)


def show(work: StepContext) -> None:
    """Bring the block in files of the project up to date: clients that no hook can tell anything
    know that alone."""
    event = work.event
    if event.event in ("Stop", "SessionEnd") and os.path.isdir(event.cwd):
        project = work.projects.open(event.cwd)
        if shows_block(project.places.project.root):
            from ltm.worker.session_end import refresh_views

            refresh_views(project, work.at)


STEPS: tuple[Step, ...] = (count, note_shown, learn, offer, keep_said, note, show)
"""What follows from every event, in this order."""
