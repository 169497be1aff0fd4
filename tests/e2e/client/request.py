"""What the client asked the model: one HTTP request, and the views a test needs of it.

Imports: the standard library.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

# main: the conversation. subagent: one of an agent's own. compact: the request for a summary.
# title, hook: the client's own small questions. side: anything else without tools.
Kind = Literal["main", "subagent", "compact", "title", "hook", "side", "count_tokens", "other"]

# Wording of the client (2.1.197 and newer) by which its internal requests are known.
COMPACT_WORDING = "create a detailed summary of the conversation"
HOOK_WORDING = "hook condition"
REMINDER = "<system-reminder>"


def block_texts(content: Any) -> list[str]:
    """Every text in the content of a message, those of tool results included."""
    if isinstance(content, str):
        return [content]
    texts: list[str] = []
    for block in content or []:
        if isinstance(block, str):
            texts.append(block)
        elif block.get("type") == "text":
            texts.append(block.get("text", ""))
        elif block.get("type") == "tool_result":
            texts += block_texts(block.get("content"))
    return texts


@dataclass(frozen=True, slots=True)
class Request:
    """One request as the client sent it; `number` counts from 1 within its session."""

    number: int
    method: str
    path: str
    headers: Mapping[str, str]
    body: Any
    size: int

    @property
    def kind(self) -> Kind:
        """What the request is for."""
        path = self.path.partition("?")[0]
        if path.endswith("/count_tokens"):
            return "count_tokens"
        if self.method != "POST" or not path.endswith("/v1/messages") or not self._fields:
            return "other"
        if "x-claude-code-agent-id" in self.headers:
            return "subagent"
        # The last words of the user: a message of the client's own may stand behind them.
        asked = next(iter(self._user_contents()), "")
        if any(COMPACT_WORDING in text for text in block_texts(asked)):
            return "compact"
        if HOOK_WORDING in self.system_text.lower():
            return "hook"
        if self.tools:
            return "main"
        return "title" if "title" in self.system_text[:3000].lower() else "side"

    @property
    def _fields(self) -> Mapping[str, Any]:
        return self.body if isinstance(self.body, dict) else {}

    @property
    def model(self) -> str:
        """The model the client asked for."""
        return str(self._fields.get("model", ""))

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The conversation, oldest first."""
        messages: list[dict[str, Any]] = self._fields.get("messages", [])
        return messages

    @property
    def tools(self) -> list[str]:
        """Names of the tools offered to the model."""
        return [tool.get("name", "") for tool in self._fields.get("tools", [])]

    @property
    def session_id(self) -> str:
        """The client's id of the session, from its header."""
        return self.headers.get("x-claude-code-session-id", "")

    @property
    def system_text(self) -> str:
        """The system prompt as one text."""
        return "\n\n".join(block_texts(self._fields.get("system", "")))

    @property
    def text(self) -> str:
        """Every text of the conversation: what the model knows besides its system prompt."""
        return "\n".join(text for m in self.messages for text in block_texts(m.get("content")))

    @property
    def user_text(self) -> str:
        """The last words of the user, without what the client added to them."""
        for content in self._user_contents():
            blocks = [content] if isinstance(content, str) else _typed(content, "text")
            texts = [b if isinstance(b, str) else b.get("text", "") for b in blocks]
            own = "\n".join(text for text in texts if not text.lstrip().startswith(REMINDER))
            if own.strip():
                return own
        return ""

    @property
    def tool_results(self) -> list[dict[str, Any]]:
        """The tool_result blocks of the last user message."""
        for content in self._user_contents():
            return [] if isinstance(content, str) else _typed(content, "tool_result")
        return []

    def _user_contents(self) -> Iterable[Any]:
        return (m.get("content") for m in reversed(self.messages) if m.get("role") == "user")


def _typed(content: Iterable[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [block for block in content if block.get("type") == kind]
