"""How recall over sessions grows with what is kept: `python -m benchmarks.recall_scale`.

Questions are asked through `recall.search.recall` of a project with so many passages, with vectors
where an embedder is installed. Passages are put in by `Passages.add`, vectors by the flow that the
drain uses. Warm times are processor time, which other work on the machine adds to, though less than
to wall time.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from benchmarks.corpus import questions, sentences
from benchmarks.report import keep, peak_mb, percentile, spawned, table
from ltm.config.config import load
from ltm.embed.embedder import open_embedder
from ltm.embed.update import keep_passages
from ltm.history.db import Passages
from ltm.history.passage import ASSISTANT, USER, Header, Passage
from ltm.model import Filter
from ltm.project.layout import Places, places
from ltm.recall.passages import session_search
from ltm.recall.search import recall
from ltm.store.open import open_store

PER_SESSION = 50


def measure(count: int, folder: Path, runs: int) -> dict[str, Any]:
    """All figures for one number of passages."""
    project = folder / "project"
    project.mkdir()
    env = {**os.environ, "LTM_HOME": str(folder / "home")}
    where = places(str(project), environ=env)
    pool = sentences()
    rng = random.Random(count)
    started = time.process_time()
    with closing(Passages(where.sessions_db)) as passages:
        for number in range(count // PER_SESSION):
            passages.add(header(number), list(session(number, pool, rng)))
    filled = time.process_time() - started
    started = time.process_time()
    embed(where, 36_000.0)
    embedded = time.process_time() - started
    with closing(Passages(where.sessions_db)) as passages:
        started = time.process_time()
        passages.add(header(count), list(session(count, pool, rng)))
        one_more = time.process_time() - started
    started = time.process_time()
    embed(where, 60.0)
    one_more_vectors = time.process_time() - started
    asked = [
        sys.executable,
        *("-m", "benchmarks.recall_scale", "--ask", str(project), "--runs", str(runs)),
    ]
    warm = subprocess.run(asked, check=True, capture_output=True, text=True, env=env).stdout.split()
    ltm = str(Path(sys.executable).with_name("ltm"))
    cold = spawned([ltm, "recall", "class instance", "--project", str(project)], 5, env)
    return {
        "passages": count,
        "warm_p50_ms": float(warm[0]),
        "warm_p95_ms": float(warm[1]),
        "words_only_p50_ms": float(warm[2]),
        "words_only_p95_ms": float(warm[3]),
        "peak_mb": float(warm[4]),
        "cold_recall_ms": percentile(cold, 0.5),
        "fill_passages_per_s": count / filled,
        "embed_passages_per_s": count / max(embedded, 1e-6),
        "one_session_ms": one_more * 1000,
        "one_session_vectors_ms": one_more_vectors * 1000,
        "sessions_mb": os.path.getsize(where.sessions_db) / 1e6,
        "vectors_mb": sum(file.stat().st_size for file in Path(where.private).glob("*vectors*"))
        / 1e6,
    }


def ask(project: str, runs: int) -> None:
    """Print p50 and p95 of warm questions, with vectors and by words only, and peak memory."""
    where = places(project)
    config = load(where.home, where.settings)
    with (
        closing(open_store(where, config)) as store,
        closing(session_search(where, config)) as said,
    ):
        figures: list[float] = []
        for vectors in (True, False):
            if not vectors:
                said.__dict__.update(embedder=None, _vector=("", None))
            taken: list[float] = []
            for question in questions(runs + 5):
                started = time.process_time()
                recall(store, question, Filter(), 10, counts=False, said=said)
                taken.append((time.process_time() - started) * 1000)
            figures += [percentile(taken[5:], 0.5), percentile(taken[5:], 0.95)]
    print(*figures, peak_mb())


def embed(where: Places, seconds: float) -> None:
    embedder = open_embedder(load(where.home, where.settings))
    if embedder is None:
        return
    from ltm.index.vectors import vectors_of

    with (
        closing(Passages(where.sessions_db)) as passages,
        closing(vectors_of(passages.path, embedder.name, embedder.dimensions)) as vectors,
    ):
        keep_passages(passages, vectors, embedder, seconds)


def header(number: int) -> Header:
    return Header(f"session-{number}", "/project", f"/transcripts/{number}.jsonl")


def session(number: int, pool: list[str], rng: random.Random) -> Iterator[Passage]:
    day = f"{2024 + number % 3}-{1 + number % 12:02d}-{1 + number % 28:02d}"
    for turn in range(1, PER_SESSION + 1):
        yield Passage(
            turn,
            0,
            USER if turn % 2 else ASSISTANT,
            f"{' '.join(rng.sample(pool, 3))} See src/pkg/module_{rng.randrange(5000)}.py.",
            at=f"{day}T10:{turn:02d}:00Z",
            first=turn,
            last=turn,
            message=f"{number}-{turn}",
        )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--counts", default="1000,10000,100000")
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--json")
    parser.add_argument("--ask", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.ask:
        ask(given.ask, given.runs)
        return
    results = []
    for count in map(int, given.counts.split(",")):
        with tempfile.TemporaryDirectory(prefix="ltm-recall-") as folder:
            results.append(measure(count, Path(folder), given.runs))
    names = [name for name in results[0] if name != "passages"]
    table(
        "Recall over sessions",
        ["figure", *[f"{result['passages']:,}" for result in results]],
        [[name, *[result[name] for result in results]] for name in names],
    )
    keep(given.json, "recall_scale", {"results": results})


if __name__ == "__main__":
    main()
