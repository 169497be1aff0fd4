"""LTM's own export: write memories to a file, and read such a file or a vault elsewhere.

It is JSON with every field, one memory a line:

    {"format": "ltm", "version": 2, "exported_at": …, "agent": {"name"}, "project": {"id", "name"},
     "memories": [
    {…},
    {…}
    ], "count": 2}

It is one JSON value to those who read it whole, and a memory per line to those who stream it.
Version 1 is the export of LTM/Anima. Keys are not memories, so none is ever in it. A file that was
reformatted by another tool is read whole, within the limits. Anyone may have written it, so every
field is checked; a memory that cannot be read is a problem with its line, and hides no other.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from itertools import islice
from typing import Any, NoReturn, TextIO, TypeVar

from ltm.decisions import Copy
from ltm.errors import BadFile, LtmError, NotFound, Refused, WrongUsage
from ltm.files.atomic import (
    failed,
    name_file,
    new_file,
    sweep_unfinished,
    sync_folder,
    unfinished_name,
    unnamed_file,
)
from ltm.kinds import Kinds
from ltm.model import Filter, Memory, Phase, Status, Trust, as_record, choice, is_id, iso
from ltm.redact.redact import redact
from ltm.store.store import Store
from ltm.transfer.parse import items, mapping, text_of
from ltm.transfer.source import Origin
from ltm.vault import codec, frontmatter
from ltm.vault.fields import moment
from ltm.vault.frontmatter import is_text

NAME = "ltm"
"""The name of the format, in the file and for `--from`."""

VERSION = 2
_BATCH = 200
_T = TypeVar("_T", bound=StrEnum)
_MOST = 10**9
_OURS = re.compile(rb'\A\s*\{\s*"format"\s*:\s*"ltm"')
_OPENING = b'"memories":['
_KEYS = re.compile(rb"\A(?:\xef\xbb\xbf)?---\r?\n(?:.*\n)*?id: *mem_(?:.*\n)*?kind: ")
_ARCHIVED = re.compile(r"(mem_.+)\.v\d+\.[0-9a-f]{12}\.md\Z")


@dataclass(frozen=True, slots=True)
class ExportHeader:
    agent: str
    project_id: str
    project_name: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Exported:
    memories: int
    versions: int
    """Former texts that are in it."""
    without: int
    """Memories that said something else before, without those texts."""


def export(
    store: Store, out: TextIO, header: ExportHeader, wanted: Filter, *, versions: bool = False
) -> Exported:
    """Write memories, in the order of their ids; with `versions` the texts they had before, too."""
    head = {
        "format": NAME,
        "version": VERSION,
        "exported_at": iso(header.at),
        "agent": {"name": header.agent},
        "project": {"id": header.project_id, "name": header.project_name},
    }
    out.write(f'{_dump(head)[:-1]},\n"memories":[')
    memories = kept = without = 0
    every = store.every(wanted)
    # So many at a time that their versions can be looked up together.
    while batch := [stored.memory for stored in islice(every, _BATCH)]:
        changed = {memory.id for memory in batch if has_history(memory)}
        histories = store.histories(changed) if versions and changed else {}
        without += 0 if versions else len(changed)
        for memory in batch:
            record = as_record(memory)
            if memory.id in histories:
                record["versions"] = [as_record(each.memory) for each in histories[memory.id]]
                kept += len(record["versions"])
            out.write(f"{',' if memories else ''}\n{_dump(record)}")
            memories += 1
    out.write(f'\n],"count":{memories}}}\n')
    return Exported(memories, kept, without)


def has_history(memory: Memory) -> bool:
    """Whether a memory ever said something else, or says less than it did."""
    return (
        memory.version > 1
        or memory.phase is not Phase.FULL
        or memory.status in (Status.SUPERSEDED, Status.FORGOTTEN)
    )


@contextmanager
def export_file(path: str, staging: str = "") -> Iterator[TextIO]:
    """A file to export to, packed if its name ends in `.gz`: there whole or not at all.

    Readable by its owner only, and never in the place of a file that is not an export. A link is
    followed, and what is not a file (a pipe, `/dev/stdout`) is written to as it is. `staging` is a
    folder for the moment between having a name and replacing another file, if it is on the
    same disk.
    """
    if os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path):
        try:  # to put a file in its place would destroy it
            with open(path, "w", encoding="utf-8", newline="\n") as out:
                yield out
        except OSError as error:
            raise failed(error, "write the export", path) from error
        return
    path = os.path.realpath(path)
    _refuse_foreign(path)
    own, name = os.path.split(path)
    places = [folder for folder in (staging, own) if folder]
    for folder in places:
        sweep_unfinished(folder, name)
    temporary = ""
    try:
        handle = unnamed_file(own, 0o600)
        if handle < 0:
            temporary, handle = new_file(own, name, 0o600)
        try:
            with os.fdopen(handle, "wb") as file:
                if path.endswith(".gz"):
                    with gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packed:
                        yield from _text(packed)
                else:
                    yield from _text(file)
                file.flush()
                os.fsync(file.fileno())
                if temporary and os.name == "nt":
                    file.close()  # an open file cannot be renamed there
                if not temporary:
                    try:
                        name_file(file.fileno(), path)
                    except FileExistsError:
                        temporary = _named(file.fileno(), name, places)
                if temporary:
                    os.replace(temporary, path)
            sync_folder(own)
        except BaseException:
            if temporary and os.path.exists(temporary):
                os.unlink(temporary)
            raise
    except OSError as error:
        raise failed(error, "write the export", path) from error


def _named(handle: int, name: str, places: Sequence[str]) -> str:
    """Give an unnamed file, which can replace no other, a name from which it can; its path.

    In the first of the folders that is on its disk.
    """
    for folder in places:
        temporary = os.path.join(folder, unfinished_name(name))
        try:
            name_file(handle, temporary)
            break
        except OSError:  # on another disk, or not there
            if folder == places[-1]:
                raise
    return temporary


def _text(file: Any) -> Iterator[TextIO]:
    text = io.TextIOWrapper(file, "utf-8", newline="\n", write_through=False)
    try:
        yield text
        text.flush()
    finally:
        text.detach()


def _refuse_foreign(path: str) -> None:
    if os.path.isdir(path):
        raise Refused("is a folder", path=path, hint="name a file, such as memories.json")
    folder = os.path.dirname(path)
    if not os.path.isdir(folder):
        raise NotFound("there is no such folder", path=folder, hint=f"make it: mkdir -p '{folder}'")
    if not os.path.lexists(path):
        return
    opener = gzip.open if path.endswith(".gz") else open
    try:
        with opener(path, "rb") as file:
            head = file.read(200)
    except (OSError, EOFError):
        head = b"?"
    if head and not _OURS.match(head):
        raise Refused(
            "exists already and is not an export", path=path, hint="name another file, or delete it"
        )


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


# -- reading -------------------------------------------------------------------------------------


def is_export(origin: Origin) -> bool:
    return not origin.is_folder and bool(_OURS.match(origin.head(origin.path)))


def is_vault(origin: Origin) -> bool:
    memories = origin.folder("memories")
    paths = origin.files(memories, ".md") if memories else []
    return any(_KEYS.match(origin.head(path)) for path in paths)


class Export:
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
