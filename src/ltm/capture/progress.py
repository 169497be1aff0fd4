"""Where the work stands at the end: what is done, and what is next.

Taken from the agent's own task list, or from the list of next steps in its last words. A task that
is wholly done leaves nothing to continue. Pure; imports `core`, the turns of `sessions` and this
package.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ltm.capture.candidate import Candidate
from ltm.core.model import Impact, Source
from ltm.core.sentences import shortened
from ltm.sessions.turns import ToolUse

_NEXT = re.compile(
    r"^\W*(?:next steps?|remaining(?: work| tasks| items)?|still (?:to do|open|missing|left)"
    r"|to-?dos?"
    r"|what(?:'s| is) (?:left|next|missing)|not (?:yet )?done(?: yet)?|left to do"
    r"|outstanding)\W*:?\W*$",
    re.IGNORECASE,
)
_INLINE = re.compile(
    r"\b(?:next step is|next up is|what remains is|remaining work is|still to do(?: is)?:"
    r"|left to do:)\s+"
    r"(?P<what>\S.{8,200}?)(?:\.\s|\.?\Z)",
    re.IGNORECASE,
)
_BULLET = re.compile(r"^\s*(?:[-*+•]|\d{1,2}[.)])\s+(?:\[ \]\s+)?(?P<text>\S.*)$")
_OFFER = re.compile(
    r"\b(?:let me know|would you like|do you want|if you(?:'d| would)? like|want me to|shall i"
    r"|optional"
    r"|you (?:can|could|may|might)|consider)\b",
    re.IGNORECASE,
)
_MOST = 6


def from_words(text: str, source: Source) -> Iterator[Candidate]:
    """The next steps the agent names in its last words on a task."""
    steps: list[str] = []
    listing = False
    for line in text.split("\n"):
        if _NEXT.match(line):
            listing = True
            continue
        bullet = _BULLET.match(line)
        if listing and bullet:
            steps.append(_plain(bullet["text"]))
        elif listing and line.strip():
            listing = False
    if not steps:
        steps = [_plain(found["what"]) for found in _INLINE.finditer(text)]
    steps = [step for step in steps if step and not _OFFER.search(step)]
    if steps:
        yield _candidate((), steps, source)


def from_tasks(turn: ToolUse, source: Source) -> Iterator[Candidate]:
    """What a task list says when some of it is done and some is not."""
    todos = turn.input.get("todos")
    if not isinstance(todos, list):
        return
    done: list[str] = []
    left: list[str] = []
    for todo in todos:
        if isinstance(todo, dict) and isinstance(todo.get("content"), str):
            (done if todo.get("status") == "completed" else left).append(_plain(todo["content"]))
    if done and left:
        yield _candidate(done, left, source)


def _candidate(done: Sequence[str], left: Sequence[str], source: Source) -> Candidate:
    parts = []
    if done:
        parts.append(f"Done: {'; '.join(done[-_MOST:])}.")
    parts.append(f"Next: {'; '.join(left[:_MOST])}.")
    return Candidate(
        kind="progress",
        title=shortened(f"Next: {left[0]}", 80),
        text="\n\n".join(parts),
        weight=0.7,
        source=source,
        impact=Impact.MEDIUM,
    )


def _plain(text: str) -> str:
    return shortened(" ".join(re.sub(r"\*\*|__|`{3,}", "", text).split()).rstrip(".;,"), 160)
