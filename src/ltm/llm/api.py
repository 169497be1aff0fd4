"""The Messages API of Anthropic, and of every server that speaks it, such as a local one.

Owns the request and what each way of failing means. One deadline holds for the whole exchange, name
lookup included; an answer is read up to a limit; a redirect is not followed, so the key goes to the
server the user named and to no other. Imports the standard library, core and `backend`.
"""

from __future__ import annotations

import json
import threading
import urllib.error
import urllib.request
from http.client import HTTPException
from typing import Any
from urllib.parse import urlsplit

from ltm.core.errors import BadAnswer, ModelBusy, ModelFailed
from ltm.core.redact import redacted
from ltm.llm.backend import Answer

BASE_URL = "https://api.anthropic.com"
MODEL = "claude-haiku-4-5"
"""A small model of the API's, unless the user names another."""

LARGEST = 1024 * 1024
"""Bytes of a response that are read."""

_VERSION = "2023-06-01"
_BUSY = (408, 409, 425, 429)
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_HINTS = {
    401: "the key comes from ANTHROPIC_API_KEY or the file api_key in LTM_HOME",
    403: "the key comes from ANTHROPIC_API_KEY or the file api_key in LTM_HOME",
    404: "name another model with: ltm config llm.model NAME",
}


class Api:
    """A server that answers `POST /v1/messages`."""

    overhead = 50

    def __init__(self, base_url: str, key: str, model: str) -> None:
        address = urlsplit(base_url or BASE_URL)
        self._host = address.hostname or ""
        self._url = f"{address.geturl().rstrip('/').removesuffix('/v1')}/v1/messages"
        self._key = key
        self._model = model or MODEL
        if address.scheme not in ("http", "https") or not self._host:
            raise ModelFailed(
                "the address of the model's server is none of http or https",
                hint="set llm.base_url or ANTHROPIC_BASE_URL, as http://127.0.0.1:8080",
                cost=0,
            )
        # What is on this machine is not asked for by way of a proxy elsewhere.
        self._opener = _DIRECT if self._host in _LOOPBACK else _OPENER
        if address.scheme != "https" and key and self._host not in _LOOPBACK:
            raise ModelFailed(
                f"the key is not sent to {self._host} over plain http",
                hint="set llm.base_url to an https address",
                cost=0,
            )

    def ask(self, system: str, prompt: str, *, most: int, timeout: float) -> Answer:
        """One request, and what the model answers to it."""
        body = {
            "model": self._model,
            "max_tokens": most,
            "system": system,
            "messages": [{"role": "user", "content": prompt}],
        }
        headers = {"content-type": "application/json", "anthropic-version": _VERSION}
        if self._key:
            headers["x-api-key"] = self._key
        request = urllib.request.Request(  # noqa: S310 - http(s) only, see above
            self._url, json.dumps(body).encode(), headers, method="POST"
        )
        return _answer(_within(timeout, lambda: self._post(request, timeout), self._host))

    def _post(self, request: urllib.request.Request, timeout: float) -> bytes:
        try:
            with self._opener.open(request, timeout=timeout) as response:
                data: bytes = response.read(LARGEST + 1)
        except urllib.error.HTTPError as error:
            with error:
                raise self._refused(error.code, error.read(4_096)) from None
        except (OSError, HTTPException, ValueError) as error:
            if isinstance(error, TimeoutError):
                raise _too_slow(self._host, timeout) from None
            reason = getattr(error, "reason", error)
            raise ModelBusy(
                f"{self._host} cannot be reached: {self._safe(str(reason))}", cost=0
            ) from None
        if len(data) > LARGEST:
            raise BadAnswer(f"{self._host} answered with more than {LARGEST:,} bytes")
        return data

    def _refused(self, code: int, body: bytes) -> ModelFailed:
        failure = ModelBusy if code in _BUSY or code >= 500 else ModelFailed
        said = self._safe(_error_in(body))
        return failure(
            f"{self._host} refused with {code}{f': {said}' if said else ''}",
            hint=_HINTS.get(code, ""),
            cost=0,
        )

    def _safe(self, text: str) -> str:
        """What a server says about an error, without the key if it quotes that."""
        text = text.replace(self._key, "[key]") if self._key else text
        return " ".join(redacted(text).split())[:200]


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *args: Any, **more: Any) -> None:
        """None: the answer itself, which is an error to us."""


_OPENER = urllib.request.build_opener(_NoRedirects)
_DIRECT = urllib.request.build_opener(_NoRedirects, urllib.request.ProxyHandler({}))


def _within(seconds: float, work: Any, host: str) -> bytes:
    """What `work` gives or raises, unless it takes too long; then nobody waits for it any more."""
    done: list[bytes] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            done.append(work())
        except BaseException as error:
            failed.append(error)

    # A thread, because neither the lookup of a name nor a server that sends a byte now and then
    # knows any deadline.
    thread = threading.Thread(target=run, name="ltm-ask", daemon=True)
    thread.start()
    thread.join(seconds)
    if failed:
        raise failed[0]
    if not done:
        raise _too_slow(host, seconds)
    return done[0]


def _too_slow(host: str, seconds: float) -> ModelFailed:
    return ModelFailed(
        f"{host} gave no answer within {seconds:g} seconds",
        hint="ltm config llm.timeout SECONDS gives it more time",
    )


def _answer(data: bytes) -> Answer:
    try:
        message = json.loads(data)
        blocks = [block for block in message["content"] if block.get("type") == "text"]
        text = "".join(block["text"] for block in blocks)
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
        raise BadAnswer("what came back is no message of the Messages API") from None
    return Answer(text, tokens_in(message.get("usage")))


def tokens_in(usage: object) -> int | None:
    """What a message cost, by its own account; what was read from a cache counts as well."""
    if not isinstance(usage, dict):
        return None
    parts = (
        "input_tokens",
        "output_tokens",
        "cache_creation_input_tokens",
        "cache_read_input_tokens",
    )
    counts = [usage.get(part) for part in parts]
    numbers = [each for each in counts if type(each) is int and each >= 0]
    return sum(numbers) if numbers else None


def _error_in(body: bytes) -> str:
    try:
        said = json.loads(body)["error"]["message"]
    except (ValueError, RecursionError, KeyError, TypeError):
        return ""
    return said if isinstance(said, str) else ""
