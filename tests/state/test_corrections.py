"""What is purged from the ledger leaves no word; what it does not know it does not keep."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from ltm.errors import NotFound
from ltm.model import iso, utc
from ltm.state.corrections import (
    ENOUGH,
    EXPIRES,
    FILE,
    HIGH,
    MEDIUM,
    Attempt,
    Conversation,
    Ledger,
    Rule,
    RuleEvidence,
    effect_of,
    opened,
    rule_of,
    tier,
)

P = "project"
NOW = datetime(2026, 3, 9, tzinfo=UTC)


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with opened(str(tmp_path)) as found:
        yield found


def say(ledger: Ledger, words: str, *, rule: str, day: int, project: str = P) -> None:
    name, at = f"c{day}", f"2026-03-{day:02d}T00:00:00Z"
    seen = RuleEvidence(project, name, name, f"m{day}", at, "user_correction", 8.0, words, rule)
    ledger.note([Conversation(project, name, name, at)], [seen])


def secret(words: str) -> bool:
    return "zanzibar" in words


def all_bytes(folder: Path) -> bytes:
    """What is on the disk: the database and its log."""
    return b"".join(path.read_bytes() for path in folder.glob(f"{FILE}*"))


def statements(ledger: Ledger, project: str = P) -> dict[str, str]:
    return {rule.id: rule.statement for rule in ledger.rules(project, NOW)}


def test_a_rule_keeps_its_name_with_the_words_of_what_else_it_was_seen_in(
    ledger: Ledger, tmp_path: Path
) -> None:
    say(ledger, "use the zanzibar mirror", rule="ag-001", day=1)
    say(ledger, "always use the mirror here", rule="ag-001", day=2)
    say(ledger, "use the mirror", rule="ag-001", day=3)
    say(ledger, "delete no branches", rule="ag-002", day=4)
    assert statements(ledger)["ag-001"] == "use the zanzibar mirror"
    assert ledger.purge(P, secret) == 1
    assert statements(ledger) == {"ag-001": "use the mirror", "ag-002": "delete no branches"}
    # That it was seen stays: three conversations needed it.
    assert [each.statement for each in ledger.evidence(P, "ag-001")] == [
        *("", "always use the mirror here", "use the mirror")
    ]
    (rule, _) = ledger.rules(P, NOW)
    assert (rule.observations, rule.tier) == (3, "medium")
    ledger.close()
    assert b"zanzibar" not in all_bytes(tmp_path)


def test_a_rule_without_any_other_words_is_gone_and_does_not_come_back(ledger: Ledger) -> None:
    for day in (1, 2):
        say(ledger, f"use zanzibar {day}", rule="ag-001", day=day)
    assert ledger.purge(P, secret) == 2
    assert statements(ledger) == {}
    say(ledger, "use zanzibar 1", rule="ag-001", day=1)  # the transcript is read once more
    assert [each.statement for each in ledger.evidence(P)] == ["", ""]


def test_no_byte_stays_where_sqlite_itself_would_leave_what_was_overwritten(
    ledger: Ledger, tmp_path: Path
) -> None:
    """Some builds wipe by themselves and some do not: this one is told not to."""
    ledger._db.execute("PRAGMA secure_delete = OFF")
    for day in range(1, 9):
        say(ledger, f"use zanzibar {day} {'x' * 500}", rule=f"ag-{day:03d}", day=day)
    assert b"zanzibar" in all_bytes(tmp_path)
    assert ledger.purge(P, secret) == 8
    assert b"zanzibar" not in all_bytes(tmp_path)
    ledger.close()
    assert b"zanzibar" not in all_bytes(tmp_path)


def test_what_is_said_in_another_project_or_about_another_matter_stays(ledger: Ledger) -> None:
    say(ledger, "use zanzibar", rule="ag-001", day=1)
    say(ledger, "use zanzibar", rule="ag-001", day=2, project="other")
    say(ledger, "no tabs", rule="ag-002", day=3)
    assert ledger.purge(P, secret) == 1
    assert statements(ledger) == {"ag-002": "no tabs"}
    assert statements(ledger, "other") == {"ag-001": "use zanzibar"}
    assert ledger.purge(P, secret) == 0


def test_nothing_is_noted_of_a_rule_that_is_not_there(ledger: Ledger) -> None:
    say(ledger, "no tabs", rule="ag-001", day=1)
    with pytest.raises(NotFound, match="ag-002"):
        ledger.promoted(P, "ag-002", "mem_a", NOW)
    for change in (ledger.demoted, ledger.rejected):
        with pytest.raises(NotFound, match="ag-002"):
            change(P, "ag-002", NOW)
    say(ledger, "no blanks", rule="ag-002", day=2)  # it begins without a past
    assert [(rule.id, rule.attempts) for rule in ledger.rules(P, NOW)] == [
        *(("ag-001", ()), ("ag-002", ())),
    ]


def test_a_rule_tells_how_each_of_its_attempts_ended(ledger: Ledger) -> None:
    say(ledger, "no tabs", rule="ag-001", day=1)
    say(ledger, "no blanks", rule="ag-002", day=2)
    say(ledger, "no blanks", rule="ag-002", day=3)
    ledger.promoted(P, "ag-001", "mem_a", NOW)
    ledger.promoted(P, "ag-001", "mem_b", NOW)
    ledger.demoted(P, "ag-001", NOW)
    ledger.rejected(P, "ag-001", NOW)
    often, rule = ledger.rules(P, NOW)
    assert (often.id, rule.id) == ("ag-002", "ag-001")  # what was needed most is first
    assert [(each.memory, each.outcome) for each in rule.attempts] == [
        *(("mem_a", "rephrased"), ("mem_b", "demoted"), ("", "rejected")),
    ]
    assert {each.ended for each in rule.attempts} == {"2026-03-09T00:00:00Z"}


# -- what evidence makes of a rule: counted by conversations, judged by what came after


FIRST_OF_MARCH = utc("2026-03-01T00:00:00Z")


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
    return rule_of("ag-001", "no tabs", evidence, attempts, STARTED, FIRST_OF_MARCH)


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
    found = rule_of("ag-001", "no tabs", evidence, (), STARTED, FIRST_OF_MARCH)
    assert (found.observations, found.messages, found.sessions) == (2, 3, ("s", "two"))
    assert (found.first_seen, found.last_seen) == (day(1), day(3))
    assert (found.memory, found.since, found.recurred_while_hot) == ("", "", 0)


def test_a_rule_without_any_evidence_is_only_observed() -> None:
    assert (rule().status, rule().first_seen, rule().last_seen) == ("observing", "", "")


def test_a_rule_no_one_needed_for_eight_weeks_expires_and_not_a_day_before() -> None:
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
    found = rule_of("ag-001", "no tabs", evidence, promoted, started, FIRST_OF_MARCH)
    effect = effect_of(found, evidence, started)
    assert (effect.before.seen, effect.before.of) == (len(before), 10)
    assert (effect.after.seen, effect.after.of) == (len(after), of_after)
    assert effect.verdict == verdict


def test_of_no_conversations_none_needed_it() -> None:
    effect = effect_of(rule(attempts=(Attempt("mem_1", day(5)),)), [], {})
    assert (effect.before.rate, effect.after.rate, effect.verdict) == (0.0, 0.0, "too early")
