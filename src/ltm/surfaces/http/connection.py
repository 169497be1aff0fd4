"""One connection of a client, and how many there may be.

Owns the time a client has to say what it wants, and the number of clients at once. A process has
so many handles and needs some for its files: so the one that has waited longest with nothing asked
gives way to the next, and accepting never uses the last handle.
"""

from __future__ import annotations

import asyncio
import errno
import logging
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

from ltm.surfaces.http.guard import PATIENCE

QUEUE = 1024
"""How many clients the system lets wait; one too many would have to try again after a second."""

_MOST = 512
_AT_ONCE = 100
_SILENCE = 60.0  # seconds
_NO_HANDLES = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)


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


class Connection(H11Protocol):
    """A connection that ends when nothing, or never the whole of a request, is said on it."""

    _deadline: asyncio.TimerHandle | None = None
    _since = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._since = self.loop.time()
        self._watch()
        if len(self.connections) > most_connections():
            others = [each for each in self.connections if isinstance(each, Connection)]
            min((each for each in others if each._is_waiting), key=_since).transport.abort()

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


def _since(connection: Connection) -> float:
    return connection._since


class Trouble:
    """What the event loop could not do, said now and then: `asyncio` says it at every attempt."""

    def __init__(self) -> None:
        self._said: float | None = None

    def __call__(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        if not isinstance(error, OSError) or error.errno not in _NO_HANDLES:
            loop.default_exception_handler(context)
        elif self._said is None or loop.time() - self._said > _SILENCE:
            self._said = loop.time()
            said = "no client can be accepted for the moment: %s"
            logging.getLogger("uvicorn.error").error(said, error.strerror)
