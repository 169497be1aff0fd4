"""Change a foreign TOML file: put a table at its end, and take it out again.

A table is added as text, so that not a byte of the rest changes, and removed through a parser that
keeps comments and order.
"""

from __future__ import annotations

import json
import tomllib
from typing import Any

from ltm.clients.json_text import Inserted, Steps, Unreadable


def read(text: str) -> dict[str, Any]:
    """What a file says; `Unreadable` with the line when it cannot be read."""
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

    wanted = read(text)
    short = _without_lines(text, ".".join(map(str, steps)))
    if short != text and _is_without(wanted, read(short), steps):
        return short
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


def _without_lines(text: str, name: str) -> str:
    """The text without the lines of a table, and without the empty line before it."""
    lines = text.splitlines(keepends=True)
    heads = [number for number, line in enumerate(lines) if line.strip() == f"[{name}]"]
    if len(heads) != 1:
        return text
    start, end = heads[0], heads[0] + 1
    while end < len(lines) and not lines[end].lstrip().startswith(("[", "#")):
        end += 1
    if end < len(lines):
        while end > start + 1 and not lines[end - 1].strip():
            end -= 1
    if start and not lines[start - 1].strip():
        start -= 1
    return "".join(lines[:start] + lines[end:])


def _is_without(before: dict[str, Any], after: dict[str, Any], steps: Steps) -> bool:
    """Whether one document is the other without a table, and without what led to it alone."""
    way: list[Any] = [before]
    for step in steps[:-1]:
        way.append(way[-1].get(step, {}))
    way[-1].pop(steps[-1], None)
    for parent, step in zip(reversed(way[:-1]), reversed(steps[:-1]), strict=True):
        if not parent.get(step):
            parent.pop(step, None)
    return before == after


def _value(value: Any) -> str:
    # What TOML and JSON write alike: texts, whole numbers, truths and lists of these.
    return json.dumps(value, ensure_ascii=False)
