"""A small identity provider on loopback: metadata, keys, the code flow with PKCE, introspection.

It signs in the person it is told to, without asking, as a test cannot type a password.
"""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa
from jwt.algorithms import RSAAlgorithm

CLIENT, SECRET = "ltm-server", "s3cret"


class Issuer:
    """An authorization server (RFC 8414, 7591, 7636, 8707, 9068, 7662)."""

    def __init__(self) -> None:
        self.subject = "4711"
        self.scopes = ["ltm:read"]
        """What the person consents to; asked for again, whatever is asked."""
        self.keys = [self._new_key("one")]
        self.asked: list[str] = []
        """The paths that were asked for."""
        self.resources: list[str] = []
        self._codes: dict[str, dict[str, str]] = {}
        issuer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                issuer._answer(self, {})

            def do_POST(self) -> None:
                data = self.rfile.read(int(self.headers.get("content-length", 0)))
                kind = self.headers.get("content-type", "")
                form = (
                    json.loads(data)
                    if "json" in kind
                    else {name: values[0] for name, values in parse_qs(data.decode()).items()}
                )
                issuer._answer(self, form)

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    @staticmethod
    def _new_key(name: str) -> tuple[str, rsa.RSAPrivateKey]:
        return name, rsa.generate_private_key(public_exponent=65537, key_size=2048)

    def rotate(self) -> None:
        """Sign with a new key from now on."""
        self.keys.append(self._new_key(f"key-{len(self.keys)}"))

    def token(
        self,
        audience: str,
        scope: str = "ltm:read",
        *,
        key: Any = None,
        kind: str = "RS256",
        **said: Any,
    ) -> str:
        """An access token; a claim that is None is left out."""
        name, private = self.keys[-1]
        now = int(time.time())
        claims = {
            "iss": self.url,
            "sub": self.subject,
            "aud": audience,
            "iat": now,
            "exp": now + 600,
            "scope": scope,
            **said,
        }
        claims = {name: value for name, value in claims.items() if value is not None}
        return jwt.encode(claims, key or private, algorithm=kind, headers={"kid": name})

    # -- requests --------------------------------------------------------------------------------

    def _answer(self, request: BaseHTTPRequestHandler, form: dict[str, Any]) -> None:
        url = urlsplit(request.path)
        query = {name: values[0] for name, values in parse_qs(url.query).items()}
        self.asked.append(url.path)
        status, said, place = 200, {}, ""
        match url.path:
            case "/.well-known/oauth-authorization-server":
                said = self._metadata()
            case "/keys":
                said = {"keys": [self._public(*each) for each in self.keys]}
            case "/register":
                said = {**form, "client_id": "some-client"}
                status = 201
            case "/authorize":
                code = secrets.token_urlsafe(16)
                self._codes[code] = query
                self.resources.append(query.get("resource", ""))
                back = {"code": code, "state": query.get("state", ""), "iss": self.url}
                place = f"{query['redirect_uri']}?{urlencode(back)}"
                status = 302
            case "/token":
                status, said = self._exchange(form)
            case "/introspect":
                status, said = self._introspect(request, form)
            case _:
                status = 404
        data = json.dumps(said).encode()
        request.send_response(status)
        if place:
            request.send_header("location", place)
        request.send_header("content-type", "application/json")
        request.send_header("content-length", str(len(data)))
        request.end_headers()
        request.wfile.write(data)

    def _metadata(self) -> dict[str, Any]:
        return {
            "issuer": self.url,
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
            "registration_endpoint": f"{self.url}/register",
            "jwks_uri": f"{self.url}/keys",
            "response_types_supported": ["code"],
            "grant_types_supported": ["authorization_code"],
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": ["none"],
            "scopes_supported": ["ltm:read", "ltm:write", "ltm:curate"],
            "authorization_response_iss_parameter_supported": True,
        }

    @staticmethod
    def _public(name: str, key: rsa.RSAPrivateKey) -> dict[str, Any]:
        made: dict[str, Any] = RSAAlgorithm.to_jwk(key.public_key(), as_dict=True)
        return {**made, "kid": name, "use": "sig", "alg": "RS256"}

    def _exchange(self, form: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        asked = self._codes.pop(str(form.get("code")), None)
        digest = hashlib.sha256(str(form.get("code_verifier")).encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        if asked is None or challenge != asked.get("code_challenge"):
            return 400, {"error": "invalid_grant"}
        scope = asked.get("scope") or " ".join(self.scopes)
        token = self.token(asked.get("resource", ""), scope)
        return 200, {
            "access_token": token,
            "token_type": "Bearer",
            "expires_in": 600,
            "scope": scope,
        }

    def _introspect(
        self, request: BaseHTTPRequestHandler, form: dict[str, Any]
    ) -> tuple[int, dict[str, Any]]:
        login = base64.b64encode(f"{CLIENT}:{SECRET}".encode()).decode()
        if request.headers.get("authorization") != f"Basic {login}":
            return 401, {}
        try:
            said = jwt.decode(form["token"], options={"verify_signature": False})
        except jwt.PyJWTError:
            return 200, {"active": False}
        return 200, {**said, "active": said["exp"] > time.time()}
