"""Where the entries of a transcript come from: a file of lines, a JSON document, a database.

All give lines of JSON after a place, and a mark by which a place is known again. A file is read to
its last complete line; documents and rows from their beginning, passing over what is known. Whose
transcript it is, is seen from its first entry, never from a path, because any file can have one.
"""

from __future__ import annotations

import json
import os
import sqlite3
import stat
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, fields
from hashlib import blake2b
from itertools import islice
from typing import Any, BinaryIO

from ltm.errors import LtmError
from ltm.files.atomic import read_plain
from ltm.files.sqlite import READ_ONLY, foreign, foreign_columns, foreign_tables
from ltm.sessions.port import Entry, Reader, SessionOrigin
from ltm.sessions.readers import READERS, reader_of
from ltm.sessions.turns import Turn

LONGEST = 8 * 1024 * 1024
"""Bytes of a line that are read; no message of a person or an agent is longer."""

DOCUMENT = 64 * 1024 * 1024
"""Bytes of a JSON document that are read."""

_CHUNK = 256 * 1024  # what the processor holds: a megabyte at once takes half as long again
_HEAD = 1024
_ANCHOR = 256
_FIRST = 200
"""Lines among which those are that say whose transcript it is, where and when it began."""

_BEGINNING = 2 * LONGEST
"""Bytes among which they are."""

_MAGIC = b"SQLite format 3\0"
_WITHIN = "#"
"""Stands between a database and the session that is meant in it."""

_DOCUMENT = ".json"
"""How the names of documents end, of all clients that write some."""

_DECODER = json.JSONDecoder(strict=False)

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
        return json.dumps(asdict(self), separators=(",", ":"))


def cursor_of(text: str) -> Cursor:
    try:
        values = json.loads(text)
        cursor = Cursor(**{field.name: values[field.name] for field in fields(Cursor)})
    except (ValueError, KeyError, TypeError):
        return Cursor()
    sound = all(type(each) is int and each >= 0 for each in (cursor.offset, cursor.line))
    return cursor if sound else Cursor()


@dataclass(slots=True)
class Line:
    """One line, or with no data the place after something that is not one."""

    data: bytes
    end: int
    """Bytes up to its end."""
    number: int
    is_too_long: bool = False
    may_hold_turns: bool | None = None
    parsed: tuple[list[Turn] | None] | None = None


class LineFile:
    """A file with an entry a line, open until it is closed."""

    def __init__(self, path: str, file: BinaryIO) -> None:
        self.path = path
        self._file = file
        self._reader: Reader | None = None
        self._origin: SessionOrigin | None = None

    @property
    def reader(self) -> Reader:
        """Who can read it; as long as it is empty, that is not settled."""
        if self._reader is None:
            first = next(self._entries(), None)
            if first is None:
                return reader_of({})
            self._reader = reader_of(first)
        return self._reader

    def is_known(self) -> bool:
        """Whether some client writes entries as they stand at its beginning."""
        return any(reader.knows(entry) for entry in self._entries() for reader in READERS.values())

    @property
    def origin(self) -> SessionOrigin:
        if self._origin is None:
            origin = self.reader.origin(self.path, self._entries())
            if self._reader is None:
                return origin
            self._origin = origin
        return self._origin

    def _entries(self) -> Iterator[Entry]:
        for line in islice(self.lines((0, 0)), _FIRST):
            if line.end > _BEGINNING:
                return
            entry = entry_in(line.data) if line.data else None
            if entry:
                yield entry

    def lines(self, place: Place) -> Iterator[Line]:
        """The lines after a place; blank ones and those that are too long have no data."""
        return _scan(self._file, *place)

    def mark(self, place: Place) -> Cursor:
        """A place as it is known again."""
        offset, line = place
        self._file.seek(0)
        head = _fingerprint(self._file.read(min(_HEAD, offset)))
        return Cursor(offset, line, head, _fingerprint(_before(self._file, offset)))

    def extent(self) -> int:
        return os.fstat(self._file.fileno()).st_size

    def is_there_still(self, mark: Cursor) -> bool:
        """Whether the path still leads to this file, and what was read still stands in it."""
        try:
            now, then = os.stat(self.path), os.fstat(self._file.fileno())
        except (OSError, ValueError):
            return False
        same = (now.st_dev, now.st_ino) == (then.st_dev, then.st_ino)
        return same and (mark == Cursor() or self.mark((mark.offset, mark.line)) == mark)

    @property
    def is_closed(self) -> bool:
        return self._file.closed

    def close(self) -> None:
        self._file.close()


class RecordFile:
    """A transcript whose entries are no lines: they are numbered and measured as if they were."""

    is_closed = False

    def __init__(self, path: str, reader: Reader, session: str = "") -> None:
        self.path = path
        self.reader = reader
        self._session = session
        self._stamp = _stamp(path)
        self._marks: list[str] = []

    @property
    def origin(self) -> SessionOrigin:
        with closing(self._entries()) as entries:
            return self.reader.origin(self.path, islice(entries, 1))

    def lines(self, place: Place) -> Iterator[Line]:
        end, number = 0, 0
        with closing(self._entries()) as entries:
            for entry in islice(entries, 1, None):
                # A damaged database may hold bytes where a text was.
                data = json.dumps(entry, ensure_ascii=False, default=str).encode("utf-8", "replace")
                end, number = end + len(data) + 1, number + 1
                if number > len(self._marks):
                    self._marks.append(_fingerprint(data))
                if number > place[1]:
                    is_too_long = len(data) > LONGEST
                    yield Line(b"" if is_too_long else data, end, number, is_too_long)

    def mark(self, place: Place) -> Cursor:
        offset, number = place
        if number > len(self._marks):
            for _ in self.lines((0, number)):
                pass
        marks = self._marks
        known = 0 < number <= len(marks)
        return Cursor(offset, number, marks[0] if known else "", marks[number - 1] if known else "")

    def extent(self) -> int:
        return max((line.end for line in self.lines((0, 0))), default=0)

    def is_there_still(self, mark: Cursor) -> bool:
        """Whether nothing was written to it since it was opened."""
        return _stamp(self.path) == self._stamp

    def close(self) -> None:
        """Nothing is held open between two readings."""

    def _entries(self) -> Generator[Entry]:
        """What it says of itself, then its entries; none when it cannot be read."""
        if self.reader.rows is None or not self._session:
            yield from _document(self.path, self.reader)
            return
        try:
            with _database(self.path) as db:
                yield from self.reader.rows(db, self._session)
        except (OSError, sqlite3.Error, ValueError):
            return  # its client is at work on it, or it is damaged: what was read is sound


def opened(path: str) -> LineFile | RecordFile | None:
    """A transcript, open for reading; None when there is none. A pipe is not waited for."""
    file_path, session = split(path)
    if session:
        reader = database_reader(file_path)
        return None if reader is None else RecordFile(file_path, reader, session)
    file = _open_plain(path)
    if file is None:
        return None
    reader = _document_reader(path, file)
    if reader is not None:
        file.close()
        return RecordFile(path, reader)
    return LineFile(path, file)


def split(path: str) -> tuple[str, str]:
    """The file of a transcript, and the session that is meant in it, '' for all there is."""
    file, mark, session = path.rpartition(_WITHIN)
    if mark and session and os.sep not in session and not os.path.exists(path):
        return file, session
    return path, ""


def file_of(path: str) -> str:
    return split(path)[0]


def is_transcript(path: str) -> bool:
    """Whether there is such a file, or the database with such a session."""
    return bool(path) and os.path.isfile(file_of(path))


def is_readable(path: str) -> bool:
    """Whether a file is empty, or has entries of a client near its beginning."""
    source = opened(path)
    if not isinstance(source, LineFile):
        return source is not None
    with closing(source):
        return source.extent() == 0 or source.is_known()


def extent(path: str) -> int:
    """How long a transcript is, as a cursor counts; `OSError` when there is none."""
    if not split(path)[1] and not path.endswith(_DOCUMENT):
        return os.stat(path).st_size  # without opening it: this is asked after every event
    source = opened(path)
    if source is None:
        raise FileNotFoundError(path)
    try:
        return source.extent()
    finally:
        source.close()


def sessions_in(path: str) -> list[tuple[str, float]] | None:
    """The transcripts in a database, and when each was written; None for another file."""
    reader = database_reader(path)
    if reader is None or reader.sessions is None:
        return None
    try:
        with _database(path) as db:
            return [(f"{path}{_WITHIN}{name}", at) for name, at in reader.sessions(db)]
    except (OSError, sqlite3.Error, ValueError):
        return []


def database_reader(path: str) -> Reader | None:
    """Who can read the sessions in a database; None if it is none, or another program's."""
    try:
        with open(path, "rb") as file:
            if file.read(len(_MAGIC)) != _MAGIC:
                return None
        with _database(path) as db:
            stored = {name: foreign_columns(db, name) for name in foreign_tables(db)}
    except (OSError, sqlite3.Error, ValueError):
        return None
    able = [
        reader
        for reader in READERS.values()
        if reader.tables
        and all(columns <= stored.get(name, frozenset()) for name, columns in reader.tables.items())
    ]
    name = os.path.basename(path)
    return next((each for each in able if name.startswith(each.name)), next(iter(able), None))


@contextmanager
def _database(path: str) -> Iterator[sqlite3.Connection]:
    """A client's database, to be read only: nothing is written next to it, no lock is waited for.

    Its newest rows may only be in the log next to it. Then its client is at work, or was stopped
    in the middle; the log is read with it.
    """
    log = f"{path}-wal"
    has_log = os.path.isfile(log) and os.path.getsize(log) > 0 and os.path.exists(f"{path}-shm")
    with closing(foreign(path, "mode=ro" if has_log else READ_ONLY)) as db:
        db.text_factory = lambda data: data.decode("utf-8", "replace")
        yield db


def _document_reader(path: str, file: BinaryIO) -> Reader | None:
    """Who can read a file that is one JSON document; None for a file of lines."""
    beginning = file.read(_HEAD)
    if not beginning.lstrip().startswith(b"{"):
        return None
    first, end, rest = beginning.partition(b"\n")
    if first.strip() != b"{":  # what is written over several lines begins so
        # In pieces: without a buffer, a line is read byte by byte.
        while not end and (more := file.read(_CHUNK)):
            _, end, rest = more.partition(b"\n")
        if rest or file.read(1):
            return None
    whole = _whole(path)
    if not any(reader.messages.encode() in whole for reader in READERS.values() if reader.messages):
        return None
    document = entry_in(whole)
    if not document:
        return None
    return next(
        (
            reader
            for reader in READERS.values()
            if reader.messages and reader.messages in document and reader.knows(document)
        ),
        None,
    )


def _document(path: str, reader: Reader) -> Iterator[Entry]:
    document = dict(entry_in(_whole(path)) or {})
    messages = document.pop(reader.messages, None)
    yield document
    for each in messages if isinstance(messages, list) else []:
        yield each if isinstance(each, dict) else {}


def _whole(path: str) -> bytes:
    try:
        return read_plain(path, limit=DOCUMENT)
    except (OSError, LtmError):
        return b""


def _stamp(path: str) -> tuple[object, ...]:
    """What changes when a file or the log of a database is written to."""
    found: list[object] = []
    for each in (path, f"{path}-wal"):
        try:
            info = os.stat(each)
        except (OSError, ValueError):
            found.append(None)
            continue
        found.append((info.st_ino, info.st_mtime_ns, info.st_size))
    return tuple(found)


def _scan(file: BinaryIO, offset: int, number: int) -> Iterator[Line]:
    """The lines after a place; blank ones and those that are too long have no data."""
    # A last line without an end was handed out already: what ends it is not another line.
    former = _before(file, offset)
    ends_former = bool(former) and not former.endswith(b"\n")
    place = offset
    rest = b""
    passed = 0  # bytes of a line that is being passed over
    while True:
        file.seek(place)  # others may read the same file in between
        chunk = file.read(_CHUNK)
        if not chunk:
            break
        place += len(chunk)
        if passed:
            end = chunk.find(b"\n") + 1
            passed += end or len(chunk)
            if not end:
                continue
            offset += passed
            number += 1
            yield Line(b"", offset, number, is_too_long=True)
            chunk, passed = chunk[end:], 0
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            offset += len(line) + 1
            number += not ends_former
            ends_former = False
            is_too_long = len(line) > LONGEST
            yield Line(b"" if is_too_long or line.isspace() else line, offset, number, is_too_long)
        if len(rest) > LONGEST:
            rest, passed = b"", len(rest)
    # The last line may be whole without its end: no beginning of an object is an object.
    if rest and entry_in(rest):
        yield Line(rest, offset + len(rest), number + 1)


def _open_plain(path: str) -> BinaryIO | None:
    """A plain file open for reading, None when there is none; a pipe is not waited for."""
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        handle = os.open(path, flags)
    except (OSError, ValueError):
        return None
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        return None
    return open(handle, "rb", buffering=0)


def _before(file: BinaryIO, offset: int) -> bytes:
    start = max(0, offset - _ANCHOR)
    file.seek(start)
    return file.read(offset - start)


def _fingerprint(data: bytes) -> str:
    return blake2b(data, digest_size=8).hexdigest()


def entry_in(line: bytes) -> dict[str, Any] | None:
    """The JSON object of a line, an empty one for another value; None when it cannot be read."""
    try:
        # A broken character costs that character and not the line.
        text = line.strip().decode("utf-8", "replace")
        value, end = _DECODER.raw_decode(text)
    except (ValueError, RecursionError):
        return None
    if end < len(text):
        return None  # more than one value
    return value if isinstance(value, dict) else {}
