"""The lines of a growing file, from where the last reading ended, in bounded memory.

Owns the cursor: how far a file was read, and by what it is known to be the same file still. A line
that is being written is left for the next time; a line too long to be true is passed over without
being held. Imports the standard library only.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from hashlib import blake2b
from typing import BinaryIO

LONGEST = 8 * 1024 * 1024
"""Bytes of a line that are read; no message of a person or an agent is longer."""

_CHUNK = 256 * 1024  # what the processor holds: a megabyte at once takes half as long again
_HEAD = 1024
_ANCHOR = 256

Place = tuple[int, int]
"""Bytes and lines before it."""


@dataclass(frozen=True, slots=True)
class Cursor:
    """How far a file was read, with fingerprints of its beginning and of what was read last.

    Not the inode: a file that was copied, restored or replaced by one that begins the same is read
    on, and one of the same inode with other contents is not.
    """

    offset: int = 0
    line: int = 0
    head: str = ""
    anchor: str = ""

    def text(self) -> str:
        """As a text that `cursor_of` reads."""
        return json.dumps(asdict(self), separators=(",", ":"))


def cursor_of(text: str) -> Cursor:
    """The cursor a text describes; the beginning when it describes none."""
    try:
        values = json.loads(text)
        cursor = Cursor(**{field.name: values[field.name] for field in fields(Cursor)})
    except (ValueError, KeyError, TypeError):
        return Cursor()
    sound = all(type(each) is int and each >= 0 for each in (cursor.offset, cursor.line))
    return cursor if sound else Cursor()


class Lines:
    """The lines of the file at `path` after `cursor`; a file that is not there has none.

    While they are read, `cursor` is the place after the last one, and `too_long` counts those that
    were passed over. A file that is not the one the cursor was made for is read from its start.
    """

    def __init__(self, path: str, cursor: Cursor | None = None) -> None:
        self.path = path
        self.too_long = 0
        self.number = 0
        """Number of the line that was handed out last, counted from 1."""
        self._start = cursor or Cursor()
        self._offset = -1

    @property
    def cursor(self) -> Cursor:
        """The place after the last line that was handed out."""
        return self._start if self._offset < 0 else self.cursor_at(self.place)

    @property
    def place(self) -> Place:
        """The same, for who may want it as a cursor later."""
        return self._offset, self.number

    def cursor_at(self, place: Place) -> Cursor:
        """A place that was passed, as a cursor."""
        with _opened(self.path) as file:
            return self._start if file is None else _mark(file, *place)

    def __iter__(self) -> Iterator[bytes]:
        with _opened(self.path) as file:
            if file is not None:
                yield from self._lines_of(file)

    def _lines_of(self, file: BinaryIO) -> Iterator[bytes]:
        start = self._start if _mark_holds(file, self._start) else Cursor()
        self._offset, self.number = start.offset, start.line
        # A last line without an end was handed out already: what ends it is not another line.
        former = _before(file, start.offset)
        ends_former = bool(former) and not former.endswith(b"\n")
        file.seek(start.offset)
        rest = b""
        passed = 0  # bytes of a line that is being passed over
        while chunk := file.read(_CHUNK):
            if passed:
                end = chunk.find(b"\n") + 1
                passed += end or len(chunk)
                if not end:
                    continue
                self._offset += passed
                self.number += 1
                chunk, passed = chunk[end:], 0
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                self._offset += len(line) + 1
                self.number += not ends_former
                ends_former = False
                if len(line) > LONGEST:
                    self.too_long += 1
                elif line and not line.isspace():
                    yield line
            if len(rest) > LONGEST:
                self.too_long += 1
                rest, passed = b"", len(rest)
        if rest and _is_complete(rest):
            self._offset += len(rest)
            self.number += 1
            yield rest


@contextmanager
def _opened(path: str) -> Iterator[BinaryIO | None]:
    """A plain file open for reading, None when there is none; a pipe is not waited for."""
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        handle = os.open(path, flags)
    except (OSError, ValueError):
        yield None
        return
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        yield None
        return
    with open(handle, "rb", buffering=0) as file:
        yield file


def _mark(file: BinaryIO, offset: int, line: int) -> Cursor:
    file.seek(0)
    head = _fingerprint(file.read(min(_HEAD, offset)))
    return Cursor(offset, line, head, _fingerprint(_before(file, offset)))


def _mark_holds(file: BinaryIO, cursor: Cursor) -> bool:
    return _mark(file, cursor.offset, cursor.line) == cursor


def _before(file: BinaryIO, offset: int) -> bytes:
    start = max(0, offset - _ANCHOR)
    file.seek(start)
    return file.read(offset - start)


def _fingerprint(data: bytes) -> str:
    return blake2b(data, digest_size=8).hexdigest()


def _is_complete(line: bytes) -> bool:
    """Whether a line without an end is whole all the same: no beginning of an object is one."""
    try:
        return isinstance(json.loads(line.decode("utf-8", "replace")), dict)
    except (ValueError, RecursionError):
        return False
