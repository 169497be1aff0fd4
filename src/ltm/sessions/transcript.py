"""A transcript as a stream of turns, from a cursor, each message once, in bounded memory.

A line that is being written is left for the next time; one too long to be true is passed over
without being held; one that cannot be read is skipped. A fork or a resumed session repeats
conversations under the same uuids: those are left out. A tool's result is joined to its call.
"""

from __future__ import annotations

import gzip
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import groupby
from typing import Protocol

from ltm.project.home import scratch_folder
from ltm.sessions.port import Reader, SessionOrigin
from ltm.sessions.readers import READERS
from ltm.sessions.sources import (
    Cursor,
    Line,
    LineFile,
    Place,
    RecordFile,
    cursor_of,
    entry_in,
    opened,
    sessions_in,
)
from ltm.sessions.turns import Aside, Commit, ToolResult, ToolUse, Turn

__all__ = ["Cursor", "SessionOrigin", "cursor_of"]


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
        self.place: Place = (-1, 0)
        """The place after the last line that was handed out, to be made a cursor later."""
        self._start = cursor or Cursor()
        self._held = held
        self._line = Line(b"", 0, 0)
        self._reader: Reader | None = None
        self._origin: SessionOrigin | None = None

    @property
    def cursor(self) -> Cursor:
        return self._start if self.place[0] < 0 else self.cursor_at(self.place)

    @property
    def number(self) -> int:
        """Number of the line that was handed out last, counted from 1."""
        return self.place[1]

    def cursor_at(self, place: Place) -> Cursor:
        with self._opened() as source:
            return self._start if source is None else source.mark(place)

    @property
    def origin(self) -> SessionOrigin:
        with self._opened() as source:
            return SessionOrigin("") if source is None else source.origin

    @property
    def reader(self) -> Reader | None:
        """Who reads the lines, once they are being read."""
        return self._reader

    def may_hold_turns(self) -> bool:
        """Whether the line that was handed out last is of a type that holds any."""
        line = self._line
        if line.may_hold_turns is None:
            reader = self._reader
            line.may_hold_turns = reader is not None and not reader.holds_nothing(line.data)
        return line.may_hold_turns

    def turns(self, line: bytes) -> list[Turn] | None:
        """The turns in the line that was handed out last; None when it cannot be read."""
        if self._line.parsed is None:
            entry = entry_in(line)
            found: list[Turn] | None = None
            if entry is not None and self._reader is not None and self._origin is not None:
                found = self._reader.turns(entry, self.number, self._origin)
            self._line.parsed = (found,)
        return self._line.parsed[0]

    def __iter__(self) -> Iterator[bytes]:
        with self._opened() as source:
            if source is None:
                return
            start = self._start
            if source.mark((start.offset, start.line)) != start:
                start = Cursor()
            self.place = start.offset, start.line
            held = self._held
            for line in held.lines(self.place) if held else source.lines(self.place):
                if self._reader is None:
                    self._reader, self._origin = source.reader, source.origin
                self.place, self._line = (line.end, line.number), line
                self.too_long += line.is_too_long
                if line.data:
                    yield line.data

    @contextmanager
    def _opened(self) -> Iterator[LineFile | RecordFile | None]:
        source = self._held.source if self._held else opened(self.path)
        try:
            yield source
        finally:
            if source is not None and self._held is None:
                source.close()


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
        held = self._files.pop(path, None)
        if held is not None and not held.is_as_it_was():
            self._replaced.append(held)  # a reader may be in the middle of it
            held = None
        if held is None:
            while sum(each.size for each in self._files.values()) > self._most // 2:
                self._files.pop(next(iter(self._files))).source.close()
            source = opened(path)
            if source is None:
                return Lines(path, cursor)
            room = self._most - sum(each.size for each in self._files.values())
            held = _HeldFile(source, room)
        self._files[path] = held
        return Lines(path, cursor, held)

    def close(self) -> None:
        """Let go of all that is held; what was handed out must not be read any more."""
        for held in (*self._files.values(), *self._replaced):
            held.source.close()
        self._files.clear()
        self._replaced.clear()


class _HeldFile:
    """A file, and its lines by the bytes before each, up to a number of bytes."""

    def __init__(self, source: LineFile | RecordFile, most: int) -> None:
        self.source = source
        self.size = 0
        self._most = most
        self._lines: dict[int, Line] = {}
        self._end: Place = (0, 0)
        self._mark = Cursor()

    def is_as_it_was(self) -> bool:
        """Whether the path still leads to this file, and what is held still stands in it."""
        return self.source.is_there_still(self._mark)

    def lines(self, place: Place) -> Iterator[Line]:
        """The lines after a place: those that are held, and those of the file."""
        unheld: Iterator[Line] | None = None
        offset, number = place
        try:
            while True:
                line = self._lines.get(offset)
                if line is None:
                    unheld = unheld or self.source.lines((offset, number))
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
            if not self.source.is_closed:
                self._mark = self.source.mark(self._end)


IN_ONE = 50_000
"""Messages of one transcript to remember: 6 MB, twice over. None repeats itself from farther."""

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
        if uuid in self.met or self.is_known(uuid):
            return False
        self.met[uuid] = None
        return True

    def is_known(self, uuid: str) -> bool:
        known = self._expected.get(uuid)
        return bool(self._known([uuid])) if known is None else known

    def forget(self) -> None:
        """Let go of those that were met: they are noted now, and what was known before is old."""
        self.met.clear()
        self._expected.clear()


class TranscriptReader:
    """The turns of a transcript after a cursor; `cursor` is the place after those handed out."""

    def __init__(
        self,
        lines: Lines,
        seen: MessageHistory,
        *,
        counted: bool = False,
    ) -> None:
        self._lines = lines
        self._seen = seen
        self._counted = counted
        self._calls: dict[str, ToolUse] = {}
        self._place: Place | None = None
        self.unreadable = 0
        """Lines that are not JSON, or that are too long."""
        self.repeated = 0
        """Messages that were read before, from here or from another transcript."""

    @property
    def cursor(self) -> Cursor:
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
        place = self._lines.place
        for line in self._lines:
            before, place = place, self._lines.place
            if not self._may_hold_turns(line):
                continue
            turns = self._lines.turns(line)
            if not turns:
                self.unreadable += turns is None
                continue
            if len(turns) > 1:
                # Only with the last of its messages is a line read.
                *first, turns = (list(each) for _, each in groupby(turns, key=_uuid_of))
                ahead += [(each, before) for each in first]
            ahead.append((turns, place))
            size += len(line)
            if size >= _AHEAD_BYTES or len(ahead) >= _AHEAD:
                yield ahead
                ahead, size = [], 0
        yield ahead

    def _may_hold_turns(self, line: bytes) -> bool:
        reader = self._lines.reader
        if self._counted and reader is not None and reader.counted:
            for mark in reader.counted:
                if mark in line:
                    break
            else:
                return False
        return self._lines.may_hold_turns()

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
    counted: bool = False,
    lines: LineSource = Lines,
) -> TranscriptReader:
    """The turns of the transcript at `path` after `cursor`, without those of messages seen before.

    A file that is missing, or not a plain file, has none. With `counted`, lines without a figure
    are not parsed.
    """
    seen = Recent(IN_ONE) if seen is None else seen
    return TranscriptReader(lines(path, cursor), seen, counted=counted)


def _uuid_of(turn: Turn) -> str:
    return turn.uuid


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


def origin(path: str, lines: LineSource = Lines) -> SessionOrigin:
    """The session of a transcript: by its own words, else by the file's name."""
    return lines(path, None).origin


def hook_texts(path: str, mark: str) -> Iterator[tuple[str, str, str]]:
    """The texts with this mark in them that were added to a session: event, moment and text."""
    lines = Lines(path)
    for line in lines:
        if mark.encode() not in line:
            continue
        reader = lines.reader
        if reader is not None and reader.told is not None:
            told = reader.told(entry_in(line) or {})
            if told is not None:
                yield told
        else:
            for turn in lines.turns(line) or ():
                if isinstance(turn, Aside) and mark in turn.text:
                    yield "", turn.at, turn.text


def all_transcripts(environ: Mapping[str, str] = os.environ) -> list[str]:
    """Every main transcript the clients keep, the one that was written first, first."""
    found: list[tuple[float, str]] = []
    for reader in READERS.values():
        for each in reader.found(environ):
            within = sessions_in(each.path) if reader.tables else None
            found += [(at, path) for path, at in within or ()]
            if within is None:
                found.append((each.written, each.path))
    return [path for _, path in sorted(found)]
