"""Transcripts of Cline and of Cursor, whose messages are made of blocks, as in Anthropic's API.

Cline writes one JSON document a session again whole; the folder stands in a file next to it. Cursor
writes one message a line, without ids, times, results or the folder: its sessions are read when a
hook names them.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice

from ltm.errors import LtmError
from ltm.files.atomic import read_plain
from ltm.sessions.calls import arguments, tool_name
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
    text_of,
)
from ltm.sessions.port import stem as stem_of
from ltm.sessions.turns import AssistantText, ToolResult, ToolUse, Turn, TurnPlace
from ltm.sessions.wording import moment, user_turns

_ENDING = ".messages.json"
_ABOUT = 1024 * 1024
_FOLDERS = ("cwd", "workspaceRoot", "workspace_root", "workspacePath")
_REFUSED = re.compile(r"\s*The user (?:denied|rejected)\b")


def _knows_cline(document: Entry) -> bool:
    return isinstance(document.get("messages"), list) and "sessionId" in document and (
        "projectHash" not in document
    )  # fmt: skip


def _cline_origin(path: str, entries: Iterable[Entry]) -> SessionOrigin:
    about = next(iter(islice(entries, 1)), {})
    session = text_of(about.get("sessionId")) or os.path.basename(path).removesuffix(_ENDING)
    return SessionOrigin(
        session=session,
        cwd=_cline_folder(path),
        started=_cline_started(session),
        client="cline",
        is_subagent=about.get("agent", "lead") != "lead",
    )


def _cline_started(session: str) -> str:
    """When a session began: its id begins with the milliseconds."""
    number = session.partition("_")[0]
    return moment(int(number)) if number.isdecimal() and len(number) < 16 else ""


def _cline_folder(path: str) -> str:
    """The folder a session ran in, from the file that says what it is."""
    try:
        data = read_plain(path.removesuffix(_ENDING) + ".json", limit=_ABOUT)
        about = json.loads(data)
    except (OSError, LtmError, ValueError, RecursionError):
        return ""
    folders = (object_of(about).get(name) for name in _FOLDERS)
    return next((each for each in folders if isinstance(each, str) and os.path.isabs(each)), "")


def _cline_turns(entry: Entry, line: int, origin: SessionOrigin) -> list[Turn]:
    name, at = text_of(entry.get("id")), moment(entry.get("ts"))
    name = f"{origin.session}:{name or made_uuid(line, entry.get('content'))}"
    found: list[Turn] = []
    content = entry.get("content")
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else list_of(content)
    for number, block in enumerate(blocks):
        # A message may be written again with more blocks: each is one of its own.
        place = (f"{name}:{number}", at, line, "", origin.is_subagent)
        block = object_of(block)
        kind, text = block.get("type"), text_of(block.get("text"))
        if kind == "text" and entry.get("role") == "user":
            found += user_turns([text], place, within="user_input")
        elif kind == "text" and text.strip():
            model = text_of(object_of(entry.get("modelInfo")).get("id"))
            found.append(AssistantText(*place, text=text.strip(), model=model))
        elif kind == "tool_use":
            tool = tool_name(text_of(block.get("name")))
            given = arguments(tool, block.get("input"))
            found.append(ToolUse(*place, id=text_of(block.get("id")), tool=tool, input=given))
        elif kind == "tool_result":
            found.append(_cline_result(block, place))
    return found


def _cline_result(block: Entry, place: TurnPlace) -> ToolResult:
    content = block.get("content")
    parts = objects_in(content)
    verdicts = [part["success"] for part in parts if isinstance(part.get("success"), bool)]
    texts = [flat({k: v for k, v in part.items() if k not in ("query", "type")}) for part in parts]
    text = content if isinstance(content, str) else "\n".join(texts)
    refused = _REFUSED.match(text) is not None
    failed = (False in verdicts or block.get("is_error") is True) and not refused
    return ToolResult(
        *place,
        id=text_of(block.get("tool_use_id")),
        tool=tool_name(text_of(block.get("name"))),
        text=text,
        failed=failed,
        judged=bool(verdicts) or "is_error" in block,
        refused=refused,
    )


def _cline_found(environ: Mapping[str, str]) -> Iterator[FoundTranscript]:
    top = below_home(environ, "CLINE_DATA_DIR", ".cline", "data")
    yield from files_below(f"{top}/sessions" if top else "", 1, _ENDING)


def _cline_of_session(session: str, environ: Mapping[str, str]) -> str:
    """The transcript of a session: the client's hooks leave its path out."""
    name = f"{session}{_ENDING}"
    found = (each.path for each in _cline_found(environ))
    return next((path for path in found if os.path.basename(path) == name), "")


CLINE = Reader(
    name="cline",
    knows=_knows_cline,
    origin=_cline_origin,
    turns=_cline_turns,
    found=_cline_found,
    of_session=_cline_of_session,
    messages="messages",
)


# -- Cursor ----------------------------------------------------------------------------------------


def _knows_cursor(entry: Entry) -> bool:
    message = object_of(entry.get("message"))
    return entry.get("role") in ("user", "assistant") and "content" in message and (
        "type" not in entry and "uuid" not in entry
    )  # fmt: skip


def _cursor_origin(path: str, entries: Iterable[Entry]) -> SessionOrigin:
    return SessionOrigin(session=stem_of(path), client="cursor")


def _cursor_turns(entry: Entry, line: int, origin: SessionOrigin) -> list[Turn]:
    content = object_of(entry.get("message")).get("content")
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else list_of(content)
    # Without ids, a message is known by its place and what it says.
    place = (made_uuid(origin.session, line, blocks), "", line, "", origin.is_subagent)
    found: list[Turn] = []
    for number, block in enumerate(blocks):
        block = object_of(block)
        kind, text = block.get("type"), text_of(block.get("text"))
        if kind == "text" and entry.get("role") == "user":
            found += user_turns([text], place, within="user_query")
        elif kind == "text" and text.strip():
            found.append(AssistantText(*place, text=text.strip()))
        elif kind == "tool_use":
            tool = tool_name(text_of(block.get("name")))
            given = arguments(tool, block.get("input"))
            call = text_of(block.get("id")) or f"{place[0]}:{number}"
            found.append(ToolUse(*place, id=call, tool=tool, input=given))
    return found


def _cursor_of_session(session: str, environ: Mapping[str, str]) -> str:
    """The transcript of a session: the client's hooks leave its path out."""
    top = below_home(environ, "", ".cursor", "projects")
    for depth in (2, 3):
        for each in files_below(top, depth, f"{session}.jsonl"):
            if os.path.basename(each.path) == f"{session}.jsonl":
                return each.path
    return ""


CURSOR = Reader(
    name="cursor",
    knows=_knows_cursor,
    origin=_cursor_origin,
    turns=_cursor_turns,
    shows_results=False,
    of_session=_cursor_of_session,
)
