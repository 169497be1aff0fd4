"""Transcripts of Codex: one file a session, `sessions/Y/M/D/rollout-TIME-ID.jsonl`.

Older versions write an event for each message and the calls as the model made them. Newer ones
(`history_mode` in the first line) also write each completed item, with the command that ran and its
exit code: the model may only have written a script. Calls without an item are read too. What else
was put before the model was given to the session, and is not the user's word.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from ltm.sessions.calls import arguments, changed_files, command_line, exit_code, tool_name
from ltm.sessions.port import (
    Entry,
    FoundTranscript,
    Reader,
    SessionOrigin,
    below_home,
    files_below,
    flat,
    list_of,
    made_uuid,
    object_of,
    objects_in,
    stem,
    text_of,
    texts_in,
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

_CALL, _RESULT = "call", "result"
_HEAD = 2_000
_OUTPUT = re.compile(r"^Output:\n?", re.MULTILINE)
_FROM_CLIENT = re.compile(
    r"\s*(?:<(?:environment_context|user_instructions|turn_aborted|[a-z]+[_-][a-z_-]+)\b"
    r"|# AGENTS\.md instructions)"
)
_QUIET = (
    b'"payload":{"type":"token_count"',
    b'"payload":{"type":"reasoning"',
    b'"type":"token_usage_record","payload":',
    b'"type":"world_state","payload":',
    b'"type":"turn_context","payload":',
)


def _knows(entry: Entry) -> bool:
    return entry.get("type") == "session_meta" and "id" in object_of(entry.get("payload"))


def _origin(path: str, entries: Iterable[Entry]) -> SessionOrigin:
    entry = next(iter(islice(entries, 1)), {})
    about = object_of(entry.get("payload"))
    is_subagent = (
        isinstance(about.get("source"), dict)
        or about.get("thread_source") == "subagent"
        or bool(about.get("parent_thread_id"))
    )
    return SessionOrigin(
        session=text_of(about.get("id")) or stem(path),
        cwd=text_of(about.get("cwd")),
        started=text_of(about.get("timestamp")) or text_of(entry.get("timestamp")),
        client="codex",
        branch=text_of(object_of(about.get("git")).get("branch")),
        is_subagent=is_subagent,
        has_items="history_mode" in about,
    )


def _turns(entry: Entry, line: int, origin: SessionOrigin) -> list[Turn]:
    payload = object_of(entry.get("payload"))
    kind, what = entry.get("type"), text_of(payload.get("type"))
    at = text_of(entry.get("timestamp"))
    # A fork copies rows: the same row of the same moment is the same message.
    uuid = made_uuid(at, kind, payload)
    place = (uuid, at, line, "", origin.is_subagent)
    if kind == "compacted":
        return [*_compacted(payload, place)]
    if kind == "event_msg":
        if what == "item_completed":
            return [*_item(payload, place, origin)]
        return [*_event(what, payload, place, origin)]
    if kind == "response_item":
        return [*_response(what, payload, place, origin)]
    return []


def _item(payload: Entry, place: TurnPlace, origin: SessionOrigin) -> Iterator[Turn]:
    """A completed item, which only the newer form is read by."""
    if not origin.has_items:
        return
    item = object_of(payload.get("item"))
    name = text_of(item.get("id"))
    turn = text_of(payload.get("turn_id")) or origin.session
    place = (f"{turn}:{name}" if name else place[0], *place[1:])
    match item.get("type"):
        case "UserMessage":
            yield from user_turns(texts_in(item.get("content")), place)
        case "AgentMessage":
            text = "\n".join(texts_in(item.get("content"))).strip()
            if text:
                yield AssistantText(*place, text=text)
        case "CommandExecution":
            command = command_line(item.get("command"))
            code = item.get("exit_code")
            output = text_of(item.get("aggregated_output"))
            failed = code not in (0, None)
            yield from _done(place, name, "Bash", {"command": command}, output, item, failed=failed)
        case "McpToolCall":
            server, bare = text_of(item.get("server")), text_of(item.get("tool"))
            tool = tool_name(bare, server)
            result = object_of(item.get("result"))
            failed = result.get("isError") is True or bool(item.get("error"))
            text = "\n".join(texts_in(result.get("content"))) or flat(item.get("error"))
            given = arguments(tool, item.get("arguments"))
            yield from _done(place, name, tool, given, text, item, failed=failed)
        case "FileChange":
            for number, path in enumerate(changed_files(item.get("changes"))):
                more = f"-{number}" if number else ""
                where = (f"{place[0]}{more}", *place[1:])
                text = text_of(item.get("stdout")) + text_of(item.get("stderr"))
                yield from _done(
                    where, f"{name}{more}", "Edit", {"file_path": path}, text, item, failed=False
                )
        case "ContextCompaction":
            yield Compaction(*place)


def _done(
    place: TurnPlace,
    call: str,
    tool: str,
    given: Mapping[str, Any],
    text: str,
    item: Entry,
    *,
    failed: bool,
) -> Iterator[Turn]:
    """A call and its result, under the uuids that the rows of the model's own call have."""
    status = item.get("status")
    refused = status in ("declined", "denied", "rejected")
    failed = (failed or status == "failed") and not refused
    yield ToolUse(*_part(place, _CALL), id=call, tool=tool, input=given)
    yield ToolResult(
        *_part(place, _RESULT), id=call, tool=tool, text=text, failed=failed, refused=refused
    )


def _part(place: TurnPlace, what: str) -> TurnPlace:
    return (f"{place[0]}:{what}", *place[1:])


def _event(what: str, payload: Entry, place: TurnPlace, origin: SessionOrigin) -> Iterator[Turn]:
    if what == "turn_aborted":
        yield Interruption(*place)
    elif what == "context_compacted" and not origin.has_items:
        yield Compaction(*place)
    elif origin.has_items:
        return
    elif what == "user_message":
        yield from user_turns([text_of(payload.get("message"))], place)
    elif what == "agent_message":
        text = text_of(payload.get("message")).strip()
        if text:
            yield AssistantText(*place, text=text)


def _response(what: str, payload: Entry, place: TurnPlace, origin: SessionOrigin) -> Iterator[Turn]:
    """What the model was sent and gave back: calls of the older form; of both, what was given."""
    call = text_of(payload.get("call_id"))
    if what == "message":
        yield from _given(payload, place)
        return
    if origin.has_items and call:
        about = object_of(payload.get("internal_chat_message_metadata_passthrough"))
        turn = text_of(about.get("turn_id")) or origin.session
        place = _part((f"{turn}:{call}", *place[1:]), _RESULT if "_output" in what else _CALL)
    if what.endswith("_output"):
        output = payload.get("output", payload.get("tools"))
        text = "\n".join(texts_in(output)) or flat(output)
        failed = _has_failed(text)
        yield ToolResult(
            *place,
            id=call,
            text=text,
            failed=failed is True,
            judged=failed is not None,
        )
    elif what.endswith("_call"):
        server = text_of(payload.get("namespace")).removeprefix("mcp__")
        name = text_of(payload.get("name")) or what.removesuffix("_call")
        tool = tool_name(name, server if server != text_of(payload.get("namespace")) else "")
        if origin.has_items and tool == "Edit":
            return  # its item says which files
        given = payload.get("arguments", payload.get("input", payload.get("action")))
        yield ToolUse(*place, id=call, tool=tool, input=arguments(tool, given))


def _given(payload: Entry, place: TurnPlace) -> Iterator[Turn]:
    """What was put before the model in another's name: instructions, the environment, hooks."""
    role = payload.get("role")
    if role == "assistant":
        return
    about = object_of(payload.get("internal_chat_message_metadata_passthrough"))
    origins = [
        object_of(each.get("provenance")) for each in objects_in(about.get("content_item_metadata"))
    ]
    for number, text in enumerate(texts_in(payload.get("content"))):
        source = origins[number] if number < len(origins) else {}
        is_users = source.get("type") == "user" if source else not _FROM_CLIENT.match(text)
        # The base instructions are the client's own, long, and the same in every session.
        is_fixed = "model.base_instructions" in list_of(about.get("content_item_kinds"))
        if (role == "developer" and not is_fixed) or (role == "user" and not is_users):
            yield Aside(*place, what="reminder" if source.get("hook") else "meta", text=text)


def _has_failed(output: str) -> bool | None:
    """Whether a command failed by what the client wrote above its output; None if it is silent."""
    printed = _OUTPUT.search(output[:_HEAD])
    code = exit_code(output[: printed.start() if printed else _HEAD])
    if code is None and output.startswith("{"):
        about = object_of(object_of(arguments("", output)).get("metadata"))
        code = about.get("exit_code") if isinstance(about.get("exit_code"), int) else None
    return None if code is None else code != 0


def _compacted(payload: Entry, place: TurnPlace) -> Iterator[Turn]:
    yield Compaction(*place)
    text = text_of(payload.get("message"))
    if text:
        yield Summary(*place, text=text)


def _holds_nothing(line: bytes) -> bool:
    beginning = line[:200]
    return any(mark in beginning for mark in _QUIET)


def _found(environ: Mapping[str, str]) -> Iterator[FoundTranscript]:
    top = below_home(environ, "CODEX_HOME", ".codex")
    for folder, depth in (("sessions", 3), ("archived_sessions", 0)):
        yield from files_below(f"{top}/{folder}" if top else "", depth, ".jsonl")


CODEX = Reader(
    name="codex",
    knows=_knows,
    origin=_origin,
    turns=_turns,
    found=_found,
    holds_nothing=_holds_nothing,
)
