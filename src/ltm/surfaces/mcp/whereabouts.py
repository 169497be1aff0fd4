"""Which project a call is about: what the person said, what the client says, or where we run.

In this order: the folder given to `ltm mcp --project`, the environment's CLAUDE_PROJECT_DIR, the
first root the client names, the current folder.
"""

from __future__ import annotations

import logging
import os
from typing import Any
from urllib.parse import unquote, urlsplit

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

PATIENCE = 2.0
"""Seconds a client has to name its roots; one that announces them and does not answer has none."""

_log = logging.getLogger(__name__)


class Whereabouts:
    """The folder of the agent's project, asked for when it is first needed."""

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
