"""A model's server at an address the user named: one exchange with it, whatever is asked.

Owns what must hold for every exchange: one deadline for all of it, name lookup included; an answer
is read up to a limit; a redirect is not followed, so the key goes to the server the user named and
to no other; what is on this machine is not asked for by way of a proxy; and what each way of
failing means. Imports the standard library and core.
"""

from __future__ import annotations

import json
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from http.client import HTTPException
from typing import Any
from urllib.parse import urlsplit

from ltm.core.errors import BadAnswer, ModelBusy, ModelFailed
from ltm.core.redact import redacted

_BUSY = (408, 409, 425, 429)
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


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
        self._opener = _DIRECT if self.host in _LOOPBACK else _OPENER
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
        answer = self._within(timeout, lambda: self._exchange(request, timeout, largest, hints))
        if len(answer) > largest:
            raise BadAnswer(f"{self.host} answered with more than {largest:,} bytes")
        return answer

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
                raise self._refused(error.code, error.read(4_096), hints) from None
        except (OSError, HTTPException, ValueError) as error:
            if isinstance(error, TimeoutError):
                raise self._too_slow(timeout) from None
            reason = getattr(error, "reason", error)
            raise ModelBusy(
                f"{self.host} cannot be reached: {self._safe(str(reason))}", cost=0
            ) from None

    def _within(self, seconds: float, work: Callable[[], bytes]) -> bytes:
        """What `work` gives or raises, unless it takes too long; then it is abandoned."""
        done: list[bytes] = []
        failed: list[BaseException] = []

        def run() -> None:
            try:
                done.append(work())
            except BaseException as error:
                failed.append(error)

        # A thread, because neither the lookup of a name nor a server that sends a byte now and
        # then knows any deadline.
        thread = threading.Thread(target=run, name="ltm-ask", daemon=True)
        thread.start()
        thread.join(seconds)
        if failed:
            raise failed[0]
        if not done:
            raise self._too_slow(seconds)
        return done[0]

    def _too_slow(self, seconds: float) -> ModelFailed:
        return ModelFailed(
            f"{self.host} gave no answer within {seconds:g} seconds",
            hint=f"ltm config {self._options}.timeout SECONDS gives it more time",
        )

    def _refused(self, code: int, body: bytes, hints: Mapping[int, str]) -> ModelFailed:
        failure = ModelBusy if code in _BUSY or code >= 500 else ModelFailed
        said = self._safe(_error_in(body))
        return failure(
            f"{self.host} refused with {code}{f': {said}' if said else ''}",
            hint=hints.get(code, ""),
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


def _error_in(body: bytes) -> str:
    try:
        said = json.loads(body)["error"]["message"]
    except (ValueError, RecursionError, KeyError, TypeError):
        return ""
    return said if isinstance(said, str) else ""
