"""What the drain of one session costs: how many modules it calls, and what it opens how often."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.worker.test_drain import Desk

_DRAIN = """
import collections, json, os, sys
import ltm.worker.drain as worker
import ltm.history.ingest, ltm.notes.session_notes, ltm.worker.learning  # else counted as called
from ltm.config import config

source = os.path.dirname(os.path.dirname(worker.__file__)) + os.sep
modules, calls, opened = set(), collections.Counter(), collections.Counter()

def note(event, args):
    if event == "sqlite3.connect":
        opened[str(args[0]).removeprefix("file:").partition("?")[0]] += 1
    elif event == "open" and str(args[0]).endswith((".jsonl", "config.toml")):
        opened[str(args[0])] += 1

def count(frame, event, arg):
    code = frame.f_code
    if event == "call" and code.co_filename.startswith(source) and code.co_name != "<module>":
        modules.add(code.co_filename)
        calls[code] += 1

sys.addaudithook(note)
sys.setprofile(count)
done = worker.drain(sys.argv[1], settle=0)
sys.setprofile(None)
print(json.dumps({
    "events": done.events, "errors": done.errors, "modules": len(modules),
    "loads": calls[config.load.__code__], "opened": opened,
}))
"""

EVENTS = ("SessionStart", "UserPromptSubmit", "Stop", "SessionEnd")


def play(desk: Desk) -> None:
    """One session of eight lines."""
    words, cwd = desk.transcript("s1"), str(desk.hooks.project)
    words.user("From now on always use pnpm instead of npm in this repository.", cwd=cwd)
    words.says("I will use pnpm from now on.", cwd=cwd)
    words.calls("Bash", "t1", command="make test")
    words.result("error: no such target", "t1", error=True)
    words.calls("Bash", "t2", command="make check")
    words.result("ok", "t2", error=False)
    words.user("Please remember that the staging database is wiped every night.", cwd=cwd)
    words.says("Noted.", cwd=cwd)


def cost(desk: Desk) -> dict[str, Any]:
    """What a drain of all that waits costs, in a process of its own."""
    command = [sys.executable, "-c", _DRAIN, desk.home]
    done = subprocess.run(command, env=desk.environ, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("config", ["", '[llm]\nbackend = "claude"\n'], ids=["plain", "a model"])
@pytest.mark.parametrize("at_once", [True, False], ids=["all at once", "event by event"])
def test_a_drain_opens_everything_once(tmp_path: Path, at_once: bool, config: str) -> None:
    desk = Desk(tmp_path)
    desk.hooks.home.mkdir()
    (desk.hooks.home / "config.toml").write_text(config)
    play(desk)
    costs = []
    for event in EVENTS:
        desk.tell(event)
        if not at_once or event == EVENTS[-1]:
            costs.append(cost(desk))
    names: Counter[str] = Counter()
    for each in costs:
        assert each["errors"] == 0
        assert each["modules"] <= 106  # three are of vectors: what numpy is for is apart
        assert each["loads"] == 1
        # Vectors are first looked at without numpy, which most drains need not load at all.
        most = Counter({path: 1 + path.endswith("vectors.db") for path in each["opened"]})
        assert Counter(each["opened"]) <= most
        names.update(Path(path).name for path in each["opened"])
    assert sum(each["events"] for each in costs) == len(EVENTS)
    assert {"s1.jsonl", "config.toml", "state.db", "index.db", "sessions.db"} <= names.keys()
    assert "pnpm" in desk.hooks.ltm("list").stdout
