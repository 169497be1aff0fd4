"""Sessions as other clients write them, entry by entry, after transcripts that the clients left.

One way to write for all: what the user typed and a hook added, what the agent said, which tool it
called with what result. `grow` takes a session apart into the states a reader may find it in.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

from ltm.sessions.wording import moment

FOLDER = Path(__file__).parent / "transcripts"
START = 1_794_818_300_000
SESSION = "11111111-2222-4333-8444-555555555555"


class Session:
    """A session of a client that is being written to `path`; a subclass a client."""

    client = ""
    file = "session.jsonl"
    tool_names = {"shell": "bash", "read": "read"}
    has_results = True

    def __init__(self, folder: Path, cwd: Path, session: str = SESSION) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.cwd = cwd
        self.session = session
        self.written = folder / self.file
        self.numbers = count(1)
        self.begin()

    @property
    def path(self) -> str:
        """The transcript, as a reader is told of it."""
        return str(self.written)

    def now(self) -> tuple[int, int, str]:
        """Another number, with its moment in milliseconds and as a text."""
        number = next(self.numbers)
        at = START + number * 1000
        return number, at, moment(at)

    def line(self, **entry: Any) -> None:
        """Add a line."""
        with self.written.open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry, ensure_ascii=False, separators=(",", ":")) + "\n")

    def begin(self) -> None:
        """What stands at the beginning."""

    def user(self, text: str, told: str = "") -> None:
        """A prompt; `told` is what a hook added to it."""
        raise NotImplementedError

    def agent(self, text: str) -> None:
        """What the agent said."""
        raise NotImplementedError

    def tool(self, name: str, given: dict[str, Any], result: str, *, failed: bool = False) -> None:
        """A call of a tool, `shell` or `read` or one of another server, and its result."""
        raise NotImplementedError


class OldCodex(Session):
    client = "codex"
    tool_names = {"shell": "exec_command", "read": "read_file"}

    def row(self, kind: str, payload: dict[str, Any]) -> None:
        self.line(timestamp=self.now()[2], type=kind, payload=payload)

    def about(self) -> dict[str, Any]:
        return {"id": self.session, "timestamp": moment(START), "cwd": str(self.cwd)}

    def begin(self) -> None:
        self.row("session_meta", self.about())

    def message(self, role: str, text: str) -> None:
        self.row(
            "response_item",
            {"type": "message", "role": role, "content": [{"type": "input_text", "text": text}]},
        )

    def user(self, text: str, told: str = "") -> None:
        if told:
            self.message("developer", told)
        self.message("user", text)
        self.row("event_msg", {"type": "user_message", "message": text, "images": []})

    def agent(self, text: str) -> None:
        self.row("event_msg", {"type": "agent_message", "message": text})
        self.message("assistant", text)

    def tool(self, name: str, given: dict[str, Any], result: str, *, failed: bool = False) -> None:
        call = f"call_{next(self.numbers)}"
        if name == "shell":
            given = {"cmd": given["command"]}
            result = (
                f"Wall time: 0.1 seconds\nProcess exited with code {int(failed)}\nOutput:\n{result}"
            )
        payload = {
            "type": "function_call",
            "name": self.tool_names.get(name, name),
            "arguments": json.dumps(given),
            "call_id": call,
        }
        self.row("response_item", payload)
        self.row(
            "response_item", {"type": "function_call_output", "call_id": call, "output": result}
        )


class Codex(OldCodex):
    def about(self) -> dict[str, Any]:
        return {**super().about(), "history_mode": "paginated", "cli_version": "0.166.0"}

    def row(self, kind: str, payload: dict[str, Any]) -> None:
        turn = f"turn-of-{SESSION}"
        if kind == "event_msg":
            payload = {**payload, "turn_id": turn}
        elif kind == "response_item":
            payload.setdefault("internal_chat_message_metadata_passthrough", {})["turn_id"] = turn
        super().row(kind, payload)

    def item(self, **item: Any) -> None:
        name = item.pop("id", "") or f"item_{next(self.numbers)}"
        self.row("event_msg", {"type": "item_completed", "item": {**item, "id": name}})

    def message(self, role: str, text: str, source: str = "harness", hook: bool = False) -> None:
        payload = {
            "type": "message",
            "role": role,
            "content": [{"type": "input_text", "text": text}],
            "internal_chat_message_metadata_passthrough": {
                "content_item_metadata": [{"provenance": {"type": source, "hook": hook}}]
            },
        }
        self.row("response_item", payload)

    def user(self, text: str, told: str = "") -> None:
        if told:
            self.message("developer", told, hook=True)
        self.message("user", text, "user")
        self.item(type="UserMessage", content=[{"type": "text", "text": text}])

    def agent(self, text: str) -> None:
        self.item(type="AgentMessage", content=[{"type": "Text", "text": text}])
        self.message("assistant", text)

    def tool(self, name: str, given: dict[str, Any], result: str, *, failed: bool = False) -> None:
        call = f"call_{next(self.numbers)}"
        self.row(
            "response_item",
            {
                "type": "function_call",
                "name": name,
                "arguments": json.dumps(given),
                "call_id": call,
            },
        )
        if name == "shell":
            self.item(
                type="CommandExecution",
                id=call,
                command=["/bin/bash", "-lc", given["command"]],
                aggregated_output=result,
                exit_code=int(failed),
                status="failed" if failed else "completed",
            )
        elif name != "read":  # what has no item is only in the answer to the call
            content = [{"type": "text", "text": result}]
            self.item(
                type="McpToolCall",
                id=call,
                server="shop",
                tool=name,
                arguments=given,
                status="completed",
                result={"content": content, "isError": failed},
            )
        self.row(
            "response_item",
            {
                "type": "function_call_output",
                "call_id": call,
                "output": [{"type": "input_text", "text": result}],
            },
        )


class Copilot(Session):
    client = "copilot"
    file = "events.jsonl"

    def event(self, kind: str, **data: Any) -> None:
        number, _, at = self.now()
        self.line(type=kind, data=data, id=f"{self.session}-{number}", timestamp=at)

    def begin(self) -> None:
        self.event(
            "session.start",
            sessionId=self.session,
            startTime=moment(START),
            context={"cwd": str(self.cwd), "branch": "main"},
        )

    def user(self, text: str, told: str = "") -> None:
        self.event("user.message", content=text, transformedContent=f"{told}\n\n{text}")

    def agent(self, text: str) -> None:
        self.event("assistant.message", content=text, model="m", toolRequests=[])

    def tool(self, name: str, given: dict[str, Any], result: str, *, failed: bool = False) -> None:
        call = f"call_{next(self.numbers)}"
        server = {} if name in self.tool_names else {"mcpServerName": "shop", "mcpToolName": name}
        tool = self.tool_names.get(name, f"shop-{name}")
        self.event(
            "tool.execution_start", toolCallId=call, toolName=tool, arguments=given, **server
        )
        code = {"shellExecution": {"exitCode": int(failed)}} if name == "shell" else {}
        self.event(
            "tool.execution_complete",
            toolCallId=call,
            success=name == "shell" or not failed,
            result={"content": result},
            **code,
        )


class Gemini(Session):
    client = "gemini"
    file = "chats/session-2026-11-16T08-40-47e73305.jsonl"
    tool_names = {"shell": "run_shell_command", "read": "read_file"}

    def begin(self) -> None:
        self.written.parent.mkdir(exist_ok=True)
        (self.written.parent.parent / ".project_root").write_text(str(self.cwd))
        self.line(sessionId=self.session, projectHash="92c5", startTime=moment(START), kind="main")
        context = "<session_context>\nThis is the client.\n</session_context>"
        first = {
            "id": "0",
            "timestamp": moment(START),
            "type": "user",
            "content": [{"text": context}],
        }
        self.line(**{"$set": {"messages": [first]}})

    def user(self, text: str, told: str = "") -> None:
        number, _, at = self.now()
        shown = f"<hook_context>{told}</hook_context>\n\n{text}" if told else text
        parts = [{"text": shown}]
        content = [*parts, {"text": f"<hook_context>{told}</hook_context>"}] if told else parts
        name = f"{self.session}-{number}"
        self.line(id=name, timestamp=at, type="user", content=content, displayContent=parts)
        self.line(**{"$set": {"lastUpdated": at}})

    def agent(self, text: str) -> None:
        number, _, at = self.now()
        self.line(id=f"{self.session}-{number}", timestamp=at, type="gemini", content=text)

    def tool(self, name: str, given: dict[str, Any], result: str, *, failed: bool = False) -> None:
        number, _, at = self.now()
        message = {"id": f"{self.session}-{number}", "timestamp": at, "type": "gemini"}
        self.line(**message, content="I look at it.")
        if name == "shell":
            result = f"Output: {result}\nExit Code: {int(failed)}\nProcess Group PGID: 2"
        response = {"output": f"<untrusted_context>\n{result}\n</untrusted_context>"}
        tool = self.tool_names.get(name, f"mcp_shop_{name}")
        call = {
            "id": f"call-{number}",
            "name": tool,
            "args": given,
            "result": [{"functionResponse": {"id": f"call-{number}", "response": response}}],
            "status": "error" if failed and name != "shell" else "success",
        }
        self.line(**message, content="I look at it.", toolCalls=[call])
        answer = {"functionResponse": {"id": f"call-{number}", "response": response}}
        number, _, at = self.now()
        self.line(id=f"{self.session}-{number}", timestamp=at, type="user", content=[answer])


class Qwen(Session):
    client = "qwen"
    tool_names = {"shell": "run_shell_command", "read": "read_file"}

    def entry(self, kind: str, provenance: str, **fields: Any) -> None:
        number, _, at = self.now()
        self.line(
            uuid=f"{self.session}-{number}", parentUuid=None, sessionId=self.session,
            timestamp=at, type=kind, provenance=provenance, cwd=str(self.cwd), **fields,
        )  # fmt: skip

    def user(self, text: str, told: str = "") -> None:
        parts = [{"text": text}]
        block = f"<qwen:user-prompt-submit-context>\n{told}\n</qwen:user-prompt-submit-context>"
        parts += [{"text": block}] if told else []
        about = {"displayText": text} | ({"hookContext": told} if told else {})
        message = {"role": "user", "parts": parts}
        self.entry("user", "real_user", message=message, systemPayload=about)

    def agent(self, text: str) -> None:
        message = {"role": "model", "parts": [{"text": text}]}
        self.entry("assistant", "assistant_output", message=message, model="m")

    def tool(self, name: str, given: dict[str, Any], result: str, *, failed: bool = False) -> None:
        call, tool = f"call_{next(self.numbers)}", self.tool_names.get(name, f"mcp__shop__{name}")
        asked = {"functionCall": {"id": call, "name": tool, "args": given}}
        self.entry("assistant", "assistant_output", message={"role": "model", "parts": [asked]})
        response = {"error" if failed else "output": result}
        answer = {"functionResponse": {"id": call, "name": tool, "response": response}}
        self.entry(
            "tool_result",
            "tool_result",
            message={"role": "user", "parts": [answer]},
            toolCallResult={"callId": call, "status": "error" if failed else "success"},
        )


class Cline(Session):
    client = "cline"
    file = f"{SESSION}.messages.json"
    tool_names = {"shell": "run_commands", "read": "read_files"}

    def begin(self) -> None:
        self.written = self.written.with_name(f"{self.session}.messages.json")
        about = {"sessionId": self.session, "cwd": str(self.cwd)}
        about_file = self.written.name.replace(".messages", "")
        (self.written.parent / about_file).write_text(json.dumps(about))
        self.messages: list[dict[str, Any]] = []
        self.save()

    def save(self) -> None:
        document = {"version": 1, "agent": "lead", "sessionId": self.session}
        text = json.dumps({**document, "messages": self.messages}, indent=1)
        self.written.write_text(text + "\n")

    def message(self, role: str, *blocks: dict[str, Any]) -> None:
        number, at, _ = self.now()
        self.messages.append(
            {"id": f"{self.session}-{number}", "role": role, "content": list(blocks), "ts": at}
        )
        self.save()

    def user(self, text: str, told: str = "") -> None:
        added = f"<hook_context>{told}</hook_context>\n" if told else ""
        typed = f'{added}<user_input mode="act">{text}</user_input>'
        self.message("user", {"type": "text", "text": typed})

    def agent(self, text: str) -> None:
        self.message("assistant", {"type": "text", "text": text})

    def tool(self, name: str, given: dict[str, Any], result: str, *, failed: bool = False) -> None:
        call, tool = f"call_{next(self.numbers)}", self.tool_names.get(name, name)
        self.message("assistant", {"type": "tool_use", "id": call, "name": tool, "input": given})
        content = [{"query": "q", "result": result, "success": not failed}]
        self.message(
            "user",
            {"type": "tool_result", "tool_use_id": call, "name": tool, "content": content},
        )


class Cursor(Session):
    client = "cursor"
    has_results = False

    def message(self, role: str, *blocks: dict[str, Any]) -> None:
        self.line(role=role, message={"content": list(blocks)})

    def user(self, text: str, told: str = "") -> None:
        typed = f"<timestamp>today</timestamp>\n{told}<user_query>\n{text}\n</user_query>"
        self.message("user", {"type": "text", "text": typed})

    def agent(self, text: str) -> None:
        self.message("assistant", {"type": "text", "text": text})

    def tool(self, name: str, given: dict[str, Any], result: str, *, failed: bool = False) -> None:
        names = {"shell": "Shell", "read": "Read"}
        self.message(
            "assistant", {"type": "tool_use", "name": names.get(name, name), "input": given}
        )


class Antigravity(Session):
    client = "antigravity"

    def step(self, source: str, kind: str, status: str = "DONE", **fields: Any) -> None:
        number, _, at = self.now()
        self.line(
            step_index=number, source=source, type=kind, status=status, created_at=at, **fields
        )

    def user(self, text: str, told: str = "") -> None:
        added = f"<ADDITIONAL_METADATA>\n{told}\nNow.\n</ADDITIONAL_METADATA>"
        typed = f"<USER_REQUEST>\n{text}\n</USER_REQUEST>\n{added}"
        self.step("USER_EXPLICIT", "USER_INPUT", content=typed)

    def agent(self, text: str) -> None:
        self.step("MODEL", "PLANNER_RESPONSE", content=text)

    def tool(self, name: str, given: dict[str, Any], result: str, *, failed: bool = False) -> None:
        names = {"shell": "run_command", "read": "view_file"}
        given = {"CommandLine": json.dumps(given.get("command", ""))} if name == "shell" else given
        call = {"name": names.get(name, name), "args": given}
        self.step("MODEL", "PLANNER_RESPONSE", tool_calls=[call])
        text = f"Created At: {moment(START)}\nCompleted At: {moment(START)}\n{result}"
        kind = "RUN_COMMAND" if name == "shell" else "GENERIC"
        self.step("MODEL", kind, "ERROR" if failed else "DONE", content=text)


class OpenCode(Session):
    client = "opencode"
    file = "opencode.db"

    @property
    def path(self) -> str:
        return f"{self.written}#{self.session}"

    def begin(self) -> None:
        with closing(sqlite3.connect(self.written)) as db, db:
            db.executescript(_OPENCODE)
            db.execute(
                "INSERT INTO session VALUES(?, ?, NULL, ?, ?)",
                (self.session, str(self.cwd), START, START),
            )

    def part(self, role: str, part: dict[str, Any], **message: Any) -> None:
        number, at, _ = self.now()
        name = f"{self.session}-{number:06d}"
        about = {"role": role, "time": {"created": at, "completed": at}, **message}
        with closing(sqlite3.connect(self.written)) as db, db:
            db.execute(
                "INSERT INTO message VALUES(?, ?, ?, ?, ?)",
                (f"m{name}", self.session, at, at, json.dumps(about)),
            )
            db.execute(
                "INSERT INTO part VALUES(?, ?, ?, ?, ?, ?)",
                (f"p{name}", f"m{name}", self.session, at, at, json.dumps(part)),
            )
            db.execute("UPDATE session SET time_updated = ? WHERE id = ?", (at, self.session))

    def user(self, text: str, told: str = "") -> None:
        if told:
            self.part("user", {"type": "text", "text": told, "synthetic": True})
        self.part("user", {"type": "text", "text": text})

    def agent(self, text: str) -> None:
        self.part("assistant", {"type": "text", "text": text, "time": {"start": 1, "end": 2}})

    def tool(self, name: str, given: dict[str, Any], result: str, *, failed: bool = False) -> None:
        tool, call = self.tool_names.get(name, f"shop_{name}"), f"call_{next(self.numbers)}"
        state: dict[str, Any] = {"status": "completed", "input": given, "output": result}
        if name == "shell":
            state["metadata"] = {"exit": int(failed)}
        elif failed:
            state = {"status": "error", "input": given, "error": result}
        self.part("assistant", {"type": "tool", "tool": tool, "callID": call, "state": state})


class Kilo(OpenCode):
    client = "kilo"
    file = "kilo.db"


class Goose(Session):
    client = "goose"
    file = "sessions.db"
    tool_names = {"shell": "shell", "read": "read"}

    @property
    def path(self) -> str:
        return f"{self.written}#{self.session}"

    def begin(self) -> None:
        with closing(sqlite3.connect(self.written)) as db, db:
            db.executescript(_GOOSE)
            db.execute(
                "INSERT INTO sessions VALUES(?, ?, 'user', NULL, '2026-11-16 08:38:20', '')",
                (self.session, str(self.cwd)),
            )

    def message(self, role: str, *blocks: dict[str, Any], **metadata: Any) -> None:
        number, at, _ = self.now()
        row = (f"msg_{self.session}_{number}", self.session, role, json.dumps(blocks))
        with closing(sqlite3.connect(self.written)) as db, db:
            db.execute(
                "INSERT INTO messages(message_id, session_id, role, content_json,"
                " created_timestamp, metadata_json) VALUES(?, ?, ?, ?, ?, ?)",
                (*row, at // 1000, json.dumps(metadata)),
            )

    def user(self, text: str, told: str = "") -> None:
        added = [{"type": "text", "text": f"<info-msg>{told}</info-msg>"}] if told else []
        self.message("user", {"type": "text", "text": text}, *added)

    def agent(self, text: str) -> None:
        self.message("assistant", {"type": "text", "text": text})

    def tool(self, name: str, given: dict[str, Any], result: str, *, failed: bool = False) -> None:
        call, tool = f"call_{next(self.numbers)}", self.tool_names.get(name, f"shop__{name}")
        value = {"name": tool, "arguments": given}
        self.message(
            "assistant",
            {"type": "toolRequest", "id": call, "toolCall": {"status": "success", "value": value}},
        )
        answer = {"content": [{"type": "text", "text": result}], "isError": failed}
        self.message(
            "user",
            {"type": "toolResponse", "id": call,
             "toolResult": {"status": "success", "value": answer}},
        )  # fmt: skip


class OldGemini(Gemini):
    """Before it wrote lines: one document, written again each time."""

    file = "chats/session-2026-01-16T08-40-47e73305.json"

    def begin(self) -> None:
        self.messages: dict[str, dict[str, Any]] = {}
        super().begin()

    def line(self, **entry: Any) -> None:
        self.messages |= {entry["id"]: entry} if "id" in entry else {}
        about = {"sessionId": self.session, "projectHash": "92c5", "startTime": moment(START)}
        document = {**about, "messages": list(self.messages.values())}
        self.written.write_text(json.dumps(document, indent=2))


ALL: tuple[type[Session], ...] = (
    OldCodex, Codex, Copilot, Gemini, OldGemini, Qwen, Cline, Cursor, Antigravity, OpenCode, Kilo,
    Goose,
)  # fmt: skip

_OPENCODE = """
CREATE TABLE session(
  id TEXT PRIMARY KEY, directory TEXT, parent_id TEXT, time_created INTEGER, time_updated INTEGER);
CREATE TABLE message(
  id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, time_updated INTEGER, data TEXT);
CREATE TABLE part(
  id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, time_created INTEGER,
  time_updated INTEGER, data TEXT);
"""
_GOOSE = """
CREATE TABLE sessions(
  id TEXT PRIMARY KEY, working_dir TEXT, session_type TEXT, parent_session_id TEXT,
  created_at TIMESTAMP, updated_at TIMESTAMP);
CREATE TABLE messages(
  id INTEGER PRIMARY KEY AUTOINCREMENT, message_id TEXT, session_id TEXT, role TEXT,
  content_json TEXT, created_timestamp INTEGER, metadata_json TEXT);
"""


def opencode_database(path: Path) -> None:
    """The database of which the rows are kept next to the other transcripts."""
    tables = json.loads((FOLDER / "opencode-1.18.33-rows.json").read_text("utf-8"))
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("PRAGMA journal_mode = WAL")
        for table, rows in tables.items():
            columns = list(rows[0])
            db.execute(f"CREATE TABLE {table}({', '.join(columns)})")
            marks = ", ".join("?" * len(columns))
            values = [[row.get(name) for name in columns] for row in rows]
            db.executemany(f"INSERT INTO {table} VALUES({marks})", values)


def states(path: str) -> Iterator[Callable[[], None]]:
    """What makes a transcript what it was at some earlier moment, from the first to the last.

    A file of lines ends anywhere; a document has its first messages, a database its first rows.
    """
    file = Path(path.partition("#")[0])
    whole = file.read_bytes()
    if whole.startswith(b"SQLite"):
        table = (
            "part" if b"TABLE IF NOT EXISTS part" in whole or b"TABLE part" in whole else "messages"
        )
        copy = file.with_suffix(".whole")
        copy.write_bytes(whole)
        with closing(sqlite3.connect(copy)) as db:
            rows = [row[0] for row in db.execute(f"SELECT id FROM {table} ORDER BY id")]
        for length in range(len(rows) + 1):
            yield partial(_cut_rows, copy, file, table, rows[:length])
    elif file.suffix == ".json":
        document = json.loads(whole)
        for length in range(len(document["messages"]) + 1):
            text = json.dumps({**document, "messages": document["messages"][:length]}, indent=1)
            yield partial(_cut_bytes, file, text.encode())
    else:
        for length in range(len(whole) + 1):
            yield partial(_cut_bytes, file, whole[:length])


def _cut_bytes(file: Path, data: bytes) -> None:
    file.write_bytes(data)


def _cut_rows(whole: Path, file: Path, table: str, kept: list[str]) -> None:
    shutil.copy(whole, file)
    with closing(sqlite3.connect(file)) as db, db:
        marks = ", ".join("?" * len(kept))
        db.execute(f"DELETE FROM {table} WHERE id NOT IN ({marks})", kept)
