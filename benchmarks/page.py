"""What the page costs in a large project: `python -m benchmarks.page`.

A real `ltm ui` shows a project of so many memories and passages to a browser's requests. Searches
take turns with warm `ltm recall` in this process, so that both meet the same machine. Times are of
the wall, from the request to the last byte; `first_page_cpu_ms` is the server's processor time,
which other work on the machine hardly changes.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from http.client import HTTPConnection
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

from benchmarks.corpus import memories, questions, sentences
from benchmarks.recall_scale import PER_SESSION, embed, header, session
from benchmarks.report import keep, percentile, table
from ltm.config.config import load
from ltm.decisions import Adopt, Copy
from ltm.embed.embedder import open_embedder
from ltm.embed.update import keep_memories
from ltm.history.db import Passages
from ltm.model import Filter
from ltm.project.layout import places
from ltm.recall.passages import session_search
from ltm.recall.search import recall
from ltm.store.open import open_store
from ltm.web.memories import HITS

_BATCH = 500
PAGES = ("/", "/find", "/review", "/time", "/figures", "/health", "/settings")


class Browser:
    """Requests to the page, as a browser that came through the link sends them."""

    def __init__(self, link: str) -> None:
        parts = urlsplit(link)
        assert parts.hostname
        self._connection = HTTPConnection(parts.hostname, parts.port, timeout=120)
        self._connection.request("GET", parts.path)
        answer = self._connection.getresponse()
        answer.read()
        self._cookie = answer.headers["set-cookie"].partition(";")[0]

    def get(self, path: str) -> float:
        """The milliseconds a page took."""
        started = time.perf_counter()
        self._connection.request("GET", path, headers={"Cookie": self._cookie})
        answer = self._connection.getresponse()
        answer.read()
        assert answer.status == 200, (path, answer.status)
        return (time.perf_counter() - started) * 1000


def measure(count: int, passages: int, folder: Path, runs: int) -> dict[str, Any]:
    """All figures of one project."""
    project = folder / "project"
    project.mkdir()
    env = {**os.environ, "LTM_HOME": str(folder / "home")}
    where = places(str(project), environ=env)
    config = load(where.home, where.settings)
    with closing(open_store(where, config)) as store:
        found = memories(count)
        while batch := list(islice(found, _BATCH)):
            store.apply(Adopt(tuple(map(Copy, batch))))
    pool, rng = sentences(), random.Random(passages)
    with closing(Passages(where.sessions_db)) as kept:
        for number in range(passages // PER_SESSION):
            kept.add(header(number), list(session(number, pool, rng)))
    embed(where, 36_000.0)
    # As the drain leaves a project: a search would else embed a few, and the page asks first.
    embedder = open_embedder(config)
    if embedder is not None:
        with closing(open_store(where, config)) as store:
            keep_memories(store, embedder, 36_000.0)
    words = [sys.executable, "-m", "ltm", "ui", "--json", "--no-open", "--project", str(project)]
    with subprocess.Popen(words, env=env, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout
        browser = Browser(json.loads(server.stdout.readline())["link"])
        for _ in range(3):
            browser.get("/")
        before = processor_ms(server.pid)
        first = [browser.get("/") for _ in range(runs)]
        worked = (processor_ms(server.pid) - before) / runs
        others = {path: [browser.get(path) for _ in range(5)] for path in PAGES[1:]}
        found_in: list[float] = []
        recalled: list[float] = []
        with (
            closing(open_store(where, config)) as store,
            closing(session_search(where, config)) as said,
        ):
            for question in questions(runs + 5):
                found_in.append(browser.get(f"/find?{urlencode({'q': question})}"))
                started = time.perf_counter()
                recall(store, question, Filter(), HITS, counts=False, said=said)
                recalled.append((time.perf_counter() - started) * 1000)
        status = Path(f"/proc/{server.pid}/status").read_text()
        server.send_signal(signal.SIGINT)
    memory = {
        name: int(re.findall(rf"{name}:\s+(\d+)", status)[0]) / 1024 for name in ("VmRSS", "VmHWM")
    }
    return {
        "memories": count,
        "passages": passages,
        "first_page_cpu_ms": worked,
        "first_page_p50_ms": percentile(first, 0.5),
        "first_page_p95_ms": percentile(first, 0.95),
        "find_p50_ms": percentile(found_in[5:], 0.5),
        "find_p95_ms": percentile(found_in[5:], 0.95),
        "recall_p50_ms": percentile(recalled[5:], 0.5),
        "recall_p95_ms": percentile(recalled[5:], 0.95),
        "find_to_recall_p95": percentile(found_in[5:], 0.95) / percentile(recalled[5:], 0.95),
        "server_mb": memory["VmRSS"],
        "server_peak_mb": memory["VmHWM"],
        **{f"{path}_p50_ms": percentile(taken, 0.5) for path, taken in others.items()},
    }


def processor_ms(pid: int) -> float:
    """The processor time a process has taken."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return 1000 * (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--memories", type=int, default=10_000)
    parser.add_argument("--passages", type=int, default=100_000)
    parser.add_argument("--runs", type=int, default=60)
    parser.add_argument("--json")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ltm-page-") as folder:
        found = measure(given.memories, given.passages, Path(folder), given.runs)
    table("The page", ["figure", "value"], [[name, value] for name, value in found.items()])
    keep(given.json, "page", found)


if __name__ == "__main__":
    main()
