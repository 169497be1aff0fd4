"""What a session may have taught, before anybody decided about it.

Owns the shape all extractors share and how it becomes a memory. Pure; imports `core`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime

from ltm.core.infer import auto_tags, infer_impact, summary_of, title_of
from ltm.core.model import Impact, Memory, Scope, Source, new_id, utc
from ltm.core.sentences import shortened

_TITLE = 80
_FIRST_PERSON = tuple(
    (re.compile(pattern), begins)
    for pattern, begins in (
        (r"I(?:'m| am) (?=\S)", "The user is"),
        (r"I(?:'d| would) (?:much )?rather (?:have |see |keep )?(?=\S)", "Rather"),
        (r"I(?:'d| would| will|'ll) (?=\S)", "Would"),
        (r"I(?:'ve| have) (?=\w+(?:ed|en)\b)", ""),
        (r"I (?=\S)", ""),
    )
)


@dataclass(frozen=True, slots=True)
class Candidate:
    """One thing worth considering, in plain words, with where it was said."""

    kind: str
    text: str
    weight: float
    """How sure we are that it is worth keeping, 0 to 1: the surest are kept when there are many."""
    source: Source = field(default_factory=Source)
    title: str = ""
    impact: Impact | None = None
    scope: Scope = Scope.PROJECT
    reason: str = ""
    state: str = ""
    replaces: str = ""
    """The text of the memory it says it replaces."""
    changed: bool = False
    """Whether a change was announced right before it was said."""
    tags: tuple[str, ...] = ()
    at: str = ""
    """When it was said, as the transcript has it."""


def as_memory(candidate: Candidate, now: datetime, difficulty: float = 0.0) -> Memory:
    """The memory a candidate would be, learned in a session this hard.

    It is as old as what was said, so that what comes from an old transcript is not taken for new.
    """
    at = _moment(candidate.at, now)
    return Memory(
        id=new_id(at),
        kind=candidate.kind,
        title=_impersonal(_whole(candidate.title or title_of(candidate.text))),
        summary=summary_of(candidate.text),
        content=candidate.text,
        created=at,
        updated=now,
        confirmed=at,
        scope=candidate.scope,
        tags=candidate.tags or auto_tags(f"{candidate.title} {candidate.text}"),
        impact=candidate.impact or infer_impact(candidate.text),
        difficulty=difficulty,
        reason=candidate.reason,
        state=candidate.state,
        source=candidate.source,
    )


def _whole(title: str) -> str:
    """A title without a code mark whose other half was cut off."""
    if title.count("`") % 2 == 0:
        return title
    head, _, tail = title.rpartition("`")
    return head + tail


def _impersonal(title: str) -> str:
    """A title that does not begin with who says it: in a list nobody knows who "I" is."""
    for pattern, begins in _FIRST_PERSON:
        found = pattern.match(title)
        if found:
            rest = title[found.end() :]
            whole = f"{begins} {rest}" if begins else rest[0].upper() + rest[1:]
            return shortened(whole, _TITLE)
    return title


def _moment(text: str, now: datetime) -> datetime:
    try:
        return min(utc(text).replace(microsecond=0), now)
    except ValueError:
        return now
