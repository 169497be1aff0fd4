"""The clients whose transcripts can be read, and by what a transcript is known to be of which."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ltm.sessions.claude_code import CLAUDE_CODE
from ltm.sessions.cline import CLINE, CURSOR
from ltm.sessions.codex import CODEX
from ltm.sessions.copilot import COPILOT
from ltm.sessions.gemini import ANTIGRAVITY, GEMINI, QWEN
from ltm.sessions.opencode import GOOSE, KILO, OPENCODE
from ltm.sessions.port import Entry, Reader, object_of

READERS: Mapping[str, Reader] = {
    reader.name: reader
    for reader in (
        CODEX, COPILOT, GEMINI, QWEN, OPENCODE, KILO, CLINE, CURSOR, GOOSE, ANTIGRAVITY,
        CLAUDE_CODE,
    )
}  # fmt: skip


def is_of(reader: Reader, entry: Entry) -> bool:
    """Whether the first entry of a file is of this client; for a JSON document, the document."""
    sign = _SIGNS.get(reader.name)
    return sign is not None and sign(entry)


def is_known(entry: Entry) -> bool:
    """Whether some client writes entries like this one."""
    return any(sign(entry) for sign in _SIGNS.values())


def reader_of(entry: Entry) -> Reader:
    """Who can read a file that begins with this entry: Claude Code's, if none knows it."""
    return next((each for each in READERS.values() if is_of(each, entry)), CLAUDE_CODE)


def _is_codex(entry: Entry) -> bool:
    return entry.get("type") == "session_meta" and "id" in object_of(entry.get("payload"))


def _is_copilot(entry: Entry) -> bool:
    return entry.get("type") == "session.start" and "sessionId" in object_of(entry.get("data"))


def _is_gemini(entry: Entry) -> bool:
    return "projectHash" in entry and "sessionId" in entry


def _is_qwen(entry: Entry) -> bool:
    marks = "provenance" in entry or "systemPayload" in entry
    is_named = "sessionId" in entry and "uuid" in entry
    return is_named and (marks or "parts" in object_of(entry.get("message")))


def _is_cline(document: Entry) -> bool:
    is_gemini = "projectHash" in document
    return isinstance(document.get("messages"), list) and "sessionId" in document and not is_gemini


def _is_cursor(entry: Entry) -> bool:
    is_message = "content" in object_of(entry.get("message"))
    is_bare = "type" not in entry and "uuid" not in entry
    return entry.get("role") in ("user", "assistant") and is_message and is_bare


def _is_goose(document: Entry) -> bool:
    return isinstance(document.get("conversation"), list) and "working_dir" in document


def _is_antigravity(entry: Entry) -> bool:
    return "step_index" in entry and "source" in entry and "type" in entry


def _is_claude_code(entry: Entry) -> bool:
    return isinstance(entry.get("type"), str)


_SIGNS: Mapping[str, Callable[[Entry], bool]] = {
    CODEX.name: _is_codex,
    COPILOT.name: _is_copilot,
    GEMINI.name: _is_gemini,
    QWEN.name: _is_qwen,
    CLINE.name: _is_cline,
    CURSOR.name: _is_cursor,
    GOOSE.name: _is_goose,
    ANTIGRAVITY.name: _is_antigravity,
    CLAUDE_CODE.name: _is_claude_code,
}
"""The others keep databases, which are known by their tables."""
