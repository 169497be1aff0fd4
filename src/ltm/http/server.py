"""`ltm serve`: one server per home, and the connections of its clients.

The order is the lock, the socket, the note for hooks once requests are answered; and at the end,
whatever ends it, the note away and the lock free. The lock is held for life and released by the
kernel, so a server that was killed blocks nothing.

A client has some time to ask for something, and there may be only so many at once. A process has a
number of handles and needs some for its files: so the client that has waited longest with nothing
asked gives way to the next, and accepting never uses the last handle.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import signal
import socket
import sys
from collections.abc import Callable
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from ltm.errors import Refused
from ltm.files.atomic import make_folder
from ltm.files.lock import Lock
from ltm.http import address
from ltm.http.address import Running, address_of, allowed_names, bind
from ltm.http.app import PATIENCE, application
from ltm.mcp.server import Lifetime
from ltm.project.home import home as find_home

QUEUE = 1024
"""How many clients the system lets wait; one too many would have to try again after a second."""

LOCK = "server.lock"
GRACE = 1
"""Seconds that requests under way may take when the server is to end."""

_MOST = 512
_AT_ONCE = 100
_SILENCE = 60.0  # seconds
_NO_HANDLES = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)
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
        raise _taken(address.load(home))
    try:
        noted = address.load(home)
        # The lock says that none runs; on a disk shared with another machine it may not know.
        if noted is not None and address.answers(noted):
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
    server = address.here(*address_of(listening))

    def begin() -> None:
        address.note(home, server)
        ready(server)

    app = application(home, project, allowed_names(listening), server, lifetime)
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
        address.remove(home, server)


class _Server(uvicorn.Server):
    """The SDK's web server, with a call once it answers."""

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
    if address.answers(server):
        return Refused(
            f"a server for this home runs already, at {server.url} (process {server.pid})",
            hint=f"use that one, or end it first: kill {server.pid}",
        )
    return Refused(
        f"a server for this home runs already, but does not answer (process {server.pid})",
        hint=f"end it first: kill {server.pid}",
    )


class Connection(H11Protocol):
    """A connection that ends when nothing, or never the whole of a request, comes over it."""

    _deadline: asyncio.TimerHandle | None = None
    _since = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._since = self.loop.time()
        self._watch()
        if len(self.connections) > most_connections():
            others = [each for each in self.connections if isinstance(each, Connection)]
            waiting = (each for each in others if each._is_waiting)
            min(waiting, key=lambda each: each._since).transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self._unwatch()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._is_waiting:
            self._watch()
        else:
            self._unwatch()

    @property
    def _is_waiting(self) -> bool:
        """Whether nothing was asked that is not answered."""
        return self.cycle is None or self.cycle.response_complete

    def _watch(self) -> None:
        # From the first byte on: more bytes give no more time.
        if self._deadline is None and not self.transport.is_closing():
            self._deadline = self.loop.call_later(PATIENCE, self.transport.abort)

    def _unwatch(self) -> None:
        self._since = self.loop.time()
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


def most_connections() -> int:
    """How many clients are served at once."""
    return max(4, min(_MOST, _handles() // 3))


def most_at_once() -> int:
    """How many clients are accepted in one go: a few goes may pass before the first is met."""
    return max(4, min(_AT_ONCE, _handles() // 16))


def _handles() -> int:
    """How many files and connections this process may have open."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return 3 * _MOST
    soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return 3 * _MOST if soft == resource.RLIM_INFINITY else soft


class Trouble:
    """Logs what the event loop could not do now and then: `asyncio` does at every attempt."""

    def __init__(self) -> None:
        self._logged: float | None = None

    def __call__(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        if not isinstance(error, OSError) or error.errno not in _NO_HANDLES:
            loop.default_exception_handler(context)
        elif self._logged is None or loop.time() - self._logged > _SILENCE:
            self._logged = loop.time()
            message = "no client can be accepted for the moment: %s"
            logging.getLogger("uvicorn.error").error(message, error.strerror)
