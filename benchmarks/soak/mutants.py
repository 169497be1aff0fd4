"""Row R24, do the tests notice a fault?: `python -m benchmarks.soak.mutants [--mutants 150]`.

A seed chooses statements of core, storage and the HTTP guard and puts one fault in each
(`mutation`), in a copy of the tree. Tests that run the statement are run on it, those named after
the module and the quick ones first, until one fails; a fault no test noticed in its share of time
survived, and so did one that no test runs. A test that never ends has noticed.

mutmut 3.8 was tried: it writes all ten thousand mutants before the first test, which takes minutes,
has no seeded sample, cannot be used with pytest 9.2, and never reaches the processes tests start.
"""

from __future__ import annotations

import argparse
import importlib
import json
import math
import os
import queue
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import venv
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks.soak.chosen import CHOSEN, PARTS, TRACED, nodeid
from benchmarks.soak.mutation import Mutant, sample
from tests.figures import count, worst

_ROOT = Path(__file__).parents[2]
_TESTS = (
    *("model", "text", "redact", "files", "config", "project", "vault", "index", "spool", "state"),
    *("store", "history", "notes", "contract", "capture", "recall", "inject", "upkeep", "sessions"),
    *("friction", "transfer", "embed", "http/test_guard.py", "http/test_guard_messages.py"),
)
_LEFT_OUT = (
    "hostile_megabyte",
    "git_merge",
    "processes",
    "season",
    "labelled",
    "ten_thousand_memories",
)
"""Words in the names of tests that take too long for this."""
_PLUGINS = ("-p", "benchmarks.soak.chosen", "-p", "no:cacheprovider")
_TRACE_CHILDREN = (
    "import os; os.environ.get('COVERAGE_PROCESS_START') and __import__('coverage')"
    ".process_startup()\n"
)
_NO_TESTS = 5
_SHARE = 12.0
"""Seconds of tests for one fault, as long as they took while their lines were noted."""
_GOAL = 0.75
_BRANCHES = 95.0
_EACH = 10
"""Of so many faults one is tried without being there."""


@dataclass(frozen=True)
class Copy:
    """A copy of the tree with an interpreter of its own, which loads the product from there."""

    folder: Path

    @classmethod
    def make(cls, folder: Path, tools: Path) -> Copy:
        tree = folder / "tree"
        unwanted = shutil.ignore_patterns("__pycache__", ".git", ".*_cache", ".hypothesis")
        shutil.copytree(_ROOT, tree, ignore=unwanted)
        venv.create(folder / "venv", symlinks=True)
        site = sysconfig.get_path("purelib", vars={"base": str(folder / "venv")})
        paths = (tree / "src", tools, sysconfig.get_path("purelib"))
        # Named here, these are searched in this order, and an editable install is not looked into.
        (Path(site) / "product.pth").write_text("\n".join(map(str, paths)) + "\n")
        (Path(site) / "traced.pth").write_text(_TRACE_CHILDREN)
        return cls(folder)

    def pytest(self, *words: str, seconds: float, **env: str) -> int | None:
        """Run tests; None if they did not end."""
        argv = (str(self.folder / "venv/bin/python"), "-m", "pytest")
        fixed = {"PYTHONDONTWRITEBYTECODE": "1", "TMPDIR": str(self.folder)}
        running = subprocess.Popen(
            (*argv, *_PLUGINS, "--hypothesis-seed=0", *words),
            cwd=self.folder / "tree",
            env={**os.environ, **fixed, **env},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            return running.wait(seconds)
        except subprocess.TimeoutExpired:
            return None
        finally:
            try:
                os.killpg(running.pid, signal.SIGKILL)  # what a faulty product left running, too
            except ProcessLookupError:
                pass
            running.wait()

    def notices(self, mutant: Mutant, tests: list[str], expected: float) -> bool:
        """Whether tests fail with a fault in the product."""
        path = self.folder / "tree" / mutant.path
        text = path.read_bytes()
        chosen = self.folder / "chosen.json"
        chosen.write_text(json.dumps(tests))
        try:
            path.write_bytes(mutant.applied(text))
            _forget(path)
            files = dict.fromkeys(name.partition("::")[0] for name in tests)
            words = ("-x", "-n0", *files)
            ended = self.pytest(*words, seconds=30 + 5 * expected, **{CHOSEN: str(chosen)})
            return ended not in (0, _NO_TESTS)
        finally:
            path.write_bytes(text)
            _forget(path)


@dataclass(frozen=True)
class Trace:
    """Which tests run which line, and how long they take."""

    lines: dict[str, dict[int, set[str]]]
    """By the path of a file below the root; the test "" is loading the module."""
    seconds: dict[str, float]
    lines_run: float
    branches_run: float
    """Of a hundred."""

    def tests_for(self, mutant: Mutant) -> list[str]:
        """Tests that could notice a fault, likely and quick ones first, as many as its share."""
        lines = self.lines.get(str(mutant.path), {})
        found = set[str]().union(
            *(lines.get(line, ()) for line in range(mutant.first, mutant.last + 1))
        )
        if mutant.at_import or found == {""}:  # what is loaded matters to all who use the module
            found = set[str]().union(*lines.values())
        usable = [name for name in found if math.isfinite(self.seconds.get(name, math.inf))]
        own = f"/test_{mutant.path.stem}.py::"
        usable.sort(key=lambda name: (own not in name, self.seconds[name], name))
        chosen: list[str] = []
        for name in usable:
            if sum(self.seconds[each] for each in chosen) + self.seconds[name] <= _SHARE:
                chosen.append(name)
        return chosen or usable[:1]


def traced(copy: Copy, tools: Path, kept: Path) -> Trace:
    """Run all tests once and note which lines each runs."""
    kept.mkdir(parents=True, exist_ok=True)
    words = ("-n2", "-k", f"not ({' or '.join(_LEFT_OUT)})", *(f"tests/{name}" for name in _TESTS))
    copy.pytest(*words, seconds=1500, **{TRACED: str(kept)})
    sys.path.append(str(tools))
    coverage: Any = importlib.import_module("coverage")
    tree = copy.folder / "tree"
    seconds: dict[str, float] = {}
    for path in kept.glob("times-*"):
        for name, taken in map(json.loads, path.read_text().splitlines()):
            seconds[name] = seconds.get(name, 0) + taken
    if not seconds:
        sys.exit("no test was run: run them without this programme to see why")
    whole = coverage.Coverage(data_file=str(kept / "lines"), branch=True, config_file=False)
    whole.combine([str(path) for path in kept.glob("lines-*")], keep=True)
    # What only Windows runs is run there or nowhere.
    whole.exclude(r"if os\.name == .nt.")
    whole.exclude(r"if os\.name != .nt.", which="partial")
    wanted = [str(tree / path) for path in _modules(tree)]
    with (kept / "report.txt").open("w") as out:
        whole.report(file=out, include=wanted, skip_covered=True, show_missing=True, sort="cover")
    print((kept / "report.txt").read_text().replace(f"{tree}/", ""), flush=True)
    whole.json_report(outfile=str(kept / "report.json"), include=wanted)
    totals = json.loads((kept / "report.json").read_text())["totals"]
    data = whole.get_data()
    lines = {
        str(Path(name).relative_to(tree)): {
            line: set(map(nodeid, tests)) for line, tests in data.contexts_by_lineno(name).items()
        }
        for name in data.measured_files()
    }
    return Trace(
        lines,
        seconds,
        100 * totals["covered_lines"] / totals["num_statements"],
        100 * totals["covered_branches"] / totals["num_branches"],
    )


def _modules(root: Path) -> list[Path]:
    """What faults are put in, below the root."""
    found = [path for part in PARTS for path in root.glob(f"src/ltm/{part}")]
    return [path.relative_to(root) for path in sorted(found) if path.suffix == ".py"]


def _forget(path: Path) -> None:
    """Forget what was compiled of a source: of the same second and size it would be taken."""
    for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*.pyc"):
        compiled.unlink()


def judged(copies: list[Copy], trace: Trace, mutants: list[Mutant]) -> list[str]:
    """Of each fault whether it was killed, survived or is not_covered."""
    free: queue.SimpleQueue[Copy] = queue.SimpleQueue()
    for copy in copies:
        free.put(copy)

    def verdict(mutant: Mutant) -> str:
        tests = trace.tests_for(mutant)
        if not tests:
            return "not_covered"
        copy = free.get()
        try:
            expected = sum(trace.seconds[each] for each in tests)
            return "killed" if copy.notices(mutant, tests, expected) else "survived"
        finally:
            free.put(copy)

    with ThreadPoolExecutor(len(copies)) as pool:
        return list(pool.map(verdict, mutants))


def main() -> None:
    """Put faults in, count those that are noticed, name the others; fail below the goal."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mutants", type=int, default=150)
    parser.add_argument("--seed", type=int, default=2611)
    parser.add_argument("--processes", type=int, default=2)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ltm-mutants-") as name:
        folder, tools = Path(name), Path(name) / "tools"
        install = (sys.executable, "-m", "pip", "install", "--quiet", "--target", str(tools))
        subprocess.run((*install, "coverage"), check=True)
        copies = [Copy.make(folder / str(each), tools) for each in range(given.processes)]
        trace = traced(copies[0], tools, folder / "trace")
        tree = copies[0].folder / "tree"
        mutants = sample(tree, _modules(tree), given.mutants, given.seed)
        verdicts = judged(copies, trace, mutants)
        # Without any fault the same tests have nothing to notice.
        faultless = [replace(each, becomes=each.was) for each in mutants[::_EACH]]
        alarms = Counter(judged(copies, trace, faultless))["killed"]
    sys.exit(not told(given.seed, trace, dict(zip(mutants, verdicts, strict=True)), alarms))


def told(seed: int, trace: Trace, verdicts: dict[Mutant, str], alarms: int) -> bool:
    """Print and note what came of it; whether it is good enough."""
    for mutant, said in sorted(verdicts.items(), key=lambda each: str(each[0])):
        if said != "killed":
            print(f"{said}: {mutant}")
    counted = Counter(verdicts.values())
    many, killed = len(verdicts), counted["killed"]
    figures = {
        "mutants": many,
        "killed": killed,
        "survived": many - killed,
        "not_covered": counted["not_covered"],
        "false_alarms": alarms,
    }
    count("R24", **figures)
    worst(
        "R24",
        killed_percent=round(100 * killed / many, 1),
        line_coverage_percent=round(trace.lines_run, 1),
        branch_coverage_percent=round(trace.branches_run, 1),
    )
    unusable = sum(not math.isfinite(each) for each in trace.seconds.values())
    print(f"seed {seed}: {killed / many:.1%} killed", figures)
    print(f"{len(trace.seconds)} tests, of which {unusable} failed or were skipped with no fault")
    print(f"run by them: {trace.lines_run:.1f} % of lines, {trace.branches_run:.1f} % of branches")
    return killed >= _GOAL * many and trace.branches_run >= _BRANCHES and not alarms


if __name__ == "__main__":
    main()
