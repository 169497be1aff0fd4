"""`ltm serve`: one server per home, and the connections of its clients.

The order is the lock, the socket, the note for hooks once requests are answered; and at the end,
whatever ends it, the note away and the lock free. The lock is held for life and released by the
kernel, so a server that was killed blocks nothing.
"""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Callable

from starlette.types import ASGIApp, Receive, Scope, Send

from ltm.errors import Refused
from ltm.files.atomic import make_folder
from ltm.files.lock import Lock
from ltm.http import address
from ltm.http.address import AllowedNames, Running, address_of, allowed_names, bind
from ltm.http.app import application
from ltm.http.connection import run_web
from ltm.http.guard import CHALLENGE
from ltm.mcp.server import Lifetime
from ltm.project.home import home as find_home

LOCK = "server.lock"
_OF_A_SESSION = ("CLAUDE_PROJECT_DIR", "CLAUDE_CODE_SESSION_ID")


def serve(
    host: str,
    port: int,
    *,
    project: str = "",
    allow_remote: bool = False,
    page: Callable[[AllowedNames, str], ASGIApp] | None = None,
    ready: Callable[[Running], None],
) -> None:
    """Answer requests until a signal ends us; `ready` is called once they are answered.

    `page` makes the application for browsers, given the names and the address of the server.
    """
    for name in _OF_A_SESSION:
        os.environ.pop(name, None)  # if started in a session: we serve all of them
    home = find_home()
    make_folder(home)
    lock = Lock(os.path.join(home, LOCK))
    if not lock.acquire(patience=0.0):
        raise _taken(address.load(home))
    try:
        noted = address.load(home)
        # The lock says that none runs; on a disk shared with another machine it may not know.
        if noted is not None and address.answers(noted):
            raise _taken(noted)
        listening = bind(host, port, allow_remote=allow_remote)
        try:
            lifetime = Lifetime()
            _run(home, project, listening, lifetime, page, ready)
        finally:
            listening.close()
    finally:
        lock.release()
    sys.stdout.flush()
    lifetime.leave()


def _run(
    home: str,
    project: str,
    listening: socket.socket,
    lifetime: Lifetime,
    page: Callable[[AllowedNames, str], ASGIApp] | None,
    ready: Callable[[Running], None],
) -> None:
    server = address.here(*address_of(listening))

    def begin() -> None:
        address.note(home, server)
        ready(server)

    names = allowed_names(listening)
    app: ASGIApp = application(home, project, names, server, lifetime)
    if page is not None:
        app = _WithPage(app, page(names, server.url))
    try:
        run_web(app, listening, begin)
    finally:
        address.remove(home, server)


class _WithPage:
    """Programs, which say who they are in a header, and browsers, which do not, at one address."""

    def __init__(self, programs: ASGIApp, browsers: ASGIApp) -> None:
        self._programs, self._browsers = programs, browsers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        names = {name for name, _ in scope.get("headers", ())}
        is_program = scope["type"] != "http" or names & {b"authorization", CHALLENGE}
        await (self._programs if is_program else self._browsers)(scope, receive, send)


def _taken(server: Running | None) -> Refused:
    if server is None:
        return Refused(
            "another server for this home is starting, or hangs",
            hint="try again in a moment; if it stays so, end that 'ltm serve'",
        )
    if address.answers(server):
        return Refused(
            f"a server for this home runs already, at {server.url} (process {server.pid})",
            hint=f"use that one, or end it first: kill {server.pid}",
        )
    return Refused(
        f"a server for this home runs already, but does not answer (process {server.pid})",
        hint=f"end it first: kill {server.pid}",
    )
