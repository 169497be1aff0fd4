"""Who may see the page: a browser that came through the one-time link, and acts from our own pages.

The link holds a token that is good once. It is answered with a cookie that no script can read and
that no other site's request carries. So no later address holds a secret.

A request of another site is refused by what the browser says about it (`Sec-Fetch-Site`, `Origin`),
and a change needs the token that stands in our own forms, too. The policy in every answer lets a
page run our own files only: a text that is shown can run and fetch nothing.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from hmac import compare_digest
from http.cookies import CookieError, SimpleCookie

from starlette.types import ASGIApp, Scope, Send

from ltm.http.address import AllowedNames
from ltm.http.guard import HostGuard, only

ENTER = "/enter/"
LINK_SECONDS = 10 * 60
"""How long the link of `ltm ui` is good."""

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self';"
    " img-src 'self' data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS = (
    (b"content-security-policy", _POLICY.encode()),
    # With `no-referrer` a browser says of our own forms that they come from nowhere.
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
)
_WORDS = {
    400: "The request broke off.",
    401: "This page needs the link that 'ltm ui' prints, which is good once. Type: ltm ui",
    403: "Refused: the request does not come from this page.",
    405: "Refused: a page is read, and a form is sent.",
    408: "The request took too long.",
    413: "Refused: that is too long.",
    415: "Refused: this is not a form of this page.",
}
_FORM = b"application/x-www-form-urlencoded"


class EntryLink:
    """The link that lets a browser in, and the cookies of those that came."""

    def __init__(
        self, address: str, *, seconds: float | None = None, used: Callable[[], None] | None = None
    ) -> None:
        """`seconds` is how long the link is good; `used` is called when a browser came in."""
        self._address = address
        self._until = None if seconds is None else time.monotonic() + seconds
        self._used = used
        self._token = secrets.token_urlsafe(32)
        self._cookies: set[str] = set()
        self.name = f"ltm-{address.rpartition(':')[2]}"
        """The cookie's name: browsers keep one jar for all ports of a machine."""

    @property
    def address(self) -> str:
        return f"{self._address}{ENTER}{self._token}"

    def use(self, token: str) -> str:
        """The cookie for a browser that brings the link's token; '' for any other."""
        is_late = self._until is not None and time.monotonic() > self._until
        if not self._token or is_late or not compare_digest(token.encode(), self._token.encode()):
            return ""
        # Where nothing ends the link, another takes its place.
        self._token = "" if self._used is None else secrets.token_urlsafe(32)
        cookie = secrets.token_urlsafe(32)
        self._cookies.add(cookie)
        if self._used is not None:
            self._used()
        return cookie

    def admits(self, header: bytes) -> bool:
        """Whether a Cookie header holds a cookie that was given out."""
        try:
            found = SimpleCookie(header.decode("latin-1")).get(self.name)
        except CookieError:
            return False
        value = found.value.encode("utf-8", "replace") if found else b""
        return any(compare_digest(value, each.encode()) for each in self._cookies)


class BrowserGuard(HostGuard):
    most = 4 * 1024 * 1024
    """A memory may have 200,000 characters, and a form spells many of them with several."""

    def __init__(self, app: ASGIApp, names: AllowedNames, entry: EntryLink) -> None:
        super().__init__(app, names, _HEADERS)
        self._entry = entry

    def stranger(self, scope: Scope) -> int:
        """Refuse other sites, browsers without the cookie, and what is not a form."""
        method, names = scope["method"], {name for name, _ in scope["headers"]}
        site = only(scope, b"sec-fetch-site")
        changes = method == "POST"
        if b"sec-fetch-site" in names:
            if site != b"same-origin" and (changes or site != b"none"):
                return 403
        elif changes and b"origin" not in names:
            return 403
        if method not in ("GET", "HEAD", "POST"):
            return 405
        if method == "GET" and scope["path"].startswith(ENTER):
            return 0
        if not self._entry.admits(only(scope, b"cookie")):
            return 401
        kind = only(scope, b"content-type").partition(b";")[0].strip().lower()
        return 415 if changes and kind != _FORM else 0

    async def refuse(self, scope: Scope, send: Send, status: int) -> None:
        """Answer with a sentence: a browser would show a page of its own for none."""
        body = f"{_WORDS.get(status, 'Refused.')}\n".encode()
        headers = [
            *self.headers,
            (b"content-type", b"text/plain; charset=utf-8"),
            (b"content-length", str(len(body)).encode()),
            (b"connection", b"close"),
        ]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})
