"""What happened when: sessions and memories in order, turns around a hit, and lines of a source.

This is what `ltm timeline` tells, what a citation such as `3f2a41c7:120-134` refers to, and what a
memory was learned from: its lines in the session's transcript while the client keeps that, else the
passages that LTM kept of them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import date, timedelta
from itertools import islice

from ltm.errors import NotFound
from ltm.history.db import Passages
from ltm.history.passage import Header, Passage, line_range
from ltm.model import Filter, Memory, Source, Status, Stored, iso
from ltm.project.layout import Places, sessions_file
from ltm.recall.passages import LeftOut, Quote, SessionSearch, leave_out
from ltm.recall.search import MOST, recall
from ltm.record import NamedTuple
from ltm.sessions.digest import Quoted, quoted
from ltm.sessions.sources import is_transcript
from ltm.state.session_log import Session, SessionLog
from ltm.store.project import OpenProject
from ltm.store.store import Store
from ltm.text.display import one_line
from ltm.text.sentences import shortened

REACH = 3
"""Turns before and after a hit that are told."""

MOST_LINES = 20
"""Lines of a source that are shown; all of them are in the transcript."""

_LOOKED_AT = 1_000  # lines of a source
_LONG = 500
_ROLES = {"assistant": "agent"}
_CITATION = re.compile(r"(?P<session>[\w.-]+):(?P<lines>\d+(?:-\d+)?)\Z")


class TimelineEvent(NamedTuple):
    """One thing that happened: a session, a memory that was made, or something that was said."""

    at: str
    what: Header | Stored | Passage


class Told(NamedTuple):
    """Events in the order of time, the last ones of all there are."""

    events: tuple[TimelineEvent, ...]
    total: int


def is_citation(name: str) -> bool:
    """Whether a name is a session and lines, and so not a memory's."""
    return _CITATION.match(name.strip()) is not None


def cited(store: Store, said: SessionSearch, name: str) -> list[Passage]:
    """The passages a citation names, as hits show it; `NotFound` where there are none."""
    found = _CITATION.match(name.strip())
    if found is not None and said.anything():
        session = session_named(said, found["session"])
        leave_out(store, said)
        passages = said.shown(said.passages.at_lines(session, found["lines"]))
        if passages:
            return passages
    raise NotFound(f"nothing is kept at '{name}'", hint="find what is kept with: ltm recall WORDS")


def session_named(said: SessionSearch, name: str) -> str:
    """The id of the session a person means by its id or the beginning of it."""
    known = said.passages.known_as(name) if said.anything() and name else []
    if len(known) > 1:
        raise NotFound(f"several sessions begin with '{name}'", hint="give more of the id")
    if not known:
        raise NotFound(f"nothing is kept of session '{name}'", hint="list them: ltm sessions")
    return known[0]


def around(store: Store, said: SessionSearch, name: str, reach: int = REACH) -> Told:
    """What was said around a hit: a citation's lines, or those a memory came from."""
    if is_citation(name):
        passages = cited(store, said, name)
    else:
        leave_out(store, said)
        memory = store.read(name).memory
        origin = memory.source
        first, _ = line_range(origin.lines)
        passages = []
        if origin.session and first and said.anything():
            passages = said.shown(said.passages.at_lines(origin.session, origin.lines))
        if not passages:
            raise NotFound(
                f"what {memory.id} came from is not kept", hint=f"see it with: ltm show {memory.id}"
            )
    first_turn, last_turn = passages[0].turn, passages[-1].turn
    near = said.shown(
        said.passages.around(passages[0].session, first_turn, reach, reach + last_turn - first_turn)
    )
    return Told(tuple(TimelineEvent(each.at, each) for each in near), len(near))


def retell(
    store: Store,
    said: SessionSearch,
    limit: int,
    *,
    words: str = "",
    since: date | None = None,
    until: date | None = None,
    session: str = "",
) -> Told:
    """Sessions and memories as they came about; with `words` what answers them, in that order.

    Both days belong to the time that is told of. With `session`, what was said in that session and
    the memories that came of it. Of more than `limit` events the last ones are told.
    """
    leave_out(store, said)
    if session:
        events = list(_of_session(store, said, session))
    elif words.strip():
        events = list(_answering(store, said, words))
    else:
        events = list(_all(store, said, since, until))
    low = since.isoformat() if since else ""
    high = (until + timedelta(days=1)).isoformat() if until else "~"
    inside = sorted((each for each in events if low <= each.at < high), key=_order)
    shown = [
        TimelineEvent(at, said.titled(what) if isinstance(what, Header) else what)
        for at, what in inside[-limit:]
    ]
    return Told(tuple(shown), len(inside))


def _order(event: TimelineEvent) -> tuple[str, str]:
    """By time; memories of one second by their ids, which know the order within it."""
    what = event.what
    return event.at, what.memory.id if isinstance(what, Stored) else ""


def _all(
    store: Store, said: SessionSearch, since: date | None, until: date | None
) -> Iterable[TimelineEvent]:
    if said.anything():
        low = since.isoformat() if since else ""
        high = (until + timedelta(days=1)).isoformat() if until else ""
        for header in said.passages.sessions(10_000, since=low, until=high):
            # One that goes on over midnight belongs to the days asked for, too.
            yield TimelineEvent(max(header.started, low), header)
    for stored in store.list(Filter(statuses=(Status.ACTIVE, Status.SUPERSEDED))).items:
        yield TimelineEvent(iso(stored.memory.created), stored)


def _answering(store: Store, said: SessionSearch, words: str) -> Iterable[TimelineEvent]:
    for hit in recall(store, words, Filter(), MOST // 4, said=said).hits:
        if isinstance(hit, Quote):
            yield TimelineEvent(hit.passage.at, hit.passage)
        else:
            yield TimelineEvent(iso(hit.stored.memory.created), hit.stored)


def _of_session(store: Store, said: SessionSearch, name: str) -> Iterable[TimelineEvent]:
    session = session_named(said, name)
    for passage in said.shown(said.passages.of_session(session)):
        yield TimelineEvent(passage.at, passage)
    for stored in store.list(Filter(naming=session)).items:
        if stored.memory.source.session == session:
            yield TimelineEvent(iso(stored.memory.created), stored)


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
        shown = list(islice(found, MOST_LINES))
        return SourceLines(
            shown, sum(1 for _ in found), path, "" if shown else "nothing to read there"
        )
    kept = _kept(source, where)
    note = "from what was kept of the session: its transcript is gone"
    if not kept:
        note = "its transcript is gone, and nothing was kept of it"
    return SourceLines(kept[:MOST_LINES], max(0, len(kept) - MOST_LINES), "", note)


def _transcript(session: str, where: Places) -> str:
    """The session's transcript, '' when it is not there any more."""
    if not os.path.exists(where.state_db):
        return ""
    with closing(SessionLog(where.state_db)) as log:
        known = log.get(session)
    return known.transcript if known and is_transcript(known.transcript) else ""


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


def headers_of(here: OpenProject, sessions: Sequence[Session]) -> dict[str, Header]:
    """What is kept of sessions, whatever project they ran in; no title says what is left out."""
    found: dict[str, Header] = {}
    for project in dict.fromkeys(session.project for session in sessions):
        own = [session for session in sessions if session.project == project]
        with closing(Passages(sessions_file(here.places.home, project), readonly=True)) as passages:
            headers = list(filter(None, (passages.header(session.id) for session in own)))
            hidden = LeftOut(_left_out_of(here, own) if headers else ())
            found.update((each.id, hidden.titled(passages, each)) for each in headers)
    return found


def _left_out_of(here: OpenProject, sessions: Sequence[Session]) -> list[Memory]:
    """The memories left out of answers in the project some sessions ran in; none where its folder
    is gone."""
    wanted = Filter(statuses=(Status.FORGOTTEN, Status.QUARANTINED))
    if sessions[0].project == here.places.project.id:
        return [each.memory for each in here.store.list(wanted).items]
    cwd = next((each.cwd for each in sessions if each.cwd and os.path.isdir(each.cwd)), "")
    if not cwd:
        return []
    environ = {**os.environ, "LTM_HOME": here.places.home}
    with OpenProject(cwd, environ=environ, user=here.user) as project:
        return [each.memory for each in project.store.list(wanted).items]
