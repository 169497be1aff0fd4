"""Match a rule of the ledger with memories: its possible titles, and which one it is.

Owns how a rule finds its memory again (by the message it was made from, else by what it says) and
which rules say the contrary. Imports core, the ledger and this package.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from ltm.capture.corrected import wordings
from ltm.core.kinds import Kinds
from ltm.core.model import Memory, Status, Stored
from ltm.core.rulestate import Rule, RuleEvidence
from ltm.core.sameness import opposed, same
from ltm.storage.ledger import Ledger

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
        texts = [rule.statement, *(each.statement for each in evidence)]
        cases.append(RuleCase(rule, evidence, wordings(texts, kinds)))
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
        found = next((each for each in known if _says(each.memory, case)), None)
    seen: set[str] = set()
    while found is not None and found.memory.superseded_by and found.memory.id not in seen:
        seen.add(found.memory.id)
        found = by_id.get(found.memory.superseded_by, found)
    return found


def _says(memory: Memory, case: RuleCase) -> bool:
    if memory.status is not Status.ACTIVE:
        return False
    return any(same(memory.text, each) for each in case.words)


def _against(case: RuleCase, cases: Sequence[RuleCase]) -> int:
    """Conversations that said the contrary after this was first said."""
    contrary = {
        each.conversation
        for other in cases
        if other.rule.id != case.rule.id and _are_contrary(case, other)
        for each in other.evidence
        if each.at > case.rule.first_seen
    }
    return len(contrary)


def _are_contrary(one: RuleCase, other: RuleCase) -> bool:
    return bool(one.words and other.words) and opposed(one.words[0], other.words[0])
