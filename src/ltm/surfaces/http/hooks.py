"""The twins of the hooks: a client's message as a POST, answered with what the hook would print.

Owns the routes and who keeps an event. The event is in the spool before the answer is on its way.
Events that come while others are being written are written together after them. A hook that waits
for us gives up within a second and then keeps its event itself, under the key it sent along: so an
event that comes too late is left to its hook.
"""

from __future__ import annotations

import asyncio
import os
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

import anyio.to_thread
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ltm.clients.events import CLAUDE_CODE, CLIENTS, understand
from ltm.core.errors import LtmError
from ltm.core.quickjson import read_object
from ltm.storage import hooklog, spool
from ltm.surfaces.receive import ANSWERED, answer, keep

KEY = "ltm-event"
"""The header with the key an event has already."""

LATE = 0.9
"""Seconds a hook waits for us."""

LATE_AT_END = 0.3
"""The same when a session ends."""

_TOGETHER = 64  # events; more of them wait for the next turn, so that the first are answered
_LINGER = 0.002  # seconds for those who were just answered to come with their next
_SHAPE = re.compile(r"(\d{11})(\d{9})-\d{7}-[0-9a-f]{8}")


@dataclass(slots=True)
class _Told:
    """An event, and how it stands with it."""

    event: str
    key: str
    body: bytes
    heard: asyncio.Future[None]
    """Done when the rest is true."""
    payload: dict[str, object] = field(default_factory=dict)
    record: dict[str, object] = field(default_factory=dict)
    """What is kept of it; empty when there is nothing to keep."""
    status: int = 503
    """204 only when it is kept, or need not be."""


class Hooks:
    """What the server does with the events of sessions."""

    def __init__(self, home: str, project: str = "") -> None:
        self._home = home
        self._project = project
        """The folder for sessions whose own is not on this machine (it is the container's)."""
        self._waiting: list[_Told] = []
        self._writer: asyncio.Task[None] | None = None

    def routes(self) -> Iterator[Route]:
        """One route for every event we know."""
        for event in CLIENTS[CLAUDE_CODE][1]:
            if event != "*":
                name = re.sub(r"(?<!^)(?=[A-Z])", "_", event).lower()
                hear = partial(self._hear, event)
                yield Route(f"/hook/{name}", hear, methods=["POST"], name=name)

    async def _hear(self, event: str, request: Request) -> Response:
        key = request.headers.get(KEY, "")
        if key and not _SHAPE.fullmatch(key):
            return Response(status_code=400)
        if key and is_late(event, key, time.time()):
            return Response(status_code=408)
        told = _Told(event, key, await request.body(), asyncio.get_running_loop().create_future())
        self._waiting.append(told)
        if self._writer is None:
            self._writer = asyncio.create_task(self._write())
        await told.heard
        if told.status != 204 or not told.record or event not in ANSWERED:
            return Response(status_code=told.status)
        line = await anyio.to_thread.run_sync(self._answer, told.payload, told.record)
        return Response(line, media_type="application/json") if line else Response(status_code=204)

    async def _write(self) -> None:
        """Keep what waits, all of it together, until nothing does."""
        while self._waiting:
            some, self._waiting = self._waiting[:_TOGETHER], self._waiting[_TOGETHER:]
            try:
                await anyio.to_thread.run_sync(self._keep, some)
            except Exception as error:  # then they are told so, and keep their events themselves
                hooklog.note(self._home, "keeping events", error)
            for told in some:
                if not told.heard.done():  # its sender may be gone
                    told.heard.set_result(None)
            if len(some) > 1:
                await asyncio.sleep(_LINGER)
        self._writer = None

    def _keep(self, some: Sequence[_Told]) -> None:
        """Understand events and put them into the spool."""
        due: list[_Told] = []
        for told in some:
            if told.key and is_late(told.event, told.key, time.time()):
                told.status = 408
            elif self._is_event(told):
                told.key = told.key or spool.new_key()
                due.append(told)
            else:
                told.status = 204
        together = self._are_put(due)
        for told in due:
            if together or keep(told.record, self._home, os.environ, key=told.key):
                told.status = 204

    def _is_event(self, told: _Told) -> bool:
        """Read what a client sent; whether there is something to keep in it."""
        told.payload = read_object(told.body.decode("utf-8", "surrogateescape"))
        told.payload[CLIENTS[CLAUDE_CODE][0]] = told.event
        record = understand(told.payload)
        if record is None:
            return False
        if self._project and not os.path.isdir(str(record.get("cwd", ""))):
            record["cwd"] = self._project
        told.record = record
        return True

    def _are_put(self, due: Sequence[_Told]) -> bool:
        try:
            spool.put_all(self._home, [(told.key, told.record) for told in due])
        except LtmError:
            return False
        return True

    def _answer(self, payload: dict[str, object], record: dict[str, object]) -> str:
        try:
            return answer(payload, record, self._home)
        except Exception as error:
            hooklog.note(self._home, str(record["event"]), error)
            return ""


def is_late(event: str, key: str, now: float) -> bool:
    """Whether the hook that sent an event under this key has given us up."""
    found = _SHAPE.fullmatch(key)
    if found is None:
        return False
    seconds, fraction = int(found[1]), int(found[2])
    # Some shells know whole seconds only: then the moment lies anywhere in the second.
    limit = LATE_AT_END if event == "SessionEnd" else LATE
    return now - (seconds + fraction / 1e9) > limit + (0.0 if fraction else 1.0)
