"""One call of a tool: the project it is about, and what is opened for it.

A project is opened for each call and closed after it. That costs a few milliseconds, and a call
always sees the files, the options and the vaults as they are now. The start of `ltm mcp` loads this
module, so what a call opens is imported by the call.
"""

from __future__ import annotations

import logging
import os
from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from ltm.errors import NotFound
from ltm.store.project import OpenProject

if TYPE_CHECKING:
    from ltm.model import Memory, Stored
    from ltm.project.layout import Places
    from ltm.recall.passages import SessionSearch
    from ltm.vault.signing import Key

PATIENCE = 2.0
"""Seconds a client has to name its roots; one that announces them and does not answer has none."""

_log = logging.getLogger(__name__)


class Call(OpenProject):
    """What a tool's function works with; used in a `with`, which gives back what was opened."""

    def __init__(self, tool: str, folder: str) -> None:
        """`folder` is where the agent works; the project is the one it belongs to."""
        super().__init__(folder)
        self.tool = tool

    @cached_property
    def places(self) -> Places:
        """Where things are for this project."""
        if not os.path.isdir(self.folder):
            raise NotFound(
                "the project's folder is not there",
                path=self.folder,
                hint="start the agent again in a folder that exists",
            )
        return super().places

    @property
    def said(self) -> SessionSearch:
        """What was said in the project's sessions."""
        from ltm.recall.passages import session_search

        return self.part("said", lambda: session_search(self.places, self.config))

    @cached_property
    def _key(self) -> Key | None:
        from ltm.vault import key_file

        return key_file.load(self.places.home)

    def is_doubtful(self, memory: Memory) -> bool:
        """Whether a key is set and the memory is not as it was signed."""
        return self._key is not None and self._key.is_doubtful(memory)

    def headline(self, memory: Memory) -> str:
        """A memory on one line, with a warning where one is due."""
        from ltm.mcp.result import headline

        return f"{'⚠ ' if self.is_doubtful(memory) else ''}{headline(memory)}"

    def read(self, memory_id: str) -> Stored:
        """The memory of a full or short id, with an error that names the tools to find it with."""
        try:
            return self.store.read(memory_id.strip())
        except NotFound as error:
            raise NotFound(error.message, hint="recall and list_memories show the ids") from error


class Whereabouts:
    """The folder of the agent's project, asked for when it is first needed.

    In this order: the folder given to `ltm mcp --project`, the environment's CLAUDE_PROJECT_DIR,
    the first root the client names, the current folder.
    """

    def __init__(self, project: str | None = None) -> None:
        self._project = project
        self._roots: list[str] | None = None

    async def folder(self, context: ServerRequestContext[Any, Any]) -> str:
        """The folder whose project a request is about."""
        given = self._project or os.environ.get("CLAUDE_PROJECT_DIR", "")
        if self._project or os.path.isdir(given):
            return given
        if self._roots is None:
            self._roots = await _roots(context)
        return next((root for root in self._roots if os.path.isdir(root)), None) or _here()

    async def changed(self, context: ServerRequestContext[Any, Any], params: Any) -> None:
        """The client has other roots now: ask again at the next call."""
        self._roots = None


async def _roots(context: ServerRequestContext[Any, Any]) -> list[str]:
    session = context.session
    capabilities = session.client_capabilities
    if capabilities is None or capabilities.roots is None or not session.can_send_request:
        return []
    try:
        answer = await session.send_request(
            types.ListRootsRequest(), types.ListRootsResult, request_read_timeout_seconds=PATIENCE
        )
    except (MCPError, ValidationError) as error:
        _log.warning("the client does not name its roots: %s", error)
        return []
    return [_path(str(root.uri)) for root in answer.roots]


def _path(uri: str) -> str:
    path = unquote(urlsplit(uri).path)
    # On Windows a file's address is file:///C:/…, whose path begins with a slash too many.
    return path[1:] if os.name == "nt" and path[2:3] == ":" else path


def _here() -> str:
    try:
        return os.getcwd()
    except FileNotFoundError:
        return os.environ.get("PWD", "")
