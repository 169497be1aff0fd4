"""Transcripts of GitHub Copilot CLI: `session-state/ID/events.jsonl`, one event a line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice

from ltm.sessions.calls import arguments, tool_name
from ltm.sessions.port import (
    Entry,
    FoundTranscript,
    Reader,
    SessionOrigin,
    below_home,
    files_below,
    flat,
    object_of,
    objects_in,
    stem,
    text_of,
)
from ltm.sessions.turns import (
    Aside,
    AssistantText,
    Compaction,
    Interruption,
    Summary,
    ToolResult,
    ToolUse,
    Turn,
    TurnPlace,
)
from ltm.sessions.wording import user_turns

_QUIET = tuple(f'"type":"{name}'.encode() for name in ("hook.start", "session.usage_record"))
_REFUSED = ("rejected", "denied")


def _knows(entry: Entry) -> bool:
    about = object_of(entry.get("data"))
    return entry.get("type") == "session.start" and "sessionId" in about


def _origin(path: str, entries: Iterable[Entry]) -> SessionOrigin:
    about = object_of(next(iter(islice(entries, 1)), {}).get("data"))
    context = object_of(about.get("context"))
    return SessionOrigin(
        session=text_of(about.get("sessionId")) or stem(path),
        cwd=text_of(context.get("cwd")),
        started=text_of(about.get("startTime")),
        client="copilot",
        branch=text_of(context.get("branch")),
    )


def _turns(entry: Entry, line: int, origin: SessionOrigin) -> list[Turn]:
    data = object_of(entry.get("data"))
    agent = text_of(data.get("parentToolCallId")) or text_of(entry.get("agentId"))
    place = (
        text_of(entry.get("id")), text_of(entry.get("timestamp")), line, agent, bool(agent)
    )  # fmt: skip
    match entry.get("type"):
        case "user.message":
            return [*_user(data, place)]
        case "assistant.message":
            text = text_of(data.get("content")).strip()
            model = text_of(data.get("model"))
            return [AssistantText(*place, text=text, model=model)] if text else []
        case "tool.execution_start":
            server = text_of(data.get("mcpServerName"))
            tool = tool_name(text_of(data.get("toolName")), server)
            given = arguments(tool, data.get("arguments"))
            return [ToolUse(*place, id=text_of(data.get("toolCallId")), tool=tool, input=given)]
        case "tool.execution_complete":
            return [_result(data, place)]
        case "session.compaction_complete":
            text = text_of(data.get("summaryContent"))
            return [Compaction(*place), *([Summary(*place, text=text)] if text else [])]
        case "abort":
            return [Interruption(*place)]
        case "skill.invoked" | "system.notification" | "system.message":
            return [Aside(*place, what="notice", text=flat(data.get("content")))]
        case "hook.end":
            told = flat(object_of(data.get("output")).get("additionalContext"))
            return [Aside(*place, what="reminder", text=told)] if told else []
    return []


def _user(data: Entry, place: TurnPlace) -> Iterator[Turn]:
    """A prompt; what came along with it, or was sent by the client, is not the user's word."""
    attached = [flat(each) for each in objects_in(data.get("attachments"))]
    if attached:
        yield Aside(*place, what="attachment", text="\n".join(attached))
    text = text_of(data.get("content"))
    whole = text_of(data.get("transformedContent"))
    if text and text in whole and whole.strip() != text.strip():
        yield Aside(*place, what="reminder", text=whole.replace(text, "\n"))
    if data.get("source", "user") not in ("user", ""):
        yield Aside(*place, what="notice", text=text)
    else:
        yield from user_turns([text], place, queued=data.get("delivery", "idle") != "idle")


def _result(data: Entry, place: TurnPlace) -> ToolResult:
    error = object_of(data.get("error"))
    result = object_of(data.get("result"))
    code = object_of(data.get("shellExecution")).get("exitCode")
    refused = text_of(error.get("code")) in _REFUSED
    return ToolResult(
        *place,
        id=text_of(data.get("toolCallId")),
        text="\n".join(filter(None, (flat(result.get("content")), text_of(error.get("message"))))),
        failed=(data.get("success") is False or code not in (0, None)) and not refused,
        judged=isinstance(data.get("success"), bool),
        refused=refused,
    )


def _holds_nothing(line: bytes) -> bool:
    return line.startswith(tuple(b"{" + mark for mark in _QUIET))


def _found(environ: Mapping[str, str]) -> Iterator[FoundTranscript]:
    top = below_home(environ, "COPILOT_HOME", ".copilot")
    yield from files_below(f"{top}/session-state" if top else "", 1, "events.jsonl")


COPILOT = Reader(
    name="copilot",
    knows=_knows,
    origin=_origin,
    turns=_turns,
    found=_found,
    holds_nothing=_holds_nothing,
)
