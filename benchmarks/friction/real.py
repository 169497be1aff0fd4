"""The signals of real transcripts, with how many of those that were looked at are right.

`labels.json` holds what somebody found who read the hits in the transcripts: for each a fingerprint
of session, moment and signal, and whether it was right. No word of the transcripts is in it.

What the figures do not say: the working sessions of people that were labelled hold not one
correction, cascade or loop; all of those are from the real client with its user played by a script.
Of the sessions written for capture, 10 of 15 corrections were right at first; "don't" now counts
only for what was just done, because of them.
"""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path
from typing import Any

from benchmarks.capture.script import FRESH, LATER, SCRIPTS, read_all
from benchmarks.capture.writing import Transcript
from benchmarks.report import table
from ltm.friction.analysis import Analysis, analyse, learn
from ltm.friction.ruleset import rules
from ltm.friction.sources import find, group
from ltm.sessions.transcript import read, unpacked
from ltm.sessions.turns import ToolResult, UserText
from ltm.state.corrections import opened

LABELS = Path(__file__).parent / "labels.json"
GOAL = 0.9
_GOALS = "user_correction, interrupt_cascade, tool_loop"
_PARTS = (SCRIPTS, LATER, FRESH)


def fingerprint(session: str, at: str, signal: str) -> str:
    """What a hit is known by, which says nothing about it."""
    return blake2b(f"{session}|{at}|{signal}".encode(), digest_size=6).hexdigest()


def measured(folder: Path) -> dict[str, Any]:
    """Look through all transcripts below a folder, print tables and give the figures back."""
    labels: dict[str, bool] = json.loads(LABELS.read_text(encoding="utf-8"))
    folders = {
        path.parent for ending in ("jsonl", "jsonl.gz") for path in folder.rglob(f"*.{ending}")
    }
    paths = find(str(each) for each in sorted(folders) if "subagents" not in each.name)
    figures: dict[str, Any] = {}
    for name, classic in (("now", False), ("classic", True)):
        found = analyse(group(paths), rules(classic=classic), datetime.now(UTC))
        title = f"Real sessions, rules {name}: {len(found.sessions)} (goal {GOAL}: {_GOALS})"
        figures[name] = _print(title, found, labels)
        if not classic:
            figures["preferences"] = _preferences(found, paths)
    return figures


def measured_written() -> dict[str, Any]:
    """The same for the sessions that were written to measure what capture hears.

    They were not written for friction, so they show how people correct agents without meaning to.
    A hit is known by the words, because moments differ from run to run.
    """
    labels: dict[str, bool] = json.loads(LABELS.read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory(prefix="ltm-friction-") as folder:
        scripts = [script for part in _PARTS for script in read_all(part)]
        for script in scripts:
            Transcript(script, Path(folder) / f"{script.name}.jsonl")
        found = analyse(group(find([folder])), rules(), datetime.now(UTC))
    for scored in found.sessions:
        for signal in scored.heard.signals:
            signal.at = signal.statement
    return _print(f"Written sessions: {len(found.sessions)}", found, labels)


def _print(title: str, found: Analysis, labels: dict[str, bool]) -> dict[str, Any]:
    hits: Counter[str] = Counter()
    looked: Counter[str] = Counter()
    right: Counter[str] = Counter()
    for scored in found.sessions:
        for signal in scored.heard.signals:
            hits[signal.name] += 1
            mark = labels.get(fingerprint(scored.heard.session, signal.at, signal.name))
            if mark is not None:
                looked[signal.name] += 1
                right[signal.name] += mark
    rows: list[list[object]] = []
    figures: dict[str, Any] = {}
    for kind, count in sorted(hits.items()):
        precision = right[kind] / looked[kind] if looked[kind] else None
        shown = "–" if precision is None else f"{precision:.2f}"
        rows.append([kind, count, looked[kind], right[kind], shown])
        figures[kind] = {"hits": count, "looked": looked[kind], "precision": precision}
    table(title, ["signal", "hits", "looked at", "right", "precision"], rows)
    return figures


def _preferences(found: Analysis, paths: list[str]) -> dict[str, int]:
    """How many rules were made, and how many of them no word of a user supports."""
    said: set[str] = set()
    for path in paths:
        with unpacked(path) as plain:
            for turn in read(plain):
                if isinstance(turn, UserText) or (isinstance(turn, ToolResult) and turn.refused):
                    said.add(" ".join(turn.text.split()))
    with tempfile.TemporaryDirectory(prefix="ltm-friction-") as home, opened(home) as ledger:
        learn(ledger, (each.heard for each in found.sessions), found.rules, lambda cwd: "p")
        made = ledger.rules("p", datetime.now(UTC))
    unsupported = [
        rule for rule in made if not any(rule.statement[:200] in words for words in said)
    ]
    figures = {
        "rules": len(made),
        "high": sum(rule.tier == "high" for rule in made),
        "unsupported": len(unsupported),
    }
    table("Preferences", ["rules", "high confidence", "unsupported"], [list(figures.values())])
    return figures
