"""From what users keep having to correct to preferences, promoted and demoted by counting.

Owns the rules: a preference is made only of users' own words; its observations are the
conversations the ledger saw it in, less those that said the contrary since; it is registered in the
ledger when it is firm, so that its effect can be measured, and taken back when it no longer is.
Counting is setting a number that follows from rows, never adding one, so doing it again changes
nothing. A rule nobody needed for weeks is expired unless it is firm: one that works must not be
forgotten because it works. Imports core, the ledger, the store's port and this package.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from ltm.capture.corrected import wordings
from ltm.capture.decide import opposes
from ltm.core import policy
from ltm.core.decision import Add, Decision, Reduce, Restore, Revise, Supersede
from ltm.core.errors import Conflict, NotFound, Refused
from ltm.core.infer import auto_tags, infer_impact, summary_of, title_of
from ltm.core.kinds import Kind, Kinds
from ltm.core.model import Filter, Memory, Phase, Source, Status, Stored, Trust, new_id, utc
from ltm.core.rulestate import Evidence, Rule
from ltm.core.similar import jaccard, tokens_of
from ltm.storage.ledger import Ledger
from ltm.storage.store import Store

TOOL = "friction"
"""What stands as the tool of a preference that was made here, before the message it came from."""

Reword = Callable[[Sequence[str]], str]
"""A wording for what users said; '' for none. A model may give it."""


@dataclass(frozen=True, slots=True)
class Step:
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
        """The step in the fields scripts read."""
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


@dataclass(frozen=True, slots=True)
class _Case:
    """A rule, all that was seen of it, and what it could be called."""

    rule: Rule
    evidence: Sequence[Evidence]
    words: Sequence[str]
    against: int = 0
    memory: Stored | None = None

    @property
    def count(self) -> int:
        return self.rule.observations - self.against

    @property
    def made_here(self) -> bool:
        return self.memory is not None and self.memory.memory.source.tool.startswith(TOOL)


def plan(
    store: Store, ledger: Ledger, project: str, now: datetime, reword: Reword | None = None
) -> list[Step]:
    """What would become of a project's rules now."""
    kind = next((each for each in store.kinds if each.tiers), None)
    if kind is None:
        return []
    known = store.list(Filter(kinds=(kind.name,), statuses=tuple(Status))).items
    cases = _cases(ledger, project, store.kinds, now)
    steps = []
    for case in cases:
        case = replace(case, against=_against(case, cases), memory=_memory_of(case, known, kind))
        step = _step(case, kind, now, reword)
        if step is not None:
            steps.append(step)
    return steps


def apply(
    store: Store, ledger: Ledger, project: str, steps: Sequence[Step], now: datetime
) -> list[Step]:
    """Take each step, the memory first and the ledger second; those that were taken."""
    done = []
    for step in steps:
        try:
            if step.decision is not None:
                store.apply(step.decision)
        except (Conflict, NotFound, Refused):
            continue  # somebody changed it: the next run sees what it says now
        if step.action == "rejected":
            ledger.rejected(project, step.rule, now)
        elif step.firm:
            ledger.promoted(project, step.rule, step.memory, now)
        else:
            ledger.demoted(project, step.rule, now)
        done.append(step)
    return done


def _cases(ledger: Ledger, project: str, kinds: Kinds, now: datetime) -> list[_Case]:
    cases = []
    for rule in ledger.rules(project, now):
        evidence = ledger.evidence(project, rule.id)
        texts = [rule.statement, *(each.statement for each in evidence)]
        cases.append(_Case(rule, evidence, wordings(texts, kinds)))
    return cases


def _step(case: _Case, kind: Kind, now: datetime, reword: Reword | None) -> Step | None:
    rule = case.rule
    if rule.status == "rejected":
        return None
    if case.memory is None:
        worth = case.words and case.count > 0 and rule.status != "expired"
        return _added(case, kind, now, reword) if worth else None
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


def _added(case: _Case, kind: Kind, now: datetime, reword: Reword | None) -> Step:
    text = _worded(case, reword) or case.words[0]
    memory = _memory(case, kind, text, now)
    why = f"seen in {case.rule.observations} conversations"
    return _made(case, kind, "added", case.count, why, Add(memory), memory)


def _reworded(case: _Case, kind: Kind, now: datetime, reword: Reword | None) -> Step | None:
    """Other words for a preference that was told and did not help."""
    if not case.rule.wants_rewording or not case.made_here or case.memory is None:
        return None
    former = case.memory.memory
    tried = len([each for each in case.rule.attempts if each.memory])
    left = [each for each in case.words[tried : tried + 1] if each != former.content]
    text = _worded(case, reword) or (left[0] if left else "")
    if not text or text == former.content:
        return None
    memory = _memory(case, kind, text, now)
    why = f"it was told and needed again in {case.rule.recurred_while_hot} conversations"
    newer = Supersede((former.id,), memory, expected=case.memory.etag)
    return _made(case, kind, "reworded", case.count, why, newer, memory)


def _counted(case: _Case, kind: Kind) -> Step | None:
    """The number a preference should have, if it has another, or the ledger does not know of it."""
    assert case.memory is not None
    memory = case.memory.memory
    count = max(memory.observations, case.count)
    if case.against and case.made_here:
        count = case.count
    registered = case.rule.memory == memory.id
    if count == memory.observations:
        is_firm = _tier(count, kind) == policy.TIERS[-1]
        if registered == is_firm or (not is_firm and not case.rule.memory):
            return None
        return _made(case, kind, "counted", count, "its effect is measured from now on")
    before, after = _tier(memory.observations, kind), _tier(count, kind)
    action = "counted"
    if before != after:
        action = "promoted" if count > memory.observations else "demoted"
    why = f"seen in {case.rule.observations} conversations"
    if case.against:
        why += f", the contrary in {case.against} since"
    changed = Revise(memory.id, {"observations": count}, expected=case.memory.etag)
    return _made(case, kind, action, count, why, changed)


def _made(
    case: _Case,
    kind: Kind,
    action: str,
    count: int,
    reason: str,
    decision: Decision | None = None,
    new: Memory | None = None,
) -> Step:
    old = case.memory.memory if case.memory is not None else None
    memory = new or old
    assert memory is not None
    tier = _tier(count, kind)
    return Step(
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


def _memory(case: _Case, kind: Kind, text: str, now: datetime) -> Memory:
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
        # The user's words, but nobody asked to keep them: firm only when counted.
        source=Source(Trust.ASSISTANT, first.session, tool=f"{TOOL} {first.message}"),
    )


def _memory_of(case: _Case, known: Sequence[Stored], kind: Kind) -> Stored | None:
    """The memory a rule is, or one that says the same; what took its place, if something did."""
    by_id = {each.memory.id: each for each in known}
    ours = {f"{TOOL} {each.message}" for each in case.evidence}
    found = by_id.get(case.rule.memory) or next(
        (each for each in known if each.memory.source.tool in ours), None
    )
    if found is None:
        found = next((each for each in known if _says(each.memory, case, kind)), None)
    seen: set[str] = set()
    while found is not None and found.memory.superseded_by and found.memory.id not in seen:
        seen.add(found.memory.id)
        found = by_id.get(found.memory.superseded_by, found)
    return found


def _says(memory: Memory, case: _Case, kind: Kind) -> bool:
    if memory.status is not Status.ACTIVE:
        return False
    words = tokens_of(memory.text)
    return any(
        jaccard(words, tokens_of(each)) >= kind.duplicate and not opposes(memory.text, each)
        for each in case.words
    )


def _against(case: _Case, cases: Sequence[_Case]) -> int:
    """Conversations that said the contrary after this was first said."""
    contrary = {
        each.conversation
        for other in cases
        if other.rule.id != case.rule.id and _are_contrary(case, other)
        for each in other.evidence
        if each.at > case.rule.first_seen
    }
    return len(contrary)


def _are_contrary(one: _Case, other: _Case) -> bool:
    return bool(one.words and other.words) and opposes(one.words[0], other.words[0])


def _worded(case: _Case, reword: Reword | None) -> str:
    return reword([each.statement for each in case.evidence]) if reword is not None else ""


def _tier(count: int, kind: Kind) -> str:
    return policy.tier(count, kind)
