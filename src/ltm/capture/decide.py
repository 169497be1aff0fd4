"""Candidates, and what is to happen with one, given the memories that are known.

| the candidate                                    | outcome     | what happens                   |
|--------------------------------------------------|-------------|--------------------------------|
| says the same                                    | `confirmed` | the memory counts once more    |
| says the same and more                           | `extended`  | it takes the memory's place    |
| announces a change that fits exactly one memory  | `replaced`  | it takes the memory's place    |
| differs in a value, a name or a denial           | `conflict`  | both stay and name each other  |
| is merely alike                                  | `similar`   | both stay                      |
| is about something else                          | `added`     | it is a new memory             |

How two texts relate is for `text.sameness`. A decision names the state of the memory it was made
for; if another change came first, it is made again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from ltm.capture.message import said
from ltm.decisions import Add, Applied, Contradict, Decision, Reinforce, Supersede
from ltm.errors import Conflict, NotFound
from ltm.kinds import Kinds
from ltm.model import Impact, Memory, Scope, Source, Status, Stored, Trust, new_id, utc
from ltm.store.store import Store
from ltm.text.display import one_line
from ltm.text.infer import auto_tags, infer_impact
from ltm.text.sameness import Sameness, Verdict, announces, judge, leaves_out, same
from ltm.text.sentences import opens_with, short_title, shortened, summary_of, title_of
from ltm.text.similarity import jaccard, tokens_of

_ANNOUNCEMENT = 6  # words of a sentence that only announces a change


class Certainty(StrEnum):
    """How far a candidate is trusted to be worth keeping."""

    SURE = "sure"
    """It becomes a memory."""
    LIKELY = "likely"
    """It becomes one only if it is confirmed."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One thing worth considering, in plain words, with where it was said."""

    kind: str
    text: str
    weight: float
    """How sure we are that it is worth keeping, 0 to 1: the surest are kept when there are many."""
    source: Source = field(default_factory=Source)
    title: str = ""
    impact: Impact | None = None
    scope: Scope = Scope.PROJECT
    reason: str = ""
    state: str = ""
    replaces: str = ""
    """The text of the memory it says it replaces."""
    message: str = ""
    """The message of a person that says it."""
    withdraws: str = ""
    """The lines of the message that was taken back with it."""
    tags: tuple[str, ...] = ()
    fleeting: bool = False
    """Whether it says where the work stands, so that little is lost by leaving it out."""
    observed: str = ""
    """The part of the text that tells what was run, failed or listened, and is not a claim."""
    done: str = ""
    """What the agent did, as the text has it: a command, a change, the subject of a commit."""
    at: str = ""
    """When it was said, as the transcript has it."""
    tier: Certainty = Certainty.SURE

    @property
    def alone(self) -> bool:
        """Whether its message says nothing else, so that it is stated and not quoted."""
        return same(self.text, self.message)

    @property
    def changed(self) -> bool:
        """Whether its message announces a change, of it or of whatever comes next."""
        marks = (each.text for each in said(self.message) if announces(each.text))
        return any(_is_about(mark, self.text) for mark in marks)


def _is_about(mark: str, text: str) -> bool:
    """Whether a sentence that announces a change speaks of a text, or of whatever comes next."""
    words = tokens_of(mark)
    return len(mark.split()) <= _ANNOUNCEMENT or 2 * len(words & tokens_of(text)) >= len(words)


def as_memory(candidate: Candidate, now: datetime, difficulty: float = 0.0) -> Memory:
    """The memory a candidate would be, learned in a session this hard.

    It is as old as what was said, so that what comes from an old transcript is not taken for new.
    """
    at = moment_of(candidate.at, now)
    return Memory(
        id=new_id(at),
        kind=candidate.kind,
        title=_title(candidate),
        summary=summary_of(candidate.text),
        content=candidate.text,
        created=at,
        updated=now,
        confirmed=at,
        scope=candidate.scope,
        tags=candidate.tags or auto_tags(f"{candidate.title} {candidate.text}"),
        impact=candidate.impact or infer_impact(candidate.text),
        difficulty=difficulty,
        reason=candidate.reason,
        state=candidate.state,
        source=candidate.source,
    )


def _title(candidate: Candidate) -> str:
    """A title of its own only where the text does not begin with it, so that others follow it."""
    if candidate.title and not opens_with(candidate.text, candidate.title):
        return short_title(candidate.title)
    return title_of(candidate.text)


def moment_of(text: str, now: datetime) -> datetime:
    """When something was said, as a transcript has it; now where it does not say."""
    try:
        return min(utc(text).replace(microsecond=0), now)
    except ValueError:
        return now


REPLACES = 0.5
"""Overlap above which an existing memory is the one a candidate says it replaces."""

BEFORE = "before: "
"""How the reason of a change begins that does not say by itself what it changed."""

_LONGEST = 200
_RIVALS = 5
"""Memories a candidate can be in conflict with; more are a list, not a conflict."""


class Outcome(StrEnum):
    """What became of a candidate."""

    CONFIRMED = "confirmed"
    EXTENDED = "extended"
    REPLACED = "replaced"
    CONFLICT = "conflict"
    SIMILAR = "similar"
    ADDED = "added"


class Choice(NamedTuple):
    """What is to happen with a candidate, and with which memories it was compared."""

    decision: Decision
    outcome: Outcome
    others: tuple[Stored, ...] = ()
    """The memories it confirms, replaces, contradicts or resembles."""


def decide(
    candidate: Memory,
    existing: Iterable[Stored],
    kinds: Kinds,
    *,
    replaces: str = "",
    changed: bool = False,
    given: Collection[str] = (),
    apart: bool = False,
) -> Choice:
    """What follows from the relation of a candidate to the memories of its scope.

    `replaces` is the text of the memory the candidate claims to replace, `changed` says that a
    change was announced in front of it, `given` are the fields that were chosen and `apart` asks to
    keep it as a memory of its own. What waits in quarantine is compared with nothing: only a user
    who says the very same lets it out. Every change of an older memory asks that it still is what
    the candidate was compared with.
    """
    peers = [
        each
        for each in existing
        if each.memory.scope is candidate.scope and not only_tells_of(candidate, each.memory, kinds)
    ]
    for each in peers:
        waits = each.memory.status is Status.QUARANTINED
        if waits and _vouches(candidate, each) and not apart:
            return _confirmed(candidate, each, given)
    peers = [each for each in peers if each.memory.status is Status.ACTIVE]
    judged = _judged(candidate, peers, changed=changed)
    if apart:
        return _kept_apart(candidate, judged)
    if replaces:
        named = _named(replaces, peers)
        if named is not None:
            return replacing(candidate, named, given)
    same = [each for each, verdict in judged if verdict.relation is Sameness.SAME]
    if same:
        closest = min(same, key=lambda each: each.memory.kind != candidate.kind)
        moved = ("state",) if has_moved(candidate, closest.memory, kinds) else ()
        return _confirmed(candidate, closest, (*given, *moved))
    former = _former_states(candidate, peers, kinds)
    if former:
        decision = Supersede(tuple(each.memory.id for each in former), candidate)
        return Choice(decision, Outcome.REPLACED, tuple(former))
    is_read = bool(candidate.source.lines) or candidate.source.tool.startswith("git ")
    if kinds[candidate.kind].event and is_read:
        return _added(candidate, judged)
    more = _best(judged, Sameness.MORE)
    if more:
        return replacing(candidate, more[0], given, Outcome.EXTENDED)
    changes = _best(judged, Sameness.CHANGE)
    ids = {each.memory.id for each in changes}
    if len(ids) == 1 or (ids and all(ids & {*each.memory.conflicts} for each in changes)):
        return replacing(candidate, changes[0], given, disputed=changes[1:])
    rivals = [*changes, *_best(judged, Sameness.CONFLICT, alone=False)][:_RIVALS]
    if rivals:
        return _opposing(candidate, rivals)
    return _added(candidate, judged)


def decide_warily(
    candidate: Memory, existing: Iterable[Stored], *, replaces: str = ""
) -> Choice | None:
    """The same for what a model wrote down, which may replace nothing but what it names.

    A repetition counts only if nothing confirmed the memory since it was said, because rules read
    the same session, and ends a quarantine only if it is the user's very word. What only a tool
    said adds itself and touches nothing. None: there is nothing to do.
    """
    peers = [each for each in existing if each.memory.scope is candidate.scope]
    trusted = candidate.source.trust is not Trust.TOOL
    judged = _judged(candidate, peers, changed=False)
    for each, verdict in judged:
        if verdict.relation is not Sameness.SAME:
            continue
        if each.memory.status is Status.QUARANTINED and not _vouches(candidate, each):
            return _added(candidate, ()) if candidate.source.trust is Trust.USER else None
        if not trusted or each.memory.confirmed >= candidate.created:
            return None
        return _confirmed(candidate, each, ())
    active = [pair for pair in judged if pair[0].memory.status is Status.ACTIVE]
    if not trusted:
        return _added(candidate, active)
    if replaces:
        named = _named(replaces, [each for each, _ in active])
        if named is not None:
            return replacing(candidate, named)
    rivals = [*_best(active, Sameness.CHANGE), *_best(active, Sameness.CONFLICT, alone=False)]
    if rivals:
        return _opposing(candidate, rivals[:_RIVALS])
    return _added(candidate, active)


def _judged(
    candidate: Memory, peers: Iterable[Stored], *, changed: bool
) -> list[tuple[Stored, Verdict]]:
    """Each memory with how the candidate relates to it; a change only goes forward in time."""
    found: list[tuple[Stored, Verdict]] = []
    for each in peers:
        verdict = judge(candidate.text, each.memory.text, changed=changed)
        if verdict.relation is Sameness.CHANGE and each.memory.created > candidate.created:
            verdict = Verdict(Sameness.CONFLICT, verdict.fit)
        found.append((each, verdict))
    return found


def _best(
    judged: Sequence[tuple[Stored, Verdict]], relation: Sameness, *, alone: bool = True
) -> list[Stored]:
    """The memories of a relation, best first; with `alone` only those that fit as well as it."""
    found = [(verdict.fit, each) for each, verdict in judged if verdict.relation is relation]
    found.sort(key=lambda pair: (-pair[0], pair[1].memory.id))
    if alone and found:
        found = [pair for pair in found if pair[0] == found[0][0]]
    return [each for _, each in found]


def _named(replaces: str, peers: Sequence[Stored]) -> Stored | None:
    """The memory whose text this is, or the one that comes closest to it."""
    wanted = tokens_of(replaces)
    ranked = sorted(
        ((jaccard(wanted, tokens_of(each.memory.text)), each) for each in peers),
        key=lambda pair: -pair[0],
    )
    ranked = [pair for pair in ranked if pair[0] > REPLACES]
    if not ranked or (len(ranked) > 1 and ranked[0][0] == ranked[1][0]):
        exact = [each for _, each in ranked if each.memory.text.strip() == replaces.strip()]
        return exact[0] if len(exact) == 1 else None
    return ranked[0][1]


def _former_states(candidate: Memory, peers: Sequence[Stored], kinds: Kinds) -> list[Stored]:
    """Where the work stood before, read from transcripts as this candidate was.

    Only what rules read in another session, or from the same task list, gives way: several entries
    of one session, and what was stored on purpose, stay.
    """
    if not kinds[candidate.kind].single or not candidate.source.lines:
        return []
    return [
        each
        for each in peers
        if each.memory.kind == candidate.kind
        and each.memory.source.lines
        and each.memory.created <= candidate.created
        and (
            each.memory.source.session != candidate.source.session
            or (candidate.source.tool and each.memory.source.tool == candidate.source.tool)
        )
    ]


def only_tells_of(candidate: Memory, known: Memory, kinds: Kinds) -> bool:
    """Whether a memory tells of the day on which the candidate was said, as an episode does: it is
    out of sight after some newer ones, so it does not keep what it quotes."""
    return bool(kinds[known.kind].newest) and known.kind != candidate.kind


def has_moved(candidate: Memory, known: Memory, kinds: Kinds) -> bool:
    """Whether a candidate says that what was open is over: a state later in the kind's list."""
    states = kinds[candidate.kind].states
    if candidate.kind != known.kind or not {candidate.state, known.state} <= {*states}:
        return False
    return states.index(candidate.state) > states.index(known.state)


def _confirmed(candidate: Memory, known: Stored, given: Collection[str]) -> Choice:
    changes = {
        name: getattr(candidate, name)
        for name in given
        if getattr(candidate, name) != getattr(known.memory, name)
    }
    decision = Reinforce(
        known.memory.id, candidate.source, known.etag, wording=candidate, changes=changes
    )
    return Choice(decision, Outcome.CONFIRMED, (known,))


def replacing(
    candidate: Memory,
    old: Stored,
    given: Collection[str] = (),
    outcome: Outcome = Outcome.REPLACED,
    disputed: Sequence[Stored] = (),
) -> Choice:
    """The candidate in the place of an older memory, of which it keeps what was not said newly, and
    of those that were in conflict with that one."""
    former = old.memory
    kept = {
        name: getattr(former, name)
        for name in ("kind", "pinned", "difficulty")
        if name not in given and getattr(candidate, name) != getattr(former, name)
    }
    if "pinned" in kept and not former.pinned:
        del kept["pinned"]
    if "kind" in kept:
        kept["state"] = candidate.state if "state" in given else former.state
    if "impact" not in given and former.impact.rank > candidate.impact.rank:
        kept["impact"] = former.impact
    if (
        outcome is Outcome.REPLACED
        and not candidate.reason
        and leaves_out(candidate.text, former.text)
    ):
        kept["reason"] = f"{BEFORE}{shortened(one_line(former.text), _LONGEST)}"
    olds = (old, *disputed)
    ids = tuple(each.memory.id for each in olds)
    expected = "" if disputed else old.etag
    return Choice(Supersede(ids, candidate._replace(**kept), expected=expected), outcome, olds)


def _opposing(candidate: Memory, rivals: Sequence[Stored]) -> Choice:
    etags = {each.memory.id: each.etag for each in rivals}
    decision = Contradict(tuple(etags), candidate, etags)
    return Choice(decision, Outcome.CONFLICT, tuple(rivals))


def _kept_apart(candidate: Memory, judged: Sequence[tuple[Stored, Verdict]]) -> Choice:
    near = (Sameness.SAME, Sameness.MORE, Sameness.LESS, Sameness.CHANGE, Sameness.CONFLICT)
    apart = tuple(each for each, verdict in judged if verdict.relation in near)[:_RIVALS]
    memory = candidate._replace(distinct=tuple(each.memory.id for each in apart))
    return Choice(Add(memory), Outcome.ADDED, apart)


def _added(candidate: Memory, judged: Sequence[tuple[Stored, Verdict]]) -> Choice:
    alike = [*_best(judged, Sameness.LESS), *_best(judged, Sameness.ALIKE)]
    if alike:
        return Choice(Add(candidate), Outcome.SIMILAR, (alike[0],))
    return Choice(Add(candidate), Outcome.ADDED)


def _vouches(candidate: Memory, waiting: Stored) -> bool:
    """Whether a user says word for word what waits: much the same may mean something else."""
    one, other = (" ".join(each.text.casefold().split()) for each in (candidate, waiting.memory))
    return candidate.source.trust is Trust.USER and one == other


ATTEMPTS = 10
"""Times another change may come first."""


def settle(
    store: Store, memory: Memory, choose: Callable[[], Choice | None]
) -> tuple[Applied, Choice] | None:
    """Choose what is to happen with a candidate and make it happen; None if nothing is to."""
    for _ in range(ATTEMPTS):
        choice = choose()
        try:
            return None if choice is None else (store.apply(choice.decision), choice)
        except (Conflict, NotFound):
            continue
    # Nothing is lost by keeping it as a memory of its own.
    return store.apply(Add(memory)), Choice(Add(memory), Outcome.ADDED)
