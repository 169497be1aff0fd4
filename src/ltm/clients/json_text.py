"""Change a foreign JSON file without touching any byte that is not ours.

Python's own reader forgets where things were, and refuses the comments that some clients allow; so
this one reads JSON together with the place of every value. Values are put in and taken out as cuts
of the text: order, indentation, line endings and comments stay as the person left them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

Steps = tuple[str | int, ...]
"""The way to a value: keys of objects and, where a list is on the way, numbers of its items."""

Inserted = tuple[int, int]
"""Where a piece of text was put in, and its length."""

_SPACE = re.compile(r"[ \t\r\n]*")
_COMMENTS = re.compile(r"(?:[ \t\r\n]+|//[^\n]*|/\*.*?\*/)*", re.S)

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


def _unreadable(message: str, text: str, place: int) -> Unreadable:
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
            raise _unreadable("something stands behind the end of it", self.text, place)
        return node

    def _skip(self, place: int) -> int:
        found = (_COMMENTS if self.comments else _SPACE).match(self.text, place)
        return found.end() if found else place

    def _value(self, place: int, depth: int) -> Node:
        if depth > _DEEPEST:
            raise _unreadable("is nested too deeply", self.text, place)
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
        raise _unreadable("a value is missing or misspelt", self.text, place)

    def _string(self, place: int) -> tuple[str, int]:
        try:
            text, end = _DECODER.raw_decode(self.text, place)
        except ValueError:
            raise _unreadable("a text has no end or a wrong escape", self.text, place) from None
        return str(text), end

    def _object(self, start: int, depth: int) -> Node:
        members: dict[str, Node] = {}
        parts: list[tuple[int, int]] = []
        place = self._skip(start + 1)
        while self.text[place : place + 1] != "}":
            if self.text[place : place + 1] != '"':
                raise _unreadable("a key or '}' is missing", self.text, place)
            key, end = self._string(place)
            if key in members:
                raise _unreadable(f"the key '{key}' is there twice", self.text, place)
            colon = self._skip(end)
            if self.text[colon : colon + 1] != ":":
                raise _unreadable("':' is missing", self.text, colon)
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
            raise _unreadable(f"',' or '{closing}' is missing", self.text, place)
        place = self._skip(place + 1)
        if self.text[place : place + 1] == closing and not self.comments:
            raise _unreadable(f"a value is missing before '{closing}'", self.text, place)
        return place


def insert(
    text: str, steps: tuple[str, ...], value: Any, *, comments: bool = False
) -> tuple[str, list[Inserted]]:
    """Put a member at the end of a way, with the objects that lead there; it must not be there.

    Gives the new text and what was put in, in the order it was done.
    """
    node = _root(text, comments)
    if node is None:
        return _begin(text, _wrapped(steps, value))
    for depth, step in enumerate(steps):
        child = node.members.get(step)
        if child is None or depth == len(steps) - 1:
            new = _wrapped(steps[depth + 1 :], value)
            return _add(text, node, new, key=step, comments=comments)
        if not isinstance(child.value, dict):
            raise _unreadable(f"'{step}' is not an object here", text, child.start)
        node = child
    raise AssertionError("a way has at least one step")


def append(
    text: str, steps: tuple[str, ...], value: Any, *, comments: bool = False
) -> tuple[str, list[Inserted]]:
    """Add an item to the array at the end of a way, which is made if it is not there."""
    node = _root(text, comments)
    array = None if node is None else look(node, steps)
    if array is None:
        return insert(text, steps, [value], comments=comments)
    if not isinstance(array.value, list):
        raise _unreadable(f"'{steps[-1]}' is not a list here", text, array.start)
    return _add(text, array, value, key=None, comments=comments)


def take_back(text: str, inserted: list[Inserted]) -> str:
    """The text as it was before these insertions."""
    for start, length in reversed(inserted):
        text = text[:start] + text[start + length :]
    return text


def remove(text: str, steps: Steps, *, comments: bool = False) -> str:
    """Take a member out, if it is there."""
    node = _root(text, comments)
    parent = None if node is None else look(node, steps[:-1])
    last = steps[-1]
    if parent is None or look(parent, (last,)) is None:
        return text
    number = last if isinstance(last, int) else list(parent.members).index(last)
    return _cut(text, parent, number, comments)


def remove_items(
    text: str, steps: Steps, is_meant: Callable[[Any], bool], *, comments: bool = False
) -> str:
    """Take the items that are meant out of an array, if it is there."""
    while True:
        node = _root(text, comments)
        array = None if node is None else look(node, steps)
        meant = [n for n, item in enumerate(array.items) if is_meant(item.value)] if array else []
        if array is None or not meant:
            return text
        text = _cut(text, array, meant[-1], comments)


def remove_if_empty(text: str, steps: Steps, *, comments: bool = False) -> str:
    """Take an object or array out that has nothing in it, not even a comment."""
    node = _root(text, comments)
    found = None if node is None else look(node, steps)
    if found is None or found.parts or text[found.start + 1 : found.end - 1].strip():
        return text
    return remove(text, steps, comments=comments) if found.value in ({}, []) else text


def _root(text: str, comments: bool) -> Node | None:
    """The object a file holds; None for a file with nothing in it."""
    if not text.lstrip("\ufeff").strip():
        return None
    node = read(text, comments=comments)
    if not isinstance(node.value, dict):
        raise _unreadable("holds no object", text, node.start)
    return node


def _wrapped(steps: tuple[str, ...], value: Any) -> Any:
    for step in reversed(steps):
        value = {step: value}
    return value


def _begin(text: str, value: Any) -> tuple[str, list[Inserted]]:
    place = 1 if text.startswith("\ufeff") else 0
    piece = json.dumps(value, indent=2, ensure_ascii=False) + "\n"
    return text[:place] + piece + text[place:], [(place, len(piece))]


def _add(
    text: str, node: Node, value: Any, *, key: str | None, comments: bool
) -> tuple[str, list[Inserted]]:
    """Put a member or item behind the last one of an object or array."""
    newline = "\r\n" if "\r\n" in text else "\n"
    base = _indentation(text, node.start)
    name = "" if key is None else f"{json.dumps(key, ensure_ascii=False)}: "
    if not node.parts:
        inner = base + _unit(text)
        piece = f"{newline}{inner}{name}{_pretty(value, text, inner, newline)}"
        if "\n" not in text[node.start : node.end]:
            piece += newline + base
        return _put(text, [(node.start + 1, piece)])
    first, last = node.parts[0], node.parts[-1]
    if "\n" not in text[node.start : first[0]]:  # all in one line, so the new one joins it
        spaced = ", " if len(node.parts) == 1 or ", " in text[node.start : node.end] else ","
        piece = json.dumps(value, ensure_ascii=False)
        return _put(text, _behind(text, node, last[1], f"{spaced}{name}{piece}", comments))
    inner = _indentation(text, first[0])
    piece = f"{newline}{inner}{name}{_pretty(value, text, inner, newline)}"
    return _put(text, _behind(text, node, last[1], f",{piece}", comments))


def _behind(text: str, node: Node, end: int, piece: str, comments: bool) -> list[tuple[int, str]]:
    """What to put where, so that a comment behind the last member stays with it."""
    rest = text[end : node.end - 1]
    if not comments or not rest.strip():
        return [(end, piece)]
    comma = _COMMENTS.match(text, end)
    has_comma = comma is not None and text[comma.end() : comma.end() + 1] == ","
    place = end + len(rest.rstrip())
    return [(place, piece[1:])] if has_comma else [(place, piece[1:]), (end, ",")]


def _put(text: str, pieces: list[tuple[int, str]]) -> tuple[str, list[Inserted]]:
    done: list[Inserted] = []
    for place, piece in pieces:
        text = text[:place] + piece + text[place:]
        done.append((place, len(piece)))
    return text, done


def _cut(text: str, node: Node, number: int, comments: bool) -> str:
    start, end = node.parts[number]
    skip = _COMMENTS if comments else _SPACE
    after = skip.match(text, end)
    behind = after.end() if after else end
    if text[behind : behind + 1] == ",":
        if number + 1 < len(node.parts):
            following = node.parts[number + 1][0]
            if not text[behind + 1 : following].strip():
                return text[:start] + text[following:]
        # A comment stands between: the value and its comma go, and the line if nothing is left.
        return _without_line(text, start, behind + 1)
    if number:
        before = node.parts[number - 1][1]
        gap = text[before:start]
        if gap.strip() == ",":
            return text[:before] + text[end:]
        comma = before + _first_comma(gap)
        text = _without_line(text, start, end)
        return text[:comma] + text[comma + 1 :]
    if not text[node.start + 1 : start].strip() and not text[end : node.end - 1].strip():
        return text[: node.start + 1] + text[node.end - 1 :]
    return _without_line(text, start, end)


def _first_comma(gap: str) -> int:
    """Where the comma stands in what lies between two members: not one inside a comment."""
    place = 0
    while gap[place] != ",":
        found = _COMMENTS.match(gap, place)
        place = found.end() if found else place
    return place


def _without_line(text: str, start: int, end: int) -> str:
    line = text.rfind("\n", 0, start) + 1
    if text[line:start].strip():
        return text[:start] + text[end:]
    if text[end : end + 2] == "\r\n":
        end += 2
    elif text[end : end + 1] == "\n":
        end += 1
    else:
        return text[:start] + text[end:]
    return text[:line] + text[end:]


def _indentation(text: str, place: int) -> str:
    line = text.rfind("\n", 0, place) + 1
    found = re.compile(r"[ \t]*").match(text, line)
    return found[0] if found else ""


def _unit(text: str) -> str:
    found = re.search(r"\n([ \t]+)\S", text)
    return found[1] if found else "  "


def _pretty(value: Any, text: str, indentation: str, newline: str) -> str:
    unit = _unit(text)
    lines = json.dumps(value, indent=unit, ensure_ascii=False).split("\n")
    return (newline + indentation).join(lines)
