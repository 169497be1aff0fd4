"""A transcript as a stream of turns, from a cursor, each message once, in bounded memory.

A cursor says how far a file was read, and by what it is known to be the same file still. A line
that is being written is left for the next time; one too long to be true is passed over without
being held; one that cannot be read is skipped. A fork or a resumed session repeats whole
conversations under the same uuids: messages that were read before are left out. A tool's result is
joined to its call.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from hashlib import blake2b
from itertools import islice
from typing import Any, BinaryIO, Protocol

from ltm.project.home import client_folder, scratch_folder
from ltm.sessions.claude_code import holds_nothing, turns_of
from ltm.sessions.turns import Commit, ToolResult, ToolUse, Turn

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


@dataclass(slots=True)
class _Line:
    """One line, or with no data the place after something that is not one."""

    data: bytes
    end: int
    """Bytes up to its end."""
    number: int
    is_too_long: bool = False
    parsed: tuple[list[Turn] | None] | None = None


class Lines:
    """The lines of the file at `path` after `cursor`; a file that is not there has none.

    While they are read, `cursor` is the place after the last one, and `too_long` counts those that
    were passed over. A file that is not the one the cursor was made for is read from its start.
    """

    def __init__(
        self, path: str, cursor: Cursor | None = None, held: _HeldFile | None = None
    ) -> None:
        self.path = path
        self.too_long = 0
        self.number = 0
        """Number of the line that was handed out last, counted from 1."""
        self._start = cursor or Cursor()
        self._offset = -1
        self._held = held
        self._line = _Line(b"", 0, 0)

    @property
    def cursor(self) -> Cursor:
        """The place after the last line that was handed out."""
        return self._start if self._offset < 0 else self.cursor_at(self.place)

    @property
    def place(self) -> Place:
        """The same, to be made a cursor later."""
        return self._offset, self.number

    def cursor_at(self, place: Place) -> Cursor:
        """A place that was passed, as a cursor."""
        with self._opened() as file:
            return self._start if file is None else _mark(file, *place)

    def turns(self, line: bytes) -> list[Turn] | None:
        """The turns in the line that was handed out last; None when it cannot be read."""
        if self._line.parsed is None:
            entry = _entry_in(line)
            self._line.parsed = (None if entry is None else turns_of(entry, self.number),)
        return self._line.parsed[0]

    def __iter__(self) -> Iterator[bytes]:
        with self._opened() as file:
            if file is None:
                return
            start = self._start if _mark_holds(file, self._start) else Cursor()
            self._offset, self.number = start.offset, start.line
            held = self._held
            for line in held.lines(self.place) if held else _scan(file, *self.place):
                self._offset, self.number, self._line = line.end, line.number, line
                self.too_long += line.is_too_long
                if line.data:
                    yield line.data

    @contextmanager
    def _opened(self) -> Iterator[BinaryIO | None]:
        file = self._held.file if self._held else _open_plain(self.path)
        try:
            yield file
        finally:
            if file is not None and self._held is None:
                file.close()


LineSource = Callable[[str, Cursor | None], Lines]
"""Gives the lines of the file at a path after a cursor: `Lines`, or `Transcripts.lines`."""

HELD = 8 * 1024 * 1024
"""Bytes of transcripts that are held for their next reader."""


class Transcripts:
    """Transcripts that several readers go through: each line is read and parsed once for all.

    Every reader has its own cursor, and sees what a reading of its own would give it. What is held
    is limited: the rest of a longer transcript is read again by each.
    """

    def __init__(self, most: int = HELD) -> None:
        self._most = most
        self._files: dict[str, _HeldFile] = {}
        self._replaced: list[_HeldFile] = []

    def lines(self, path: str, cursor: Cursor | None = None) -> Lines:
        """The lines of the file at `path` after `cursor`."""
        held = self._files.pop(path, None)
        if held is not None and not held.is_as_it_was():
            self._replaced.append(held)  # a reader may be in the middle of it
            held = None
        if held is None:
            while sum(each.size for each in self._files.values()) > self._most // 2:
                self._files.pop(next(iter(self._files))).file.close()
            file = _open_plain(path)
            if file is None:
                return Lines(path, cursor)
            room = self._most - sum(each.size for each in self._files.values())
            held = _HeldFile(path, file, room)
        self._files[path] = held
        return Lines(path, cursor, held)

    def close(self) -> None:
        """Let go of all that is held; what was handed out must not be read any more."""
        for held in (*self._files.values(), *self._replaced):
            held.file.close()
        self._files.clear()
        self._replaced.clear()


class _HeldFile:
    """A file, and its lines by the bytes before each, up to a number of bytes."""

    def __init__(self, path: str, file: BinaryIO, most: int) -> None:
        self.path = path
        self.file = file
        self.size = 0
        self._most = most
        self._lines: dict[int, _Line] = {}
        self._end: Place = (0, 0)
        self._mark = Cursor()

    def is_as_it_was(self) -> bool:
        """Whether the path still leads to this file, and what is held still stands in it."""
        try:
            now, then = os.stat(self.path), os.fstat(self.file.fileno())
        except (OSError, ValueError):
            return False
        same = (now.st_dev, now.st_ino) == (then.st_dev, then.st_ino)
        return same and _mark_holds(self.file, self._mark)

    def lines(self, place: Place) -> Iterator[_Line]:
        """The lines after a place: those that are held, and those of the file."""
        unheld: Iterator[_Line] | None = None
        offset, number = place
        try:
            while True:
                line = self._lines.get(offset)
                if line is None:
                    unheld = unheld or _scan(self.file, offset, number)
                    line = next(unheld, None)
                    if line is None:
                        return
                    size = len(line.data)
                    # One without its end may have more the next time.
                    if line.end - offset > size and self.size + size <= self._most:
                        self._lines[offset] = line
                        self.size += size
                        self._end = max(self._end, (line.end, line.number))
                else:
                    unheld = None
                offset, number = line.end, line.number
                yield line
        finally:
            if not self.file.closed:
                self._mark = _mark(self.file, *self._end)


def _scan(file: BinaryIO, offset: int, number: int) -> Iterator[_Line]:
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
            yield _Line(b"", offset, number, is_too_long=True)
            chunk, passed = chunk[end:], 0
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            offset += len(line) + 1
            number += not ends_former
            ends_former = False
            is_too_long = len(line) > LONGEST
            yield _Line(b"" if is_too_long or line.isspace() else line, offset, number, is_too_long)
        if len(rest) > LONGEST:
            rest, passed = b"", len(rest)
    # The last line may be whole without its end: no beginning of an object is an object.
    if rest and _entry_in(rest):
        yield _Line(rest, offset + len(rest), number + 1)


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


IN_ONE = 50_000
"""Messages of one transcript to remember: 6 MB, twice over. None repeats itself from farther."""

_DECODER = json.JSONDecoder(strict=False)
_REMEMBERED = 200_000
_OPEN_CALLS = 2_000
_AHEAD, _AHEAD_BYTES = 200, 256 * 1024
_HEAD_OF_RESULT = 4_000
_COMMITTED = re.compile(
    r"^\[(?P<branch>[^\]\n]{1,200}?)(?: \(root-commit\))? (?P<hash>[0-9a-f]{7,40})\]"
    r" (?P<subject>\S.*)$",
    re.MULTILINE,
)


class MessageHistory(Protocol):
    """Which messages were read before."""

    def is_new(self, uuid: str) -> bool:
        """Whether this message is met for the first time; from now on it is not."""


class Recent:
    """The last few hundred thousand messages, forgotten when the program ends."""

    def __init__(self, most: int = _REMEMBERED) -> None:
        self._most = most
        self._new: set[str] = set()
        self._old: set[str] = set()

    def is_new(self, uuid: str) -> bool:
        """Whether this message is met for the first time; from now on it is not."""
        if uuid in self._new or uuid in self._old:
            return False
        if len(self._new) >= self._most:
            self._old, self._new = self._new, set()
        self._new.add(uuid)
        return True


class Unknown:
    """Messages that a database does not know, and that were not met here.

    A reading says which come next (`expect`), so that the database is asked once for some hundred
    of them: one by one, its locks alone took a tenth of the time a transcript takes.
    """

    def __init__(self, known: Callable[[Sequence[str]], set[str]]) -> None:
        self._known = known
        self._expected: dict[str, bool] = {}
        self.met: dict[str, None] = {}
        """Those met since the last `forget`, in order."""

    def expect(self, uuids: Sequence[str]) -> None:
        """These are asked about next."""
        known = self._known(uuids)
        self._expected = {uuid: uuid in known for uuid in uuids}

    def is_new(self, uuid: str) -> bool:
        """Whether this message is met for the first time; from now on it is not."""
        if uuid in self.met or self.is_known(uuid):
            return False
        self.met[uuid] = None
        return True

    def is_known(self, uuid: str) -> bool:
        """Whether a message is noted."""
        known = self._expected.get(uuid)
        return bool(self._known([uuid])) if known is None else known

    def forget(self) -> None:
        """Let go of those that were met: they are noted now, and what was known before is old."""
        self.met.clear()
        self._expected.clear()


class TranscriptReader:
    """The turns of a transcript after a cursor; `cursor` is the place after those handed out."""

    def __init__(self, lines: Lines, seen: MessageHistory, only: tuple[bytes, ...] = ()) -> None:
        self._lines = lines
        self._seen = seen
        self._only = only
        self._calls: dict[str, ToolUse] = {}
        self._place: Place | None = None
        self.unreadable = 0
        """Lines that are not JSON, or that are too long."""
        self.repeated = 0
        """Messages that were read before, from here or from another transcript."""

    @property
    def cursor(self) -> Cursor:
        """The place after the line of the turn that was handed out last."""
        return self._lines.cursor if self._place is None else self._lines.cursor_at(self._place)

    def __iter__(self) -> Iterator[Turn]:
        for turns in self.messages():
            yield from turns

    def messages(self) -> Iterator[list[Turn]]:
        """The turns of each message that holds any, one message at a time: it may have megabytes.

        Between two of them `cursor` is exact: what was handed out can be finished with and noted.
        """
        for ahead in self._some():
            if isinstance(self._seen, Unknown):
                self._seen.expect([turns[0].uuid for turns, _ in ahead if turns[0].uuid])
            for turns, place in ahead:
                uuid = turns[0].uuid
                if not uuid or self._seen.is_new(uuid):
                    self._place = place
                    yield self._joined(turns)
                else:
                    self.repeated += 1
        self._place = None
        self.unreadable += self._lines.too_long

    def _some(self) -> Iterator[list[tuple[list[Turn], Place]]]:
        """The turns of some messages at once, as many as may be held, and the place after each."""
        ahead: list[tuple[list[Turn], Place]] = []
        size = 0
        for line in self._lines:
            if self._only and not any(mark in line for mark in self._only):
                continue
            if holds_nothing(line):
                continue
            turns = self._lines.turns(line)
            if not turns:
                self.unreadable += turns is None
                continue
            ahead.append((turns, self._lines.place))
            size += len(line)
            if size >= _AHEAD_BYTES or len(ahead) >= _AHEAD:
                yield ahead
                ahead, size = [], 0
        yield ahead

    def _joined(self, turns: list[Turn]) -> list[Turn]:
        """Turns with the names of the tools whose results they are, and the commits they made."""
        commits: list[Turn] = []
        for turn in turns:
            if isinstance(turn, ToolUse):
                if len(self._calls) >= _OPEN_CALLS:
                    self._calls.clear()  # calls that never got a result
                self._calls[turn.id] = turn
            elif isinstance(turn, ToolResult):
                call = self._calls.pop(turn.id, None)
                if call is None:
                    continue
                turn.tool = call.tool  # the same for every reader that knows the call
                if not turn.failed:
                    commits += _commits(call, turn)
        return turns + commits if commits else turns


def read(
    path: str,
    cursor: Cursor | None = None,
    seen: MessageHistory | None = None,
    *,
    only: tuple[bytes, ...] = (),
    lines: LineSource = Lines,
) -> TranscriptReader:
    """The turns of the transcript at `path` after `cursor`, without those of messages seen before.

    A file that is missing, or not a plain file, has none. With `only`, lines that have none of
    these bytes in them are not parsed.
    """
    seen = Recent(IN_ONE) if seen is None else seen
    return TranscriptReader(lines(path, cursor), seen, only)


def _entry_in(line: bytes) -> dict[str, Any] | None:
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


def committed(output: str) -> Iterator[tuple[str, str, str]]:
    """Hash, branch and subject of each commit in the output of a command."""
    for found in _COMMITTED.finditer(output[:_HEAD_OF_RESULT]):
        yield found["hash"], found["branch"], found["subject"].strip()


def _commits(call: ToolUse, result: ToolResult) -> Iterator[Commit]:
    command = call.input.get("command")
    if not isinstance(command, str) or "commit" not in command:
        return
    for commit, branch, subject in committed(result.text):
        where = (result.uuid, result.at, result.line, result.agent, result.sidechain)
        yield Commit(*where, hash=commit, branch=branch, subject=subject, own=subject in command)


@contextmanager
def unpacked(path: str) -> Iterator[str]:
    """The path of a plain file with what is at `path`; a broken archive is an OSError."""
    if not path.endswith(".gz"):
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="ltm-", dir=scratch_folder()) as folder:
        plain = os.path.join(folder, os.path.basename(path).removesuffix(".gz"))
        try:
            with gzip.open(path, "rb") as packed, open(plain, "wb") as whole:
                shutil.copyfileobj(packed, whole)
        except (EOFError, ValueError) as error:
            raise OSError(f"it is not a complete archive: {error}") from error
        yield plain


_FIRST = 200


@dataclass(frozen=True, slots=True)
class SessionOrigin:
    """What the first lines of a transcript say."""

    session: str
    cwd: str = ""
    started: str = ""


def origin(path: str, lines: LineSource = Lines) -> SessionOrigin:
    """The session of a transcript: by its own words, else by the file's name."""
    session = os.path.basename(path).removesuffix(".gz").removesuffix(".jsonl")
    cwd = started = ""
    for line in islice(lines(path, None), _FIRST):
        entry = _entry_in(line) or {}
        cwd = cwd or _text(entry.get("cwd"))
        started = started or _text(entry.get("timestamp"))
        if cwd and started:
            break
    return SessionOrigin(session, cwd, started)


def hook_texts(path: str, mark: str) -> Iterator[tuple[str, str, str]]:
    """The texts with this mark in them that hooks added to a session: event, moment and text."""
    for line in Lines(path):
        if b'"hook_additional_context"' not in line or mark.encode() not in line:
            continue
        try:
            entry = json.loads(line)
            added = entry["attachment"]
            text = "\n".join(map(_text, added["content"]))
        except (ValueError, KeyError, TypeError, RecursionError):
            continue
        yield _text(added.get("hookEvent")), _text(entry.get("timestamp")), text


def projects_folder(environ: Mapping[str, str] = os.environ) -> str:
    """The folder in which the client keeps a folder of transcripts for each project.

    Nothing where there is no home: a folder of that name below us is not the client's.
    """
    top = client_folder(environ)
    return os.path.join(top, "projects") if top else ""


def all_transcripts(environ: Mapping[str, str] = os.environ) -> list[str]:
    """Every main transcript the client keeps, the one that was written first, first."""
    found: list[tuple[float, str]] = []
    for folder in _entries(projects_folder(environ)):
        for path in _entries(folder):
            if path.endswith(".jsonl"):
                try:
                    found.append((os.stat(path).st_mtime, path))
                except OSError:
                    continue
    return [path for _, path in sorted(found)]


def _entries(folder: str) -> list[str]:
    try:
        return [os.path.join(folder, name) for name in sorted(os.listdir(folder))]
    except OSError:
        return []


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
