"""Runs the programme and puts its figures on record: see `benchmarks.soak`."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from datetime import UTC, datetime
from pathlib import Path
from xml.etree import ElementTree

from benchmarks.report import table
from benchmarks.soak.programme import ROWS
from benchmarks.soak.row import FIGURES, Outcome, Part, Row, read, write
from tests.figures import VARIABLE, gathered

_ROOT = Path(__file__).parents[2]


def run(row: Row, folder: Path, *, full: bool) -> Outcome:
    """Try a promise."""
    noted = folder / f"{row.id}.jsonl"
    figures: dict[str, float] = {}
    failed: list[str] = []
    parts = row.parts(full=full)
    begun = time.monotonic()
    for number, part in enumerate(parts):
        if not _held(part, folder / f"{row.id}-{number}", noted, figures):
            failed.append(str(part))
    figures.update(gathered(noted).get(row.id, {}))
    failed += [
        f"{name} at most {most:g}" for name, most in row.most.items() if figures.get(name, 0) > most
    ]
    return Outcome(
        row=row.id,
        met=bool(parts) and not failed,
        figures=figures,
        commands=tuple(str(part) for part in parts),
        seconds=round(time.monotonic() - begun, 1),
        commit=_commit(),
        date=datetime.now(UTC).date().isoformat(),
        failed=tuple(failed),
    )


def _outcomes(rows: Sequence[Row], folder: Path, *, full: bool) -> Iterator[Outcome]:
    """Try promises: those about time one by one, then the others, those that may take longest
    first, one more at once than there are cores, because each waits for its disk now and then."""
    there = [row for row in rows if row.parts(full=full)]
    for row in there:
        if row.alone:
            yield run(row, folder, full=full)
    together = [row for row in there if not row.alone]
    together.sort(key=lambda row: -sum(part.minutes for part in row.parts(full=full)))
    with ThreadPoolExecutor((os.cpu_count() or 1) + 1) as pool:
        begun = [pool.submit(run, row, folder, full=full) for row in together]
        for each in as_completed(begun):
            yield each.result()


def _held(part: Part, base: Path, noted: Path, figures: dict[str, float]) -> bool:
    """Run one command; what it printed stays in a file that is named if it fails."""
    report, said = base.with_suffix(".xml"), base.with_suffix(".log")
    words = [*part.argv(), "--numprocesses", "auto", f"--junitxml={report}"]
    with said.open("w") as out:
        try:
            done = subprocess.run(
                words if part.is_test else part.argv(),
                cwd=_ROOT,
                env={**os.environ, **part.env, VARIABLE: str(noted)},
                stdout=out,
                stderr=subprocess.STDOUT,
                timeout=part.minutes * 60,
                check=False,
            )
            held = done.returncode == 0
        except subprocess.TimeoutExpired:
            held = False
    if part.is_test and report.exists():
        suite = ElementTree.parse(report).getroot().find("testsuite")
        for name in ("tests", "failures", "errors", "skipped") if suite is not None else ():
            figures[name] = figures.get(name, 0) + int(suite.get(name, "0"))  # type: ignore[union-attr]
        held = held and not figures.get("skipped")  # what was skipped was not tried
    if not held:
        print(f"FAILED: {part}", *said.read_text(errors="replace").splitlines()[-40:], sep="\n  ")
    return held


def _commit() -> str:
    asked = ["git", "-C", str(_ROOT), "rev-parse", "--short", "HEAD"]
    return subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()


def main() -> None:
    """Try what was asked for, print it, put it on record."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.soak", description=__doc__)
    parser.add_argument("rows", nargs="*", metavar="ROW", help="as R1 or S11; all if none is named")
    parser.add_argument("--full", action="store_true", help="also what takes long")
    parser.add_argument("--json", type=Path, default=FIGURES, help="where figures are kept")
    given = parser.parse_args()
    order = tuple(row.id for row in ROWS)
    unknown = [name for name in given.rows if name not in order]
    if unknown:
        parser.error(f"there is no row {', '.join(unknown)}; there are: {', '.join(order)}")
    outcomes = read(given.json)
    lines: list[list[object]] = []
    wanted = [row for row in ROWS if not given.rows or row.id in given.rows]
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="ltm-soak-") as folder:
        for outcome in _outcomes(wanted, Path(folder), full=given.full):
            outcomes[outcome.row] = outcome
            write(outcomes, order, given.json)
            figures = ", ".join(f"{name} {value:g}" for name, value in outcome.figures.items())
            lines.append([outcome.row, "yes" if outcome.met else "NO", outcome.seconds, figures])
            print(*lines[-1], flush=True)
    lines.sort(key=lambda line: order.index(str(line[0])))
    table("What was promised", ["row", "held", "seconds", "figures"], lines)
    print(f"{(time.monotonic() - begun) / 60:.1f} minutes")
    sys.exit(any(line[1] == "NO" for line in lines))


if __name__ == "__main__":
    main()
