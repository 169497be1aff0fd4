"""What the plugin adds to a session of the real client: `python -m benchmarks.session`.

A scripted `claude -p` session with three tool calls, against a model that answers from a script on
this machine, without our plugin, with it, and with an empty one, in turn. The empty one has a
server that does nothing but list the same tools: what that costs is the client's. The client is the
one of the tests (`python -m tests.e2e.client.install`). What differs in wall time is what a person
waits for more; processor time is that of the client and of all that it waited for. The first
session of a home is not counted, and what it installs in the background is waited for
(`benchmarks.first_session` measures that one).
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.beside.__main__ import FLOOR_PROGRAM
from benchmarks.first_session import settled
from benchmarks.report import keep, percentile, table
from ltm.mcp.protocol import result
from tests.e2e.client import Harness, use
from tests.e2e.client.binary import ClientMissing, find, labels
from tests.e2e.product import ship

GOAL = 1.15
"""How many times as long a session may take with the plugin."""

ALONE, PLUGIN, EMPTY = "without", "with the plugin", "with an empty one"


def one(harness: Harness) -> tuple[float, float]:
    """Seconds of wall and processor time of one session."""
    used, began = _processor(), time.perf_counter()
    calls = [use("Bash", command=f"echo {number}", description="say") for number in range(3)]
    session = harness.print_session("say three numbers", [*calls, "Done."])
    taken = time.perf_counter() - began
    assert session.rc == 0, session.stderr
    return taken, _processor() - used


def _processor() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def empty(folder: Path) -> Path:
    """A plugin whose server lists our tools and does nothing."""
    (folder / ".claude-plugin").mkdir(parents=True)
    (folder / ".claude-plugin" / "plugin.json").write_text('{"name": "empty"}')
    (folder / "tools.json").write_text(json.dumps(result("tools/list", {}, "")["tools"]))
    (folder / "server.py").write_text(FLOOR_PROGRAM)
    files = [f"${{CLAUDE_PLUGIN_ROOT}}/{name}" for name in ("server.py", "tools.json")]
    command = {"command": os.path.realpath(sys.executable), "args": ["-I", "-S", *files]}
    servers = {"mcpServers": {"empty": {**command, "alwaysLoad": True}}}
    (folder / ".mcp.json").write_text(json.dumps(servers))
    return folder


def measure(label: str, turns: int, top: Path) -> dict[str, list[tuple[float, float]]]:
    """The sessions of both kinds on one version of the client, in turn; the first turn warms."""
    client = find(label, os.environ)
    # Our own Python first: programs that choose among several for each call are slow to start.
    python = os.path.dirname(os.path.realpath(sys.executable))
    environment = {"PATH": f"{python}{os.pathsep}{os.environ['PATH']}"}
    harnesses = {
        name: Harness(client, top / name.replace(" ", "-"), env=environment, spy=False)
        for name in (ALONE, PLUGIN, EMPTY)
    }
    harnesses[EMPTY].load(empty(top / "empty"), tapped=False)
    harnesses[PLUGIN].load(ship(top / "shipped") / "src", tapped=False)
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in harnesses}
    try:
        for turn in range(turns + 1):
            order = list(harnesses.items())
            for name, harness in order if turn % 2 else reversed(order):
                found = one(harness)
                if turn:
                    taken[name].append(found)
            if not turn:
                data = harnesses[PLUGIN].home / ".claude" / "plugins" / "data"
                settled(data / "ltm-inline")
    finally:
        for harness in harnesses.values():
            harness.close()
    return taken


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=7, help="sessions of each kind (default 7)")
    parser.add_argument("--json")
    given = parser.parse_args()
    rows, kept = [], {}
    for label in labels(os.environ):
        with tempfile.TemporaryDirectory(prefix="ltm-session-") as top:
            try:
                taken = measure(label, given.turns, Path(top))
            except ClientMissing as missing:
                print(f"{label}: skipped, {missing}")
                continue
        wall = {name: [wall for wall, _ in each] for name, each in taken.items()}
        used = {name: [used for _, used in each] for name, each in taken.items()}
        row = {"without_s": percentile(wall[ALONE], 0.5), "with_s": percentile(wall[PLUGIN], 0.5)}
        for name, before in ((PLUGIN, ""), (EMPTY, "empty_")):
            ratios = [more / less for less, more in zip(wall[ALONE], wall[name], strict=True)]
            row[f"{before}times"] = percentile(ratios, 0.5)
            row[f"{before}processor_times"] = percentile(used[name], 0.5) / percentile(
                used[ALONE], 0.5
            )
        kept[label] = {**row, "wall": wall, "processor": used}
        rows.append([label, *row.values(), "yes" if row["times"] <= GOAL else "no"])
    names = ["client", "without s", "with s", "times", "processor times"]
    names += ["empty: times", "empty: processor times", f"<= {GOAL}"]
    table("Sessions of the real client, medians", names, rows)
    keep(given.json, "session", kept)


if __name__ == "__main__":
    main()
