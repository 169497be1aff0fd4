"""Who a request to a team's server is from: static tokens, and OAuth 2.1 access tokens.

The server is a resource server and issues no access tokens: those come from the company's identity
provider, whose metadata (RFC 9728) says where. A JSON web token is checked with the keys of its
issuer, any other by asking the issuer (RFC 7662). Issuer and subject name a person whom an owner
has invited: a token alone makes no one a member.
"""

from __future__ import annotations

import base64
import json
import time
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from threading import Lock
from typing import Any, Protocol
from urllib.parse import urlencode, urlsplit

import jwt

from ltm.errors import LtmError, Refused, WrongUsage
from ltm.llm.http_api import is_this_machine, opener_for
from ltm.record import NamedTuple

READ, WRITE, CURATE = "ltm:read", "ltm:write", "ltm:curate"
SCOPES = (READ, WRITE, CURATE)
"""What a token may allow, each with what stands before it."""

STATIC_PREFIX = "ltm_"
"""How a static token begins, so that scanners for secrets know it."""

ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "EdDSA")
"""How a token may be signed: with keys that only the issuer has."""

LEEWAY = 30
"""Seconds that clocks may differ."""

HOLDS, AGAIN = 3600, 60
"""Seconds that the keys of an issuer hold, and after which they are asked for again at the most
often, because of a key that is not known."""

_INTROSPECTED = 30  # seconds that the answer about a token holds
_MOST_INTROSPECTED = 10_000
_TIMEOUT = 5.0
_LARGEST = 1024 * 1024
_LONGEST = 16_384  # characters of a token


class Bearer(NamedTuple):
    """What a valid token says."""

    issuer: str
    """'' for a static token."""
    subject: str
    """The token itself if it is a static one."""
    scopes: frozenset[str]


class TokenVerifier(Protocol):
    """Checks the access tokens of one issuer."""

    def verify(self, token: str, resource: str) -> Bearer | None:
        """What a token says that was made for a resource or all of the server; else None."""


def scopes_of(said: object) -> frozenset[str]:
    """The scopes of a token; one that allows more allows what stands before it too."""
    words = said.split() if isinstance(said, str) else said if isinstance(said, list) else []
    most = max((SCOPES.index(each) for each in words if each in SCOPES), default=-1)
    return frozenset(SCOPES[: most + 1])


def challenge(metadata: str, scope: str, error: str = "") -> str:
    """The header that says what a client lacks; without `metadata` it has nowhere to go."""
    parts = [f'error="{error}"'] if error else []
    if metadata:
        parts += [f'scope="{scope}"', f'resource_metadata="{metadata}"']
    elif error == "insufficient_scope":
        parts.append(f'scope="{scope}"')
    return f"Bearer {', '.join(parts)}".rstrip()


class _IssuerKeys:
    """The public keys of an issuer, kept for an hour."""

    def __init__(self, address: Callable[[], str], clock: Callable[[], float]) -> None:
        self._address = address
        self._clock = clock
        self._keys: dict[str, jwt.PyJWK] = {}
        self._asked: float | None = None
        self._lock = Lock()

    def find(self, name: str) -> jwt.PyJWK | None:
        """The key of a name; asked for once a minute at the most."""
        with self._lock:
            passed = None if self._asked is None else self._clock() - self._asked
            if passed is None or passed >= HOLDS or (name not in self._keys and passed >= AGAIN):
                self._asked = self._clock()
                # If the issuer cannot be reached, the keys that are known hold on.
                self._keys = self._fetched() or self._keys
            return self._keys.get(name)

    def _fetched(self) -> dict[str, jwt.PyJWK]:
        found: dict[str, jwt.PyJWK] = {}
        try:
            keys = fetch(self._address()).get("keys")
        except (LtmError, OSError, ValueError):
            return {}
        for each in keys if isinstance(keys, list) else []:
            try:
                if each.get("use", "sig") == "sig" and each.get("kty") != "oct":
                    found[str(each.get("kid", ""))] = jwt.PyJWK(each)
            except (jwt.PyJWTError, AttributeError):
                continue  # of a kind that is not known here
        return found


class SignedTokens:
    """JSON web tokens (RFC 9068), checked with the keys of their issuer."""

    def __init__(
        self,
        issuer: str,
        audiences: Sequence[str] = (),
        keys: str = "",
        *,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`audiences` are accepted next to the resource that is asked for. `keys` is the address
        of the issuer's keys; its metadata names it, if it is not given."""
        self._issuer = checked_address(issuer)
        self._audiences = list(audiences)
        self._keys_at = checked_address(keys) if keys else ""
        self._keys = _IssuerKeys(self._address_of_keys, clock)

    def verify(self, token: str, resource: str) -> Bearer | None:
        """What a token says that was made for a resource or all of the server; else None."""
        try:
            head = jwt.get_unverified_header(token)
            key = self._keys.find(str(head.get("kid", "")))
            if key is None or head.get("alg") not in ALGORITHMS:
                return None
            said = jwt.decode(
                token,
                key,
                algorithms=list(ALGORITHMS),
                audience=[*self._audiences, resource],
                issuer=self._issuer,
                leeway=LEEWAY,
                options={"require": ["exp", "iss", "sub", "aud"]},
            )
        except jwt.PyJWTError:
            return None
        return Bearer(self._issuer, str(said["sub"]), scopes_of(said.get("scope", said.get("scp"))))

    def _address_of_keys(self) -> str:
        if not self._keys_at:
            said = str(issuer_metadata(self._issuer).get("jwks_uri", ""))
            self._keys_at = checked_address(said)
        return self._keys_at


class IntrospectedTokens:
    """Tokens of any form, checked by asking their issuer (RFC 7662)."""

    def __init__(
        self,
        issuer: str,
        audiences: Sequence[str],
        address: str,
        client: str,
        secret: str,
        *,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`client` and `secret` are ours at the issuer."""
        self._issuer = checked_address(issuer)
        self._audiences = frozenset(audiences)
        self._address = checked_address(address)
        login = base64.b64encode(f"{client}:{secret}".encode()).decode("ascii")
        self._headers = {"Authorization": f"Basic {login}"} if client else {}
        self._clock = clock
        self._known: dict[str, tuple[float, Bearer | None]] = {}

    def verify(self, token: str, resource: str) -> Bearer | None:
        """What a token says that was made for a resource or all of the server; else None."""
        name, now = sha256(f"{resource} {token}".encode()).hexdigest(), self._clock()
        until, bearer = self._known.get(name, (0.0, None))
        if now >= until:
            try:
                said = fetch(self._address, {"token": token}, self._headers)
            except (LtmError, OSError, ValueError):
                return None
            bearer, until = self._read(said, resource, now)
            if len(self._known) >= _MOST_INTROSPECTED:
                self._known.clear()
            self._known[name] = until, bearer
        return bearer

    def _read(
        self, said: Mapping[str, Any], resource: str, now: float
    ) -> tuple[Bearer | None, float]:
        until = now + _INTROSPECTED
        expires, subject, audience = said.get("exp"), said.get("sub"), said.get("aud")
        named = {audience} if isinstance(audience, str) else {*map(str, audience or ())}
        is_valid = (
            said.get("active") is True
            and isinstance(expires, int | float)
            and now < expires + LEEWAY
            and isinstance(subject, str)
            and bool(subject)
            and not named.isdisjoint({*self._audiences, resource})
            and said.get("iss", self._issuer) == self._issuer
            and now >= float(said.get("nbf") or 0) - LEEWAY
        )
        if not is_valid:
            return None, until
        assert isinstance(expires, int | float)
        bearer = Bearer(self._issuer, str(subject), scopes_of(said.get("scope")))
        return bearer, min(until, expires + LEEWAY)


def static(token: str) -> Bearer:
    """What a static token says: who it is of is for the database to know."""
    return Bearer("", token, frozenset(SCOPES))


def token_in(header: str) -> str:
    """The token of an `Authorization` header; '' if it has none."""
    scheme, _, token = header.partition(" ")
    token = token.strip()
    if scheme.lower() != "bearer" or not token.isascii() or len(token) > _LONGEST or " " in token:
        return ""
    return token


# -- addresses -------------------------------------------------------------------------------------


def checked_address(url: str) -> str:
    """An address that tokens and keys may be trusted to: https, or this machine."""
    parts = urlsplit(url)
    is_safe = parts.scheme == "https" or (
        parts.scheme == "http" and is_this_machine(parts.hostname or "")
    )
    if not is_safe or not parts.hostname or parts.username or parts.fragment:
        raise WrongUsage(f"'{url}' is not an https address", hint="give the https address")
    return url


def issuer_metadata(issuer: str) -> dict[str, Any]:
    """What an issuer says of itself: RFC 8414, or OpenID Connect."""
    parts = urlsplit(issuer)
    origin, path = f"{parts.scheme}://{parts.netloc}", parts.path.rstrip("/")
    places = (
        f"{origin}/.well-known/oauth-authorization-server{path}",
        f"{origin}{path}/.well-known/openid-configuration",
    )
    other = ""
    for place in places:
        try:
            said = fetch(place)
        except (OSError, ValueError):
            continue
        if said.get("issuer") == issuer:
            return said
        other = str(said.get("issuer") or other)
    if other:  # and so do its tokens, to the letter: some end with a slash
        raise Refused(f"{issuer} calls itself {other}", hint=f"give that name: --issuer {other}")
    raise Refused(f"{issuer} does not say where its keys are", hint="give the address with --keys")


def fetch(
    url: str, form: Mapping[str, str] | None = None, headers: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """The JSON object at an address."""
    request = urllib.request.Request(  # noqa: S310 - see `checked_address`
        checked_address(url),
        None if form is None else urlencode(form).encode("ascii"),
        {"Accept": "application/json", **(headers or {})},
    )
    with opener_for(urlsplit(url).hostname or "").open(request, timeout=_TIMEOUT) as response:
        said = json.loads(response.read(_LARGEST))
    if not isinstance(said, dict):
        raise ValueError("not an object")
    return said
