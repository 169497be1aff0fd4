"""A command fails, something is changed, the command passes: a trap and the way out of it.

Owns following the commands of a session in order. What is still failing at the end of a stretch is
carried over to the next, without secrets. Pure; imports `core` and this package.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from ltm.capture.agent_claims import EXPLAINED, cause_in
from ltm.capture.commands import (
    FileEdit,
    Run,
    core_of,
    covers,
    is_installing,
    parse,
    purpose,
    replaced,
    teaches,
    works_around,
)
from ltm.capture.decide import Candidate
from ltm.capture.failures import AROUND, WRONG_COMMAND, in_words, is_slip, speaks, telling_line
from ltm.capture.message import joined, opening
from ltm.model import Source, Trust
from ltm.redact.redact import redacted
from ltm.text.judge import Judge, judge
from ltm.text.sentences import shortened

_SETTINGS = re.compile(
    r"(?:\.(?:toml|ya?ml|json|ini|cfg|conf|env|lock|gradle|properties|mod|xml|service|defaults)"
    r"|file|config\.\w+|conftest\.py|settings?\.\w+|\.env\S*)\Z",
    re.IGNORECASE,
)
_DIGITS = re.compile(r"\d+")
_OLD = 150  # commands after which a failure is not connected with a pass any more
_AT_ONCE, _OBSTACLES = 20, 4
_TOLD = 5_000
_TITLE, _CHANGE, _ERROR = 80, 70, 160


@dataclass(slots=True)
class Failure:
    """A command that failed and has not passed since."""

    command: str
    error: str
    line: int
    run: int
    """The how many-th command of the session it was."""
    attempts: int = 1
    files: list[str] = field(default_factory=list)
    commands: list[str] = field(default_factory=list)
    change: str = ""
    """The last edit, when it is short enough to show."""
    cause: str = ""
    """What the agent said was wrong, since it failed."""
    fresh: bool = False
    """Whether the agent had just been writing: then it is most likely its own slip."""
    until: int = 0
    """The line on which it was seen to be out of the way."""
    before: list[Failure] = field(default_factory=list)
    """Other errors the command failed with earlier, each out of the way when the next came."""


@dataclass(frozen=True, slots=True)
class _Mended:
    failure: Failure
    passing: str
    at: str


class Fixes:
    """Watches what is run and changed in one session."""

    def __init__(self, session: str, state: Any = None, model: Judge | None = None) -> None:
        """`state` is what `state()` gave when an earlier stretch of the session ended."""
        self._session = session
        self._model = model or judge()
        listed = state if isinstance(state, list) else []
        self._open = [failure for each in listed if (failure := _failure(each))]
        self._mended: list[_Mended] = []
        self._written = False
        self._runs = 0
        self._settled = 0

    def ran(self, run: Run) -> None:
        """Take one more command into account."""
        self._runs += 1
        if run.failed:
            self._failed(run)
        else:
            self._passed(run)

    def changed(self, change: FileEdit) -> None:
        """Take one more change of a file into account."""
        self._written = True
        name = _short_path(change.path)
        words = "" if all(each.files for each in self._open) else _in_words(change)
        for failure in self._open:
            failure.change = "" if failure.files else words  # of several, which was it?
            if name and name not in failure.files:
                failure.files = [*failure.files[-9:], name]

    def next_task(self) -> None:
        """The user spoke: what the agent says from here on is not about what was mended before."""
        self._settled = len(self._mended)

    def told(self, text: str, line: int) -> None:
        """Take into account what the agent says about what is failing, or was until just now."""
        mended = self._mended[self._settled :]
        if not self._open and len(mended) != 1:
            return
        clean = redacted(opening(text, _TOLD))
        if not self._open:
            failure = mended[0].failure
            cause = "" if failure.cause else cause_in(clean, self._model)
            if cause:
                failure.cause, failure.until = cause, max(failure.until, line)
            return
        cause, explained = cause_in(clean, self._model), cause_in(clean, self._model, EXPLAINED)
        for failure in self._open:
            if cause:
                failure.cause = cause
            elif not failure.cause and not failure.files:  # afterwards it is about something else
                failure.cause = explained

    def state(self) -> list[dict[str, Any]]:
        """The failures that are still open, for the next stretch."""
        return [asdict(failure) for failure in self._open]

    def candidates(self) -> Iterator[Candidate]:
        """What was mended since this was last asked for."""
        mended, self._mended, self._settled = self._mended, [], 0
        for each in mended:
            failure, passing = each.failure, each.passing
            lines = f"{failure.line}-{failure.until}"
            source = Source(Trust.ASSISTANT, self._session, lines, "Bash")
            if WRONG_COMMAND.search(failure.error) and not covers(passing, failure.command):
                yield replace(_other_command(failure, passing, source), at=each.at)
            elif _teaches_something(failure, passing):
                yield replace(_fix(failure, passing, source), at=each.at)
            if speaks(failure.error):
                yield replace(_quotation(failure, source._replace(trust=Trust.TOOL)), at=each.at)

    def _failed(self, run: Run) -> None:
        if not teaches(run.command):
            return
        error = shortened(redacted(telling_line(run.output)), _ERROR)
        if not error:
            return
        new = Failure(run.command, error, run.line, self._runs, fresh=self._written)
        for place, failure in enumerate(self._open):
            if covers(failure.command, run.command) or covers(run.command, failure.command):
                failure.run = self._runs
                if error == failure.error:
                    failure.attempts += 1
                    return
                failure.until = run.line  # that obstacle is out of the way, here is the next
                new.before = [*failure.before, failure][-_OBSTACLES:]
                failure.before = []
                self._open[place] = new
                return
        self._open = [*self._open[-_AT_ONCE + 1 :], new]

    def _passed(self, run: Run) -> None:
        still: list[Failure] = []
        for failure in self._open:
            if self._runs - failure.run > _OLD:
                continue
            other = _is_other_way(run.command, failure)
            if not (other or covers(run.command, failure.command)):
                still.append(failure)
            else:
                failure.until = run.line
                self._mended += [
                    _Mended(each, run.command if each is failure else each.command, run.at)
                    for each in (*failure.before, failure)
                    if each.files or each.commands or (other and each is failure)
                ]
        self._open = still
        if self._open and teaches(run.command):
            for failure in self._open:
                failure.commands = [*failure.commands[-2:], parse(run.command).whole()]


def _is_other_way(command: str, failure: Failure) -> bool:
    """Whether a command does what failed in another way, and that way is the point."""
    if not failure.files and works_around(command, failure.command):
        return True
    now, then = parse(command), parse(failure.command)
    if covers(command, failure.command):
        return (now.setup, now.variables) != (then.setup, then.variables)
    if WRONG_COMMAND.search(failure.error):
        return purpose(command) == purpose(failure.command) != ""
    change = replaced(command, failure.command)
    return change is not None and _DIGITS.sub("", change[0]) == _DIGITS.sub("", change[1])


def _teaches_something(failure: Failure, passing: str) -> bool:
    """Whether a fix is more than a slip in the code, or fetching what is needed."""
    once = failure.attempts == 1 and failure.files
    if once and is_slip(failure.error, failure.cause, failure.files):
        return False
    if _is_other_way(passing, failure) or failure.cause or failure.attempts > 1:
        return True
    if failure.files:
        settings = all(map(_SETTINGS.search, failure.files))
        return not failure.fresh or settings or bool(AROUND.search(failure.error))
    return not all(is_installing(each, failure.error) for each in failure.commands)


def _fix(failure: Failure, passing: str, source: Source) -> Candidate:
    command = shortened(core_of(failure.command), 100)
    error = _quotable(failure).rstrip(":. ")
    how = _how(failure, passing)
    failed = f"failed with: {error}" if error else "failed"
    text = joined(f"`{command}` {failed}", how, failure.cause)
    short = f"{in_words(error) if error else f'`{command}` failed'}: {_in_short(failure, passing)}"
    if short.split(" ", 1)[0].endswith(":"):
        short = short[0].upper() + short[1:]  # the name of a program, as it introduces itself
    title = failure.cause.rstrip(".") if 0 < len(failure.cause) <= _TITLE else short
    return Candidate(
        kind="gotcha",
        title=shortened(title, _TITLE),
        text=text,
        weight=min(0.9, _weight(failure)),
        source=source,
        reason="it took several attempts" if failure.attempts > 2 else "",
        observed=f"`{command}` {failed}",
        done=how,
    )


def _quotation(failure: Failure, source: Source) -> Candidate:
    """An error that says more than what went wrong: kept to wait, and so found by no search."""
    why = f"`{shortened(core_of(failure.command), 100)}` failed with it"
    return Candidate("gotcha", failure.error, 0.4, source, reason=why)


def _quotable(failure: Failure) -> str:
    """The error, if it only says what went wrong: all else in an output is not ours to repeat."""
    return "" if speaks(failure.error) else failure.error


def _weight(failure: Failure) -> float:
    around = bool(AROUND.search(failure.error)) or not failure.fresh
    return 0.4 + 0.1 * min(3, failure.attempts) + 0.15 * bool(failure.cause) + 0.15 * around


def _other_command(failure: Failure, passing: str, source: Source) -> Candidate:
    right, wrong = shortened(parse(passing).whole(), 100), shortened(core_of(failure.command), 100)
    what = {"test": "Run the tests", "build": "Build"}.get(purpose(passing), "Run it")
    error = in_words(_quotable(failure))
    why = f" ({error})" if error else ""
    return Candidate(
        "fact",
        f"{what} with `{right}`; `{wrong}` does not work here{why}.",
        0.75,
        source,
        title=shortened(f"{what} with `{right}`, not `{wrong}`", _TITLE),
        observed=f"{what} with `{right}`; `{wrong}` does not work here{why}.",
        done=right,
    )


def _how(failure: Failure, passing: str) -> str:
    if _is_other_way(passing, failure):
        return f"It works as `{shortened(parse(passing).whole(), 160)}`."
    if not failure.files:
        return f"Fixed by running {_and_list([f'`{each}`' for each in failure.commands])}."
    changed = f"Fixed by changing {_and_list(failure.files)}"
    return f"{changed}: {failure.change}." if failure.change else f"{changed}."


def _in_short(failure: Failure, passing: str) -> str:
    if _is_other_way(passing, failure):
        return f"run `{shortened(parse(passing).whole(), 50)}`"
    if failure.files:
        return f"fixed in {os.path.basename(failure.files[-1])}"
    return f"fixed with `{shortened(failure.commands[-1], 40)}`"


def _in_words(change: FileEdit) -> str:
    """A short edit in words, or nothing."""
    old, new = (" ".join(redacted(text).split()) for text in (change.old, change.new))
    if not old or max(len(old), len(new)) > _CHANGE or "`" in old + new:
        return ""
    return f"`{old}` became `{new}`" if new else f"`{old}` was removed"


def _and_list(names: list[str]) -> str:
    shown = names[-3:]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def _short_path(path: str) -> str:
    parts = path.replace("\\", "/").strip("/").split("/")
    return "/".join(parts[-3:]) if path else ""


def _failure(value: Any) -> Failure | None:
    """A failure as an earlier stretch left it; the commands of that stretch are over."""
    try:
        failure = replace(Failure(**value), run=0)
        earlier: list[Any] = failure.before
        before = [replace(Failure(**each), before=[]) for each in earlier]
    except TypeError:
        return None
    return replace(failure, before=before)
