"""Sessions of OpenCode, of Kilo, which came from it, and of Goose: rows of a database.

OpenCode changes the row of a part until it is finished. What is unfinished ends a session for now,
unless the session has gone on long after it.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from ltm.sessions.calls import arguments, tool_name
from ltm.sessions.port import (
    Entry,
    FoundTranscript,
    Reader,
    SessionOrigin,
    data_folder,
    flat,
    list_of,
    made_uuid,
    object_of,
    objects_in,
    text_of,
    texts_in,
)
from ltm.sessions.turns import (
    Aside,
    AssistantText,
    Compaction,
    Summary,
    ToolResult,
    ToolUse,
    Turn,
    TurnPlace,
)
from ltm.sessions.wording import moment, user_turns

_ABANDONED = 3_600_000
"""Milliseconds after which nothing finishes a part that other messages came after."""

_REFUSED = ("The user rejected", "Tool execution aborted", "The user has specified a rule")
_TABLES = {
    "session": frozenset({"id", "directory", "parent_id", "time_created", "time_updated"}),
    "message": frozenset({"id", "session_id", "time_created", "data"}),
    "part": frozenset({"id", "message_id", "time_created", "time_updated", "data"}),
}


def _rows(db: sqlite3.Connection, session: str) -> Iterator[Entry]:
    about = db.execute(
        "SELECT id, directory, parent_id, time_created FROM session WHERE id = ?", (session,)
    ).fetchone()
    if about is None:
        return
    yield dict(zip(("id", "directory", "parent_id", "time_created"), about, strict=True))
    messages = db.execute(
        "SELECT id, time_created, data FROM message WHERE session_id = ? ORDER BY time_created, id",
        (session,),
    ).fetchall()
    newest = max((_number(created) for _, created, _ in messages), default=0)
    for message, _, data in messages:
        about_message = _parsed(data)
        head = {
            "role": about_message.get("role"),
            "summary": about_message.get("summary") is True,
            "model": about_message.get("modelID"),
        }
        over = "completed" in object_of(about_message.get("time")) or "error" in about_message
        parts = db.execute(
            "SELECT id, time_created, time_updated, data FROM part WHERE message_id = ?"
            " ORDER BY id",
            (message,),
        )
        for name, created, updated, part in parts:
            found = _parsed(part)
            is_old = newest - _number(updated) > _ABANDONED
            if not (over or is_old or _is_finished(found, head)):
                return
            yield {**head, "id": name, "at": created, "part": found}


def _is_finished(part: Entry, message: Entry) -> bool:
    if part.get("type") == "tool":
        return object_of(part.get("state")).get("status") in ("completed", "error")
    if part.get("type") == "text" and message["role"] == "assistant":
        return "end" in object_of(part.get("time"))
    return True


def _origin_of(client: str) -> Callable[[str, Iterable[Entry]], SessionOrigin]:
    def origin(path: str, entries: Iterable[Entry]) -> SessionOrigin:
        about = next(iter(islice(entries, 1)), {})
        return SessionOrigin(
            session=text_of(about.get("id")),
            cwd=text_of(about.get("directory")),
            started=moment(about.get("time_created")),
            client=client,
            is_subagent=bool(about.get("parent_id")),
        )

    return origin


def _turns(entry: Entry, line: int, origin: SessionOrigin) -> list[Turn]:
    part = object_of(entry.get("part"))
    place = (
        text_of(entry.get("id")), moment(entry.get("at")), line, "", origin.is_subagent
    )  # fmt: skip
    kind, text = part.get("type"), text_of(part.get("text"))
    if kind == "text" and entry.get("role") == "user":
        if part.get("synthetic") or part.get("ignored"):
            return [Aside(*place, what="attachment", text=text)]
        return [*user_turns([_unquoted(text)], place)]
    if kind == "text" and text.strip():
        if entry.get("summary"):
            return [Summary(*place, text=text)]
        return [AssistantText(*place, text=text.strip(), model=text_of(entry.get("model")))]
    if kind == "tool":
        return [*_tool(part, place)]
    if kind == "compaction":
        return [Compaction(*place, trigger="auto" if part.get("auto") else "manual")]
    return []


def _tool(part: Entry, place: TurnPlace) -> Iterator[Turn]:
    state = object_of(part.get("state"))
    call, tool = text_of(part.get("callID")), tool_name(text_of(part.get("tool")))
    error = text_of(state.get("error"))
    refused = state.get("status") == "error" and error.startswith(_REFUSED)
    code = object_of(state.get("metadata")).get("exit")
    failed = state.get("status") == "error" or code not in (0, None)
    yield ToolUse(*place, id=call, tool=tool, input=arguments(tool, state.get("input")))
    if state.get("status") in ("completed", "error"):
        text = flat(state.get("output")) or error
        yield ToolResult(
            *place, id=call, tool=tool, text=text, failed=failed and not refused, refused=refused
        )


def _unquoted(text: str) -> str:
    """A prompt without the quotes that the command line of the client puts around it."""
    inside = text.strip()[1:-1]
    quoted = len(text.strip()) > 1 and text.strip()[0] == text.strip()[-1] == '"'
    return inside if quoted and '"' not in inside else text


def _sessions(db: sqlite3.Connection) -> Iterator[tuple[str, float]]:
    rows = db.execute("SELECT id, parent_id, time_updated FROM session ORDER BY time_updated")
    for name, parent, updated in rows:
        if not parent and isinstance(name, str):
            yield name, _number(updated) / 1000


def _found_in(folder: str, *names: str) -> Callable[[Mapping[str, str]], Iterator[FoundTranscript]]:
    def found(environ: Mapping[str, str]) -> Iterator[FoundTranscript]:
        top = data_folder(environ, folder)
        path = os.path.join(top, *names)
        if top and os.path.isfile(path):
            yield FoundTranscript(path, 0.0)

    return found


def _address_in(folder: str, *names: str) -> Callable[[str, Mapping[str, str]], str]:
    def address(session: str, environ: Mapping[str, str]) -> str:
        top = data_folder(environ, folder)
        path = os.path.join(top, *names)
        return f"{path}#{session}" if top and os.path.isfile(path) else ""

    return address


def _never(entry: Entry) -> bool:
    return False


def _parsed(data: Any) -> dict[str, Any]:
    try:
        value = json.loads(data) if isinstance(data, str) else None
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _number(value: Any) -> float:
    return value if isinstance(value, int | float) else 0


def _opencode(client: str, file: str) -> Reader:
    return Reader(
        name=client,
        knows=_never,
        origin=_origin_of(client),
        turns=_turns,
        found=_found_in(client, file),
        tables=_TABLES,
        rows=_rows,
        sessions=_sessions,
        of_session=_address_in(client, file),
    )


OPENCODE = _opencode("opencode", "opencode.db")
KILO = _opencode("kilo", "kilo.db")


# -- Goose -----------------------------------------------------------------------------------------

_GOOSE_TABLES = {
    "sessions": frozenset({"id", "working_dir", "created_at", "updated_at"}),
    "messages": frozenset({"id", "session_id", "role", "content_json", "created_timestamp"}),
}
_MILLISECONDS = 100_000_000_000
"""Where a time is more than this, it counts milliseconds."""

_GOOSE_PEOPLE = ("user", "", None)
"""Kinds of session that a person has: others are sub-agents, schedules and hidden ones."""


def _goose_rows(db: sqlite3.Connection, session: str) -> Iterator[Entry]:
    optional = _goose_optional(db, "sessions", "parent_session_id", "session_type")
    about = db.execute(
        f"SELECT id, working_dir, created_at{optional} FROM sessions WHERE id = ?", (session,)
    ).fetchone()
    if about is None:
        return
    names = ("id", "working_dir", "created_at", *optional.replace(",", "").split())
    yield dict(zip(names, about, strict=True))
    optional = _goose_optional(db, "messages", "message_id", "metadata_json")
    rows = db.execute(
        f"SELECT id, role, created_timestamp, content_json{optional} FROM messages"
        " WHERE session_id = ? ORDER BY id",
        (session,),
    )
    names = ("row", "role", "created", "content", *optional.replace(",", "").split())
    for row in rows:
        found = dict(zip(names, row, strict=True))
        yield {
            "id": found.get("message_id") or f"{session}:{found['row']}",
            "role": found["role"],
            "created": found["created"],
            "content": _parsed_list(found["content"]),
            "metadata": _parsed(found.get("metadata_json")),
        }


def _goose_optional(db: sqlite3.Connection, table: str, *names: str) -> str:
    """Columns that some versions have, as they stand after others in a statement."""
    known = {row[1] for row in db.execute(f"PRAGMA table_info({table})")}
    return "".join(f", {name}" for name in names if name in known)


def _goose_origin(path: str, entries: Iterable[Entry]) -> SessionOrigin:
    about = next(iter(islice(entries, 1)), {})
    started = text_of(about.get("created_at")).replace(" ", "T")
    return SessionOrigin(
        session=text_of(about.get("id")),
        cwd=text_of(about.get("working_dir")),
        started=started if not started or started.endswith("Z") else f"{started}Z",
        client="goose",
        is_subagent=bool(about.get("parent_session_id"))
        or about.get("session_type") not in _GOOSE_PEOPLE,
    )


def _knows_goose(document: Entry) -> bool:
    return isinstance(document.get("conversation"), list) and "working_dir" in document


def _goose_turns(entry: Entry, line: int, origin: SessionOrigin) -> list[Turn]:
    created = entry.get("created")
    at = ""
    if isinstance(created, int | float):
        at = moment(created if created > _MILLISECONDS else created * 1000)
    name = text_of(entry.get("id")) or made_uuid(origin.session, line, entry.get("content"))
    place = (name, at, line, "", origin.is_subagent)
    blocks = objects_in(entry.get("content"))
    found: list[Turn] = []
    texts = [text_of(each.get("text")) for each in blocks if each.get("type") == "text"]
    if texts and entry.get("role") == "user":
        if object_of(entry.get("metadata")).get("userVisible", True) is False:
            found.append(Aside(*place, what="notice", text="\n".join(texts)))
        else:
            found += user_turns(texts, place)
    elif "".join(texts).strip():
        found.append(AssistantText(*place, text="\n".join(texts).strip()))
    for block in blocks:
        call = text_of(block.get("id"))
        if block.get("type") == "toolRequest":
            value = object_of(object_of(block.get("toolCall")).get("value"))
            tool = tool_name(text_of(value.get("name")).removeprefix("developer__"))
            given = arguments(tool, value.get("arguments"))
            found.append(ToolUse(*place, id=call, tool=tool, input=given))
        elif block.get("type") == "toolResponse":
            found.append(_goose_result(call, object_of(block.get("toolResult")), place))
    return found


def _goose_result(call: str, result: Entry, place: TurnPlace) -> ToolResult:
    value = result.get("value")
    content = object_of(value).get("content", value)
    return ToolResult(
        *place,
        id=call,
        text="\n".join(texts_in(content)) or flat(result.get("error")),
        failed=result.get("status") == "error" or object_of(value).get("isError") is True,
    )


def _goose_sessions(db: sqlite3.Connection) -> Iterator[tuple[str, float]]:
    optional = _goose_optional(db, "sessions", "parent_session_id", "session_type")
    for name, *about in db.execute(f"SELECT id{optional} FROM sessions ORDER BY updated_at"):
        known = dict(zip(optional.replace(",", "").split(), about, strict=True))
        is_main = not known.get("parent_session_id")
        if is_main and known.get("session_type") in _GOOSE_PEOPLE and isinstance(name, str):
            yield name, 0.0


def _parsed_list(data: Any) -> list[Any]:
    try:
        return list_of(json.loads(data)) if isinstance(data, str) else []
    except (ValueError, RecursionError):
        return []


GOOSE = Reader(
    name="goose",
    knows=_knows_goose,
    origin=_goose_origin,
    turns=_goose_turns,
    found=_found_in("goose", "sessions", "sessions.db"),
    messages="conversation",
    tables=_GOOSE_TABLES,
    rows=_goose_rows,
    sessions=_goose_sessions,
    of_session=_address_in("goose", "sessions", "sessions.db"),
)
