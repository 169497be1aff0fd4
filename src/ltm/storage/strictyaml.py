"""Reads front matter as YAML that cannot surprise: every scalar is the text that was typed.

Owns the walk over the YAML parser's events. No object is ever built from them, so neither an alias
bomb nor a tag nor a `no` that means False can do anything. Imports PyYAML, and only when called,
because commands that read no file should not pay for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ltm.storage.fields import Value
from ltm.storage.scalars import UNFIT, is_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from yaml.events import Event

MAX_DEPTH = 8
"""How deep lists and maps of unknown keys may nest; known keys hold at most a flat list."""


class Flaw(Exception):
    """The front matter cannot be read; `offset` is the character at which that shows."""

    def __init__(self, offset: int, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.offset = offset
        self.message = message
        self.hint = hint


@dataclass(frozen=True, slots=True)
class YamlKey:
    """One top-level key and the stretch of text it takes up."""

    key: str
    value: Value | None
    """None when it is neither a scalar nor a flat list of scalars."""
    start: int
    end: int
    """Where the last character of the value was read."""


def read(text: str) -> list[YamlKey]:
    """The top-level keys of a front matter, in order, duplicates included."""
    if unfit := UNFIT.search(text):
        code = f"{ord(unfit[0]):04x}"
        raise Flaw(
            unfit.start(),
            f"the character U+{code.upper()} cannot stand in front matter",
            f'write it as "\\u{code}" inside double quotes, or remove it',
        )
    import yaml

    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)  # no libyaml: slower, same events
    try:
        found = _top_level(yaml.parse(text, Loader=loader), text)
    except yaml.YAMLError as error:
        raise _flaw(error, text) from error
    return found


def _flaw(error: Exception, text: str) -> Flaw:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    offset = mark.index if mark is not None else getattr(error, "position", 0)
    problem = getattr(error, "problem", None) or getattr(error, "reason", None) or "syntax error"
    return Flaw(
        min(int(offset), len(text)),
        f"the front matter is not valid YAML ({problem})",
        "write one 'key: value' per line and put texts with special characters in double quotes",
    )


def _top_level(events: Iterator[Event], text: str) -> list[YamlKey]:
    import yaml

    items: list[YamlKey] = []
    documents = depth = 0
    key: str | None = None  # the key whose value is being read
    start = end = 0
    parts: list[str] | None = None  # texts of a flat list; None once it is not one
    is_list = False
    for event in events:
        at, stop = _reach(event)
        if isinstance(event, yaml.ScalarEvent):
            _refuse_magic(event, at)
            if event.style == '"' and not is_text(event.value):  # only escapes can make one
                raise Flaw(at, "a value holds a character that is not text", "remove the escape")
            if depth == 0:
                raise _no_map(at)
            if depth == 1 and key is None:
                if at and text[at - 1] != "\n":
                    raise Flaw(at, "a key does not start its line", "start every key at column 1")
                key, start, parts, is_list = event.value, at, [], False
                continue
            end = stop
            if parts is not None:
                parts.append(event.value)
        elif isinstance(event, yaml.CollectionStartEvent):
            _refuse_magic(event, at)
            if depth == 0 and (event.flow_style or not isinstance(event, yaml.MappingStartEvent)):
                raise _no_map(at)
            if depth and key is None:
                raise Flaw(at, "a key must be a plain word", "write 'key: value'")
            if depth >= MAX_DEPTH:
                raise Flaw(at, f"values nest deeper than {MAX_DEPTH} levels", "flatten this value")
            if depth:
                is_list = depth == 1 and isinstance(event, yaml.SequenceStartEvent)
                parts = parts if is_list else None
                end = stop
            depth += 1
            continue
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
            if stop > at:  # a closing bracket; the end of a block has no width
                end = stop
        elif isinstance(event, yaml.AliasEvent):
            raise Flaw(at, "front matter may not use aliases (*name)", "write the value out")
        elif isinstance(event, yaml.DocumentEndEvent) and event.explicit:
            raise Flaw(at, "the front matter ends before its last line", "remove the line '...'")
        elif isinstance(event, yaml.DocumentStartEvent):
            documents += 1
            if documents > 1:
                raise Flaw(at, "the front matter holds more than one YAML document", "keep one")
        if depth == 1 and key is not None:
            value: Value | None = None
            if parts is not None:
                value = tuple(parts) if is_list else parts[0]
            items.append(YamlKey(key, value, start, end))
            key = None
    return items


def _reach(event: Event) -> tuple[int, int]:
    """Where an event begins and ends in the text."""
    if event.start_mark is None or event.end_mark is None:  # a parser always sets both
        return 0, 0
    return event.start_mark.index, event.end_mark.index


def _refuse_magic(event: Event, at: int) -> None:
    if getattr(event, "anchor", None) is not None:
        raise Flaw(at, "front matter may not use anchors (&name)", "write the value out")
    if getattr(event, "tag", None) is not None:
        raise Flaw(at, "front matter may not use tags (!name)", "remove the tag")


def _no_map(at: int) -> Flaw:
    return Flaw(at, "the front matter is not a list of keys", "write one 'key: value' per line")
