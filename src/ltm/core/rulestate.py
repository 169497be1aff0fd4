"""What evidence makes of a rule: how often it was seen, what state it is in, and whether it helped.

    observing ──promoted──▶ hot ──needed again and again, in two wordings──▶ escalated
        │ ▲                  │
        │ └────demoted───────┘          rejected: a person does not want it
        └──not seen for eight weeks──▶ expired

Everything is computed from evidence and attempts, so nothing can be counted twice or drift. Pure;
imports `core.model`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from ltm.core.model import utc

RuleStatus = Literal["observing", "hot", "escalated", "expired", "rejected"]
Tier = Literal["low", "medium", "high"]

MEDIUM = 3
HIGH = 5
"""Conversations in which a behaviour was seen for it to be believed a little, and fully."""
RECURRENCES = 2
"""Conversations in which a hot rule is needed all the same before its wording has failed."""
WORDINGS = 2
"""Wordings that must fail before a rule is more than a memory can solve."""
EXPIRES = timedelta(weeks=8)
"""How long a rule that was never promoted is remembered without being seen."""
ENOUGH = 3
"""Conversations after a promotion before anything is said about its effect."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation that was looked at; forked and resumed sessions are one."""

    project: str
    id: str
    """The uuid of its first message: the same in every copy."""
    session: str
    started: str


@dataclass(frozen=True, slots=True)
class RuleEvidence:
    """One time a user reacted to what an agent did."""

    project: str
    conversation: str
    session: str
    message: str
    """The uuid of the message; with the signal it is unique in a project."""
    at: str
    """When, in UTC: ISO 8601."""
    signal: str
    weight: float
    statement: str
    """The user's own words, without secrets."""
    rule: str = ""
    """The rule it was gathered into, as `ag-001`."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One time a rule became a memory."""

    memory: str
    at: str
    ended: str = ""
    outcome: str = ""
    """How it ended: `rephrased`, `demoted` or `rejected`."""


@dataclass(frozen=True, slots=True)
class Rule:
    """What users keep having to say, in their words, and what was done about it."""

    id: str
    statement: str
    status: RuleStatus
    observations: int
    """Conversations it was seen in. The only count that decides anything."""
    messages: int
    sessions: tuple[str, ...]
    first_seen: str
    last_seen: str
    attempts: tuple[Attempt, ...] = ()
    recurred_while_hot: int = 0
    """Conversations that began under the present memory and needed it all the same."""

    @property
    def tier(self) -> Tier:
        """How far it is believed."""
        return tier(self.observations)

    @property
    def memory(self) -> str:
        """The memory it is at present, '' when it is none."""
        last = self.attempts[-1] if self.attempts else None
        return last.memory if last and not last.ended else ""

    @property
    def since(self) -> str:
        """When it first became a memory; '' if it never did."""
        return next((each.at for each in self.attempts if each.memory), "")

    @property
    def wants_rewording(self) -> bool:
        """Whether it is a memory that did not help, so that other words should be tried."""
        return self.status == "hot" and self.recurred_while_hot >= RECURRENCES


@dataclass(frozen=True, slots=True)
class Share:
    """In how many of how many conversations something was seen."""

    seen: int
    of: int

    @property
    def rate(self) -> float:
        """As a share from 0 to 1; 0 when there were none."""
        return self.seen / self.of if self.of else 0.0


@dataclass(frozen=True, slots=True)
class Effect:
    """How often a rule was needed before it became a memory, and after."""

    rule: Rule
    before: Share
    after: Share

    @property
    def verdict(self) -> str:
        """What the figures say: `too early`, `stopped`, `less often`, `as before`, `more often`."""
        if self.after.of < ENOUGH:
            return "too early"
        if not self.after.seen:
            return "stopped"
        if self.after.rate < self.before.rate:
            return "less often"
        return "as before" if self.after.rate == self.before.rate else "more often"


def tier(observations: int) -> Tier:
    """How far something seen in so many conversations is believed."""
    if observations >= HIGH:
        return "high"
    return "medium" if observations >= MEDIUM else "low"


def rule_of(
    name: str,
    statement: str,
    evidence: Sequence[RuleEvidence],
    attempts: Sequence[Attempt],
    started: Mapping[str, str],
    now: datetime,
) -> Rule:
    """A rule from all that was seen of it, and all that was tried."""
    conversations = {each.conversation for each in evidence}
    times = sorted(each.at for each in evidence)
    present = attempts[-1] if attempts and not attempts[-1].ended else None
    recurred = _began_after(conversations, present.at, started) if present else 0
    failed = sum(
        _began_after(conversations, each.at, started, each.ended or None) >= RECURRENCES
        for each in attempts
        if each.memory
    )
    return Rule(
        id=name,
        statement=statement,
        status=_status(attempts, failed, times[-1] if times else "", now),
        observations=len(conversations),
        messages=len({each.message for each in evidence}),
        sessions=tuple(sorted({each.session for each in evidence})),
        first_seen=times[0] if times else "",
        last_seen=times[-1] if times else "",
        attempts=tuple(attempts),
        recurred_while_hot=recurred,
    )


def effect_of(rule: Rule, evidence: Sequence[RuleEvidence], started: Mapping[str, str]) -> Effect:
    """How often a rule was needed in conversations before it became a memory, and after.

    A conversation that was under way when it did counts as before: it was not told.
    """
    needed = {each.conversation for each in evidence}
    after = {name for name, began in started.items() if began > rule.since}
    before = set(started) - after
    return Effect(
        rule,
        before=Share(len(needed & before), len(before)),
        after=Share(len(needed & after), len(after)),
    )


def _status(attempts: Sequence[Attempt], failed: int, last_seen: str, now: datetime) -> RuleStatus:
    if any(each.outcome == "rejected" for each in attempts):
        return "rejected"
    if failed >= WORDINGS:
        return "escalated"
    if attempts and not attempts[-1].ended:
        return "hot"
    return "expired" if last_seen and utc(last_seen) + EXPIRES < now else "observing"


def _began_after(
    conversations: set[str], at: str, started: Mapping[str, str], until: str | None = None
) -> int:
    """How many of these conversations began after a moment, and before another one if given."""
    begun = (started.get(each, "") for each in conversations)
    return sum(at < each and (until is None or each <= until) for each in begun)
