"""What an agent sent with a call, checked against the tool's schema, in words an agent can act on.

A model's arguments are often nearly right: a name of another design, a null for "not given", a word
in capitals. Those are understood; everything else is refused with the argument's name, so that the
next try is right. Imports core and `tool`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from ltm.core.errors import WrongUsage
from ltm.surfaces.mcp.tool import Tool

_TYPES: dict[str, tuple[tuple[type, ...], str]] = {
    "string": ((str,), "a text"),
    "integer": ((int,), "a whole number"),
    "number": ((int, float), "a number"),
    "boolean": ((bool,), "true or false"),
    "array": ((list,), "a list"),
    "object": ((dict,), "an object"),
}


def checked(tool: Tool, given: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments by the names the tool's function knows; `WrongUsage` names the one that is off.

    An argument that is null counts as not given.
    """
    arguments: dict[str, Any] = {}
    for sent, value in given.items():
        name = tool.aliases.get(sent, sent)
        if name not in tool.properties:
            known = ", ".join(tool.properties) or "none"
            shown = sent[:80].encode("utf-8", "replace").decode()
            raise WrongUsage(
                f"{tool.name} has no argument '{shown}'", hint=f"its arguments: {known}"
            )
        if value is None:
            continue
        if name in arguments and arguments[name] != value:
            raise WrongUsage(
                f"'{sent}' says something else than '{name}', and both mean the same",
                hint=f"give {name} only",
            )
        arguments[name] = _checked(sent, value, tool.properties[name])
    missing = [name for name in tool.required if name not in arguments]
    if missing:
        raise WrongUsage(
            f"{tool.name} needs {' and '.join(missing)}", hint=f"call it again with {missing[0]}"
        )
    return arguments


def _checked(name: str, value: Any, schema: Mapping[str, Any]) -> Any:
    wanted = schema.get("type")
    if wanted == "integer" and isinstance(value, float) and value.is_integer():
        value = int(value)
    if wanted in _TYPES and not _is(value, wanted):
        raise _wrong(name, value, schema)
    if "enum" in schema:
        for option in schema["enum"]:
            if value == option or (isinstance(value, str) and value.strip().lower() == option):
                return option
        raise _wrong(name, value, schema)
    if isinstance(value, int | float) and not isinstance(value, bool):
        least, most = schema.get("minimum", -math.inf), schema.get("maximum", math.inf)
        inside = least <= value <= most  # false for not-a-number too, which compares to nothing
        if not inside:
            raise _wrong(name, value, schema)
    if isinstance(value, str) and _has_half_characters(value):
        raise _wrong(name, value, schema)
    if isinstance(value, list) and "items" in schema:
        return [
            _checked(f"{name}[{place}]", each, schema["items"]) for place, each in enumerate(value)
        ]
    return value


def _has_half_characters(text: str) -> bool:
    """Whether a text holds what JSON can write and no file can: one of a pair of surrogates."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def _is(value: Any, wanted: str) -> bool:
    if isinstance(value, bool):
        return wanted == "boolean"  # only Python takes true for a number
    return isinstance(value, _TYPES[wanted][0])


def _wrong(name: str, value: Any, schema: Mapping[str, Any]) -> WrongUsage:
    shown = repr(value) if len(repr(value)) <= 60 else f"{repr(value)[:60]}…"
    return WrongUsage(f"{name} cannot be {shown}", hint=f"{name} must be {_allowed(schema)}")


def _allowed(schema: Mapping[str, Any]) -> str:
    if "enum" in schema:
        return f"one of: {', '.join(str(each) for each in schema['enum'])}"
    words = _TYPES[schema["type"]][1] if schema.get("type") in _TYPES else "something else"
    if isinstance(schema.get("items"), Mapping) and schema["items"].get("type") in _TYPES:
        words = f"a list, each of it {_TYPES[schema['items']['type']][1]}"
    least, most = schema.get("minimum"), schema.get("maximum")
    if least is not None and most is not None:
        return f"{words} from {least} to {most}"
    if least is not None:
        return f"{words}, at least {least}"
    return f"{words}, at most {most}" if most is not None else words
