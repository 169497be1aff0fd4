"""What the agent states about its work: the cause it found, what is done, and what is next.

Owns which sentence of a report names a cause, reading a task list, and when all is said to be done.
Pure; imports the turns of `sessions` and this package.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ltm.capture.decide import Candidate
from ltm.capture.message import opening, tidy
from ltm.capture.statements import AGENT, Setting, sentences_of, signs
from ltm.model import Impact, Source
from ltm.redact.redact import redacted
from ltm.sessions.turns import ToolUse
from ltm.text.judge import Judge
from ltm.text.sentences import shortened

_CAUSE = "gotcha"
_SENTENCES = 20
"""Sentences of a report in which a cause is looked for."""
_COMPLETE = re.compile(
    r"\A\W{0,4}all done\b|\beverything (?:is|was) (?:done|complete|finished|implemented)\b"
    r"|\b(?:is|are) (?:now )?(?:fully |entirely |all )?(?:complete|implemented|finished)"
    r"(?: and|[.!]|$)",
    re.IGNORECASE | re.MULTILINE,
)
_MOST_STEPS = 6
_MARKUP = re.compile(r"\*\*|__|`{3,}")


def cause_in(text: str, model: Judge) -> str:
    """The sentence of a report that most likely says what was wrong, or nothing."""
    setting = Setting(AGENT)
    likely, _ = model.tiers[AGENT]
    spoken = sentences_of(text, setting)[:_SENTENCES]
    best, found = likely, ""
    for place, each in enumerate(spoken):
        worth = model.worth(AGENT, each.text, signs(spoken, place, setting))
        if worth >= best and model.best("kind", each.text, (f"@{AGENT}",))[0] == _CAUSE:
            best, found = worth, tidy(each.text)
    return found


def is_complete(text: str) -> bool:
    """Whether the agent says that nothing of the work is left."""
    return bool(_COMPLETE.search(text[:1_000]))


def from_tasks(turn: ToolUse, source: Source) -> Iterator[Candidate]:
    """What a task list says when some of it is done and some is not."""
    todos = turn.input.get("todos")
    if not isinstance(todos, list):
        return
    done: list[str] = []
    left: list[str] = []
    for todo in todos:
        if isinstance(todo, dict) and isinstance(todo.get("content"), str):
            task = _plain(redacted(opening(todo["content"], 1_000)))
            (done if todo.get("status") == "completed" else left).append(task)
    if done and left:
        yield _candidate(done, left, source)


def _candidate(done: Sequence[str], left: Sequence[str], source: Source) -> Candidate:
    text = f"Done: {'; '.join(done[-_MOST_STEPS:])}.\n\nNext: {'; '.join(left[:_MOST_STEPS])}."
    return Candidate(
        kind="progress",
        title=shortened(f"Next: {left[0]}", 80),
        text=text,
        weight=0.7,
        source=source,
        impact=Impact.MEDIUM,
        fleeting=True,
    )


def _plain(text: str) -> str:
    return shortened(" ".join(_MARKUP.sub("", text).split()).rstrip(".;,"), 240)
