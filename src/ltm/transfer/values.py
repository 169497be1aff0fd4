"""Values out of foreign JSON and databases, whatever type they turn out to have. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from ltm.storage.fields import moment, number


def mapping(value: Any) -> Mapping[str, Any]:
    """A JSON object, or an empty one."""
    return value if isinstance(value, dict) else {}


def items(value: Any) -> list[Any]:
    """A JSON list, or an empty one."""
    return value if isinstance(value, list) else []


def text_of(value: Any) -> str:
    """A text or a number as text; '' for anything else."""
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else ""


def listed(value: Any) -> tuple[str, ...]:
    """The texts of a list, or of a list written as JSON in a text."""
    if isinstance(value, str) and value.lstrip().startswith("["):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return ()
    return tuple(text for each in items(value) if (text := text_of(each).strip()))


def share(value: Any, default: float) -> float:
    """A number from 0 to 1."""
    found = number(text_of(value))
    return default if found is None else min(1.0, max(0.0, found))


def count(value: Any, default: int) -> int:
    """A whole number."""
    found = number(text_of(value))
    return default if found is None else int(min(1e9, max(0, found)))


def when(value: Any) -> datetime | None:
    """A moment as text, or as seconds or milliseconds since 1970."""
    if isinstance(value, str):
        return moment(value.strip())
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    seconds = value / 1000 if abs(value) > 1e11 else value
    try:
        return moment(datetime.fromtimestamp(int(seconds), UTC).isoformat())
    except (OverflowError, OSError, ValueError):
        return None
