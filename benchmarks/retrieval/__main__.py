"""`python -m benchmarks.retrieval --data FILE`: recall as the product does it, measured.

Prints how often the answer is found, how quickly, and what it costs, beside grep, plain BM25 and,
with `--peers`, other memory tools that are installed into environments of their own. `--rankings`
writes what was found, a line for every question.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.report import keep, peak_mb, percentile, table
from benchmarks.retrieval import plain
from benchmarks.retrieval.data import Group, Ranking, load
from benchmarks.retrieval.ours import Ours
from benchmarks.retrieval.peers import PEERS, measured
from benchmarks.retrieval.scoring import SHOWN, scored, summed


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", required=True, type=Path, help="A file of the plain form.")
    parser.add_argument("--rankings", type=Path, help="Write what our recall found, as JSON lines.")
    parser.add_argument("--peers", default="", help=f"Of {', '.join(PEERS)}, with commas.")
    parser.add_argument("--only", action="store_true", help="Our recall only.")
    parser.add_argument("--no-vectors", action="store_true", help="Our recall by words only.")
    parser.add_argument("--json")
    given = parser.parse_args()
    name, groups = load(given.data)
    systems: dict[str, list[Ranking]] = {}
    costs: list[list[object]] = []
    notes: list[str] = []
    with tempfile.TemporaryDirectory(prefix="ltm-retrieval-") as folder:
        ours = Ours(Path(folder), groups, vectors=not given.no_vectors)
        systems["ltm"] = ours.rankings(groups)
        rate = ours.passages / max(ours.ingest_seconds, 1e-6)
        costs.append(["ltm", *_times(systems["ltm"]), rate, peak_mb(), ours.disk_mb()])
        if not (given.only or given.no_vectors):
            systems["ltm, words only"] = ours.without_vectors().rankings(groups)
            costs.append(["ltm, words only", *_times(systems["ltm, words only"]), "", "", ""])
    if given.rankings:
        _write(given.rankings, systems["ltm"])
    if not given.only:
        asked: dict[str, Callable[[list[Group]], list[Ranking]]] = {
            "grep": plain.grep,
            "BM25": plain.bm25,
            "BM25, told the day": plain.dated_bm25,
        }
        for system, ask in asked.items():
            systems[system] = ask(groups)
            costs.append([system, *_times(systems[system]), "", "", ""])
    for peer in filter(None, given.peers.split(",")):
        found = measured(peer, given.data)
        notes.append(f"{peer}: {found.note}")
        if found.rankings:
            systems[peer] = found.rankings
            costs.append([peer, *_times(found.rankings), found.rate, found.rss_mb, ""])
    figures = _show(name, groups, systems)
    table(
        "Cost (milliseconds of processor time a question)",
        ["system", "p50 ms", "p95 ms", "passages/s", "peak MB", "disk MB"],
        costs,
    )
    for note in notes:
        print(f"\n{note}")
    print(f"\n{time.strftime('%Y-%m-%d', time.gmtime())}, commit {_commit()}")
    keep(given.json, "retrieval", {"data": name, "figures": figures})


def _show(
    name: str, groups: list[Group], systems: dict[str, list[Ranking]]
) -> dict[str, dict[str, Any]]:
    kept: dict[str, dict[str, Any]] = {}
    for level in ("sessions", "turns"):
        rows: list[list[object]] = []
        count = 0
        for system, rankings in systems.items():
            figures = scored(groups, rankings).get(level)
            if figures:
                count = len(figures)
                means = summed(figures)
                kept.setdefault(system, {})[level] = means
                rows.append(
                    [
                        system,
                        *[
                            f"{means[shown].mean:.1f} ±{_half(means[shown].low, means[shown].high)}"
                            for shown in SHOWN
                        ],
                    ]
                )
        if rows:
            table(f"{name}, {level}, {count} questions", ["system", *SHOWN], rows)
    return kept


def _half(low: float, high: float) -> str:
    return f"{(high - low) / 2:.1f}"


def _times(rankings: list[Ranking]) -> tuple[float, float]:
    taken = [each.milliseconds for each in rankings]
    return percentile(taken, 0.5), percentile(taken, 0.95)


def _write(path: Path, rankings: list[Ranking]) -> None:
    with path.open("w", encoding="utf-8") as file:
        for each in rankings:
            line = {"group": each.group, "question": each.question}
            file.write(json.dumps({**line, "sessions": each.sessions, "turns": each.turns}) + "\n")


def _commit() -> str:
    found = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False
    )
    return found.stdout.strip() or "unknown"


if __name__ == "__main__":
    main()
