"""No one is served by accident: every route, under every combination of what a request may say.

Reliability S1, S4; the cases of A3. The whole matrix runs against the application itself, and the
part that depends on how bytes become a request runs against a real server once more.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import anyio
import pytest
from starlette.applications import Starlette
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ltm.http.address import AllowedNames, Running
from ltm.http.app import application
from ltm.http.guard import MOST, PATIENCE, Guard
from ltm.mcp.server import Lifetime
from tests.figures import count
from tests.hook.runner import Hooks
from tests.http.runner import JSON, Server, nobody_drains

PORT = 4711
OWN = (f"127.0.0.1:{PORT}", f"localhost:{PORT}", f"[::1]:{PORT}")
HOSTS: dict[str, tuple[bool, list[str]]] = {
    **{host: (True, [host]) for host in OWN},
    "upper case": (False, [f"LocalHost:{PORT}"]),
    "evil.test": (False, [f"evil.test:{PORT}"]),
    "0.0.0.0": (False, [f"0.0.0.0:{PORT}"]),
    "another port": (False, ["127.0.0.1:80"]),
    "no port": (False, ["127.0.0.1"]),
    "beginning like ours": (False, [f"127.0.0.1:{PORT}.evil.test"]),
    "empty": (False, [""]),
    "none": (False, []),
    "two": (False, [OWN[0], f"evil.test:{PORT}"]),
    "the same twice": (False, [OWN[0], OWN[0]]),
}
ORIGINS: dict[str, tuple[bool, list[str]]] = {
    "none": (True, []),
    "own": (True, [f"http://127.0.0.1:{PORT}"]),
    "null": (False, ["null"]),
    "empty": (False, [""]),
    "another": (False, ["https://evil.test"]),
    "another port": (False, ["http://127.0.0.1:80"]),
    "own and another": (False, [f"http://127.0.0.1:{PORT}", "https://evil.test"]),
}
TOKENS: dict[str, tuple[bool, list[str]]] = {
    "right": (True, ["Bearer right"]),
    "none": (False, []),
    "empty": (False, ["Bearer "]),
    "wrong": (False, ["Bearer wrong"]),
    "longer": (False, ["Bearer right1"]),
    "another scheme": (False, ["Basic right"]),
    "bare": (False, ["right"]),
    "two": (False, ["Bearer right", "Bearer wrong"]),
}
TYPES: dict[str, tuple[bool, list[str]]] = {
    "json": (True, ["application/json"]),
    "json with a charset": (True, ["application/json; charset=utf-8"]),
    "none": (False, []),
    "text": (False, ["text/plain"]),
    "text that looks like it": (False, ["text/plain; application/json"]),
    "form": (False, ["application/x-www-form-urlencoded"]),
    "multipart": (False, ["multipart/form-data; boundary=x"]),
    "two": (False, ["application/json", "text/plain"]),
}
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "EVIL")
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
MESSAGE = json.dumps({"session_id": "s1", "agent_type": "x", **PING}).encode()


@pytest.fixture
def guarded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Guard:
    """The application as `ltm serve` makes it."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("LTM_HOME", str(tmp_path / "home"))
    names = AllowedNames(OWN, tuple(f"http://{each}" for each in OWN))
    server = Running("127.0.0.1", PORT, "right", "challenge", "proof", 1, "")
    return application(str(tmp_path / "home"), str(tmp_path), names, server, Lifetime())


def routes(guard: Guard) -> list[Route]:
    assert isinstance(guard.app, Starlette)
    found = [route for route in guard.app.routes if isinstance(route, Route)]
    assert len(found) == len(guard.app.routes), "a kind of route that this test does not know"
    return found


async def ask(
    app: ASGIApp, method: str, path: str, headers: list[tuple[str, str]], body: bytes = MESSAGE
) -> tuple[int, dict[str, str], bytes]:
    """What an application says to a request: status, headers, body."""
    said: list[Message] = []
    asked: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> Message:
        if asked:
            return asked.pop()
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        said.append(message)

    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "root_path": "",
        "headers": [(name.lower().encode(), value.encode()) for name, value in headers],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", PORT),
    }
    await app(scope, receive, send)
    told = {name.decode().lower(): value.decode() for name, value in said[0]["headers"]}
    return said[0]["status"], told, b"".join(each.get("body", b"") for each in said[1:])


def named(name: str, values: list[str]) -> list[tuple[str, str]]:
    return [(name, value) for value in values]


ALL_RIGHT = [("Host", OWN[0]), ("Authorization", "Bearer right"), JSON]


# -- every route ---------------------------------------------------------------------------------


async def unguarded(app: ASGIApp, every: list[Route]) -> set[str]:
    """The routes of an application that say anything else than 401 to one who has no token."""
    found = set()
    for route, method in product(every, METHODS):
        headers = [each for each in ALL_RIGHT if each[0] != "Authorization"]
        status, _, body = await ask(app, method, route.path, headers)
        if status != 401 or body:
            found.add(route.path)
    return found


def test_there_is_no_route_without_the_guard(guarded: Guard) -> None:
    async def look() -> set[str]:
        async with mcp(guarded).run():
            open_ = await unguarded(guarded, [*routes(guarded), *elsewhere()])
            count("S1", routes=len(routes(guarded)), routes_without_the_guard=len(open_))
            assert open_ == set()
            return await unguarded(guarded.app, routes(guarded))

    seen_by_the_test_itself = anyio.run(look)
    assert seen_by_the_test_itself == {route.path for route in routes(guarded)}


def elsewhere() -> Iterator[Route]:
    """Places where there is nothing: those without a token do not learn even that."""
    for path in ("/", "/docs", "/openapi.json", "/hook", "/hook/", "/health/", "/mcp/", "/hook/x"):
        yield Route(path, lambda request: None)


def mcp(guard: Guard) -> Any:
    assert isinstance(guard.app, Starlette)
    return guard.app.state.mcp


def test_every_event_has_its_route_and_there_are_no_others(guarded: Guard) -> None:
    assert {route.path for route in routes(guarded)} == {
        "/health",
        "/mcp",
        "/hook/session_start",
        "/hook/user_prompt_submit",
        "/hook/pre_compact",
        "/hook/stop",
        "/hook/subagent_start",
        "/hook/subagent_stop",
        "/hook/post_tool_use",
        "/hook/post_tool_use_failure",
        "/hook/session_end",
    }


def test_only_what_is_right_in_every_respect_is_answered(guarded: Guard) -> None:
    """Reliability S1."""

    async def look() -> dict[str, int]:
        answered: dict[str, int] = {}
        cells = wrong = 0
        async with mcp(guarded).run():
            for route, method in product(routes(guarded), METHODS):
                kinds = TYPES if method == "POST" else ("none", "json", "text")
                for host, origin, token, kind in product(HOSTS, ORIGINS, TOKENS, kinds):
                    cell = f"{method} {route.path} {host=} {origin=} {token=} {kind=}"
                    headers = [
                        *named("Host", HOSTS[host][1]),
                        *named("Origin", ORIGINS[origin][1]),
                        *named("Authorization", TOKENS[token][1]),
                        *named("Content-Type", TYPES[kind][1]),
                        ("Accept", "application/json, text/event-stream"),
                    ]
                    status, told, body = await ask(guarded, method, route.path, headers)
                    cells += 1
                    wrong += status != expected(route, method, host, origin, token, kind)
                    assert not wrong, (cell, status)
                    if status < 300:
                        answered[route.path] = answered.get(route.path, 0) + 1
                    else:
                        assert body == b"", cell
                    assert not [name for name in told if name.startswith("access-control")], cell
        count("S1", cells=cells, cells_answered=sum(answered.values()), wrong_answers=wrong)
        return answered

    answered = anyio.run(look)
    assert set(answered) == {route.path for route in routes(guarded)}


def expected(route: Route, method: str, host: str, origin: str, token: str, kind: str) -> int:
    if not HOSTS[host][0] or not ORIGINS[origin][0]:
        return 403
    if not TOKENS[token][0]:
        return 401
    if method == "POST" and not TYPES[kind][0]:
        return 415
    assert route.methods
    if method not in route.methods:
        return 405
    return 204 if route.path.startswith("/hook/") else 200  # there is no memory to tell of


def test_who_knows_the_challenge_gets_the_proof_and_nothing_else(guarded: Guard) -> None:
    said = {
        "right": ["challenge"],
        "none": [],
        "wrong": ["Challenge"],
        "the token": ["right"],
        "two": ["challenge", "challenge"],
    }

    async def look() -> None:
        for host, origin, challenge in product(HOSTS, ORIGINS, said):
            headers = [
                *named("Host", HOSTS[host][1]),
                *named("Origin", ORIGINS[origin][1]),
                *named("LTM-Challenge", said[challenge]),
            ]
            is_ours = HOSTS[host][0] and ORIGINS[origin][0]
            for method, path in (("GET", "/proof"), ("POST", "/proof"), ("GET", "/health")):
                status, told, body = await ask(guarded, method, path, headers)
                is_right = is_ours and challenge == "right" and (method, path) == ("GET", "/proof")
                assert status == (204 if is_right else 401 if is_ours else 403)
                assert (told.get("ltm-proof") == "proof") == is_right
                assert body == b""
                count("S1", cells=1, cells_answered=int(is_right), wrong_answers=0)

    anyio.run(look)


def test_a_target_with_a_host_of_its_own_is_refused(guarded: Guard) -> None:
    target = f"http://127.0.0.1:{PORT}/health"
    assert anyio.run(ask, guarded, "GET", target, ALL_RIGHT)[0] == 403


def test_a_websocket_is_closed_at_once(guarded: Guard) -> None:
    said: list[Message] = []

    async def connect() -> None:
        async def receive() -> Message:
            return {"type": "websocket.connect"}

        async def send(message: Message) -> None:
            said.append(message)

        headers = [(name.lower().encode(), value.encode()) for name, value in ALL_RIGHT]
        await guarded({"type": "websocket", "path": "/mcp", "headers": headers}, receive, send)

    anyio.run(connect)
    # 1008, "against the rules": a client that is told so does not try again at once.
    assert said == [{"type": "websocket.close", "code": 1008}]


def test_the_sdk_is_told_to_check_as_well_and_knows_exact_names_only(guarded: Guard) -> None:
    """A3: custom applications must set TransportSecuritySettings, or nothing is checked."""
    settings = mcp(guarded).security_settings
    assert settings.enable_dns_rebinding_protection is True
    assert settings.allowed_hosts == list(OWN)
    assert settings.allowed_origins == [f"http://{each}" for each in OWN]
    assert mcp(guarded).stateless is True
    assert mcp(guarded).max_request_body_size == MOST


def test_health_tells_nothing_but_that_it_is_there(guarded: Guard) -> None:
    status, _, body = anyio.run(ask, guarded, "GET", "/health", ALL_RIGHT, b"")
    assert (status, json.loads(body)) == (200, {"status": "ok"})


def test_an_answer_keeps_its_own_headers_and_gets_the_proof_and_a_refusal_does_not(
    guarded: Guard,
) -> None:
    _, told, _ = anyio.run(ask, guarded, "GET", "/health", ALL_RIGHT, b"")
    assert told["content-type"] == "application/json"
    assert told["ltm-proof"] == "proof"
    unknown = [each for each in ALL_RIGHT if each[0] != "Authorization"]
    status, refused, body = anyio.run(ask, guarded, "GET", "/health", unknown, b"")
    assert (status, body, refused["www-authenticate"]) == (401, b"", "Bearer")
    assert "ltm-proof" not in refused
    for headers in (told, refused):
        assert headers["cache-control"] == "no-store"
        assert headers["x-content-type-options"] == "nosniff"


# -- bodies --------------------------------------------------------------------------------------


def test_a_message_of_the_largest_size_is_taken_and_one_byte_more_is_not(guarded: Guard) -> None:
    async def say(size: int, *, declared: bool) -> int:
        headers = [*ALL_RIGHT, ("Content-Length", str(size))] if declared else ALL_RIGHT
        body = b'{"session_id":"s1"}'.ljust(size)
        return (await ask(guarded, "POST", "/hook/stop", headers, body))[0]

    for declared in (True, False):

        async def both(declared: bool = declared) -> list[int]:
            return [await say(size, declared=declared) for size in (MOST, MOST + 1)]

        assert anyio.run(both) == [204, 413]


def saying(*messages: Message) -> Receive:
    """What a server hands on of one who says this and then nothing any more."""
    left = list(messages)

    async def receive() -> Message:
        if left:
            return left.pop(0)
        await anyio.sleep_forever()
        raise AssertionError("for ever is over")

    return receive


async def heard(receive: Receive, *further: tuple[str, str]) -> tuple[list[Message], list[Message]]:
    """What a sender is told, and what the application behind the guard was handed."""
    said: list[Message] = []
    got: list[Message] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        got.append(await receive())
        await send({"type": "http.response.start", "status": 204})
        await send({"type": "http.response.body", "body": b""})
        got.append(await receive())

    async def send(message: Message) -> None:
        said.append(message)

    headers = [(name.lower().encode(), value.encode()) for name, value in (*ALL_RIGHT, *further)]
    scope = {"type": "http", "method": "POST", "path": "/hook/stop", "headers": headers}
    guard = Guard(app, AllowedNames(OWN, ()), "right", "challenge", "proof")
    await guard(scope, receive, send)
    return said, got


def part(body: bytes, *, more: bool) -> Message:
    return {"type": "http.request", "body": body, "more_body": more}


GONE: Message = {"type": "http.disconnect"}


def test_a_message_in_parts_is_handed_on_whole_and_once() -> None:
    empty: Message = {"type": "http.request", "more_body": True}
    parts = (part(b'{"a"', more=True), empty, part(b":1}", more=False), GONE)
    said, got = anyio.run(heard, saying(*parts))
    assert [each.get("status") for each in said] == [204, None]
    assert got == [part(b'{"a":1}', more=False), GONE]
    # An answer without headers of its own has the proof all the same.
    assert (b"ltm-proof", b"proof") in said[0]["headers"]
    # That there is no more may be left unsaid.
    assert anyio.run(heard, saying({"type": "http.request", "body": b"{}"}, GONE))[1] == [
        part(b"{}", more=False),
        GONE,
    ]


def refusal(status: int) -> list[Message]:
    """A bare status, no word, and the connection is over: what follows is not read."""
    headers = [
        (b"cache-control", b"no-store"),
        (b"x-content-type-options", b"nosniff"),
        (b"content-length", b"0"),
        (b"connection", b"close"),
    ]
    return [
        {"type": "http.response.start", "status": status, "headers": headers},
        {"type": "http.response.body", "body": b""},
    ]


def test_who_leaves_in_the_middle_of_a_message_is_not_heard() -> None:
    assert anyio.run(heard, saying(part(b"{", more=True), GONE)) == (refusal(400), [])


def test_who_stops_in_the_middle_of_a_message_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert 5 <= PATIENCE <= 30  # a slow disk is waited for, and a client that holds us up is not
    monkeypatch.setattr("ltm.http.guard.PATIENCE", 0.01)
    assert anyio.run(heard, saying(part(b"{", more=True))) == (refusal(408), [])


def test_a_length_that_is_too_long_is_refused_before_a_byte_is_read() -> None:
    assert anyio.run(heard, saying(), ("Content-Length", str(MOST + 1))) == (refusal(413), [])


def test_a_length_that_is_not_a_number_says_nothing_and_the_bytes_count() -> None:
    for length in ("-1", "many", ""):
        whole = saying(part(b"{}", more=False), GONE)
        assert anyio.run(heard, whole, ("Content-Length", length))[0][0]["status"] == 204
    long = saying(part(b"x" * MOST, more=True), part(b"x", more=True))
    assert anyio.run(heard, long, ("Content-Length", "many")) == (refusal(413), [])


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("Authorization", "bearer right"),
        ("Authorization", "BEARER   right "),
        ("Content-Type", "Application/JSON"),
        ("Content-Type", "application/json ;charset=utf-8"),
    ],
)
def test_what_http_leaves_open_may_be_written_either_way(
    guarded: Guard, name: str, value: str
) -> None:
    headers = [each for each in ALL_RIGHT if each[0] != name]
    asked = (guarded, "POST", "/hook/stop", [*headers, (name, value)])
    assert anyio.run(ask, *asked)[0] == 204


def test_starting_and_ending_is_the_applications_own_business() -> None:
    seen: list[str] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        seen.append(scope["type"])

    async def start() -> None:
        async def send(message: Message) -> None:
            raise AssertionError(message)

        await Guard(app, AllowedNames(OWN, ()), "right", "challenge", "proof")(
            {"type": "lifespan"}, saying(), send
        )

    anyio.run(start)
    assert seen == ["lifespan"]


# -- the same over a real wire -------------------------------------------------------------------


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    hooks = Hooks(tmp_path_factory.mktemp("guard"))
    with nobody_drains(hooks), Server(hooks) as running:
        yield running


def test_a_real_server_answers_only_what_is_right_too(server: Server) -> None:
    statuses = set()
    for host, origin, token, kind in product(HOSTS, ORIGINS, ("right", "none", "wrong"), TYPES):
        headers = [
            *named("Host", HOSTS[host][1]),
            *named("Origin", ORIGINS[origin][1]),
            *named("Authorization", TOKENS[token][1]),
            *named("Content-Type", TYPES[kind][1]),
        ]
        real = [
            (name, value.replace(str(PORT), str(server.port)).replace("right", token_of(server)))
            for name, value in headers
        ]
        answer = server.ask("POST", "/hook/stop", real, b'{"session_id":"s1"}', host=None)
        is_right = all(
            table[each][0]
            for table, each in (
                (HOSTS, host),
                (ORIGINS, origin),
                (TOKENS, token),
                (TYPES, kind),
            )
        )
        count("S1", cells_over_a_wire=1, wrong_answers=int((answer.status == 204) != is_right))
        assert (answer.status == 204) == is_right, headers
        assert answer.body == b"" or answer.status == 400, headers
        statuses.add(answer.status)
    # 400: two Hosts, or none, are no HTTP at all, and get no further than the web server.
    assert statuses == {204, 400, 401, 403, 415}


def token_of(server: Server) -> str:
    return str(server.noted["token"])


def test_a_real_server_refuses_a_target_with_a_host_of_its_own(server: Server) -> None:
    for target in (f"http://127.0.0.1:{server.port}/health", "http://evil.test/health"):
        assert server.ask("GET", target, [server.authorized]).status == 403


def test_a_browser_that_asks_first_is_told_nothing(server: Server) -> None:
    """A3: no CORS headers at all."""
    answer = server.ask(
        "OPTIONS",
        "/hook/stop",
        [
            ("Origin", f"http://127.0.0.1:{server.port}"),
            ("Access-Control-Request-Method", "POST"),
            ("Access-Control-Request-Headers", "authorization, content-type"),
        ],
    )
    assert (answer.status, answer.body) == (401, b"")
    assert not [name for name, _ in answer.headers if name.lower().startswith("access-control")]


def test_a_real_server_refuses_long_messages_however_they_come(server: Server) -> None:
    headers = [server.authorized, JSON]
    declared = server.ask("POST", "/hook/stop", headers, b"x" * (MOST + 1))
    assert (declared.status, declared.body) == (413, b"")
    chunk = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"
    head = f"POST /hook/stop HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n"
    head += "".join(f"{name}: {value}\r\n" for name, value in headers)
    chunked = server.send(f"{head}Transfer-Encoding: chunked\r\n\r\n".encode() + chunk * 17)
    assert (chunked.status, chunked.body) == (413, b"")
    announced = server.send(f"{head}Content-Length: 1000000000\r\n\r\n".encode())
    assert announced.status == 413  # not a byte of it was waited for
    assert server.ask("GET", "/health", [server.authorized]).status == 200


def test_an_upgrade_to_a_websocket_is_not_a_way_around(server: Server) -> None:
    upgrade = [("Connection", "Upgrade"), ("Upgrade", "websocket"), ("Sec-WebSocket-Version", "13")]
    for path in ("/mcp", "/health"):
        assert server.ask("GET", path, upgrade).status == 401


def test_who_has_no_token_learns_no_proof(server: Server) -> None:
    assert server.ask("GET", "/health").header("ltm-proof") is None
    granted = server.ask("GET", "/health", [server.authorized])
    assert granted.header("ltm-proof") == server.noted["proof"]
    assert granted.header("server") is None
