"""The application of `ltm serve`: its routes, behind one guard.

The guard wraps the whole application, later routes included. A refusal is a bare status. Each check
stops an attack that a token alone does not: Host against DNS rebinding, Origin and Content-Type
against pages that post without a preflight.

Each hook event has a route: the client's message as a POST, answered with what the hook would
print. The event is in the spool before the answer is sent; events that arrive while others are
written are written together. A hook gives up after a second and then keeps its event itself, under
the key it sent, so an event that arrives too late is left to its hook.

MCP is the SDK's, without sessions, so nothing accumulates in a server that runs for weeks. What it
answers is `mcp.protocol`'s, as for `ltm mcp`.
"""

from __future__ import annotations

import asyncio
import os
import re
import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import anyio
import anyio.to_thread
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.exceptions import MCPError
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from ltm import __version__
from ltm.clients.table import CLAUDE_CODE
from ltm.clients.wire import understand
from ltm.errors import LtmError
from ltm.files.fastjson import read_object
from ltm.hook.receive import ANSWERED, answer, keep
from ltm.http.address import AllowedNames, Running
from ltm.http.guard import MOST, Guard
from ltm.mcp import protocol
from ltm.mcp.server import Background, Lifetime, project_folder
from ltm.spool import events, hook_log

KEY = "ltm-event"
"""The header with the key an event has already."""

LATE = 0.9
"""Seconds a hook waits for us."""

LATE_AT_END = 0.3
"""The same when a session ends."""

_TOGETHER = 64  # events; more of them wait for the next turn, so that the first are answered
_LINGER = 0.002  # seconds for those who were just answered to come with their next
_SHAPE = re.compile(r"(\d{11})(\d{9})-\d{7}-[0-9a-f]{8}")


def application(
    home: str, project: str, names: AllowedNames, server: Running, lifetime: Lifetime
) -> Guard:
    """Everything the server answers; `project` is '' when the current folder's is meant."""
    mcp = StreamableHTTPSessionManager(
        mcp_server(project, lifetime),
        json_response=True,
        stateless=True,
        # The guard checks this too. The SDK's own default is to check nothing.
        security_settings=TransportSecuritySettings(
            allowed_hosts=list(names.hosts), allowed_origins=list(names.origins)
        ),
        max_request_body_size=MOST,
    )

    @asynccontextmanager
    async def life(app: Starlette) -> AsyncIterator[None]:
        async with mcp.run():
            Background(lifetime).begin()
            yield

    app = Starlette(
        routes=[
            Route("/health", _health, methods=["GET"]),
            *Hooks(home, project).routes(),
            Route("/mcp", StreamableHTTPASGIApp(mcp), methods=["POST"], name="mcp"),
        ],
        exception_handlers={HTTPException: _bare},
        lifespan=life,
    )
    app.router.redirect_slashes = False  # it would repeat the sender's Host to them
    app.state.mcp = mcp
    return Guard(app, names, server.token, server.challenge, server.proof)


_PARAMS: Mapping[str, type[types.RequestParams]] = {
    "tools/list": types.PaginatedRequestParams,
    "tools/call": types.CallToolRequestParams,
    "resources/list": types.PaginatedRequestParams,
    "resources/templates/list": types.PaginatedRequestParams,
    "resources/read": types.ReadResourceRequestParams,
    "prompts/list": types.PaginatedRequestParams,
    "prompts/get": types.GetPromptRequestParams,
}
"""The requests that the SDK leaves to us, and by what it checks their parameters."""


def mcp_server(project: str, lifetime: Lifetime) -> Server[Any]:
    """The SDK's server, which answers as `ltm mcp` does."""
    lanes = {name: anyio.CapacityLimiter(1) for name in ("", "read", "write", "slow")}

    async def handle(context: ServerRequestContext[Any, Any], params: object) -> dict[str, Any]:
        method, given = context.method, dict(context.params or {})
        folder, newer = project_folder(project), protocol.is_enveloped(given)

        def work() -> dict[str, Any]:
            with lifetime.at_work():
                return protocol.result(method, given, folder)

        lane = lanes[protocol.lane_of(method, given)]
        try:
            result = await anyio.to_thread.run_sync(work, limiter=lane)
            return protocol.enveloped(method, result) if newer else result
        except protocol.ProtocolError as error:
            raise MCPError(error.code_in(newer), error.message, error.data) from error

    server: Server[Any] = Server(
        "ltm",
        version=__version__,
        title=protocol.TITLE,
        instructions=protocol.INSTRUCTIONS,
    )
    for method, kind in _PARAMS.items():
        server.add_request_handler(method, kind, handle)
    return server


async def _health(request: Request) -> Response:
    return JSONResponse({"status": "ok"})


async def _bare(request: Request, error: Exception) -> Response:
    """A status and no word."""
    assert isinstance(error, HTTPException)
    return Response(status_code=error.status_code, headers=error.headers)


@dataclass(slots=True)
class _PendingEvent:
    """An event that was sent, and what has become of it."""

    event: str
    key: str
    body: bytes
    done: asyncio.Future[None]
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
        self._waiting: list[_PendingEvent] = []
        self._writer: asyncio.Task[None] | None = None

    def routes(self) -> Iterator[Route]:
        """One route for every event we know."""
        for event in CLAUDE_CODE.events:
            name = re.sub(r"(?<!^)(?=[A-Z])", "_", event).lower()
            receive = partial(self._receive, event)
            yield Route(f"/hook/{name}", receive, methods=["POST"], name=name)

    async def _receive(self, event: str, request: Request) -> Response:
        key = request.headers.get(KEY, "")
        if key and not _SHAPE.fullmatch(key):
            return Response(status_code=400)
        if key and is_late(event, key, time.time()):
            return Response(status_code=408)
        sent = _PendingEvent(
            event, key, await request.body(), asyncio.get_running_loop().create_future()
        )
        self._waiting.append(sent)
        if self._writer is None:
            self._writer = asyncio.create_task(self._write())
        await sent.done
        if sent.status != 204 or not sent.record or event not in ANSWERED:
            return Response(status_code=sent.status)
        line = await anyio.to_thread.run_sync(self._answer, sent.payload, sent.record)
        return Response(line, media_type="application/json") if line else Response(status_code=204)

    async def _write(self) -> None:
        """Keep what waits, all of it together, until nothing does."""
        while self._waiting:
            some, self._waiting = self._waiting[:_TOGETHER], self._waiting[_TOGETHER:]
            try:
                await anyio.to_thread.run_sync(self._keep, some)
            except Exception as error:  # then hooks keep their events themselves
                hook_log.note(self._home, "keeping events", error)
            for sent in some:
                if not sent.done.done():  # its sender may be gone
                    sent.done.set_result(None)
            if len(some) > 1:
                await asyncio.sleep(_LINGER)
        self._writer = None

    def _keep(self, some: Sequence[_PendingEvent]) -> None:
        """Understand events and put them into the spool."""
        due: list[_PendingEvent] = []
        for sent in some:
            if sent.key and is_late(sent.event, sent.key, time.time()):
                sent.status = 408
            elif self._is_event(sent):
                sent.key = sent.key or events.new_key()
                due.append(sent)
            else:
                sent.status = 204
        try:
            events.put_all(self._home, [(sent.key, sent.record) for sent in due])
            together = True
        except LtmError:
            together = False
        for sent in due:
            if together or keep(sent.record, self._home, os.environ, key=sent.key):
                sent.status = 204

    def _is_event(self, sent: _PendingEvent) -> bool:
        """Read what a client sent; whether there is something to keep in it."""
        sent.payload = read_object(sent.body.decode("utf-8", "surrogateescape"))
        sent.payload[CLAUDE_CODE.event_field] = sent.event
        record = understand(sent.payload)
        if record is None:
            return False
        if self._project and not os.path.isdir(str(record.get("cwd", ""))):
            record["cwd"] = self._project
        sent.record = record
        return True

    def _answer(self, payload: dict[str, object], record: dict[str, object]) -> str:
        try:
            return answer(payload, record, self._home)
        except Exception as error:
            hook_log.note(self._home, str(record["event"]), error)
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
