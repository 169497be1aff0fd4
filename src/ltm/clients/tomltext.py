"""The same for TOML: a table of ours put at the end of somebody's file, and taken out again.

Owns adding a table as text, so that not a byte of the rest changes, and removing one through a
parser that keeps comments and order. Imports tomlkit, when it is needed.
"""

from __future__ import annotations

import json
from typing import Any

from ltm.clients.jsonread import Steps, Unreadable
from ltm.clients.jsontext import Inserted


def read(text: str) -> dict[str, Any]:
    """What a file says; `Unreadable` with the line when it cannot be read."""
    import tomllib

    try:
        return tomllib.loads(text.lstrip("\ufeff"))
    except tomllib.TOMLDecodeError as error:
        line = str(error).partition("at line ")[2].partition(",")[0]
        raise Unreadable(str(error), int(line) if line.isdigit() else 1) from None


def insert(text: str, steps: tuple[str, ...], value: dict[str, Any]) -> tuple[str, list[Inserted]]:
    """Put a table at the end of the file; it must not be there."""
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = [f"[{'.'.join(steps)}]", *(f"{key} = {_value(each)}" for key, each in value.items())]
    gap = "" if not text.strip() else newline if text.endswith("\n") else newline * 2
    piece = gap + newline.join(lines) + newline
    after = text + piece
    try:
        read(after)
    except Unreadable:
        way = ".".join(steps[:-1])
        raise Unreadable(f"no table can be added to '{way}', as it is written", 1) from None
    return after, [(len(text), len(piece))]


def remove(text: str, steps: Steps) -> str:
    """Take a table out, if it is there; a table that led to nothing else goes with it."""
    import tomlkit

    document = tomlkit.parse(text)
    way: list[Any] = [document]
    for step in steps[:-1]:
        if not isinstance(way[-1], dict) or step not in way[-1]:
            return text
        way.append(way[-1][step])
    if not isinstance(way[-1], dict) or steps[-1] not in way[-1]:
        return text
    del way[-1][steps[-1]]
    for parent, step in zip(reversed(way[:-1]), reversed(steps[:-1]), strict=True):
        if parent[step]:
            break
        del parent[step]
    return tomlkit.dumps(document)


def _value(value: Any) -> str:
    # What TOML and JSON write alike: texts, whole numbers, truths and lists of these.
    return json.dumps(value, ensure_ascii=False)
