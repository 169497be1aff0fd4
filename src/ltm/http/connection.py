"""The web server of `ltm serve` and `ltm ui`, and the connections of its clients.

A client has some time to ask for something, and there may be only so many at once. A process has a
number of handles and needs some for its files: so the client that has waited longest with nothing
asked gives way to the next, and accepting never uses the last handle.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import signal
import socket
from collections.abc import Callable
from typing import Any

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from ltm.http.guard import PATIENCE

QUEUE = 1024
"""How many clients the system lets wait; one too many would have to try again after a second."""

GRACE = 1
"""Seconds that requests under way may take when the server is to end."""

_MOST = 512
_AT_ONCE = 100
_SILENCE = 60.0  # seconds
_NO_HANDLES = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)


def run_web(
    app: ASGIApp,
    listening: socket.socket,
    begin: Callable[[], None],
    *,
    is_over: Callable[[], bool] = lambda: False,
) -> None:
    """Answer requests until a signal ends us, or it `is_over`; `begin` is called once they are."""
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
    web = _Server(config, begin, is_over)
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), web.end)
    web.run(sockets=[listening])


class _Server(uvicorn.Server):
    """The SDK's web server, with a call once it answers."""

    def __init__(
        self, config: uvicorn.Config, begin: Callable[[], None], is_over: Callable[[], bool]
    ) -> None:
        super().__init__(config)
        self._begin = begin
        self._is_over = is_over

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        asyncio.get_running_loop().set_exception_handler(Trouble())
        await super().startup(sockets)
        for each in sockets or ():
            each.listen(QUEUE)
        if self.started:
            self._begin()

    async def on_tick(self, counter: int) -> bool:
        return self._is_over() or await super().on_tick(counter)

    def end(self, number: int, frame: object) -> None:
        # It catches signals while it runs and sends them to itself again at its end: here.
        self.should_exit = True


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
