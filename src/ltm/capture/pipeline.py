"""From a transcript or an old note to memories: read on, extract, redact, decide, keep.

Memories are on the disk before the cursor moves past what they came from, so that a crash or a full
disk loses nothing, and reading the same again adds nothing. A note is read long after its session:
nothing in it counts that a memory, in force or not, has known since.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from ltm.capture.decide import (
    Candidate,
    Certainty,
    Choice,
    as_memory,
    decide,
    decide_warily,
    has_moved,
    only_tells_of,
    settle,
)
from ltm.capture.extract import Listener
from ltm.capture.provenance import Evidence
from ltm.decisions import Add, Applied, Supersede
from ltm.errors import Refused
from ltm.kinds import Kinds
from ltm.model import Filter, Memory, Source, Status, Stored, Trust
from ltm.redact.redact import redacted
from ltm.sessions.transcript import Lines, LineSource, Unknown, cursor_of, read
from ltm.state.session_log import BY_RULES, SessionLog
from ltm.store.store import Store
from ltm.text.sameness import holds, same

READER, STATE = BY_RULES, "capture state"
_KNOWN = (Status.ACTIVE, Status.QUARANTINED)
_PEERS = 30
_MOST_WAITING = 500
_STRETCH = 5_000  # turns that are heard before what they taught is kept

_Given = defaultdict[Source, list[Stored]]
"""The memories a session gave, by the place that did: a long session gives thousands."""

Choose = Callable[[Memory, Sequence[Stored], Kinds, Candidate], Choice | None]
"""What is to happen with the memory of a candidate, given others; None when nothing is."""


@dataclass(slots=True)
class Captured:
    """What came of a session."""

    turns: int = 0
    added: list[str] = field(default_factory=list)
    superseded: list[str] = field(default_factory=list)
    reinforced: list[str] = field(default_factory=list)
    skipped: int = 0
    """Candidates that were known from the same place already, or could not be kept."""
    likely: list[Candidate] = field(default_factory=list)
    """Candidates that are not sure enough to be memories."""
    llm_calls: int = 0
    llm_error: str = ""
    """Why a model could not be asked, or not about everything; '' when all went well."""

    def __iadd__(self, other: Captured) -> Captured:
        self.turns += other.turns
        self.added += other.added
        self.superseded += other.superseded
        self.reinforced += other.reinforced
        self.skipped += other.skipped
        self.likely += other.likely
        self.llm_calls += other.llm_calls
        self.llm_error = self.llm_error or other.llm_error
        return self


def capture(
    store: Store,
    log: SessionLog,
    session: str,
    path: str,
    *,
    now: datetime,
    difficulty: float = 0.0,
    folder: str = "",
    lines: LineSource = Lines,
    note_likely: Callable[[Sequence[Candidate]], None] | None = None,
) -> Captured:
    """Keep what a session's transcript taught since it was last read; it ran in `folder`.

    `note_likely` gets what is not sure enough to be a memory, before the cursor moves.
    """
    unread = Unread(log, now, READER)
    before = log.cursor(session, READER, path)
    reading = read(path, cursor_of(before), unread, lines=lines)
    evidence = Evidence(path, begun=bool(before), folder=folder, lines=lines)
    listener = Listener(session, store.kinds, log.cursor(session, STATE, path), evidence=evidence)
    done = Captured()
    heard: dict[str, _Given] = {}

    def settle(*, at_end: bool) -> None:
        found = listener.candidates(at_end=at_end)
        evidence.begun |= bool(reading.repeated)
        noted = len(done.likely)
        keep(store, found, done, evidence=evidence, now=now, difficulty=difficulty, heard=heard)
        if note_likely is not None and done.likely[noted:]:
            note_likely(done.likely[noted:])
        with log.transaction():
            unread.mark()
            log.keep_cursor(session, READER, path, reading.cursor.text())
            log.keep_cursor(session, STATE, path, listener.state())

    settled = 0
    for turns in reading.messages():
        done.turns += len(turns)
        listener.hear(turns)
        if done.turns - settled >= _STRETCH:  # so that a crash costs no more than this
            settle(at_end=False)
            settled = done.turns
    settle(at_end=True)
    return done


def keep(
    store: Store,
    candidates: Iterable[Candidate],
    done: Captured,
    *,
    evidence: Evidence,
    now: datetime,
    difficulty: float = 0.0,
    choose: Choose | None = None,
    heard: dict[str, _Given] | None = None,
) -> None:
    """Decide about candidates one by one, and note in `done` what became of them.

    All that becomes a memory comes through here, and `evidence` tells whose word it is: what only
    repeats what the session was given waits for a person. What is only likely is noted, not kept.
    `heard` is for who comes again with more of the same session: what it gave is looked up once.
    """
    heard = {} if heard is None else heard
    with store.in_a_row():
        for candidate in evidence.judged(candidates, waiting=waiting(store)):
            clean = replace(
                candidate,
                text=redacted(candidate.text),
                title=redacted(candidate.title),
                reason=redacted(candidate.reason),
            )
            given = _given_by(store, clean.source.session, heard)
            former = given.get(clean.source._replace(lines=clean.withdraws))
            if clean.withdraws and former:
                # What takes the place of a memory is as sure as that was.
                last = former[-1].memory.text
                clean = replace(clean, replaces=last, tier=Certainty.SURE)
            if clean.tier is Certainty.LIKELY:
                if clean.source.trust is not Trust.TOOL:
                    done.likely.append(clean)
                continue
            memory = as_memory(clean, now, difficulty)
            rule = choose or by_rules
            if memory.source.trust in store.hold:
                # Until a person confirms it, it touches nothing that is in force.
                memory = memory._replace(status=Status.QUARANTINED)
                rule = _add_only
            applied = None if _is_known(memory, given) else _settle(store, memory, clean, rule)
            if applied is None:
                done.skipped += 1
                continue
            given[applied.stored.memory.source].append(applied.stored)
            done.superseded += applied.superseded
            ids = done.reinforced if applied.action == "reinforced" else done.added
            ids.append(applied.stored.memory.id)


def waiting(store: Store) -> Iterator[str]:
    """The texts that wait for a person: to quote one is not to vouch for it."""
    for each in store.list(Filter(statuses=(Status.QUARANTINED,)), _MOST_WAITING).items:
        yield each.memory.text


def by_rules(
    memory: Memory, peers: Sequence[Stored], kinds: Kinds, said: Candidate
) -> Choice | None:
    """What follows for a candidate that rules found."""
    given = ("state",) if said.state else ()
    return decide(memory, peers, kinds, replaces=said.replaces, changed=said.changed, given=given)


def _add_only(
    memory: Memory, peers: Sequence[Stored], kinds: Kinds, said: Candidate
) -> Choice | None:
    """The choice for what waits, no matter who said it: as for what only a tool said."""
    doubted = memory._replace(source=memory.source._replace(trust=Trust.TOOL))
    choice = decide_warily(doubted, peers)
    return choice and choice._replace(decision=Add(memory))


def _settle(store: Store, memory: Memory, said: Candidate, choose: Choose) -> Applied | None:
    """Decide by what is known and make it happen; None when there is nothing to do."""

    def chosen() -> Choice | None:
        return choose(memory, _peers(store, memory, said.replaces), store.kinds, said)

    try:
        settled = settle(store, memory, chosen)
    except Refused:
        return None
    return settled[0] if settled else None


def _peers(store: Store, memory: Memory, replaces: str) -> list[Stored]:
    wanted = Filter(statuses=_KNOWN, scopes=(memory.scope,))
    single = store.kinds[memory.kind].single
    kin = store.list(wanted._replace(kinds=(memory.kind,))).items if single else ()
    found = {each.memory.id: each for each in kin} | {
        each.stored.memory.id: each.stored
        for text in filter(None, (memory.text, replaces))
        for each in store.search(text[:2_000], wanted, _PEERS).items
    }
    return list(found.values())


def _given_by(store: Store, session: str, heard: dict[str, _Given]) -> _Given:
    """The memories a session gave, asked for once: one that teaches much is asked about often."""
    if session not in heard:
        given: _Given = defaultdict(list)
        wanted = Filter(statuses=tuple(Status), naming=session)
        for each in store.list(wanted).items if session else ():
            given[each.memory.source].append(each)
        heard[session] = given
    return heard[session]


def _is_known(memory: Memory, given: _Given) -> bool:
    """Whether this very place of this very session gave this memory before."""
    if not memory.source.session:
        return False
    return any(
        same(memory.text, each.memory.text)
        # A tombstone has only its title left to be known by.
        or (not each.memory.text and each.memory.title == memory.title)
        for each in given.get(memory.source, ())
    )


class Unread(Unknown):
    """Messages a reader has not read; they are marked only when what they gave is kept."""

    def __init__(self, log: SessionLog, now: datetime, reader: str) -> None:
        self._read = log.turns_read(reader, now)
        super().__init__(self._read.known)

    def mark(self) -> None:
        """Note that all of them were read."""
        self._read.note(self.met)
        self.forget()


_NEAR = 20


def keep_late(
    store: Store,
    candidates: Iterable[Candidate],
    done: Captured,
    *,
    evidence: Evidence,
    now: datetime,
) -> None:
    """Keep candidates as `pipeline.keep` does, except those that something newer answers."""

    def choose(
        memory: Memory, peers: Sequence[Stored], kinds: Kinds, said: Candidate
    ) -> Choice | None:
        return None if is_known_since(store, memory) else by_rules(memory, peers, kinds, said)

    keep(store, candidates, done, evidence=evidence, now=now, choose=choose)


def keep_episode(
    store: Store, candidate: Candidate, done: Captured, *, evidence: Evidence, now: datetime
) -> None:
    """Append an episode; a later one of the same session takes the place of the earlier."""
    (judged,) = evidence.judged([candidate], waiting=waiting(store))
    memory = as_memory(judged, now)
    if memory.source.trust in store.hold:
        memory = memory._replace(status=Status.QUARANTINED)
    former = [
        each.memory
        for each in store.list(Filter(kinds=(memory.kind,), statuses=tuple(Status))).items
        if each.memory.source.tool == memory.source.tool
        and each.memory.source.session == memory.source.session
        and (memory.source.session or each.memory.title == memory.title)
    ]
    # A tombstone has only its title left to be known by.
    if any(each.title == memory.title and each.content in ("", memory.content) for each in former):
        done.skipped += 1
        return
    old = tuple(each.id for each in former if each.status is memory.status)
    applied = store.apply(Supersede(old, memory) if old else Add(memory))
    done.superseded += applied.superseded
    done.added.append(memory.id)


def is_known_since(store: Store, candidate: Memory) -> bool:
    """Whether a memory, whatever became of it, says the same and was confirmed then or later.

    An issue that is open there and resolved here is news, whenever that was written: a note has the
    day on which its session began. Where only the newest of a kind is in force, any newer one will
    do.
    """
    kind = store.kinds[candidate.kind]
    wanted = Filter(kinds=(candidate.kind,), statuses=tuple(Status), scopes=(candidate.scope,))
    if kind.single:
        newer = store.list(wanted).items
        return any(each.memory.confirmed >= candidate.created for each in newer)
    wanted = wanted._replace(kinds=())
    for each in store.search(candidate.text[:2_000], wanted, _NEAR).items:
        memory = each.stored.memory
        moved = memory.status is Status.ACTIVE and has_moved(candidate, memory, store.kinds)
        if moved or memory.confirmed < candidate.created:
            continue
        if only_tells_of(candidate, memory, store.kinds):
            continue
        # A tombstone has only its title left to be known by.
        if holds(memory.text or memory.title, candidate.text) or (
            not memory.text and memory.title == candidate.title
        ):
            return True
    return False
