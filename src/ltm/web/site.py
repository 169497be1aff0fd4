"""What the page keeps between requests: open projects, what can be undone, and work under way.

A request is a `Visit`: the project it chose, its words, and where its answer leads. The project is
the one `ltm ui` was started in unless an address names another, or a team, so nothing else is shown
without being asked for.
"""

from __future__ import annotations

import os
import secrets
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from ltm.errors import NotFound, Refused, WrongUsage
from ltm.history.passage import Header
from ltm.model import Stored, iso, now
from ltm.project.identity import known
from ltm.recall.passages import SessionSearch, session_search
from ltm.record import NamedTuple
from ltm.store.project import KeptProjects, OpenProject
from ltm.store.store import Store
from ltm.store.undo import Undo, take_back
from ltm.team.replica import ReplicaStore, open_replica
from ltm.team.teams import Team, team_named
from ltm.text.display import one_line
from ltm.text.sentences import shortened

UNDO = 600.0
"""Seconds in which a change can be undone by a button; later from the history of a memory."""

PageValues = dict[str, Any]
"""What a page shows, as plain values: its JSON."""

_TITLE = 119  # characters of what a session began with, of which one more is kept
_MOST_CHANGES = 200
_MOST_JOBS = 20


class Change(NamedTuple):
    """A change that was made on the page."""

    id: str
    text: str
    at: str
    until: float
    """Until when the button undoes it, on the clock of this process."""
    project: str
    agent: str
    team: str
    back: Callable[[Visit], None] | None
    """What takes it back; None for what cannot be."""

    def is_of(self, visit: Visit) -> bool:
        where = (visit.places.project.id, visit.places.agent, visit.ask("team"))
        return (self.project, self.agent, self.team) == where

    def can_be_undone(self, visit: Visit) -> bool:
        """Whether it can be taken back from there, and there is time left."""
        return self.back is not None and self.is_of(visit) and time.monotonic() < self.until


class Job:
    """Work that takes longer than an answer, such as an import."""

    def __init__(
        self, title: str, unit: str, address: str, trial_of: Mapping[str, str] | None = None
    ) -> None:
        self.id = secrets.token_urlsafe(8)
        self.title = title
        self.unit = unit
        self.address = address
        """Where its result can be looked at."""
        self.trial_of = trial_of or {}
        """The form of the import that it only tries."""
        self.done = self.total = 0
        self.lines: list[str] = []
        """What came of it."""
        self.error = ""
        self.is_over = False

    def as_record(self) -> dict[str, Any]:
        return dict(vars(self))


class Site:
    """What one server of the page keeps; used by several threads."""

    def __init__(self, home: str, folder: str, agent: str = "") -> None:
        self.home = home
        self.folder = folder
        self.agent = agent
        self.token = secrets.token_urlsafe(24)
        """What every form on the page brings along."""
        self.kept = KeptProjects()
        self.findings: dict[str, Any] = {}
        """What work under way found, by project: read once, shown often."""
        self._changes: dict[str, Change] = {}
        self._jobs: dict[str, Job] = {}
        self._lock = threading.Lock()
        self._seen = time.monotonic()

    # -- projects --------------------------------------------------------------------------------

    def folder_of(self, project: str) -> str:
        """The folder of a project by its id; '' means the one the page was opened for."""
        if not project:
            return self.folder
        for each in known(self.home):
            if each.id == project:
                return each.root
        raise NotFound(f"there is no project '{project}' on this machine")

    # -- changes ---------------------------------------------------------------------------------

    def note(self, visit: Visit, text: str, back: Callable[[Visit], None] | None) -> Change:
        """Keep what was done, so that it can be undone for a while."""
        until = time.monotonic() + UNDO
        where = visit.places
        own = (where.project.id, where.agent, visit.ask("team"))
        change = Change(secrets.token_urlsafe(9), text, iso(now()), until, *own, back)
        with self._lock:
            self._changes[change.id] = change
            for name in list(self._changes)[:-_MOST_CHANGES]:
                del self._changes[name]
        return change

    def change(self, name: str) -> Change | None:
        """A change by its id."""
        return self._changes.get(name)

    def changes(self, visit: Visit) -> list[Change]:
        """The changes that were made in the project of a visit, the latest first."""
        with self._lock:
            found = list(self._changes.values())[::-1]
        return [each for each in found if each.is_of(visit)]

    def forget_changes(self, visit: Visit) -> None:
        """Keep nothing of the changes in the project of a visit: they hold former texts."""
        with self._lock:
            for name in [each.id for each in self._changes.values() if each.is_of(visit)]:
                del self._changes[name]

    def undo(self, visit: Visit, name: str) -> str:
        """Take a change back, once; what was undone."""
        with self._lock:
            change = self._changes.get(name)
            if change is None or not change.back or not change.can_be_undone(visit):
                raise Refused(
                    "this cannot be undone here any more",
                    hint="open the memory: its earlier versions are listed there",
                )
            self._changes[name] = change._replace(back=None, until=0.0)
        try:
            change.back(visit)
        except BaseException:
            with self._lock:
                self._changes[name] = change
            raise
        return change.text

    # -- work under way --------------------------------------------------------------------------

    def begin(self, visit: Visit, job: Job, work: Callable[[OpenProject, Job], None]) -> Job:
        """Do some work in a thread of its own, with the project of a visit."""
        with self._lock:
            if any(not each.is_over for each in self._jobs.values()):
                raise Refused("other work is still going on", hint="try again when it is done")
            self._jobs[job.id] = job
            for name in list(self._jobs)[:-_MOST_JOBS]:
                del self._jobs[name]
        folder, agent = visit.folder, visit.agent

        def run() -> None:
            try:
                with OpenProject(folder, agent or None) as project:
                    work(project, job)
            except Exception as error:
                job.error = str(error) or type(error).__name__
            finally:
                job.is_over = True

        threading.Thread(target=run, daemon=True).start()
        return job

    def job(self, name: str) -> Job:
        if name not in self._jobs:
            raise NotFound("this work is not known here any more")
        return self._jobs[name]

    # -- how long --------------------------------------------------------------------------------

    def touch(self) -> None:
        self._seen = time.monotonic()

    def is_idle(self, seconds: float) -> bool:
        """Whether there was no request for so long, and no work is under way."""
        busy = any(not each.is_over for each in self._jobs.values())
        return not busy and time.monotonic() - self._seen > seconds

    def close(self) -> None:
        self.kept.close()


class Visit(OpenProject):
    """A request: the project and agent it is about, and what it asks. Used by one thread."""

    def __init__(
        self,
        site: Site,
        asked: Mapping[str, Sequence[str]],
        form: Mapping[str, Sequence[str]],
        path: Mapping[str, str],
    ) -> None:
        self._asked, self._form, self._path = asked, form, path
        self.site = site
        self.chosen = self.ask("project")
        """The id of the project the address names; '' for the one the page was opened for."""
        self.agent = self.ask("agent") or site.agent
        super().__init__(site.folder_of(self.chosen), self.agent or None)

    # -- what is asked ---------------------------------------------------------------------------

    def ask(self, name: str, default: str = "") -> str:
        found = self._asked.get(name)
        return found[-1] if found else default

    def every(self, name: str) -> tuple[str, ...]:
        """All values of the address under a name, without empty ones."""
        return tuple(each for each in self._asked.get(name, ()) if each)

    def number(self, name: str, default: int, most: int) -> int:
        """A whole number of the address, within bounds."""
        text = self.ask(name)
        return min(int(text), most) if text.isdecimal() and len(text) < 10 else default

    def form(self, name: str) -> str:
        """A value of the form, with the line ends of a file."""
        found = self._form.get(name)
        return found[-1].replace("\r\n", "\n") if found else ""

    def forms(self, name: str) -> tuple[str, ...]:
        return tuple(self._form.get(name, ()))

    def has(self, name: str) -> bool:
        """Whether the form has a field."""
        return name in self._form

    @property
    def name(self) -> str:
        return self._path["name"]

    def address(self, path: str, **more: object) -> str:
        """The address of a page, for the project and agent of this visit."""
        names = ("project", "agent", "team")
        values = {name: self.ask(name) for name in names} | more
        words = urlencode({name: each for name, each in values.items() if each not in ("", None)})
        return f"{quote(path)}?{words}" if words else quote(path)

    def back(self, default: str = "/") -> str:
        """Where an answer leads: the page the form stood on, which is on this server."""
        given = self.form("back")
        parts = urlsplit(given)
        is_ours = given.startswith("/") and not given.startswith(("//", "/\\")) and not parts.netloc
        return given if is_ours and given.isprintable() else self.address(default)

    # -- the project -----------------------------------------------------------------------------

    @cached_property
    def _kept(self) -> OpenProject:
        """The project with its files open."""
        return self.site.kept.take(self)

    @cached_property
    def team(self) -> Team | None:
        """The team whose memories the address asks for, instead of a project's."""
        name = self.ask("team")
        return team_named(self.site.home, name) if name else None

    @property
    def may_change(self) -> bool:
        """Whether the person may change the memories."""
        return self.team is None or self.team.may_change

    @property
    def may_approve(self) -> bool:
        return self.team is None or self.team.may_approve

    @property
    def replica(self) -> ReplicaStore:
        team = self.team
        if team is None:
            raise WrongUsage("no team is chosen", hint="choose one at the top of the page")
        return self.part("team", lambda: open_replica(team, self.places, self.config))

    @property
    def store(self) -> Store:
        return self._kept.store if self.team is None else self.replica

    @property
    def said(self) -> SessionSearch:
        return self._kept.part("said", lambda: session_search(self.places, self.config))

    def titled(self, header: Header) -> str:
        """What a session began with, if that may be told; what is kept of it ends in a word."""
        return shortened(one_line(self.said.titled(header).title), _TITLE)

    def memory(self) -> Stored:
        return self.store.read(self.name)

    def put_back(self, undo: Undo) -> Callable[[Visit], None] | None:
        """What takes a change of memories back; None if it changed nothing."""
        if undo.is_empty:
            return None
        return lambda visit: take_back(visit.store, undo)

    def __exit__(self, *error: object) -> None:
        kept = self.__dict__.pop("_kept", None)
        if kept is not None:
            self.site.kept.give(kept, is_sound=not any(error))
        super().__exit__(*error)


def agents_in(home: str) -> list[str]:
    """The agents that have memories on this machine."""
    try:
        names = sorted(os.listdir(os.path.join(home, "agents")))
    except OSError:
        return []
    return [each for each in names if os.path.isdir(os.path.join(home, "agents", each))]
