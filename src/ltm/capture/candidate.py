"""What a session may have taught, before anybody decided about it.

Owns the shape all extractors share and how it becomes a memory. Pure; imports `core`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from ltm.core.infer import auto_tags, infer_impact
from ltm.core.model import Impact, Memory, Scope, Source, new_id, utc
from ltm.core.sentences import opens_with, short_title, summary_of, title_of


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
    alone: bool = False
    """Whether its message says nothing else, so that it is stated and not quoted."""
    fleeting: bool = False
    """Whether it says where the work stands, so that little is lost by leaving it out."""
    observed: str = ""
    """The part of the text that tells what was run, failed or listened, and is not a claim."""
    done: str = ""
    """What the agent did, as the text has it: a command, a change, the subject of a commit."""
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
        title=_title(candidate),
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


def _title(candidate: Candidate) -> str:
    """A title of its own only where the text does not begin with it, so that others follow it."""
    if candidate.title and not opens_with(candidate.text, candidate.title):
        return short_title(candidate.title)
    return title_of(candidate.text)


def _moment(text: str, now: datetime) -> datetime:
    try:
        return min(utc(text).replace(microsecond=0), now)
    except ValueError:
        return now
