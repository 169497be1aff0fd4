"""Refuse requests without the token, from a web page, too long, or not JSON.

Owns every check that holds for all routes, as one wrapper around the whole application: a route
added later is behind it, too. A refusal is a bare status and tells nothing. Each check
is there for an attack that a token alone, or a header alone, does not stop: Host against names that
were made to lead here, Origin and Content-Type against pages that post without asking first.
"""

from __future__ import annotations

from hmac import compare_digest

import anyio
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ltm.surfaces.http.doors import Doors

MOST = 1024 * 1024
"""Bytes of a message. Hooks keep a longer one themselves."""

PATIENCE = 10.0
"""Seconds in which a message must have arrived."""

CHALLENGE = b"ltm-challenge"
"""The header with which `GET /proof` asks who we are, before anything else is told us."""

PROOF = b"ltm-proof"
"""The header by which the sender knows that it asked us, and not who took our port after us."""

_ALWAYS = ((b"cache-control", b"no-store"), (b"x-content-type-options", b"nosniff"))


class Guard:
    """An application, behind all checks."""

    def __init__(self, app: ASGIApp, doors: Doors, token: str, challenge: str, proof: str) -> None:
        self.app = app
        self._challenge = challenge.encode()
        self._hosts = {each.encode() for each in doors.hosts}
        self._origins = {each.encode() for each in doors.origins}
        self._token = token.encode()
        self._headers = [*_ALWAYS, (PROOF, proof.encode())]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request, or refuse it with a status and no word."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        status = self._refusal(scope)
        body = b""
        if not status:
            body, status = await _body(receive)
        if status:
            await _refuse(send, status)
            return
        if self._is_challenge(scope):
            await send({"type": "http.response.start", "status": 204, "headers": self._headers})
            await send({"type": "http.response.body", "body": b""})
            return
        waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

        async def replayed() -> Message:
            return waiting.pop() if waiting else await receive()

        async def marked(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), *self._headers]
            await send(message)

        await self.app(scope, replayed, marked)

    def _refusal(self, scope: Scope) -> int:
        """The status with which a request is refused, by its headers alone; 0 when it is not."""
        # A target with a host of its own would make the Host header mean nothing.
        if not scope["path"].startswith("/") or _only(scope, b"host") not in self._hosts:
            return 403
        if _has(scope, b"origin") and _only(scope, b"origin") not in self._origins:
            return 403
        if self._is_challenge(scope):
            return 0
        scheme, _, token = _only(scope, b"authorization").partition(b" ")
        # Compared in any case, and in the same time whatever is wrong with it.
        if not compare_digest(token.strip(), self._token) or scheme.lower() != b"bearer":
            return 401
        kind = _only(scope, b"content-type").partition(b";")[0].strip().lower()
        if scope["method"] == "POST" and kind != b"application/json":
            return 415
        length = _only(scope, b"content-length")
        return 413 if length.isdigit() and int(length) > MOST else 0

    def _is_challenge(self, scope: Scope) -> bool:
        """Whether a client that knows our secrets asks for proof that we do."""
        is_asked = scope["method"] == "GET" and scope["path"] == "/proof"
        return is_asked and compare_digest(_only(scope, CHALLENGE), self._challenge)


def _has(scope: Scope, name: bytes) -> bool:
    return any(key == name for key, _ in scope["headers"])


def _only(scope: Scope, name: bytes) -> bytes:
    """The value of a header that is there once; nothing when it is missing or there twice."""
    found = [value for key, value in scope["headers"] if key == name]
    return bytes(found[0]) if len(found) == 1 else b""


async def _body(receive: Receive) -> tuple[bytes, int]:
    """A message's whole body, or the status with which it is refused."""
    body = bytearray()
    with anyio.move_on_after(PATIENCE):
        while True:
            message = await receive()
            if message["type"] != "http.request":
                return b"", 400  # the sender is gone
            body += message.get("body", b"")
            if len(body) > MOST:
                return b"", 413
            if not message.get("more_body", False):
                return bytes(body), 0
    return b"", 408


async def _refuse(send: Send, status: int) -> None:
    headers = [*_ALWAYS, (b"content-length", b"0")]
    # What was not read of a message is not going to be.
    headers.append((b"connection", b"close"))
    if status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": b""})
