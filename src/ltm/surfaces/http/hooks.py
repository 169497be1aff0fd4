"""The twins of the hooks: a client's message as a POST, answered with what the hook would print.

Owns the routes and who keeps an event. The event is in the spool before the answer is on its way.
A hook that waits for us gives up within a second and then keeps its event itself, under the key it
sent along: so an event that comes too late is left to its hook.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from functools import partial

import anyio.to_thread
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ltm.clients.events import CLAUDE_CODE, CLIENTS, understand
from ltm.core.quickjson import read_object
from ltm.storage import hooklog
from ltm.surfaces.receive import answer, keep

KEY = "ltm-event"
"""The header with the key an event has already."""

LATE = 0.9
"""Seconds a hook waits for us."""

_SHAPE = re.compile(r"(\d{11})(\d{9})-\d{7}-[0-9a-f]{8}")


class Hooks:
    """What the server does with the events of sessions."""

    def __init__(self, home: str, project: str = "") -> None:
        self._home = home
        self._project = project
        """The folder for sessions whose own is not on this machine (it is the container's)."""

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
        if key and is_late(key, time.time()):
            return Response(status_code=408)
        body = await request.body()
        line = await anyio.to_thread.run_sync(self._take, event, key, body)
        if line is None:
            return Response(status_code=503)
        if not line:
            return Response(status_code=204)
        return Response(line, media_type="application/json")

    def _take(self, event: str, key: str, body: bytes) -> str | None:
        """Keep an event and say what its hook prints; None when it could not be kept."""
        payload = read_object(body.decode("utf-8", "surrogateescape"))
        payload[CLIENTS[CLAUDE_CODE][0]] = event
        record = understand(payload)
        if record is None:
            return ""
        if self._project and not os.path.isdir(str(record.get("cwd", ""))):
            record["cwd"] = self._project
        if not keep(record, self._home, os.environ, key=key):
            return None
        try:
            return answer(payload, record, self._home)
        except Exception as error:
            hooklog.note(self._home, event, error)
            return ""


def is_late(key: str, now: float) -> bool:
    """Whether the hook that sent an event under this key has given us up."""
    found = _SHAPE.fullmatch(key)
    if found is None:
        return False
    seconds, fraction = int(found[1]), int(found[2])
    # Some shells know whole seconds only: then the moment lies anywhere in the second.
    return now - (seconds + fraction / 1e9) > LATE + (0.0 if fraction else 1.0)
