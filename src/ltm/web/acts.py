"""What a person does on the page: every act is a use case that a command calls too.

An act gets a visit with a form and says what it did and what takes that back. Where an act cannot
be done as it was meant, because a memory changed meanwhile, it shows both texts instead.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from ltm.capture.decide import Outcome
from ltm.capture.remember import (
    RememberRequest,
    RememberResult,
    drop_candidates,
    keep_candidate,
    remember,
)
from ltm.config import config
from ltm.decisions import Forget, Merge, Restore, Settle
from ltm.errors import Conflict, NotFound, Refused, WrongUsage
from ltm.model import Filter, Impact, Memory, Scope, Status, Stored, choice, now
from ltm.record import NamedTuple
from ltm.remote.contents import is_set_up
from ltm.state.candidates import CandidateRecord, Candidates, named
from ltm.state.corrections import opened
from ltm.store.project import OpenProject
from ltm.store.revision import approve, changes_of, check_waits, in_scope, revise
from ltm.store.trust import record_trust
from ltm.store.undo import noted, touched
from ltm.team.outbox import Outbox
from ltm.team.teams import note, team_named
from ltm.text.diff import word_diff
from ltm.text.display import counted, one_line, visible
from ltm.text.sentences import shortened
from ltm.transfer.import_ import ImportRequest
from ltm.upkeep import consolidate, plan
from ltm.upkeep.purge import purge_memories, purge_session_traces
from ltm.web.memories import memory_values
from ltm.web.project import bring_in, exchange, may_be_set, read_all
from ltm.web.sessions import read_friction
from ltm.web.site import Job, PageValues, Visit
from ltm.worker.reflect import reflect

_BY = "ltm ui"
_ACTS = ("tag", "pin", "approve", "forget")
_FIELDS = ("title", "content", "kind", "impact", "state", "reason", "scope")
_LONG = 60
_PEERS = 50  # memories near a text that remembering it may change


class Done(NamedTuple):
    text: str
    """In a sentence; '' where nothing changed."""
    back: Callable[[Visit], None] | None = None
    """What takes it back."""
    address: str = ""
    """Where it leads, if not to the page its form stood on."""


class Clash(NamedTuple):
    """An edit that conflicts with a later one; its page shows both texts."""

    values: PageValues


def _name(memory: Memory) -> str:
    return f"“{shortened(one_line(memory.title), _LONG)}”"


def _seen(visit: Visit, stored: Stored, field: str = "etag") -> Stored:
    """A memory, if it is as the form showed it."""
    return _unchanged(stored, visit.form(field) if visit.has(field) else stored.etag)


def _all_seen(visit: Visit, ids: Iterable[str]) -> list[Stored]:
    """Several memories, if each is as the form showed it."""
    shown = {name: etag for name, _, etag in (each.partition(" ") for each in visit.forms("seen"))}
    found = [visit.store.read(each) for each in dict.fromkeys(ids)]
    return [_unchanged(each, shown.get(each.memory.id, each.etag)) for each in found]


def _unchanged(stored: Stored, etag: str) -> Stored:
    if etag != stored.etag:
        raise Conflict(
            f"{stored.memory.id} was changed elsewhere meanwhile",
            hint="the page shows it as it is now: look at it, then do it again",
        )
    return stored


# -- one memory ------------------------------------------------------------------------------------


def edit(visit: Visit) -> Done | Clash:
    """Change fields of a memory, if it is as the form showed it."""
    stored = visit.memory()
    given: dict[str, Any] = {name: visit.form(name) for name in _FIELDS if visit.has(name)}
    memory = stored.memory
    if visit.has("tags"):
        given["tags"] = visit.form("tags").split(",")
    # A field that the person left as it was is not a change: a title then follows a new text.
    for name in _FIELDS:
        former = visit.form(f"former_{name}") if visit.has(f"former_{name}") else None
        if name in given and given[name] == (
            str(getattr(memory, name)) if former is None else former
        ):
            del given[name]
    if visit.form("etag") != stored.etag:
        return _clash(visit, stored)
    scope = choice(Scope, given.pop("scope", memory.scope))
    before = touched(visit.store, [memory.id])
    try:
        done = revise(visit.store, stored, changes_of(memory, given, visit.config.kinds))
        after = done.after
        if scope is not after.memory.scope:
            after = in_scope(visit.store, after, scope)
    except Conflict:
        return _clash(visit, visit.memory())
    if done.is_empty and after == done.after:
        return Done("")
    redacted = f" A secret was taken out: {', '.join(done.redacted)}." * bool(done.redacted)
    name = after.memory.id
    back = visit.put_back(noted(visit.store, before, [] if name in before else [name]))
    text = f"Changed {_name(after.memory)}.{redacted}"
    return Done(text, back, visit.address(f"/m/{name}"))


def _clash(visit: Visit, stored: Stored) -> Clash:
    memory = stored.memory
    now_is = {name: str(getattr(memory, name)) for name in _FIELDS}
    now_is["tags"] = ", ".join(memory.tags)
    # Fields that the person left alone take what the other change made of them.
    yours = {
        name: value if visit.form(name) == visit.form(f"former_{name}") else visit.form(name)
        for name, value in now_is.items()
    }
    theirs = memory.content
    difference = [part._asdict() for part in word_diff(theirs, yours["content"])]
    return Clash(memory_values(visit, stored) | {"yours": yours, "difference": difference})


def _revised(visit: Visit, changes: dict[str, Any], words: str) -> Done:
    stored = _seen(visit, visit.memory())
    before = touched(visit.store, [stored.memory.id])
    done = revise(visit.store, stored, changes)
    if done.is_empty:
        return Done("")
    back = visit.put_back(noted(visit.store, before))
    return Done(f"{words} {_name(done.after.memory)}.", back)


def pin(visit: Visit) -> Done:
    """Pin a memory, so that it never fades."""
    return _revised(visit, {"pinned": True}, "Pinned")


def unpin(visit: Visit) -> Done:
    return _revised(visit, {"pinned": False}, "Unpinned")


def promote(visit: Visit) -> Done:
    """Raise the impact of a memory by one step: it is told sooner and fades later."""
    steps = list(Impact)
    rank = visit.memory().memory.impact.rank
    if rank + 1 == len(steps):
        raise Refused("it has the highest impact already")
    return _revised(visit, {"impact": steps[rank + 1]}, f"Impact {steps[rank + 1]} for")


def forget(visit: Visit) -> Done:
    """Forget a memory: it is not used any more, and its text is kept in the archive."""
    return _forgotten(visit, [_seen(visit, visit.memory())])


def _forgotten(visit: Visit, found: list[Stored]) -> Done:
    before = touched(visit.store, [each.memory.id for each in found])
    with visit.store.in_a_row():
        for each in found:
            visit.store.apply(Forget(each.memory.id, expected=each.etag))
    what = _name(found[0].memory) if len(found) == 1 else counted(len(found), "memory")
    return Done(f"Forgot {what}.", visit.put_back(noted(visit.store, before)))


def restore(visit: Visit) -> Done:
    """Restore a forgotten memory, or an earlier version of one."""
    stored = visit.memory()
    version = visit.form("version")
    before = touched(visit.store, [stored.memory.id])
    number = int(version) if version.isdecimal() and len(version) < 9 else 0
    after = visit.store.apply(Restore(stored.memory.id, number)).stored
    back = visit.put_back(noted(visit.store, before))
    if back is None:
        return Done("")
    what = f"version {number} of " if number else ""
    return Done(f"Brought back {what}{_name(after.memory)}.", back)


def purge(visit: Visit) -> Done:
    """Erase a memory for good, if the person typed its title."""
    stored = visit.memory()
    title, typed = one_line(stored.memory.title), one_line(visit.form("title"))
    if not typed or typed not in (title, visible(title)):  # hidden characters cannot be typed
        raise WrongUsage(
            "what you typed is not the title, so nothing was erased",
            hint="type the title as it stands on the page",
        )
    passages, transcripts = purge_memories(visit, [stored])
    visit.site.forget_changes(visit)
    said = f", and {counted(passages, 'passage')} that said it" if passages else ""
    text = f"Erased {stored.memory.id} for good{said}."
    if stored.team or is_set_up(visit.places.home):
        text += " Other machines lose it with the next sync."
    if stored.vault == "shared":
        text += " What was committed before stays in git's history until you rewrite it."
    if transcripts:
        text += f" The client's own transcript still has it: {', '.join(transcripts)}"
    return Done(text, None, visit.address("/find"))


def approve_one(visit: Visit) -> Done:
    return _approved(visit, [_seen(visit, visit.memory())])


def _approved(visit: Visit, found: list[Stored]) -> Done:
    for each in found:
        check_waits(each)
    before = touched(visit.store, [each.memory.id for each in found])
    for each in found:
        approve(visit.store, each)
    what = _name(found[0].memory) if len(found) == 1 else counted(len(found), "memory")
    return Done(f"Approved {what}.", visit.put_back(noted(visit.store, before)))


def merge(visit: Visit) -> Done:
    """Let this memory take another one in, with the text the person wrote for both."""
    into, other = _seen(visit, visit.memory()), visit.store.read(visit.form("other"))
    _seen(visit, other, "other_etag")
    if into.memory.id == other.memory.id:
        raise WrongUsage("a memory cannot take itself in", hint="choose another one")
    before = touched(visit.store, [into.memory.id, other.memory.id])
    content = visit.form("content").strip()
    etags = {each.memory.id: each.etag for each in (into, other)}
    kept = content if content != into.memory.content.strip() else ""
    visit.store.apply(Merge(into.memory.id, (other.memory.id,), kept, etags))
    back = visit.put_back(noted(visit.store, before))
    return Done(f"{_name(into.memory)} took in {_name(other.memory)}.", back)


def settle(visit: Visit) -> Done:
    """End a conflict: this memory holds, or all of them do."""
    kept = visit.memory()
    others = tuple(visit.store.read(each).memory.id for each in visit.forms("other"))
    if not others or kept.memory.id in others:
        raise WrongUsage("name the memory it is in conflict with")
    both = visit.form("both") == "yes"
    before = touched(visit.store, [kept.memory.id, *others])
    visit.store.apply(Settle(kept.memory.id, others, all_hold=both))
    back = visit.put_back(noted(visit.store, before))
    text = "Kept both: they are no longer in conflict." if both else f"Kept {_name(kept.memory)}."
    return Done(text, back)


def keep(visit: Visit) -> Done:
    """Store a memory that the person typed."""
    text, kind = visit.form("text").strip(), visit.form("kind")
    if not text:
        raise WrongUsage("there is nothing to remember", hint="type it in a sentence")
    auto_tag = bool(visit.config.get("auto_tag"))
    wish = RememberRequest(text, kind=kind or None, auto_tag=auto_tag, by_person=True)
    done, back = _remembered(visit, text, lambda: remember(visit.store, wish))
    memory = done.applied.stored.memory
    known = done.outcome is Outcome.CONFIRMED
    words = [f"{'Known already, now confirmed' if known else 'Remembered'}: {_name(memory)}."]
    if done.applied.superseded:
        words.append(f"It replaces {', '.join(_name(each.memory) for each in done.choice.others)}.")
    if done.outcome is Outcome.CONFLICT:
        words.append("It is in conflict with another one: choose below.")
    if done.redacted:
        words.append(f"A secret was taken out: {', '.join(done.redacted)}.")
    return Done(" ".join(words), back, visit.address(f"/m/{memory.id}"))


# -- several memories ------------------------------------------------------------------------------


def bulk(visit: Visit) -> Done:
    """One act for all memories that were selected."""
    act, ids = visit.form("act"), dict.fromkeys(visit.forms("id"))
    if not ids:
        raise WrongUsage("no memory is selected", hint="tick the boxes of those you mean")
    if act not in _ACTS:
        raise WrongUsage(f"'{act}' is not an act", hint=f"choose one of: {', '.join(_ACTS)}")
    found = _all_seen(visit, ids)
    if act == "forget":
        return _forgotten(visit, found)
    if act == "approve":
        return _approved(visit, found)
    tag = one_line(visit.form("tag")).strip(" ,")
    if act == "tag" and not tag:
        raise WrongUsage("there is no tag to add", hint="type it next to the button")
    before = touched(visit.store, ids)
    with visit.store.in_a_row():
        for each in found:
            tags = (*each.memory.tags, tag)
            change = {"pinned": True} if act == "pin" else {"tags": tuple(dict.fromkeys(tags))}
            revise(visit.store, each, change)
    back = visit.put_back(noted(visit.store, before))
    words = "Pinned" if act == "pin" else f"Tagged ‘{tag}’:"
    return Done(f"{words} {counted(len(found), 'memory')}.", back)


# -- what waits ------------------------------------------------------------------------------------


def decide(visit: Visit) -> Done:
    keep = visit.form("act") == "keep"
    if not keep and visit.form("act") != "drop":
        raise WrongUsage("choose to keep or to drop")
    candidates = Candidates(visit.places.private)
    records = named(candidates.waiting(), visit.forms("candidate"))
    found = _all_seen(visit, visit.forms("memory"))
    backs: list[Callable[[Visit], None] | None] = []
    if found:
        done = _approved(visit, found) if keep else _forgotten(visit, found)
        backs.append(done.back)
    if records:
        backs.append((_kept if keep else _dropped)(visit, candidates, records))
    count = len(found) + len(records)
    if not count:
        raise WrongUsage("nothing is selected")
    first = one_line(records[0].text) if records else one_line(found[0].memory.title)
    what = f"“{shortened(first, _LONG)}”" if count == 1 else counted(count, "statement")
    return Done(f"{'Kept' if keep else 'Dropped'} {what}.", _together(backs))


def _kept(
    visit: Visit, candidates: Candidates, records: Iterable[CandidateRecord]
) -> Callable[[Visit], None]:
    records = list(records)
    tag = bool(visit.config.get("auto_tag"))

    def keep(record: CandidateRecord) -> RememberResult:
        return keep_candidate(visit.store, candidates, record, by=_BY, auto_tag=tag)

    backs = [_remembered(visit, each.text, partial(keep, each))[1] for each in records]

    def back(visit: Visit) -> None:
        for each in reversed([each for each in backs if each]):
            each(visit)
        Candidates(visit.places.private).reopen(records)

    return back


def _remembered(
    visit: Visit, text: str, do: Callable[[], RememberResult]
) -> tuple[RememberResult, Callable[[Visit], None] | None]:
    """Remember a text, and what takes that back, whatever it did to memories near it."""
    peers = visit.store.search(text[:2_000], Filter(statuses=tuple(Status)), _PEERS).items
    before = touched(visit.store, [each.stored.memory.id for each in peers])
    done = do()
    name = done.applied.stored.memory.id
    return done, visit.put_back(noted(visit.store, before, [] if name in before else [name]))


def _dropped(
    visit: Visit, candidates: Candidates, records: Iterable[CandidateRecord]
) -> Callable[[Visit], None]:
    records = list(records)
    drop_candidates(candidates, records)
    return lambda visit: Candidates(visit.places.private).reopen(records)


def _together(
    backs: Iterable[Callable[[Visit], None] | None],
) -> Callable[[Visit], None] | None:
    found = [each for each in backs if each is not None]

    def back(visit: Visit) -> None:
        for each in reversed(found):
            each(visit)

    return back if found else None


def trust(visit: Visit) -> Done:
    places = visit.places
    if not places.shared_exists:
        raise NotFound("this repository has no memories to trust", path=places.shared)
    answer, former = visit.form("answer") == "yes", places.trusted
    record_trust(places.private, places.project, places.shared, answer)

    def back(visit: Visit) -> None:
        where = visit.places
        record_trust(where.private, where.project, where.shared, former)

    word = "are trusted" if answer else "are not used, and you will not be asked again"
    return Done(f"The memories in {places.shared} {word}.", back)


def consent(visit: Visit) -> Done:
    """Let a mass of memories go that was held back."""
    command, at, store = visit.form("command"), now(), visit.store
    before = touched(store, (each.memory.id for each in store.list(plan.ACTIVE).items))
    if command == plan.UPKEEP:
        limits = plan.limits_of(visit.config)
        count = len(plan.run(store, now=at, limits=limits, consent=True).done)
    elif command == plan.CONSOLIDATE:
        count = len(consolidate.apply(store, consolidate.plan(store, at)))
    else:
        raise WrongUsage(f"nothing was held back by '{command}'")
    plan.note_masses_in(visit.places, command, ())
    return Done(
        f"{counted(count, 'change')} that waited for your consent.",
        visit.put_back(noted(store, before)),
    )


def undo(visit: Visit) -> Done:
    return Done(f"Undone: {visit.site.undo(visit, visit.form('change'))}")


# -- teams ---------------------------------------------------------------------------------------


def trust_team(visit: Visit) -> Done:
    """Find a team's memories and tell them to sessions, or never."""
    team, name = team_named(visit.places.home, visit.name), visit.name
    answer, former = visit.form("answer") == "yes", team.place.trusted
    note(team, trusted=answer)

    def back(visit: Visit) -> None:
        note(team_named(visit.places.home, name), trusted=former)

    what = "are found, and told to sessions" if answer else "are not found or told to sessions"
    return Done(f"The memories of the team {name} {what}.", back)


def dismiss(visit: Visit) -> Done:
    """Delete the decisions that the server of a team refused."""
    outbox = Outbox(team_named(visit.places.home, visit.name).folder)
    refused = outbox.refused()
    outbox.dismiss()

    def back(visit: Visit) -> None:
        for each in refused:
            outbox.refuse(each.key, each.record, each.message, each.hint)

    return Done(f"Put aside {counted(len(refused), 'refused change')}.", back)


def begin_exchange(visit: Visit) -> Done:
    """Send and receive now what changed in a team."""
    job = Job(f"Exchange with the team {visit.name}", "round", visit.address("/teams"))
    return _begun(visit, job, exchange(visit.name))


# -- sessions, rules, settings ---------------------------------------------------------------------


def purge_session(visit: Visit) -> Done:
    """Erase what was said in a session, if the person typed the beginning of its id."""
    if visit.form("typed").strip() != visit.name[:8]:
        raise WrongUsage(
            "what you typed is not the beginning of its id, so nothing was erased",
            hint=f"type the first 8 characters of the id: {visit.name[:8]}",
        )
    passages, transcript = purge_session_traces(visit.name, visit.places)
    visit.site.forget_changes(visit)
    text = f"Erased {counted(passages, 'passage')} of the session {visit.name[:8]}."
    if transcript:
        text += f" The client's own transcript stays until the client deletes it: {transcript}"
    return Done(text, None, visit.address("/time"))


def rule(visit: Visit) -> Done:
    """Make a memory of what is corrected again and again, or never."""
    places, project = visit.places, visit.places.project.id
    with opened(places.home) as ledger:
        found = next((each for each in ledger.rules(project, now()) if each.id == visit.name), None)
        if found is None:
            raise NotFound(f"there is no rule '{visit.name}' in this project")
        if visit.form("act") == "reject":
            ledger.rejected(project, found.id, now())
            return Done(f"{found.id} does not become a memory.", partial(_admitted, name=found.id))
        wish = RememberRequest(found.statement, kind="preference")
        done, back = _remembered(visit, wish.text, lambda: remember(visit.store, wish))
        memory = done.applied.stored.memory
        ledger.promoted(project, found.id, memory.id, now())
    name = visit.name
    return Done(f"Sessions are told: {_name(memory)}.", lambda visit: _demoted(visit, back, name))


def _demoted(visit: Visit, back: Callable[[Visit], None] | None, name: str) -> None:
    if back is not None:
        back(visit)
    with opened(visit.places.home) as ledger:
        ledger.demoted(visit.places.project.id, name, now())


def _admitted(visit: Visit, name: str) -> None:
    with opened(visit.places.home) as ledger:
        ledger.admitted(visit.places.project.id, name)


def set_option(visit: Visit) -> Done:
    """Set an option for the user, in all projects, or go back to its default."""
    name, value = visit.form("name"), visit.form("value")
    if not may_be_set(name):
        raise Refused(f"{name} is set from a shell", hint=f"type: ltm config {name} VALUE")
    path = os.path.join(visit.places.home, config.CONFIG_FILE)
    user = visit.user
    former = user.user_values.get(name)
    if visit.form("act") == "unset":
        config.unset_option(path, name)
        text = f"{name} is back at its default."
    else:
        config.set_option(path, name, value)
        text = f"{name} is {value} now."

    def back(visit: Visit) -> None:
        if former is None:
            config.unset_option(path, name)
        else:
            shown = str(former).lower() if isinstance(former, bool) else str(former)
            config.set_option(path, name, shown)

    return Done(text, back)


# -- work that takes long --------------------------------------------------------------------------


def begin_import(visit: Visit) -> Done:
    """Import from a path of this machine."""
    path = visit.form("path").strip()
    if not path or path == "-":
        raise WrongUsage("there is no path", hint="type the path of a file or folder")
    request = ImportRequest(
        path,
        source=visit.form("source"),
        dry_run=visit.form("dry_run") == "yes",
        quarantine=visit.form("quarantine") == "yes",
    )
    real = {name: visit.form(name) for name in ("path", "source", "quarantine")}
    trial_of = real if request.dry_run else None
    job = Job(f"Import from {path}", "memory", visit.address("/find"), trial_of)
    return _begun(visit, job, bring_in(request))


def begin_capture(visit: Visit) -> Done:
    """Read all sessions the client has kept."""
    job = Job("Read past sessions", "session", visit.address("/time"))
    return _begun(visit, job, read_all)


def begin_friction(visit: Visit) -> Done:
    """Look for friction in the project's sessions."""
    job = Job("Look for friction", "session", visit.address("/friction"))
    findings = visit.site.findings
    return _begun(visit, job, lambda project, job: read_friction(project, job, findings))


def begin_reflection(visit: Visit) -> Done:
    """Make memories of stashes, unread sessions and corrections."""

    def run(project: OpenProject, job: Job) -> None:
        def tell(total: int) -> None:
            job.total = total
            job.done += 1

        done = reflect(project, now=now(), tell=tell)
        captured = done.captured
        job.lines.append(
            f"{counted(len(captured.added), 'memory')} added from sessions,"
            f" {counted(len(done.stashes), 'stash', 'stashes')} read."
        )

    return _begun(visit, Job("Remember stashes", "step", visit.address("/review")), run)


def _begun(visit: Visit, job: Job, run: Callable[[OpenProject, Job], None]) -> Done:
    visit.site.begin(visit, job, run)
    return Done("", None, visit.address(f"/work/{job.id}"))
