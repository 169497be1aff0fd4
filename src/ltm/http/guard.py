"""The guard in front of an application: no request is served by accident.

It wraps the whole application, later routes included. A refusal of a program is a bare status. Each
check stops an attack that a secret alone does not: Host against DNS rebinding, Origin and
Content-Type against pages that post without a preflight.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from hmac import compare_digest

import anyio
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ltm.http.address import AllowedNames

MOST = 1024 * 1024
"""Bytes of a message. Hooks keep a longer one themselves."""

PATIENCE = 10.0
"""Seconds in which a message must have arrived."""

CHALLENGE = b"ltm-challenge"
"""The header with which `GET /proof` asks who we are, before it sends anything else."""

PROOF = b"ltm-proof"
"""The header by which the sender knows that it asked us, and not who took our port after us."""

_ALWAYS = ((b"cache-control", b"no-store"), (b"x-content-type-options", b"nosniff"))


class HostGuard(ABC):
    """An application, behind the checks that every client passes; `stranger` says who is served."""

    most = MOST
    """Bytes of a message."""

    def __init__(
        self, app: ASGIApp, names: AllowedNames, headers: Sequence[tuple[bytes, bytes]]
    ) -> None:
        """`headers` are what every answer has, a refusal too."""
        self.app = app
        self.headers = [*_ALWAYS, *headers]
        self._hosts = {each.encode() for each in names.hosts}
        self._origins = {each.encode() for each in names.origins}

    @abstractmethod
    def stranger(self, scope: Scope) -> int:
        """The status with which a client is refused that named the right host; 0 for none."""

    async def answered(self, scope: Scope, send: Send) -> bool:
        """Answer what the guard itself knows; whether it was that."""
        return False

    async def refuse(self, scope: Scope, send: Send, status: int) -> None:
        """Answer with a status and no word."""
        await _refuse(send, status)

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
            body, status = await _body(receive, self.most)
        if status:
            await self.refuse(scope, send, status)
            return
        if await self.answered(scope, send):
            return
        waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

        async def replayed() -> Message:
            return waiting.pop() if waiting else await receive()

        async def marked(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), *self.headers]
            await send(message)

        await self.app(scope, replayed, marked)

    def _refusal(self, scope: Scope) -> int:
        """The status with which a request is refused, by its headers alone; 0 when it is not."""
        # A target with a host of its own would make the Host header mean nothing.
        if not scope["path"].startswith("/") or only(scope, b"host") not in self._hosts:
            return 403
        if (
            any(key == b"origin" for key, _ in scope["headers"])
            and only(scope, b"origin") not in self._origins
        ):
            return 403
        status = self.stranger(scope)
        if status:
            return status
        length = only(scope, b"content-length")
        return 413 if length.isdigit() and int(length) > self.most else 0


class Guard(HostGuard):
    """The guard of hooks and MCP: the token of `server.json` says who is served."""

    def __init__(
        self, app: ASGIApp, names: AllowedNames, token: str, challenge: str, proof: str
    ) -> None:
        super().__init__(app, names, [(PROOF, proof.encode())])
        self._challenge = challenge.encode()
        self._token = token.encode()

    def stranger(self, scope: Scope) -> int:
        """Refuse a client without the token, and what a page could post without asking first."""
        if self._is_challenge(scope):
            return 0
        scheme, _, token = only(scope, b"authorization").partition(b" ")
        # Compared in any case, and in the same time whatever is wrong with it.
        if not compare_digest(token.strip(), self._token) or scheme.lower() != b"bearer":
            return 401
        kind = only(scope, b"content-type").partition(b";")[0].strip().lower()
        return 415 if scope["method"] == "POST" and kind != b"application/json" else 0

    async def answered(self, scope: Scope, send: Send) -> bool:
        """Give a client that knows our secrets the proof that we do."""
        if not self._is_challenge(scope):
            return False
        await send({"type": "http.response.start", "status": 204, "headers": self.headers})
        await send({"type": "http.response.body", "body": b""})
        return True

    def _is_challenge(self, scope: Scope) -> bool:
        """Whether a client that knows our secrets asks for proof that we do."""
        is_asked = scope["method"] == "GET" and scope["path"] == "/proof"
        return is_asked and compare_digest(only(scope, CHALLENGE), self._challenge)


def only(scope: Scope, name: bytes) -> bytes:
    """The value of a header that is there once; nothing when it is missing or there twice."""
    found = [value for key, value in scope["headers"] if key == name]
    return bytes(found[0]) if len(found) == 1 else b""


async def _body(receive: Receive, most: int) -> tuple[bytes, int]:
    """A message's whole body, or the status with which it is refused."""
    body = bytearray()
    with anyio.move_on_after(PATIENCE):
        while True:
            message = await receive()
            if message["type"] != "http.request":
                return b"", 400  # the sender is gone
            body += message.get("body", b"")
            if len(body) > most:
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
