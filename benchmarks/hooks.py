"""What our hooks cost a session, beside the usual shell hook and a bare `node`.

All take turns in the same run, each a process of its own with the client's message on stdin, so
that the machine's mood is the same for all. Wall time is what a session waits; processor time does
not depend on who else is at work. Run it with `python -m benchmarks.hooks`; `--json FILE` keeps the
figures. `jq`, `curl` and `node` are left out where they are not installed.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.corpus import memories
from benchmarks.report import keep, percentile, table
from ltm.clients.clients import hook_entries, new_launcher
from ltm.clients.settings import carry_out
from ltm.clients.table import CLAUDE_CODE
from ltm.config.config import load
from ltm.hook import main as hook
from ltm.model import Filter
from ltm.project.layout import places
from ltm.store.open import open_files
from tests.figures import worst

MEMORIES = 1_000
BASELINE = "bash + jq + curl"
APPEND, START = "ltm-hook Stop", "ltm-hook SessionStart, text ready"
GOALS = {APPEND: 0.6, START: 1.5}
"""How many times as long as the shell hook ours may take."""
MOST = 150
"""Milliseconds that 99 of 100 hooks stay below when all is well (reliability R12)."""

# What the shell hooks of other memory tools do: pick the event, post the message, ignore failure.
SHELL = (
    'message=$(cat); event=$(printf %s "$message" | jq -r .hook_event_name);'
    ' printf %s "$message" | curl -s -m 2 -X POST -H "Content-Type: application/json" -d @-'
    ' "http://127.0.0.1:9/hook/$event" >/dev/null || true'
)


@dataclass(frozen=True)
class Contender:
    """A command, the message it gets, and what is done before each run."""

    command: list[str]
    message: dict[str, str]
    before: Callable[[], None] = lambda: None


@dataclass(frozen=True)
class Run:
    """Milliseconds of one run."""

    wall: float
    processor: float


def run_once(contender: Contender, env: dict[str, str], folder: Path) -> Run:
    """Start a contender, give it its message, and wait for its end."""
    contender.before()
    data = json.dumps({**contender.message, "cwd": str(folder)}).encode()
    began = time.perf_counter()
    process = subprocess.Popen(
        contender.command,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=env,
        cwd=folder,
    )
    assert process.stdin
    try:
        process.stdin.write(data)
        process.stdin.close()
    except BrokenPipeError:
        pass  # `node -e 0` may end without reading
    _, status, used = os.wait4(process.pid, 0)
    wall = (time.perf_counter() - began) * 1000
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, contender.command
    return Run(wall, (used.ru_utime + used.ru_stime) * 1000)


def contenders(python: str, home: Path) -> dict[str, Contender]:
    """Everybody who takes part on this machine."""
    ours = [python, "-I", "-S", str(Path(hook.__file__))]
    session = {"session_id": "benchmark", "transcript_path": str(home / "none.jsonl")}
    stop = {**session, "hook_event_name": "Stop"}
    start = {**session, "hook_event_name": "SessionStart", "source": "startup"}
    note = home / "runtime.json"
    stand_in = json.dumps({"python": shutil.which("true")})

    def forget() -> None:
        shutil.rmtree(home / "briefs", ignore_errors=True)

    def no_drain() -> None:
        note.unlink(missing_ok=True)
        shutil.rmtree(home / "spool", ignore_errors=True)

    def drain() -> None:
        no_drain()
        note.write_text(stand_in)

    def anew() -> None:
        no_drain()
        forget()

    found = {
        "python3 -I -S, nothing else": Contender([python, "-I", "-S", "-c", "0"], stop),
        APPEND: Contender(ours, stop, no_drain),
        f"{APPEND}, starting a drain": Contender(ours, stop, drain),
        "ltm-hook SessionStart, composed anew": Contender(ours, start, anew),
        START: Contender(ours, start, no_drain),
        f"{APPEND}, as ltm setup enters it": Contender(entered(home), stop, no_drain),
    }
    if all(map(shutil.which, ("bash", "jq", "curl"))):
        found[BASELINE] = Contender(["bash", "-c", SHELL], stop)
    if shutil.which("node"):
        found["node -e 0"] = Contender(["node", "-e", "0"], stop)
    return found


def entered(home: Path) -> list[str]:
    """How a client runs the hook that `ltm setup` enters: a shell, the launcher, Python."""
    launcher = new_launcher(str(home))
    if launcher:
        carry_out(launcher, str(home))
    entry = hook_entries(CLAUDE_CODE, ["SessionStart"], str(home), shared=False)[0]
    return ["sh", "-c", entry.value["hooks"][0]["command"]]


def fill(home: Path, folder: Path) -> None:
    """Keep the memories that a session is told of."""
    found = places(str(folder), environ={"LTM_HOME": str(home)})
    store = open_files(found, load(found.home, found.shared))
    for memory in memories(MEMORIES):
        store.create(memory)
    assert store.list(Filter()).total == MEMORIES
    store.close()


def measure(python: str, turns: int) -> dict[str, list[Run]]:
    """The runs of all contenders, taking turns; the first turn only warms the disk."""
    with tempfile.TemporaryDirectory(prefix="ltm-hooks-") as top:
        home, folder = Path(top, "home"), Path(top, "project")
        folder.mkdir()
        fill(home, folder)
        env = {"PATH": os.environ["PATH"], "HOME": top, "LTM_HOME": str(home), "TMPDIR": top}
        all_of_them = contenders(python, home)
        taken: dict[str, list[Run]] = {name: [] for name in all_of_them}
        for turn in range(turns + 1):
            order = list(all_of_them.items())
            for name, contender in order if turn % 2 else reversed(order):
                run = run_once(contender, env, folder)
                if turn:
                    taken[name].append(run)
                if name.startswith("ltm-hook SessionStart"):
                    assert (home / "briefs").is_dir()
    return taken


def figures(taken: dict[str, list[Run]]) -> dict[str, dict[str, Any]]:
    """The figures of each, with its share of the shell hook's."""
    found: dict[str, dict[str, Any]] = {}
    for name, runs in taken.items():
        wall = [run.wall for run in runs]
        found[name] = {
            "wall_p50": percentile(wall, 0.5),
            "wall_p90": percentile(wall, 0.9),
            "wall_p99": percentile(wall, 0.99),
            "processor_p50": percentile([run.processor for run in runs], 0.5),
        }
    if BASELINE in found:
        base = found[BASELINE]
        for row in found.values():
            row["of_shell"] = row["wall_p50"] / base["wall_p50"]
            row["of_shell_processor"] = row["processor_p50"] / base["processor_p50"]
    for name, goal in GOALS.items():
        if "of_shell" in found[name]:
            found[name] |= {"goal": goal, "met": found[name]["of_shell"] <= goal}
    return found


def main() -> None:
    """Measure, print a table, and keep the figures if asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=30, help="runs of each (default 30)")
    parser.add_argument("--python", default=os.path.realpath(sys.executable), help="the hooks' own")
    parser.add_argument("--json", metavar="FILE", help="write the figures to this file too")
    given = parser.parse_args()
    found = figures(measure(given.python, max(1, given.turns)))
    table(
        f"Hooks, with {MEMORIES:,} memories (milliseconds; hooks per tool call by default: 0)",
        ("", "p50", "p90", "processor", "× shell hook", "× processor", "goal"),
        [
            (
                name,
                row["wall_p50"],
                row["wall_p90"],
                row["processor_p50"],
                row.get("of_shell", "-"),
                row.get("of_shell_processor", "-"),
                f"{row['goal']}: {'met' if row['met'] else 'missed'}" if "goal" in row else "",
            )
            for name, row in found.items()
        ],
    )
    keep(given.json, "hooks", {"memories": MEMORIES, "hooks_per_tool_call": 0, "rows": found})
    slowest = max(found[name]["wall_p99"] for name in (APPEND, START))
    worst("R12", healthy_p99_ms=round(slowest, 1))
    sys.exit(slowest > MOST)


if __name__ == "__main__":
    main()
