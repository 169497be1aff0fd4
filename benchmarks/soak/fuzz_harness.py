"""Run inside the environment of `atheris`: one target, and libFuzzer's own arguments behind it."""

from __future__ import annotations

import sys
from random import Random

import atheris  # type: ignore[import-untyped]

from benchmarks.soak.fuzz_confusion import confused

with atheris.instrument_imports(include=["ltm"]):
    from benchmarks.soak.fuzz_targets import OF_JSON, TARGETS


def mutate(data: bytes, most: int, seed: int) -> bytes:
    """Another input: half of them by value, half of them by byte."""
    chance = Random(seed)
    if chance.random() < 0.5:
        made = confused(data, chance)
        if len(made) <= most and made != data:
            return made
    return bytes(atheris.Mutate(data, most))


target = sys.argv[1]
by_value = {"custom_mutator": mutate} if target in OF_JSON else {}
atheris.Setup([sys.argv[0], *sys.argv[2:]], TARGETS[target], **by_value)
atheris.Fuzz()
