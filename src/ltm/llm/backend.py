"""What a backend for a model is, and reading an answer that was asked for in JSON.

A backend raises `ModelFailed` and its kinds, never anything else, and never quotes a key or what it
was asked. Models wrap JSON in prose: then the one value of the form that was asked for is taken.
They stop in the middle, or say that a quota is used up: that is a `BadAnswer`; what was meant is
never guessed.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Protocol, TypeVar

from ltm.errors import BadAnswer

GUARD = "LTM_INSIDE"
"""Set in the environment of whatever a backend starts, so that LTM's hooks do nothing in it."""


_V = TypeVar("_V")
_DECODER = json.JSONDecoder()
_MOST = 50  # places of an answer at which a value may begin


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


def array_in(answer: str) -> list[object]:
    """The one JSON array in an answer."""
    return _value_in(answer, "[", list)


def object_in(answer: str) -> dict[str, object]:
    """The one JSON object in an answer."""
    return _value_in(answer, "{", dict)


def _value_in(answer: str, opening: str, form: type[_V]) -> _V:
    """The value an answer consists of, or the only one that stands in its prose."""
    try:
        found = [json.loads(answer)]
    except (ValueError, RecursionError):
        found = _values_in(answer, opening)
    if len(found) != 1:
        raise BadAnswer("the model did not answer in JSON")
    if not isinstance(found[0], form):
        raise BadAnswer("the model answered in JSON of another form")
    return found[0]


def _values_in(text: str, opening: str) -> list[object]:
    found: list[object] = []
    at, tries = text.find(opening), 0
    while at >= 0 and tries < _MOST:
        tries += 1
        try:
            value, end = _DECODER.raw_decode(text, at)
        except json.JSONDecodeError as error:
            if error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated"):
                break  # it stops in the middle, and what stands inside is a part of it
            end = at + 1
        except (ValueError, RecursionError):
            end = at + 1
        else:
            found.append(value)
        at = text.find(opening, end)
    return found
