"""A transcript as a stream of turns, from a cursor, each message once.

Owns what ties lines to turns: skipping what cannot be read, remembering which messages were read
before (a fork or a resumed session repeats whole conversations under the same uuids), and joining a
tool's result to its call. Bounded memory at any size. Imports this package.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

from ltm.sessions.entries import holds_nothing, turns_of
from ltm.sessions.lines import Cursor, Lines, Place
from ltm.sessions.turns import Commit, ToolResult, ToolUse, Turn

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
        """Lines that are no JSON, or that are too long."""
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
