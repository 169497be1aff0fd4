"""One call of a tool: the project it is about and the store behind it, opened when first needed.

A store is opened for each call and closed after it. That costs a few milliseconds and means that a
call always sees the files, the options and the vaults as they are now.
"""

from __future__ import annotations

import os
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING

from ltm.core.errors import NotFound
from ltm.core.model import Memory, Stored

if TYPE_CHECKING:
    from ltm.recall.said import SessionSearch
    from ltm.storage.config import Config
    from ltm.storage.places import Places
    from ltm.storage.signing import Key
    from ltm.storage.store import Store


class Call:
    """What a tool's function works with; used in a `with`, which gives back what was opened."""

    def __init__(self, tool: str, folder: str) -> None:
        self.tool = tool
        self.folder = folder
        """Where the agent works; the project is the one this folder belongs to."""

    def __enter__(self) -> Call:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for name in ("said", "store"):
            opened = self.__dict__.pop(name, None)
            if opened is not None:
                opened.close()

    @cached_property
    def places(self) -> Places:
        """Where things are for this project."""
        from ltm.storage.places import places

        if not os.path.isdir(self.folder):
            raise NotFound(
                "the project's folder is not there",
                path=self.folder,
                hint="start the agent again in a folder that exists",
            )
        return places(self.folder)

    @cached_property
    def config(self) -> Config:
        """The options in force."""
        from ltm.storage.config import load

        return load(self.places.home, self.places.settings)

    @cached_property
    def store(self) -> Store:
        """The project's memories."""
        from ltm.storage.opening import open_store

        return open_store(self.places, self.config)

    @cached_property
    def said(self) -> SessionSearch:
        """What was said in the project's sessions."""
        from ltm.surfaces.asking import said_of

        return said_of(self.places, self.config)

    @cached_property
    def _key(self) -> Key | None:
        from ltm.storage import keyfile

        return keyfile.load(self.places.home)

    def is_doubtful(self, memory: Memory) -> bool:
        """Whether a key is set and the memory is not as it was signed."""
        return self._key is not None and self._key.is_doubtful(memory)

    def headline(self, memory: Memory) -> str:
        """A memory on one line, with a warning where one is due."""
        from ltm.surfaces.mcp.page import headline

        return f"{'⚠ ' if self.is_doubtful(memory) else ''}{headline(memory)}"

    def read(self, memory_id: str) -> Stored:
        """The memory of a full or short id, with an error that names the tools to find it with."""
        try:
            return self.store.read(memory_id.strip())
        except NotFound as error:
            raise NotFound(error.message, hint="recall and list_memories show the ids") from error
