"""A scripted model on loopback in three dialects: OpenAI's Responses and chat completions, Gemini.

A script is a list of replies, each a text or a `Call`. Requests that offer no tools (titles,
summaries) get "OK." and use nothing up; so does every request after the script has ended.
"""

from __future__ import annotations

import json
import threading
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Call:
    """A call of a tool, by its name or the end of it."""

    tool: str
    input: dict[str, Any] = field(default_factory=dict)
    namespace: str = ""
    """Where a client hides tools behind a search, the group of the tool."""


Reply = str | Call
DEFAULT = "OK."


def tools_in(body: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The tools a request offers: the group, where there is one, and the name."""
    offered = list(body.get("tools") or [])
    given = body.get("input")
    for item in given if isinstance(given, list) else ():
        if isinstance(item, dict) and item.get("type") == "additional_tools":
            offered += item["tools"]
    for tool in offered:
        if "functionDeclarations" in tool:
            yield from (("", each["name"]) for each in tool["functionDeclarations"])
        elif tool.get("type") == "namespace":
            yield from ((tool["name"], each["name"]) for each in tool.get("tools", ()))
        elif "function" in tool:
            yield "", tool["function"]["name"]
        else:
            yield "", tool.get("name", tool.get("type", ""))


class Model:
    """The server; `requests` holds what was asked, in order."""

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []
        self.missing: list[str] = []
        """Tools the script wanted to call and no request offered."""
        self._script: list[Reply] = []
        self._lock = threading.Lock()
        model = self

        class Handler(_Handler):
            asked = model

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        """Stop listening."""
        self._server.shutdown()
        self._server.server_close()

    def begin(self, script: list[Reply]) -> int:
        """The replies from now on; the number of requests so far."""
        with self._lock:
            self._script = list(script)
            return len(self.requests)

    def main_requests(self, since: int) -> list[str]:
        """The requests of conversations, those that offer tools, as texts."""
        return [
            json.dumps(body, ensure_ascii=False)
            for body in self.requests[since:]
            if any(True for _ in tools_in(body))
        ]

    def reply(self, body: dict[str, Any]) -> tuple[str, Call | None]:
        """What to answer: a text, or a call under the name that was offered."""
        offered = list(tools_in(body))
        with self._lock:
            self.requests.append(body)
            if not offered or not self._script:
                return DEFAULT, None
            reply = self._script.pop(0)
            if isinstance(reply, str):
                return reply, None
            for group, name in offered:
                if name == reply.tool or name.endswith(reply.tool):
                    return "", Call(name, reply.input, group)
            if reply.namespace:
                return "", reply
            self.missing.append(reply.tool)
            return f"There is no tool {reply.tool}.", None


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    asked: Model

    def log_message(self, *args: Any) -> None:
        pass

    def do_GET(self) -> None:
        self._send({"object": "list", "data": [{"id": "fake", "object": "model"}], "models": []})

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        try:
            body = json.loads(raw)
        except ValueError:
            body = {"raw": raw.decode("latin-1")}
        path = self.path.partition("?")[0]
        if path.endswith("/responses"):
            self._responses(body)
        elif path.endswith("/chat/completions"):
            self._chat(body)
        elif "enerateContent" in path:
            self._gemini(path, body)
        elif "countTokens" in path:
            self._send({"totalTokens": 10})
        else:
            self._send({})

    def _send(self, value: Any) -> None:
        data = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _stream(self, events: list[Any], *, named: bool = False) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        for event in events:
            name = f"event: {event['type']}\n" if named else ""
            data = event if isinstance(event, str) else json.dumps(event)
            self.wfile.write(f"{name}data: {data}\n\n".encode())
        self.wfile.flush()
        self.close_connection = True

    def _responses(self, body: dict[str, Any]) -> None:
        text, call = self.asked.reply(body)
        item: dict[str, Any]
        if call is None:
            content = [{"type": "output_text", "text": text, "annotations": []}]
            item = {"type": "message", "role": "assistant", "content": content}
        else:
            item = {"type": "function_call", "call_id": _id("call"), "name": call.tool}
            item["arguments"] = json.dumps(call.input)
            if call.namespace:
                item["namespace"] = call.namespace
        item["id"] = _id("item")
        usage = {
            "input_tokens": 100,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": 10,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": 110,
        }
        answer = {"id": _id("resp"), "usage": usage, "output": [item]}
        self._stream(
            [
                {"type": "response.created", "response": {"id": answer["id"]}},
                {"type": "response.output_item.done", "output_index": 0, "item": item},
                {"type": "response.completed", "response": answer},
            ],
            named=True,
        )

    def _chat(self, body: dict[str, Any]) -> None:
        text, call = self.asked.reply(body)
        message: dict[str, Any] = {"role": "assistant", "content": text or None}
        if call is not None:
            function = {"name": call.tool, "arguments": json.dumps(call.input)}
            message["tool_calls"] = [
                {"index": 0, "id": _id("call"), "type": "function", "function": function}
            ]
        why = "tool_calls" if call else "stop"
        base = {"id": _id("chat"), "created": 1, "model": body.get("model", "fake")}
        usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
        if not body.get("stream"):
            choice = {"index": 0, "message": message, "finish_reason": why}
            whole = {**base, "object": "chat.completion", "choices": [choice], "usage": usage}
            return self._send(whole)
        chunk = {**base, "object": "chat.completion.chunk"}
        delta = {"index": 0, "delta": message, "finish_reason": None}
        last = {"index": 0, "delta": {}, "finish_reason": why}
        self._stream(
            [
                {**chunk, "choices": [delta]},
                {**chunk, "choices": [last]},
                {**chunk, "choices": [], "usage": usage},
                "[DONE]",
            ]
        )
        return None

    def _gemini(self, path: str, body: dict[str, Any]) -> None:
        text, call = self.asked.reply(body)
        part = {"functionCall": {"name": call.tool, "args": call.input}} if call else {"text": text}
        how = body.get("generationConfig", {})
        if how.get("responseMimeType") == "application/json":
            part = {"text": json.dumps({"reasoning": "x", "next_speaker": "user"})}
        whole = {
            "candidates": [
                {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
            ],
            "usageMetadata": {"promptTokenCount": 100, "totalTokenCount": 110},
            "modelVersion": "fake",
            "responseId": _id("resp"),
        }
        if "stream" in path:
            self._stream([whole])
        else:
            self._send(whole)


def _id(kind: str) -> str:
    return f"{kind}_{uuid.uuid4().hex[:12]}"
