"""The pages about memories: what the next session is told, what is found, one memory, what waits.

A page is a function from a visit to plain values, which are both its JSON and what its template
shows. Looking at a page is not a use of a memory: a use is what an agent or a command asked for.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Sequence
from contextlib import closing, suppress
from dataclasses import asdict
from datetime import UTC, datetime

from ltm.capture.statements import AGENT, USER
from ltm.clients.clients import installed
from ltm.clients.table import BY_NAME, CLAUDE_CODE
from ltm.errors import LtmError, NotFound, WrongUsage
from ltm.history.passage import Header, Passage
from ltm.inject.instruction_files import has_agents_md
from ltm.inject.render import units
from ltm.inject.select import reasons_left_out
from ltm.inject.session_start import SHORT_CHARS, SHORT_TOKENS, disputes_in, tell
from ltm.model import (
    Filter,
    Memory,
    Phase,
    Scope,
    Status,
    Stored,
    Trust,
    Usage,
    choice,
    iso,
    now,
    stored_record,
)
from ltm.notes.stash import Stashes
from ltm.policy import confidence, priority
from ltm.project.layout import Places
from ltm.recall.passages import Quote, leave_out, quote_record
from ltm.recall.related import related
from ltm.recall.search import recall
from ltm.recall.timeline import around, evidence
from ltm.state.candidates import CandidateRecord, Candidates
from ltm.store.apply import state_of
from ltm.store.trust import unproven, waiting
from ltm.team.replica import open_replica
from ltm.team.teams import teams
from ltm.text.diff import word_diff
from ltm.text.display import estimate, one_line
from ltm.text.judge import judge
from ltm.text.sentences import opens_with, shortened, title_of
from ltm.text.terms import matches, query_terms
from ltm.upkeep import consolidate, plan
from ltm.vault import key_file
from ltm.web.site import PageValues, Visit

PER_PAGE = 50
HITS = 30
NEIGHBOURS = 24
"""Memories that a graph and its list show."""

_PASSED = 40  # memories that were passed over and are listed with the reason
_CHAIN = 20
_QUOTED = 200  # characters of a line behind a memory that waits: its own page has the whole
_LEAVING = 40  # memories that are listed of a mass that was held back
_AROUND = 5  # turns before and after the lines a memory came from
_WITH_AGENTS_MD = f"{CLAUDE_CODE.name}-agents"
_STARTS = {"startup": "a new session", "subagent": "a sub-agent"}


def start(visit: Visit) -> PageValues:
    """What the next session is told, line by line, and what fell out."""
    at, short = now(), visit.ask("start") == "subagent"
    clients = _clients(visit)
    client = visit.ask("client") if visit.ask("client") in clients else CLAUDE_CODE.name
    row = BY_NAME.get(client, CLAUDE_CODE)
    told = tell(
        visit.store,
        visit.places,
        visit.config,
        at,
        short=short,
        agents_md=client == _WITH_AGENTS_MD,
        names=row.instructions,
    )
    tokens = int(
        visit.config.get("inject.context_window") * visit.config.get("inject.budget_percent") / 100
    )
    chars = visit.config.get("inject.max_chars")
    ids = tuple(dict.fromkeys(told.shown))
    shown = {each.memory.id: each for each in _of_ids(visit, ids)}
    reasons = reasons_left_out(told.passed, tuple(shown.values()), visit.config.kinds, at)
    sections: list[PageValues] = [{"heading": "", "lines": [], "chars": 0}]
    for line in told.lines:
        if line.text.startswith("## "):
            heading = line.text.removeprefix("## ")
            sections.append({"heading": heading, "lines": [], "chars": 0})
        else:
            memories = [_brief(shown[name]) for name in line.ids if name in shown]
            values = {"text": line.text, "reason": line.reason, "tokens": line.tokens}
            sections[-1]["lines"].append(values | {"memories": memories})
        sections[-1]["chars"] += units(line.text) + 1
    used = units(told.text)
    return {
        "start": "subagent" if short else "startup",
        "starts": _STARTS,
        "client": client,
        "clients": clients,
        "unheard": "" if row.told else row.title,
        "subagents": visit.config.get("inject.subagents"),
        "text": told.text,
        "sections": [each for each in sections if each["lines"] or each["heading"]],
        "budget": {
            "characters": used,
            "most_characters": min(chars, SHORT_CHARS) if short else chars,
            "tokens": told.tokens,
            "most_tokens": min(tokens, SHORT_TOKENS) if short else tokens,
            "frame": used - sum(each["chars"] for each in sections),
        },
        "left_out": told.left_out,
        "passed": [
            _brief(each) | {"reason": reasons[each.memory.id]} for each in told.passed[:_PASSED]
        ],
        "passed_more": max(0, told.left_out - min(len(told.passed), _PASSED)),
        "carried": [_brief(each) for each in told.carried],
        "waiting": waiting(visit.store, visit.places)._asdict(),
        "archived": visit.store.list(Filter(phases=(Phase.ARCHIVED,)), 0).total,
    }


def _clients(visit: Visit) -> dict[str, str]:
    """The clients of this machine: none is told what it loads from a project by itself."""
    found = {each.name: each.title for each in (CLAUDE_CODE,)}
    if has_agents_md(visit.places.project.root):
        found[_WITH_AGENTS_MD] = f"{CLAUDE_CODE.title}, reading AGENTS.md"
    return found | {each.name: each.title for each in installed(os.environ)}


def find(visit: Visit) -> PageValues:
    """What answers a question, or all memories, newest first, where nothing is asked."""
    question = visit.ask("q").strip()
    wanted = _filter(visit)
    filters = ("kind", "tag", "status", "scope", "phase")
    kinds = [kind.name for kind in visit.config.kinds]
    value: PageValues = {
        "q": question,
        "kinds": kinds,
        "statuses": [str(each) for each in Status],
        "phases": [each.name.lower() for each in Phase],
        **{name: visit.ask(name) for name in filters},
        "filtered": any(map(visit.ask, filters)),
        "sessions": visit.ask("sessions", "yes"),
        "page": 0,
        "more": False,
    }
    if not question:
        page = visit.number("page", 0, 10_000)
        found = visit.store.list(wanted._replace(untrusted=True), PER_PAGE, page * PER_PAGE)
        usage = visit.store.usage(each.memory.id for each in found.items)
        hits = [
            _listed(each, frozenset())
            | {"why": "", "uses": usage.get(each.memory.id, Usage()).uses}
            for each in found.items
        ]
        more = (page + 1) * PER_PAGE < found.total
        return value | {"hits": hits, "total": found.total, "page": page, "more": more}
    said = visit.said if value["sessions"] == "yes" and visit.team is None else None
    words = frozenset(query_terms(question))
    answers = recall(visit.store, question, wanted, HITS, counts=False, said=said)
    hits = [
        _quote(hit, words)
        if isinstance(hit, Quote)
        else _listed(hit.stored, words) | {"why": hit.why, "weak": hit.weak}
        for hit in answers.hits
    ]
    return value | {"hits": hits, "total": answers.total, "most": HITS}


def _filter(visit: Visit) -> Filter:
    status, kinds = visit.ask("status"), visit.config.kinds
    statuses: tuple[Status, ...] = (Status.ACTIVE,)
    if status:
        statuses = tuple(Status) if status == "all" else (choice(Status, status),)
    scope, phase = visit.ask("scope"), visit.ask("phase")
    phases = [each for each in Phase if str(int(each)) == phase]
    if phase and not phases:
        raise WrongUsage(f"'{phase}' is not a valid phase", hint="use one of: 0, 1, 2, 3")
    return Filter(
        kinds=tuple(kinds.parse(each).name for each in visit.every("kind")),
        tags=visit.every("tag"),
        statuses=statuses,
        scopes=(choice(Scope, scope),) if scope else (),
        phases=tuple(phases),
        teams=True,
    )


def _listed(stored: Stored, words: frozenset[str]) -> PageValues:
    """A memory as a list shows it, with the words of the question marked."""
    memory = stored.memory
    title, text = one_line(memory.title), shortened(one_line(memory.summary or memory.text), 300)
    if opens_with(text, title):
        title, text = text, ""
    return _brief(stored) | {
        "type": "memory",
        "title_parts": _parts(title, words),
        "text_parts": _parts(text, words),
        "tokens": estimate(memory.text),
        "day": memory.day,
        "weak": False,
    }


def _quote(quote: Quote, words: frozenset[str]) -> PageValues:
    return quote_record(quote) | {
        "type": "session",
        "by": quote.passage.role,
        "day": quote.passage.at[:10],
        "session": quote.passage.session,
        "line": quote.passage.first,
        "parts": [
            {"role": role, "parts": _parts(one_line(text), words)} for role, text in quote.exchange
        ],
        "waits": quote.waits,
    }


def _parts(text: str, words: frozenset[str]) -> list[PageValues]:
    return [{"text": part, "match": look == "match"} for part, look in matches(text, words) if part]


def memory(visit: Visit) -> PageValues:
    """One memory: its fields, history, source, conflicts, chain and neighbours."""
    return memory_values(visit, visit.memory())


def memory_values(visit: Visit, stored: Stored) -> PageValues:
    """The values of a memory's page."""
    memory, store = stored.memory, visit.store
    usage = store.usage([memory.id]).get(memory.id, Usage())
    kinds = visit.config.kinds
    kind = kinds[memory.kind if memory.kind in kinds else kinds.default.name]
    key = key_file.load(visit.places.home)
    neighbours = related(store, memory.id, NEIGHBOURS)[1]
    return {
        "memory": stored_record(stored)
        | {
            "text": memory.text,
            "tokens": estimate(memory.text),
            "shortened": memory.phase is not Phase.FULL,
            "team": stored.team,
        },
        "signed": "" if key is None or stored.team else str(state_of(key, stored, store)),
        "confidence": round(confidence(memory, kind, now()), 3),
        "priority": round(priority(memory.difficulty, usage.sessions_since, usage.uses), 3),
        "usage": {"uses": usage.uses, "last_used": usage.last_used and iso(usage.last_used)},
        "source": _source(visit, memory),
        "versions": _versions(visit, memory),
        "conflicts": [_brief(each) | _said(each) for each in _of_ids(visit, memory.conflicts)],
        "older": [_brief(each) for each in _chain(visit, _former(memory), older=True)],
        "newer": [_brief(each) for each in _chain(visit, (memory.superseded_by,), older=False)],
        "distinct": [_brief(each) for each in _of_ids(visit, memory.distinct)],
        "neighbours": [_brief(each.stored) | {"how": each.how} for each in neighbours],
        "merging": _merging(visit),
        "kinds": [each.name for each in kinds],
        "states": list(kind.states),
    }


def _merging(visit: Visit) -> PageValues | None:
    """The memory that is to be merged into the one shown, if one was chosen."""
    chosen = visit.every("with")
    if not chosen:
        return None
    stored = visit.store.read(chosen[-1].strip())
    return _brief(stored) | _said(stored) | {"content": stored.memory.content}


def _source(visit: Visit, memory: Memory) -> PageValues:
    """Where a memory came from: the lines of the transcript, and what was said around them."""
    behind = evidence(memory.source, visit.places)
    near: list[PageValues] = []
    kept = bool(_headers(visit, [memory.source.session]))
    if kept:
        with suppress(LtmError):
            told = around(visit.store, visit.said, memory.id, _AROUND)
            near = [
                {
                    "role": each.role,
                    "text": shortened(one_line(each.text), 600),
                    "at": each.at,
                    "line": each.first,
                    "own": _within(each.first, each.last, memory.source.lines),
                }
                for each in (event.what for event in told.events)
                if isinstance(each, Passage)
            ]
    return memory.source._asdict() | {
        "trust": str(memory.source.trust),
        "kept": kept,
        "quoted": [asdict(each) for each in behind.lines],
        "more": behind.more,
        "transcript": behind.transcript,
        "note": behind.note,
        "around": near,
    }


def _within(first: int, last: int, lines: str) -> bool:
    begin, _, end = lines.partition("-")
    if not begin.isdecimal():
        return False
    return first <= int(end if end.isdecimal() else begin) and last >= int(begin)


def _versions(visit: Visit, memory: Memory) -> list[PageValues]:
    """Every text a memory had, the newest first, each with its difference from the one before."""
    kept = [each.memory for each in visit.store.versions(memory.id) if each.memory.text]
    texts = [*kept, *([memory] if memory.text else [])]
    versions: list[PageValues] = []
    before: Memory | None = None
    for each in texts:
        if before is not None and (before.text, before.title) == (each.text, each.title):
            continue
        value: PageValues = {
            "version": each.version,
            "title": each.title,
            "text": each.text,
            "updated": iso(each.updated),
            "current": each is memory,
            "diff": [],
            "title_diff": [],
        }
        if before is not None:
            value["diff"] = [part._asdict() for part in word_diff(before.text, each.text)]
            if before.title != each.title and not (_follows(before) and _follows(each)):
                titles = word_diff(before.title, each.title)
                value["title_diff"] = [part._asdict() for part in titles]
        versions.append(value)
        before = each
    return versions[::-1]


def _follows(memory: Memory) -> bool:
    """Whether the title says no more than the beginning of the text."""
    return memory.title == title_of(memory.content)


def _former(memory: Memory) -> list[str]:
    """The memories it took the place of."""
    return list(dict.fromkeys((*memory.supersedes, *memory.merged_from)))


def _chain(visit: Visit, ids: Iterable[str], *, older: bool) -> list[Stored]:
    """What replaced what, step by step away from a memory."""
    found: dict[str, Stored] = {}
    waiting = [name for name in ids if name]
    while waiting and len(found) < _CHAIN:
        name = waiting.pop(0)
        if name in found:
            continue
        with suppress(NotFound):
            stored = visit.store.read(name)
            found[name] = stored
            memory = stored.memory
            waiting += _former(memory) if older else [memory.superseded_by]
            waiting = [each for each in waiting if each]
    return list(found.values())


def review(visit: Visit) -> PageValues:
    """What waits for a decision of a person, by the session it came from."""
    groups: defaultdict[str, list[PageValues]] = defaultdict(list)
    if visit.team is None:
        for record in Candidates(visit.places.private).waiting():
            groups[record.session].append(_candidate(record))
    for stored in visit.store.list(Filter(statuses=(Status.QUARANTINED,))).items:
        groups[stored.memory.source.session].append(_quarantined(stored, visit.places))
    number = 0
    for group in groups.values():
        for item in group:
            item["number"] = number
            number += 1
    titles = _titles(visit, groups)
    return {
        "at": visit.number("at", -1, 100_000),
        "groups": [
            {
                "session": name,
                "kept": name in titles,
                "title": titles.get(name, ""),
                "items": items,
            }
            for name, items in groups.items()
        ],
        "waiting": number,
        "conflicts": [
            [_brief(each) | _said(each) for each in group]
            for group in disputes_in(visit.store).values()
        ],
    } | _waiting_in_project(visit)


def _waiting_in_project(visit: Visit) -> PageValues:
    """What waits next to memories and statements: a repository, stashes, masses, teams."""
    if visit.team is not None:
        return {"untrusted": {"count": 0}, "unproven": [], "stashes": [], "held": {}, "teams": {}}
    places = visit.places
    untrusted = waiting(visit.store, places).untrusted
    came = visit.store.list(Filter(untrusted=True), 200).items if untrusted else ()
    stashes = Stashes(places.project.root, places.private).every()
    return {
        "untrusted": {
            "count": untrusted,
            "path": places.shared if untrusted else "",
            "memories": [_brief(each) | _said(each) for each in came if not each.trusted],
        },
        "unproven": [{"path": each.path, "message": each.message} for each in unproven(places)],
        "stashes": [
            {"name": each.name, "text": shortened(each.text.strip(), 300)}
            for each in stashes
            if not each.processed
        ],
        "held": {
            command: {"text": text} | _leaving(visit, command)
            for command, text in plan.waiting_masses(places).items()
        },
        "teams": _waiting_in_teams(visit),
    }


def _leaving(visit: Visit, command: str) -> PageValues:
    """What would go out of use with the consent to a mass that was held back, and why."""
    reasons: dict[str, str] = {}
    if command == plan.UPKEEP:
        limits = plan.limits_of(visit.config)
        for action in plan.plan(visit.store, now=now(), limits=limits):
            if action.leaving:
                reasons[action.id] = action.reason
    else:
        for step in consolidate.plan(visit.store, now()):
            reasons.update((name, step.reason) for name in step.ids or (step.id,))
    shown = _of_ids(visit, list(reasons)[:_LEAVING])
    return {
        "memories": [_brief(each) | {"reason": reasons[each.memory.id]} for each in shown],
        "more": max(0, len(reasons) - _LEAVING),
    }


def _waiting_in_teams(visit: Visit) -> dict[str, int]:
    """How many memories wait in the teams whose curator the person is."""
    found: dict[str, int] = {}
    for team in teams(visit.places.home):
        if team.may_approve:
            with closing(open_replica(team, visit.places, visit.config)) as store:
                found[team.name] = store.list(Filter(statuses=(Status.QUARANTINED,)), 0).total
    return {name: count for name, count in found.items() if count}


def _headers(visit: Visit, sessions: Iterable[str]) -> list[Header]:
    """Those of the sessions that are kept here, word for word."""
    said = visit.said
    if visit.team is not None or not said.anything():
        return []
    found = (said.passages.header(name) for name in sessions if name)
    return [each for each in found if each is not None]


def _titles(visit: Visit, sessions: Iterable[str]) -> dict[str, str]:
    """What the sessions that are kept began with, as the page of one shows it."""
    headers = _headers(visit, sessions)
    if headers:
        leave_out(visit.store, visit.said)
    return {each.id: visit.titled(each) for each in headers}


def _candidate(record: CandidateRecord) -> PageValues:
    side = USER if record.trust == Trust.USER else AGENT
    return {
        "type": "candidate",
        "id": record.id,
        "text": record.text,
        "kind": record.kind,
        "impact": record.impact,
        "trust": record.trust,
        "lines": record.lines,
        "day": f"{datetime.fromtimestamp(record.said, UTC):%Y-%m-%d}",
        "tool": "",
        "quoted": [],
        "probable": round(record.weight / 10),
        "words": judge()[side].telling(record.text, "keep"),
    }


def _quarantined(stored: Stored, places: Places) -> PageValues:
    memory = stored.memory
    behind = evidence(memory.source, places)
    return {
        "type": "quarantined",
        "id": memory.id,
        "etag": stored.etag,
        "text": memory.text,
        "kind": memory.kind,
        "impact": str(memory.impact),
        "trust": str(memory.source.trust),
        "tool": memory.source.tool,
        "probable": 0,
        "words": [],
        "lines": memory.source.lines,
        "day": f"{memory.created:%Y-%m-%d}",
        "quoted": [
            asdict(each) | {"text": shortened(each.text, _QUOTED)} for each in behind.lines[:4]
        ],
    }


# -- memories in short -----------------------------------------------------------------------------


def _of_ids(visit: Visit, ids: Sequence[str]) -> list[Stored]:
    """The memories of these ids that are there, in that order."""
    wanted = Filter(ids=tuple(ids), statuses=tuple(Status), teams=True)
    found = {each.memory.id: each for each in visit.store.list(wanted).items} if ids else {}
    return [found[name] for name in ids if name in found]


def _brief(stored: Stored) -> PageValues:
    memory = stored.memory
    return {
        "id": memory.id,
        "title": memory.title,
        "kind": memory.kind,
        "impact": str(memory.impact),
        "status": str(memory.status),
        "scope": str(memory.scope),
        "pinned": memory.pinned,
        "phase": int(memory.phase),
        "shortened": memory.phase is not Phase.FULL,
        "trusted": stored.trusted,
        "team": stored.team,
        "tags": list(memory.tags),
        "created": iso(memory.created),
        "etag": stored.etag,
        "conflicts": list(memory.conflicts),
    }


def _said(stored: Stored) -> PageValues:
    return {"text": stored.memory.text, "day": stored.memory.day}
