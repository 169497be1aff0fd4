"""Reading our own export, memory by memory, whatever happened to it on the way.

Owns the way back from `export`'s format. A file as it was written is read as a stream; one that was
reformatted by another tool is read whole, within the limits. A memory that cannot be read is a
problem with its line, and hides no other. Imports core and this package.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ltm.core.decision import Copy
from ltm.core.errors import BadFile, Refused
from ltm.core.kinds import Kinds
from ltm.core.model import Memory
from ltm.core.redact import redact
from ltm.transfer.export import VERSION, is_export
from ltm.transfer.origin import Origin
from ltm.transfer.record import checked
from ltm.transfer.values import items, mapping, text_of

NAME = "ltm"
_OPENING = b'"memories":['


def finds(origin: Origin) -> bool:
    """Whether a file is an export of ltm."""
    return not origin.is_folder and is_export(origin.head(origin.path))


@dataclass(frozen=True, slots=True)
class ExportEntry:
    """A memory of an export, and the line it stands on."""

    line: int
    copy: Copy


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
            raise BadFile("is not a whole export of ltm", path=where, line=1)
        if version > VERSION:
            raise Refused(
                f"was written by a newer ltm (format {version}; this one reads {VERSION})",
                path=where,
                hint="update ltm, then import it again",
            )
        self.agent = text_of(mapping(head.get("agent")).get("name"))
        """The agent whose own memories are in it."""

    def entries(self, kinds: Kinds, *, telling: bool) -> Iterator[ExportEntry]:
        """Every memory; with `telling`, for the first reading, what is wrong is noted."""
        seen: set[str] = set()
        for number, (line, record) in enumerate(self._records(telling), start=1):
            self._origin.budget.refuse_more(number, self._origin.said)
            try:
                memory = checked(record, kinds)
                kept = tuple(checked(each, kinds) for each in items(record.get("versions")))
                if memory.id in seen:
                    raise Refused(f"{memory.id} stands here a second time")
                if any(each.id != memory.id for each in kept):
                    raise Refused(f"a version of {memory.id} is of another memory")
            except Refused as error:
                if telling:
                    self._origin.problem(self._origin.path, error.message, line)
                continue
            seen.add(memory.id)
            yield ExportEntry(line, Copy(memory, kept))

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

    def _records(self, telling: bool) -> Iterator[tuple[int, Any]]:
        if self._whole is not None:
            yield from ((0, each) for each in items(self._whole.get("memories")))
            return
        count, foot = 0, None
        for number, line in self._origin.lines(self._origin.path, counted=telling):
            said = line.strip()
            if number > 2 and said.startswith(b"]"):
                foot = _json(b"{" + said[1:].lstrip(b","))
            elif number > 2 and said:
                count += 1
                yield number, _json(said.removesuffix(b","))
        if telling and mapping(foot).get("count") != count:
            self._origin.problem(self._origin.path, "the file is cut off; the rest was read")


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


def _json(data: bytes) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None
