"""How a command answers and ends: JSON, tables, memories and passages in lines, exit codes.

Whatever comes from a memory passes through `visible`, so that no stored byte can steer a terminal.
Data goes to stdout, messages to stderr; 0 is done, 1 refused or not found, 2 wrong usage.
Independent of the command line library, which a question in plain words does without.
"""

from __future__ import annotations

import io
import json
import os
import re
import sys
from _thread import _local
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from datetime import datetime

from ltm.cli.context import Work
from ltm.errors import LtmError
from ltm.model import Memory, Problem, Status, Stored, iso, now, stored_record, utc
from ltm.text.display import counted, estimate, one_line, visible
from ltm.text.sentences import opens_with, shortened

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn, TextIO

    from ltm.capture.pipeline import Captured
    from ltm.history.passage import Passage
    from ltm.inject.session_start import Injection

record = stored_record
WAITS = "(quarantined) "
"""What stands before something that waits for approval."""

_GAP = 2
_BETWEEN = " · "
_READABLE = 25
"""Letters a line of the last column has at least; in fewer, a sentence becomes a pillar."""


_WIDEST = 100


def emit(value: Any) -> None:
    """Print exactly one JSON value, in escapes where the terminal knows no other letters."""
    plain = sys.stdout.encoding.lower() not in ("utf-8", "utf8")
    indent = 2 if sys.stdout.isatty() else None
    print(json.dumps(value, ensure_ascii=plain, indent=indent), flush=True)


def say(text: str) -> None:
    """Print data for a person, line breaks kept."""
    print(visible(text, keep_newlines=True), flush=True)


def note(text: str) -> None:
    print(visible(text, keep_newlines=True), file=sys.stderr, flush=True)


_LOOKS = {"strong": "1", "faint": "2", "match": "1;33", "warning": "33"}
"""How a text can look at a terminal, as the codes of ECMA-48."""


def say_looks(*parts: tuple[str, str]) -> None:
    """Print texts as one line, each with its look where the terminal has any; '' is plain."""
    relay = _relay()
    environ = relay.environ if relay else os.environ
    colours = sys.stdout.isatty() and environ.get("TERM") != "dumb" and os.name == "posix"
    colours = colours and not environ.get("NO_COLOR")
    line = ""
    for text, look in parts:
        shown = visible(text)
        line += f"\x1b[{_LOOKS[look]}m{shown}\x1b[0m" if colours and look and shown else shown
    print(line, flush=True)


class Relay(io.StringIO):
    """What a thread prints for the reader of another process."""

    encoding = "utf-8"

    def __init__(self, is_screen: bool, environ: Mapping[str, str]) -> None:
        """Whether that reader is at a terminal, and what says how it looks."""
        super().__init__()
        self.relay = self
        self.environ = environ
        self._is_screen = is_screen

    def isatty(self) -> bool:
        return self._is_screen


class _ByThread:
    """An output of this process, and in a thread that relays, its own."""

    def __init__(self, usual: TextIO | None) -> None:
        self._usual = usual
        self.of_thread = _local()

    def __getattr__(self, name: str) -> Any:
        return getattr(getattr(self.of_thread, "relay", self._usual), name)


@contextmanager
def relayed(is_screen: bool, environ: Mapping[str, str]) -> Iterator[tuple[Relay, Relay]]:
    """Within this, output and messages of this thread, and of no other, are kept for a reader."""
    kept = Relay(is_screen, environ), Relay(is_screen, environ)
    for name, relay in zip(("stdout", "stderr"), kept, strict=True):
        if not isinstance(getattr(sys, name), _ByThread):
            setattr(sys, name, _ByThread(getattr(sys, name)))
        getattr(sys, name).of_thread.relay = relay
    try:
        yield kept
    finally:
        for name in ("stdout", "stderr"):
            del getattr(sys, name).of_thread.relay


def _relay() -> Relay | None:
    """The relay that this thread prints to, if it does."""
    found: Relay | None = getattr(sys.stdout, "relay", None)
    return found


class _Screen(io.StringIO):
    """What would be on the terminal."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


@contextmanager
def paged() -> Iterator[None]:
    """Let what is printed inside be read page by page, where it is longer than the terminal.

    The pager is `$PAGER`, or what the system has. Messages come when it is done.
    """
    if _relay() or not (sys.stdout.isatty() and sys.stdin.isatty()):
        yield
        return
    screen, messages = _Screen(), io.StringIO()
    try:
        with redirect_stdout(screen), redirect_stderr(messages):
            yield
    finally:
        show(screen.getvalue())
        sys.stderr.write(messages.getvalue())


def show(text: str) -> None:
    """Print a text at a terminal, page by page if it is longer than that."""
    from shutil import get_terminal_size

    wide, high = get_terminal_size()
    lines = (re.sub(r"\x1b\[[\d;]*m", "", line).rstrip() for line in text.splitlines())
    if sum(1 + max(0, len(line) - 1) // wide for line in lines) < high:
        sys.stdout.write(text)
        sys.stdout.flush()
        return
    from click import echo_via_pager

    os.environ.setdefault("LESS", "FRX")  # colours as they are, and the text stays on the screen
    echo_via_pager(text, color=True)


def problem(found: Problem) -> str:
    """A problem in one line: how grave it is, where, and what."""
    where = f"{found.path}:{found.line}" if found.line else found.path
    grade = "fixed" if found.fixed else "problem" if found.ill else "note"
    return f"{grade}: {where}: {found.message}"


def nothing(*, filtered: bool, team: str = "") -> None:
    """Say that there is nothing to show: nothing at all, or nothing of what was asked for."""
    if filtered:
        note("No memory fits. All that are in use: ltm list")
    else:
        where = f" --team {team}" if team else ""
        note(f'Nothing here yet. Keep something with: ltm remember{where} "some text"')


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Rows under headings at a terminal; in a pipe one row a line, cells between tabs.

    Only the last cell of a row is ever wrapped: what is to be typed, such as an id, stays whole.
    Where a terminal is too narrow for that, each row takes lines of its own.
    """
    cells = [[one_line(cell) for cell in row] for row in rows]
    if not sys.stdout.isatty():
        for row in cells:
            print("\t".join(row), flush=True)
        return
    from rich.cells import cell_len
    from rich.console import Console
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    console = Console()
    *widths, last = [max(map(cell_len, column)) for column in zip(columns, *cells, strict=True)]
    if console.width - sum(widths) - _GAP * len(widths) < min(last, _READABLE):
        console.print(Text(_BETWEEN.join(columns), "bold"))
        for row in cells:
            console.print(Text(_BETWEEN.join(row[:-1])))
            console.print(Padding(Text(row[-1]), (0, 0, 0, 4)))
        return
    shown = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0))
    for column in columns[:-1]:
        shown.add_column(column, no_wrap=True)
    shown.add_column(columns[-1], overflow="fold")
    for row in cells:
        shown.add_row(*map(Text, row))
    console.print(shown)


def glossary(rows: Iterable[tuple[str, str, str]]) -> None:
    """Names with a value and a meaning: two lines each at a terminal, and in a pipe as `table`."""
    if not sys.stdout.isatty():
        return table((), list(rows))
    from shutil import get_terminal_size
    from textwrap import fill

    width = min(get_terminal_size().columns, _WIDEST)
    for name, value, meaning in rows:
        say_looks((name, "strong"), (f" = {value}" if value else " (empty)", ""))
        say(fill(meaning, width, initial_indent="    ", subsequent_indent="    "))
    return None


def shown_id(memory_id: str) -> str:
    """An id as this reader wants it: at a terminal its end, which every command accepts."""
    return memory_id[-8:] if sys.stdout.isatty() else memory_id


def typed(words: str, about: Stored) -> str:
    """A command about a memory, as a person types it: one of a team's names the team."""
    verb, _, rest = words.partition(" ")
    kind, _, team = about.vault.partition(":")
    return f"ltm {verb} --team {team} {rest}" if kind == "team" else f"ltm {words}"


def source(stored: Stored) -> dict[str, Any]:
    """Where a memory came from and where it is kept."""
    origin = stored.memory.source
    return {
        "trust": str(origin.trust),
        "session": origin.session,
        "lines": origin.lines,
        "tool": origin.tool,
        "vault": stored.vault,
        "path": stored.path,
    }


def ago(moment: datetime, now: datetime) -> str:
    """How long ago something was, in the unit people would use."""
    seconds = max(0, int((now - moment).total_seconds()))
    for size, unit in ((86400 * 365, "y"), (86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds // size} {unit}"
    return "now"


def since(text: str) -> str:
    """How long ago the moment of a text was, as part of a sentence."""
    said = ago(utc(text), now())
    return "just now" if said == "now" else f"{said} ago"


def memory_headline(memory: Memory) -> str:
    """A memory in one line: what it is and what it says."""
    return f"{memory.kind}, {memory.impact}: {memory.title}"


def title_and_text(memory: Memory, text: str, most: int) -> tuple[str, str]:
    """A memory's title and a text of it, each on one line; only the text if it begins with it."""
    title, text = one_line(memory.title), shortened(one_line(text), most)
    return (text, "") if opens_with(text, title) else (title, text)


def marker(home: str) -> Callable[[Stored], str]:
    """What stands before a memory that is not to be taken as it is: changed, untrusted, waiting."""
    from ltm.vault import key_file

    key = key_file.load(home)

    def mark(stored: Stored) -> str:
        marks = "⚠ " if key is not None and key.is_doubtful(stored.memory) else ""
        if not stored.trusted:
            marks += "(untrusted) "
        if stored.team:
            marks += f"({stored.vault}) "
        if stored.memory.status is Status.QUARANTINED:
            marks += WAITS
        return marks

    return mark


def moment(when: datetime | None) -> str | None:
    return None if when is None else iso(when)


_LONG = 240


def say_memory(work: Work, stored: Stored) -> None:
    """Print a memory in three lines: what it is, what it says, since when and who says so."""
    memory = stored.memory
    mark = marker(work.places.home)(stored)
    title, text = title_and_text(memory, memory.summary or memory.text, _LONG)
    say(f"{shown_id(memory.id)}  {mark}{memory.kind}, {memory.impact}: {title}")
    if text:
        say(f"    {text}")
    price = counted(estimate(memory.text), "token")
    say(f"    {memory.day}, said by {memory.source.trust}; {price}")


def memory_record(stored: Stored) -> dict[str, Any]:
    """A memory as JSON, with its text, what it costs and where it came from."""
    memory = stored.memory
    return {
        "id": memory.id,
        "title": memory.title,
        "kind": memory.kind,
        "created": moment(memory.created),
        "confirmed": moment(memory.confirmed),
        "text": memory.text,
        "tokens": estimate(memory.text),
        "source": source(stored),
    }


def captured_line(done: Captured) -> str:
    """How many memories were added, replaced and confirmed."""
    return (
        f"{counted(len(done.added), 'memory')} added, {len(done.superseded)} replaced,"
        f" {len(done.reinforced)} confirmed"
    )


def captured_record(done: Captured) -> dict[str, Any]:
    """The ids of memories that were added, replaced and confirmed."""
    return {"added": done.added, "superseded": done.superseded, "reinforced": done.reinforced}


def say_passage(label: str, passage: Passage, most: int = _LONG) -> None:
    """Print a passage in one line: what it is here, who said it, and where it stands."""
    text = shortened(one_line(passage.text), most)
    say(f"    {label}{passage.role}: {text}  ({one_line(passage.citation)})")


def say_injection(work: Work, injection: Injection, *, why: bool = False) -> None:
    """Print what a session starts with; with `why` line by line, each with its reason and cost."""
    if work.as_json:
        record: dict[str, Any] = {
            "text": injection.text,
            "tokens": injection.tokens,
            "shown": list(injection.shown),
            "left_out": injection.left_out,
        }
        if why:
            record["lines"] = [
                {"ids": list(each.ids), "reason": each.reason, "tokens": each.tokens}
                | {"text": each.text}
                for each in injection.lines
            ]
        emit(record)
    elif why and injection.lines:
        table(
            ("tokens", "why", "line"),
            [(str(each.tokens), each.reason, each.text) for each in injection.lines],
        )
        note(
            f"{counted(injection.tokens, 'token')} with the frame, {len(injection.text):,}"
            f" characters; {counted(injection.left_out, 'memory')} left out."
        )
    elif injection.text:
        say(injection.text)
    elif injection.left_out:
        left_out = counted(injection.left_out, "memory")
        note(f"The budget is too small: {left_out} left out. Try: --budget 2000")
    else:
        note('Nothing to print yet. Keep something with: ltm remember "some text"')


def finish(command: Callable[[], object]) -> NoReturn:
    """Run a command and leave with its exit code, which is what it returns, or 0."""
    open_streams()
    try:
        code = command()
        sys.stdout.flush()
        sys.exit(code if isinstance(code, int) else 0)
    except KeyboardInterrupt:
        _say("stopped")
        sys.exit(130)
    except BrokenPipeError:
        _silence()  # the reader has seen enough
        sys.exit(0)
    except LtmError as error:
        _say(str(error), error.hint)
        sys.exit(error.exit_code)
    except Exception as error:
        if os.environ.get("LTM_DEBUG"):
            raise
        if isinstance(error, OSError) and _is_unwritable():
            _silence()
            _say(f"the answer could not be written: {error.strerror}")
            sys.exit(1)
        from ltm.store.open import as_refusal

        refusal = as_refusal(error)
        if refusal is not None:
            _say(str(refusal), refusal.hint)
            sys.exit(refusal.exit_code)
        _say(
            f"this should not have happened: {type(error).__name__}: {error}",
            "set LTM_DEBUG=1 and run it again to see where",
        )
        sys.exit(1)


def open_streams() -> None:
    """Let every command print: where an output is closed (`>&-`), to nowhere, and where messages
    cannot be written, without them. What was done decides the exit code."""
    messages = sys.__stderr__
    if messages is not None and messages is sys.stderr:
        sys.stderr = io.TextIOWrapper(
            io.BufferedWriter(_MessageStream(2, "w", closefd=False)),
            encoding=messages.encoding,
            line_buffering=True,
        )
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


class _MessageStream(io.FileIO):
    """The stream of messages, where neither a full disk nor a missing reader is an error: Python
    would leave with 120 for what it could not write at its end.
    """

    def write(self, data: Any, /) -> int:
        try:
            return super().write(data)
        except OSError:
            return len(data)


def _is_unwritable() -> bool:
    """Whether it is the output that failed: what could not be written is still to be."""
    try:
        sys.stdout.flush()
    except OSError:
        return True
    return False


def _silence() -> None:
    """Python would complain once more at its own end of what it could not write."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _say(message: str, hint: str = "") -> None:
    print(f"ltm: {visible(message)}", file=sys.stderr)
    for line in hint.splitlines():
        print(f"     {visible(line)}", file=sys.stderr)
