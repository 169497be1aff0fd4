"""So many of something, as people say it. Imports nothing."""

from __future__ import annotations


def counted(number: int, one: str, many: str = "") -> str:
    """`1 memory`, `3 memories`: `many` is for words that do more than take an s."""
    # `memory` becomes `memories`, but `day` becomes `days`.
    in_ies = one.endswith("y") and one[-2:-1] not in "aeiou"
    plural = many or (f"{one[:-1]}ies" if in_ies else f"{one}s")
    return f"{number:,} {one if number == 1 else plural}"
