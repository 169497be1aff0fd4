"""Putting a session aside in a stash: which session is meant, its outline, and the file.

Owns finding the current session, from the client's own word, else from the log. A model that
is switched on may word the outline better; without one, or when it fails, the rules stand.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime

from ltm.config.config import Config
from ltm.errors import Ambiguous, ModelFailed, NotFound
from ltm.notes.markdown import stash_text
from ltm.notes.outline import Outline, outline_in
from ltm.notes.stash_files import Stash, Stashes, file_name
from ltm.project.layout import Places
from ltm.sessions.transcript import all_transcripts, origin, read
from ltm.state.model_log import ModelLog
from ltm.state.session_log import Session, SessionLog
from ltm.text.sentences import title_of

_RUNNING = ("CLAUDE_CODE_SESSION_ID", "CLAUDE_SESSION_ID")
_LOOKED_AT = 50


@dataclass(frozen=True, slots=True)
class Stashed:
    """What was put aside, and how."""

    stash: Stash
    wanted: str
    """The name it was to have; another than the stash's when that was taken."""
    session: str
    turns: int
    model: str
    """What a model did: `none`, `worded`, or why it did not help."""


def stash(
    places: Places,
    config: Config,
    *,
    name: str,
    session: str,
    transcript: str,
    at: datetime,
    environ: Mapping[str, str] = os.environ,
) -> Stashed:
    """Put aside the session that is meant, under a name or one taken from what it is about."""
    wanted = file_name(name) if name else ""
    found, path = _meant(places, session, transcript, environ)
    with closing(SessionLog(places.state_db)) as log:
        outline = outline_in(path, found, config.kinds, log)
    if not outline.turns:
        raise NotFound(
            "there is nothing in this session yet", path=path, hint="stash it after some work"
        )
    outline, model = _worded(outline, path, places, config, environ)
    wanted = wanted or _named_after(outline, at)
    text = stash_text(
        outline,
        config.kinds,
        name=wanted,
        project=places.project.name,
        at=at,
        transcript=path,
    )
    put = Stashes(places.project.root, places.private).put(wanted, text)
    return Stashed(put, wanted, found, outline.turns, model)


def _meant(
    places: Places, session: str, transcript: str, environ: Mapping[str, str]
) -> tuple[str, str]:
    """The id and the transcript of the session that is meant."""
    if transcript:
        path = os.path.abspath(transcript)
        if not os.path.isfile(path):
            raise NotFound("there is no such transcript", path=path)
        return session or origin(path).session, path
    log = SessionLog(places.state_db)
    try:
        if session:
            return _of_id(log, session, environ)
        running = next((environ[name] for name in _RUNNING if environ.get(name)), "")
        path = _transcript_of(log, running, environ) if running else ""
        if path:
            return running, path
        found = _latest(log.sessions(places.project.id, _LOOKED_AT))
    finally:
        log.close()
    if found is None:
        raise NotFound(
            "no session of this project is known whose transcript is still there",
            path=places.project.root,
            hint="run it inside a session, or name one: ltm stash --transcript FILE",
        )
    return found.id, found.transcript


def _of_id(log: SessionLog, session: str, environ: Mapping[str, str]) -> tuple[str, str]:
    path = _transcript_of(log, session, environ)
    if path:
        return session, path
    near = [each for each in log.sessions(limit=1_000) if each.id.startswith(session)]
    if len(near) > 1:
        raise Ambiguous(f"{len(near)} sessions begin with {session}", hint="give more of it")
    if not near:
        raise NotFound(f"no session {session} is known", hint="see them with: ltm sessions")
    found = near[0]
    if not os.path.isfile(found.transcript):
        raise NotFound("the transcript of this session is gone", path=found.transcript or None)
    return found.id, found.transcript


def _transcript_of(log: SessionLog, session: str, environ: Mapping[str, str]) -> str:
    """The transcript of a session, '' if there is none; the log may not have heard of it yet."""
    known = log.get(session)
    if known is not None and os.path.isfile(known.transcript):
        return known.transcript
    name = f"{session}.jsonl"
    return next((each for each in all_transcripts(environ) if os.path.basename(each) == name), "")


def _latest(sessions: list[Session]) -> Session | None:
    """The session that is going on, or was last: the one whose transcript was written to last."""
    there = [
        (not each.ended, os.stat(each.transcript).st_mtime, each.number, each)
        for each in sessions
        if each.transcript and os.path.isfile(each.transcript)
    ]
    return max(there, default=(False, 0.0, 0, None), key=lambda each: each[:3])[3]


def _named_after(outline: Outline, at: datetime) -> str:
    about = title_of(outline.asked[0]) if outline.asked else "session"
    return file_name(f"{at:%Y-%m-%d} {' '.join(about.split()[:6])}".lower())


def _worded(
    outline: Outline, path: str, places: Places, config: Config, environ: Mapping[str, str]
) -> tuple[Outline, str]:
    """The outline as a model puts it, if one is switched on, as far as that can be checked."""
    from ltm.llm.model import OFF, open_model
    from ltm.notes.markdown import worded

    if config.own("llm.backend") == OFF:
        return outline, "none"
    log = ModelLog(places.state_db)
    try:
        model = open_model(config, places.home, log, environ)
        if model is None:
            return outline, "none"
        return worded(outline, read(path), config.kinds, model), "worded"
    except ModelFailed as error:
        return outline, str(error)
    finally:
        log.close()
