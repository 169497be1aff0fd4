"""Writing transcripts as Claude Code writes them, entry by entry."""

from __future__ import annotations

import json
from itertools import count
from pathlib import Path
from typing import Any

SESSION = "11111111-2222-4333-8444-555555555555"


class Transcript:
    """A transcript that is being written; every method adds one line and returns its uuid."""

    def __init__(self, path: Path, session: str = SESSION) -> None:
        self.path = path
        self.session = session
        self._numbers = count(1)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()

    def add(self, kind: str, **fields: Any) -> str:
        """Any entry with the fields all messages have; a field given as None is left out."""
        number = next(self._numbers)
        entry = {
            "parentUuid": None,
            "isSidechain": False,
            "type": kind,
            "uuid": f"{self.session}-{number:06d}",
            "timestamp": f"2026-11-15T10:{number // 60 % 60:02d}:{number % 60:02d}.000Z",
            "sessionId": self.session,
            "cwd": "/p",
            "version": "2.1.197",
            **fields,
        }
        entry = {key: value for key, value in entry.items() if value is not None}
        text = json.dumps(entry, ensure_ascii=False, separators=(",", ":"))
        self.raw(text.encode() + b"\n")
        return str(entry.get("uuid", ""))

    def raw(self, data: bytes) -> None:
        """Bytes as they are."""
        with self.path.open("ab") as file:
            file.write(data)

    def line(self, kind: str, **fields: Any) -> None:
        """An entry that is no message, as clients write in between."""
        self.raw(json.dumps({"type": kind, **fields}, separators=(",", ":")).encode() + b"\n")

    def user(self, text: str | list[Any], **fields: Any) -> str:
        """A prompt."""
        given = {"origin": {"kind": "human"}, "promptSource": "typed", **fields}
        return self.add("user", message={"role": "user", "content": text}, **given)

    def assistant(self, *blocks: dict[str, Any], **fields: Any) -> str:
        """A message of the model."""
        model = fields.pop("model", "claude-opus-4-8")
        message = {"id": "msg_1", "role": "assistant", "model": model, "content": list(blocks)}
        return self.add("assistant", message=message, **fields)

    def says(self, text: str, **fields: Any) -> str:
        """A text of the model."""
        return self.assistant({"type": "text", "text": text}, **fields)

    def calls(self, tool: str, call: str = "toolu_1", **given: Any) -> str:
        """A tool call of the model."""
        return self.assistant({"type": "tool_use", "id": call, "name": tool, "input": given})

    def result(
        self,
        content: Any,
        call: str = "toolu_1",
        *,
        error: bool | None = None,
        about: Any = None,
        **fields: Any,
    ) -> str:
        """What a tool gave back."""
        block = {"type": "tool_result", "tool_use_id": call, "content": content}
        if error is not None:
            block["is_error"] = error
        message = {"role": "user", "content": [block]}
        return self.add("user", message=message, toolUseResult=about, **fields)

    def attachment(self, kind: str, **fields: Any) -> str:
        """Something a client attaches to the conversation."""
        return self.add("attachment", attachment={"type": kind, **fields})

    def compacted(self, trigger: str = "auto") -> str:
        """The mark of a compaction."""
        about = {"trigger": trigger, "preTokens": 1234}
        return self.add("system", subtype="compact_boundary", compactMetadata=about)


def about_the_login(path: Path, session: str, *said: str) -> Transcript:
    """A session that mends a login, in which the user also says these things."""
    transcript = Transcript(path, session)
    transcript.user("Fix the login of the shop, it fails since Monday.")
    for text in said:
        transcript.says("Looked into it.")
        transcript.user(text)
    transcript.says("The login works now, the cookie had no name.")
    return transcript
