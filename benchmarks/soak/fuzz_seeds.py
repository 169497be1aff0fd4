"""What a fuzzer of parsers begins with: real inputs, known traps, and words of the formats."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from benchmarks.soak.fuzz_targets import DIVIDER
from ltm.clients.table import CLAUDE_CODE
from ltm.clients.wire import FIELDS as EVENTS
from ltm.vault.codec import to_bytes
from ltm.vault.fields import FIELDS
from tests.sessions.writing import Transcript
from tests.vault.strategies import memory
from tests.vault.test_hostile_files import GOOD as FRONT
from tests.vault.test_hostile_files import ODD, TRAPS

LONGEST = 4_096
"""Bytes an input may have: enough for every rule of every format, and quick to try."""

_JSON_WORDS = (
    *("type", "user", "assistant", "system", "attachment", "uuid", "timestamp", "message", "role"),
    *("content", "text", "tool_use", "tool_result", "tool_use_id", "input", "name", "is_error"),
    *("isSidechain", "isMeta", "isCompactSummary", "compactMetadata", "preTokens", "subtype"),
    *("session_id", "hook_event_name", "cwd", "SessionStart", "PostToolUse", "tool_response"),
    *("origin", "kind", "human", "promptSource", "agentId", "toolUseResult", "queued_command"),
)
_MARKS = (
    *("---\n", ": ", "- ", "[", "]", "{", "}", "|\n", ">-\n", "'", '"', "#", "\r\n", "\ufeff"),
    *("<<<<<<< a\n", "=======\n", ">>>>>>> b\n", "## Summary\n", "## Content\n", "\\", "\u2028"),
    *(DIVIDER.decode(), "2026-11-15T10:00:00Z", "null", "true", "1e999", "-0", "\\ud800", "\t"),
)
_QUESTIONS = (
    "why does the gateway retry in src/gateway/retry.py?",
    'ValueError: offset out of range "kafka" AND (NOT x) NEAR/3 title:a* ^b',
    "what did I say about Kafka last week, yesterday, on 2026-11-01, between March and June 2025",
    "in 99999 years; 31 February; 3 days ago; week 54; Q5 2026; 00:61",
    "große Dateien 日本語のテキスト émigré naïve ﬁne 測試 🇩🇪👩‍👩‍👧 \u202e\u0000\u200b",
)


def seeds(target: str) -> list[bytes]:
    """Inputs worth starting from, none longer than the fuzzer's own."""
    made = {
        "front_matter": _files,
        "transcript": _transcripts,
        "session": _transcripts,
        "message": _messages,
        "question": lambda: [each.encode() for each in _QUESTIONS],
        "merge": _merges,
    }
    return [data for data in made[target]() if len(data) <= LONGEST]


def dictionary() -> str:
    """Words of the formats, in the form libFuzzer reads."""
    words = [*(f"{field.key}: " for field in FIELDS), *(f'"{word}":' for word in _JSON_WORDS)]
    words += [*_JSON_WORDS, *_MARKS]
    escaped = ("".join(f"\\x{byte:02x}" for byte in word.encode()) for word in words)
    return "".join(f'"{word}"\n' for word in escaped)


def _files() -> list[bytes]:
    traps = [trap if isinstance(trap, bytes) else trap.encode() for trap, _, _ in TRAPS.values()]
    odd = [f"---\n{FRONT}{front}---\nA line.\n".encode() for front in ODD]
    whole = to_bytes(memory(tags=("a", "b"), reason='He said "hi": 42'))
    return [*traps, *odd, whole, whole.replace(b"\n", b"\r\n"), b"\xef\xbb\xbf" + whole]


def _transcripts() -> list[bytes]:
    with tempfile.TemporaryDirectory() as folder:
        written = Transcript(Path(folder) / "t.jsonl")
        written.user("never use tabs here")
        call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "git commit"}}
        written.assistant({"type": "text", "text": "I will."}, call)
        output = "[main abc1234] Use spaces\n 1 file changed"
        result = {"type": "tool_result", "tool_use_id": "t1", "content": output, "is_error": False}
        written.user([result])
        written.add("system", subtype="compact_boundary", compactMetadata={"preTokens": 9})
        lines = written.path.read_bytes()
    torn = json.dumps({"type": "user", "message": {"content": ["x", None, 1]}}).encode()
    return [lines, *lines.splitlines(keepends=True), lines + torn[:20], torn, b"[" * 3_000]


def _messages() -> list[bytes]:
    own, table = CLAUDE_CODE.event_field, EVENTS
    common = dict.fromkeys(table["*"].values(), "/x/é\udc80")
    made = [
        json.dumps({own: event, **common, **dict.fromkeys(fields.values(), "a")}).encode()
        for event, fields in table.items()
    ]
    return [
        *made,
        made[0][:40],
        b'{"a": [1e5, -0, NaN, null], "a": "\\ud800\\u0000"} ',
        b"[" * 3_000,
    ]


def _merges() -> list[bytes]:
    base = memory(tags=("a",), content="One.\nTwo.\nThree.")
    one = memory(tags=("a", "b"), content="1.\nTwo.\nThree.", title="Mine", version=2)
    two = memory(tags=("c",), content="One.\nTwo.\n3.", title="Yours", reason="why", version=3)
    plain = [to_bytes(each) for each in (base, one, two)]
    own = [f"---\n{FRONT}mood: {word}\n# {word}\n---\n{word}\n".encode() for word in "abc"]
    broken = [b"", b"---\nid: [\n---\nwords\n", plain[1]]
    return [DIVIDER.join(three) for three in (plain, own, broken, [b"", *plain[1:]])]
