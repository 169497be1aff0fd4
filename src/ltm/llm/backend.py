"""Backend port, JSON answers.

What a backend is: something that answers a text with a text, and says what it cost.

Owns the port between `Model` and what stands behind it. A backend raises `ModelFailed` and its
kinds, never anything else, and never quotes a key or what it was asked. Standard library only.

The form an answer was asked in: one JSON value and nothing else.

Models wrap it in prose: then the one value of the form that was asked for is taken. They stop in
the middle, or say that a quota is used up: that is a `BadAnswer`; what was meant is never guessed.
Imports core only.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Protocol

from ltm.errors import BadAnswer

GUARD = "LTM_INSIDE"
"""Set in the environment of whatever a backend starts, so that none of our hooks wakes up in it."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a model said."""

    text: str
    tokens: int | None = None
    """What question and answer cost together; None when it does not say."""


class Backend(Protocol):
    """A way to a model."""

    overhead: int
    """Tokens it adds to every question on its own account."""

    def ask(self, system: str, prompt: str, *, most: int, timeout: float) -> Answer:
        """The answer to a prompt, of at most so many tokens, within so many seconds."""
        ...


_DECODER = json.JSONDecoder()
_MOST = 50  # places of an answer at which a value may begin


def array_in(answer: str) -> list[object]:
    """The one JSON array in an answer."""
    value = _value_in(answer, "[")
    if not isinstance(value, list):
        raise BadAnswer("the model answered in JSON of another form")
    return value


def object_in(answer: str) -> dict[str, object]:
    """The one JSON object in an answer."""
    value = _value_in(answer, "{")
    if not isinstance(value, dict):
        raise BadAnswer("the model answered in JSON of another form")
    return value


def _value_in(answer: str, opening: str) -> object:
    """The value an answer consists of, or the only one of a form that stands in its prose."""
    try:
        value: object = json.loads(answer.strip())
        return value
    except (ValueError, RecursionError):
        pass
    found: list[object] = []
    at, tries = answer.find(opening), 0
    while at >= 0 and tries < _MOST:
        tries += 1
        try:
            value, end = _DECODER.raw_decode(answer, at)
        except json.JSONDecodeError as error:
            if error.pos >= len(answer.rstrip()) or error.msg.startswith("Unterminated"):
                break  # it stops in the middle, and what stands inside is a part of it
            end = at + 1
        except (ValueError, RecursionError):
            end = at + 1
        else:
            found.append(value)
        at = answer.find(opening, end)
    if len(found) != 1:
        raise BadAnswer("the model did not answer in JSON")
    return found[0]
