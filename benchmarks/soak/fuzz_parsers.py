"""Row S8, the parsers: `atheris` looks for bytes for which a promise of theirs does not hold.

It is led by which lines an input reaches. A find is printed as bytes that can be tried again, in
`tests/security/test_fuzz.py` for instance.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from benchmarks.soak.environments import ROOT, programs
from benchmarks.soak.fuzz_seeds import LONGEST, dictionary, seeds
from tests.figures import count, worst

HANG = 10
"""Seconds for one input after which it hangs; most take less than a millisecond."""

_IN_MEMORY = "/dev/shm"  # files of targets that need some: several times as many inputs
_RUNS = re.compile(r"stat::number_of_executed_units: (\d+)")
_REACHED = re.compile(r"cov: (\d+)")
_LIMITS = (f"-timeout={HANG}", "-rss_limit_mb=1000", f"-max_len={LONGEST}", "-print_final_stats=1")


@dataclass(frozen=True)
class Fuzzed:
    """What came of one target."""

    runs: int
    reached: int
    """Places of the product that inputs got to."""
    hung: bool
    said: str
    """How it died, with the bytes; '' if it did not."""


def fuzz(python: Path, target: str, seconds: int, folder: Path) -> Fuzzed:
    """Give a target inputs for so long."""
    corpus = folder / "corpus"
    corpus.mkdir(parents=True)
    for number, data in enumerate(seeds(target)):
        (corpus / f"seed-{number}").write_bytes(data)
    words = folder / "words"
    words.write_text(dictionary())
    limits = (*_LIMITS, f"-max_total_time={seconds}", f"-dict={words}", f"-seed={seconds}")
    memory = _IN_MEMORY if os.path.isdir(_IN_MEMORY) else None
    # The fuzzer ends without tidying up.
    with tempfile.TemporaryDirectory(prefix="ltm-fuzz-", dir=memory) as scratch:
        done = subprocess.run(
            [python, "-m", "benchmarks.soak.fuzz_harness", target, corpus, *limits],
            cwd=folder,
            env={
                "PATH": os.defpath,
                "HOME": str(folder),
                "TMPDIR": scratch,
                "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}",
            },
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
    found = [f"{path.name}: {path.read_bytes()!r}" for path in folder.glob("*-*") if path.is_file()]
    died = "\n".join([*found, done.stdout[-2_500:], done.stderr[-500:], ""])
    return Fuzzed(
        runs=_last(_RUNS, done.stderr),
        reached=_last(_REACHED, done.stderr),
        hung=any(path.name.startswith("timeout-") for path in folder.glob("*-*")),
        said=died if done.returncode else "",
    )


def _last(pattern: re.Pattern[str], text: str) -> int:
    found = pattern.findall(text)
    return int(found[-1]) if found else 0


def parser(target: str, seconds: int) -> bool:
    """Fuzz a target for so long, print, and say whether nothing was found."""
    python = programs("atheris", with_project=True) / "python"
    with tempfile.TemporaryDirectory(prefix="ltm-fuzz-") as name:
        done = fuzz(python, target, seconds, Path(name))
    print(f"{target}: {done.runs} inputs, {done.reached} places reached", flush=True)
    print(done.said, end="", flush=True)
    hangs, crashes = int(done.hung), int(bool(done.said) and not done.hung)
    count("S8", **{f"{target}_inputs": done.runs}, parser_crashes=crashes, hangs=hangs)
    worst("S8", **{f"{target}_places_reached": done.reached})
    return not done.said and done.runs > 0
