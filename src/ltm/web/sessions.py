"""The pages about sessions: days and what was learned in them, one session, and friction."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from contextlib import closing
from datetime import date, timedelta
from typing import Any

from ltm.clients.table import BY_NAME
from ltm.config.options import SIGNALS_BY_NAME
from ltm.friction.analysis import Analysis, analyse, learn, project_finder
from ltm.friction.report import health
from ltm.friction.ruleset import rules as rules_of
from ltm.friction.score import signal_counts, weigh
from ltm.friction.sources import group, of_project
from ltm.history.ingest import UNSAID
from ltm.history.passage import Header, Passage, line_range
from ltm.model import Filter, Memory, Status, now
from ltm.recall.passages import leave_out
from ltm.recall.timeline import session_named
from ltm.state.corrections import FILE, Effect, Rule, opened
from ltm.state.session_log import Session, SessionLog
from ltm.store.project import OpenProject
from ltm.text.dates import day_span
from ltm.text.display import one_line
from ltm.text.sentences import shortened
from ltm.web.site import Job, PageValues, Visit

SESSIONS = 30
"""Sessions of a page of days."""

TURNS = 120
"""Passages of a page of a session."""

_FILES, _ERRORS = 8, 3
_SIGNALS = 12


def time(visit: Visit) -> PageValues:
    """Days, the sessions held in them, and what was learned, changed and failed in each."""
    today, begins, ends = now().date(), visit.ask("since").strip(), visit.ask("until").strip()
    since = day_span(begins, today).start if begins else None
    until = day_span(ends, today).end if ends else None
    page = visit.number("page", 0, 10_000)
    said, headers = visit.said, []
    if said.anything():
        leave_out(visit.store, said)
        high = until.isoformat() if until else ""
        low = since.isoformat() if since else ""
        headers = said.passages.sessions((page + 1) * SESSIONS + 1, since=low, until=high)
    logged = _logged(visit)
    shown = headers[page * SESSIONS : (page + 1) * SESSIONS]
    days: defaultdict[str, list[PageValues]] = defaultdict(list)
    for header in shown:
        days[header.ended[:10] or "at an unknown time"].append(_held(visit, header, logged))
    return {
        "since": visit.ask("since"),
        "until": visit.ask("until"),
        "days": [{"day": day, "sessions": sessions} for day, sessions in days.items()],
        "page": page,
        "more": len(headers) > (page + 1) * SESSIONS,
    }


def _logged(visit: Visit) -> Mapping[str, Session]:
    """The sessions the log knows, by their ids; reading never creates the log."""
    if not os.path.exists(visit.places.state_db):
        return {}
    return {each.id: each for each in visit.log.sessions(visit.places.project.id, 1_000)}


def _held(visit: Visit, header: Header, logged: Mapping[str, Session]) -> PageValues:
    passages = visit.said.shown(visit.said.passages.of_session(header.id))
    written = Counter(path for each in passages if each.writes for path in each.files)
    errors = dict.fromkeys(one_line(text) for each in passages for text in each.errors)
    known = logged.get(header.id)
    return {
        "id": header.id,
        "title": visit.titled(header),
        "started": header.started,
        "ended": header.ended,
        "turns": header.turns,
        "client": _client(known),
        "failed": known.failed if known else 0,
        "ok": known.ok if known else 0,
        "files": [path for path, _ in written.most_common(_FILES)],
        "more_files": max(0, len(written) - _FILES),
        "errors": [shortened(each, 160) for each in list(errors)[:_ERRORS]],
        "more_errors": max(0, len(errors) - _ERRORS),
        "memories": [_link(each) for each in _learned(visit, header.id)],
    }


def _client(session: Session | None) -> str:
    """The client a session ran in, as people call it; '' when nothing told."""
    name = session.client if session else ""
    return BY_NAME[name].title if name in BY_NAME else name


def _learned(visit: Visit, session: str) -> list[Memory]:
    """The memories that came of a session, in the order of their lines."""
    wanted = Filter(naming=session, statuses=tuple(Status))
    found = (each.memory for each in visit.store.list(wanted).items)
    own = [each for each in found if each.source.session == session]
    return sorted(own, key=lambda each: line_range(each.source.lines))


def _link(memory: Memory) -> PageValues:
    return {
        "id": memory.id,
        "title": memory.title,
        "kind": memory.kind,
        "impact": str(memory.impact),
        "status": str(memory.status),
        "lines": memory.source.lines,
    }


def session(visit: Visit) -> PageValues:
    """One session word for word, without secrets, with the memories next to their lines."""
    said = visit.said
    name = session_named(said, visit.name)
    leave_out(visit.store, said)
    header = said.passages.header(name) or Header(name)
    passages = said.shown(said.passages.of_session(name))
    learned = _learned(visit, name)
    line = visit.number("around", 0, 10**9)
    page = visit.number("page", -1, 10_000)
    if page < 0:
        before = sum(each.last < line for each in passages) if line else 0
        page = before // TURNS
    pages = max(1, -(-len(passages) // TURNS))
    page = min(page, pages - 1)
    shown = passages[page * TURNS : (page + 1) * TURNS]
    known = _logged(visit).get(name)
    return {
        "id": name,
        "title": visit.titled(header),
        "started": header.started,
        "ended": header.ended,
        "cwd": header.cwd,
        "client": _client(known),
        "transcript": known.transcript if known and os.path.isfile(known.transcript) else "",
        "turns": [_turn(each, learned, line) for each in shown],
        "memories": [_link(each) for each in learned],
        "page": page,
        "pages": pages,
        "around": line,
    }


def _turn(passage: Passage, learned: Iterable[Memory], line: int) -> PageValues:
    memories = [
        _link(each) for each in learned if _overlap(passage, *line_range(each.source.lines))
    ]
    return {
        "role": passage.role,
        "text": passage.text,
        "at": passage.at,
        "first": passage.first,
        "last": passage.last,
        "agent": passage.agent,
        "memories": memories,
        "marked": passage.first <= line <= passage.last,
    }


def _overlap(passage: Passage, first: int, last: int) -> bool:
    return bool(first) and passage.first <= last and passage.last >= first


# -- friction --------------------------------------------------------------------------------------


def friction(visit: Visit) -> PageValues:
    """What had to be corrected, whether it helped to remember it, and the trend per week."""
    rules: list[Rule] = []
    effects: list[Effect] = []
    if os.path.exists(os.path.join(visit.places.home, FILE)):
        with opened(visit.places.home) as ledger:
            rules = ledger.rules(visit.places.project.id, now())
            effects = ledger.effect(visit.places.project.id, now())
    return {
        "rules": [
            {
                "id": each.id,
                "statement": each.statement,
                "status": each.status,
                "observations": each.observations,
                "tier": each.tier,
                "sessions": list(each.sessions)[:3],
                "last_seen": each.last_seen,
                "memory": each.memory,
            }
            for each in rules
        ],
        "effects": [
            {
                "rule": each.rule.id,
                "statement": each.rule.statement,
                "memory": each.rule.memory,
                "since": each.rule.since,
                "before": {"seen": each.before.seen, "of": each.before.of},
                "after": {"seen": each.after.seen, "of": each.after.of},
                "verdict": each.verdict,
            }
            for each in effects
        ],
        "found": visit.site.findings.get(visit.places.project.id),
    }


def read_friction(project: OpenProject, job: Job, findings: dict[str, Any]) -> None:
    """Look through the project's sessions for friction, as `ltm friction` does."""
    places = project.places
    files = of_project(places.project.root, places.project.id, places.home, os.environ)
    job.total = len(files)

    def tick(count: int) -> None:
        job.done += count

    rules = rules_of(project.config, classic=False)
    with closing(SessionLog(places.state_db)) as log:
        unsaid = log.turns_read(UNSAID, now()).has
        found = analyse(group(files), rules, now(), tick=tick, is_unsaid=unsaid)
    with opened(places.home) as ledger:
        own = places.project.id
        project_of = project_finder(places.project.root, places.home, own)
        learn(ledger, (each.heard for each in found.sessions), found.rules, project_of)
    findings[places.project.id] = _trend(found)
    overall = found.summary["overall"]
    job.lines.append(f"{overall['total_sessions']} sessions read, {overall['bad_sessions']} bad.")


def _trend(found: Analysis) -> PageValues:
    overall = found.summary["overall"]
    weeks: defaultdict[str, list[float]] = defaultdict(list)
    for each in found.sessions:
        if each.heard.started:
            day = date.fromisoformat(each.heard.started[:10])
            weeks[(day - timedelta(days=day.weekday())).isoformat()].append(each.peak)
    counts = signal_counts(found.sessions)
    weights = {name: weigh(name, counts[name], found.rules) for name in counts}
    ranked = sorted((-weight, name) for name, weight in weights.items() if weight > 0)
    return {
        "at": found.summary["analyzed_at"],
        "sessions": overall["total_sessions"],
        "bad": overall["bad_sessions"],
        "average": overall["avg_friction"],
        "bad_from": found.rules.peak,
        "health": health(found),
        "weeks": [
            {"week": week, "friction": round(sum(peaks) / len(peaks), 2), "sessions": len(peaks)}
            for week, peaks in sorted(weeks.items())[-26:]
        ],
        "signals": [
            {
                "name": name,
                "said": SIGNALS_BY_NAME[name].doc,
                "count": counts[name],
                "weight": weights[name],
            }
            for _, name in ranked[:_SIGNALS]
        ],
    }
