"""Keep what a person or an agent asks to remember, and candidates they confirm.

This is the flow behind `ltm remember` and `store_memory`, and `ltm review` and `review_candidates`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from hashlib import blake2b

from ltm.capture.decide import Candidate, Choice, Outcome, decide, moment_of, replacing, settle
from ltm.capture.provenance import Evidence
from ltm.decisions import Add, Applied
from ltm.errors import WrongUsage
from ltm.model import (
    Filter,
    Impact,
    Memory,
    Scope,
    Source,
    Status,
    Stored,
    Trust,
    choice,
    new_id,
    now,
)
from ltm.redact.redact import without_marks
from ltm.state.candidates import DROPPED, KEPT, CandidateRecord, Candidates
from ltm.store.revision import check_length, distinct_tags, without_secrets
from ltm.store.store import Store
from ltm.text.display import one_line
from ltm.text.infer import infer
from ltm.text.sameness import holds, key, same
from ltm.text.sentences import summary_of, title_of

_WANTED = Filter(statuses=(Status.ACTIVE, Status.QUARANTINED))
_PEERS = 30


@dataclass(frozen=True, slots=True)
class RememberRequest:
    """What is to be remembered; what was left open is None and will be inferred."""

    text: str
    title: str | None = None
    kind: str | None = None
    impact: str | None = None
    scope: str | None = None
    tags: Sequence[str] = ()
    auto_tag: bool = True
    difficulty: float | None = None
    pinned: bool = False
    reason: str = ""
    state: str = ""
    replaces: str = ""
    """Id of the memory this one takes the place of, shortened or not."""
    by_person: bool = False
    """Whether a person gave it just now, so that it waits for no one."""
    evidence: Evidence | None = None
    """What the session was given in which this is to be remembered: what only repeats that is the
    word of a tool, no matter who says so."""
    apart: bool = False
    """Keep it as a memory of its own, whatever it resembles."""
    source: Source = field(default_factory=Source)


@dataclass(frozen=True, slots=True)
class RememberResult:
    """What became of a wish."""

    applied: Applied
    choice: Choice
    inferred: tuple[str, ...]
    redacted: tuple[str, ...] = ()
    """The kinds of secrets that were in the wish, and are in no file."""
    copied: bool = False
    """Whether it only repeats what the session was given."""

    @property
    def outcome(self) -> Outcome:
        """Which of the outcomes of `decide` it was."""
        return self.choice.outcome

    @property
    def similar(self) -> tuple[Stored, ...]:
        """The memory it resembles, if it is kept with one it merely resembles."""
        return self.choice.others if self.outcome is Outcome.SIMILAR else ()


def remember(store: Store, wish: RememberRequest, *, at: datetime | None = None) -> RememberResult:
    """Keep a wish as a memory: new, in the place of an old one, or as its confirmation."""
    if wish.apart and wish.replaces.strip():
        raise WrongUsage(
            "a memory cannot replace another one and be kept apart from it", hint="choose one"
        )
    copied = wish.evidence is not None and wish.evidence.is_copied(
        wish.text, wish.title or "", wish.reason
    )
    if copied:
        source = wish.source._replace(trust=Trust.TOOL)
        wish = replace(wish, source=source, by_person=False)
    memory, inferred, secrets = draft(store, wish, at or now())
    is_held = wish.source.trust in store.hold and not wish.by_person
    if is_held and not _is_in_force(store, memory):
        # Until a person approves it, it touches nothing that is in force.
        memory = memory._replace(status=Status.QUARANTINED)
    given = _given(wish)

    def choose() -> Choice:
        if memory.status is Status.QUARANTINED:
            return Choice(Add(memory), Outcome.ADDED)
        if wish.replaces.strip():
            old = store.read(wish.replaces.strip())
            return replacing(memory, old._replace(etag=""), given)
        peers = store.search(memory.text[:2000], _WANTED, _PEERS)
        found = (each.stored for each in peers.items)
        return decide(memory, found, store.kinds, given=given, apart=wish.apart)

    with store.in_a_row():  # the files are looked at once for what is chosen and for what is kept
        if wish.replaces.strip():
            store.read(wish.replaces.strip())  # an id that is not there is an error, not a retry
        settled = settle(store, memory, choose)
    assert settled is not None  # a wish is always something to do
    applied, choice = settled
    kept = applied.stored.memory
    # In the place of another memory it keeps what that one was, which then was not inferred.
    taken = {f"{name}={getattr(kept, name)}" for name in ("kind", "impact", "scope")}
    inferred = tuple(
        each for each in inferred if each.startswith("tags=") or each.split(" (")[0] in taken
    )
    return RememberResult(applied, choice, inferred, secrets, copied)


def _is_in_force(store: Store, memory: Memory) -> bool:
    found = store.search(memory.text[:2000], Filter(), _PEERS).items
    return any(same(memory.text, each.stored.memory.text) for each in found)


def _given(wish: RememberRequest) -> tuple[str, ...]:
    """The fields of a memory that the wish says."""
    said = {
        "title": wish.title and wish.title.strip(),
        "kind": wish.kind,
        "impact": wish.impact,
        "tags": wish.tags,
        "difficulty": wish.difficulty is not None,
        "pinned": wish.pinned,
        "reason": wish.reason,
        "state": wish.state,
    }
    return tuple(name for name, value in said.items() if value)


def draft(
    store: Store, wish: RememberRequest, at: datetime
) -> tuple[Memory, tuple[str, ...], tuple[str, ...]]:
    """The memory a wish describes, what had to be inferred for it, and which secrets it lost."""
    if not wish.text.strip():
        raise WrongUsage("there is nothing to remember", hint='try: ltm remember "some text"')
    check_length(wish.text)
    texts = {
        "text": wish.text,
        "title": wish.title,
        "reason": wish.reason,
        "tags": tuple(wish.tags),
    }
    fields, secrets = without_secrets(texts, "text")
    wish = replace(wish, **fields)
    text = wish.text.strip("\n").rstrip()
    guess = infer(without_marks(text), store.kinds, title=without_marks(wish.title or ""))
    kind = store.kinds.parse(wish.kind) if wish.kind else store.kinds[guess.kind]
    given = {
        "kind": wish.kind,
        "impact": wish.impact,
        "scope": wish.scope,
        "tags": wish.tags or (None if wish.auto_tag else "none"),
    }
    said = tuple(each for each in guess.said if not given.get(each.split("=")[0]))
    title = one_line(wish.title) if wish.title and wish.title.strip() else title_of(text)
    difficulty = 0.0 if wish.difficulty is None else wish.difficulty
    if not 0.0 <= difficulty <= 1.0:
        raise WrongUsage("difficulty is a number from 0 to 1", hint="try: --difficulty 0.7")
    state = kind.parse_state(wish.state) if wish.state else kind.first_state
    memory = Memory(
        id=new_id(at),
        kind=kind.name,
        title=title,
        summary=summary_of(text),
        content=text,
        created=at,
        updated=at,
        confirmed=at,
        scope=choice(Scope, wish.scope) if wish.scope else guess.scope,
        tags=distinct_tags(wish.tags) or (guess.tags if wish.auto_tag else ()),
        impact=choice(Impact, wish.impact) if wish.impact else guess.impact,
        pinned=wish.pinned,
        difficulty=difficulty,
        reason=wish.reason,
        state=state,
        source=wish.source,
    )
    return memory, said, secrets


_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
_ID = 5
_NEAR = 20


def note_likely(
    store: Store, candidates: Candidates, likely: Iterable[Candidate], now: datetime
) -> None:
    """Keep what a session likely taught, unless it says where the work stands or is known."""
    likely = list(likely)
    withdrawn = {(each.source.session, each.withdraws) for each in likely if each.withdraws}
    if withdrawn:
        waiting = candidates.waiting()
        candidates.decide(
            [each.id for each in waiting if (each.session, each.lines) in withdrawn], DROPPED
        )
    lasting = [each for each in likely if not (each.fleeting or store.kinds[each.kind].single)]
    records = [
        CandidateRecord(
            _id_of(each.text),
            each.text,
            each.kind,
            str(each.impact or ""),
            str(each.scope),
            str(each.source.trust),
            each.source.session,
            each.source.lines,
            round(1000 * each.weight),
            int(moment_of(each.at, now).timestamp()),
        )
        for each in lasting
        if not _is_known(store, each.text)
    ]
    if records:
        candidates.add(records)


def settle_known(candidates: Candidates, memories: Iterable[Memory]) -> None:
    """Take out what new memories say: it was said more surely since."""
    texts = [each.text for each in memories if each.status is Status.ACTIVE]
    known = [
        each.id for each in candidates.waiting() if any(holds(text, each.text) for text in texts)
    ]
    if known:
        candidates.decide(known, KEPT)


def keep_candidate(
    store: Store,
    candidates: Candidates,
    record: CandidateRecord,
    *,
    by: str,
    auto_tag: bool,
    by_person: bool = False,
) -> RememberResult:
    """Make a memory of a candidate; `by` is the command or tool that confirmed it."""
    wish = RememberRequest(
        text=record.text,
        kind=record.kind if record.kind in store.kinds else None,
        impact=record.impact or None,
        scope=record.scope or None,
        auto_tag=auto_tag,
        source=Source(choice(Trust, record.trust), record.session, record.lines, by),
        by_person=by_person,
    )
    done = remember(store, wish)
    candidates.decide([record.id], KEPT)
    return done


def drop_candidates(candidates: Candidates, records: Iterable[CandidateRecord]) -> None:
    """Refuse candidates: they are neither offered nor noted again."""
    candidates.decide([each.id for each in records], DROPPED)


def _id_of(text: str) -> str:
    """A short id that what says the same has too."""
    digest = blake2b(" ".join(key(text)).encode("utf-8", "replace"), digest_size=8).digest()
    number = int.from_bytes(digest, "big")
    return "".join(_ALPHABET[number >> 5 * place & 31] for place in range(_ID))


def _is_known(store: Store, text: str) -> bool:
    """Whether a memory says it already, or did before it was forgotten or replaced."""
    found = store.search(text[:2_000], Filter(statuses=tuple(Status)), _NEAR).items
    return any(holds(each.stored.memory.text or each.stored.memory.title, text) for each in found)
