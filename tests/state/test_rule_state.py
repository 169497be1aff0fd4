"""What evidence makes of a rule: counted by conversations, judged by what came after."""

from __future__ import annotations

from datetime import timedelta

import pytest

from ltm.model import iso, utc
from ltm.state.corrections import (
    ENOUGH,
    EXPIRES,
    HIGH,
    MEDIUM,
    Attempt,
    Rule,
    RuleEvidence,
    effect_of,
    rule_of,
    tier,
)

NOW = utc("2026-03-01T00:00:00Z")


def day(number: int) -> str:
    return iso(utc("2026-01-01T00:00:00Z") + timedelta(days=number))


def seen(conversation: int, *, message: str = "", session: str = "s") -> RuleEvidence:
    """A reaction in the conversation that began on a day of that number."""
    name = f"c{conversation}"
    return RuleEvidence(
        "p", name, session, message or name, day(conversation), "user_correction", 8.0, "no tabs"
    )


STARTED = {f"c{number}": day(number) for number in range(60)}


def rule(*conversations: int, attempts: tuple[Attempt, ...] = ()) -> Rule:
    evidence = [seen(each) for each in conversations]
    return rule_of("ag-001", "no tabs", evidence, attempts, STARTED, NOW)


@pytest.mark.parametrize(
    ("times", "believed"),
    [(1, "low"), (MEDIUM - 1, "low"), (MEDIUM, "medium"), (HIGH - 1, "medium"), (HIGH, "high")],
)
def test_how_far_it_is_believed_depends_on_how_many_conversations_showed_it(
    times: int, believed: str
) -> None:
    assert tier(times) == believed
    assert rule(*range(times)).tier == believed


def test_a_conversation_counts_once_however_often_it_was_said() -> None:
    evidence = [seen(3, message="a", session="two"), seen(3, message="b"), seen(1)]
    found = rule_of("ag-001", "no tabs", evidence, (), STARTED, NOW)
    assert (found.observations, found.messages, found.sessions) == (2, 3, ("s", "two"))
    assert (found.first_seen, found.last_seen) == (day(1), day(3))
    assert (found.memory, found.since, found.recurred_while_hot) == ("", "", 0)


def test_a_rule_without_any_evidence_is_only_observed() -> None:
    assert (rule().status, rule().first_seen, rule().last_seen) == ("observing", "", "")


def test_a_rule_nobody_needed_for_eight_weeks_expires_and_not_a_day_before() -> None:
    last = utc(day(1))
    for now, status in ((last + EXPIRES, "observing"), (last + EXPIRES * 1.01, "expired")):
        assert rule_of("ag-001", "", [seen(1)], (), STARTED, now).status == status


def test_a_rule_that_is_a_memory_is_hot_until_that_ends() -> None:
    first = Attempt("mem_1", day(5), day(10), "demoted")
    hot = rule(1, 7, 12, attempts=(first, Attempt("mem_2", day(11))))
    assert (hot.status, hot.memory, hot.since) == ("hot", "mem_2", day(5))
    assert hot.recurred_while_hot == 1
    assert not hot.wants_rewording
    assert rule(58, attempts=(first,)).status == "observing"
    assert rule(58, attempts=(first,)).memory == ""


def test_a_memory_that_did_not_help_twice_wants_other_words() -> None:
    hot = (Attempt("mem_1", day(5)),)
    assert not rule(1, 6, attempts=hot).wants_rewording
    assert rule(1, 6, 7, attempts=hot).wants_rewording
    assert not rule(3, 4, 5, attempts=hot).wants_rewording, "they began before it was told"


def test_two_wordings_that_failed_are_more_than_a_memory_can_solve() -> None:
    first = Attempt("mem_1", day(5), day(10), "rephrased")
    second = Attempt("mem_2", day(10))
    assert rule(6, 7, 11, attempts=(first, second)).status == "hot"
    assert rule(6, 7, 11, 12, attempts=(first, second)).status == "escalated"
    # What began at the very moment one ended belongs to it, and later ones to the next.
    assert rule(6, 10, 11, 12, attempts=(first, second)).status == "escalated"
    assert rule(6, 11, 12, 13, attempts=(first, second)).status == "hot"


def test_what_a_person_rejected_stays_rejected() -> None:
    rejected = Attempt("", day(5), day(5), "rejected")
    assert rule(1, 2, 3, attempts=(rejected, Attempt("mem_2", day(6)))).status == "rejected"
    assert rule(1, attempts=(rejected,)).since == ""


@pytest.mark.parametrize(
    ("before", "after", "of_after", "verdict"),
    [
        (range(10), (), ENOUGH - 1, "too early"),
        (range(10), (), ENOUGH, "stopped"),
        (range(10), (10,), 5, "less often"),
        (range(5), (10, 11), 4, "as before"),
        (range(1), (10, 11), 4, "more often"),
    ],
)
def test_the_effect_of_a_rule_is_the_share_of_conversations_that_needed_it(
    before: range, after: tuple[int, ...], of_after: int, verdict: str
) -> None:
    started = {f"c{number}": day(number) for number in range(10 + of_after)}
    evidence = [seen(each) for each in (*before, *after)]
    promoted = (Attempt("mem_1", day(9)),)
    found = rule_of("ag-001", "no tabs", evidence, promoted, started, NOW)
    effect = effect_of(found, evidence, started)
    assert (effect.before.seen, effect.before.of) == (len(before), 10)
    assert (effect.after.seen, effect.after.of) == (len(after), of_after)
    assert effect.verdict == verdict


def test_of_no_conversations_none_needed_it() -> None:
    effect = effect_of(rule(attempts=(Attempt("mem_1", day(5)),)), [], {})
    assert (effect.before.rate, effect.after.rate, effect.verdict) == (0.0, 0.0, "too early")
