"""Static word vectors from a wheel: a table with one vector per piece of a word, a text their mean.

The table is read out of an installed package, as files: the package itself is never imported, so
nothing in it can run, log or download. No transformer, no waiting; what such a table knows is which
words keep the same company.

Words are split into pieces in one of two ways. `Pairs` merges pairs (BPE), as the Llama 2 family
does, with the same result as the tokenizer the table was made with. That one lists 61,000 pairs in
the order they are merged, which take 15 MB; but they are all the pairs of pieces that make a piece,
in the order of what they make, so the pieces' numbers are enough. `Longest` takes the longest piece
that fits, which is near to how unigram tables are meant.
"""

from __future__ import annotations

import json
import math
import mmap
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, cached_property
from importlib.util import find_spec
from itertools import pairwise
from struct import unpack

from ltm.embed.embedder import Package, unit
from ltm.errors import ModelFailed
from ltm.index.vectors import has_numpy
from ltm.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ltm.index.vector_blocks import Floats
    from ltm.index.vectors import Direction

LONGEST = 20_000
"""Characters of a text that count: what is longer is known by its beginning."""

_PIECES, _PAIRS = b'"vocab":', b'"merges":'
_NPY = re.compile(
    rb"\x93NUMPY\x01\x00(..)\{'descr': '<f2', 'fortran_order': False, 'shape': \((\d+), (\d+)\)",
    re.DOTALL,
)
"""How a file of numpy begins that holds rows of half floats."""

_READING = 1  # raised when the same table would give other vectors: another rule for words
_START = "▁"  # stands for the space before a word
_BPE_WORDS = re.compile(f"\n|{_START}+[^{_START}\n]*|[^{_START}\n]+")
_UNIGRAM_WORDS = re.compile(r"[^\W_]+")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_LONGEST = 64  # letters: merging takes time by the square of them, and nothing that long is a word
_MEMO = 10_000  # words: 3 MB, and all but a few of those in use
_NEVER = (2,)  # a rank above all others, which begin with 0 or 1


class Spelled:
    """The numbers of pieces from a JSON text whose bytes are read as a character each: a table of
    32,000 is there a quarter sooner, and takes less memory."""

    def __init__(self, text: bytes) -> None:
        self._is_spelled = b"\\u" not in text  # else an escape stands for more than a byte
        plain = text.decode("latin-1" if self._is_spelled else "utf-8")
        self._numbers: dict[str, int] = json.JSONDecoder().raw_decode(plain)[0]
        self.most = max(self._numbers.values())

    def get(self, piece: str) -> int | None:
        """The number of a piece; None when it is none."""
        if self._is_spelled and not piece.isascii():
            piece = piece.encode("utf-8", "surrogatepass").decode("latin-1")
        return self._numbers.get(piece)


class _Pieces:
    """Splits texts into the numbers of their pieces, word by word with a memo."""

    def __init__(self, numbers: Mapping[str, int] | Spelled) -> None:
        self._number = numbers.get
        self._memo: dict[str, list[int]] = {}

    def __call__(self, text: str) -> list[int]:
        """The pieces of a text, in its order."""
        found: list[int] = []
        for word in self._words(text):
            pieces = self._memo.get(word)
            if pieces is None:
                if len(self._memo) >= _MEMO:
                    self._memo.clear()
                pieces = self._memo[word] = self._pieces(word)
            found += pieces
        return found

    def _words(self, text: str) -> Iterable[str]:
        raise NotImplementedError

    def _pieces(self, word: str) -> list[int]:
        raise NotImplementedError


class Pairs(_Pieces):
    """Merges pairs of pieces; a letter the table lacks is spelled byte by byte."""

    def _words(self, text: str) -> Iterable[str]:
        words = _BPE_WORDS.findall(_START + text.replace(" ", _START)) if text.strip() else ()
        for word in words:
            for start in range(0, len(word), _LONGEST):
                yield word[start : start + _LONGEST]

    def _pieces(self, word: str) -> list[int]:
        parts = list(word)
        ranks = [self._rank(left, right) for left, right in pairwise(parts)]
        while ranks and (first := min(ranks)) is not _NEVER:
            at = ranks.index(first)
            parts[at : at + 2] = [parts[at] + parts[at + 1]]
            del ranks[at]
            for pair in range(max(0, at - 1), min(at + 1, len(ranks))):
                ranks[pair] = self._rank(parts[pair], parts[pair + 1])
        found: list[int] = []
        for part in parts:
            number = self._number(part)
            spelled = part.encode("utf-8", "replace") if number is None else b""
            pieces = [number, *(self._number(f"<0x{byte:02X}>") for byte in spelled)]
            found += [each for each in pieces if each is not None]
        return found

    def _rank(self, left: str, right: str) -> tuple[int, ...]:
        """When a pair is merged: before all pairs of a higher rank."""
        both = left + right
        made, first, second = map(self._number, (both, left, right))
        if made is None or first is None or second is None:
            return _NEVER
        late = not both.strip(_START)  # runs of spaces come last of all
        return (late, made, first, second)


class Longest(_Pieces):
    """Takes the longest piece that fits, in small letters; a letter the table lacks is left out."""

    def __init__(self, numbers: Mapping[str, int]) -> None:
        super().__init__(numbers)
        self._longest = max(map(len, numbers), default=0)

    def _words(self, text: str) -> Iterable[str]:
        return _UNIGRAM_WORDS.findall(_HUMP.sub(" ", text).lower())

    def _pieces(self, word: str) -> list[int]:
        word = _START + word
        found: list[int] = []
        at = 0
        while at < len(word):
            for end in range(min(len(word), at + self._longest), at, -1):
                number = self._number(word[at:end])
                if number is not None:
                    if end - at > 1 or at:  # the mark alone says nothing
                        found.append(number)
                    at = end
                    break
            else:
                at += 1
        return found


class HalfFloats:
    """A table of half floats in a file."""

    def __init__(self, path: str, start: int, rows: int, columns: int) -> None:
        self.rows, self.columns = rows, columns
        self._start = start
        with open(path, "rb") as file:
            self._file = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        if start + 2 * rows * columns > len(self._file):
            raise ValueError("the table is cut off")

    def row(self, number: int) -> tuple[float, ...]:
        """One row of it."""
        at = self._start + 2 * self.columns * number
        return unpack(f"<{self.columns}e", self._file[at : at + 2 * self.columns])

    @cached_property
    def array(self) -> Any:
        """All of it, as numpy has it."""
        from ltm.index.vector_blocks import np

        size = self.rows * self.columns
        flat = np.frombuffer(self._file, "<f2", size, offset=self._start)
        return flat.reshape(self.rows, self.columns)

    def let_go(self) -> None:
        """Or each question leaves more of the file in the memory of a process that goes on."""
        if hasattr(mmap, "MADV_DONTNEED"):
            self._file.madvise(mmap.MADV_DONTNEED)


class Static:
    """A model that is a table."""

    def __init__(
        self, name: str, table: HalfFloats, pieces: Callable[[str], Sequence[int]]
    ) -> None:
        self.name = name
        self.dimensions = table.columns
        self._table = table
        self._pieces = pieces

    def direction(self, text: str) -> Direction | None:
        """The same for one text, without loading numpy for it; None where it has no piece."""
        if has_numpy():
            found = self.embed([text])[0]
            return found if found.any() else None
        counts = Counter(self._pieces(text[:LONGEST]))
        total = [0.0] * self.dimensions
        for piece in sorted(counts):
            times, row = counts[piece], self._table.row(piece)
            total = [part + times * more for part, more in zip(total, row, strict=True)]
        self._table.let_go()
        length = math.sqrt(sum(part * part for part in total))
        return [part / length for part in total] if length else None

    def embed(self, texts: Sequence[str]) -> Floats:
        """The mean of the pieces of each text, at unit length."""
        try:
            from ltm.index.vector_blocks import np
        except ImportError as error:
            raise ModelFailed(f"numpy cannot be loaded: {error}") from error

        table = self._table.array
        found: Floats = np.zeros((len(texts), self.dimensions), np.float32)
        for at, text in enumerate(texts):
            counts = Counter(self._pieces(text[:LONGEST]))
            if counts:
                # Halves are slow to turn into floats, so each piece is turned once. In order, as
                # a sum of floats depends on it.
                each = sorted(counts)
                times = np.array([counts[piece] for piece in each], np.float32)
                found[at] = times @ table[each].astype(np.float32)
        self._table.let_go()
        return unit(found)


def _version(package: str, folder: str) -> str:
    """The version of a package in a folder of packages, by the name of its metadata.

    `importlib.metadata` says the same, and takes longer to load than all else here but numpy.
    """
    begin, end = f"{package.replace('-', '_')}-", ".dist-info"
    for name in os.listdir(folder):
        if name.startswith(begin) and name.endswith(end):
            return name[len(begin) : -len(end)]
    raise ValueError(f"{package} has no metadata in {folder}")


class _Table(NamedTuple):
    vectors: HalfFloats
    pieces: Callable[[str], Sequence[int]]


@cache
def load(package: Package) -> Static | None:
    """The model in a package; None when the package is not there or not as we know it."""
    spec = find_spec(package.module)
    if spec is None or not spec.submodule_search_locations:
        return None
    try:
        table = _READERS[package.module](spec.submodule_search_locations[0])
        version = _version(package.name, os.path.dirname(spec.submodule_search_locations[0]))
    except (OSError, ValueError, KeyError, TypeError):
        return None
    name = f"{package.model}/{version}/{_READING}"
    return Static(name, table.vectors, table.pieces)


def _read_wordllama(folder: str) -> _Table:
    path = os.path.join(folder, "weights", "l2_supercat_256.safetensors")
    with open(path, "rb") as file:
        size = int.from_bytes(file.read(8), "little")
        about = json.loads(file.read(min(size, 100_000)))["embedding.weight"]
    if about["dtype"] != "F16":
        raise ValueError("the table is not of half floats")
    start = 8 + size + about["data_offsets"][0]
    vectors = HalfFloats(path, start, *about["shape"])
    config = os.path.join(folder, "tokenizers", "l2_supercat_tokenizer_config.json")
    with open(config, "rb") as file:
        data = file.read()
    # Only this part of it: the whole takes four times as much memory, and the rest is not needed.
    start = data.index(_PIECES) + len(_PIECES)
    numbers = Spelled(data[start : data.index(_PAIRS, start)].lstrip())
    if numbers.most >= vectors.rows:
        raise ValueError("the table is shorter than its words")
    return _Table(vectors, Pairs(numbers))


def _read_potion(folder: str) -> _Table:
    path = os.path.join(folder, "static", "vectors.npy")
    with open(path, "rb") as file:
        found = _NPY.match(file.read(200))
    if found is None:
        raise ValueError("the table is not of half floats")
    start = 10 + int.from_bytes(found[1], "little")
    vectors = HalfFloats(path, start, int(found[2]), int(found[3]))
    with open(os.path.join(folder, "static", "pieces.txt"), encoding="utf-8") as file:
        names = file.read().split("\n")
    if len(names) > vectors.rows:
        raise ValueError("the table is shorter than its words")
    return _Table(vectors, Longest({name: at for at, name in enumerate(names) if name}))


_READERS: dict[str, Callable[[str], _Table]] = {
    "wordllama": _read_wordllama,
    "lmm": _read_potion,
}
