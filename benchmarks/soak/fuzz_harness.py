"""Run inside the environment of `atheris`: one target, and libFuzzer's own arguments behind it."""

from __future__ import annotations

import sys

import atheris  # type: ignore[import-untyped]

with atheris.instrument_imports(include=["ltm"]):
    from benchmarks.soak.fuzz_targets import TARGETS

atheris.Setup([sys.argv[0], *sys.argv[2:]], TARGETS[sys.argv[1]])
atheris.Fuzz()
