"""Blocks of vectors as arrays of numpy, which loads with this module: to make them, and to compare
many with a question. `plain_blocks` compares some without it.

A vector is kept as signed bytes. It is scaled so that its largest part is 127; the length of what
that gives is kept with it, so that likeness is a cosine whatever the rounding did.
"""

from __future__ import annotations

import os
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias
from zlib import crc32

from ltm.index.plain_blocks import HEAD

_THREADS = "OPENBLAS_NUM_THREADS"
# numpy is loaded without threads of its own: a sixth less of processor time, and nothing here is
# large enough to be shared among them.
_given = os.environ.get(_THREADS)
os.environ[_THREADS] = _given or "1"
try:
    import numpy as np
finally:
    if _given is None:  # what we start may need them
        del os.environ[_THREADS]
from numpy.typing import NDArray  # noqa: E402

__all__ = ["Block", "Floats", "Integers", "best", "np", "packed", "scores", "unpacked"]

Floats: TypeAlias = NDArray[np.float32]
Integers: TypeAlias = NDArray[np.int64]

_LARGEST = 127


@dataclass(frozen=True, slots=True)
class Block:
    """Rows in order, their rounded vectors, and one divided by the length of each."""

    rows: Integers
    scales: Floats
    vectors: NDArray[np.int8]
    stamp: int = 0
    """Which write it comes from; two that differ in it may differ in anything."""

    def __len__(self) -> int:
        return len(self.rows)

    def likeness(self, query: Floats, buffer: Floats, to: Floats) -> None:
        """The likeness of each row to a vector of unit length, into `to`; overwrites `buffer`."""
        floats = buffer[: len(self)]
        floats[...] = self.vectors  # BLAS knows no bytes; a block of floats stays in the cache
        np.matmul(floats, query, out=to)
        np.multiply(to, self.scales, out=to)

    def likeness_of(self, query: Floats, wanted: Sequence[int]) -> dict[int, float]:
        """The likeness of those of the wanted rows, given in order, that are here."""
        low = bisect_left(wanted, self.rows[0])
        here = wanted[low : bisect_right(wanted, self.rows[-1], low)]
        if not here:
            return {}
        at = np.searchsorted(self.rows, here)
        at = at[self.rows[at] == here]
        like = (self.vectors[at].astype(np.float32) @ query) * self.scales[at]
        return dict(zip(self.rows[at].tolist(), like.tolist(), strict=True))

    def where(self, wanted: NDArray[np.bool_] | slice) -> Block:
        """The rows for which it is wanted."""
        return Block(self.rows[wanted], self.scales[wanted], self.vectors[wanted])

    def only(self, rows: Collection[int]) -> Block:
        """Those of some rows that are here."""
        return self.where(np.isin(self.rows, np.fromiter(rows, np.int64, len(rows))))

    def without(self, rows: Collection[int]) -> Block:
        """All but these rows."""
        return self.where(~np.isin(self.rows, np.fromiter(rows, np.int64, len(rows))))

    def numbered(self, rows: Sequence[int]) -> Block:
        """The same vectors under other rows, in their order."""
        return replace(self, rows=np.asarray(rows, np.int64))

    def with_more(self, more: Block) -> Block:
        """These rows and those, in order."""
        rows = np.concatenate((self.rows, more.rows))
        order = np.argsort(rows)
        return Block(
            rows[order],
            np.concatenate((self.scales, more.scales))[order],
            np.concatenate((self.vectors, more.vectors))[order],
        )

    def data(self) -> bytes:
        """Its bytes on the disk."""
        heads = self.rows.astype("<i8").tobytes() + self.scales.astype("<f4").tobytes()
        body = heads + self.vectors.tobytes()
        return crc32(body).to_bytes(HEAD, "little") + body


def packed(rows: Sequence[int], vectors: Floats) -> Block:
    """Vectors as they are kept; one of no length is like nothing."""
    if vectors.shape[0] != len(rows):
        raise ValueError(f"{len(rows)} rows and {vectors.shape[0]} vectors do not go together")
    highest = np.abs(vectors).max(axis=1, keepdims=True, initial=0.0)
    scaled = vectors * (_LARGEST / np.where(highest > 0, highest, 1.0))
    rounded = np.rint(scaled).astype(np.int8)
    lengths = np.linalg.norm(rounded.astype(np.float32), axis=1)
    scales = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    numbers = np.asarray(rows, np.int64)
    order = np.argsort(numbers)
    return Block(numbers[order], scales.astype(np.float32)[order], rounded[order])


def unpacked(data: bytes, count: int, stamp: int = 0) -> Block:
    """The block of so many rows that bytes on the disk are; `ValueError` when they are damaged."""
    body = memoryview(data)[HEAD:]
    if count < 1 or len(body) % count or crc32(body) != int.from_bytes(data[:HEAD], "little"):
        raise ValueError("a block of vectors is damaged")
    return Block(
        np.frombuffer(body, "<i8", count),
        np.frombuffer(body, "<f4", count, offset=8 * count),
        np.frombuffer(body, np.int8, offset=12 * count).reshape(count, -1),
        stamp,
    )


def scores(blocks: Sequence[Block], query: Floats) -> tuple[Integers, Floats]:
    """Every row of some blocks and its likeness to a vector of unit length, from -1 to 1."""
    rows = np.empty(sum(map(len, blocks)), np.int64)
    likeness = np.empty(len(rows), np.float32)
    buffer = np.empty((max(map(len, blocks), default=0), len(query)), np.float32)
    at = 0
    for block in blocks:
        end = at + len(block)
        rows[at:end] = block.rows
        block.likeness(query, buffer, likeness[at:end])
        at = end
    return rows, likeness


def best(scores: Floats, limit: int) -> Integers:
    """Where the highest scores are, best first; among equals the one that stands later."""
    if limit < len(scores):
        at = np.argpartition(scores, len(scores) - limit)[len(scores) - limit :]
    else:
        at = np.arange(len(scores))
    return at[np.lexsort((-at, -scores[at]))]
