"""The Messages API of Anthropic, and of every server that speaks it, such as a local one.

Owns the request and what counts as an answer. Imports the standard library, core and this package.
"""

from __future__ import annotations

import json

from ltm.core.errors import BadAnswer
from ltm.llm.backend import Answer
from ltm.llm.server import Server

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
        return _answer(
            self._server.post(
                "/v1/messages", body, headers, timeout=timeout, largest=LARGEST, hints=_HINTS
            )
        )


def _answer(data: bytes) -> Answer:
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
    parts = (
        "input_tokens",
        "output_tokens",
        "cache_creation_input_tokens",
        "cache_read_input_tokens",
    )
    counts = [usage.get(part) for part in parts]
    numbers = [each for each in counts if type(each) is int and each >= 0]
    return sum(numbers) if numbers else None
