"""How fast a session is listened to, once it is read: ordinary ones, and hostile ones.

Written sessions are all talk. In real ones a prompt is followed by dozens of calls with long
outputs, so an ordinary session here is a written one whose calls are made eight times, each with
8 kB more to print: some 65 kB of transcript a prompt.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from benchmarks.capture.script import Script
from benchmarks.capture.writing import Transcript
from ltm.capture.extract import Listener
from ltm.kinds import Kinds
from ltm.sessions.transcript import read
from ltm.sessions.turns import AssistantText, ToolResult, ToolUse, Turn, UserText

_OUTPUT = "[12:00:01] worker 7 took job 4711 from the queue and wrote 12 rows to the table\n" * 100
_AGAIN = 8
_OF_AN_ENTRY = 700
"""Bytes a client writes around each turn."""

HOSTILE = {
    "open tags": "<a>",
    "code marks": "`",
    "quotation marks": '"',
    "blanks": " ",
    "line ends": "\n",
    "dots": "a.",
    "we": "we ",
    "always": "always, ",
    "remember": "remember ",
    "bullets": "- x\n",
    "marks": "!?",
    "characters without blanks": "以后",
    "variables": "A=b ",
    "redirections": "> ",
}


def ordinary(scripts: Iterable[Script], folder: Path) -> float:
    """MB/s of transcript in ordinary sessions."""
    size = 0
    sessions: list[list[Turn]] = []
    for script in scripts:
        path = folder / f"{script.name}.jsonl"
        Transcript(script, path)
        turns = [more for turn in read(str(path)) for more in _at_length(turn)]
        size += path.stat().st_size
        size += (len(_OUTPUT) + _OF_AN_ENTRY) * sum(isinstance(t, ToolResult) for t in turns)
        sessions.append(turns)
    return size / 1e6 / _taken(sessions)


def hostile(length: int = 60_000) -> tuple[float, str]:
    """MB/s of transcript in the worst of the hostile ones, and which that is."""
    worst = (float("inf"), "")
    for name, part in HOSTILE.items():
        for size in (length, 590):  # a document, and the longest that is taken for a sentence
            text = (part * (size // len(part) + 1))[:size]
            turns = _said(text) * max(1, 20_000 // size)
            taken = _taken([turns])
            worst = min(worst, ((4 * size + 6 * _OF_AN_ENTRY) * len(turns) / 6 / 1e6 / taken, name))
    return worst


def _at_length(turn: Turn) -> list[Turn]:
    if isinstance(turn, ToolUse):
        return [replace(turn, id=f"{turn.id}-{number}") for number in range(_AGAIN)]
    if isinstance(turn, ToolResult):
        text = turn.text + _OUTPUT
        return [replace(turn, id=f"{turn.id}-{number}", text=text) for number in range(_AGAIN)]
    return [turn]


def _said(text: str) -> list[Turn]:
    """The same text from everybody."""
    return [
        UserText(text=text),
        AssistantText(text=text),
        UserText(text="ok"),
        ToolUse(id="1", tool="Bash", input={"command": text}),
        ToolResult(id="1", tool="Bash", text=text, failed=True),
        UserText(text="ok"),
    ]


def _taken(sessions: Iterable[list[Turn]]) -> float:
    kinds = Kinds()
    best = float("inf")
    for _ in range(3):
        start = time.perf_counter()
        for turns in sessions:
            listener = Listener("session", kinds)
            listener.hear(turns)
            listener.candidates()
        best = min(best, time.perf_counter() - start)
    return best
