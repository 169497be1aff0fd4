"""Friction, measured: `python -m benchmarks.friction`.

Speed on a corpus whose signals are known, and, with `--real DIR`, the signals of real transcripts
with how many of those looked at were right.
"""

from __future__ import annotations

import argparse

from benchmarks.friction.speed import measure, measured
from benchmarks.report import keep


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=100)
    parser.add_argument("--kilobytes", type=int, default=30)
    parser.add_argument("--json")
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.measure:
        measure(*given.measure)
        return
    keep(given.json, "friction", {"speed": measured(given.sessions, given.kilobytes)})


if __name__ == "__main__":
    main()
