"""A block of vectors: a run of rows, each a direction in signed bytes, and its bytes on the disk.

Owns how a vector is rounded and how like another it is. A row is scaled so that its largest part is
127; the length of what that gives is kept with it, so that likeness is a cosine whatever the
rounding did. Imports numpy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float32]
Integers: TypeAlias = NDArray[np.int64]

_LARGEST = 127
_HEAD = 8  # bytes of the checksum before the rest


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

    def likeness(self, query: Floats, room: Floats, to: Floats) -> None:
        """The likeness of each row to a vector of unit length, into `to`; `room` is overwritten."""
        floats = room[: len(self)]
        floats[...] = self.vectors  # BLAS knows no bytes; a block of floats stays in the cache
        np.matmul(floats, query, out=to)
        np.multiply(to, self.scales, out=to)

    def likeness_of(self, query: Floats, wanted: Integers) -> dict[int, float]:
        """The likeness of those of the wanted rows, given in order, that are here."""
        low, high = np.searchsorted(wanted, (self.rows[0], self.rows[-1] + 1))
        here = wanted[low:high]
        at = np.searchsorted(self.rows, here)
        at = at[self.rows[at] == here]
        like = (self.vectors[at].astype(np.float32) @ query) * self.scales[at]
        return dict(zip(self.rows[at].tolist(), like.tolist(), strict=True))

    def as_rows(self, rows: Sequence[int]) -> Block:
        """The same vectors, as those of other rows."""
        return replace(self, rows=np.asarray(rows, np.int64))

    def part(self, start: int, end: int) -> Block:
        """The rows from one place to another."""
        return Block(self.rows[start:end], self.scales[start:end], self.vectors[start:end])

    def where(self, wanted: NDArray[np.bool_]) -> Block:
        """The rows for which it is wanted."""
        return Block(self.rows[wanted], self.scales[wanted], self.vectors[wanted])

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
        body = b"".join(
            (
                self.rows.astype("<i8").tobytes(),
                self.scales.astype("<f4").tobytes(),
                self.vectors.tobytes(),
            )
        )
        return crc32(body).to_bytes(_HEAD, "little") + body


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
    body = memoryview(data)[_HEAD:]
    if count < 1 or len(body) % count or crc32(body) != int.from_bytes(data[:_HEAD], "little"):
        raise ValueError("a block of vectors is damaged")
    return Block(
        np.frombuffer(body, "<i8", count),
        np.frombuffer(body, "<f4", count, offset=8 * count),
        np.frombuffer(body, np.int8, offset=12 * count).reshape(count, -1),
        stamp,
    )


def best(scores: Floats, limit: int) -> Integers:
    """Where the highest scores are, best first; among equals the one that stands later."""
    if limit < len(scores):
        at = np.argpartition(scores, len(scores) - limit)[len(scores) - limit :]
    else:
        at = np.arange(len(scores))
    return at[np.lexsort((-at, -scores[at]))]
