"""The tools that look after the whole: ltm_status, ltm_check, ltm_fix."""

from __future__ import annotations

from collections import Counter

from ltm.core.counting import counted
from ltm.core.model import Phase, Problem, Status
from ltm.core.screen import one_line
from ltm.inject.said import shorten
from ltm.inject.tell import notice
from ltm.storage.config import problems_in
from ltm.surfaces import masses
from ltm.surfaces.mcp import page
from ltm.surfaces.mcp.call import Call
from ltm.surfaces.mcp.table import tools
from ltm.surfaces.spend import model_figures, model_lines
from ltm.upkeep.doctor import DoctorReport, examine, mend


def ltm_status(call: Call) -> str:
    """How many memories there are, of what kinds, and where they are."""
    statuses: Counter[str] = Counter()
    active: dict[str, Counter[str]] = {name: Counter() for name in ("kind", "scope", "phase")}
    for kind, scope, status, phase, count in call.store.counts():
        statuses[status] += count
        if status == Status.ACTIVE:
            active["kind"][kind] += count
            active["scope"][scope] += count
            active["phase"][Phase(phase).name.lower()] += count
    places = call.places
    vaults = [("private", places.private), ("agent", places.agent_folder)]
    if places.shares:
        vaults.insert(0, ("shared", places.shared))
    lines = [
        f"project {one_line(places.project.name)} ({places.project.id}), agent {places.agent}",
        f"memories: {_counts(statuses) or 'none yet'}",
        *(f"active by {name}: {_counts(each)}" for name, each in active.items() if each),
        f"sessions: {call.store.sessions()}",
        *(f"{name} vault: {one_line(folder)}" for name, folder in vaults),
        *(f"model: {one_line(line)}" for line in model_lines(model_figures(places, call.config))),
    ]
    kept_back = notice(call.store, places)
    if kept_back:
        lines.append(kept_back)
    lines += [masses.told(name, said) for name, said in masses.waiting(places).items()]
    problems = len(call.store.problems()) + len(problems_in(call.config, places.home))
    if problems:
        lines.append(f"{counted(problems, 'problem')}: see ltm_check")
    return "\n".join(lines)


def ltm_check(call: Call) -> str:
    """What is wrong, changing nothing."""
    return _told(examine(call.store, call.places, call.config), "ltm_fix mends what it can.")


def ltm_fix(call: Call) -> str:
    """What was wrong and is mended, and what still is wrong and needs a person."""
    return _told(mend(call.store, call.places, call.config), "The rest needs a person.")


def _told(report: DoctorReport, further: str) -> str:
    broken = [Problem("", problem) for problem in tools().problems]
    fixed = [each for each in report.problems if each.fixed]
    still = [each for each in (*report.problems, *broken) if not each.fixed]
    found = [f"{len(fixed)} mended"] if fixed else []
    found += [f"{len(still)} found"] if still else []
    verdict = "Healthy" if report.healthy else "Not healthy"
    head = f"{verdict}: {', '.join(found) or 'nothing is wrong'}."

    def last(shown: int) -> str:
        left = len(fixed) + len(still) - shown
        more = f"{left} more: see them with 'ltm doctor'. " if left else ""
        return more + (further if still else "")

    return page.fitted(head, [_line(each) for each in (*still, *fixed)], last)


def _line(problem: Problem) -> str:
    place = f"{problem.path}:{problem.line}" if problem.line else problem.path
    where = f"{shorten(one_line(place), 300)}: " if place else ""
    said = shorten(one_line(problem.message), 400)
    return f"- {'mended: ' if problem.fixed else ''}{where}{said}"


def _counts(counted: Counter[str]) -> str:
    return ", ".join(f"{count} {name}" for name, count in counted.most_common() if count)
