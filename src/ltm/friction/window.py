"""What was going on when it came to a signal: the last six messages, in a few words.

Owns what of them is kept: files, tools and how they went, errors, words, and what the user said,
all of it without secrets, which are taken out before anything is cut so that no half of one stays.
Imports core and `sessions.turns`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from ltm.core.redact import redacted
from ltm.friction.heard import Signal, Window
from ltm.sessions.turns import AssistantText, ToolResult, ToolUse, Turn, UserText

MESSAGES = 6
"""Messages in a window: the one of the signal and five before it."""

_FILES, _TOOLS, _ERRORS, _KEYWORDS, _CONTEXTS = 10, 15, 5, 15, 3
_LOOKED_AT = 2_000
_QUOTED = 1_000
_NAMED = 400
"""Characters in which a message says what it is about."""
_FILE_KEYS = ("file_path", "path", "notebook_path")
# The ending is looked for first: to try a name at every letter would take longer than all the rest.
_ENDING = re.compile(r"\.(?:py|js|ts|md|json|yaml|yml)\b")
_NAME = frozenset("_/.-")
_MAY_HIDE = re.compile(r"[^\s/.\\]{14}|[=:@]|[^\x00-\x7f]")
_LONGEST_NAME = 200
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
        files=tuple(sorted(_without_secrets(_first(_files(turns), _FILES)))),
        tools=_tools(turns)[:_TOOLS],
        errors=tuple(line[:200] for line in _without_secrets(_first(_errors(turns), _ERRORS))),
        keywords=tuple(sorted(_first(_keywords(turns), _KEYWORDS))),
        contexts=tuple(_first(_said(turns), _CONTEXTS)),
    )


def cut(text: str, most: int) -> str:
    """The beginning of a text, on one line and without secrets."""
    return _clean(text[:_QUOTED])[:most].rstrip()


@lru_cache(maxsize=256)
def _clean(text: str) -> str:
    """A text on one line and without secrets; windows overlap, so it is often asked again."""
    return " ".join(redacted(text).split())


def _files(turns: list[Turn]) -> Iterator[str]:
    for turn in turns:
        if isinstance(turn, ToolUse):
            for key in _FILE_KEYS:
                if isinstance(named := turn.input.get(key), str) and named:
                    yield " ".join(named.split())[:300]
            command = turn.input.get("command")
            yield from _named_in(command[:_LOOKED_AT] if isinstance(command, str) else "")
        elif isinstance(turn, ToolResult | UserText | AssistantText):
            yield from _named_in(turn.text[:_LOOKED_AT])


def _named_in(text: str) -> Iterator[str]:
    """The names of files in a text."""
    for ending in _ENDING.finditer(text):
        start = ending.start()
        least = max(0, start - _LONGEST_NAME)
        while start > least and (text[start - 1].isalnum() or text[start - 1] in _NAME):
            start -= 1
        if start < ending.start():
            yield text[start : ending.end()]


def _without_secrets(found: list[str]) -> list[str]:
    """Short texts without secrets; what has no run long enough to be one is not looked at."""
    return [redacted(each) if _MAY_HIDE.search(each) else each for each in found]


def _tools(turns: list[Turn]) -> tuple[str, ...]:
    went = {
        turn.id: ":error" if turn.failed or turn.refused else ":ok"
        for turn in turns
        if isinstance(turn, ToolResult)
    }
    return tuple(turn.tool + went.get(turn.id, "") for turn in turns if isinstance(turn, ToolUse))


def _errors(turns: list[Turn]) -> Iterator[str]:
    for turn in turns:
        if isinstance(turn, ToolResult) and (turn.failed or not turn.judged):
            for line in turn.text[:_LOOKED_AT].split("\n", 5)[:5]:
                if _ERROR.search(line[:_QUOTED]):
                    yield " ".join(line[:_QUOTED].split())
                    break


def _keywords(turns: list[Turn]) -> Iterator[str]:
    for turn in turns:
        if isinstance(turn, UserText | AssistantText):
            found = _WORD.findall(cut(turn.text, _NAMED).lower())[:_PER_MESSAGE]
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
