"""One entry of a transcript, as Claude Code writes it, to the turns it holds.

A client writes many things in the user's name; only what a person typed becomes a `UserText`. An
entry of a type not known here holds nothing.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from ltm.project.home import client_folder
from ltm.sessions.port import (
    Entry,
    FoundTranscript,
    Reader,
    SessionOrigin,
    files_below,
    object_of,
    stem,
    texts_in,
)
from ltm.sessions.turns import (
    Aside,
    AssistantText,
    Command,
    Compaction,
    Interruption,
    Summary,
    ToolResult,
    ToolUse,
    Turn,
    TurnPlace,
    UserText,
)

NOISE = tuple(
    f'{{"type":"{name}"'.encode()
    for name in """
api-request atis-latch cost-state file-history-snapshot last-prompt mode permission-mode
queue-operation tools-used
""".split()  # noqa: SIM905 - and api-request-blob, which holds whole requests, and -shape
)
"""How lines begin that say nothing to anyone, for readers that want more than turns."""

_TYPE = b'"type":"'
_QUEUED = "queued_command"
_ABOUT_THE_CLIENT = """
prompt_snapshot deferred_tools_delta deferred_tools_record skill_listing agent_listing_delta
command_permissions environment model date total_tokens_reminder task_reminder
silent_turn_reminder remote_session_change hook_success
""".split()  # noqa: SIM905 - a prompt_snapshot is the whole system prompt
"""Attachments that say nothing about the work."""
_NO_ATTACHMENT = tuple(f'"attachment":{{"type":"{name}"'.encode() for name in _ABOUT_THE_CLIENT)
_STRINGS = 100
"""Texts of one attachment that are read."""

_INTERRUPTED = "[Request interrupted by user"
_REFUSED = "The user doesn't want to "
_CONTINUED = "This session is being continued from a previous conversation"
_UNASKED = "No response requested."

# What stands at the beginning of text that a client writes in the user's name.
_OPENINGS: tuple[tuple[str, str], ...] = (
    ("<local-command-", "output"),
    ("<bash-stdout", "output"),
    ("<bash-stderr", "output"),
    ("<bash-input", "shell"),
    ("<task-notification", "notice"),
    ("<teammate-message", "notice"),
    ("[SYSTEM NOTIFICATION", "notice"),
    ("Stop hook feedback:", "notice"),
    ("Caveat: The messages below were generated", "notice"),
    ("<user-prompt-submit-hook", "reminder"),
    ("<post-tool-use-hook", "reminder"),
    ("<session-start-hook", "reminder"),
)
_COMMAND = re.compile(r"\s*<command-(?:name|message)>")
_COMMAND_NAME = re.compile(r"<command-name>\s*(.*?)\s*</command-name>", re.DOTALL)
_COMMAND_ARGUMENTS = re.compile(r"<command-args>(.*?)</command-args>", re.DOTALL)
# Blocks a client or LTM put among the user's words: what is left without them is the user's.
_INSERTED = re.compile(
    r"<(system-reminder|ide_\w+|local-command-\w+|task-notification)\b.*?</\1>"
    r"|\[LTM:[^\]\n]*\].*?\[/LTM\]",
    re.DOTALL,
)
_ONE_BLOCK = re.compile(r"\s*<([a-z]+[-_][a-z-_]+)[ >].*</\1>\s*\Z", re.DOTALL)


def holds_nothing(line: bytes) -> bool:
    """Whether a line is of a type that holds no turn, so that it need not be parsed.

    Half of the bytes of some transcripts: progress of tools, whole requests, snapshots of files.
    """
    at = line.find(_TYPE)
    if at < 0 or line.find(b"{", 1, at) > 0:
        return False  # written in another way, or the type of something inside
    at += len(_TYPE)
    kind = line[at : line.find(b'"', at)]
    if kind == b"attachment":
        return any(mark in line for mark in _NO_ATTACHMENT)
    return kind not in _TYPES


def turns_of(entry: Mapping[str, Any], line: int = 0) -> list[Turn]:
    reader = _READERS.get(_text(entry.get("type")))
    if reader is None:
        return []
    common = (
        _text(entry.get("uuid")),
        _text(entry.get("timestamp")),
        line,
        _text(entry.get("agentId")),
        entry.get("isSidechain") is True,
    )
    return list(reader(entry, common))


def without_insertions(text: str) -> str:
    """A text without the blocks that a client or LTM put among a person's words."""
    return (_INSERTED.sub("", text) if "<" in text or "[LTM:" in text else text).strip()


def _user(entry: Mapping[str, Any], common: TurnPlace) -> Iterator[Turn]:
    content = _content(entry)
    if entry.get("isCompactSummary"):
        yield Summary(*common, text=_flat(content))
        return
    if isinstance(content, str):
        yield from _words([content], entry, common)
        return
    words: list[str] = []
    for block in content:
        if block.get("type") == "tool_result":
            text = _flat(block.get("content"))
            refused = entry.get("toolUseResult") == "User rejected tool use" or text.startswith(
                (_REFUSED, _INTERRUPTED)
            )
            yield ToolResult(
                *common,
                id=_text(block.get("tool_use_id")),
                text=text,
                failed=block.get("is_error") is True and not refused,
                judged=isinstance(block.get("is_error"), bool),
                refused=refused,
            )
        elif block.get("type") == "text":
            words.append(_text(block.get("text")))
    if words:
        yield from _words(words, entry, common)


def _words(
    parts: list[str], entry: Mapping[str, Any], common: TurnPlace, *, queued: bool = False
) -> Iterator[Turn]:
    """Text in the user's name: the user's own, or what it really is."""
    own: list[str] = []
    for text in parts:
        what = _other_than_words(text, entry, common)
        if what is not None:
            yield what
            continue
        left = without_insertions(text)
        if left:
            own.append(left)
        if left != text.strip():
            inserted = "\n".join(each[0] for each in _INSERTED.finditer(text))
            yield Aside(*common, what="reminder", text=inserted or text)
    if own:
        yield UserText(*common, text="\n".join(own), queued=queued)


def _other_than_words(text: str, entry: Mapping[str, Any], common: TurnPlace) -> Turn | None:
    start = text.lstrip()
    if start.startswith(_INTERRUPTED):
        return Interruption(*common, in_tool="for tool use" in start[:60])
    if start.startswith(_CONTINUED):
        return Summary(*common, text=text)
    if common[-1]:
        return Aside(*common, what="agent", text=text)  # one agent talks to another
    if _COMMAND.match(text):
        return _command(text, common)
    for opening, what in _OPENINGS:
        if start.startswith(opening):
            return Aside(*common, what=what, text=text)
    if entry.get("isMeta") or entry.get("isVisibleInTranscriptOnly"):
        return Aside(*common, what="meta", text=text)
    # What the client says about who wrote a prompt; older ones say nothing.
    origin = entry.get("origin")
    foreign = isinstance(origin, dict) and origin.get("kind", "human") != "human"
    if foreign or entry.get("promptSource", "typed") == "system":
        return Aside(*common, what="notice", text=text)
    if _ONE_BLOCK.match(text) and not _INSERTED.search(text):
        return Aside(*common, what="notice", text=text)
    return None


def _command(text: str, common: TurnPlace) -> Turn:
    name = _COMMAND_NAME.search(text)
    arguments = _COMMAND_ARGUMENTS.search(text)
    if name is None:
        return Aside(*common, what="meta", text=text)
    return Command(*common, name=name[1], arguments=arguments[1].strip() if arguments else "")


def _assistant(entry: Mapping[str, Any], common: TurnPlace) -> Iterator[Turn]:
    message = entry.get("message")
    model = _text(message.get("model")) if isinstance(message, dict) else ""
    made_up = model == "<synthetic>"
    content = _content(entry)
    for block in [{"type": "text", "text": content}] if isinstance(content, str) else content:
        kind = block.get("type")
        if kind == "tool_use":
            given = block.get("input")
            yield ToolUse(
                *common,
                id=_text(block.get("id")),
                tool=_text(block.get("name")),
                input=given if isinstance(given, dict) else {},
            )
        elif kind == "text":
            text = _text(block.get("text")).strip()
            if entry.get("isApiErrorMessage") or (made_up and text == _UNASKED):
                yield Aside(*common, what="error", text=text)
            elif text:
                yield AssistantText(*common, text=text, model=model, broken_off=made_up)


def _system(entry: Mapping[str, Any], common: TurnPlace) -> Iterator[Turn]:
    subtype = entry.get("subtype")
    if subtype == "compact_boundary":
        about = entry.get("compactMetadata")
        about = about if isinstance(about, dict) else {}
        tokens = about.get("preTokens")
        yield Compaction(
            *common,
            trigger=_text(about.get("trigger")),
            tokens=tokens if isinstance(tokens, int) else 0,
        )
    elif subtype == "local_command":
        text = _text(entry.get("content"))
        if _COMMAND.match(text):
            yield _command(text, common)
        else:
            yield Aside(*common, what="output", text=text)


def _attachment(entry: Mapping[str, Any], common: TurnPlace) -> Iterator[Turn]:
    """What was typed while the agent worked, or the text of a file or the like that came along."""
    about = entry.get("attachment")
    if not isinstance(about, dict) or about.get("type") in _ABOUT_THE_CLIENT:
        return
    if about.get("type") != _QUEUED:
        text = "\n".join(islice(_strings(about), _STRINGS))
        if text:
            yield Aside(*common, what="attachment", text=text)
        return
    if about.get("commandMode", "prompt") != "prompt":
        return
    prompt = about.get("prompt")
    parts = [prompt] if isinstance(prompt, str) else [_flat(prompt)]
    yield from _words(parts, {**entry, "origin": about.get("origin")}, common, queued=True)


def _strings(value: Any, depth: int = 0) -> Iterator[str]:
    """Every text in a value, however deep it stands."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list) and depth < 6:
        for each in value.values() if isinstance(value, dict) else value:
            yield from _strings(each, depth + 1)


def _content(entry: Mapping[str, Any]) -> str | list[dict[str, Any]]:
    message = entry.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, str):
        return content
    return [each for each in content if isinstance(each, dict)] if isinstance(content, list) else []


def _flat(content: Any) -> str:
    """The text of a content that is a text, or a list of blocks some of which are texts."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    texts = (
        block if isinstance(block, str) else _text(block.get("text"))
        for block in content
        if isinstance(block, str) or (isinstance(block, dict) and block.get("type") == "text")
    )
    return "\n".join(texts)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


_READERS: Mapping[str, Callable[[Mapping[str, Any], TurnPlace], Iterator[Turn]]] = {
    "user": _user,
    "assistant": _assistant,
    "system": _system,
    "attachment": _attachment,
}
_TYPES = frozenset(name.encode() for name in _READERS)


# -- the reader ------------------------------------------------------------------------------------


def projects_folder(environ: Mapping[str, str] = os.environ) -> str:
    """The folder in which the client keeps a folder of transcripts for each project.

    Nothing where there is no home: a folder of that name below us is not the client's.
    """
    top = client_folder(environ)
    return os.path.join(top, "projects") if top else ""


def _found(environ: Mapping[str, str]) -> Iterator[FoundTranscript]:
    yield from files_below(projects_folder(environ), 1, ".jsonl")


def _origin(path: str, entries: Iterable[Entry]) -> SessionOrigin:
    """By the file's name; the folder and the moment stand in one of the first entries."""
    cwd = started = ""
    for entry in entries:
        cwd = cwd or _text(entry.get("cwd"))
        started = started or _text(entry.get("timestamp"))
        if cwd and started:
            break
    return SessionOrigin(stem(path), cwd, started, CLAUDE_CODE.name)


def _told(entry: Entry) -> tuple[str, str, str] | None:
    added = object_of(entry.get("attachment"))
    if added.get("type") != "hook_additional_context":
        return None
    text = "\n".join(texts_in(added.get("content")))
    return _text(added.get("hookEvent")), _text(entry.get("timestamp")), text


def _knows(entry: Entry) -> bool:
    return isinstance(entry.get("type"), str)


def _turns(entry: Entry, line: int, origin: SessionOrigin) -> list[Turn]:
    return turns_of(entry, line)


CLAUDE_CODE = Reader(
    name="claude-code",
    knows=_knows,
    origin=_origin,
    turns=_turns,
    found=_found,
    holds_nothing=holds_nothing,
    counted=(b"tool_result", b"compact_boundary"),
    told=_told,
    has_uuids=True,
)
