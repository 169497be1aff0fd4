"""How recall, refresh and rebuild grow with the memories: `python -m benchmarks.scale`."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.corpus import memories, questions
from benchmarks.report import keep, percentile, spawned, table, timed
from ltm.kinds import Kinds
from ltm.model import Filter, Scope
from ltm.project.layout import places
from ltm.recall.search import recall as recalled
from ltm.state.usage import State
from ltm.store.file_store import FileStore
from ltm.vault import codec
from ltm.vault.vault import Vault


def measure(count: int, folder: Path, runs: int) -> dict[str, Any]:
    """All figures for one number of memories."""
    project = folder / "project"
    project.mkdir()
    env = {**os.environ, "LTM_HOME": str(folder / "home")}
    env.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package has its byte code
    where = places(str(project), environ=env)
    vault = Vault("private", where.private)
    vault.prepare()
    written = 0
    for memory in memories(count):
        # Written plainly: this benchmark is about reading; `benchmarks.writers` is about writing.
        data = codec.to_bytes(memory)
        written += len(data)
        Path(vault.path(codec.file_name(memory))).write_bytes(data)
    rebuilt = subprocess.run(
        [sys.executable, "-m", "benchmarks.scale", "--rebuild", where.private],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.split()
    store = _open(where.private)
    index = store._vaults.index(store.vaults[0])
    index.refresh()
    time.sleep(0.1)  # let the files grow older than the clock tick that is not trusted
    index.refresh()
    refresh = timed(index.refresh, runs)
    asked = iter(questions(runs))
    search = timed(lambda: store.search(next(asked), Filter(), 10), runs)
    again = iter(questions(runs))
    recall = timed(lambda: recalled(store, next(again), Filter(), 10), runs)
    listing = timed(lambda: store.list(Filter(), 50), min(runs, 30))
    ltm = str(Path(sys.executable).with_name("ltm"))
    # By words, as everything measured here: the first question with vectors would make them all.
    subprocess.run(
        [ltm, "config", "embed.backend", "none"], env=env, check=True, capture_output=True
    )
    cold = spawned([ltm, "recall", "class", "instance"], 15, env, project)
    bare = spawned([sys.executable, "-I", "-S", "-c", "pass"], 15)
    store.close()
    return {
        "memories": count,
        "content_mb": written / 1e6,
        "search_p50_ms": percentile(search, 0.5),
        "search_p95_ms": percentile(search, 0.95),
        "recall_p50_ms": percentile(recall, 0.5),
        "recall_p95_ms": percentile(recall, 0.95),
        "refresh_p50_ms": percentile(refresh, 0.5),
        "refresh_p95_ms": percentile(refresh, 0.95),
        "list_p50_ms": percentile(listing, 0.5),
        "rebuild_s": float(rebuilt[0]),
        "rebuild_rss_mb": float(rebuilt[1]),
        "index_mb": os.path.getsize(os.path.join(where.private, "index.db")) / 1e6,
        "cold_recall_ms": percentile(cold, 0.5),
        "bare_python_ms": percentile(bare, 0.5),
    }


def _open(folder: str) -> FileStore:
    vault = Vault("private", folder)
    state = State(os.path.join(folder, "state.db"))
    return FileStore((vault,), {Scope.PROJECT: vault, Scope.AGENT: vault}, state, Kinds())


def _rebuild(folder: str) -> None:
    from benchmarks.report import peak_mb

    start = time.perf_counter()
    store = _open(folder)
    store.list(Filter(), 1)
    print(time.perf_counter() - start, peak_mb())
    store.close()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--counts", default="1000,10000,100000")
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--json")
    parser.add_argument("--rebuild", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.rebuild:
        _rebuild(given.rebuild)
        return
    results = []
    for count in map(int, given.counts.split(",")):
        with tempfile.TemporaryDirectory(prefix="ltm-scale-") as folder:
            results.append(measure(count, Path(folder), given.runs))
    names = [name for name in results[0] if name != "memories"]
    table(
        "Scale",
        ["figure", *[f"{result['memories']:,}" for result in results]],
        [[name, *[result[name] for result in results]] for name in names],
    )
    keep(given.json, "scale", {"results": results})


if __name__ == "__main__":
    main()
