"""The application of `ltm serve`: every route there is, behind the guard.

Owns the list of routes. MCP is the SDK's, without sessions: each request stands for itself, so
nothing piles up in a server that runs for weeks.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from ltm.surfaces.http.doors import Doors
from ltm.surfaces.http.guard import MOST, Guard
from ltm.surfaces.http.hooks import Hooks
from ltm.surfaces.http.running import Running
from ltm.surfaces.mcp.lifetime import Lifetime
from ltm.surfaces.mcp.server import Answers, build


def application(
    home: str, project: str, doors: Doors, server: Running, lifetime: Lifetime
) -> Guard:
    """Everything the server answers; `project` is '' when the current folder's is meant."""
    answers = Answers(project or None, lifetime)
    mcp = StreamableHTTPSessionManager(
        build(answers),
        json_response=True,
        stateless=True,
        # The guard checks this too. The SDK's own default is to check nothing.
        security_settings=TransportSecuritySettings(
            allowed_hosts=list(doors.hosts), allowed_origins=list(doors.origins)
        ),
        max_request_body_size=MOST,
    )

    @asynccontextmanager
    async def life(app: Starlette) -> AsyncIterator[None]:
        async with mcp.run():
            answers.background.begin()
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
    return Guard(app, doors, server.token, server.challenge, server.proof)


async def _health(request: Request) -> Response:
    return JSONResponse({"status": "ok"})


async def _bare(request: Request, error: Exception) -> Response:
    """A status and no word."""
    assert isinstance(error, HTTPException)
    return Response(status_code=error.status_code, headers=error.headers)
