"""A command fails, something is changed, the command passes: a trap and the way out of it.

Owns following the commands of a session in order. What is still failing at the end of a stretch is
carried over to the next. Pure; imports `core`, the turns of `sessions` and this package.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from ltm.capture.candidate import Candidate
from ltm.capture.commands import core_of, covers, purpose, teaches
from ltm.capture.lessons import cause_in
from ltm.core.model import Source, Trust
from ltm.core.sentences import shortened
from ltm.sessions.turns import AssistantText, ToolResult, ToolUse, Turn

_EDITING = frozenset({"Edit", "Write", "MultiEdit", "NotebookEdit"})
_SHELLS = frozenset({"Bash", "PowerShell", "Shell"})
_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07]*\x07")
# From the most telling line of an error to the least.
_TELLING = tuple(
    re.compile(pattern, re.MULTILINE)
    for pattern in (
        r"^(?:E\s+|\s*\*\*\s*)?(?:\(?[\w.]*(?:Error|Exception|Failure|Panic|Fault)\)?)(?:\b.*)?$",
        r"^.*\b(?:error|fatal|panic)(?:\[\w+\])?:\s*\S.*$",
        r"^.*\b(?:ECONNREFUSED|EADDRINUSE|ENOENT|EACCES|ETIMEDOUT|ERR_\w+)\b.*$",
        r"^.*\b(?:cannot|could not|can't|unable to|no such|not found|undefined|missing|refused"
        r"|denied"
        r"|timed out|unknown|invalid|unexpected)\b.*$",
        r"^\s*(?:FAILED|FAIL|✗|✖|×)\s+\S.*$",
    )
)
_BARE = re.compile(r"[\w.()]+:?\Z")
_WRONG_COMMAND = re.compile(
    r"command not found|missing script|unknown (?:command|task|script)|no such (?:command|task)"
    r"|could not find (?:a |the )?task|is not (?:a|recognized)|No module named",
    re.IGNORECASE,
)
_NOISE = re.compile(r"^(?:Exit code \d+|\s*|npm ERR! (?:A complete log|code).*)$")
_OLD = 400  # turns after which a failure is not connected with a pass any more


@dataclass(slots=True)
class Failure:
    """A command that failed and has not passed since."""

    command: str
    error: str
    line: int
    turn: int
    attempts: int = 1
    files: list[str] = field(default_factory=list)
    commands: list[str] = field(default_factory=list)


class Fixes:
    """Watches the turns of one session."""

    def __init__(self, session: str, state: Any = None) -> None:
        """`state` is what `state()` gave when an earlier stretch of the session ended."""
        self._session = session
        self._calls: dict[str, ToolUse] = {}
        self._open = [failure for each in _listed_in(state) if (failure := _failure(each))]
        self._mended: list[tuple[Failure, str, int, str]] = []
        self._words: list[str] = []
        self._turn = 0

    def see(self, turn: Turn) -> None:
        """Take one more turn into account."""
        self._turn += 1
        if isinstance(turn, ToolUse):
            self._calls[turn.id] = turn
        elif isinstance(turn, AssistantText):
            self._words = [*self._words[-3:], turn.text]
        elif isinstance(turn, ToolResult):
            call = self._calls.pop(turn.id, None)
            if call is None or turn.refused:
                return
            if call.tool in _EDITING:
                if not turn.failed:
                    self._changed(str(call.input.get("file_path") or call.input.get("path") or ""))
            elif call.tool in _SHELLS:
                command = str(call.input.get("command") or "")
                if turn.failed:
                    self._failed(command, turn)
                else:
                    self._passed(command, turn)

    def state(self) -> list[dict[str, Any]]:
        """The failures that are still open, for the next stretch."""
        return [asdict(failure) for failure in self._open[-20:]]

    def candidates(self) -> Iterator[Candidate]:
        """What was mended since this was last asked for."""
        mended, self._mended = self._mended, []
        for failure, passing, line, at in mended:
            source = Source(Trust.ASSISTANT, self._session, f"{failure.line}-{line}", "Bash")
            if _WRONG_COMMAND.search(failure.error) and not covers(passing, failure.command):
                yield replace(_other_command(failure, passing, source), at=at)
            else:
                yield replace(self._fix(failure, source), at=at)

    def _fix(self, failure: Failure, source: Source) -> Candidate:
        cause = next(filter(None, map(cause_in, reversed(self._words))), "")
        how = _change(failure)
        command = shortened(core_of(failure.command), 80)
        text = f"`{command}` failed with: {failure.error}\n\n"
        text += f"{cause} {how}".strip()
        hard = failure.attempts > 2
        return Candidate(
            kind="gotcha",
            title=shortened(f"{failure.error}: {_short_change(failure)}", 80),
            text=text.strip(),
            weight=min(0.9, 0.55 + 0.1 * failure.attempts + (0.15 if cause else 0)),
            source=source,
            reason="it took several attempts" if hard else "",
        )

    def _failed(self, command: str, turn: ToolResult) -> None:
        error = telling_line(turn.text)
        if not teaches(command) or not error:
            return
        for failure in self._open:
            if covers(failure.command, command) or covers(command, failure.command):
                failure.attempts += 1
                failure.turn = self._turn
                return
        self._open.append(Failure(command, error, turn.line, self._turn))

    def _passed(self, command: str, turn: ToolResult) -> None:
        still: list[Failure] = []
        for failure in self._open:
            if self._turn - failure.turn > _OLD:
                continue
            same = covers(command, failure.command)
            other = (
                bool(_WRONG_COMMAND.search(failure.error))
                and purpose(command) == purpose(failure.command) != ""
            )
            if (same and (failure.files or failure.commands)) or (other and not same):
                self._mended.append((failure, command, turn.line, turn.at))
            elif not same:
                still.append(failure)
        self._open = still
        if teaches(command):
            for failure in self._open:
                failure.commands = [*failure.commands[-2:], core_of(command)]

    def _changed(self, path: str) -> None:
        name = _short_path(path)
        for failure in self._open:
            if name and name not in failure.files:
                failure.files.append(name)


def _listed_in(state: Any) -> list[Any]:
    return state if isinstance(state, list) else []


def _failure(value: Any) -> Failure | None:
    """A failure as an earlier stretch left it; the turns of that stretch are over."""
    try:
        return replace(Failure(**value), turn=0)
    except TypeError:
        return None


def telling_line(text: str) -> str:
    """The line of an output that says best what went wrong, or nothing."""
    plain = _ANSI.sub("", text)[:20_000]
    lines = "\n".join(line for line in plain.split("\n") if not _NOISE.match(line))
    for pattern in _TELLING:
        found = pattern.search(lines)
        if found:
            line = re.sub(r"\A(?:E\s+|\*+\s*)", "", " ".join(found[0].split()))
            if _BARE.match(line):  # the line it happened on says more than the error's name
                before = [each.strip() for each in lines[: found.start()].split("\n")]
                told = [each for each in before if each and not set(each) <= set("^~ ")]
                line = f"{line.rstrip(':')} at {told[-1]}" if told else line
            return shortened(line, 160)
    return ""


def _other_command(failure: Failure, passing: str, source: Source) -> Candidate:
    right, wrong = shortened(core_of(passing), 80), shortened(core_of(failure.command), 80)
    what = {"test": "Run the tests", "build": "Build"}.get(purpose(passing), "Run it")
    return Candidate(
        "fact",
        f"{what} with `{right}`; `{wrong}` does not work here ({failure.error}).",
        0.75,
        source,
        title=shortened(f"{what} with `{right}`, not `{wrong}`", 80),
    )


def _change(failure: Failure) -> str:
    if failure.files:
        return f"Fixed by changing {_listed(failure.files)}."
    return f"Fixed by running {_listed([f'`{each}`' for each in failure.commands])}."


def _short_change(failure: Failure) -> str:
    if failure.files:
        return f"fixed in {os.path.basename(failure.files[-1])}"
    return f"fixed with {failure.commands[-1]}"


def _listed(names: list[str]) -> str:
    shown = names[-3:]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def _short_path(path: str) -> str:
    parts = path.replace("\\", "/").strip("/").split("/")
    return "/".join(parts[-3:]) if path else ""
