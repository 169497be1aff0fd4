"""Transcripts of Gemini CLI, of Qwen Code, which came from it, and of Antigravity CLI after it.

Gemini CLI writes a message again, under the same id, when its tools have answered, so each part of
a message is one of its own here. `.project_root` says where a session ran. Antigravity writes
steps, without a folder.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from ltm.errors import LtmError
from ltm.files.atomic import read_plain
from ltm.sessions.calls import arguments, exit_code, tool_name
from ltm.sessions.port import (
    Entry,
    FoundTranscript,
    Reader,
    SessionOrigin,
    below_home,
    files_below,
    flat,
    made_uuid,
    object_of,
    objects_in,
    stem,
    text_of,
    texts_in,
    user_home,
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
)
from ltm.sessions.wording import user_turns

_TAIL = 2_000
_WRAPPER = re.compile(r"\A\s*<untrusted_context>\n?(.*?)\n?</untrusted_context>\s*\Z", re.DOTALL)
_ROOT = ".project_root"
_PATH = 4_096


# -- Gemini CLI ------------------------------------------------------------------------------------


def _knows_gemini(entry: Entry) -> bool:
    return "projectHash" in entry and "sessionId" in entry


def _gemini_origin(path: str, entries: Iterable[Entry]) -> SessionOrigin:
    first = next(iter(islice(entries, 1)), {})
    return SessionOrigin(
        session=text_of(first.get("sessionId")) or stem(path),
        cwd=_project_root(path),
        started=text_of(first.get("startTime")),
        client="gemini",
        is_subagent=first.get("kind") == "subagent",
    )


def _project_root(path: str) -> str:
    """The folder a session ran in, as the client noted it above its transcripts."""
    folder = os.path.dirname(path)
    for _ in range(3):
        try:
            root = read_plain(os.path.join(folder, _ROOT), limit=_PATH).decode("utf-8").strip()
        except (OSError, LtmError, ValueError):
            folder = os.path.dirname(folder)
            continue
        return root if os.path.isabs(root) else ""
    return ""


def _gemini_turns(entry: Entry, line: int, origin: SessionOrigin) -> list[Turn]:
    changed = object_of(entry.get("$set"))
    messages = objects_in(changed.get("messages")) if changed else [entry]
    return [turn for each in messages for turn in _gemini_message(each, line, origin)]


def _gemini_message(entry: Entry, line: int, origin: SessionOrigin) -> Iterator[Turn]:
    name, at = text_of(entry.get("id")), text_of(entry.get("timestamp"))
    if not name:
        return
    place = (name, at, line, "", origin.is_subagent)
    kind = entry.get("type")
    if kind == "user":
        parts = objects_in(entry.get("content"))
        content = entry.get("content")
        texts = [content] if isinstance(content, str) else texts_in(parts)
        if texts and not any("functionResponse" in part for part in parts):
            # What was typed is shown; the rest of the message, such as files, was put in.
            shown = texts_in(entry.get("displayContent"))
            given = [text for text in texts if text not in shown] if shown else []
            if given:
                yield Aside(*place, what="attachment", text="\n".join(given))
            yield from user_turns(shown or texts, place)
    elif kind == "gemini":
        text = "\n".join(texts_in(entry.get("content"))).strip()
        if text:
            # The same message comes again with the results of its tools.
            place = (f"{name}:text", *place[1:])
            yield AssistantText(*place, text=text, model=text_of(entry.get("model")))
        for call in objects_in(entry.get("toolCalls")):
            yield from _gemini_call(call, place)
    elif kind in ("info", "error", "warning"):
        yield Aside(*place, what="notice", text="\n".join(texts_in(entry.get("content"))))


def _gemini_call(call: Entry, place: TurnPlace) -> Iterator[Turn]:
    status = call.get("status")
    if status not in ("success", "error", "cancelled"):
        return  # it is at work: it comes again
    name = text_of(call.get("id"))
    place = (f"{place[0].removesuffix(':text')}:{name}", *place[1:])
    tool = tool_name(text_of(call.get("name")))
    answers = [
        object_of(object_of(each.get("functionResponse")).get("response"))
        for each in objects_in(call.get("result"))
    ]
    text = "\n".join(_answered(each) for each in answers)
    failed, judged = _failed(text, tool, failed=status == "error")
    yield ToolUse(*place, id=name, tool=tool, input=arguments(tool, call.get("args")))
    yield ToolResult(
        *place,
        id=name,
        tool=tool,
        text=text,
        failed=failed and status != "cancelled",
        judged=judged,
        refused=status == "cancelled",
    )


def _answered(response: Entry) -> str:
    text = "\n".join(
        text for key in ("output", "error", "result") if (text := flat(response.get(key)))
    ) or flat(response)
    whole = _WRAPPER.match(text)
    return whole[1] if whole else text


def _failed(text: str, tool: str, *, failed: bool) -> tuple[bool, bool]:
    """Whether a call failed, and whether the client said so: of a command at the end of it."""
    code = exit_code(text[-_TAIL:]) if tool == "Bash" else None
    return failed or code not in (0, None), True


def _gemini_found(environ: Mapping[str, str]) -> Iterator[FoundTranscript]:
    home = user_home(environ)
    top = os.path.join(home, ".gemini", "tmp") if home else ""
    for ending in (".json", ".jsonl"):  # older versions write one document, again and again
        for each in files_below(top, 2, ending):
            folder, name = os.path.split(each.path)
            if os.path.basename(folder) == "chats" and name.startswith("session-"):
                yield each


GEMINI = Reader(
    name="gemini",
    knows=_knows_gemini,
    origin=_gemini_origin,
    turns=_gemini_turns,
    found=_gemini_found,
    messages="messages",
)


# -- Qwen Code -------------------------------------------------------------------------------------

_TYPED = (None, "mid_turn_user_message")
"""Subtypes of an entry of the user that a person typed; the others are notices and prompts of
agents."""


def _knows_qwen(entry: Entry) -> bool:
    if "sessionId" not in entry or "uuid" not in entry:
        return False
    message = object_of(entry.get("message"))
    return "provenance" in entry or "systemPayload" in entry or "parts" in message


def _qwen_origin(path: str, entries: Iterable[Entry]) -> SessionOrigin:
    first = next(iter(islice(entries, 1)), {})
    return SessionOrigin(
        session=text_of(first.get("sessionId")) or stem(path),
        cwd=text_of(first.get("cwd")),
        started=text_of(first.get("timestamp")),
        client="qwen",
        branch=text_of(first.get("gitBranch")),
        is_subagent=first.get("isSidechain") is True or bool(first.get("agentId")),
    )


def _qwen_turns(entry: Entry, line: int, origin: SessionOrigin) -> list[Turn]:
    agent = text_of(entry.get("agentId"))
    place = (
        text_of(entry.get("uuid")), text_of(entry.get("timestamp")), line, agent,
        origin.is_subagent or bool(agent) or entry.get("isSidechain") is True,
    )  # fmt: skip
    match entry.get("type"):
        case "user":
            return [*_qwen_user(entry, place)]
        case "assistant":
            return [*_qwen_assistant(entry, place)]
        case "tool_result":
            return [*_qwen_result(entry, place)]
        case "system":
            return [*_qwen_system(entry, place)]
    return []


def _qwen_user(entry: Entry, place: TurnPlace) -> Iterator[Turn]:
    parts = objects_in(object_of(entry.get("message")).get("parts"))
    texts = texts_in(parts)
    about = object_of(entry.get("systemPayload"))
    if entry.get("subtype") not in _TYPED or entry.get("provenance", "real_user") != "real_user":
        yield Aside(*place, what="notice", text="\n".join(texts))
        return
    shown = about.get("displayText")
    if not isinstance(shown, str):
        yield from user_turns(texts, place)
        return
    # What was typed is said apart, so all else in the message was put in: files, hooks.
    given = "\n".join(text for text in texts if text.strip() != shown.strip())
    if given:
        yield Aside(*place, what="attachment", text=given)
    yield from user_turns([shown], place)


def _qwen_assistant(entry: Entry, place: TurnPlace) -> Iterator[Turn]:
    parts = objects_in(object_of(entry.get("message")).get("parts"))
    spoken = "\n".join(texts_in([part for part in parts if not part.get("thought")])).strip()
    if spoken:
        yield AssistantText(*place, text=spoken, model=text_of(entry.get("model")))
    for part in parts:
        call = object_of(part.get("functionCall"))
        if call:
            tool = tool_name(text_of(call.get("name")))
            given = arguments(tool, call.get("args"))
            yield ToolUse(*place, id=text_of(call.get("id")), tool=tool, input=given)


def _qwen_result(entry: Entry, place: TurnPlace) -> Iterator[Turn]:
    about = object_of(entry.get("toolCallResult"))
    shown = object_of(about.get("resultDisplay"))
    for part in objects_in(object_of(entry.get("message")).get("parts")):
        answer = object_of(part.get("functionResponse"))
        if not answer:
            continue
        tool = tool_name(text_of(answer.get("name")))
        text = _answered(object_of(answer.get("response")))
        status = about.get("status")
        refused = status == "cancelled"
        failed = status == "error" or shown.get("exitCode") not in (0, None)
        yield ToolResult(
            *place,
            id=text_of(answer.get("id")),
            tool=tool,
            text=text,
            failed=failed and not refused,
            judged=bool(status),
            refused=refused,
        )


def _qwen_system(entry: Entry, place: TurnPlace) -> Iterator[Turn]:
    about = object_of(entry.get("systemPayload"))
    if entry.get("subtype") == "chat_compression":
        yield Compaction(*place)
        text = flat(object_of(about.get("info")).get("summary"))
        for each in objects_in(about.get("compressedHistory"))[:2]:
            text = text or "\n".join(texts_in(each.get("parts")))
        if text:
            yield Summary(*place, text=text)
    elif entry.get("subtype") == "slash_command" and about.get("phase", "invocation") != "result":
        name, _, words = text_of(about.get("rawCommand")).partition(" ")
        if name:
            yield Command(*place, name=name, arguments=words.strip())


def _qwen_found(environ: Mapping[str, str]) -> Iterator[FoundTranscript]:
    home = user_home(environ)
    top = os.path.join(home, ".qwen", "projects") if home else ""
    for each in files_below(top, 2, ".jsonl"):
        if os.path.basename(os.path.dirname(each.path)) == "chats":
            yield each


QWEN = Reader(
    name="qwen",
    knows=_knows_qwen,
    origin=_qwen_origin,
    turns=_qwen_turns,
    found=_qwen_found,
)


# -- Antigravity CLI -------------------------------------------------------------------------------

_STAMPS = re.compile(r"\A(?:(?:Created|Completed) At: [^\n]*\n?)+\s*")
_STEPS_OF_TOOLS = {"RUN_COMMAND": "Bash", "LIST_DIRECTORY": "LS", "CODE_ACTION": "Edit"}


def _knows_antigravity(entry: Entry) -> bool:
    return "step_index" in entry and "source" in entry and "type" in entry


def _antigravity_origin(path: str, entries: Iterable[Entry]) -> SessionOrigin:
    first = next(iter(islice(entries, 1)), {})
    folders = path.replace(os.sep, "/").split("/")
    at = folders.index(".system_generated") if ".system_generated" in folders else 0
    return SessionOrigin(
        session=folders[at - 1] if at else stem(path),
        started=text_of(first.get("created_at")),
        client="antigravity",
    )


def _antigravity_turns(entry: Entry, line: int, origin: SessionOrigin) -> list[Turn]:
    source, kind = entry.get("source"), text_of(entry.get("type"))
    step, status = entry.get("step_index"), text_of(entry.get("status"))
    text, at = text_of(entry.get("content")), text_of(entry.get("created_at"))
    uuid = made_uuid(origin.session, step, kind, status)
    place = (uuid, at, line, "", origin.is_subagent)
    if kind == "USER_INPUT":
        if source == "USER_EXPLICIT":
            return [*user_turns([text], place, within="USER_REQUEST")]
        return [Aside(*place, what="notice", text=text)]
    if kind == "PLANNER_RESPONSE":
        return [*_antigravity_response(entry, text, place, origin)]
    if source != "MODEL":
        return [Aside(*place, what="notice", text=text)] if text else []
    if status == "RUNNING":
        return []
    refused = status in ("CANCELED", "CANCELLED")
    if refused and not text:
        return [Interruption(*place, in_tool=True)]
    result = ToolResult(
        *place,
        id=f"{origin.session}:{step}",
        tool=_STEPS_OF_TOOLS.get(kind, kind.lower()),
        text=_STAMPS.sub("", text),
        failed=status == "ERROR" or _command_failed(kind, text),
        refused=refused,
    )
    return [result]


def _antigravity_response(
    entry: Entry, text: str, place: TurnPlace, origin: SessionOrigin
) -> Iterator[Turn]:
    """Words and calls. Calls have no ids: their results are the steps that follow."""
    step = entry.get("step_index")
    next_step = step + 1 if isinstance(step, int) else 0
    if text.strip():
        yield AssistantText(*place, text=text.strip())
    for number, call in enumerate(objects_in(entry.get("tool_calls"))):
        tool = tool_name(text_of(call.get("name")))
        given = {name: _decoded(value) for name, value in object_of(call.get("args")).items()}
        call_id = f"{origin.session}:{next_step + number}"
        yield ToolUse(*place, id=call_id, tool=tool, input=arguments(tool, given))


def _decoded(value: Any) -> Any:
    """An argument: the client writes texts as JSON in a text."""
    if isinstance(value, str) and value[:1] == '"':
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value


def _command_failed(kind: str, text: str) -> bool:
    return kind == "RUN_COMMAND" and exit_code(text[:_TAIL]) not in (0, None)


def _antigravity_found(environ: Mapping[str, str]) -> Iterator[FoundTranscript]:
    top = below_home(environ, "", ".gemini", "antigravity-cli", "brain")
    yield from files_below(top, 3, "transcript_full.jsonl")


ANTIGRAVITY = Reader(
    name="antigravity",
    knows=_knows_antigravity,
    origin=_antigravity_origin,
    turns=_antigravity_turns,
    found=_antigravity_found,
)
