"""Recall, store and session start over MCP and the hook, by size: `python -m benchmarks.mcp_scale`.

One home for each number of memories, filled once; `--homes FOLDER` keeps them for the next run. A
server is started in each, as a client starts it, and asked in turn: a question, a text to keep, one
durable write of a file (temporary file, fsync, rename, fsync of the folder), which is the floor for
keeping a text. Wall time is what an agent waits for; processor time of the server does not depend
so much on who else is at work. The hook of a session's start composes its text from nothing each
time, in turn with the usual shell hook.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.corpus import memories, questions
from benchmarks.hooks import BASELINE, contenders, run_once
from benchmarks.mcp_start import INITIALIZE, INITIALIZED
from benchmarks.report import keep, percentile, table
from ltm.files.atomic import write_file
from ltm.project.layout import places
from ltm.vault import codec
from ltm.vault.vault import Vault

WORDS, VECTORS = "words", "vectors"
COMPOSED = "ltm-hook SessionStart, composed anew"


class Server:
    """`ltm mcp` in a home, spoken to as a client does."""

    def __init__(self, home: Path, project: Path) -> None:
        environment = {**os.environ, "HOME": str(home.parent), "LTM_HOME": str(home)}
        environment.pop("CLAUDE_PROJECT_DIR", None)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "ltm", "mcp"],
            cwd=project,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self._number = 1
        self._say(INITIALIZE)
        self._answer()
        self._say(INITIALIZED)

    def call(self, tool: str, **arguments: Any) -> str:
        """The text of a tool's result."""
        self._number += 1
        params = {"name": tool, "arguments": arguments}
        self._say({"jsonrpc": "2.0", "id": self._number, "method": "tools/call", "params": params})
        answer = self._answer()["result"]
        text = str(answer["content"][0]["text"])
        assert not answer.get("isError"), text
        return text

    def processor(self) -> float:
        """Milliseconds of processor time that all its threads have taken."""
        tasks = Path(f"/proc/{self._process.pid}/task")
        return (
            sum(int((each / "schedstat").read_text().split()[0]) for each in tasks.iterdir()) / 1e6
        )

    def close(self) -> None:
        """End it as a client does."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait()

    def _say(self, message: dict[str, Any]) -> None:
        assert self._process.stdin
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout
        while True:
            message = json.loads(self._process.stdout.readline())
            if "result" in message:
                return dict(message)


def fill(count: int, folder: Path) -> None:
    """Make a home with so many memories and their vectors, unless it is there."""
    if (folder / "filled").exists():
        return
    project = folder / "project"
    project.mkdir(parents=True)
    home = folder / "home"
    environment = {**os.environ, "LTM_HOME": str(home)}
    vault = Vault("private", places(str(project), environ=environment).private)
    vault.prepare()
    for memory in memories(count):
        Path(vault.path(codec.file_name(memory))).write_bytes(codec.to_bytes(memory))
    program = (
        "import sys\n"
        "from ltm.embed.embedder import open_embedder\n"
        "from ltm.embed.update import keep_memories\n"
        "from ltm.store.project import OpenProject\n"
        "with OpenProject(sys.argv[1]) as project:\n"
        "    embedder = open_embedder(project.config)\n"
        "    if embedder is not None:\n"
        "        keep_memories(project.store, embedder, 36_000)\n"
    )
    subprocess.run([sys.executable, "-c", program, str(project)], env=environment, check=True)
    (folder / "filled").touch()


def set_vectors(folder: Path, way: str) -> None:
    """Say whether questions are answered with vectors."""
    config = folder / "home" / "config.toml"
    config.write_text('[embed]\nbackend = "none"\n' if way == WORDS else "")


def sentence(chance: random.Random) -> str:
    """A text that resembles no other, so that each one is a memory of its own."""
    letters = "bcdfghjklmnpqrstvwxz"
    return " ".join("".join(chance.choices(letters, k=7)) for _ in range(12))


def durable_write(folder: Path, number: int) -> None:
    """One file that a power cut does not take."""
    write_file(str(folder / f"{number}.md"), b"x" * 700)


def measure(count: int, folder: Path, way: str, runs: int) -> dict[str, Any]:
    """Wall and processor time of a question, of a text to keep, and of a durable write."""
    set_vectors(folder, way)
    beside = folder / "writes"
    beside.mkdir(exist_ok=True)
    server = Server(folder / "home", folder / "project")
    chance = random.Random()
    taken: dict[str, list[float]] = {}

    def timed(name: str, work: Any) -> None:
        used, began = server.processor(), time.perf_counter()
        work()
        taken.setdefault(name, []).append((time.perf_counter() - began) * 1000)
        taken.setdefault(f"{name} cpu", []).append(server.processor() - used)

    warm = 5
    for number, question in enumerate(questions(runs + warm)):
        if number == warm:
            taken.clear()
        timed("recall", lambda: server.call("recall", query=question))  # noqa: B023
        timed("write", lambda: durable_write(beside, number))  # noqa: B023
        timed("store", lambda: server.call("store_memory", content=sentence(chance)))
        timed("again", lambda: server.call("recall", query=question))  # noqa: B023
    server.close()
    found = {name: percentile(values, 0.5) for name, values in taken.items()}
    return {
        "memories": count,
        "way": way,
        "recall_ms": found["recall"],
        "recall_cpu_ms": found["recall cpu"],
        "after_store_ms": found["again"],
        "after_store_cpu_ms": found["again cpu"],
        "store_ms": found["store"],
        "store_cpu_ms": found["store cpu"],
        "write_ms": found["write"],
        "store_times_write": found["store"] / found["write"],
    }


def compose(count: int, folder: Path, turns: int) -> dict[str, Any]:
    """The hook of a session's start, in turn with the shell hook."""
    home, project = folder / "home", folder / "project"
    set_vectors(folder, VECTORS)
    every = contenders(os.path.realpath(sys.executable), home)
    env = {"PATH": os.environ["PATH"], "HOME": str(folder), "LTM_HOME": str(home)}
    names = [name for name in (BASELINE, COMPOSED) if name in every]
    taken: dict[str, list[Any]] = {name: [] for name in names}
    silent = 0
    for turn in range(turns + 1):
        for name in names if turn % 2 else reversed(names):
            run = run_once(every[name], env, project)
            if name == COMPOSED:
                silent += not (home / "briefs").is_dir()
            if turn:
                taken[name].append(run)
    row: dict[str, Any] = {"memories": count, "silent": silent}
    for name, runs in taken.items():
        short = "shell" if name == BASELINE else "composed"
        row[f"{short}_ms"] = percentile([run.wall for run in runs], 0.5)
        row[f"{short}_cpu_ms"] = percentile([run.processor for run in runs], 0.5)
    if BASELINE in taken:
        row["times_shell"] = row["composed_ms"] / row["shell_ms"]
        row["times_shell_cpu"] = row["composed_cpu_ms"] / row["shell_cpu_ms"]
    return row


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--counts", default="100,1000,10000,100000")
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--homes", type=Path, help="keep the filled homes in this folder")
    parser.add_argument("--json")
    given = parser.parse_args()
    rows, starts = [], []
    with tempfile.TemporaryDirectory(prefix="ltm-scale-") as top:
        for count in map(int, given.counts.split(",")):
            folder = (given.homes or Path(top)) / str(count)
            fill(count, folder)
            rows += [measure(count, folder, way, given.runs) for way in (WORDS, VECTORS)]
            starts.append(compose(count, folder, given.runs // 2))
    for title, found in (("Over MCP, p50", rows), ("Session start, p50", starts)):
        names = list(found[0])
        table(title, names, [[row[name] for name in names] for row in found])
    keep(given.json, "mcp_scale", {"rows": rows, "starts": starts})


if __name__ == "__main__":
    main()
