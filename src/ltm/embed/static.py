"""A static model: a table with one vector per piece of a word, and a text is their mean.

Owns the reading of such a table out of an installed package, as files: the package itself is never
imported, so nothing in it can run, log or download. No transformer, no waiting; what it knows is
which words keep the same company. Imports core, numpy and this package.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from functools import cache
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ltm.embed import longest, pairs
from ltm.embed.embedder import unit
from ltm.embed.packages import Package
from ltm.storage.vectorblock import Floats

LONGEST = 20_000
"""Characters of a text that count: what is longer is known by its beginning."""

_PIECES, _PAIRS = b'"vocab":', b'"merges":'
_READING = 1  # raised when the same table would give other vectors: another rule for words


class Static:
    """A model that is a table."""

    def __init__(
        self, name: str, table: NDArray[Any], pieces: Callable[[str], Sequence[int]]
    ) -> None:
        self.name = name
        self.dimensions = int(table.shape[1])
        self._table = table
        self._pieces = pieces

    def embed(self, texts: Sequence[str]) -> Floats:
        """The mean of the pieces of each text, at unit length."""
        found = np.zeros((len(texts), self.dimensions), np.float32)
        for at, text in enumerate(texts):
            pieces = self._pieces(text[:LONGEST])
            if pieces:
                # Halves are slow to turn into floats, so each piece is turned once.
                each, times = np.unique(pieces, return_counts=True)
                found[at] = times.astype(np.float32) @ self._table[each].astype(np.float32)
        return unit(found)


class _Table(NamedTuple):
    vectors: NDArray[Any]
    pieces: Callable[[str], Sequence[int]]


@cache
def load(package: Package) -> Static | None:
    """The model in a package; None when the package is not there or not as we know it."""
    from importlib.metadata import PackageNotFoundError, version

    spec = find_spec(package.module)
    if spec is None or not spec.submodule_search_locations:
        return None
    try:
        table = _READERS[package.module](spec.submodule_search_locations[0])
        name = f"{package.model}/{version(package.name)}/{_READING}"
    except (OSError, ValueError, KeyError, TypeError, PackageNotFoundError):
        return None
    return Static(name, table.vectors, table.pieces)


def _read_wordllama(folder: str) -> _Table:
    path = os.path.join(folder, "weights", "l2_supercat_256.safetensors")
    with open(path, "rb") as file:
        size = int.from_bytes(file.read(8), "little")
        about = json.loads(file.read(min(size, 100_000)))["embedding.weight"]
    if about["dtype"] != "F16":
        raise ValueError("the table is not of half floats")
    start = 8 + size + about["data_offsets"][0]
    vectors = np.memmap(path, "<f2", "r", start, tuple(about["shape"]))
    config = os.path.join(folder, "tokenizers", "l2_supercat_tokenizer_config.json")
    with open(config, "rb") as file:
        data = file.read()
    # Only this part of it: the whole takes four times as much memory, and the rest is not needed.
    start = data.index(_PIECES) + len(_PIECES)
    text = data[start : data.index(_PAIRS, start)].decode().lstrip()
    numbers, _ = json.JSONDecoder().raw_decode(text)
    if max(numbers.values()) >= len(vectors):
        raise ValueError("the table is shorter than its words")
    return _Table(vectors, pairs.Pairs(numbers))


def _read_potion(folder: str) -> _Table:
    vectors = np.load(os.path.join(folder, "static", "vectors.npy"), mmap_mode="r")
    with open(os.path.join(folder, "static", "pieces.txt"), encoding="utf-8") as file:
        names = file.read().split("\n")
    if vectors.ndim != 2 or len(names) > len(vectors):
        raise ValueError("the table is shorter than its words")
    return _Table(vectors, longest.Longest({name: at for at, name in enumerate(names) if name}))


_READERS: dict[str, Callable[[str], _Table]] = {
    "wordllama": _read_wordllama,
    "lmm": _read_potion,
}
