"""One server per home, from its first moment to its last.

Owns the order: the lock, the socket, the note for hooks once requests are answered; and at the end,
whatever ends it, the note away and the lock free. The lock is held for life and released by the
kernel, so a server that was killed blocks nothing.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
from collections.abc import Callable

import uvicorn

from ltm.core.errors import Refused
from ltm.storage.durable import make_folder
from ltm.storage.home import home as find_home
from ltm.storage.lock import Lock
from ltm.surfaces.http import running
from ltm.surfaces.http.app import application
from ltm.surfaces.http.connection import QUEUE, Connection, Trouble, most_at_once
from ltm.surfaces.http.doors import address_of, bind, doors_of
from ltm.surfaces.http.running import Running
from ltm.surfaces.mcp.lifetime import Lifetime

LOCK = "server.lock"
GRACE = 1
"""Seconds that requests under way may take when we are told to end."""

_OF_A_SESSION = ("CLAUDE_PROJECT_DIR", "CLAUDE_CODE_SESSION_ID")


def serve(
    host: str,
    port: int,
    *,
    project: str = "",
    allow_remote: bool = False,
    ready: Callable[[Running], None],
) -> None:
    """Answer requests until a signal ends us; `ready` is called once they are answered."""
    for name in _OF_A_SESSION:
        os.environ.pop(name, None)  # if started in a session: we serve all of them
    home = find_home()
    make_folder(home)
    lock = Lock(os.path.join(home, LOCK))
    if not lock.acquire(patience=0.0):
        raise _taken(running.load(home))
    try:
        noted = running.load(home)
        # The lock says that none runs; on a disk shared with another machine it may not know.
        if noted is not None and running.answers(noted):
            raise _taken(noted)
        listening = bind(host, port, allow_remote=allow_remote)
        try:
            lifetime = Lifetime()
            _run(home, project, listening, lifetime, ready)
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
    ready: Callable[[Running], None],
) -> None:
    server = running.here(*address_of(listening))

    def begin() -> None:
        running.note(home, server)
        ready(server)

    app = application(home, project, doors_of(listening), server, lifetime)
    config = uvicorn.Config(
        app,
        loop="asyncio",
        http=Connection,
        backlog=most_at_once(),
        log_level="error",  # a warning for each request that is none would fill any log
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=GRACE,
    )
    web = _Server(config, begin)
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), web.end)
    try:
        web.run(sockets=[listening])
    finally:
        running.remove(home, server)


class _Server(uvicorn.Server):
    """The SDK's web server, which tells when it answers."""

    def __init__(self, config: uvicorn.Config, begin: Callable[[], None]) -> None:
        super().__init__(config)
        self._begin = begin

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        asyncio.get_running_loop().set_exception_handler(Trouble())
        await super().startup(sockets)
        for each in sockets or ():
            each.listen(QUEUE)
        if self.started:
            self._begin()

    def end(self, number: int, frame: object) -> None:
        # It catches signals while it runs and sends them to itself again at its end: here.
        self.should_exit = True


def _taken(server: Running | None) -> Refused:
    if server is None:
        return Refused(
            "another server for this home is starting, or hangs",
            hint="try again in a moment; if it stays so, end that 'ltm serve'",
        )
    if running.answers(server):
        return Refused(
            f"a server for this home runs already, at {server.url} (process {server.pid})",
            hint=f"use that one, or end it first: kill {server.pid}",
        )
    return Refused(
        f"a server for this home runs already, but does not answer (process {server.pid})",
        hint=f"end it first: kill {server.pid}",
    )
