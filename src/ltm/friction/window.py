"""What was going on when it came to a signal: the last six messages, in a few words.

Owns what of them is kept: files, tools and how they went, errors, words, and what the user said,
all of it without secrets, which are taken out before anything is cut so that no half of one stays.
Imports core and `sessions.turns`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from ltm.core.redact import redacted
from ltm.friction.heard import Signal, Window
from ltm.sessions.turns import AssistantText, ToolResult, ToolUse, Turn, UserText

MESSAGES = 6
"""Messages in a window: the one of the signal and five before it."""

_FILES, _TOOLS, _ERRORS, _KEYWORDS, _CONTEXTS = 10, 15, 5, 15, 3
_LOOKED_AT = 4_000
_FILE_KEYS = ("file_path", "path", "notebook_path")
_FILE = re.compile(r"[\w/.-]{1,200}\.(?:py|js|ts|md|json|yaml|yml)\b")
_ERROR = re.compile(r"error|traceback|exit code [1-9]", re.IGNORECASE)
_WORD = re.compile(r"\b[a-z]{4,40}\b")
_PER_MESSAGE = 20
_COMMON = """about after also been before being both could does doing done down each from have here
    into just know like made make many more most much need only other over please said same should
    some such sure than that their them then there these they this those very want well were what
    when where which while will with would your"""
_STOP = frozenset(_COMMON.split())


def window(signal: Signal, messages: Iterable[Sequence[Turn]]) -> Window:
    """What these messages, the last of which holds the signal, were about."""
    held = list(messages)
    turns = [turn for message in held for turn in message]
    return Window(
        signal=signal,
        turns=len(held),
        files=tuple(sorted(_first(_files(turns), _FILES))),
        tools=_tools(turns)[:_TOOLS],
        errors=tuple(_first(_errors(turns), _ERRORS)),
        keywords=tuple(sorted(_first(_keywords(turns), _KEYWORDS))),
        contexts=tuple(_first(_said(turns), _CONTEXTS)),
    )


def cut(text: str, most: int) -> str:
    """The beginning of a text, on one line and without secrets."""
    return " ".join(redacted(text[:_LOOKED_AT]).split())[:most].rstrip()


def _files(turns: list[Turn]) -> Iterator[str]:
    for turn in turns:
        if isinstance(turn, ToolUse):
            for key in _FILE_KEYS:
                if isinstance(named := turn.input.get(key), str) and named:
                    yield cut(named, 300)
            command = turn.input.get("command")
            yield from _named_in(command if isinstance(command, str) else "")
        elif isinstance(turn, ToolResult | UserText | AssistantText):
            yield from _named_in(turn.text)


def _named_in(text: str) -> list[str]:
    return _FILE.findall(redacted(text[:_LOOKED_AT])) if "." in text else []


def _tools(turns: list[Turn]) -> tuple[str, ...]:
    went = {
        turn.id: ":error" if turn.failed or turn.refused else ":ok"
        for turn in turns
        if isinstance(turn, ToolResult)
    }
    return tuple(turn.tool + went.get(turn.id, "") for turn in turns if isinstance(turn, ToolUse))


def _errors(turns: list[Turn]) -> Iterator[str]:
    for turn in turns:
        if isinstance(turn, ToolResult) and not turn.refused:
            for line in turn.text[:_LOOKED_AT].split("\n", 5)[:5]:
                if _ERROR.search(line):
                    yield cut(line, 200)
                    break


def _keywords(turns: list[Turn]) -> Iterator[str]:
    for turn in turns:
        if isinstance(turn, UserText | AssistantText):
            found = _WORD.findall(redacted(turn.text[:_LOOKED_AT]).lower())[:_PER_MESSAGE]
            yield from (word for word in found if word not in _STOP)


def _said(turns: list[Turn]) -> Iterator[str]:
    # The last words first: they are those that led to the signal.
    for turn in reversed(turns):
        if isinstance(turn, UserText):
            yield cut(turn.text, 500)


def _first(found: Iterable[str], most: int) -> list[str]:
    """The first different ones."""
    kept: dict[str, None] = {}
    for each in found:
        if each:
            kept[each] = None
        if len(kept) >= most:
            break
    return list(kept)
