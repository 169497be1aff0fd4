"""Names as `ltm.text.front_coding` reads them."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import takewhile

from ltm.text.front_coding import BETWEEN, NONE


def coded(names: Iterable[str]) -> str:
    """Names, which are in order, without what each shares with the one before it."""
    found, last = [], ""
    for name in names:
        pairs = zip(last, name, strict=False)
        shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
        found.append(chr(NONE + shared) + name[shared:])
        last = name
    return BETWEEN.join(found)
