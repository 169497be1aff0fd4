"""The clients whose transcripts can be read, by name."""

from __future__ import annotations

from collections.abc import Mapping

from ltm.sessions.claude_code import CLAUDE_CODE
from ltm.sessions.cline import CLINE, CURSOR
from ltm.sessions.codex import CODEX
from ltm.sessions.copilot import COPILOT
from ltm.sessions.gemini import ANTIGRAVITY, GEMINI, QWEN
from ltm.sessions.opencode import GOOSE, KILO, OPENCODE
from ltm.sessions.port import Entry, Reader

READERS: Mapping[str, Reader] = {
    reader.name: reader
    for reader in (
        CODEX, COPILOT, GEMINI, QWEN, OPENCODE, KILO, CLINE, CURSOR, GOOSE, ANTIGRAVITY,
        CLAUDE_CODE,
    )
}  # fmt: skip


def reader_of(entry: Entry) -> Reader:
    """Who can read a file that begins with this entry: Claude Code's, if none knows it."""
    return next((each for each in READERS.values() if each.knows(entry)), CLAUDE_CODE)
