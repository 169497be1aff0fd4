"""The pages about the project: figures, health, teams, settings, import, and work under way."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import closing
from typing import Any

from ltm.clients.connections import ClientState, client_health, connections
from ltm.clients.table import CLIENTS
from ltm.config.config import CONFIG_FILE
from ltm.config.options import OPTIONS
from ltm.embed.embedder import standing
from ltm.errors import LtmError
from ltm.llm.model import model_lines
from ltm.model import Memory, Problem, Status, is_id, now
from ltm.sessions.transcript import all_transcripts
from ltm.spool import hook_log
from ltm.state.candidates import Candidates
from ltm.store.other_tools import foreign
from ltm.store.project import OpenProject
from ltm.team.replica import open_replica
from ltm.team.sync import synchronize
from ltm.team.teams import team_named, teams
from ltm.text.display import counted
from ltm.transfer.import_ import ImportRequest, import_memories
from ltm.transfer.importer import NAMES
from ltm.upkeep import plan
from ltm.upkeep.doctor import examine
from ltm.upkeep.stats import project_figures, stats
from ltm.web.site import Job, PageValues, Visit
from ltm.worker.steps import SEEN
from ltm.worker.transcripts import SKIPPED, read_sessions

_CHECKED = 2_000  # memories up to which a look at the page checks every file
_LISTED = 12
_GROUPS = {
    "inject": "What sessions are told",
    "recall": "Search",
    "capture": "Learning from sessions",
    "sessions": "Sessions, word for word",
    "trust": "Trust",
    "general": "Memories",
    "fade_days": "Fading",
    "hooks": "Hooks",
    "claude_md": "CLAUDE.md",
    "sync": "MEMORY.md",
    "embed": "Search by meaning",
    "llm": "Language model",
    "friction": "Friction",
}
"""What the page calls groups of options, in its order; another group has its own name."""

_FROM_A_SHELL = ("agent", "store", "embed.", "llm.")
"""Options that choose code, places and addresses: they are set where a person types commands."""


def figures(visit: Visit) -> PageValues:
    """How memories grow, which are told and used, and what became of what sessions taught."""
    value, found = project_figures(visit), stats(visit, now())
    learned = found.learned
    return {
        "name": value["project"]["name"],
        "active": value["active"],
        "total": value["total"],
        "by_kind": {name: count for name, count in value["by_kind"].items() if count},
        "by_status": value["by_status"],
        "by_phase": value["by_phase"],
        "weeks": [each._asdict() | {"start": each.start.isoformat()} for each in found.weeks],
        "used": found.used,
        "used_lately": found.used_lately,
        "most_used": [_used(each, uses) for each, uses in found.most_used[:_LISTED]],
        "never_used": [_used(each, told) for each, told in found.never_used[:_LISTED]],
        "next_session": {
            "memories": found.shown,
            "tokens": found.tokens,
            "characters": found.characters,
            "most_characters": visit.config.get("inject.max_chars"),
        },
        "corrections": {"rules": len(found.effects), "saved": found.saved},
        "capture": {
            "learned": learned["all"],
            "as_learned": learned[Status.ACTIVE] - learned["edited"],
            "edited": learned["edited"],
            "forgotten": learned[Status.FORGOTTEN],
            "other": learned["all"] - learned[Status.ACTIVE] - learned[Status.FORGOTTEN],
            "candidates": Candidates(visit.places.private).outcomes(),
        },
    }


def _used(memory: Memory, count: int) -> PageValues:
    return {"id": memory.id, "title": memory.title, "kind": memory.kind, "count": count}


def changes(visit: Visit) -> PageValues:
    """What was changed on the page since it was opened, and what of it can be undone."""
    return {
        "changes": [
            {
                "id": each.id,
                "text": each.text,
                "at": each.at,
                "can_be_undone": each.can_be_undone(visit),
            }
            for each in visit.site.changes(visit)
        ]
    }


def health(visit: Visit) -> PageValues:
    """Whether all is in order: files, hooks of clients, the model's spend and disk."""
    value, places = project_figures(visit), visit.places
    checked = value["total"] <= _CHECKED or visit.ask("check") == "yes"
    found = examine(visit.store, places, visit.config).problems if checked else ()
    connected = _connections(visit)
    clients = client_health(places, connected)
    vectors = standing(visit.config)
    sessions = visit.log.sessions(places.project.id) if os.path.exists(places.state_db) else []
    last = max(sessions, key=lambda each: each.ended or each.started, default=None)
    return {
        "checked": checked,
        "healthy": clients.is_sound and not any(each.ill for each in found),
        "problems": [_problem(each) for each in found],
        "connected": clients.connected,
        "trouble": [_problem(each) for each in clients.trouble],
        "clients": [each.as_record() | {"title": each.client.title} for each in connected],
        "last_error": hook_log.last(places.home),
        "last_session": (
            {"id": last.id, "started": last.started, "ended": last.ended} if last else None
        ),
        "project": value["project"],
        "agent": value["agent"],
        "home": value["home"],
        "vaults": value["vaults"],
        "said": value["said"],
        "signing": value["signing"],
        "model": list(model_lines(value["llm"])),
        "vectors": {"said": vectors.said, "hint": vectors.hint},
        "held": {name: plan.mass_message(name, held) for name, held in value["held"].items()},
        "foreign": value["foreign"],
    }


def _problem(found: Problem) -> PageValues:
    name = found.path.removesuffix(".md").rpartition(".")[2]
    return {
        "path": found.path,
        "line": found.line,
        "message": found.message,
        "ill": found.ill,
        "memory": name if is_id(name) else "",
    }


def _connections(visit: Visit) -> list[ClientState]:
    """What each client has of LTM, and when it last reported an event."""
    seen: dict[str, str] = {}
    if os.path.exists(visit.places.state_db):
        seen = {each.name: visit.log.cursor("", SEEN, each.name) for each in CLIENTS}
    return connections(visit.places, visit.config, seen)


def memberships(visit: Visit) -> PageValues:
    """The teams of this machine: the person's role, what is not sent yet, what was refused."""
    rows = []
    for team in teams(visit.places.home):
        with closing(open_replica(team, visit.places, visit.config)) as store:
            rows.append(store.as_record())
    return {"teams": rows}


def settings(visit: Visit) -> PageValues:
    """Every option with its value, its default, and who set it."""
    config = visit.config
    rows = []
    for option in OPTIONS:
        kind = "text"
        if option.choices or isinstance(option.default, bool):
            kind = "choice"
        elif isinstance(option.default, int | float):
            kind = "number"
        rows.append(
            {
                "name": option.name,
                "value": config.get(option.name),
                "default": option.default,
                "origin": config.origin(option.name),
                "doc": option.doc,
                "allowed": option.allowed,
                "kind": kind,
                "choices": list(option.choices) or ["true", "false"],
                "group": option.name.partition(".")[0] if "." in option.name else "general",
                "here": may_be_set(option.name),
            }
        )
    names = dict.fromkeys((*_GROUPS, *(str(row["group"]) for row in rows)))
    return {
        "options": rows,
        "groups": {name: _GROUPS.get(name, name) for name in names},
        "file": os.path.join(visit.places.home, CONFIG_FILE),
        "repository_file": (
            os.path.join(visit.places.settings, CONFIG_FILE) if visit.places.settings else ""
        ),
    }


def may_be_set(name: str) -> bool:
    return not name.startswith(_FROM_A_SHELL)


# -- work that takes long --------------------------------------------------------------------------


def importing(visit: Visit) -> PageValues:
    """What can be brought in: sessions held before, exports, memories of other tools."""
    return {
        "transcripts": len(all_transcripts()),
        "foreign": [
            {"path": each.path, "source": each.source, "what": each.what, "new": each.is_new}
            for each in foreign(visit.places)
        ],
        "tools": list(NAMES),
    }


def work(visit: Visit) -> PageValues:
    """The progress and the result of some work."""
    return visit.site.job(visit.name).as_record()


def bring_in(request: ImportRequest) -> Any:
    """Import from a path, as `ltm import` does."""

    def run(project: OpenProject, job: Job) -> None:
        def progress(done: int, total: int) -> None:
            job.done, job.total = done, total

        try:
            report = import_memories(
                request, project.store, project.places, at=now(), progress=progress
            )
        except LtmError as error:
            job.error = f"{error}{f' ({error.hint})' if error.hint else ''}"
            return
        would = "Would import" if report.dry_run else "Imported"
        job.lines.append(
            f"{would} from {', '.join(report.sources)}: {report.added} added, {report.updated}"
            f" updated, {report.skipped} known already."
        )
        if report.quarantined:
            job.lines.append(f"{counted(report.quarantined, 'memory')} to be approved by you.")
        if report.conflicts:
            job.lines.append(f"{counted(report.conflicts, 'memory')} in conflict with one here.")
        job.lines += [f"{each.path}: {each.message}" for each in report.problems]

    return run


def exchange(name: str) -> Callable[[OpenProject, Job], None]:
    """Send to a team's server what waits, and take what changed there, as `ltm team sync` does."""

    def run(project: OpenProject, job: Job) -> None:
        home = project.places.home
        done = synchronize(home, team_named(home, name))
        merged = f" ({done.merged} merged with what others changed)" if done.merged else ""
        job.lines.append(f"{done.sent} sent{merged}, {done.received} received.")
        if done.purged:
            job.lines.append(f"{counted(done.purged, 'memory')} erased for good.")
        if done.refused:
            job.lines.append(f"The server refused {counted(done.refused, 'change')}.")

    return run


def read_all(project: OpenProject, job: Job) -> None:
    """Learn from every session the client has kept, as `ltm capture --all` does."""
    paths = all_transcripts()
    job.total = len(paths)

    def tick() -> None:
        job.done += 1

    read = read_sessions(project, paths, own_project=True, tick=tick, environ=os.environ)
    done = read.captured
    job.lines.append(
        f"Read {counted(read.sessions, 'session')}: {counted(len(done.added), 'memory')} added,"
        f" {len(done.superseded)} replaced, {len(done.reinforced)} confirmed."
    )
    job.lines.append(f"{counted(read.passages, 'passage')} made searchable.")
    if done.llm_error:
        job.lines.append(f"The model has not read everything: {done.llm_error}")
    for why, number in read.skipped.items():
        if number:
            job.lines.append(f"{counted(number, 'session')} skipped: {SKIPPED[why]}.")
