"""Reading JSON together with the place of every value in the text.

Python's own reader forgets where things were, and refuses the comments that some clients allow.
Pure; imports the standard library only.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Steps = tuple[str | int, ...]
"""The way to a value: keys of objects and, where a list is on the way, numbers of its items."""

SPACE = re.compile(r"[ \t\r\n]*")
COMMENTS = re.compile(r"(?:[ \t\r\n]+|//[^\n]*|/\*.*?\*/)*", re.S)

_DEEPEST = 200
_DECODER = json.JSONDecoder()
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_WORDS = {"true": True, "false": False, "null": None}


class Unreadable(ValueError):
    """The text is not what it should be; `line` is where reading it stopped."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.line = line


@dataclass(frozen=True, slots=True)
class Node:
    """A value and where it stands in the text."""

    start: int
    end: int
    value: Any
    members: Mapping[str, Node] = field(default_factory=dict)
    """Of an object: the values by key."""
    parts: tuple[tuple[int, int], ...] = ()
    """Of an object or array: where each member, key included, or item begins and ends."""
    items: tuple[Node, ...] = ()
    """Of an array."""


def read(text: str, *, comments: bool = False) -> Node:
    """The one value a text holds; `comments` lets comments and trailing commas pass."""
    return _Reader(text, comments).whole()


def look(node: Node, steps: Steps) -> Node | None:
    """The value at the end of a way, if it is there."""
    found: Node | None = node
    for step in steps:
        if found is None:
            return None
        if isinstance(step, int):
            found = found.items[step] if step < len(found.items) else None
        else:
            found = found.members.get(step)
    return found


def unreadable(message: str, text: str, place: int) -> Unreadable:
    """The error for a place in a text."""
    return Unreadable(message, text.count("\n", 0, place) + 1)


class _Reader:
    """Reads JSON and remembers where everything was."""

    def __init__(self, text: str, comments: bool) -> None:
        self.text = text
        self.comments = comments

    def whole(self) -> Node:
        start = 1 if self.text.startswith("\ufeff") else 0
        node = self._value(self._skip(start), 0)
        place = self._skip(node.end)
        if place != len(self.text):
            raise unreadable("something stands behind the end of it", self.text, place)
        return node

    def _skip(self, place: int) -> int:
        found = (COMMENTS if self.comments else SPACE).match(self.text, place)
        return found.end() if found else place

    def _value(self, place: int, depth: int) -> Node:
        if depth > _DEEPEST:
            raise unreadable("is nested too deeply", self.text, place)
        sign = self.text[place : place + 1]
        if sign == "{":
            return self._object(place, depth)
        if sign == "[":
            return self._array(place, depth)
        if sign == '"':
            text, end = self._string(place)
            return Node(place, end, text)
        number = _NUMBER.match(self.text, place)
        if number:
            return Node(place, number.end(), json.loads(number[0]))
        for word, value in _WORDS.items():
            if self.text.startswith(word, place):
                return Node(place, place + len(word), value)
        raise unreadable("a value is missing or misspelt", self.text, place)

    def _string(self, place: int) -> tuple[str, int]:
        try:
            text, end = _DECODER.raw_decode(self.text, place)
        except ValueError:
            raise unreadable("a text has no end or a wrong escape", self.text, place) from None
        return str(text), end

    def _object(self, start: int, depth: int) -> Node:
        members: dict[str, Node] = {}
        parts: list[tuple[int, int]] = []
        place = self._skip(start + 1)
        while self.text[place : place + 1] != "}":
            if self.text[place : place + 1] != '"':
                raise unreadable("a key or '}' is missing", self.text, place)
            key, end = self._string(place)
            if key in members:
                raise unreadable(f"the key '{key}' is there twice", self.text, place)
            colon = self._skip(end)
            if self.text[colon : colon + 1] != ":":
                raise unreadable("':' is missing", self.text, colon)
            members[key] = self._value(self._skip(colon + 1), depth + 1)
            parts.append((place, members[key].end))
            place = self._next(members[key].end, "}")
        value = {key: node.value for key, node in members.items()}
        return Node(start, place + 1, value, members, tuple(parts))

    def _array(self, start: int, depth: int) -> Node:
        items: list[Node] = []
        place = self._skip(start + 1)
        while self.text[place : place + 1] != "]":
            items.append(self._value(place, depth + 1))
            place = self._next(items[-1].end, "]")
        parts = tuple((item.start, item.end) for item in items)
        return Node(start, place + 1, [i.value for i in items], {}, parts, tuple(items))

    def _next(self, end: int, closing: str) -> int:
        place = self._skip(end)
        sign = self.text[place : place + 1]
        if sign == closing:
            return place
        if sign != ",":
            raise unreadable(f"',' or '{closing}' is missing", self.text, place)
        place = self._skip(place + 1)
        if self.text[place : place + 1] == closing and not self.comments:
            raise unreadable(f"a value is missing before '{closing}'", self.text, place)
        return place
