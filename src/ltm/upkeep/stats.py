"""What became of a project's memories: how many came, which are told and used, what they saved."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable
from datetime import date, datetime, timedelta
from typing import Any, NamedTuple

from ltm.inject.session_start import tell
from ltm.model import Filter, Memory, Status, Usage, utc
from ltm.spool.session_text import told
from ltm.state.corrections import ENOUGH, FILE, Effect, opened
from ltm.state.session_log import Session
from ltm.store.project import OpenProject

WEEKS = 12
LATELY = timedelta(days=30)
_SESSIONS = 1_000


class Week(NamedTuple):
    """What happened in a week that begins on a Monday."""

    start: date
    added: int
    sessions: int


class Stats(NamedTuple):
    """The figures of a project."""

    weeks: tuple[Week, ...]
    active: int
    used: int
    """Memories that were found or opened at least once."""
    used_lately: int
    most_used: tuple[tuple[Memory, int], ...]
    """With how often, most often first."""
    shown: int
    """Memories the next session is told."""
    tokens: int
    characters: int
    never_used: tuple[tuple[Memory, int], ...]
    """Told to sessions and never found or opened, with how many sessions, most first."""
    effects: tuple[Effect, ...]
    """How often each rule was needed before it became a memory, and since."""

    @property
    def saved(self) -> int:
        """Corrections that would have been needed, had all gone on as before, and were not."""
        return round(
            sum(
                max(0.0, each.before.rate * each.after.of - each.after.seen)
                for each in self.effects
                if each.after.of >= ENOUGH
            )
        )

    def as_record(self) -> dict[str, Any]:
        """The figures in the fields scripts read."""
        return {
            "weeks": [each._asdict() | {"start": each.start.isoformat()} for each in self.weeks],
            "used": self.used,
            "used_lately": self.used_lately,
            "most_used": [{"id": each.id, "uses": uses} for each, uses in self.most_used],
            "next_session": {
                "memories": self.shown,
                "tokens": self.tokens,
                "characters": self.characters,
            },
            "told_never_used": [
                {"id": each.id, "sessions": count} for each, count in self.never_used
            ],
            "corrections": {
                "rules": len(self.effects),
                "needed_before": _shares(each.before for each in self.effects),
                "needed_since": _shares(each.after for each in self.effects),
                "saved": self.saved,
            },
        }


def stats(project: OpenProject, at: datetime) -> Stats:
    """The figures of a project as they are now."""
    store, places = project.store, project.places
    every = [each.memory for each in store.list(Filter(statuses=tuple(Status))).items]
    active = {each.id: each for each in every if each.status is Status.ACTIVE}
    usage = store.usage(active)
    uses = {name: usage.get(name, Usage()) for name in active}
    sessions = _sessions(project)
    counts = Counter(
        name for each in sessions for name in told(places.home, each.id) if name in active
    )
    never = [(active[name], count) for name, count in counts.most_common() if not uses[name].uses]
    most = sorted(uses.items(), key=lambda each: each[1].uses, reverse=True)
    injection = tell(store, places, project.config, at)
    return Stats(
        weeks=_weeks(every, sessions, at.date()),
        active=len(active),
        used=sum(each.uses > 0 for each in uses.values()),
        used_lately=sum(
            each.last_used is not None and at - each.last_used <= LATELY for each in uses.values()
        ),
        most_used=tuple((active[name], each.uses) for name, each in most if each.uses),
        shown=len(injection.shown),
        tokens=injection.tokens,
        characters=len(injection.text),
        never_used=tuple(never),
        effects=_effects(places.home, places.project.id, at),
    )


def _sessions(project: OpenProject) -> list[Session]:
    """The latest sessions; reading never creates the log."""
    if not os.path.exists(project.places.state_db):
        return []
    return project.log.sessions(project.places.project.id, _SESSIONS)


def _weeks(
    memories: Iterable[Memory], sessions: Iterable[Session], today: date
) -> tuple[Week, ...]:
    """The last weeks, the oldest first, this one among them."""
    last = _monday(today)
    added = Counter(_monday(each.created.date()) for each in memories)
    held = Counter(_monday(utc(each.started).date()) for each in sessions if each.started)
    starts = [last - timedelta(weeks=back) for back in reversed(range(WEEKS))]
    return tuple(Week(start, added[start], held[start]) for start in starts)


def _monday(day: date) -> date:
    return day - timedelta(days=day.weekday())


def _effects(home: str, project: str, at: datetime) -> tuple[Effect, ...]:
    if not os.path.exists(os.path.join(home, FILE)):
        return ()
    with opened(home) as ledger:
        return tuple(ledger.effect(project, at))


def _shares(shares: Iterable[Any]) -> list[list[int]]:
    return [[each.seen, each.of] for each in shares]
