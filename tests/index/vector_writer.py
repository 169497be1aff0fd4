"""A process that appends vectors, for tests that read meanwhile or kill it.

`python vectorwriter.py PATH ROUNDS`: says "ready", waits for a line, then appends round by round
and prints the last row of each round as soon as it is kept.
"""

from __future__ import annotations

import sys

from ltm.index.vectors import Vectors
from tests.index.directions import DIMENSIONS, MODEL, direction, directions

EACH = 7
"""Rows of a round: no divisor of a block's, so that blocks are finished in the middle of one."""


def main(path: str, rounds: int) -> None:
    """Append so many rounds."""
    vectors = Vectors(path, MODEL, DIMENSIONS)
    print("ready", flush=True)
    sys.stdin.readline()
    for _ in range(rounds):
        first = vectors.last() + 1
        rows = range(first, first + EACH)
        vectors.put(rows, directions(rows))
        print(rows[-1], flush=True)
    vectors.close()


if __name__ == "__main__":
    assert direction(1).shape == (DIMENSIONS,)
    main(sys.argv[1], int(sys.argv[2]))
