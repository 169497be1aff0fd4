"""Where the work stands at the end: what is done, and what is next.

Taken from the agent's own task list, from what its last words name as left to do, or from the user,
who says where to go on. A task that is wholly done leaves nothing to continue. Pure; imports
`core`, the turns of `sessions` and this package.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ltm.capture.candidate import Candidate
from ltm.capture.plainwords import opening, repaired, tidy
from ltm.capture.speech import said
from ltm.core.model import Impact, Source
from ltm.core.redact import redacted
from ltm.core.sentences import shortened
from ltm.sessions.turns import ToolUse

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
_DAY = (
    r"(?:tomorrow|next (?:week|weekend|session|month|monday|tuesday|wednesday|thursday|friday)"
    r"|(?:on )?(?:monday|tuesday|wednesday|thursday|friday)|after the weekend|later this week"
    r"|when (?:we|i|you) (?:continue|come back|resume|are back|go on|pick (?:this|it) up)"
    r"|when (?:i'm|we're) back)"
)
_GO_ON = re.compile(
    rf"\b{_DAY}\s*:\s*\S|\b{_DAY}\b[\s,]+(?:we|i|let's|please|you|comes?|continue|go on|start)\b"
    rf"|\b(?:continue|go on|carry on|pick up|resume|start) (?:with|at|from)\b.*\b{_DAY}\b"
    rf"|\A(?:the )?(?:next|the rest|remaining|what's left|still open)\b.*\b{_DAY}\b"
    r"|\A(?:the )?(?:current )?status\b.{0,30}:|\bso you know where we (?:are|stand)\b.{0,20}:",
    re.IGNORECASE,
)
_COMPLETE = re.compile(
    r"\A\W{0,4}all done\b|\beverything (?:is|was) (?:done|complete|finished|implemented)\b"
    r"|\b(?:is|are) (?:now )?(?:fully |entirely |all )?(?:complete|implemented|finished)"
    r"(?: and|[.!]|$)",
    re.IGNORECASE | re.MULTILINE,
)
_DAYS = ("tomorrow", "tmrw", "next ", "day", "weekend", "week", "when ", "status", "stand", "where")
_MOST = 6


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


def from_user(text: str, source: Source) -> Iterator[Candidate]:
    """Where the user says to go on, another day."""
    for each in said(text):
        low = each.text.lower()
        if not any(word in low for word in _DAYS):
            continue
        plain = repaired(each.text)
        found = _GO_ON.search(plain) if len(plain) < 400 and not plain.endswith("?") else None
        if found and len(plain.split()) > 3:
            yield Candidate(
                kind="progress",
                title=shortened(tidy(plain).rstrip("."), 80),
                text=tidy(plain),
                weight=0.75,
                source=source,
                impact=Impact.MEDIUM,
            )
            return


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


_MARKUP = re.compile(r"\*\*|__|`{3,}")


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
        fleeting=True,
    )


def _plain(text: str) -> str:
    return shortened(" ".join(_MARKUP.sub("", text).split()).rstrip(".;,"), 240)
