"""Chooses the model's answer to a request: rules first, then the ordered replies.

Imports: reply, request.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Sequence
from typing import Any

from .reply import Reply, Rule, Scripted, ToolUse, as_reply
from .request import Request, block_texts

DEFAULT_ANSWER = "OK."
DEFAULT_ANSWERS = {
    "subagent": "The subagent is done.",
    "compact": "<analysis>scripted</analysis>\n<summary>\n1. SCRIPTED-SUMMARY\n</summary>",
    "hook": '{"ok": true, "reason": "scripted"}',
    "title": '{"title": "Scripted title"}',
}
PLACEHOLDER = re.compile(r"\{\{re:(.+?)\}\}")


class Script:
    """The answers of one session.

    `replies` are for the main conversation in order, `subagent_replies` for its subagents; when
    they run out the model says "OK.". `problems` collects what a reply asked for and the
    conversation did not have: the mistakes of a test, or of the plugin under test.
    """

    def __init__(
        self,
        replies: Sequence[Scripted] = (),
        *,
        subagent_replies: Sequence[Scripted] = (),
        rules: Sequence[Rule] = (),
    ) -> None:
        self._queues = {
            "main": [as_reply(r) for r in replies],
            "subagent": [as_reply(r) for r in subagent_replies],
        }
        self._rules = list(rules)
        self._used = [0] * len(self._rules)
        self._searched: set[str] = set()
        self._lock = threading.Lock()
        self.problems: list[str] = []

    def answer(self, request: Request) -> Reply:
        """The reply to `request`, with its tool names and placeholders resolved."""
        with self._lock:
            return self._resolve(self._choose(request), request)

    def _choose(self, request: Request) -> Reply:
        for number, rule in enumerate(self._rules):
            spent = rule.times is not None and self._used[number] >= rule.times
            if not spent and _matches(rule, request):
                self._used[number] += 1
                return as_reply(rule.reply)
        queue = self._queues.get(request.kind)
        if queue:
            return self._search_tools(queue[0], request) or queue.pop(0)
        return Reply(text=DEFAULT_ANSWERS.get(request.kind, DEFAULT_ANSWER))

    def _search_tools(self, reply: Reply, request: Request) -> Reply | None:
        """A ToolSearch call, when the next reply needs a tool whose schema the client holds back.

        A model on the real API does the same: it sees deferred tools by name only.
        """
        if "ToolSearch" not in request.tools:
            return None
        wanted = []
        for tool in reply.tools:
            ending = tool.name.removeprefix("*")
            if ending == tool.name or ending in self._searched or _offered(ending, request):
                continue
            self._searched.add(ending)
            named = re.findall(rf"mcp__[\w.-]+__{re.escape(ending)}\b", request.text)
            wanted.append(named[-1] if named else ending)
        if not wanted:
            return None
        known = all(name.startswith("mcp__") for name in wanted)
        query = "select:" + ",".join(wanted) if known else " ".join(wanted)
        return Reply(tools=(ToolUse("ToolSearch", {"query": query, "max_results": 5}),))

    def _resolve(self, reply: Reply, request: Request) -> Reply:
        tools = tuple(
            ToolUse(self._full_name(tool.name, request), self._fill(dict(tool.inputs), request))
            for tool in reply.tools
        )
        text = self._fill(reply.text, request)
        return Reply(text, reply.thinking, tools, reply.hold, reply.status, reply.error)

    def _full_name(self, name: str, request: Request) -> str:
        ending = name.removeprefix("*")
        if ending == name:
            return name
        offered = _offered(ending, request)
        if not offered:
            self.problems.append(f"request {request.number}: no offered tool ends with {ending!r}")
        return offered or ending

    def _fill(self, value: Any, request: Request) -> Any:
        if isinstance(value, str):
            return PLACEHOLDER.sub(lambda found: self._look_up(found[1], request), value)
        if isinstance(value, dict):
            return {key: self._fill(item, request) for key, item in value.items()}
        if isinstance(value, list):
            return [self._fill(item, request) for item in value]
        return value

    def _look_up(self, pattern: str, request: Request) -> str:
        found = list(re.finditer(pattern, request.text))
        if not found:
            self.problems.append(f"request {request.number}: nothing said matches {pattern!r}")
            return ""
        return found[-1][1 if found[-1].re.groups else 0]


def _offered(ending: str, request: Request) -> str:
    return next((name for name in request.tools if name.endswith(ending)), "")


def _matches(rule: Rule, request: Request) -> bool:
    if rule.kind != request.kind:
        return False
    results = "\n".join(t for b in request.tool_results for t in block_texts(b.get("content")))
    wanted = (
        (rule.user, request.user_text),
        (rule.system, request.system_text),
        (rule.result, results),
    )
    return all(not pattern or re.search(pattern, text) for pattern, text in wanted)
