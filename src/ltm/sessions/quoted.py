"""A few lines of a transcript as a person reads them: who, when, what, without secrets.

Owns finding lines by their numbers, in a plain or a packed file, without holding more than is
shown. Imports core and this package.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

from ltm.core.redact import redacted
from ltm.core.screen import one_line
from ltm.core.sentences import shortened
from ltm.sessions.entries import turns_of
from ltm.sessions.lines import Lines
from ltm.sessions.packed import unpacked
from ltm.sessions.turns import AssistantText, Summary, ToolResult, ToolUse, Turn, UserText

_READ = 20_000
_LONG = 500
_ABOUT = ("file_path", "path", "notebook_path", "command", "url", "pattern", "query")


@dataclass(frozen=True, slots=True)
class Quoted:
    """What stands on one line of a transcript."""

    line: int
    role: str
    """`user`, `agent`, `tool` (what was called), `output` or `error` (what it gave back)."""
    at: str
    """When, as the transcript has it."""
    text: str
    """On one line, no longer than a person wants to read, without secrets and control bytes."""


def quoted(path: str, first: int, last: int) -> Iterator[Quoted]:
    """What is said on these lines of the transcript at `path`, both counted from 1.

    Lines that cannot be read, or say nothing to a person, are left out.
    """
    for number, line in _numbered(path):
        if number > last:
            return
        if number < first:
            continue
        try:
            entry = json.loads(line.decode("utf-8", "replace"))
        except (ValueError, RecursionError):
            continue
        if isinstance(entry, dict):
            for turn in turns_of(entry, number):
                role, text = _said(turn)
                # Secrets go before it is shortened: half of one looks like none.
                plain = shortened(one_line(redacted(text[:_READ])), _LONG)
                if plain:
                    yield Quoted(number, role, turn.at, plain)


def _numbered(path: str) -> Iterator[tuple[int, bytes]]:
    try:
        with unpacked(path) as plain:
            lines = Lines(plain)
            for line in lines:
                yield lines.number, line
    except OSError:  # a broken archive, or no room to unpack it
        return


def _said(turn: Turn) -> tuple[str, str]:
    match turn:
        case UserText(text=text):
            return "user", text
        case AssistantText(text=text) | Summary(text=text):
            return "agent", text
        case ToolUse(tool=tool, input=given):
            about = next((str(given[key]) for key in _ABOUT if given.get(key)), "")
            return "tool", f"{tool}: {about}" if about else tool
        case ToolResult(failed=failed, text=text):
            return "error" if failed else "output", text
        case _:
            return "", ""
