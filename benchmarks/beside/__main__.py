"""LTM beside other memory servers: `python -m benchmarks.beside`.

One command: the peers are installed from npm and PyPI into a folder (`--folder` keeps it for the
next run), then all servers take turns, so that the machine's mood is the same for all. Measured are
the wall time from the start of a process to the answers of `initialize` and of `tools/list`, the
memory it holds when it has been idle, and, with so many texts kept, how long it takes to keep one
more and to find some. What does not install, or does not answer without a download, is named with
the reason. The floor is a loop over standard input that gives the same list of tools from a string.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import queue
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from benchmarks.beside.peers import PEERS, Peer, Skipped, Tool, install
from benchmarks.corpus import memories, questions
from benchmarks.report import keep, percentile, table
from ltm.mcp.protocol import result

FLOOR, OURS, PLUGIN = "floor", "ltm mcp", "ltm, plugin"

TIMES_FLOOR = 3.0
"""How many times as long as the floor we may take until the tools are listed."""
MOST_MB = 30.0
"""What we may hold when idle."""

ANSWER = 120.0
"""Seconds a server has for one answer."""
FILL = 300.0
"""Seconds a server has to take in as many texts as a size asks for."""

FLOOR_PROGRAM = """
import json, sys
tools = json.load(open(sys.argv[1]))
for line in sys.stdin:
    asked = json.loads(line)
    if asked.get("method") == "initialize":
        told = {"protocolVersion": asked["params"]["protocolVersion"],
                "capabilities": {"tools": {}}, "serverInfo": {"name": "floor", "version": "1"}}
    elif asked.get("method") == "tools/list":
        told = {"tools": tools}
    else:
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": told}), flush=True)
"""

SOURCE = Path(__file__).parents[2] / "src"


class Connection:
    """A server that was started, spoken to as a client does."""

    def __init__(self, command: list[str], home: Path) -> None:
        nowhere = "http://127.0.0.1:9"
        # Our own Python first: programs that choose among several for each call are slow to start.
        python = os.path.dirname(os.path.realpath(sys.executable))
        environment = {
            "PATH": os.pathsep.join([python, os.environ.get("PATH", os.defpath)]),
            **{"HOME": str(home), "LTM_HOME": str(home / ".ltm")},
            **dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), nowhere),
            **{"NO_PROXY": "127.0.0.1,localhost", "HF_HUB_OFFLINE": "1"},
        }
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the connection
        self.began = time.perf_counter()
        self.process = subprocess.Popen(
            command,
            cwd=home / "project",
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
        )
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        threading.Thread(target=self._read, daemon=True).start()
        self._number = 0

    def _read(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self._lines.put(line)
        self._lines.put(b"")

    def ask(self, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        """The result of a request."""
        self._number += 1
        self._say({"id": self._number, "method": method, "params": params or {}})
        end = time.monotonic() + ANSWER
        while True:
            try:
                line = self._lines.get(timeout=max(0.0, end - time.monotonic()))
            except queue.Empty:
                raise Skipped(f"{method} was not answered within {ANSWER:.0f} s") from None
            if not line:
                raise Skipped(f"it ended at {method}: {self._last_words()}")
            with contextlib.suppress(ValueError):
                message = json.loads(line)
                if message.get("id") == self._number and "method" not in message:
                    if "error" in message:
                        raise Skipped(f"{method}: {message['error'].get('message', '')[:100]}")
                    return dict(message["result"])

    def call(self, tool: Tool, text: str) -> str:
        """What a tool answers."""
        answer = self.ask("tools/call", {"name": tool.name, "arguments": tool.arguments(text)})
        told = " ".join(str(part.get("text", "")) for part in answer.get("content", ()))
        if answer.get("isError"):
            raise Skipped(f"{tool.name}: {' '.join(told.split())[:100]}")
        return told

    def start(self) -> tuple[float, float]:
        """Shake hands; milliseconds to the answer of `initialize` and to the list of tools."""
        client = {"name": "benchmark", "version": "1"}
        params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}
        self.ask("initialize", params)
        first = time.perf_counter()
        self._say({"method": "notifications/initialized"})
        self.ask("tools/list")
        return (first - self.began) * 1000, (time.perf_counter() - self.began) * 1000

    def resident_mb(self) -> float:
        """What the process and those it started hold."""
        found, left = 0.0, [self.process.pid]
        while left:
            pid = left.pop()
            with contextlib.suppress(OSError):
                left += map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())
                status = Path(f"/proc/{pid}/status").read_text()
                line = next(each for each in status.splitlines() if each.startswith("VmRSS"))
                found += int(line.split()[1]) / 1024
        return found

    def close(self) -> None:
        """End it as a client does, and harder if it does not listen."""
        assert self.process.stdin
        with contextlib.suppress(OSError):
            self.process.stdin.close()
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self._log.close()

    def _say(self, message: dict[str, Any]) -> None:
        assert self.process.stdin
        try:
            self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
            self.process.stdin.flush()
        except OSError:
            raise Skipped(f"it ended: {self._last_words()}") from None

    def _last_words(self) -> str:
        self._log.seek(0)
        lines = self._log.read().decode("utf-8", "replace").split("\n")
        return next((line.strip()[:100] for line in reversed(lines) if line.strip()), "no word")


def ours() -> list[Peer]:
    """The two ways in which we are started."""
    store, recall = (
        Tool("store_memory", lambda text: {"content": text}),
        Tool("recall", lambda text: {"query": text}),
    )
    return [
        Peer(OURS, "", "", (sys.executable, "-m", "ltm", "mcp"), store, recall),
        Peer(PLUGIN, "", "", (str(SOURCE / "run"), "mcp"), store, recall),
    ]


def texts(count: int) -> list[str]:
    """Texts to keep, each with a number of its own."""
    return [f"{memory.content} No. {place}." for place, memory in enumerate(memories(count))]


class Run:
    """All servers, and what was measured of each."""

    def __init__(self, commands: dict[str, list[str]], top: Path) -> None:
        self._commands = commands
        self._top = top
        self.skipped: dict[str, str] = {}
        self.rows: dict[str, dict[str, Any]] = {name: {} for name in commands}

    def _home(self, name: str, purpose: str) -> Path:
        home = self._top / purpose / name.replace(" ", "-").replace(",", "")
        (home / "project").mkdir(parents=True, exist_ok=True)
        return home

    def _fail(self, name: str, error: Skipped) -> None:
        self.skipped[name] = str(error)

    def starts(self, turns: int, idle: float) -> None:
        """Start every server so often, in turn; the first turn only warms the disk."""
        taken: dict[str, list[tuple[float, float]]] = {}
        for turn in range(turns + 1):
            names = [name for name in self._commands if name not in self.skipped]
            for name in names if turn % 2 else reversed(names):
                connection = Connection(self._commands[name], self._home(name, "start"))
                try:
                    times = connection.start()
                    if turn:
                        taken.setdefault(name, []).append(times)
                    if turn == turns:
                        time.sleep(idle)
                        self.rows[name]["rss_mb"] = connection.resident_mb()
                except Skipped as error:
                    self._fail(name, error)
                finally:
                    connection.close()
        for name, both in taken.items():
            self.rows[name]["initialize_ms"] = percentile([first for first, _ in both], 0.5)
            self.rows[name]["tools_list_ms"] = percentile([last for _, last in both], 0.5)

    def work(self, peers: list[Peer], sizes: list[int], runs: int) -> None:
        """Keep texts up to each size, and at each keep and find some more, in turn."""
        peers = [peer for peer in peers if peer.store and peer.name not in self.skipped]
        opened = {
            peer.name: Connection(self._commands[peer.name], self._home(peer.name, "work"))
            for peer in peers
            if peer.name in self._commands
        }
        peers = [peer for peer in peers if peer.name in opened]
        pool, held = texts(max(sizes) + runs * len(sizes)), 0
        try:
            self._each(peers, lambda peer: opened[peer.name].start())
            for size in sizes:
                more = pool[held:size]
                held = size + runs
                self._each(peers, lambda peer, more=more: _fill(peer, opened[peer.name], more))
                self._ask(peers, opened, size, pool[size:held])
        finally:
            for connection in opened.values():
                connection.close()

    def _each(self, peers: list[Peer], work: Any) -> None:
        for peer in list(peers):
            try:
                work(peer)
            except Skipped as error:
                peers.remove(peer)
                self._fail(peer.name, error)

    def _ask(
        self, peers: list[Peer], opened: dict[str, Connection], size: int, more: list[str]
    ) -> None:
        taken: dict[str, dict[str, list[float]]] = {peer.name: {} for peer in peers}

        def turn(peer: Peer, text: str, question: str) -> None:
            for name, tool, said in (
                ("store", peer.store, text),
                ("recall", peer.recall, question),
            ):
                assert tool
                began = time.perf_counter()
                opened[peer.name].call(tool, said)
                taken[peer.name].setdefault(name, []).append((time.perf_counter() - began) * 1000)

        asked = questions(len(more), random.Random(size).randrange(1_000))
        for text, question in zip(more, asked, strict=True):
            self._each(peers, lambda peer, text=text, question=question: turn(peer, text, question))
        for peer in peers:
            for name, times in taken[peer.name].items():
                self.rows[peer.name][f"{name}_{size}_ms"] = percentile(times, 0.5)


def _fill(peer: Peer, connection: Connection, more: list[str]) -> None:
    assert peer.store
    end = time.monotonic() + FILL
    for number, text in enumerate(more):
        connection.call(peer.store, text)
        if time.monotonic() > end:
            raise Skipped(f"took over {FILL:.0f} s to keep {number + 1:,} more texts")


def main() -> None:
    """Install, measure, print, and keep the figures if asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=9, help="starts of each server (default 9)")
    parser.add_argument("--sizes", default="100,1000", help="texts kept (default 100,1000)")
    parser.add_argument("--runs", type=int, default=20, help="questions at each size (default 20)")
    parser.add_argument("--idle", type=float, default=3.0, help="seconds until memory is measured")
    parser.add_argument("--folder", type=Path, help="where peers are installed, and stay")
    parser.add_argument("--only", default="", help="names of peers, separated by commas")
    parser.add_argument("--json", metavar="FILE", help="write the figures to this file too")
    given = parser.parse_args()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package has its byte code
    with tempfile.TemporaryDirectory(prefix="ltm-beside-") as top:
        installed = given.folder or Path(top, "peers")
        wanted = [name for name in given.only.split(",") if name]
        peers = [peer for peer in PEERS if not wanted or peer.name in wanted]
        tools = Path(top, "tools.json")
        tools.write_text(json.dumps(result("tools/list", {}, "")["tools"]))
        floor = Path(top, "floor.py")
        floor.write_text(FLOOR_PROGRAM)
        python = os.path.realpath(sys.executable)
        commands = {FLOOR: [python, "-I", "-S", str(floor), str(tools)]}
        commands |= {each.name: list(each.command) for each in ours()}
        missing: dict[str, str] = {}
        for peer in peers:
            try:
                commands[peer.name] = install(peer, installed.resolve())
            except Skipped as error:
                missing[peer.name] = str(error)
        run = Run(commands, Path(top))
        run.starts(max(1, given.turns), given.idle)
        sizes = sorted(int(each) for each in given.sizes.split(",") if each)
        if sizes:
            run.work([*ours()[:1], *peers], sizes, given.runs)
        report(run, missing, sizes, given.json)
        shutil.rmtree(Path(top, "work"), ignore_errors=True)


def report(run: Run, missing: dict[str, str], sizes: list[int], path: str | None) -> None:
    """Print the tables, and say whether the bars are met."""
    floor = run.rows[FLOOR]["tools_list_ms"]
    columns = ["initialize_ms", "tools_list_ms", "rss_mb"]
    columns += [f"{name}_{size}_ms" for name in ("store", "recall") for size in sizes]
    rows = [
        [name, *[row.get(column, "-") for column in columns], row["tools_list_ms"] / floor]
        for name, row in run.rows.items()
        if "tools_list_ms" in row
    ]
    table("Memory servers, medians", ["server", *columns, "× floor"], rows)
    skipped = missing | run.skipped
    if skipped:
        table("Not measured, or not to the end", ["server", "why"], sorted(skipped.items()))
    mine = run.rows[OURS]
    others = [
        row["tools_list_ms"]
        for name, row in run.rows.items()
        if name not in (FLOOR, OURS, PLUGIN) and "tools_list_ms" in row
    ]
    bars = {
        f"tools listed within {TIMES_FLOOR:.0f} times the floor": mine["tools_list_ms"]
        <= TIMES_FLOOR * floor,
        "before every peer": all(mine["tools_list_ms"] < each for each in others),
        f"at most {MOST_MB:.0f} MB when idle": mine["rss_mb"] <= MOST_MB,
    }
    table("Bars", ["bar", "met"], [[name, "yes" if met else "no"] for name, met in bars.items()])
    keep(path, "beside", {"rows": run.rows, "skipped": skipped, "bars": bars})


if __name__ == "__main__":
    main()
