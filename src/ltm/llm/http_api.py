"""The Messages API of Anthropic and of every server that speaks it: keys, requests, answers.

The key is the first found of ANTHROPIC_API_KEY, `api_key` in LTM_HOME, the config of memory-mcp,
`~/.config/anthropic/api_key` and `~/.anthropic/api_key`. It is never asked for, shown, logged or
written, and no repository is looked into.

What holds for every exchange with a `Server`: one deadline for all of it, name lookup included; an
answer is read up to a limit; a redirect is not followed, so the key goes to the server the user
named and to no other; what is on this machine is not asked for by way of a proxy.
"""

from __future__ import annotations

import json
import os
import stat
import threading
import urllib.error
import urllib.request
from collections.abc import Mapping
from http.client import HTTPException
from typing import Any
from urllib.parse import urlsplit

from ltm.errors import BadAnswer, ModelBusy, ModelFailed
from ltm.files.atomic import read_plain
from ltm.llm.backend import Answer
from ltm.redact.redact import redacted

KEY_FILE = "api_key"
KEY_VARIABLE = "ANTHROPIC_API_KEY"

BASE_URL = "https://api.anthropic.com"
MODEL = "claude-haiku-4-5"
"""A small model of the API's, unless the user names another."""

LARGEST = 1024 * 1024
"""Bytes of a response that are read."""

_VERSION = "2023-06-01"
_HINTS = {
    401: "the key comes from ANTHROPIC_API_KEY or the file api_key in LTM_HOME",
    403: "the key comes from ANTHROPIC_API_KEY or the file api_key in LTM_HOME",
    404: "name another model with: ltm config llm.model NAME",
}
_OTHERS = (
    os.path.join(".memory-mcp", "config.json"),
    os.path.join(".config", "anthropic", "api_key"),
    os.path.join(".anthropic", "api_key"),
)
_LIMIT = 64 * 1024  # bytes of a file with a key
_BUSY = (408, 409, 425, 429)
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


class MessagesApi:
    """A server that answers `POST /v1/messages`."""

    overhead = 50

    def __init__(self, base_url: str, key: str, model: str) -> None:
        hint = "set llm.base_url or ANTHROPIC_BASE_URL, as http://127.0.0.1:8080"
        self._server = Server(base_url or BASE_URL, key, options="llm", hint=hint)
        self._key = key
        self._model = model or MODEL

    def ask(self, system: str, prompt: str, *, most: int, timeout: float) -> Answer:
        """One request, and what the model answers to it."""
        body = {
            "model": self._model,
            "max_tokens": most,
            "system": system,
            "messages": [{"role": "user", "content": prompt}],
        }
        headers = {"anthropic-version": _VERSION}
        if self._key:
            headers["x-api-key"] = self._key
        data = self._server.post(
            "/v1/messages", body, headers, timeout=timeout, largest=LARGEST, hints=_HINTS
        )
        try:
            message = json.loads(data)
            blocks = [block for block in message["content"] if block.get("type") == "text"]
            text = "".join(block["text"] for block in blocks)
        except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
            raise BadAnswer("the response is not a message of the Messages API") from None
        return Answer(text, tokens_in(message.get("usage")))


def tokens_in(usage: object) -> int | None:
    """What a message cost, by its own account; what was read from a cache counts as well."""
    if not isinstance(usage, dict):
        return None
    parts = ("input", "output", "cache_creation_input", "cache_read_input")
    counts = [usage.get(f"{part}_tokens") for part in parts]
    numbers = [each for each in counts if type(each) is int and each >= 0]
    return sum(numbers) if numbers else None


def find_key(home: str, environ: Mapping[str, str]) -> str:
    """The key, or '' when there is none: a server of one's own may need none."""
    given = environ.get(KEY_VARIABLE, "").strip()
    if given:
        return given
    own = os.path.join(home, KEY_FILE)
    found = _in_file(own)
    if found:
        if os.name != "nt" and stat.S_IMODE(os.stat(own).st_mode) & 0o077:
            raise ModelFailed(
                f"others can read the key in {own}, so it is not used",
                hint=f"type: chmod 600 {own}",
                cost=0,
            )
        return found
    user = environ.get("USERPROFILE" if os.name == "nt" else "HOME", "")
    if not os.path.isabs(user):
        return ""
    return next(filter(None, (_in_file(os.path.join(user, each)) for each in _OTHERS)), "")


def _in_file(path: str) -> str:
    try:
        text = read_plain(path, limit=_LIMIT).decode("utf-8").strip()
    except (OSError, ValueError):
        return ""
    if not path.endswith(".json"):
        return text if text.isprintable() else ""
    try:
        values = json.loads(text)
    except (ValueError, RecursionError):
        return ""
    key = values.get("apiKey") if isinstance(values, dict) else None
    return key.strip() if isinstance(key, str) else ""


class Server:
    """A server that answers POST. `options` is the group of options that sets it up, as `llm`."""

    def __init__(self, base_url: str, key: str, *, options: str, hint: str) -> None:
        address = urlsplit(base_url)
        self.host = address.hostname or ""
        self._base = address.geturl().rstrip("/").removesuffix("/v1")
        self._key = key
        self._options = options
        if address.scheme not in ("http", "https") or not self.host:
            raise ModelFailed(
                "the address of the model's server is none of http or https", hint=hint, cost=0
            )
        self._opener = opener_for(self.host)
        if address.scheme != "https" and key and self.host not in _LOOPBACK:
            raise ModelFailed(
                f"the key is not sent to {self.host} over plain http",
                hint=f"set {options}.base_url to an https address",
                cost=0,
            )

    def post(
        self,
        path: str,
        body: object,
        headers: Mapping[str, str],
        *,
        timeout: float,
        largest: int,
        hints: Mapping[int, str],
    ) -> bytes:
        """What the server answers; `hints` says what to type next when it refuses with a code."""
        # Half a character, as texts that were cut end with, makes a server refuse all of it.
        data = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
        request = urllib.request.Request(  # noqa: S310 - http(s) only, see above
            self._base + path,
            data,
            {"content-type": "application/json", **headers},
            method="POST",
        )
        done: list[bytes] = []
        failed: list[BaseException] = []

        def run() -> None:
            try:
                done.append(self._exchange(request, timeout, largest, hints))
            except BaseException as error:
                failed.append(error)

        # A thread, because neither the lookup of a name nor a server that sends a byte now and
        # then knows any deadline. One that takes too long is abandoned.
        thread = threading.Thread(target=run, name="ltm-ask", daemon=True)
        thread.start()
        thread.join(timeout)
        if failed:
            raise failed[0]
        if not done:
            raise self._too_slow(timeout)
        if len(done[0]) > largest:
            raise BadAnswer(f"{self.host} answered with more than {largest:,} bytes")
        return done[0]

    def _exchange(
        self,
        request: urllib.request.Request,
        timeout: float,
        largest: int,
        hints: Mapping[int, str],
    ) -> bytes:
        try:
            with self._opener.open(request, timeout=timeout) as response:
                data: bytes = response.read(largest + 1)
                return data
        except urllib.error.HTTPError as error:
            with error:
                try:
                    said = self._safe(str(json.loads(error.read(4_096))["error"]["message"]))
                except (ValueError, RecursionError, KeyError, TypeError):
                    said = ""
            failure = ModelBusy if error.code in _BUSY or error.code >= 500 else ModelFailed
            raise failure(
                f"{self.host} refused with {error.code}{f': {said}' if said else ''}",
                hint=hints.get(error.code, ""),
                cost=0,
            ) from None
        except (OSError, HTTPException, ValueError) as error:
            if isinstance(error, TimeoutError):
                raise self._too_slow(timeout) from None
            reason = getattr(error, "reason", error)
            raise ModelBusy(
                f"{self.host} cannot be reached: {self._safe(str(reason))}", cost=0
            ) from None

    def _too_slow(self, seconds: float) -> ModelFailed:
        return ModelFailed(
            f"{self.host} gave no answer within {seconds:g} seconds",
            hint=f"ltm config {self._options}.timeout SECONDS gives it more time",
        )

    def _safe(self, text: str) -> str:
        """What a server says about an error, without the key if it quotes that."""
        text = text.replace(self._key, "[key]") if self._key else text
        return " ".join(redacted(text).split())[:200]


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *args: Any, **more: Any) -> None:
        """None: the answer itself, which is an error to us."""


def opener_for(host: str) -> urllib.request.OpenerDirector:
    """What opens addresses of a host: past any proxy on this machine, and never elsewhere than
    asked, because a key or token would go along."""
    return _DIRECT if is_this_machine(host) else _OPENER


def is_this_machine(host: str) -> bool:
    """Whether a host is this machine, to which plain http may be spoken."""
    return host in _LOOPBACK


_OPENER = urllib.request.build_opener(_NoRedirects)
_DIRECT = urllib.request.build_opener(_NoRedirects, urllib.request.ProxyHandler({}))
