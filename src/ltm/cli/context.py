"""One call of a command: where it runs, how it answers, and the project's store behind it.

Owns opening places, config and store once per call, and closing them. Knows nothing of the command
line library, which a question in plain words does without.
"""

from __future__ import annotations

import os
from contextlib import ExitStack
from functools import cached_property
from typing import TYPE_CHECKING

from ltm.errors import NotFound

if TYPE_CHECKING:
    from ltm.config.config import Config
    from ltm.project.layout import Places
    from ltm.recall.passages import SessionSearch
    from ltm.store.store import Store


class Work:
    """What a command may use, opened when first needed."""

    def __init__(self, project: str | None = None, as_json: bool = False) -> None:
        self.as_json = as_json
        self._folder = project
        self._leaving = ExitStack()

    @cached_property
    def places(self) -> Places:
        """Where things are for this project."""
        from ltm.project.layout import places

        folder = self._folder or _here()
        if not os.path.isdir(folder):
            wrong = "is not a folder" if os.path.lexists(folder) else "there is no such folder"
            raise NotFound(wrong, path=folder, hint="name the project's folder: --project DIR")
        return places(folder)

    @cached_property
    def config(self) -> Config:
        """The options in force."""
        from ltm.config.config import load

        return load(self.places.home, self.places.settings)

    @cached_property
    def store(self) -> Store:
        """The project's memories."""
        from ltm import __version__
        from ltm.spool.hook_log import note_runtime
        from ltm.store.open import open_store

        store = open_store(self.places, self.config)
        self._leaving.callback(store.close)
        # Hooks run on any Python; the work they leave for later needs one that has everything.
        self._leaving.callback(note_runtime, self.places.home, __version__)
        return store

    @cached_property
    def said(self) -> SessionSearch:
        """What was said in the project's sessions."""
        from ltm.recall.passages import session_search

        said = session_search(self.places, self.config)
        self._leaving.callback(said.close)
        return said

    def again(self, folder: str) -> Work:
        """The same call in a folder whose places or options it has just changed."""
        return self._leaving.enter_context(Work(folder, self.as_json))

    def __enter__(self) -> Work:
        return self

    def __exit__(self, *error: object) -> None:
        self._leaving.close()


def _here() -> str:
    try:
        return os.getcwd()
    except FileNotFoundError:
        raise NotFound("the current folder was deleted", hint="cd somewhere else first") from None
