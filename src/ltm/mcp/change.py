"""The tools that change memories (store, update, forget, restore) and those that check the store.

A stored memory names the agent's session. A server gets the id of the session that started it, but
not of one that takes its place (`/clear`): the session log has that. Without a session, memories
are stored all the same.
"""

from __future__ import annotations

import os
import sqlite3
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ltm.capture.decide import Outcome
from ltm.capture.provenance import Evidence
from ltm.capture.remember import RememberRequest, drop_candidates, keep_candidate, remember
from ltm.clients.environment import lack
from ltm.config.config import problems_in
from ltm.decisions import TEXT, Forget, Restore, Settle
from ltm.errors import LtmError, NotFound, Refused, WrongUsage
from ltm.hook.receive import in_plugin
from ltm.inject.render import harmless, shorten
from ltm.inject.session_start import tell, undecided
from ltm.llm.model import model_figures, model_lines
from ltm.mcp.call import NOTICE, Call, excerpt, fitted, headline
from ltm.mcp.tools import tools
from ltm.model import Memory, Phase, Problem, Source, Status, Trust, now
from ltm.project.layout import Places
from ltm.sessions import stats
from ltm.state.candidates import CandidateRecord, Candidates, named
from ltm.state.session_log import Session, SessionLog
from ltm.store.revision import changes_of, revise
from ltm.text.display import counted, one_line, visible
from ltm.upkeep import plan
from ltm.upkeep.consolidate import apply as merge
from ltm.upkeep.consolidate import plan as repetitions
from ltm.upkeep.doctor import DoctorReport, examine, mend

LONGEST = 64 * 1024 * 1024
"""Bytes of a transcript that is read up to this moment; of a longer one the last figures hold."""

_RECENT = 20


def store_memory(
    call: Call,
    content: str,
    title: str | None = None,
    kind: str | None = None,
    impact: str | None = None,
    scope: str | None = None,
    tags: Sequence[str] = (),
    auto_tag: bool | None = None,
    difficulty: float | None = None,
    reason: str = "",
    state: str = "",
    replaces: str = "",
    new: bool = False,
) -> str:
    """Keep something; what was not said is inferred, and what is known already is confirmed."""
    session = current(call)
    wish = RememberRequest(
        text=content,
        title=title,
        kind=kind,
        impact=impact,
        scope=scope,
        tags=tags,
        auto_tag=call.config.get("auto_tag") if auto_tag is None else auto_tag,
        difficulty=session.difficulty if difficulty is None else difficulty,
        reason=reason,
        state=state,
        replaces=call.read(replaces).memory.id if replaces.strip() else "",
        apart=new,
        source=Source(Trust.ASSISTANT, session.id, tool=call.tool),
        evidence=_evidence(call, session),
    )
    done = remember(call.store, wish)
    applied, memory = done.applied, done.applied.stored.memory
    said = f"{headline(memory)}, {memory.scope}"
    lost = [f"redacted: {', '.join(done.redacted)} (not stored)"] if done.redacted else []
    if done.outcome is Outcome.CONFIRMED:
        known = (
            f"Known already, nothing new stored; now confirmed and seen {memory.observations}"
            f" times: {said}"
        )
        return "\n".join([known, *lost])
    lines = [f"Remembered {said}"]
    if memory.status is Status.QUARANTINED:
        lines = [*call.kept_waiting(said, memory.id, copied=done.copied)]
    if done.inferred:
        inferred = ", ".join(each.partition(" (")[0] for each in done.inferred)
        lines.append(f"inferred: {harmless(inferred)}")
    lines += lost
    if difficulty is None and session.difficulty:
        lines.append(f"difficulty: {memory.difficulty:.2f}, from this session's tool calls")
    why = " by this fuller text" if done.outcome is Outcome.EXTENDED else ""
    for old in done.choice.others if applied.superseded else ():
        lines.append(f"replaced{why}: {headline(old.memory)} (kept; restore brings it back)")
    for each in done.similar:
        lines.append(f"similar to {headline(each.memory)}")
    if done.outcome is Outcome.CONFLICT:
        for each in done.choice.others:
            lines.append(
                f"conflicts with {headline(each.memory)}"
                f" (of {each.memory.created:%Y-%m-%d}: {excerpt(each.memory)})"
            )
        lines.append(
            "Both are kept. Ask the user which one holds, then call update_memory with its id and"
            " settles=this, or settles=both if both hold."
        )
    lines.append(f"in {visible(applied.stored.path)}")
    return "\n".join(lines)


def update_memory(call: Call, id: str, settles: str = "", **given: Any) -> str:  # noqa: A002
    """Correct a memory; the answer says what changed and how to take it back."""
    if not given and not settles:
        raise WrongUsage("there is nothing to change", hint="give content, title, tags or another")
    stored = call.read(id)
    settled = _settle(call, stored.memory, settles) if settles else ""
    if not given:
        return f"{settled}\n{headline(call.read(id).memory)}"
    stored = call.read(id)
    memory = stored.memory
    texts = (str(given.get(name) or "") for name in (*TEXT, "reason"))
    if _evidence(call, current(call)).is_copied(*texts):
        raise Refused(
            "the new text repeats word for word what a tool, a file or a page said in this session",
            hint=f"if the user wants it, they change it themselves: ltm edit {memory.id}",
        )
    changes = changes_of(memory, given, call.config.kinds)
    reworded = any(changes.get(name, "") not in ("", getattr(memory, name)) for name in TEXT)
    if reworded and memory.source.trust is Trust.USER:
        # The words are the agent's by now, wherever the point came from.
        changes["source"] = memory.source._replace(trust=Trust.ASSISTANT)
    done = revise(call.store, stored, changes)
    if done.is_empty:
        return f"Nothing changed, it says so already: {headline(memory)}"
    lines = [f"Changed {headline(done.after.memory)}"]
    lines += [harmless(line) for line in done.differences]
    if done.redacted:
        lines.append(f"redacted: {', '.join(done.redacted)} (not stored)")
    if done.former_version:
        lines.append(
            f"The former text is kept: restore with version={done.former_version} brings it back."
        )
    return "\n".join([settled, *lines] if settled else lines)


class _SessionEvidence:
    """What the session was given, read on from one text to keep to the next."""

    def __init__(self) -> None:
        self._session = "", ""
        self._evidence = Evidence()

    def of(self, session: Current) -> Evidence:
        """What this session was given up to now."""
        if (session.transcript, session.cwd) != self._session:
            self._session = session.transcript, session.cwd
            self._evidence = Evidence(session.transcript, folder=session.cwd)
        self._evidence.read_on()
        return self._evidence

    def is_in_place(self) -> bool:
        """Always: a transcript that is another one is read from its beginning."""
        return True

    def close(self) -> None:
        """Nothing is open between two texts."""


def _evidence(call: Call, session: Current) -> Evidence:
    return call.kept.part("given", _SessionEvidence).of(session)


def review_candidates(call: Call, keep: Sequence[str] = (), drop: Sequence[str] = ()) -> str:
    """Make memories of candidates, refuse others, or list what waits."""
    candidates = Candidates(call.places.private)
    waiting = candidates.waiting()
    if not keep and not drop:
        return _listed(waiting)
    try:
        wanted, unwanted = named(waiting, keep), named(waiting, drop)
    except NotFound as error:
        raise NotFound(error.message, hint="without arguments, review_candidates lists them") from (
            error
        )
    if {*wanted} & {*unwanted}:
        raise WrongUsage("a candidate cannot be kept and dropped", hint="choose one")
    tag = call.config.get("auto_tag")
    lines = []
    for each in wanted:
        done = keep_candidate(call.store, candidates, each, by=call.tool, auto_tag=tag)
        known = " (known already, now confirmed)" if done.outcome is Outcome.CONFIRMED else ""
        lines.append(f"Kept {each.id} as {headline(done.applied.stored.memory)}{known}")
        for other in done.choice.others if done.outcome is Outcome.CONFLICT else ():
            lines.append(
                f"conflicts with {headline(other.memory)}: ask the user which holds, then"
                " update_memory with settles"
            )
    drop_candidates(candidates, unwanted)
    return "\n".join([*lines, *(f"Dropped {each.id}" for each in unwanted)])


def _listed(waiting: Sequence[CandidateRecord]) -> str:
    if not waiting:
        return "No candidate waits."
    head = f"{counted(len(waiting), 'candidate')}, unconfirmed. {NOTICE}"
    lines = [
        f"- {each.id} ({each.trust}, {harmless(each.kind)}) {shorten(harmless(each.text), 280)}"
        for each in waiting
    ]

    def last(shown: int) -> str:
        left = len(waiting) - shown
        return f"{left} more: they come when these are kept or dropped." if left else ""

    return fitted(head, lines, last)


def forget(call: Call, id: str) -> str:  # noqa: A002 - the SPEC's word is the argument's name
    """Put a memory out of sight; its text is archived."""
    stored = call.store.apply(Forget(call.read(id).memory.id)).stored
    return (
        f"Forgot {headline(stored.memory)}\n"
        f"Its text is archived: restore brings it back, and only 'ltm forget {stored.memory.id}"
        " --purge', typed by a person, deletes it for good."
    )


def restore(call: Call, id: str, version: int = 0) -> str:  # noqa: A002
    """Bring a memory back, active and whole, or an older version of its text."""
    stored = call.store.apply(Restore(call.read(id).memory.id, version=version)).stored
    return f"Restored {headline(stored.memory)}"


def _settle(call: Call, memory: Memory, which: str) -> str:
    """Let a memory hold instead of those it is in conflict with, or with them."""
    active = (call.store.read(each).memory for each in memory.conflicts)
    rivals = tuple(each.id for each in active if each.status is Status.ACTIVE)
    if not rivals:
        raise Refused(f"{memory.id} is in conflict with no memory", hint="leave settles out")
    done = call.store.apply(Settle(memory.id, rivals, all_hold=which == "both"))
    if not done.superseded:
        return f"Both hold from now on: {memory.id} and {', '.join(rivals)}"
    gone = ", ".join(done.superseded)
    return f"It holds; replaced: {gone} (kept; restore brings it back)"


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
    lines += [f"search: by words; {one_line(said)}" for said in (lack(os.environ),) if said]
    kept_back = undecided(call.store, places).notice
    if kept_back:
        lines.append(in_plugin(kept_back) if os.environ.get("CLAUDE_PLUGIN_DATA") else kept_back)
    lines += [plan.mass_message(name, said) for name, said in plan.waiting_masses(places).items()]
    problems = len(call.store.problems()) + len(problems_in(call.config, places.home))
    if problems:
        lines.append(f"{counted(problems, 'problem')}: see ltm_check")
    return "\n".join(lines)


def ltm_check(call: Call) -> str:
    """What is wrong, changing nothing."""
    return _told(examine(call.store, call.places, call.config), "ltm_fix mends what it can.")


def ltm_fix(
    call: Call,
    archive_orphans: bool = True,
    clean_orphaned_archives: bool = False,
) -> str:
    """What was wrong and is mended, and what still is wrong and needs a person."""
    said = _told(mend(call.store, call.places, call.config), "The rest needs a person.")
    if clean_orphaned_archives:
        said += "\nNo archive was removed: a person erases one with 'ltm forget ID --purge'."
    return said


def memory_consolidate(call: Call) -> str:
    """Merge what says the same, as `ltm consolidate` does without a person's consent."""
    through, held = plan.let_through(call.store, repetitions(call.store, now()), consent=False)
    done = merge(call.store, through)
    lines = [f"{counted(len(done), 'memory')} merged or archived. restore brings one back."]
    lines += [plan.mass_message(plan.CONSOLIDATE, str(mass)) for mass in held]
    return "\n".join(lines) if done or held else "There is nothing to merge."


def memory_consciousness(call: Call) -> str:
    """What a session is told at its start."""
    text = tell(call.store, call.places, call.config, now()).text
    return text or "There are no memories yet. store_memory keeps the first."


def memory_init(call: Call, name: str = "", description: str = "") -> str:
    """Keep what a project is about; nothing has to be initialised."""
    if not description.strip():
        return f"Nothing has to be initialised.\n{ltm_status(call)}"
    title = f"About {name.strip() or 'the project'}"
    return store_memory(call, description, title=title, kind="fact")


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

    return fitted(head, [_line(each) for each in (*still, *fixed)], last)


def _line(problem: Problem) -> str:
    place = f"{problem.path}:{problem.line}" if problem.line else problem.path
    where = f"{shorten(one_line(place), 300)}: " if place else ""
    said = shorten(one_line(problem.message), 400)
    return f"- {'mended: ' if problem.fixed else ''}{where}{said}"


def _counts(counted: Counter[str]) -> str:
    return ", ".join(f"{count} {name}" for name, count in counted.most_common() if count)


@dataclass(frozen=True, slots=True)
class Current:
    """A session, and how hard it has been; None where that was not counted."""

    id: str = ""
    difficulty: float | None = None
    transcript: str = ""
    cwd: str = ""


def current(call: Call) -> Current:
    """The session this server's agent is in, with its figures up to this moment.

    Most clients do not name it: then only what the latest one that goes on was given is known.
    """
    named = os.environ.get("CLAUDE_CODE_SESSION_ID", "")
    if not os.path.exists(call.places.state_db):
        return Current(named)
    try:
        return _current(call.kept.part("figures", lambda: _figures(call.places)), named, call)
    except (LtmError, OSError, sqlite3.Error):
        return Current(named)


def _figures(places: Places) -> SessionLog:
    """The session log, for what its transcript tells again should a power cut take it."""
    log = SessionLog(places.state_db)
    log.relax()
    return log


def _current(log: SessionLog, named: str, call: Call) -> Current:
    project = call.places.project.id
    if not named:
        latest = next((each for each in log.sessions(project, _RECENT) if not each.ended), None)
        return Current(transcript=latest.transcript, cwd=latest.cwd) if latest else Current()
    session = log.get(named)
    if session is None:
        return Current(named)
    if session.ended:
        session = _successor(log, session, project)
    exists = os.path.exists(session.transcript)
    if not exists or os.path.getsize(session.transcript) <= LONGEST:
        stats.update(log, session, now())
        session = log.get(session.id) or session
    return Current(session.id, session.difficulty, session.transcript, session.cwd)


def _successor(log: SessionLog, ended: Session, project: str) -> Session:
    """The session that took the place of one that ended while its client lives."""
    going_on = [each for each in log.sessions(project, _RECENT) if not each.ended]
    later = [each for each in going_on if each.started >= ended.ended]
    return min(later, key=lambda each: each.started) if later else ended
