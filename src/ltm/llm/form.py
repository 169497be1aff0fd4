"""The form an answer was asked in: one JSON value and nothing else.

Models wrap it in prose, stop in the middle, or say that a quota is used up. All of that is a
`BadAnswer`; what was meant is never guessed. Imports core only.
"""

from __future__ import annotations

import json
import re

from ltm.core.errors import BadAnswer

_FENCED = re.compile(r"\A```(?:json)?[ \t]*\n(.*)\n```\Z", re.DOTALL)


def array_in(answer: str) -> list[object]:
    """The JSON array an answer consists of; a code fence around it is let pass."""
    value = _value_in(answer)
    if not isinstance(value, list):
        raise BadAnswer("the model answered in JSON of another form")
    return value


def object_in(answer: str) -> dict[str, object]:
    """The JSON object an answer consists of; a code fence around it is let pass."""
    value = _value_in(answer)
    if not isinstance(value, dict):
        raise BadAnswer("the model answered in JSON of another form")
    return value


def _value_in(answer: str) -> object:
    text = answer.strip()
    fenced = _FENCED.match(text)
    try:
        value: object = json.loads(fenced[1] if fenced else text)
    except (ValueError, RecursionError):
        raise BadAnswer("the model did not answer in JSON") from None
    return value
