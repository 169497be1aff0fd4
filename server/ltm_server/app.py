"""The application of `ltm team serve`: a team's memories for laptops and agents.

    GET  /t/TEAM/p/PROJECT             who the caller is to the project
    POST /t/TEAM/p/PROJECT/decisions   decisions of a replica, in order
    GET  /t/TEAM/p/PROJECT/changes     what changed, in order
    GET  /t/TEAM/p/PROJECT/members     the members and their roles
    GET  /t/TEAM/p/PROJECT/projects    the projects of the caller
    POST /t/TEAM/p/PROJECT/mcp         MCP, with the tools that work on a team's memories
    GET  /.well-known/oauth-protected-resource/t/…   where tokens come from (RFC 9728)
    GET  /health                       whether the server and its database answer

Who calls is settled before a route is: a token, the person it is of, a project that is theirs.
A project that is not theirs is answered like one that is not there. The database asks again, for
every statement, what the person may do.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

import anyio
import anyio.to_thread
from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.auth import ProtectedResourceMetadata
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from ltm.decisions import Adopt, decision_from, memory_from
from ltm.errors import Busy, Conflict, LtmError, NotFound, Refused, StorageFailed, WrongUsage
from ltm.http.address import AllowedNames, allowed_names, bind
from ltm.http.connection import run_web
from ltm.http.guard import HostGuard, only
from ltm.llm.http_api import is_this_machine
from ltm.model import Filter, Status, as_record
from ltm.record import NamedTuple
from ltm.team.outbox import ids_of
from ltm.team.sync import MOST, PAGE
from ltm_server.bearer import (
    CURATE,
    READ,
    SCOPES,
    STATIC_PREFIX,
    WRITE,
    Bearer,
    TokenVerifier,
    challenge,
    checked_address,
    static,
    token_in,
)
from ltm_server.postgres import changes, migration
from ltm_server.postgres.database import Database, Person
from ltm_server.postgres.people import People, TeamProject
from ltm_server.postgres.store import PostgresStore
from ltm_server.tools import Caller, mcp_server, scope_of_call

PROJECT = "/t/{team}/p/{project}"
_PROJECT = re.compile(r"/t/(?P<team>[^/]+)/p/(?P<project>[^/]+)(?P<rest>/[^/]*)?\Z")
_WELL_KNOWN = "/.well-known/oauth-protected-resource"
_RATE, _BURST = 20.0, 400.0  # requests a second of one person, and at once
_PEOPLE = 10_000  # whose requests are counted
_ROOM = 5_000_000  # characters of memories in an answer, but for a single larger one


class TeamSettings(NamedTuple):
    """The settings of a team's server."""

    url: str = ""
    """The address clients use, if it is another than the one that is listened on."""
    verifier: TokenVerifier | None = None
    """What checks access tokens."""
    issuer: str = ""
    """Who issues access tokens; '' if there are only static ones."""


class TeamGuard(HostGuard):
    """The guard of a team's server: who is served is settled behind it, by `Members`."""

    most = 8 * 1024 * 1024

    def stranger(self, scope: Scope) -> int:
        """Refuse requests that a web page could post without asking first (CORS)."""
        kind = only(scope, b"content-type").partition(b";")[0].strip().lower()
        return 415 if scope["method"] == "POST" and kind != b"application/json" else 0


class Members:
    """Lets in who has a valid token, is known, and is a member of the project."""

    def __init__(
        self,
        app: ASGIApp,
        database: Database,
        settings: TeamSettings,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._app = app
        self._database = database
        self._settings = settings
        self._clock = clock
        self._allowed: dict[str, tuple[float, float]] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        found = _PROJECT.fullmatch(scope["path"]) if scope["type"] == "http" else None
        if found is None:
            await self._app(scope, receive, send)
            return
        request = Request(scope, receive)
        try:
            scope["ltm.caller"] = await self._caller(request, found)
        except _RefusedRequest as refused:
            await refused.response(scope, receive, send)
            return
        except LtmError as error:
            await _failed(error)(scope, receive, send)
            return
        body = await request.body()

        async def replayed() -> dict[str, Any]:
            return {"type": "http.request", "body": body, "more_body": False}

        await self._app(scope, replayed, send)

    async def _caller(self, request: Request, found: re.Match[str]) -> Caller:
        where = f"/t/{found['team']}/p/{found['project']}/mcp"
        metadata = f"{self._settings.url}{_WELL_KNOWN}{where}" if self._settings.issuer else ""
        token = token_in(request.headers.get("authorization", ""))
        resource = f"{self._settings.url}{where}"
        bearer = await anyio.to_thread.run_sync(self._bearer, token, resource) if token else None
        person = await anyio.to_thread.run_sync(self._person, bearer) if bearer else None
        if bearer is None or (person is None and not bearer.issuer):
            said = challenge(metadata, READ, "invalid_token" if token else "")
            raise _RefusedRequest(
                401, "the token is not valid" if token else "a token is needed", said
            )
        if person is None:
            hint = f"ask an owner to invite you, as {bearer.subject} of {bearer.issuer}"
            raise _RefusedRequest(403, "you are a member of no team here", hint=hint)
        if not self._is_allowed(person.id):
            raise _RefusedRequest(429, "too many requests", retry=True)
        project = await anyio.to_thread.run_sync(self._project, person, found)
        if project is None:
            raise _RefusedRequest(404, "there is no such project, or it is not yours")
        needed = await self._needed(request, found["rest"] or "")
        if needed not in bearer.scopes:
            # Together with what the token has, so that the next one can do no less.
            wanted = " ".join(SCOPES[: SCOPES.index(needed) + 1])
            said = challenge(metadata, wanted, "insufficient_scope")
            raise _RefusedRequest(403, f"the token does not allow {needed}", said)
        client = request.headers.get("user-agent", "")[:80]
        # An agent with a curator's token must not approve what agents wrote.
        most = "writer" if found["rest"] == "/mcp" else "owner"
        store = PostgresStore(self._database, person, project, client=client, most=most)
        return Caller(person, project, store)

    def _bearer(self, token: str, resource: str) -> Bearer | None:
        if token.startswith(STATIC_PREFIX):
            return static(token)
        verifier = self._settings.verifier
        return verifier.verify(token, resource) if verifier else None

    def _person(self, bearer: Bearer) -> Person | None:
        people = People(self._database)
        if not bearer.issuer:
            return people.by_token(bearer.subject)
        return people.by_subject(bearer.issuer, bearer.subject)

    def _project(self, person: Person, found: re.Match[str]) -> TeamProject | None:
        people = People(self._database, person)
        try:
            tenant = people.tenant(found["team"])
            return people.project(tenant, found["project"])
        except (NotFound, WrongUsage):
            return None

    async def _needed(self, request: Request, rest: str) -> str:
        """The scope that a request needs."""
        if request.method != "POST":
            return READ
        try:
            said = json.loads(await request.body())
        except (ValueError, RecursionError):
            return READ  # refused by its route
        if rest == "/mcp":
            calls = said if isinstance(said, list) else [said]
            return max((scope_of_call(each) for each in calls), key=SCOPES.index, default=READ)
        sent = said.get("decisions") if isinstance(said, dict) else None
        listed = sent if isinstance(sent, list) else []
        records = [each.get("decision") for each in listed if isinstance(each, dict)]
        curates = any(isinstance(r, dict) and r.get("decision") == "purge" for r in records)
        return CURATE if curates else WRITE

    def _is_allowed(self, person: str) -> bool:
        """Whether a person is below the limit of requests (a token bucket)."""
        now = self._clock()
        left, at = self._allowed.get(person, (_BURST, now))
        left = min(_BURST, left + (now - at) * _RATE)
        if len(self._allowed) >= _PEOPLE:
            self._allowed.clear()
        self._allowed[person] = (max(0.0, left - 1), now)
        return left >= 1


class _RefusedRequest(Exception):
    """A request that is answered with a refusal."""

    def __init__(
        self, status: int, error: str, challenge: str = "", *, hint: str = "", retry: bool = False
    ) -> None:
        super().__init__(error)
        headers = {"www-authenticate": challenge} if challenge else {}
        headers |= {"retry-after": "10"} if retry else {}
        said = {"error": error, "hint": hint} if hint else {"error": error}
        self.response: Response = JSONResponse(said, status, headers)


def application(database: Database, settings: TeamSettings, names: AllowedNames) -> TeamGuard:
    """Everything the server answers."""
    mcp = StreamableHTTPSessionManager(
        mcp_server(),
        json_response=True,
        stateless=True,
        security_settings=TransportSecuritySettings(
            allowed_hosts=list(names.hosts), allowed_origins=list(names.origins)
        ),
        max_request_body_size=TeamGuard.most,
    )

    @asynccontextmanager
    async def life(app: Starlette) -> AsyncIterator[None]:
        async with mcp.run():
            yield

    app = Starlette(routes=routes(database, settings, mcp), lifespan=life)
    app.router.redirect_slashes = False
    return TeamGuard(Members(app, database, settings), names, [])


def routes(
    database: Database, settings: TeamSettings, mcp: StreamableHTTPSessionManager
) -> list[Route]:
    """Every route; all below `PROJECT` are for members only."""

    async def health(request: Request) -> Response:
        try:
            await anyio.to_thread.run_sync(_ask_database, database)
        except LtmError as error:
            return JSONResponse({"status": "no database", "error": error.message}, 503)
        return JSONResponse({"status": "ok"})

    async def resource(request: Request) -> Response:
        if not settings.issuer:
            raise HTTPException(404)
        said = ProtectedResourceMetadata.model_validate(
            {
                "resource": f"{settings.url}/{request.path_params['path']}",
                "authorization_servers": [settings.issuer],
                "scopes_supported": list(SCOPES),
                "resource_name": "LTM team memory",
            }
        )
        return JSONResponse(said.model_dump(mode="json", exclude_none=True))

    return [
        Route("/health", health, methods=["GET"]),
        Route(f"{_WELL_KNOWN}/{{path:path}}", resource, methods=["GET"]),
        Route(PROJECT, _answering(_about), methods=["GET"]),
        Route(f"{PROJECT}/decisions", _answering(_decisions), methods=["POST"]),
        Route(f"{PROJECT}/changes", _answering(_changes), methods=["GET"]),
        Route(f"{PROJECT}/members", _answering(_members(database)), methods=["GET"]),
        Route(f"{PROJECT}/projects", _answering(_projects(database)), methods=["GET"]),
        Route(f"{PROJECT}/mcp", StreamableHTTPASGIApp(mcp), methods=["POST"], name="mcp"),
    ]


def _ask_database(database: Database) -> None:
    with database.as_nobody() as db:
        db.execute("select 1")


RouteAnswer = Callable[[Caller, Mapping[str, str], Any], dict[str, Any]]


def _answering(answer: RouteAnswer) -> Callable[[Request], Any]:
    """A route that asks the database in a thread, and turns errors into statuses."""

    async def endpoint(request: Request) -> Response:
        caller: Caller = request.scope["ltm.caller"]
        body: Any = None
        if request.method == "POST":
            try:
                body = json.loads(await request.body())
            except (ValueError, RecursionError):
                return JSONResponse({"error": "the message is not JSON"}, 400)
        query = dict(request.query_params)
        try:
            said = await anyio.to_thread.run_sync(answer, caller, query, body)
        except LtmError as error:
            return _failed(error)
        return JSONResponse(said)

    return endpoint


def _failed(error: LtmError) -> Response:
    status = 503 if isinstance(error, Busy | StorageFailed) else 400
    status = {NotFound: 404, Refused: 403}.get(type(error), status)
    return JSONResponse({"error": error.message, "hint": error.hint}, status)


def _about(caller: Caller, query: Mapping[str, str], body: Any) -> dict[str, Any]:
    return {
        "project": caller.project.slug,
        "person": caller.person.name,
        "role": caller.project.role,
    }


def _decisions(caller: Caller, query: Mapping[str, str], body: Any) -> dict[str, Any]:
    """Apply decisions in order, and say how the memories they name are now."""
    sent = body.get("decisions") if isinstance(body, dict) else None
    if not isinstance(sent, list) or len(sent) > MOST:
        raise WrongUsage(f"'decisions' must be a list of {MOST} at the most")
    store = caller.store
    answers: list[dict[str, Any]] = []
    ids: dict[str, None] = {}
    for one in sent:
        try:
            record, key = dict(one["decision"]), str(one["key"])
            base, decision = str(one.get("base") or ""), decision_from(record)
            if isinstance(decision, Adopt):
                decision = Adopt(tuple(replace(each, over=base) for each in decision.copies))
            before = memory_from(one["before"]) if one.get("before") else None
            entry = changes.Sent(key, decision, base, before)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            key = str(one.get("key", "")) if isinstance(one, dict) else ""
            answers.append({"key": key, "error": f"not a decision: {error}", "hint": ""})
            continue
        ids |= dict.fromkeys(ids_of(record))
        answers += [each._asdict() for each in changes.push(store, [entry])]
    found = {
        each.memory.id: each
        for each in store.list(Filter(ids=tuple(ids), statuses=tuple(Status))).items
    }
    from_here = [
        {
            "id": name,
            "etag": found[name].etag if name in found else "",
            "record": as_record(found[name].memory) if name in found else None,
            # A refused memory is not here either, and its author keeps the text.
            "purged": name not in found and store.is_purged(name),
        }
        for name in ids
    ]
    return {"answers": answers, "records": from_here}


def _changes(caller: Caller, query: Mapping[str, str], body: Any) -> dict[str, Any]:
    try:
        after, limit = int(query.get("after", "0")), int(query.get("limit", str(PAGE)))
    except ValueError:
        raise WrongUsage("'after' and 'limit' must be numbers") from None
    try:
        pulled = changes.pull(caller.store, max(0, after), max(1, min(limit, PAGE)))
    except Conflict:  # it was restored from a backup: from the beginning, then
        return {"changes": [], "cursor": 0, "more": True}
    listed: list[dict[str, Any]] = []
    room, cursor = _ROOM, pulled.cursor
    for each in pulled.changes:
        room -= len(str(each.record))
        if listed and room < 0:
            break
        listed.append(each._asdict())
        cursor = each.seq
    more = pulled.more or len(listed) < len(pulled.changes)
    return {"changes": listed, "cursor": cursor, "more": more}


def _members(database: Database) -> RouteAnswer:
    def answer(caller: Caller, query: Mapping[str, str], body: Any) -> dict[str, Any]:
        found = People(database, caller.person).members(caller.project)
        return {"members": [{"name": each.name, "role": each.role} for each in found]}

    return answer


def _projects(database: Database) -> RouteAnswer:
    def answer(caller: Caller, query: Mapping[str, str], body: Any) -> dict[str, Any]:
        found = People(database, caller.person).projects(caller.person.tenant_id)
        return {"projects": [{"slug": each.slug, "role": each.role} for each in found]}

    return answer


# -- serving ---------------------------------------------------------------------------------------


def serve(
    host: str,
    port: int,
    database: Database,
    settings: TeamSettings,
    *,
    allow_remote: bool = False,
    ready: Callable[[str], None],
) -> None:
    """Answer requests until a signal ends us; `ready` is called with the address once they are."""
    migration.check(database)
    listening = bind(host, port, allow_remote=allow_remote)
    try:
        names = allowed_names(listening)
        own = names.origins[0]
        if settings.url:
            names = _with_public(names, settings.url)
        elif not is_this_machine(host):
            raise WrongUsage(
                "clients elsewhere need an https address, and the server must know it",
                hint="give the one that your TLS proxy has: --url https://memory.example.org",
            )
        settings = settings._replace(url=(settings.url or own).rstrip("/"))
        app = application(database, settings, names)
        run_web(app, listening, lambda: ready(own))
    finally:
        listening.close()
        database.close()


def _with_public(names: AllowedNames, url: str) -> AllowedNames:
    """The names of a server with those under which a proxy passes requests on."""
    place = urlsplit(checked_address(url))
    if place.path.strip("/") or place.query:
        raise WrongUsage(f"'{url}' has a path", hint="give the address of the host alone")
    hosts: Sequence[str] = (place.netloc, f"{place.hostname}:{place.port or 443}")
    origin = f"{place.scheme}://{place.netloc}"
    return AllowedNames((*names.hosts, *hosts), (*names.origins, origin))
