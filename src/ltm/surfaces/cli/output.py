"""How a command answers: JSON for scripts, tables for a person at a terminal, plain text in a pipe.

Whatever comes from a memory passes through `visible`, so no stored byte can steer a terminal.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from ltm.core.model import Memory, Problem, Status, Stored, iso
from ltm.core.record import as_record
from ltm.core.screen import one_line, visible

WAITS = "(quarantined) "
"""What stands before something that waits for approval."""

_GAP = 2
_BETWEEN = " · "
_READABLE = 25
"""Letters a line of the last column has at least; in fewer, a sentence becomes a pillar."""


def emit(value: Any) -> None:
    """Print exactly one JSON value, in escapes where the terminal knows no other letters."""
    plain = sys.stdout.encoding.lower() not in ("utf-8", "utf8")
    indent = 2 if sys.stdout.isatty() else None
    print(json.dumps(value, ensure_ascii=plain, indent=indent), flush=True)


def say(text: str) -> None:
    """Print data for a person, line breaks kept."""
    print(visible(text, keep_newlines=True), flush=True)


def note(text: str) -> None:
    """Tell the person something that is not data."""
    print(visible(text, keep_newlines=True), file=sys.stderr, flush=True)


def problem(found: Problem) -> str:
    """A problem in one line: how grave it is, where, and what."""
    where = f"{found.path}:{found.line}" if found.line else found.path
    grade = "fixed" if found.fixed else "problem" if found.ill else "note"
    return f"{grade}: {where}: {found.message}"


def nothing(*, filtered: bool) -> None:
    """Say that there is nothing to show: nothing at all, or nothing of what was asked for."""
    if filtered:
        note("No memory fits. All that are in use: ltm list")
    else:
        note('Nothing here yet. Keep something with: ltm remember "some text"')


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


def short(memory_id: str) -> str:
    """The end of an id: enough to type, accepted wherever an id is."""
    return memory_id[-8:]


def shown_id(memory_id: str) -> str:
    """An id as this reader wants it: short at a terminal, whole in a pipe."""
    return short(memory_id) if sys.stdout.isatty() else memory_id


def record(stored: Stored) -> dict[str, Any]:
    """A stored memory as JSON, with where it lies."""
    return {
        **as_record(stored.memory),
        "vault": stored.vault,
        "path": stored.path,
        "etag": stored.etag,
        "trusted": stored.trusted,
    }


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


def headline(memory: Memory) -> str:
    """A memory in one line: what it is and what it says."""
    return f"{memory.kind}, {memory.impact}: {memory.title}"


def marker(home: str) -> Callable[[Stored], str]:
    """What stands before a memory that is not to be taken as it is: changed, untrusted, waiting."""
    from ltm.storage import keyfile

    key = keyfile.load(home)

    def mark(stored: Stored) -> str:
        marks = "⚠ " if key is not None and key.is_doubtful(stored.memory) else ""
        if not stored.trusted:
            marks += "(untrusted) "
        if stored.memory.status is Status.QUARANTINED:
            marks += WAITS
        return marks

    return mark


def moment(when: datetime | None) -> str | None:
    """A moment for JSON."""
    return None if when is None else iso(when)
