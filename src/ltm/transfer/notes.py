"""Markdown as notes are written in it: front matter, headings with what stands below, bullets.

Owns how foreign Markdown is taken apart, forgivingly: a note is never lost because its front matter
or its headings are not as they should be. Pure but for the problems it returns. Imports storage's
YAML reader.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from ltm.storage import strictyaml
from ltm.storage.fields import Value, moment

_FRONT = re.compile(r"\A---[ \t]*\n(.*?)^---[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_KEY = re.compile(r"([A-Za-z_][\w-]*):[ \t]*(.*)")
_HEADING = re.compile(r"(#{1,6})[ \t]+(\S.*)\Z")
_BULLET = re.compile(r"[-*+][ \t]+(?:\[[ xX]\][ \t]+)?(\S.*)\Z")
_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})")
_DAY = re.compile(
    r"(?<!\d)(\d{4}-\d{2}-\d{2})"
    r"(?:[T_ ](\d{2}):?(\d{2})(?::?(\d{2}))?(?:\.\d+)?(Z|[+-]\d{2}:\d{2})?)?"
)
_LONGEST_FRONT = 64 * 1024
_END = 300  # characters


@dataclass(frozen=True, slots=True)
class Front:
    """The keys of a note and the text below them."""

    keys: Mapping[str, Value]
    nested: Mapping[str, str]
    """The lines of keys that hold more than a text or a flat list, as they are written."""
    body: str
    body_line: int
    """The line of the file on which the body begins."""
    flaw: str = ""
    flaw_line: int = 0

    def text(self, *names: str) -> str:
        """The first of these keys that says something, as one text."""
        for name in names:
            value = self.keys.get(name, "")
            said = ", ".join(value) if isinstance(value, tuple) else value
            if said.strip():
                return said.strip()
        return ""

    def many(self, name: str) -> tuple[str, ...]:
        """A key that is a list, or a text with commas."""
        value = self.keys.get(name, ())
        parts = value if isinstance(value, tuple) else value.strip("[]").split(",")
        return tuple(part.strip(" \t\"'") for part in parts if part.strip(" \t\"'"))

    def inner(self, name: str, key: str) -> str:
        """The value of a key one level below another."""
        found = re.search(
            rf"^[ \t]+{re.escape(key)}:[ \t]*(.+?)[ \t]*$", self.nested.get(name, ""), re.M
        )
        return _unquoted(found[1]) if found else ""


@dataclass(slots=True)
class Section:
    """A heading and the lines up to the next heading of its level or above it."""

    level: int
    """0 for what stands before the first heading."""
    heading: str
    line: int
    body: list[str] = field(default_factory=list)
    """The lines below it, deeper headings included."""

    @property
    def text(self) -> str:
        """The lines below the heading."""
        return "\n".join(self.body).strip("\n")

    def bullets(self) -> list[tuple[int, str]]:
        """The top-level items of its lists with their lines, and the lines that continue each."""
        found: list[tuple[int, list[str]]] = []
        for number, text in enumerate(self.body, start=self.line + (self.level > 0)):
            bullet = _BULLET.match(text)
            if bullet:
                found.append((number, [bullet[1].strip()]))
            elif found and text.startswith((" ", "\t")) and text.strip():
                found[-1][1].append(text.rstrip())
        return [(number, "\n".join(said)) for number, said in found]


def front(text: str) -> Front:
    """A note taken apart. What is not valid YAML is read line by line, and the flaw is told."""
    match = _FRONT.match(text)
    if match is None or len(match[1]) > _LONGEST_FRONT:
        return Front({}, {}, text, 1)
    body_line = 1 + match[0].count("\n")
    try:
        items = strictyaml.read(match[1])
    except strictyaml.Flaw as flaw:
        line = 2 + match[1].count("\n", 0, flaw.offset)
        return Front(_loose(match[1]), {}, text[match.end() :], body_line, flaw.message, line)
    keys = {item.key: item.value for item in items if item.value is not None}
    nested = {item.key: match[1][item.start : item.end] for item in items if item.value is None}
    return Front(keys, nested, text[match.end() :], body_line)


def _loose(text: str) -> dict[str, Value]:
    """`key: value` lines of a tool that quotes nothing; other lines go on with the one before."""
    found: dict[str, Value] = {}
    last = ""
    for line in text.split("\n"):
        key = _KEY.match(line)
        if key:
            last = key[1]
            value = key[2].strip()
            if value.startswith("[") and value.endswith("]"):
                parts = (_unquoted(part) for part in value[1:-1].split(","))
                found[last] = tuple(part for part in parts if part)
            else:
                found[last] = _unquoted(value)
        elif last and line.strip():
            before = found[last]
            if line.lstrip().startswith("- "):
                item = _unquoted(line.lstrip()[2:])
                listed = before if isinstance(before, tuple) else ((before,) if before else ())
                found[last] = (*listed, item)
            elif isinstance(before, str):
                found[last] = f"{before} {line.strip()}".strip()
    return {key: _trimmed(value) for key, value in found.items()}


def _trimmed(value: Value) -> Value:
    """Without the quotes a tool put around a text that has quotes inside."""
    if isinstance(value, str) and len(value) > 1 and value[0] == value[-1] == '"':
        return value[1:-1]
    return value


def _unquoted(text: str) -> str:
    said = text.strip()
    if len(said) > 1 and said[0] == said[-1] and said[0] in "\"'":
        return said[1:-1]
    return said


def sections(text: str, first_line: int = 1, level: int = 6) -> list[Section]:
    """The sections of a text whose heading is at most so deep; deeper headings stay inside.

    The first one holds what stands before any heading. Headings in code are code.
    """
    found = [Section(0, "", first_line)]
    fence = ""
    for number, line in enumerate(text.split("\n"), start=first_line):
        mark = _FENCE.match(line)
        if mark and not fence:
            fence = mark[1]
        elif mark and mark[1].startswith(fence):
            fence = ""
        heading = None if fence or mark else _HEADING.match(line)
        if heading and len(heading[1]) <= level:
            found.append(Section(len(heading[1]), heading_of(heading[2]), number))
        else:
            found[-1].body.append(line)
    return found


def heading_of(text: str) -> str:
    """What a heading says, without the marks that may close it."""
    return text.rstrip(" \t").rstrip("#").rstrip(" \t") or text


def at_end(text: str) -> int:
    """Where to begin looking for what stands at the end of a text, however long that is."""
    return max(0, len(text) - _END)


def day(text: str) -> datetime | None:
    """The first date in a text, with its time if it has one."""
    found = _DAY.search(text)
    if found is None:
        return None
    date, hour, minute, second, zone = found.groups()
    if hour is None:
        return moment(date)
    return moment(f"{date}T{hour}:{minute}:{second or '00'}{zone or 'Z'}") or moment(date)
