"""One opened project: its layout, options, store and logs.

A process opens a project once and closes it once. Every part is opened when it is first asked for,
and what opens it is imported then: the start of a command and a hook load no more than they use.

A server answers one call after another about the same project. Where it lies and which options hold
is looked at for each call, which is cheap; its databases stay open between calls (`KeptProjects`),
because to open and close them takes longer than most answers.
"""

from __future__ import annotations

import os
from _thread import allocate_lock
from contextlib import ExitStack
from functools import cached_property

TYPE_CHECKING = False  # without `typing`, which alone costs a hook half its time
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Protocol, Self, TypeVar

    from ltm.config.config import Config
    from ltm.project.layout import Places
    from ltm.state.session_log import SessionLog
    from ltm.store.store import Store

    class _Closes(Protocol):
        def close(self) -> object: ...

    _Part = TypeVar("_Part", bound=_Closes)


class OpenProject:
    """The project a folder belongs to, for one agent. Used by one thread at a time."""

    def __init__(
        self,
        folder: str,
        agent: str | None = None,
        environ: Mapping[str, str] | None = None,
        *,
        readonly: bool = False,
        user: Config | None = None,
        log: SessionLog | None = None,
        answers_first: bool = False,
    ) -> None:
        """With `readonly` nothing is written or waited for, as a hook wants it.

        `user` are the user's own options and `log` the session log, where the caller has them
        already. The log stays the caller's to close, and the store shares its connection. With
        `answers_first`, `finish` is called after each answer.
        """
        self.folder = folder
        self.readonly = readonly
        self._agent = agent
        self._environ = environ
        self._user = user
        self._given_log = log
        self._answers_first = answers_first
        self._parts: dict[str, _Closes] = {}
        self._leaving = ExitStack()

    @cached_property
    def user(self) -> Config:
        """The user's own options, without the repository's."""
        from ltm.config.config import load
        from ltm.project.home import home

        if self._user is not None:
            return self._user
        return load(home(self._environ))

    @cached_property
    def places(self) -> Places:
        """Where its folders and files are."""
        from ltm.project.layout import places

        return places(self.folder, self._agent, self._environ, user=self.user)

    @cached_property
    def config(self) -> Config:
        """The options in force."""
        return self.user.in_repository(self.places.settings)

    @cached_property
    def store(self) -> Store:
        """Its memories."""
        from ltm.store.open import open_files, open_store

        if self.readonly:
            store: Store = open_files(self.places, self.config, readonly=True)
        else:
            state = self._given_log.usage() if self._given_log is not None else None
            store = open_store(
                self.places, self.config, state=state, answers_first=self._answers_first
            )
        self._leaving.callback(store.close)
        return store

    @property
    def is_built_in(self) -> bool:
        """Whether its store is the built-in one, which works on files."""
        from ltm.store.open import BUILT_IN

        return bool(self.config.get("store") == BUILT_IN)

    @cached_property
    def log(self) -> SessionLog:
        """The log of sessions, for what must be kept."""
        from ltm.state.session_log import SessionLog

        return self._given_log or self.part("log", lambda: SessionLog(self.places.state_db))

    def is_in_place(self) -> bool:
        """Whether every file it has open is still the one that has its name."""
        opened = [self.__dict__.get("store"), *self._parts.values()]
        return all(getattr(each, "is_in_place", _no)() for each in opened if each is not None)

    def has(self, name: str) -> bool:
        """Whether a `part` of this name is open."""
        return name in self._parts

    def part(self, name: str, opens: Callable[[], _Part]) -> _Part:
        """What a later package opens for the project: once, and closed with it."""
        if name not in self._parts:
            self._parts[name] = opened = opens()
            self._leaving.callback(opened.close)
        return self._parts[name]  # type: ignore[return-value]

    def finish(self) -> None:
        """Do what was left for the time after the answer."""
        finish = getattr(self.__dict__.get("store"), "finish", None)
        if finish is not None:  # stores of other packages leave nothing
            finish()

    def close(self) -> None:
        """Give back what was opened; what is asked for later is opened again."""
        for name in ("store", "log"):
            self.__dict__.pop(name, None)
        self._parts.clear()
        self._leaving.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def _no() -> bool:
    return False


class KeptProjects:
    """The projects a server has open between calls; each is used by one thread at a time."""

    MOST = 4
    """Projects that stay open while none uses them: a server works for one project, in a few
    threads."""

    PATIENCE = 0.5
    """Seconds a call waits for projects that are being finished; then it opens one of its own."""

    def __init__(self) -> None:
        self.answers_first = False
        """Whether the server calls `finish` after each answer."""
        self._lock = allocate_lock()
        self._finishing = allocate_lock()
        self._idle: list[tuple[object, OpenProject]] = []
        self._taken: dict[OpenProject, object] = {}

    def take(self, wanted: OpenProject) -> OpenProject:
        """A project like the one wanted, with its files open if that is possible."""
        likeness = _likeness(wanted)
        if self._finishing.acquire(True, self.PATIENCE):
            self._finishing.release()
        while True:
            with self._lock:
                at = [place for place, (known, _) in enumerate(self._idle) if known == likeness]
                found = self._idle.pop(at[-1])[1] if at else None
            if found is None:
                found = OpenProject(
                    wanted.folder, user=wanted.user, answers_first=self.answers_first
                )
                found.__dict__ |= {"places": wanted.places, "config": wanted.config}
            elif not found.is_in_place():
                found.close()
                continue
            self._taken[found] = likeness
            return found

    def give(self, project: OpenProject, *, is_sound: bool = True) -> None:
        """Take a project back for the next call; one that is not sound is closed."""
        likeness = self._taken.pop(project)
        # Windows lets no one delete or replace a file that is open.
        if os.name == "nt" or not (is_sound and project.is_built_in and project.is_in_place()):
            project.close()
            return
        self._keep([(likeness, project)])

    def _keep(self, given: list[tuple[object, OpenProject]]) -> None:
        with self._lock:
            known = [*self._idle, *given]
            doomed, self._idle = known[: -self.MOST], known[-self.MOST :]
        for _, each in doomed:
            each.close()

    def finish(self) -> None:
        """Do what the projects that none uses left for the time after the answer."""
        with self._finishing:
            with self._lock:
                idle, self._idle = self._idle, []
            for _, project in idle:
                project.finish()
            self._keep(idle)

    def close(self) -> None:
        """Close all that is open and not in use."""
        with self._lock:
            doomed, self._idle = self._idle, []
        for _, project in doomed:
            project.close()


KEPT = KeptProjects()
"""What this process has open between calls."""


class ServedProject(OpenProject):
    """The project of one call of a server: its files stay open for the next call."""

    @cached_property
    def kept(self) -> OpenProject:
        """The project with its files open."""
        return KEPT.take(self)

    @property
    def store(self) -> Store:
        """Its memories."""
        return self.kept.store

    def __exit__(self, *error: object) -> None:
        kept = self.__dict__.pop("kept", None)
        if kept is not None:
            KEPT.give(kept, is_sound=not any(error))
        super().__exit__(*error)


def _likeness(project: OpenProject) -> object:
    """What two calls must agree in to use the same open files."""
    from ltm.vault import key_file

    places, config = project.places, project.config
    options = (config.values, config.user_values, tuple(config.kinds))
    return places, options, key_file.load(places.home, places.agent)
