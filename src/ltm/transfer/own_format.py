"""Read what LTM itself wrote: an export, or a vault that lies somewhere else.

A file as it was written is read as a stream; one that was reformatted by another tool is read
whole, within the limits. Anyone may have written it, so every field is checked; a memory that
cannot be read is a problem with its line, and hides no other. A vault is a backup, or another
machine's folder.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from enum import StrEnum
from typing import Any, NoReturn, TypeVar

from ltm.decisions import Copy
from ltm.errors import BadFile, LtmError, Refused, WrongUsage
from ltm.kinds import Kinds
from ltm.model import Memory, Phase, Trust, choice, is_id
from ltm.redact.redact import redact
from ltm.transfer.export import VERSION, begins_export
from ltm.transfer.parse import items, mapping, text_of
from ltm.transfer.source import Origin
from ltm.vault import codec, frontmatter
from ltm.vault.fields import moment
from ltm.vault.frontmatter import is_text

NAME = "ltm"
_T = TypeVar("_T", bound=StrEnum)
_MOST = 10**9
_OPENING = b'"memories":['
_KEYS = re.compile(rb"\A(?:\xef\xbb\xbf)?---\r?\n(?:.*\n)*?id: *mem_(?:.*\n)*?kind: ")
_ARCHIVED = re.compile(r"(mem_.+)\.v\d+\.[0-9a-f]{12}\.md\Z")


def is_export(origin: Origin) -> bool:
    """Whether a source is an export of ltm."""
    return not origin.is_folder and begins_export(origin.head(origin.path))


def is_vault(origin: Origin) -> bool:
    """Whether a source is a vault of ltm."""
    memories = origin.folder("memories")
    paths = origin.files(memories, ".md") if memories else []
    return any(_KEYS.match(origin.head(path)) for path in paths)


class Export:
    """An export to be read, more than once if need be."""

    def __init__(self, origin: Origin) -> None:
        """Refused if a newer ltm wrote it, or if it has no head."""
        self._origin = origin
        self._whole: Mapping[str, Any] | None = None
        head = self._streamed_head()
        if head is None:
            self._whole = head = mapping(origin.json(origin.path))
        version = head.get("version")
        where = origin.shown(origin.path)
        if not isinstance(version, int) or version < VERSION:
            cause = origin.problems[-1] if origin.problems else None
            message = f"is not a whole export of ltm{f': it {cause.message}' if cause else ''}"
            raise BadFile(message, path=where, line=cause.line if cause else 1)
        if version > VERSION:
            raise Refused(
                f"was written by a newer ltm (format {version}; this one reads {VERSION})",
                path=where,
                hint="update ltm, then import it again",
            )
        self.agent = text_of(mapping(head.get("agent")).get("name"))
        """The agent whose own memories are in it."""

    def entries(self, kinds: Kinds, *, reporting: bool) -> Iterator[tuple[int, Copy]]:
        """Every memory with its line; with `reporting`, at first reading, problems are noted."""
        seen: set[str] = set()
        for number, (line, record) in enumerate(self._records(reporting), start=1):
            self._origin.limits.check_entries(number, self._origin.given)
            try:
                memory = checked(record, kinds)
                kept = tuple(checked(each, kinds) for each in items(record.get("versions")))
                if memory.id in seen:
                    raise Refused(f"{memory.id} stands here a second time")
                if any(each.id != memory.id for each in kept):
                    raise Refused(f"a version of {memory.id} is of another memory")
            except Refused as error:
                if reporting:
                    self._origin.problem(self._origin.path, error.message, line)
                continue
            seen.add(memory.id)
            yield line, Copy(memory, kept)

    def _streamed_head(self) -> Mapping[str, Any] | None:
        """The head of a file that is as we wrote it: alone on the first line."""
        lines = self._origin.lines(self._origin.path, counted=False)
        first = next(lines, (0, b""))[1].rstrip()
        second = next(lines, (0, b""))[1].strip()
        lines.close()
        if second != _OPENING or not first.endswith(b","):
            return None
        head = _json(first[:-1] + b"}")
        return head if isinstance(head, dict) else None

    def _records(self, reporting: bool) -> Iterator[tuple[int, Any]]:
        if self._whole is not None:
            yield from ((0, each) for each in items(self._whole.get("memories")))
            return
        count, foot = 0, None
        for number, line in self._origin.lines(self._origin.path, counted=reporting):
            data = line.strip()
            if number > 2 and data.startswith(b"]"):
                foot = _json(b"{" + data[1:].lstrip(b","))
            elif number > 2 and data:
                count += 1
                yield number, _json(data.removesuffix(b","))
        if reporting and mapping(foot).get("count") != count:
            self._origin.problem(self._origin.path, "the file is cut off; the rest was read")


def _json(data: bytes) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


class VaultFolder:
    """A vault to be read, more than once if need be."""

    def __init__(self, origin: Origin) -> None:
        self._origin = origin
        folder = origin.path
        # `<home>/agents/<agent>`: what lies there is that agent's own.
        of_agent = os.path.basename(os.path.dirname(folder)) == "agents"
        self.agent = os.path.basename(folder) if of_agent else ""
        """The agent whose own memories are in it; '' when it is a project's."""

    def entries(self, kinds: Kinds, *, reporting: bool) -> Iterator[tuple[int, Copy]]:
        """Every memory with its kept versions; with `reporting`, what is wrong is noted."""
        seen: set[str] = set()
        archives = self._archives()
        for path in self._origin.files(os.path.join(self._origin.path, "memories"), ".md"):
            memory = self._read(path, kinds, reporting)
            if memory is None or memory.id in seen:
                continue
            seen.add(memory.id)
            kept = [self._read(each, kinds, reporting) for each in archives.get(memory.id, ())]
            whole = tuple(each for each in kept if each is not None and each.id == memory.id)
            yield 0, Copy(memory, whole)

    def _read(self, path: str, kinds: Kinds, reporting: bool) -> Memory | None:
        data = self._origin.data(path, counted=reporting)
        if data is None:
            return None
        try:
            document = frontmatter.parse(data, path)
            return codec.decode(document, path, kinds, seen=self._origin.modified(path))
        except LtmError as error:
            if reporting:
                self._origin.problem(path, error.message, error.line or 0)
            return None

    def _archives(self) -> dict[str, list[str]]:
        folder = os.path.join(self._origin.path, "archives")
        found: dict[str, list[str]] = {}
        for path in self._origin.files(folder, ".md") if os.path.isdir(folder) else ():
            archived = _ARCHIVED.match(os.path.basename(path))
            if archived:
                found.setdefault(archived[1], []).append(path)
        return found


def cleaned(copy: Copy) -> tuple[Copy, bool]:
    """A copy without secrets, and whether it had any; what ltm kept never has."""
    memory, kept = _without_secrets(copy.memory), tuple(map(_without_secrets, copy.kept))
    if (memory, kept) == (copy.memory, copy.kept):
        return copy, False
    return replace(copy, memory=memory, kept=kept), True


def _without_secrets(memory: Memory) -> Memory:
    changes: dict[str, str] = {}
    for name in ("title", "summary", "content", "reason"):
        done = redact(getattr(memory, name))
        if done.kinds:
            changes[name] = done.text
    return memory._replace(**changes) if changes else memory  # type: ignore[arg-type]


def checked(record: Any, kinds: Kinds) -> Memory:
    """The memory a record of an export describes; refused, with the field, when there is none."""
    if not isinstance(record, dict):
        raise Refused("a memory is not an object")
    reading = _Reading(record)
    source = record.get("source", {})
    origin = _Reading(source if isinstance(source, dict) else reading.bad("source"), "source.")
    memory_id, title = reading.text("id"), reading.text("title")
    try:
        kind = kinds.parse(reading.text("kind")).name
    except WrongUsage:
        reading.bad("kind")
    return codec.assembled(
        reading,
        origin,
        trust=Trust.IMPORT,
        id=memory_id if is_id(memory_id) else reading.bad("id"),
        kind=kind,
        title=title if title.strip() and not {"\n", "\r"} & set(title) else reading.bad("title"),
        summary=reading.text("summary"),
        content=reading.text("content"),
        created=reading.moment("created"),
    )


class _Reading:
    """The fields of one record, each as the type it must have."""

    def __init__(self, record: Mapping[str, Any], prefix: str = "") -> None:
        self._record = record
        self._prefix = prefix

    def bad(self, name: str) -> NoReturn:
        shown = repr(self._record.get(name))[:40]
        raise Refused(f"'{self._prefix}{name}' cannot be {shown}")

    def text(self, name: str) -> str:
        value = self._record.get(name, "")
        return value if isinstance(value, str) and is_text(value) else self.bad(name)

    def texts(self, name: str) -> tuple[str, ...]:
        value = self._record.get(name, [])
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            self.bad(name)
        return tuple(value) if all(map(is_text, value)) else self.bad(name)

    def moment(self, name: str, default: datetime | None = None) -> datetime:
        if default is not None and name not in self._record:
            return default
        value = self._record.get(name)
        found = moment(value) if isinstance(value, str) else None
        return found if found is not None else self.bad(name)

    def choice(self, name: str, default: _T) -> _T:
        value = self._record.get(name, default.value)
        try:
            return choice(type(default), value) if isinstance(value, str) else self.bad(name)
        except WrongUsage:
            self.bad(name)

    def flag(self, name: str) -> bool:
        value = self._record.get(name, False)
        return value if isinstance(value, bool) else self.bad(name)

    def share(self, name: str, default: float) -> float:
        value = self._record.get(name, default)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
            self.bad(name)
        return float(value)

    def count(self, name: str) -> int:
        return self._number(name, 1, 1, _MOST)

    def phase(self) -> Phase:
        return Phase(self._number("phase", 0, 0, 3))

    def _number(self, name: str, default: int, least: int, most: int) -> int:
        value = self._record.get(name, default)
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            self.bad(name)
        return value
