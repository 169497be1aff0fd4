"""A server of embeddings whose answers a test writes, on loopback."""

from __future__ import annotations

import json
from typing import Any

from tests.llm.scripted import Reply


def answer(*vectors: list[float], order: list[int] | None = None, **more: Any) -> Reply:
    """An answer in OpenAI's form; `order` is the text each vector says it belongs to."""
    places = order if order is not None else range(len(vectors))
    data = [
        {"object": "embedding", "index": place, "embedding": vector}
        for place, vector in zip(places, vectors, strict=True)
    ]
    return Reply(body=json.dumps({"object": "list", "data": data, **more}).encode())
