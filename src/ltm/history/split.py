"""From turns to passages: what of a session is kept word for word, in pieces that can be found.

- What the user and the agent said, whole, in parts of about `PART` characters cut where a
  paragraph, a line or a word ends. Beyond `LONGEST` a message is pasted data, and only its
  beginning is kept.
- What the agent did: each call of a tool by what it was about (the command, the file, the question
  it asked), up to one part. Not what a file said before and after: that is in the repository; and
  not what it merely looked at.
- What went wrong: the text of a failure up to `ERROR` characters, its beginning and its end, where
  tools say what happened, and the line that says it best.
- What a command printed of errors though it ended well: those lines.
- What another agent or the user answered through a tool, up to three parts.

All other output of tools is left out: it is most of a transcript's bytes and hardly any of what
is asked for later, and it can be had again. Nothing that a client or LTM put into the conversation
is kept, nor calls of LTM's own tools: what was recalled must not be found as if it had been said
again. Secrets are taken out first.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ltm.capture.commands import MEMORY, SHELLS, hides_failure, looks_failed
from ltm.capture.fixes import telling_line
from ltm.capture.message import opening
from ltm.history.passage import ASSISTANT, TOOL, USER, Passage
from ltm.model import iso, utc
from ltm.redact.redact import redacted
from ltm.sessions.claude_code import without_insertions
from ltm.sessions.transcript import committed
from ltm.sessions.turns import AssistantText, Command, ToolResult, ToolUse, Turn, UserText
from ltm.text.sentences import shortened
from ltm.text.similarity import error_signs

PART = 1_500
LONGEST = 60_000
ERROR = 1_200

_OUTPUT = 32_000  # of a failure: more than a client keeps of it
_OPEN = 64  # calls that wait for their results
_MOST_FILES = 12
_ANSWERING = frozenset({"Task", "Agent", "AskUserQuestion"})
_LOOKING = frozenset({"Read", "NotebookRead", "Glob", "Grep", "LS", "ToolSearch", "BashOutput"})
_FILE_KEYS = ("file_path", "notebook_path", "path")
_ABOUT_KEYS = ("command", *_FILE_KEYS, "pattern", "query", "url", "plan", "prompt", "description")
_OUR_COMMAND = re.compile(r"\s*(?:\S*/)?ltm(?:-hook)?\s")
_ENDINGS = (
    "bash c cc cfg clj cpp cs css csv cxx dart env ex exs fs go gradle graphql h hpp hs html ini"
    " ipynb java jl js json jsonl jsx kt less lock lua m md mjs ml mk mm nix php pl plist proto ps1"
    " py pyi r rb rs rst sass scala scss sh sql svelte swift tex tf toml ts tsx txt vue xml yaml"
    " yml zig zsh"
)
_NAMED_FILE = re.compile(
    r"(?<![\w/@:.~-])(?:(?:~|\.{0,2})/)?(?:[\w.@+-]{1,80}/){0,20}[\w@+-][\w.@+-]{0,80}?\."
    rf"(?:{'|'.join(_ENDINGS.split())})(?![\w/-])"
)
_ERROR_LINE = re.compile(
    r"(?:Error|Exception|Failure)(?:\[\w+\])?: ?\S"
    r"|\b(?:ERROR|FATAL|CRITICAL|PANIC)\b|(?:\A|\s)(?:error|fatal|panic)(?:\[\w+\])?: "
    r"|\bE(?:CONN|ADDR|NOENT|ACCES|PERM|TIMED|EXIST|PIPE|HOST)[A-Z]*\b|\bERR!|\bERR_[A-Z]"
    r"|[Cc]onnection refused|[Pp]ermission denied|No such file or|command not found"
    r"|[Ss]egmentation fault|[Oo]ut of memory|\A(?:FAILED|FAIL|--- FAIL|E  )"
)
# One of these is in all that it finds: most outputs have none, and need not be read line by line.
_IN_ERROR_LINE = (
    *("Error:", "Error[", "Exception:", "Exception[", "Failure:", "Failure[", "ERROR", "FATAL"),
    *("CRITICAL", "PANIC", "error: ", "error[", "fatal: ", "fatal[", "panic: ", "panic[", "ERR"),
    *("ECONN", "EADDR", "ENOENT", "EACCES", "EPERM", "ETIMED", "EEXIST", "EPIPE", "EHOST", "FAIL"),
    *("onnection refused", "ermission denied", "No such file or", "command not found"),
    *("egmentation fault", "ut of memory", "E  "),
)
_CODE_LINE = re.compile(
    r"[\s\d:+|>-]*(?:[\w./-]+:\d+:\s*)?(?:#|//|\*|\"|'|`|(?:except|raise|throw|catch|class|def|return"
    r"|import|from|if|elif|assert|print|logger|log|console)\b(?!:))"
)
_MOST_ERRORS = 5  # of one output or message


class Cutter:
    """Cuts the turns of one session into passages; `state` carries it on to the next reading."""

    def __init__(self, cwd: str, state: Any = None) -> None:
        """`state` is what `state()` gave when an earlier stretch of the session ended."""
        known = state if isinstance(state, dict) else {}
        self._cwd = cwd
        self._turn = _number(known.get("turn"))
        self._part = _number(known.get("part"))
        calls = known.get("calls")
        self._calls: dict[str, str] = dict(calls) if isinstance(calls, dict) else {}

    def state(self) -> dict[str, Any]:
        """Where it stands: the turn and part that come next, and calls without a result."""
        calls = dict(list(self._calls.items())[-_OPEN:])
        return {"turn": self._turn, "part": self._part, "calls": calls}

    def cut(self, turns: Iterable[Turn]) -> Iterator[Passage]:
        """What is kept of turns, in order."""
        for turn in turns:
            match turn:
                case UserText(text=text):
                    yield from self._said(turn, USER, text)
                case Command(name=name, arguments=arguments):
                    yield from self._said(turn, USER, f"{name} {arguments}")
                case AssistantText(text=text):
                    yield from self._said(turn, ASSISTANT, without_insertions(text))
                case ToolUse():
                    yield from self._called(turn)
                case ToolResult():
                    yield from self._answered(turn)

    def _said(self, turn: Turn, role: str, text: str) -> Iterator[Passage]:
        self._turn += 1
        self._part = 0
        for piece in parts(redacted(opening(sound(text), LONGEST))):
            errors = error_lines(piece) if role == USER else ()
            yield self._passage(turn, role, piece, files=self._files_in(piece), errors=errors)

    def _called(self, turn: ToolUse) -> Iterator[Passage]:
        about = next((key for key in _ABOUT_KEYS if _given(turn.input, key)), "")
        given = _given(turn.input, about)
        if turn.tool.startswith(MEMORY) or (turn.tool in SHELLS and _OUR_COMMAND.match(given)):
            self._note_call(turn.id, "ours")
            return
        if turn.tool in _ANSWERING:
            self._note_call(turn.id, "answers")
        elif turn.tool in SHELLS:
            commits = "commits" if "commit" in given else "runs"
            self._note_call(turn.id, "hides" if hides_failure(given) else commits)
        if not given or turn.tool in _LOOKING:
            return
        told = redacted(opening(sound(given), 4 * PART) or sound(given)[:PART])
        text = shortened(told, PART - len(turn.tool))
        files = self._files_in(text)
        if about in _FILE_KEYS:
            files = (self._inside(text),)
        commands = (text,) if about == "command" else ()
        shown = f"$ {text}" if commands else f"{turn.tool}: {text}"
        yield self._passage(turn, TOOL, shown, files=files, commands=commands)

    def _answered(self, turn: ToolResult) -> Iterator[Passage]:
        what = self._calls.pop(turn.id, "")
        if turn.refused or what == "ours":
            return
        if turn.failed or (what == "hides" and looks_failed(turn.text[:_OUTPUT])):
            error = failure(turn.text)
            if error:
                files = self._files_in(error)
                yield self._passage(turn, TOOL, f"failed: {error}", files=files, errors=(error,))
        elif what == "answers":
            text = without_insertions(sound(turn.text))
            for piece in parts(redacted(opening(text, 3 * PART))):
                yield self._passage(turn, TOOL, piece, files=self._files_in(piece))
        elif what in ("runs", "commits", "hides"):
            errors = error_lines(turn.text[:_OUTPUT])
            if errors:
                text = "\n".join(errors)
                files = self._files_in(text)
                yield self._passage(turn, TOOL, f"printed: {text}", files=files, errors=errors)
            for commit, _, subject in committed(turn.text):
                text = redacted(f"committed {commit[:12]}: {shortened(sound(subject), PART)}")
                yield self._passage(turn, TOOL, text)

    def _note_call(self, call: str, what: str) -> None:
        if not what:
            return
        if len(self._calls) >= 4 * _OPEN:
            self._calls.clear()  # calls that never got a result
        self._calls[call] = what

    def _passage(
        self,
        turn: Turn,
        role: str,
        text: str,
        *,
        files: tuple[str, ...] = (),
        commands: tuple[str, ...] = (),
        errors: tuple[str, ...] = (),
    ) -> Passage:
        self._turn = self._turn or 1
        part, self._part = self._part, self._part + 1
        return Passage(
            self._turn,
            part,
            role,
            text,
            _moment(turn.at),
            turn.line,
            turn.line,
            sound(turn.uuid),
            sound(turn.agent),
            files,
            commands,
            errors,
        )

    def _files_in(self, text: str) -> tuple[str, ...]:
        """The files a text names, each once."""
        if "." not in text:
            return ()
        found = dict.fromkeys(self._inside(each[0]) for each in _NAMED_FILE.finditer(text))
        return tuple(found)[:_MOST_FILES]

    def _inside(self, path: str) -> str:
        """A path as the project has it, where it lies in the folder the session ran in."""
        inside = path.removeprefix(self._cwd.rstrip(os.sep) + os.sep) if self._cwd else path
        return inside.removeprefix("./")


def parts(text: str, size: int = PART) -> list[str]:
    """A text in pieces of about so many characters, cut where a paragraph, line or word ends."""
    found: list[str] = []
    start = 0
    while len(text) - start > size + size // 4:  # a last piece that is a little longer stays whole
        end = _border(text, start, start + size)
        found.append(text[start:end].strip())
        start = end
    found.append(text[start:].strip())
    return [piece for piece in found if piece]


def failure(output: str) -> str:
    """What a failed tool said, in few words and without secrets: how it begins, the line that says
    it best, and how it ends."""
    text = redacted(without_insertions(sound(output[:_OUTPUT]))).removeprefix("Error: ")
    text = text.replace("<tool_use_error>", "").replace("</tool_use_error>", "").strip()
    if len(text) <= ERROR:
        return text
    head, tail = opening(text, ERROR // 3), text[-ERROR // 2 :]
    tail = tail[max(tail.find("\n"), tail.find(" "), 0) :].strip()
    best = telling_line(text)
    middle = "" if best in head or best in tail else f"{best[: ERROR // 6]}\n…\n"
    return f"{head.strip()}\n…\n{middle}{tail}"


def sound(text: str) -> str:
    """A text that can be written down: halves of characters become question marks."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text


def _border(text: str, start: int, end: int) -> int:
    """Where to cut before `end`: at the last paragraph, else line, else word of the second half."""
    half = (start + end) // 2
    for mark in ("\n\n", "\n", " "):
        at = text.rfind(mark, half, end)
        if at > 0:
            return at + len(mark)
    return end


def error_lines(text: str) -> tuple[str, ...]:
    """The lines of a log or an output that tell of an error, each once and without secrets; none of
    them is code."""
    found: dict[frozenset[str], str] = {}
    for line in text.splitlines() if any(mark in text for mark in _IN_ERROR_LINE) else ():
        if _ERROR_LINE.search(line[:400]) and not _CODE_LINE.match(line):
            found.setdefault(error_signs(line), " ".join(line[:400].split()))
            if len(found) == _MOST_ERRORS:
                break
    found.pop(frozenset(), None)
    if not found and looks_failed(text):
        best = telling_line(text)
        return (redacted(sound(best)),) if best else ()
    return tuple(redacted(sound(each)) for each in found.values())


def _given(values: Mapping[str, Any], key: str) -> str:
    value = values.get(key)
    return value if isinstance(value, str) else ""


def _moment(at: str) -> str:
    try:
        return iso(utc(at))
    except ValueError:
        return ""


def _number(value: Any) -> int:
    return value if type(value) is int and value >= 0 else 0
