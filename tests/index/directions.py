"""Directions for tests: one for every number, always the same, far from all others."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ltm.index.vector_blocks import Floats

MODEL = "test"
DIMENSIONS = 32


def direction(number: int) -> Floats:
    """The direction of a number, of unit length."""
    drawn = np.random.default_rng(number).standard_normal(DIMENSIONS).astype(np.float32)
    return (drawn / np.linalg.norm(drawn)).astype(np.float32)


def directions(numbers: Iterable[int]) -> Floats:
    """One row for each number."""
    return np.array([direction(number) for number in numbers], np.float32).reshape(-1, DIMENSIONS)
