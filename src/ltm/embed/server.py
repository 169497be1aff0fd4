"""Embeddings of a server that speaks OpenAI's form, `POST /v1/embeddings`: most local ones do.

Where the server is, only the user's own config says. Secrets are taken out of every text before it
leaves.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence

from ltm.embed.embedder import KEY, unit
from ltm.errors import BadAnswer, ModelFailed
from ltm.index.vector_blocks import Floats, np
from ltm.llm.http_api import Server
from ltm.redact.redact import redacted
from ltm.text.display import counted

LARGEST = 64 * 1024 * 1024
"""Bytes of a response that are read."""

LONGEST = 8_000
"""Characters of a text that are sent: what is longer is known by its beginning."""

MOST = 4_096
"""Numbers that a vector may have."""

PAUSE = 30.0
"""Seconds a server that failed is left alone: not every search should wait for it."""

_BATCH = 64
_HINTS = {
    401: f"the key comes from the variable {KEY}",
    403: f"the key comes from the variable {KEY}",
    404: "name another model with: ltm config embed.model NAME",
}


class EmbeddingsApi:
    """A model behind a server. How long its vectors are, its first answer says."""

    def __init__(
        self,
        base_url: str,
        key: str,
        model: str,
        timeout: float,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        hint = "set embed.base_url, as http://127.0.0.1:11434"
        self._server = Server(base_url, key, options="embed", hint=hint)
        self._headers = {"authorization": f"Bearer {key}"} if key else {}
        self._model = model
        self._timeout = timeout
        self._dimensions = 0
        self._clock = clock
        self._failed: tuple[float, ModelFailed] | None = None
        self.name = f"{self._server.host}/{model}"

    @property
    def dimensions(self) -> int:
        """How many numbers a vector has; asks the server once."""
        if not self._dimensions:
            self._dimensions = self._ask(["dimensions"]).shape[1]
        return self._dimensions

    def embed(self, texts: Sequence[str]) -> Floats:
        """One row of unit length per text."""
        found = np.zeros((len(texts), self.dimensions), np.float32)
        said = [(at, redacted(text[:LONGEST])) for at, text in enumerate(texts) if text.strip()]
        for start in range(0, len(said), _BATCH):
            part = said[start : start + _BATCH]
            vectors = self._ask([text for _, text in part])
            if vectors.shape[1] != self.dimensions:
                raise BadAnswer(f"{self._server.host} changed the length of its vectors")
            found[[at for at, _ in part]] = vectors
        return unit(found)

    def direction(self, text: str) -> Floats | None:
        """The same for one text."""
        found = self.embed([text])[0]
        return found if found.any() else None

    def _ask(self, texts: Sequence[str]) -> Floats:
        if self._failed and self._clock() < self._failed[0] + PAUSE:
            raise self._failed[1]
        body = {"model": self._model, "input": list(texts), "encoding_format": "float"}
        post, seconds = self._server.post, self._timeout
        try:
            data = post(
                "/v1/embeddings",
                body,
                self._headers,
                timeout=seconds,
                largest=LARGEST,
                hints=_HINTS,
            )
            return _vectors(data, len(texts))
        except ModelFailed as error:
            self._failed = self._clock(), error
            raise


def _vectors(data: bytes, count: int) -> Floats:
    try:
        items = json.loads(data)["data"]
        # They say to which text each belongs, and not all of them keep to the order.
        places = [item.get("index", at) for at, item in enumerate(items)]
        vectors = np.array([item["embedding"] for item in items], dtype=np.float32)
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError, OverflowError):
        raise BadAnswer("the answer does not hold embeddings in OpenAI's form") from None
    if sorted(map(str, places)) != sorted(map(str, range(count))) or vectors.ndim != 2:
        raise BadAnswer(
            f"{counted(len(items), 'embedding')} came back for {counted(count, 'text')}"
        )
    if not 1 <= vectors.shape[1] <= MOST or not np.isfinite(vectors).all():
        raise BadAnswer("the numbers that came back are not embeddings")
    ordered: Floats = np.empty_like(vectors)
    ordered[[int(place) for place in places]] = vectors
    return ordered
