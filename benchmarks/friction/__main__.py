"""Friction, measured: `python -m benchmarks.friction`.

Speed on a corpus whose signals are known; the signals of sessions written for another purpose; and,
with `--real DIR`, those of real transcripts: how many of the hits that were looked at are right.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from benchmarks.friction import speed
from benchmarks.report import keep


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=100)
    parser.add_argument("--kilobytes", type=int, default=24)
    parser.add_argument("--real", metavar="DIR")
    parser.add_argument("--json")
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.measure:
        speed.measure(*given.measure)
        return
    figures: dict[str, Any] = {"speed": speed.measured(given.sessions, given.kilobytes)}
    from benchmarks.friction import real

    figures["written"] = real.measured_written()
    if given.real:
        figures["real"] = real.measured(Path(given.real))
    keep(given.json, "friction", figures)


if __name__ == "__main__":
    main()
