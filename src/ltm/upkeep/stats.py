"""What became of a project's memories: how many came, which are told and used, what they saved."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import closing
from datetime import date, datetime, timedelta
from typing import Any

from ltm.config.config import problems_in
from ltm.embed.embedder import standing
from ltm.history.db import Passages
from ltm.inject.render import UNSURE_BELOW
from ltm.inject.session_start import disputes_in, tell
from ltm.llm.model import model_figures
from ltm.model import Filter, Impact, Memory, Phase, Scope, Status, Usage, utc
from ltm.notes.stash import Stashes
from ltm.policy import confidence
from ltm.record import NamedTuple
from ltm.remote import remote
from ltm.spool.session_text import told
from ltm.state.candidates import Candidates
from ltm.state.corrections import ENOUGH, FILE, Effect, opened
from ltm.state.session_log import Session
from ltm.store.other_tools import foreign
from ltm.store.project import OpenProject
from ltm.store.store import Store
from ltm.store.trust import unproven, waiting
from ltm.upkeep import plan
from ltm.vault import key_file

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
    impacts: Mapping[str, int]
    """Active memories by their impact, the highest first."""
    sure: int
    """Active memories in which there is enough confidence now."""
    learned: Mapping[str, int]
    """Memories that came of sessions: `all` of them, by status, and how many of those in
    force were `edited`."""
    effects: tuple[Effect, ...]
    """How often each rule was needed before it became a memory, and since."""

    @property
    def unsure(self) -> int:
        """Active memories in which there is too little confidence."""
        return self.active - self.sure

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
            "by_impact": dict(self.impacts),
            "sure": self.sure,
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
    active, sure = dict[str, Usage](), 0
    weeks, impacts, learned = Counter[date](), Counter[Impact](), Counter[str]()
    for each in store.every(Filter(statuses=tuple(Status))):  # few are held at a time
        memory = each.memory
        weeks[_monday(memory.created.date())] += 1
        if memory.source.session:
            learned["all"] += 1
            learned[str(memory.status)] += 1
            learned["edited"] += memory.status is Status.ACTIVE and memory.version > 1
        if memory.status is not Status.ACTIVE:
            continue
        active[memory.id] = Usage()
        impacts[memory.impact] += 1
        if memory.kind in store.kinds:
            sure += confidence(memory, store.kinds[memory.kind], at) >= UNSURE_BELOW
    uses = active | store.usage(active)
    sessions = _sessions(project)
    counts = Counter(
        name for each in sessions for name in told(places.home, each.id) if name in active
    )
    never = [(name, count) for name, count in counts.most_common() if not uses[name].uses]
    most = sorted(uses.items(), key=lambda each: each[1].uses, reverse=True)
    injection = tell(store, places, project.config, at)
    return Stats(
        weeks=_weeks(weeks, sessions, at.date()),
        active=len(active),
        used=sum(each.uses > 0 for each in uses.values()),
        used_lately=sum(
            each.last_used is not None and at - each.last_used <= LATELY for each in uses.values()
        ),
        most_used=_named(store, ((name, each.uses) for name, each in most if each.uses)),
        shown=len(injection.shown),
        tokens=injection.tokens,
        characters=len(injection.text),
        never_used=_named(store, never),
        impacts={str(impact): impacts[impact] for impact in reversed(Impact)},
        sure=sure,
        learned=learned,
        effects=_effects(places.home, places.project.id, at),
    )


def _named(store: Store, counts: Iterable[tuple[str, int]]) -> tuple[tuple[Memory, int], ...]:
    """The memories of these ids, in that order."""
    counted = dict(counts)
    found = {each.memory.id: each.memory for each in store.list(Filter(ids=tuple(counted))).items}
    return tuple((found[name], count) for name, count in counted.items() if name in found)


def _sessions(project: OpenProject) -> list[Session]:
    """The latest sessions; reading never creates the log."""
    if not os.path.exists(project.places.state_db):
        return []
    return project.log.sessions(project.places.project.id, _SESSIONS)


def _weeks(added: Mapping[date, int], sessions: Iterable[Session], today: date) -> tuple[Week, ...]:
    """The last weeks, the oldest first, this one among them."""
    last = _monday(today)
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


def project_figures(project: OpenProject) -> dict[str, Any]:
    """Counts by kind, phase, status and scope, sessions, storage, and model calls today."""
    by: dict[str, Counter[str]] = {name: Counter() for name in ("kind", "scope", "status", "phase")}
    active = 0
    for kind, scope, status, phase, count in project.store.counts():
        by["status"][status] += count
        if status != Status.ACTIVE:
            continue
        active += count
        by["kind"][kind] += count
        by["scope"][scope] += count
        by["phase"][str(phase)] += count
    places = project.places
    quarantined, untrusted = waiting(project.store, places)
    key = key_file.load(places.home, places.agent)
    vaults = [
        {"name": name, "path": folder, **_size(folder)}
        for name, folder in (
            ("shared", places.shared if places.shared_exists else ""),
            ("private", places.private),
            ("own", places.own),
            ("agent", places.agent_folder),
        )
        if folder and os.path.isdir(os.path.join(folder, "memories"))
    ]
    return {
        "project": {
            "id": places.project.id,
            "name": places.project.name,
            "root": places.project.root,
        },
        "agent": places.agent,
        "total": sum(by["status"].values()),
        "active": active,
        "by_kind": {kind.name: by["kind"][kind.name] for kind in project.config.kinds},
        "by_phase": {str(int(phase)): by["phase"][str(int(phase))] for phase in Phase},
        "by_status": {str(status): by["status"][status] for status in Status},
        "by_scope": {str(scope): by["scope"][scope] for scope in Scope},
        "waiting": {
            "quarantined": quarantined,
            "untrusted": untrusted,
            "stashes": Stashes(places.project.root, places.private).waiting(),
            "candidates": len(Candidates(places.private).waiting()),
            "conflicts": len(disputes_in(project.store)),
        },
        "unproven": [{"path": each.path, "message": each.message} for each in unproven(places)],
        "held": plan.waiting_masses(places),
        "foreign": [
            {
                "path": each.path,
                "line": each.line,
                "message": each.message,
                "remedy": each.remedy,
                "new": each.is_new,
            }
            for each in foreign(places)
        ],
        "signing": "" if key is None else key.id,
        "remote": remote.figures(places.home),
        "sessions": project.store.sessions(),
        "said": _said(places.sessions_db),
        "problems": len(project.store.problems()) + len(problems_in(project.config, places.home)),
        "storage": {
            "path": vaults[0]["path"] if vaults else places.private,
            "bytes": sum(vault["bytes"] for vault in vaults),
        },
        "vaults": vaults,
        "home": places.home,
        "llm": model_figures(places, project.config),
        "vectors": standing(project.config)._asdict(),
    }


def _said(path: str) -> dict[str, int | str]:
    """How much of this project's sessions is kept word for word."""
    with closing(Passages(path, readonly=True)) as passages:
        size = passages.size()
    found = {"sessions": size.sessions, "passages": size.passages, "bytes": size.bytes}
    return {"path": path, **found}


def _size(folder: str) -> dict[str, int]:
    memories = bytes_ = 0
    for part in ("memories", "archives"):
        try:
            with os.scandir(os.path.join(folder, part)) as entries:
                for entry in entries:
                    if entry.name.endswith(".md"):
                        bytes_ += entry.stat(follow_symlinks=False).st_size
                        memories += part == "memories"
        except OSError:
            continue
    return {"memories": memories, "bytes": bytes_}
