"""Write memories to a file: JSON with every field, one memory a line.

    {"format": "ltm", "version": 2, "exported_at": …, "agent": {"name"}, "project": {"id", "name"},
     "memories": [
    {…},
    {…}
    ], "count": 2}

It is one JSON value to those who read it whole, and a memory per line to those who stream it.
Version 1 is the export of LTM/Anima. Keys are not memories, so none is ever in it.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any, TextIO

from ltm.errors import NotFound, Refused
from ltm.files.atomic import (
    failed,
    name_file,
    new_file,
    sweep_unfinished,
    sync_folder,
    unfinished_name,
    unnamed_file,
)
from ltm.model import Filter, Memory, Phase, Status, as_record, iso
from ltm.store.store import Store

FORMAT = "ltm"
VERSION = 2
_BATCH = 200
_OURS = re.compile(rb'\A\s*\{\s*"format"\s*:\s*"ltm"')


@dataclass(frozen=True, slots=True)
class ExportHeader:
    """Whose memories they are, and when they were written out."""

    agent: str
    project_id: str
    project_name: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Exported:
    """How much was written."""

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
        "format": FORMAT,
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


def begins_export(head: bytes) -> bool:
    """Whether a file that begins like this is one of our exports."""
    return _OURS.match(head) is not None


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
    if head and not begins_export(head):
        raise Refused(
            "exists already and is not an export", path=path, hint="name another file, or delete it"
        )


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
