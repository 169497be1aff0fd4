"""Preferences made of what users keep having to correct, promoted and demoted by counting.

"No, use pnpm" means "Use pnpm."; "undo that" means nothing without what came before. The
observations of a preference are the conversations the ledger saw it in, less those that said the
contrary since; when it is firm it is registered in the ledger, so that its effect is measured, and
taken back when it no longer is. A count is set from rows and never added to, so that running twice
changes nothing. A rule not needed for weeks expires unless it is firm.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from ltm import policy
from ltm.capture.decide import Candidate, Outcome, decide_warily
from ltm.capture.message import tidy
from ltm.capture.pipeline import waiting
from ltm.capture.provenance import Evidence
from ltm.capture.statements import Setting, statements
from ltm.decisions import Add, Contradict, Decision, Reduce, Restore, Revise, Supersede
from ltm.errors import Conflict, NotFound, Refused
from ltm.kinds import Kind, Kinds
from ltm.model import Filter, Memory, Phase, Source, Status, Stored, Trust, new_id, utc
from ltm.state.corrections import Ledger, Rule, RuleEvidence
from ltm.store.store import Store
from ltm.text.display import counted
from ltm.text.infer import auto_tags, infer_impact
from ltm.text.sameness import opposed, same
from ltm.text.sentences import summary_of, title_of

# Complaints in front of an order. "no, tabs" corrects, "no tabs" forbids.
_BEFORE = re.compile(
    r"\A(?:(?:no(?=\s*[,.:;!–—-]| (?:always|never|don't|use|keep|run|put)\b)"
    r"|nope|nah|wrong|stop(?! \w+ing)|wait|again|(?:undo|revert)(?: that| it)?"
    r"|(?:i|we)(?:'ve| have)? (?:already )?(?:said|told you|asked you)(?: (?:that|to|you))*)\b"
    r"[\s,.:;!–—-]*|(?:that's|this is|it's) (?:not|wrong)\b[^,.;:!]{0,60}[,.;:!]+\s*)+",
    re.IGNORECASE,
)
_FEWEST = 2
_CORRECTS = Setting(worked=True)
_LEAST = 0.1
"""How much a statement is worth at least that is known to correct the agent."""


def wordings(texts: Iterable[str], kinds: Kinds) -> list[str]:
    """The preferences users' words may stand for, the surest first, each once."""
    found: list[tuple[float, str]] = []
    for text in texts:
        for each in statements(text, kinds, Source(), _CORRECTS, least=_LEAST):
            order = tidy(_BEFORE.sub("", each.text))
            if len(order.split()) >= _FEWEST and not order.endswith("?"):
                found.append((each.weight, order))
    kept: list[str] = []
    for _, text in sorted(found, key=lambda each: -each[0]):
        if not any(same(text, other) for other in kept):
            kept.append(text)
    return kept


TOOL = "friction"
"""What stands as the tool of a preference made of a rule, before the message it came from."""


@dataclass(frozen=True, slots=True)
class RuleCase:
    """A rule, all that was seen of it, and what it could be called."""

    rule: Rule
    evidence: Sequence[RuleEvidence]
    words: Sequence[str]
    against: int = 0
    memory: Stored | None = None

    @property
    def statements(self) -> list[str]:
        """What users said, as they said it."""
        return [each.statement for each in self.evidence]

    @property
    def count(self) -> int:
        """Conversations it was seen in, less those that said the contrary since."""
        return self.rule.observations - self.against

    @property
    def made_here(self) -> bool:
        """Whether its memory was made of it, and not stated by the user."""
        return self.memory is not None and self.memory.memory.source.tool.startswith(TOOL)


def cases_of(
    ledger: Ledger, project: str, kinds: Kinds, known: Sequence[Stored], now: datetime
) -> list[RuleCase]:
    """The rules of a project, each with its evidence, its words and its memory."""
    cases = []
    for rule in ledger.rules(project, now):
        evidence = ledger.evidence(project, rule.id)
        case = RuleCase(rule, evidence, ())
        cases.append(replace(case, words=wordings([rule.statement, *case.statements], kinds)))
    return [
        replace(case, against=_against(case, cases), memory=_memory_of(case, known))
        for case in cases
    ]


def _memory_of(case: RuleCase, known: Sequence[Stored]) -> Stored | None:
    """The memory a rule is, or one that says the same; what took its place, if something did."""
    by_id = {each.memory.id: each for each in known}
    ours = {f"{TOOL} {each.message}" for each in case.evidence}
    found = by_id.get(case.rule.memory) or next(
        (each for each in known if each.memory.source.tool in ours), None
    )
    if found is None:
        active = (each for each in known if each.memory.status is Status.ACTIVE)
        said = (each for each in active if any(same(each.memory.text, w) for w in case.words))
        found = next(said, None)
    seen: set[str] = set()
    while found is not None and found.memory.superseded_by and found.memory.id not in seen:
        seen.add(found.memory.id)
        found = by_id.get(found.memory.superseded_by, found)
    return found


def _against(case: RuleCase, cases: Sequence[RuleCase]) -> int:
    """Conversations that said the contrary after this was first said."""
    others = (each for each in cases if each.rule.id != case.rule.id and each.words)
    contrary = {
        each.conversation
        for other in others
        if case.words and opposed(case.words[0], other.words[0])
        for each in other.evidence
        if each.at > case.rule.first_seen
    }
    return len(contrary)


_SURE = (0.4, 0.6, 1.0)

Reword = Callable[[Sequence[str]], str]
"""A wording for what users said; '' for none. A model may give it."""

EvidenceOf = Callable[[str], Evidence]
"""What a session was given, by its id."""


@dataclass(frozen=True, slots=True)
class PreferenceChange:
    """What becomes of one rule."""

    rule: str
    action: str
    """`added`, `promoted`, `demoted`, `counted`, `reworded`, `restored`, `archived`, `rejected`."""
    memory: str
    text: str
    before: int
    after: int
    """Observations before and after."""
    tier: str
    reason: str
    decision: Decision | None = None
    firm: bool = False
    """Whether it is to be in the ledger as a memory."""

    def as_record(self) -> dict[str, Any]:
        return {
            "id": self.memory,
            "rule": self.rule,
            "action": self.action,
            "from": self.before,
            "to": self.after,
            "tier": self.tier,
            "text": self.text,
            "reason": self.reason,
        }


def plan(
    store: Store,
    ledger: Ledger,
    project: str,
    now: datetime,
    reword: Reword | None = None,
    evidence: EvidenceOf = lambda _: Evidence(),
) -> list[PreferenceChange]:
    """What would become of a project's rules now; `evidence` knows what sessions were given."""
    kind = next((each for each in store.kinds if each.tiers), None)
    if kind is None:
        return []
    known = store.list(Filter(kinds=(kind.name,), statuses=tuple(Status))).items
    cases = _in_own_words(cases_of(ledger, project, store.kinds, known, now), store, evidence)
    steps = (_step(case, kind, known, now, reword or (lambda _: "")) for case in cases)
    return [step for step in steps if step is not None]


def _in_own_words(cases: Sequence[RuleCase], store: Store, evidence: EvidenceOf) -> list[RuleCase]:
    """The cases with the wordings that were the user's own in one session at least, and that do not
    quote what waits for a person."""
    said: dict[str, set[str]] = {}
    for case in cases:
        for each in case.evidence:
            said.setdefault(each.session, set()).update(case.words)
    own: set[tuple[str, str]] = set()
    for session, words in said.items():
        asked = [Candidate("", each, 0.0, Source(Trust.USER)) for each in words]
        judged = evidence(session).judged(asked, waiting=waiting(store))
        own.update((session, each.text) for each in judged if each.source.trust is Trust.USER)

    def is_own(case: RuleCase, text: str) -> bool:
        return not case.evidence or any((e.session, text) in own for e in case.evidence)

    return [
        replace(case, words=[each for each in case.words if is_own(case, each)]) for case in cases
    ]


def apply(
    store: Store, ledger: Ledger, project: str, steps: Sequence[PreferenceChange], now: datetime
) -> list[PreferenceChange]:
    """Take each step, the memory first and the ledger second; those that were taken."""
    done = []
    for step in steps:
        try:
            decision = step.decision
            if step.action == "added" and Trust.USER in store.hold:
                assert isinstance(decision, Add | Contradict)
                memory = decision.memory if isinstance(decision, Add) else decision.by
                decision = Add(memory._replace(status=Status.QUARANTINED))
            if decision is not None:
                store.apply(decision)
        except (Conflict, NotFound, Refused):
            continue  # it has changed: the next run sees what it says now
        if step.action == "rejected":
            ledger.rejected(project, step.rule, now)
        elif step.firm:
            ledger.promoted(project, step.rule, step.memory, now)
        else:
            ledger.demoted(project, step.rule, now)
        done.append(step)
    return done


def _step(
    case: RuleCase, kind: Kind, known: Sequence[Stored], now: datetime, reword: Reword
) -> PreferenceChange | None:
    rule = case.rule
    if rule.status == "rejected":
        return None
    if case.memory is None:
        worth = case.words and case.count > 0 and rule.status != "expired"
        return _added(case, kind, known, now, reword) if worth else None
    memory = case.memory.memory
    if memory.status is Status.FORGOTTEN:
        return _made(case, kind, "rejected", 0, "a person forgot it") if case.made_here else None
    if case.made_here and (case.count < 1 or rule.status == "expired"):
        if memory.phase is Phase.ARCHIVED:
            return None
        why = "the contrary was said as often" if case.against else "it was not needed for weeks"
        gone = Reduce(memory.id, Phase.ARCHIVED, expected=case.memory.etag)
        return _made(case, kind, "archived", memory.observations, why, gone)
    if case.made_here and memory.phase is Phase.ARCHIVED:
        back = Restore(memory.id, expected=case.memory.etag)
        return _made(case, kind, "restored", memory.observations, "it is needed again", back)
    return _reworded(case, kind, now, reword) or _counted(case, kind)


def _added(
    case: RuleCase, kind: Kind, known: Sequence[Stored], now: datetime, reword: Reword
) -> PreferenceChange | None:
    text = reword(case.statements) or case.words[0]
    memory = _memory(case, kind, text, now)
    why = f"seen in {counted(case.rule.observations, 'conversation')}"
    # Of the ledger's own rules it counts how often each was said; only what a person stated can
    # be in conflict with one.
    stated = [each for each in known if not each.memory.source.tool.startswith(TOOL)]
    choice = decide_warily(memory, [e for e in stated if e.memory.status is Status.ACTIVE])
    if choice is None or choice.outcome is Outcome.CONFIRMED:
        return None
    return _made(case, kind, "added", case.count, why, choice.decision, memory)


def _reworded(case: RuleCase, kind: Kind, now: datetime, reword: Reword) -> PreferenceChange | None:
    """Other words for a preference that was told and did not help."""
    if not case.rule.wants_rewording or not case.made_here or case.memory is None:
        return None
    former = case.memory.memory
    tried = len([each for each in case.rule.attempts if each.memory])
    left = [each for each in case.words[tried : tried + 1] if each != former.content]
    text = reword(case.statements) or "".join(left)
    if not text or text == former.content:
        return None
    memory = _memory(case, kind, text, now)
    again = counted(case.rule.recurred_while_hot, "conversation")
    why = f"it was told and needed again in {again}"
    newer = Supersede((former.id,), memory, expected=case.memory.etag)
    return _made(case, kind, "reworded", case.count, why, newer, memory)


def _counted(case: RuleCase, kind: Kind) -> PreferenceChange | None:
    """The number a preference should have, if it has another, or the ledger does not know of it."""
    assert case.memory is not None
    memory = case.memory.memory
    count = max(memory.observations, case.count)
    if case.against and case.made_here:
        count = case.count
    registered = case.rule.memory == memory.id
    if count == memory.observations:
        is_firm = policy.tier(count, kind) == policy.TIERS[-1]
        if registered == is_firm or (not is_firm and not case.rule.memory):
            return None
        return _made(case, kind, "counted", count, "its effect is measured from now on")
    before, after = policy.tier(memory.observations, kind), policy.tier(count, kind)
    action = "counted"
    if before != after:
        action = "promoted" if count > memory.observations else "demoted"
    why = f"seen in {counted(case.rule.observations, 'conversation')}"
    if case.against:
        why += f", the contrary in {case.against} since"
    changes: dict[str, Any] = {"observations": count}
    if case.made_here:
        changes["confidence"] = _sure(count, kind)
    changed = Revise(memory.id, changes, expected=case.memory.etag)
    return _made(case, kind, action, count, why, changed)


def _made(
    case: RuleCase,
    kind: Kind,
    action: str,
    count: int,
    reason: str,
    decision: Decision | None = None,
    new: Memory | None = None,
) -> PreferenceChange:
    old = case.memory.memory if case.memory is not None else None
    memory = new or old
    assert memory is not None
    tier = policy.tier(count, kind)
    return PreferenceChange(
        rule=case.rule.id,
        action=action,
        memory=memory.id,
        text=memory.title,
        before=old.observations if old is not None else 0,
        after=count,
        tier=tier,
        reason=reason,
        decision=decision,
        firm=tier == policy.TIERS[-1] and action not in ("archived", "rejected"),
    )


def _memory(case: RuleCase, kind: Kind, text: str, now: datetime) -> Memory:
    first = case.evidence[0]
    seen = min(utc(case.rule.last_seen).replace(microsecond=0), now)
    return Memory(
        id=new_id(now),
        kind=kind.name,
        title=title_of(text),
        summary=summary_of(text),
        content=text,
        created=seen,
        updated=now,
        confirmed=seen,
        tags=auto_tags(text),
        impact=infer_impact(text),
        observations=case.count,
        confidence=_sure(case.count, kind),
        # The user's words, but not asked to be kept: firm only when counted.
        source=Source(Trust.ASSISTANT, first.session, tool=f"{TOOL} {first.message}"),
    )


def _sure(count: int, kind: Kind) -> float:
    """How sure we are of what we were not asked to keep: in doubt until it is firm."""
    return _SURE[policy.TIERS.index(policy.tier(count, kind))]
