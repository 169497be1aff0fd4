"""Search a project's passages by meaning, in the vectors kept for its sessions.

Owns embedding a question once, and bringing the newest passages in, briefly, before it is asked. A
model that is not available is not an error: then words alone decide. Imports core, `embed`
and storage, and with them numpy: loaded only where there is an embedder.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from ltm.core.errors import LtmError
from ltm.core.ranking import NEAR
from ltm.embed.keeping import BRIEF, keep_passages
from ltm.storage.vectors import vectors_of

if TYPE_CHECKING:
    from ltm.embed.embedder import Embedder
    from ltm.storage.passages import Passages
    from ltm.storage.vectorblock import Floats


class Meaning:
    """The vectors of one project's passages. Used by one thread at a time."""

    def __init__(self, passages: Passages, embedder: Embedder) -> None:
        self._passages = passages
        self._embedder = embedder
        self._vectors = vectors_of(passages.path, embedder.name, embedder.dimensions)
        self._asked = ""
        self._vector: Floats | None = None

    def close(self) -> None:
        """Give the file back."""
        self._vectors.close()

    def nearest(self, text: str, limit: int) -> dict[int, float]:
        """The rows nearest to a text, nearest first, and how near they are, from `NEAR` to 1."""
        vector = self._embedded(text)
        if vector is None:
            return {}
        return {row: like for row, like in self._vectors.nearest(vector, limit) if like >= NEAR}

    def likeness(self, text: str, rows: Collection[int]) -> dict[int, float]:
        """How near these rows are to a text; those that have no vector yet are left out."""
        vector = self._embedded(text)
        return {} if vector is None else self._vectors.likeness(vector, rows)

    def _embedded(self, text: str) -> Floats | None:
        if text != self._asked:
            self._asked = text
            self._vector = None
            try:
                keep_passages(self._passages, self._vectors, self._embedder, BRIEF)
                found = self._embedder.embed([text])[0]
                self._vector = found if found.any() else None
            except LtmError:
                pass  # no model, or nowhere to keep its vectors: by words alone
        return self._vector
