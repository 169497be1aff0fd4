"""One call of a command: the project it runs in, and how it answers.

Independent of the command line library, which a question in plain words does without.
"""

from __future__ import annotations

import os
from functools import cached_property

from ltm.errors import NotFound
from ltm.model import Filter, Stored
from ltm.store.project import OpenProject, ServedProject

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ltm.project.layout import Places
    from ltm.recall.passages import SessionSearch
    from ltm.store.store import Store
    from ltm.team.outbox import Outbox


_OFFERED = 3  # memories, where a name is not an id


class Work(OpenProject):
    """The project of a call, and whether its answer is JSON."""

    def __init__(self, project: str | None = None, as_json: bool = False, team: str = "") -> None:
        """With `team`, the store is that of a team's memories."""
        super().__init__(project or "")
        self.as_json = as_json
        self.team = team

    @cached_property
    def places(self) -> Places:
        self.folder = folder = self.folder or _here()
        if not os.path.isdir(folder):
            wrong = "is not a folder" if os.path.lexists(folder) else "there is no such folder"
            raise NotFound(wrong, path=folder, hint="name the project's folder: --project DIR")
        return super().places

    @cached_property
    def store(self) -> Store:
        from ltm import __version__
        from ltm.spool.hook_log import note_runtime

        store = self._team_store() if self.team else super().store
        # Hooks run on any Python; the work they leave for later needs one that has everything.
        self._leaving.callback(note_runtime, self.places.home, __version__)
        return store

    def _team_store(self) -> Store:
        from ltm.team.replica import open_replica
        from ltm.team.teams import team_named

        store = open_replica(team_named(self.places.home, self.team), self.places, self.config)
        self._leaving.callback(store.close)
        if not self.as_json:
            self._leaving.callback(_tell_unsent, store.outbox, store.outbox.last)
        return store

    def memory(self, name: str, among: Filter | None = None) -> Stored:
        """The memory of an id; of none, an error that names memories with these words in them."""
        from ltm.recall.search import recall
        from ltm.text.sentences import shortened

        try:
            return self.store.read(name)
        except NotFound as error:
            found = recall(self.store, name, among or Filter(), _OFFERED, counts=False).memories
            near = [hit.stored.memory for hit in found if not hit.weak]
            if not near:
                raise
            lines = (f"{each.id[-8:]}  {shortened(each.title, 60)}" for each in near)
            raise NotFound(error.message, hint="\n".join(("did you mean:", *lines))) from error

    @property
    def said(self) -> SessionSearch:
        from ltm.project.layout import TEAMS
        from ltm.recall.passages import session_search

        where = self.places
        if self.team:
            where = where._replace(private=os.path.join(where.home, TEAMS, self.team))
        return self.part("said", lambda: session_search(where, self.config))

    def again(self, folder: str) -> Work:
        """The same call in a folder whose places or options it has just changed."""
        return self._leaving.enter_context(Work(folder, self.as_json))


class ServedWork(ServedProject, Work):
    """A call that a running process answers for a command."""

    @property
    def said(self) -> SessionSearch:
        """The search over the project's sessions."""
        from ltm.recall.passages import session_search

        return self.kept.part("said", lambda: session_search(self.places, self.config))


def _tell_unsent(outbox: Outbox, before: str) -> None:
    """Say when a call is done that what it changed is not with the team yet."""
    from ltm.cli.output import note

    if outbox.last > before:
        note("Not sent to the team yet: with the next session, or at once: ltm team sync")


def _here() -> str:
    try:
        return os.getcwd()
    except FileNotFoundError:
        raise NotFound("the current folder was deleted", hint="cd somewhere else first") from None
