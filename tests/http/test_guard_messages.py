"""The guard and what arrives in pieces, too late or not at all: the application never sees it."""

from __future__ import annotations

import anyio
import pytest
from starlette.types import Message, Receive, Scope, Send

from ltm.http import guard
from ltm.http.address import AllowedNames
from ltm.http.guard import MOST, Guard

HOST, ORIGIN = "127.0.0.1:7", "http://127.0.0.1:7"


class App:
    """An application that notes what reaches it."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, bytes]] = []
        self.after: list[Message] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            self.seen.append(("lifespan", b""))
            return
        message = await receive()
        assert message["more_body"] is False
        self.seen.append((scope["type"], message["body"]))
        self.after.append(await receive())
        await send({"type": "http.response.start", "status": 200})
        await send({"type": "http.response.body", "body": b"yes"})


def headers(**more: str) -> list[tuple[bytes, bytes]]:
    given = {"host": HOST, "authorization": "Bearer right", "content_type": "application/json"}
    named = {name.replace("_", "-"): value for name, value in {**given, **more}.items() if value}
    return [(name.encode(), value.encode()) for name, value in named.items()]


def say(
    *messages: Message, scope: Scope | None = None, forever: bool = False
) -> tuple[App, list[Message]]:
    """What the application saw of these messages, and what was answered."""
    app, said, waiting = App(), list[Message](), list(messages)

    async def receive() -> Message:
        if not waiting and forever:
            await anyio.sleep_forever()
        return waiting.pop(0) if waiting else {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        said.append(message)

    async def run() -> None:
        asked = {"type": "http", "path": "/x", "method": "POST", "headers": headers()}
        names = AllowedNames((HOST,), (ORIGIN,))
        await Guard(app, names, "right", "challenge", "proof")(
            {**asked, **(scope or {})}, receive, send
        )

    anyio.run(run)
    return app, said


def part(body: bytes, *, more: bool = False) -> Message:
    return {"type": "http.request", "body": body, "more_body": more}


def test_a_message_in_pieces_reaches_the_application_whole_and_marked_as_ours() -> None:
    app, said = say(part(b"one ", more=True), part(b"two"))
    assert app.seen == [("http", b"one two")]
    assert app.after == [{"type": "http.disconnect"}], "what comes later is the sender's own"
    assert said[0]["status"] == 200
    assert (b"ltm-proof", b"proof") in said[0]["headers"]
    assert said[1]["body"] == b"yes"


def test_a_piece_may_say_nothing_at_all() -> None:
    assert say({"type": "http.request"})[0].seen == [("http", b"")]


@pytest.mark.parametrize(
    ("messages", "status"),
    [
        ((part(b"half", more=True), {"type": "http.disconnect"}), 400),
        ((part(b"x" * MOST, more=True), part(b"x")), 413),
    ],
)
def test_a_sender_that_goes_or_never_stops_reaches_nothing(
    messages: tuple[Message, ...], status: int
) -> None:
    app, said = say(*messages)
    assert app.seen == []
    assert said[0]["status"] == status
    assert (b"content-length", b"0") in said[0]["headers"]
    assert (b"connection", b"close") in said[0]["headers"]
    assert said[1:] == [{"type": "http.response.body", "body": b""}]


def test_who_takes_too_long_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "PATIENCE", 0.01)
    app, said = say(part(b"half", more=True), forever=True)
    assert app.seen == []
    assert said[0]["status"] == 408


def test_the_beginning_and_end_of_a_server_are_the_applications() -> None:
    app, said = say(scope={"type": "lifespan"})
    assert (app.seen, said) == ([("lifespan", b"")], [])


def test_what_is_neither_is_closed_as_against_the_rules() -> None:
    app, said = say(scope={"type": "websocket"})
    assert (app.seen, said) == ([], [{"type": "websocket.close", "code": 1008}])


@pytest.mark.parametrize(
    ("changed", "status"),
    [
        ({}, 200),
        ({"origin": ORIGIN}, 200),
        ({"authorization": "bearer  right "}, 200),
        ({"content_type": "Application/JSON ; charset=utf-8"}, 200),
        ({"content_length": str(MOST)}, 200),
        ({"content_length": "x"}, 200),
        ({"host": "elsewhere:7"}, 403),
        ({"host": ""}, 403),
        ({"origin": "http://elsewhere"}, 403),
        ({"origin": "null"}, 403),
        ({"authorization": "Basic right"}, 401),
        ({"authorization": "Bearer wrong"}, 401),
        ({"authorization": "Bearer"}, 401),
        ({"authorization": ""}, 401),
        ({"content_type": "text/plain"}, 415),
        ({"content_type": ""}, 415),
        ({"content_length": str(MOST + 1)}, 413),
    ],
)
def test_each_header_is_judged_by_itself(changed: dict[str, str], status: int) -> None:
    app, said = say(part(b"{}"), scope={"headers": headers(**changed)})
    assert said[0]["status"] == status
    assert bool(app.seen) == (status == 200)
    assert ((b"www-authenticate", b"Bearer") in said[0]["headers"]) == (status == 401)
    assert (b"cache-control", b"no-store") in said[0]["headers"]
    assert (b"x-content-type-options", b"nosniff") in said[0]["headers"]


@pytest.mark.parametrize("name", ["host", "origin", "authorization", "content-type"])
def test_a_header_that_is_there_twice_says_nothing(name: str) -> None:
    twice = [*headers(origin=ORIGIN), *(h for h in headers(origin=ORIGIN) if h[0] == name.encode())]
    app, said = say(part(b"{}"), scope={"headers": twice})
    assert app.seen == []
    assert said[0]["status"] in (401, 403, 415)


def test_only_what_is_posted_must_be_json_and_only_a_plain_path_is_served() -> None:
    without = headers(content_type="")
    app, _ = say(part(b""), scope={"method": "GET", "headers": without})
    assert app.seen
    app, said = say(part(b""), scope={"path": f"http://{HOST}/x"})
    assert (app.seen, said[0]["status"]) == ([], 403)
