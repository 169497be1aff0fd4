"""A transcript as a stream of turns from a cursor, each message once, in bounded memory.

`Lines` gives the lines of a growing file from where the last reading ended: one that is being
written is left for the next time, one too long to be true is passed over without being held. A
`TranscriptReader` makes turns of them: it skips what cannot be read, knows which messages were read
before (a fork or a resumed session repeats whole conversations under the same uuids), and joins a
tool's result to its call.
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

IN_ONE = 50_000
"""Messages of one transcript to remember: 6 MB, twice over. None repeats itself from farther."""

Place = tuple[int, int]
"""Bytes and lines before it."""

_CHUNK = 256 * 1024  # what the processor holds: a megabyte at once takes half as long again
_HEAD = 1024
_ANCHOR = 256
_FIRST = 200  # lines in which a session tells where and when it began
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


def read(
    path: str,
    cursor: Cursor | None = None,
    seen: MessageHistory | None = None,
    *,
    only: tuple[bytes, ...] = (),
) -> TranscriptReader:
    """The turns of the transcript at `path` after `cursor`, without those of messages seen before.

    A file that is missing, or not a plain file, has none. The cursor is told by the reading.
    `only` is for who needs few turns: lines with none of these bytes in them are not parsed.
    """
    return TranscriptReader(path, cursor, Recent(IN_ONE) if seen is None else seen, only)


class TranscriptReader:
    """The turns of a transcript after a cursor; `cursor` is the place after those handed out."""

    def __init__(
        self, path: str, cursor: Cursor | None, seen: MessageHistory, only: tuple[bytes, ...] = ()
    ) -> None:
        self._lines = Lines(path, cursor)
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
            entry = self._parse(line)
            turns = [] if entry is None else turns_of(entry, self._lines.number)
            if not turns:
                continue
            ahead.append((turns, self._lines.place))
            size += len(line)
            if size >= _AHEAD_BYTES or len(ahead) >= _AHEAD:
                yield ahead
                ahead, size = [], 0
        yield ahead

    def _parse(self, line: bytes) -> dict[str, Any] | None:
        try:
            # A broken character costs that character and not the line.
            text = line.strip().decode("utf-8", "replace")
            entry, end = _DECODER.raw_decode(text)
            if end < len(text):
                raise ValueError("more than one value on a line")
        except (ValueError, RecursionError):
            self.unreadable += 1
            return None
        return entry if isinstance(entry, dict) else None

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
                turn.tool = call.tool  # it was just made and is not handed out yet
                if not turn.failed:
                    commits += _commits(call, turn)
        return turns + commits if commits else turns


def committed(output: str) -> Iterator[tuple[str, str, str]]:
    """Hash, branch and subject of each commit that the output of a command tells of."""
    for found in _COMMITTED.finditer(output[:_HEAD_OF_RESULT]):
        yield found["hash"], found["branch"], found["subject"].strip()


def _commits(call: ToolUse, result: ToolResult) -> Iterator[Commit]:
    command = call.input.get("command")
    if not isinstance(command, str) or "commit" not in command:
        return
    for commit, branch, subject in committed(result.text):
        where = (result.uuid, result.at, result.line, result.agent, result.sidechain)
        yield Commit(*where, hash=commit, branch=branch, subject=subject, own=subject in command)


class MessageHistory(Protocol):
    """Which messages were read before."""

    def is_new(self, uuid: str) -> bool:
        """Whether this message is met for the first time; from now on it is not."""
        ...


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
    """Messages that are noted nowhere, by who can tell which of many are, and were not met here.

    A reading says which come next (`expect`), so that a database is asked once for some hundred of
    them: one by one, its locks alone took a tenth of the time a transcript takes.
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
        holds = _mark(file, self._start.offset, self._start.line) == self._start
        start = self._start if holds else Cursor()
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


@dataclass(frozen=True, slots=True)
class SessionOrigin:
    """What the first lines of a transcript tell."""

    session: str
    cwd: str = ""
    started: str = ""


def origin(path: str) -> SessionOrigin:
    """The session of a transcript: by its own words, else by the file's name."""
    session = os.path.basename(path).removesuffix(".gz").removesuffix(".jsonl")
    cwd = started = ""
    for line in islice(Lines(path), _FIRST):
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if not isinstance(entry, dict):
            continue
        cwd = cwd or _text(entry.get("cwd"))
        started = started or _text(entry.get("timestamp"))
        if cwd and started:
            break
    return SessionOrigin(session, cwd, started)


def projects_folder(environ: Mapping[str, str] = os.environ) -> str:
    """The folder in which the client keeps a folder of transcripts for each project.

    '' where no home is known: a folder of that name in the current one is not the client's.
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
