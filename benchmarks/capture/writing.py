"""Scripts as the transcripts that Claude Code would have written.

Owns which step becomes which entries. Imports `script`.
"""

from __future__ import annotations

import json
from itertools import count
from pathlib import Path
from typing import Any

from benchmarks.capture.script import Script, Step

_EDIT = " :: "
_BECOMES = " => "


class Transcript:
    """A session being written; it knows which lines each step took."""

    def __init__(self, script: Script, path: Path) -> None:
        self.lines: list[tuple[int, int]] = []
        """First and last line of each step."""
        self._script = script
        self._entries: list[dict[str, Any]] = []
        self._calls = count(1)
        for step in script.steps:
            first = len(self._entries) + 1
            self._write(step)
            self.lines.append((first, len(self._entries)))
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w", encoding="utf-8") as file:
            for entry in self._entries:
                file.write(json.dumps(entry, ensure_ascii=False) + "\n")

    def _write(self, step: Step) -> None:
        first, _, rest = step.text.partition("\n")
        word, _, text = first.partition(" ")
        if step.mark == ">":
            self._user(step.text)
        elif step.mark == "<":
            self._assistant({"type": "text", "text": step.text})
        elif step.mark == "$":
            self._tool("Bash", {"command": step.text}, step)
        elif step.mark == "@":
            self._tool(word, _given(word, text, rest), step)
        elif step.mark == "/":
            names = f"<command-message>{word}</command-message>\n<command-name>/{word}"
            self._user(f"{names}</command-name>\n<command-args>{text}</command-args>")
            if rest:
                self._user([{"type": "text", "text": rest}], isMeta=True)
        else:
            self._other(word, "\n".join(part for part in (text, rest) if part))

    def _other(self, word: str, text: str) -> None:
        """What is neither said nor done by the user or the agent."""
        if word == "interrupt":
            self._user([{"type": "text", "text": "[Request interrupted by user]"}])
        elif word == "compact":
            about = {"trigger": "auto", "preTokens": 160_000}
            self._add("system", subtype="compact_boundary", compactMetadata=about)
            self._user(text, isCompactSummary=True, isVisibleInTranscriptOnly=True)
        elif word == "queued":
            about = {"type": "queued_command", "prompt": text, "commandMode": "prompt"}
            self._add("attachment", attachment=about)
        elif word == "task":
            self._user(text, isSidechain=True, agentId="a1b2c3d")
        elif word == "task<":
            self._assistant({"type": "text", "text": text}, isSidechain=True, agentId="a1b2c3d")
        elif word == "reminder":
            self._user(f"<system-reminder>\n{text}\n</system-reminder>", isMeta=True)
        elif word == "memory":
            block = f"[LTM:claude@shop]\n{text}\n[/LTM]"
            about = {"type": "hook_additional_context", "content": [block]}
            self._add("attachment", attachment=about)
            self._user(f"{block}\n")
        else:
            raise ValueError(f"a session has no step '~{word}'")

    def _tool(self, name: str, given: dict[str, Any], step: Step) -> None:
        call = f"toolu_{next(self._calls):04d}"
        self._assistant({"type": "tool_use", "id": call, "name": name, "input": given})
        output = "\n".join(step.output)
        if step.failed and name == "Bash":
            output = f"Exit code 1\n{output}"
        block = {"tool_use_id": call, "type": "tool_result", "content": output}
        self._user([{**block, "is_error": step.failed}])

    def _user(self, content: Any, **fields: Any) -> None:
        self._add("user", message={"role": "user", "content": content}, **fields)

    def _assistant(self, block: dict[str, Any], **fields: Any) -> None:
        message = {"role": "assistant", "model": "claude-opus-4-6", "content": [block]}
        self._add("assistant", message={"type": "message", **message}, **fields)

    def _add(self, kind: str, **fields: Any) -> None:
        number = len(self._entries) + 1
        before = self._entries[-1]["uuid"] if self._entries else None
        at = f"2026-11-15T{9 + number // 3600:02d}:{number // 60 % 60:02d}:{number % 60:02d}.000Z"
        entry = {
            "parentUuid": before,
            "isSidechain": False,
            "userType": "external",
            "cwd": f"/src/{self._script.name}",
            "sessionId": self._script.name,
            "version": "2.1.197",
            "gitBranch": "main",
            "type": kind,
            "uuid": f"{self._script.name}-{number:06d}",
            "timestamp": at,
        }
        self._entries.append({**entry, **fields})


def _given(tool: str, text: str, rest: str) -> dict[str, Any]:
    """What the agent gave a tool."""
    if tool == "WebFetch":
        return {"url": text, "prompt": "What does the page say?"}
    path, _, change = text.partition(_EDIT)
    if tool == "Edit":
        old, _, new = change.partition(_BECOMES)
        return {"file_path": path, "old_string": old, "new_string": new.replace("\\n", "\n")}
    return {"file_path": path, "content": rest} if rest else {"file_path": path}
