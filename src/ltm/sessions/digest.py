"""A session in readable lines, in chunks a model can take, and a few lines as a person reads them.

    USER: fix the login test
    CLAUDE: The cookie name changed.
    TOOL [Edit]: src/login.ts
    TOOL [Bash]: npm test
    ERROR: Expected "sid", received "session"

A chunk begins and ends at the border of a turn. `quoted` finds lines by their numbers, in a plain
or a packed file, without holding more than is shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ltm.redact.redact import redacted
from ltm.sessions.transcript import Lines, unpacked
from ltm.sessions.turns import AssistantText, Commit, Summary, ToolResult, ToolUse, Turn, UserText
from ltm.text.display import one_line
from ltm.text.sentences import shortened

CHUNK = 6_000
OVERLAP = 500
_WORDS = 500
_COMMAND = 200
_FILE_KEYS = ("file_path", "path", "notebook_path")
_ABOUT_KEYS = (*_FILE_KEYS, "command", "url", "pattern", "query")
_READ = 20_000  # characters of a turn
_LONG = 500


@dataclass(frozen=True, slots=True)
class DigestLine:
    """One turn in one line, and where it stands in the transcript."""

    text: str
    line: int


@dataclass(frozen=True, slots=True)
class Chunk:
    """Several lines, and the first and last line of the transcript they come from."""

    text: str
    first: int
    last: int


def digest(turns: Iterable[Turn]) -> Iterator[DigestLine]:
    for turn in turns:
        said = _digest_line(turn)
        if said:
            yield DigestLine(said, turn.line)


def chunks(
    lines: Iterable[DigestLine], size: int = CHUNK, overlap: int = OVERLAP
) -> Iterator[Chunk]:
    """Lines in chunks of at most `size` characters, each repeating the end of the one before."""
    held: list[DigestLine] = []
    fresh = False
    for line in lines:
        if held and _length(held) + len(line.text) + 1 > size:
            if fresh:
                yield _chunk(held)
            while held and _length(held) > overlap:
                held = held[1:]
            if _length(held) + len(line.text) + 1 > size:
                held = []
        held.append(line)
        fresh = True
    if held and fresh:
        yield _chunk(held)


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
    try:
        with unpacked(path) as plain:
            lines = Lines(plain)
            for line in lines:
                if lines.number > last:
                    return
                if lines.number >= first:
                    for turn in lines.turns(line) or ():
                        role, text = _quoted_text(turn)
                        # Secrets go before it is shortened: half of one looks like none.
                        plain = shortened(one_line(redacted(text[:_READ])), _LONG)
                        if plain:
                            yield Quoted(lines.number, role, turn.at, plain)
    except OSError:  # a broken archive, or a disk too full to unpack it
        return


def _digest_line(turn: Turn) -> str:
    match turn:
        case UserText(text=text):
            return f"USER: {_one(text, _WORDS)}"
        case AssistantText(text=text):
            return f"CLAUDE: {_one(text, _WORDS)}"
        case ToolUse(tool=tool, input=given):
            about = next((str(given[key]) for key in _FILE_KEYS if given.get(key)), "")
            about = about or str(given.get("command") or "")
            return f"TOOL [{tool}]: {_one(about, _COMMAND)}" if about else f"TOOL [{tool}]"
        case ToolResult(failed=True, text=text):
            return f"ERROR: {_one(text, _COMMAND)}"
        case Commit(hash=commit, subject=subject):
            return f"COMMIT {commit[:8]}: {_one(subject, _COMMAND)}"
        case _:
            return ""


def _one(text: str, most: int) -> str:
    return shortened(" ".join(text.split()), most)


def _length(lines: list[DigestLine]) -> int:
    return sum(len(line.text) + 1 for line in lines)


def _chunk(lines: list[DigestLine]) -> Chunk:
    return Chunk("\n".join(line.text for line in lines), lines[0].line, lines[-1].line)


def _quoted_text(turn: Turn) -> tuple[str, str]:
    match turn:
        case UserText(text=text):
            return "user", text
        case AssistantText(text=text) | Summary(text=text):
            return "agent", text
        case ToolUse(tool=tool, input=given):
            about = next((str(given[key]) for key in _ABOUT_KEYS if given.get(key)), "")
            return "tool", f"{tool}: {about}" if about else tool
        case ToolResult(failed=failed, text=text):
            return "error" if failed else "output", text
        case _:
            return "", ""
