"""What an embedder is: something that gives every text a direction.

Owns the port between recall and what stands behind it, so that a stronger model takes the place of
a small one without any caller knowing. Imports nothing at run time but what it is called with.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from ltm.index.vectors import Floats


class Embedder(Protocol):
    """A model that embeds texts. Used by one thread at a time."""

    @property
    def name(self) -> str:
        """The model and its version: vectors of two names are never compared."""
        ...

    @property
    def dimensions(self) -> int:
        """How many numbers a vector has."""
        ...

    def embed(self, texts: Sequence[str]) -> Floats:
        """One row of unit length per text; a row of zeros where a text has nothing to embed.

        `ModelFailed`, here or of `dimensions`, when the model is not available now: the caller
        goes on without vectors.
        """
        ...


def unit(vectors: Floats) -> Floats:
    """The same directions, each of length one; what has no length stays as it is."""
    import numpy as np

    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    units: Floats = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)
    return units
