"""What the agent states about its work: the cause it found, what is done, and what is next.

Owns which sentence of a report names a cause, reading task lists and what a report lists as left to
do, and when all is said to be done. Pure; imports the turns of `sessions` and this package.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ltm.capture.decide import Candidate
from ltm.capture.message import opening, tidy
from ltm.capture.requests import is_standing_order
from ltm.capture.statements import AGENT, Setting, sentences_of, signs
from ltm.model import Impact, Source
from ltm.redact.redact import redacted
from ltm.sessions.turns import ToolUse
from ltm.text.judge import Judge
from ltm.text.sentences import shortened

NAMED, EXPLAINED = 0.1, 0.004
"""How much a sentence is worth at least to be a cause: anywhere, and between failure and change."""
_SENTENCES = 20
"""Sentences of a report in which a cause is looked for."""
_LEFT = (
    r"(?:next(?: steps?| up)?|remaining(?: work| tasks?| items?| steps?)?|still (?:to do|open"
    r"|missing"
    r"|left|pending)|to[- ]?dos?(?: next)?|what(?:'s| is) (?:left|next|missing|still open)"
    r"|not (?:yet )?"
    r"(?:done|finished)(?: yet)?|left to do|(?:still )?open(?: points?| items?| tasks?)?"
    r"|outstanding|pending"
    r"|follow[- ]?ups?)"
)
_HEADING = re.compile(rf"(?:\A|[.!]\s)\W*{_LEFT}\W*\Z", re.IGNORECASE)
_INLINE = re.compile(
    rf"(?:^|[.!;]\s+)\W{{0,6}}{_LEFT}\s*:\s+(?P<what>\S.{{8,400}})"
    r"|\b(?:the )?(?:next step|next up|what remains|what is left|remaining work) is\s+"
    r"(?P<that>\S.{8,300})",
    re.IGNORECASE,
)
_BULLET = re.compile(r"^\s*(?:[-*+•]|\d{1,2}[.)])\s+(?:\[ \]\s+)?(?P<text>\S.*)$")
_OFFER = re.compile(
    r"\b(?:let me know|would you like|do you want|if you(?:'d| would)? like|want me to|shall i"
    r"|should i|optional|you (?:can|could|may|might)|consider)\b|\?\s*\Z",
    re.IGNORECASE,
)
_COMPLETE = re.compile(
    r"\A\W{0,4}all done\b|\beverything (?:is|was) (?:done|complete|finished|implemented)\b"
    r"|\b(?:is|are) (?:now )?(?:fully |entirely |all )?(?:complete|implemented|finished)"
    r"(?: and|[.!]|$)",
    re.IGNORECASE | re.MULTILINE,
)
_MOST_STEPS = 6
_MARKUP = re.compile(r"\*\*|__|`{3,}")


def cause_in(text: str, model: Judge, least: float = NAMED) -> str:
    """The sentence of a report that most likely says what was wrong, or nothing."""
    setting = Setting(AGENT, worked=True, failed=True)
    spoken = sentences_of(text, setting)[:_SENTENCES]
    best, found = least, ""
    for place, each in enumerate(spoken):
        worth = model.worth(AGENT, each.text, signs(spoken, place, setting))
        is_statement = not each.text.rstrip().endswith(("?", ":"))
        if worth >= best and is_statement and not is_standing_order(each.text):
            best, found = worth, tidy(each.text)
    return found


def from_words(text: str, source: Source) -> Iterator[Candidate]:
    """The next steps the agent names in its last words on a task."""
    steps: list[str] = []
    listing = False
    for line in text.split("\n"):
        if _HEADING.search(line[-100:]):
            listing = True
            continue
        bullet = _BULLET.match(line)
        if listing and bullet:
            steps.append(_plain(bullet["text"]))
        elif listing and line.strip():
            listing = not steps and line.rstrip().endswith(":")
    if not steps:
        for paragraph in text.split("\n"):
            found = _INLINE.search(_MARKUP.sub("", paragraph[:1_000]))
            if found:
                steps.append(_plain(found["what"] or found["that"]))
    steps = [step for step in steps if step and not _OFFER.search(step)]
    if steps:
        yield _candidate((), steps, source)


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
    text = f"Next: {'; '.join(left[:_MOST_STEPS])}."
    if done:
        text = f"Done: {'; '.join(done[-_MOST_STEPS:])}.\n\n{text}"
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
