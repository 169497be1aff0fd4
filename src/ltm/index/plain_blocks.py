"""Blocks of vectors compared with one question by the standard library alone.

numpy takes longer to load than a question takes to answer, and than it takes this to go through
some ten thousand vectors. Python multiplies large whole numbers quickly, so one of them holds a
part of every vector of a block, some bytes for each, and is multiplied by the question's part.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from operator import mul
from struct import unpack
from zlib import crc32

from ltm.record import NamedTuple

HEAD = 8
"""Bytes of the checksum before the rest of a block."""

_FIELD = 6  # bytes for the sum of a vector of a thousand parts and more
_FINE = 1 << 30  # steps of the question's parts, as fine as a float
_UNSIGNED = bytes(value ^ 0x80 for value in range(256))


class PlainBlock(NamedTuple):
    """Rows in order, one divided by the length of each vector, and the vectors, byte by byte."""

    rows: Sequence[int]
    scales: Sequence[float]
    vectors: bytes

    def likeness(self, query: Sequence[float]) -> list[float]:
        """The likeness of each row to a vector of unit length, from -1 to 1."""
        parts = [round(part * _FINE) for part in query]
        count, length = len(self.rows), len(parts)
        data = self.vectors.translate(_UNSIGNED)
        fields = bytearray(_FIELD * count)
        above = below = 0
        for at, part in enumerate(parts):
            fields[0::_FIELD] = data[at::length]
            if part > 0:
                above += int.from_bytes(fields, "little") * part
            elif part < 0:
                below += int.from_bytes(fields, "little") * -part
        return self._scaled(_fields(above, count), _fields(below, count), 128 * sum(parts))

    def _scaled(self, above: list[int], below: list[int], offset: int) -> list[float]:
        return [
            (more - less - offset) / _FINE * scale
            for more, less, scale in zip(above, below, self.scales, strict=True)
        ]

    def likeness_of(self, query: Sequence[float], wanted: Sequence[int]) -> dict[int, float]:
        """The likeness of those of the wanted rows that are here."""
        length = len(query)
        found: dict[int, float] = {}
        vectors = memoryview(self.vectors).cast("b")
        for row in wanted:
            at = bisect_left(self.rows, row)
            if at < len(self.rows) and self.rows[at] == row:
                vector = vectors[at * length : (at + 1) * length]
                found[row] = sum(map(mul, query, vector)) * self.scales[at]
        return found


def _fields(whole: int, count: int) -> list[int]:
    data = whole.to_bytes(_FIELD * count, "little")
    return [int.from_bytes(data[at : at + _FIELD], "little") for at in range(0, len(data), _FIELD)]


def unpacked(data: bytes, count: int) -> PlainBlock:
    """The block of so many rows that bytes on the disk are; `ValueError` when they are damaged."""
    body = memoryview(data)[HEAD:]
    if count < 1 or len(body) % count or crc32(body) != int.from_bytes(data[:HEAD], "little"):
        raise ValueError("a block of vectors is damaged")
    rows = unpack(f"<{count}q", body[: 8 * count])
    scales = unpack(f"<{count}f", body[8 * count : 12 * count])
    return PlainBlock(rows, scales, bytes(body[12 * count :]))
