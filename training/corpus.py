"""The labelled sessions of `corpus/`, and which of their sentences are worth keeping.

Owns reading the files that GUIDE.md describes, the scripts of `benchmarks.capture` as those of one
more author, and the rule by which a sentence belongs to a label: half of its letters do.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.capture.script import FRESH, LATER, Script, read_all
from ltm.capture.message import said, told
from ltm.sessions.turns import AssistantText, ToolResult, ToolUse, Turn, UserText

CORPUS = Path(__file__).with_name("corpus")
SCRIPTS = "scripts"
"""The author of the sessions in `benchmarks/capture`."""
_LETTERS = re.compile(r"[^\W_]+")
_MOSTLY = 0.4
_IMPACTS = {"l": "low", "m": "medium", "h": "high", "c": "critical"}


@dataclass(frozen=True, slots=True)
class Keep:
    """A statement worth keeping."""

    text: str
    kind: str
    impact: str = ""
    scope: str = ""
    core: bool = True
    turn: int = 0

    def covers(self, sentence: str) -> bool:
        """Whether a sentence is part of the statement, or holds it."""
        one, other = letters(sentence), letters(self.text)
        if not one or not other:
            return False
        if other in one:
            return True
        shared = len(one) if one in other else _overlap(one, other)
        return shared >= _MOSTLY * len(one)


@dataclass(slots=True)
class Session:
    """One labelled session."""

    name: str
    author: str
    turns: list[Turn] = field(default_factory=list)
    """The line of a turn is its number."""
    keep: list[Keep] = field(default_factory=list)
    doubtful: list[Keep] = field(default_factory=list)
    """What may be kept or not: neither right nor wrong."""


def sessions() -> list[Session]:
    """All sessions of the authors, then the scripts."""
    paths = sorted(CORPUS.glob("[a-d]?.jsonl"))
    found = [session for path in paths for session in read_sessions(path)]
    scripts = [*read_all(), *read_all(LATER), *read_all(FRESH)]
    return [*found, *(_of_script(each) for each in scripts)]


def read_sessions(path: Path) -> list[Session]:
    """The sessions of one file."""
    return [_session(json.loads(line)) for line in path.read_text("utf-8").splitlines() if line]


def statements() -> Iterator[tuple[str, Keep]]:
    """The statements that were written down alone, each with its author."""
    for path in sorted(CORPUS.glob("a?-remember.jsonl")):
        for line in path.read_text("utf-8").splitlines():
            row = json.loads(line)
            kept = Keep(row["text"], row["kind"], _impact(row["impact"]), row["scope"])
            yield path.name.partition("-")[0], kept


def letters(text: str) -> str:
    """A text by its letters and digits."""
    return "".join(_LETTERS.findall(text.lower()))


def _overlap(one: str, other: str) -> int:
    """How many letters one ends with and the other begins with, either way round."""
    longest = min(len(one), len(other))
    return next(
        (n for n in range(longest, 5, -1) if one.endswith(other[:n]) or other.endswith(one[:n])), 0
    )


def _impact(word: str) -> str:
    return _IMPACTS.get(word, word)


def _session(row: dict) -> Session:  # type: ignore[type-arg]
    session = Session(row["id"], row["author"])
    for number, turn in enumerate(row["turns"]):
        session.turns += _turns(turn, number)
    session.keep = [
        Keep(
            each["text"],
            each["kind"],
            _impact(each["impact"]),
            each["scope"],
            each["core"],
            each["turn"],
        )
        for each in row["keep"]
    ]
    return session


def _turns(turn: dict, line: int) -> Iterable[Turn]:  # type: ignore[type-arg]
    if turn["who"] == "user":
        return [UserText(text=turn["text"], line=line)]
    if turn["who"] == "agent":
        return [AssistantText(text=turn["text"], line=line)]
    return _call(turn["name"], turn["input"], turn["output"], turn["error"], line)


def _call(name: str, given: str, output: str, failed: bool, line: int) -> list[Turn]:
    field = {"Bash": "command"}.get(name, "file_path")
    call = f"call-{line}"
    return [
        ToolUse(id=call, tool=name, input={field: given}, line=line),
        ToolResult(id=call, tool=name, text=output, failed=failed, line=line),
    ]


def _of_script(script: Script) -> Session:
    """A script; its labels say by words which sentences of a step they mean."""
    session = Session(script.name, SCRIPTS)
    for line, step in enumerate(script.steps):
        first = step.text.partition("\n")[0]
        if step.mark == ">":
            session.turns.append(UserText(text=step.text, line=line))
        elif step.mark == "<":
            session.turns.append(AssistantText(text=step.text, line=line))
        elif step.mark in "$@":
            name, _, given = ("Bash", "", step.text) if step.mark == "$" else first.partition(" ")
            session.turns += _call(name, given, "\n".join(step.output), step.failed, line)
        if step.mark not in "<>":
            continue
        sentences = [each.text for each in (said if step.mark == ">" else told)(step.text)]
        for label in step.labels:
            text = " ".join(
                each
                for each in sentences
                if any(word in each.casefold() for words in label.words for word in words)
            )
            kept = Keep(text, label.kinds[0], turn=line)
            (session.keep if label.wanted else session.doubtful).append(kept)
    return session
