"""The power fails while something is written (reliability R3; `benchmarks.soak.powercut`)."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
from pathlib import Path

import pytest

from benchmarks.soak.powercut import BASELINE, LOST, SEED, cut
from tests.figures import count

CUTS = 5


@pytest.mark.parametrize("work", [each for each in LOST if each != BASELINE])
def test_what_was_acknowledged_is_there_after_a_power_cut(work: str, tmp_path: Path) -> None:
    if os.geteuid() != 0 or not shutil.which("mkfs.btrfs"):
        pytest.skip("needs root and mkfs.btrfs (Debian: btrfs-progs)")
    try:
        figures = cut(tmp_path, work, CUTS, random.Random(SEED))
    except subprocess.CalledProcessError as error:
        pytest.skip(f"no disk can be mounted here: {error}")
    count("R3", **figures)
    assert figures["cuts"] == CUTS
    assert (figures["lost"], figures["torn"]) == (0, 0), f"seed {SEED}"
