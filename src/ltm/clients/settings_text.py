"""Edit the text of a foreign settings file, JSON or TOML, without touching any other byte.

Python's own JSON reader forgets where things were, and refuses the comments that some clients
allow; so this one reads JSON together with the place of every value. Values are put in and taken
out as cuts of the text: order, indentation, line endings and comments stay as the person left them.
A TOML table is added as text at the end, and removed through a parser that keeps comments and
order. `syntax` is `json`, `jsonc` (comments and trailing commas allowed) or `toml`.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import tomlkit
import yaml

Steps = tuple[str | int, ...]
"""The way to a value: keys of objects and, where a list is on the way, numbers of its items."""

Inserted = tuple[int, int]
"""Where a piece of text was put in, and its length."""

_SPACE = re.compile(r"[ \t\r\n]*")
_COMMENTS = re.compile(r"(?:[ \t\r\n]+|//[^\n]*|/\*.*?\*/)*", re.S)
_DEEPEST = 200
_DECODER = json.JSONDecoder()
_SCALAR = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null")


class Unreadable(ValueError):
    """The text is not what it should be; `line` is where reading it stopped."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.line = line


def value_of(text: str, syntax: str) -> dict[str, Any]:
    """What a file's text says; nothing for an empty one."""
    if syntax == "toml":
        return _read_toml(text)
    if syntax == "yaml":
        return _read_yaml(text)
    node = _root(text, syntax)
    return node.value if node is not None else {}


def insert(
    text: str, steps: tuple[str, ...], value: Any, syntax: str = "json"
) -> tuple[str, list[Inserted]]:
    """Put a member at the end of a way, with the objects that lead there; it must not be there.

    Gives the new text and what was put in, in the order it was done.
    """
    if syntax == "toml":
        return _insert_table(text, steps, value)
    if syntax == "yaml":
        return _insert_line(text, steps, value)
    node = _root(text, syntax)
    if node is None:
        place = 1 if text.startswith("\ufeff") else 0
        return _put(text, [(place, _pretty(_wrapped(steps, value)) + "\n")])
    for depth, step in enumerate(steps):
        child = node.children.get(step)
        if child is None or depth == len(steps) - 1:
            new = _wrapped(steps[depth + 1 :], value)
            return _add(text, node, new, key=step, syntax=syntax)
        if not isinstance(child.value, dict):
            raise _unreadable(f"'{step}' is not an object here", text, child.start)
        node = child
    raise AssertionError("a way has at least one step")


def begin(text: str, base: str) -> tuple[str, list[Inserted]]:
    """An empty JSON text with the first object in it."""
    place = 1 if text.startswith("\ufeff") else 0
    return _put(text, [(place, _pretty(json.loads(base)) + "\n")])


def append(
    text: str, steps: tuple[str, ...], value: Any, syntax: str = "json"
) -> tuple[str, list[Inserted]]:
    """Add an item to the array at the end of a way, which is made if it is not there."""
    array = look(text, steps, syntax)
    if array is None:
        return insert(text, steps, [value], syntax)
    if not isinstance(array.value, list):
        raise _unreadable(f"'{steps[-1]}' is not a list here", text, array.start)
    return _add(text, array, value, key=None, syntax=syntax)


def take_back(text: str, inserted: list[Inserted]) -> str:
    """The text as it was before these insertions."""
    for start, length in reversed(inserted):
        text = text[:start] + text[start + length :]
    return text


def remove(text: str, steps: Steps, syntax: str = "json") -> str:
    """Take a member out, if it is there; in TOML with the tables that led to nothing else."""
    if syntax == "toml":
        return _remove_table(text, steps)
    if syntax == "yaml":
        return _remove_lines(text, steps)
    parent = look(text, steps[:-1], syntax)
    if parent is None or steps[-1] not in parent.children:
        return text
    return _cut(text, parent, list(parent.children).index(steps[-1]), syntax)


def remove_items(
    text: str, steps: Steps, is_meant: Callable[[Any], bool], syntax: str = "json"
) -> str:
    """Take the items that are meant out of an array, if it is there."""
    while array := look(text, steps, syntax):
        meant = [n for n, item in enumerate(array.children.values()) if is_meant(item.value)]
        if not meant:
            break
        text = _cut(text, array, meant[-1], syntax)
    return text


def remove_if_empty(text: str, steps: Steps, syntax: str = "json") -> str:
    """Take an object or array out that has nothing in it, not even a comment."""
    found = look(text, steps, syntax)
    if found is None or found.parts or text[found.start + 1 : found.end - 1].strip():
        return text
    return remove(text, steps, syntax) if found.value in ({}, []) else text


# -- reading JSON --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Node:
    """A JSON value and where it stands in the text."""

    start: int
    end: int
    value: Any
    children: Mapping[str | int, Node] = field(default_factory=dict)
    """Of an object: the values by key; of an array: the items by number."""
    parts: tuple[tuple[int, int], ...] = ()
    """Of an object or array: where each member, key included, or item begins and ends."""


def look(text: str, steps: Steps, syntax: str = "json") -> Node | None:
    """The value at the end of a way in a JSON text, if it is there."""
    found = _root(text, syntax)
    for step in steps:
        found = found.children.get(step) if found is not None else None
    return found


def _root(text: str, syntax: str) -> Node | None:
    """The object a file holds; None for a file with nothing in it."""
    if not text.lstrip("\ufeff").strip():
        return None
    node = _Reader(text, syntax).whole()
    if not isinstance(node.value, dict):
        raise _unreadable("holds no object", text, node.start)
    return node


def _unreadable(message: str, text: str, place: int) -> Unreadable:
    return Unreadable(message, text.count("\n", 0, place) + 1)


def _skipped(text: str, place: int, syntax: str) -> int:
    """The next place that is neither blank nor a comment."""
    found = (_COMMENTS if syntax == "jsonc" else _SPACE).match(text, place)
    return found.end() if found else place


class _Reader:
    def __init__(self, text: str, syntax: str) -> None:
        self.text = text
        self.syntax = syntax

    def whole(self) -> Node:
        node = self._value(self._skip(1 if self.text.startswith("\ufeff") else 0), 0)
        place = self._skip(node.end)
        if place != len(self.text):
            raise _unreadable("something stands behind the end of it", self.text, place)
        return node

    def _skip(self, place: int) -> int:
        return _skipped(self.text, place, self.syntax)

    def _value(self, place: int, depth: int) -> Node:
        if depth > _DEEPEST:
            raise _unreadable("is nested too deeply", self.text, place)
        sign = self.text[place : place + 1]
        if sign in ("{", "["):
            return self._container(place, depth)
        if sign == '"':
            text, end = self._string(place)
            return Node(place, end, text)
        scalar = _SCALAR.match(self.text, place)
        if scalar is None:
            raise _unreadable("a value is missing or misspelt", self.text, place)
        return Node(place, scalar.end(), json.loads(scalar[0]))

    def _string(self, place: int) -> tuple[str, int]:
        try:
            text, end = _DECODER.raw_decode(self.text, place)
        except ValueError:
            raise _unreadable("a text has no end or a wrong escape", self.text, place) from None
        return str(text), end

    def _container(self, start: int, depth: int) -> Node:
        closing = "}" if self.text[start] == "{" else "]"
        children: dict[str | int, Node] = {}
        parts: list[tuple[int, int]] = []
        place = self._skip(start + 1)
        while self.text[place : place + 1] != closing:
            step: str | int = len(children)
            begin = place
            if closing == "}":
                step, place = self._key(place)
                if step in children:
                    raise _unreadable(f"the key '{step}' is there twice", self.text, begin)
            children[step] = self._value(place, depth + 1)
            parts.append((begin, children[step].end))
            place = self._next(children[step].end, closing)
        values = {step: node.value for step, node in children.items()}
        value = values if closing == "}" else list(values.values())
        return Node(start, place + 1, value, children, tuple(parts))

    def _key(self, place: int) -> tuple[str, int]:
        """The key at a place, and the place of its value."""
        if self.text[place : place + 1] != '"':
            raise _unreadable("a key or '}' is missing", self.text, place)
        key, end = self._string(place)
        colon = self._skip(end)
        if self.text[colon : colon + 1] != ":":
            raise _unreadable("':' is missing", self.text, colon)
        return key, self._skip(colon + 1)

    def _next(self, end: int, closing: str) -> int:
        place = self._skip(end)
        sign = self.text[place : place + 1]
        if sign == closing:
            return place
        if sign != ",":
            raise _unreadable(f"',' or '{closing}' is missing", self.text, place)
        place = self._skip(place + 1)
        if self.text[place : place + 1] == closing and self.syntax != "jsonc":
            raise _unreadable(f"a value is missing before '{closing}'", self.text, place)
        return place


# -- cutting JSON --------------------------------------------------------------------------------


def _pretty(value: Any, unit: str = "  ") -> str:
    return json.dumps(value, indent=unit, ensure_ascii=False)


def _wrapped(steps: tuple[str, ...], value: Any) -> Any:
    for step in reversed(steps):
        value = {step: value}
    return value


def _add(
    text: str, node: Node, value: Any, *, key: str | None, syntax: str
) -> tuple[str, list[Inserted]]:
    """Put a member or item behind the last one of an object or array."""
    newline = "\r\n" if "\r\n" in text else "\n"
    indented = re.search(r"\n([ \t]+)\S", text)
    unit = indented[1] if indented else "  "
    name = "" if key is None else f"{json.dumps(key, ensure_ascii=False)}: "

    def piece(indentation: str) -> str:
        lines = _pretty(value, unit).split("\n")
        return f"{newline}{indentation}{name}{(newline + indentation).join(lines)}"

    if not node.parts:
        base = _indentation(text, node.start)
        end = "" if "\n" in text[node.start : node.end] else newline + base
        return _put(text, [(node.start + 1, piece(base + unit) + end)])
    (first, _), (_, last) = node.parts[0], node.parts[-1]
    if "\n" not in text[node.start : first]:  # all in one line, so the new one joins it
        gap = " " if len(node.parts) == 1 or ", " in text[node.start : node.end] else ""
        new = f"{gap}{name}{json.dumps(value, ensure_ascii=False)}"
    else:
        new = piece(_indentation(text, first))
    rest = text[last : node.end - 1]
    if syntax != "jsonc" or not rest.strip():
        return _put(text, [(last, f",{new}")])
    # A comment behind the last member stays with it.
    place = last + len(rest.rstrip())
    comma = _skipped(text, last, syntax)
    has_comma = text[comma : comma + 1] == ","
    return _put(text, [(place, new)] if has_comma else [(place, new), (last, ",")])


def _put(text: str, pieces: list[tuple[int, str]]) -> tuple[str, list[Inserted]]:
    for place, piece in pieces:
        text = text[:place] + piece + text[place:]
    return text, [(place, len(piece)) for place, piece in pieces]


def _cut(text: str, node: Node, number: int, syntax: str) -> str:
    start, end = node.parts[number]
    behind = _skipped(text, end, syntax)
    if text[behind : behind + 1] == ",":
        if number + 1 < len(node.parts):
            following = node.parts[number + 1][0]
            if not text[behind + 1 : following].strip():
                return text[:start] + text[following:]
        # A comment stands between: the value and its comma go, and the line if nothing is left.
        return _without_line(text, start, behind + 1)
    if number:
        before = node.parts[number - 1][1]
        if text[before:start].strip() == ",":
            return text[:before] + text[end:]
        comma = _skipped(text, before, syntax)
        text = _without_line(text, start, end)
        return text[:comma] + text[comma + 1 :]
    if not text[node.start + 1 : start].strip() and not text[end : node.end - 1].strip():
        return text[: node.start + 1] + text[node.end - 1 :]
    return _without_line(text, start, end)


def _without_line(text: str, start: int, end: int) -> str:
    line = text.rfind("\n", 0, start) + 1
    newline = re.compile(r"\r?\n").match(text, end)
    if newline is None or text[line:start].strip():
        return text[:start] + text[end:]
    return text[:line] + text[newline.end() :]


def _indentation(text: str, place: int) -> str:
    line = text[text.rfind("\n", 0, place) + 1 :]
    return line[: len(line) - len(line.lstrip(" \t"))]


# -- TOML ----------------------------------------------------------------------------------------


def _read_toml(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text.lstrip("\ufeff"))
    except tomllib.TOMLDecodeError as error:
        line = str(error).partition("at line ")[2].partition(",")[0]
        raise Unreadable(str(error), int(line) if line.isdigit() else 1) from None


def _insert_table(
    text: str, steps: tuple[str, ...], value: dict[str, Any]
) -> tuple[str, list[Inserted]]:
    newline = "\r\n" if "\r\n" in text else "\n"
    # What TOML and JSON write alike: texts, whole numbers, truths and lists of these.
    keys = (f"{key} = {json.dumps(each, ensure_ascii=False)}" for key, each in value.items())
    gap = "" if not text.strip() else newline if text.endswith("\n") else newline * 2
    piece = gap + newline.join((f"[{'.'.join(steps)}]", *keys)) + newline
    try:
        _read_toml(text + piece)
    except Unreadable:
        way = ".".join(steps[:-1])
        raise Unreadable(f"no table can be added to '{way}', as it is written", 1) from None
    return _put(text, [(len(text), piece)])


def _remove_table(text: str, steps: Steps) -> str:
    short = _without_lines(text, f"[{'.'.join(map(str, steps))}]")
    wanted = _without(_read_toml(text), steps)
    if short != text and _read_toml(short) == wanted:
        return short
    return tomlkit.dumps(_without(tomlkit.parse(text), steps))


def _without(document: Any, steps: Steps) -> Any:
    """A document without a table, and without the tables that led to it alone."""
    way = [document]
    for step in steps[:-1]:
        inner = way[-1].get(step)
        if not isinstance(inner, dict):
            return document
        way.append(inner)
    way[-1].pop(steps[-1], None)
    for parent, step in zip(reversed(way[:-1]), reversed(steps[:-1]), strict=True):
        if not parent[step]:
            del parent[step]
    return document


def _without_lines(text: str, head: str) -> str:
    """The text without the lines of a table, and without the empty line before it."""
    lines = text.splitlines(keepends=True)
    heads = [number for number, line in enumerate(lines) if line.strip() == head]
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


# -- YAML ----------------------------------------------------------------------------------------


def _read_yaml(text: str) -> dict[str, Any]:
    try:
        value = yaml.safe_load(text) or {}
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or "is not YAML"
        raise Unreadable(problem, mark.line + 1 if mark else 1) from None
    if not isinstance(value, dict):
        raise Unreadable("is not a table of keys and values", 1)
    return value


def _insert_line(
    text: str, steps: tuple[str, ...], value: dict[str, Any]
) -> tuple[str, list[Inserted]]:
    """Put an entry into a table at the top of the text, as one line; the table may be missing."""
    table, name = steps
    newline = "\r\n" if "\r\n" in text else "\n"
    line = f"{name}: {json.dumps(value, ensure_ascii=False)}{newline}"
    head = re.search(rf"(?m)^{re.escape(table)}:[ \t]*(?:#.*)?\r?\n", text)
    if head:
        following = re.compile(r"(?:[ \t]*(?:#.*)?\r?\n)*([ \t]+)\S").match(text, head.end())
        place, piece = head.end(), (following[1] if following else "  ") + line
    else:
        end = newline if text and not text.endswith("\n") else ""
        place, piece = len(text), f"{end}{table}:{newline}  {line}"
    after = text[:place] + piece + text[place:]
    before = _read_yaml(text)
    wanted = {**before, table: {**(before.get(table) or {}), name: value}}
    try:
        is_right = _read_yaml(after) == wanted
    except Unreadable:
        is_right = False
    if not is_right:
        raise Unreadable(f"no entry can be added to '{table}', as it is written", 1)
    return after, [(place, len(piece))]


def _remove_lines(text: str, steps: Steps) -> str:
    """The text without the lines of an entry, and without its table if nothing else is in it."""
    table, name = map(str, steps)
    before = _read_yaml(text)
    if name not in (before.get(table) or {}):
        return text
    left = {key: value for key, value in before[table].items() if key != name}
    wanted = {**before, table: left} if left else {k: v for k, v in before.items() if k != table}
    lines = text.splitlines(keepends=True)
    for start, line in enumerate(lines):
        entry = re.match(rf"([ \t]+){re.escape(name)}:", line)
        if not entry:
            continue
        end = start + 1
        while end < len(lines) and re.match(rf"{entry[1]}[ \t]+\S", lines[end]):
            end += 1
        heads = [n for n, each in enumerate(lines) if each.startswith(f"{table}:")]
        without = [*lines[:start], *lines[end:]]
        if not left and heads:
            del without[heads[0]]
        shorter = "".join(without)
        try:
            if _read_yaml(shorter) == wanted:
                return shorter
        except Unreadable:
            continue
    raise Unreadable(f"'{name}' cannot be taken out of '{table}', as it is written", 1)
