"""The model's answer on the wire: message objects and their server-sent events.

Imports: reply, request.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from typing import Any

from .reply import Reply
from .request import Request

ERROR_TYPES = {400: "invalid_request_error", 429: "rate_limit_error", 529: "overloaded_error"}


def error_body(reply: Reply) -> dict[str, Any]:
    """The JSON body of an error reply."""
    kind = ERROR_TYPES.get(reply.status, "api_error")
    return {"type": "error", "error": {"type": kind, "message": reply.error or "scripted error"}}


def message(reply: Reply, request: Request) -> dict[str, Any]:
    """The whole message that answers `request`."""
    blocks: list[dict[str, Any]] = []
    if reply.thinking:
        signature = "c2NyaXB0ZWQ="
        blocks.append({"type": "thinking", "thinking": reply.thinking, "signature": signature})
    if reply.text:
        blocks.append({"type": "text", "text": reply.text})
    for tool in reply.tools:
        call = {"id": f"toolu_{uuid.uuid4().hex[:24]}", "name": tool.name, "input": tool.inputs}
        blocks.append({"type": "tool_use", **call})
    return {
        "id": f"msg_{uuid.uuid4().hex[:24]}",
        "type": "message",
        "role": "assistant",
        "model": request.model,
        "content": blocks,
        "stop_reason": "tool_use" if reply.tools else "end_turn",
        "stop_sequence": None,
        "usage": {
            "input_tokens": max(1, request.size // 4),
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
            "output_tokens": max(1, len(json.dumps(blocks)) // 4),
        },
    }


def frames(whole: dict[str, Any]) -> Iterator[tuple[bytes, bool]]:
    """The events of a streamed message; True marks the one in the middle of a text."""
    start = {**whole, "content": [], "stop_reason": None}
    yield _frame("message_start", message=start), False
    for index, block in enumerate(whole["content"]):
        empty, deltas = _pieces(block)
        yield _frame("content_block_start", index=index, content_block=empty), False
        for number, delta in enumerate(deltas):
            midway = block["type"] == "text" and number == 0
            yield _frame("content_block_delta", index=index, delta=delta), midway
        yield _frame("content_block_stop", index=index), False
    end = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    yield _frame("message_delta", delta=end, usage=whole["usage"]), False
    yield _frame("message_stop"), False


def _pieces(block: dict[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """A content block as the client sees it begin, and the deltas that complete it."""
    if block["type"] == "text":
        text, half = block["text"], len(block["text"]) // 2
        halves = [{"type": "text_delta", "text": part} for part in (text[:half], text[half:])]
        return {"type": "text", "text": ""}, halves
    if block["type"] == "thinking":
        return {"type": "thinking", "thinking": "", "signature": ""}, [
            {"type": "thinking_delta", "thinking": block["thinking"]},
            {"type": "signature_delta", "signature": block["signature"]},
        ]
    inputs = json.dumps(block["input"])
    return {**block, "input": {}}, [{"type": "input_json_delta", "partial_json": inputs}]


def _frame(name: str, **data: Any) -> bytes:
    return f"event: {name}\ndata: {json.dumps({'type': name, **data})}\n\n".encode()
