"""Figures that a test or a benchmark measured, kept for the table of `docs/reference/reliability`.

Nothing is kept unless LTM_FIGURES names a file: then each figure is one line of JSON in it, so that
many processes can note figures at once. Counts are added up, and of the others the worst stays.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

VARIABLE = "LTM_FIGURES"


def count(row: str, **counts: int) -> None:
    """Note how many there were, to be added to what others counted for the same row."""
    _keep(row, "count", dict(counts))


def worst(row: str, **values: float) -> None:
    """Note values of which only the largest is of interest: times, sizes."""
    _keep(row, "worst", dict(values))


def gathered(path: Path) -> dict[str, dict[str, float]]:
    """All figures of a file by their row."""
    rows: dict[str, dict[str, float]] = {}
    if not path.exists():
        return rows
    for line in path.read_text(encoding="utf-8").splitlines():
        noted = json.loads(line)
        row = rows.setdefault(noted["row"], {})
        for name, value in noted["values"].items():
            known = row.get(name, 0)
            row[name] = known + value if noted["kind"] == "count" else max(known, value)
    return rows


def _keep(row: str, kind: str, values: dict[str, float]) -> None:
    path = os.environ.get(VARIABLE)
    if not path:
        return
    line = json.dumps({"row": row, "kind": kind, "values": values}) + "\n"
    handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(handle, line.encode())  # one write, so that lines of many processes stay whole
    finally:
        os.close(handle)
