"""The ledger: evidence is counted once, and whether a rule helped can be told."""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from ltm.errors import NotFound, StorageFailed
from ltm.model import iso
from ltm.state.corrections import FILE, Conversation, Ledger, Rule, RuleEvidence, opened

START = datetime(2026, 3, 1, tzinfo=UTC)
P = "project"


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with opened(str(tmp_path)) as found:
        yield found


def day(number: int) -> datetime:
    return START + timedelta(days=number)


def talk(ledger: Ledger, number: int, *, needed: bool = True, rule: str = "ag-001") -> None:
    """A conversation on a day, in which a rule was needed or not."""
    name = f"conversation-{number}"
    seen = RuleEvidence(
        P, name, name, f"message-{number}", iso(day(number)), "user_correction", 8.0,
        "no, use pnpm here", rule,
    )  # fmt: skip
    ledger.note([Conversation(P, name, name, iso(day(number)))], [seen] if needed else [])


def rule(ledger: Ledger, at: int) -> Rule:
    (found,) = ledger.rules(P, day(at))
    return found


def test_what_is_noted_twice_counts_once(ledger: Ledger) -> None:
    """traps 2.2 #11: the same evidence never promotes by repetition."""
    for _ in range(5):
        talk(ledger, 1)
    assert rule(ledger, 2).observations == 1
    assert rule(ledger, 2).tier == "low"


def test_a_fork_adds_messages_but_no_observation(ledger: Ledger) -> None:
    talk(ledger, 1)
    again = RuleEvidence(
        P, "conversation-1", "fork", "other", iso(day(2)), "user_curse", 8.0, "x", "ag-001"
    )
    ledger.note([], [again])
    assert (rule(ledger, 2).observations, rule(ledger, 2).messages) == (1, 2)


@pytest.mark.parametrize(
    ("times", "tier"), [(1, "low"), (2, "low"), (3, "medium"), (4, "medium"), (5, "high")]
)
def test_belief_follows_the_count(ledger: Ledger, times: int, tier: str) -> None:
    """traps 2.2 #12: two observations are low, whatever an example says."""
    for number in range(times):
        talk(ledger, number)
    assert rule(ledger, 9).tier == tier


def test_a_rule_that_helped_is_told_by_its_effect(ledger: Ledger) -> None:
    for number in range(5):
        talk(ledger, number)
    ledger.promoted(P, "ag-001", "mem_a", day(5))
    for number in range(6, 10):
        talk(ledger, number, needed=False)
    (effect,) = ledger.effect(P, day(10))
    assert (effect.before.seen, effect.before.of) == (5, 5)
    assert (effect.after.seen, effect.after.of) == (0, 4)
    assert effect.verdict == "stopped"
    assert rule(ledger, 10).status == "hot"


def test_a_conversation_that_was_under_way_counts_as_before(ledger: Ledger) -> None:
    talk(ledger, 1)
    ledger.promoted(P, "ag-001", "mem_a", day(2))
    late = RuleEvidence(
        P, "conversation-1", "s", "late", iso(day(3)), "user_correction", 8, "x", "ag-001"
    )
    ledger.note([], [late])
    (effect,) = ledger.effect(P, day(4))
    assert (effect.before.seen, effect.after.seen) == (1, 0)
    assert effect.verdict == "too early"
    assert rule(ledger, 4).recurred_while_hot == 0


def test_two_wordings_that_fail_escalate(ledger: Ledger) -> None:
    talk(ledger, 0)
    ledger.promoted(P, "ag-001", "mem_a", day(1))
    talk(ledger, 2)
    assert not rule(ledger, 3).wants_rewording
    talk(ledger, 3)
    assert rule(ledger, 4).wants_rewording
    ledger.promoted(P, "ag-001", "mem_b", day(4))
    assert (rule(ledger, 5).status, rule(ledger, 5).memory) == ("hot", "mem_b")
    assert rule(ledger, 5).recurred_while_hot == 0
    talk(ledger, 6)
    talk(ledger, 7)
    assert rule(ledger, 8).status == "escalated"


def test_promoting_the_same_memory_again_is_not_a_second_attempt(ledger: Ledger) -> None:
    talk(ledger, 0)
    for number in (1, 2, 3):
        ledger.promoted(P, "ag-001", "mem_a", day(number))
    assert len(rule(ledger, 4).attempts) == 1
    assert rule(ledger, 4).since == iso(day(1))


def test_a_demoted_rule_is_observed_again_and_a_rejected_one_never_comes_back(
    ledger: Ledger,
) -> None:
    talk(ledger, 0)
    ledger.promoted(P, "ag-001", "mem_a", day(1))
    ledger.demoted(P, "ag-001", day(2))
    assert (rule(ledger, 3).status, rule(ledger, 3).memory) == ("observing", "")
    ledger.rejected(P, "ag-001", day(3))
    assert rule(ledger, 4).status == "rejected"


def test_what_is_not_seen_for_eight_weeks_expires(ledger: Ledger) -> None:
    talk(ledger, 0)
    assert rule(ledger, 56).status == "observing"
    assert rule(ledger, 57).status == "expired"
    talk(ledger, 60)
    assert rule(ledger, 61).status == "observing"


def test_projects_do_not_see_each_other(ledger: Ledger) -> None:
    talk(ledger, 0)
    assert ledger.rules("other", day(1)) == []
    assert ledger.evidence("other") == []
    with pytest.raises(NotFound):
        ledger.promoted("other", "ag-001", "mem_a", day(1))


def test_the_ledger_survives_its_process_and_is_private(tmp_path: Path) -> None:
    with opened(str(tmp_path)) as ledger:
        talk(ledger, 1)
    assert stat.S_IMODE(os.stat(tmp_path / FILE).st_mode) == 0o600
    with opened(str(tmp_path)) as ledger:
        assert [each.statement for each in ledger.evidence(P)] == ["no, use pnpm here"]


def test_the_effect_of_many_rules_costs_one_reading_of_the_evidence(ledger: Ledger) -> None:
    """It was read again for each rule, so that time grew with the square of them."""
    for number in range(1, 21):
        talk(ledger, number, rule=f"ag-{number:03d}")
        ledger.promoted(P, f"ag-{number:03d}", f"mem_{number}", day(number))
    asked: list[str] = []
    ledger._db.set_trace_callback(asked.append)
    assert len(ledger.effect(P, day(30))) == 20
    assert sum("FROM evidence" in each for each in asked) == 1


def test_a_broken_ledger_is_put_aside_and_not_deleted(tmp_path: Path) -> None:
    for number in (1, 2):
        (tmp_path / FILE).write_bytes(b"no database %d" % number * 100)
        with opened(str(tmp_path)) as ledger:
            talk(ledger, 1)
    for number in (1, 2):
        aside = tmp_path / f"{FILE}.damaged{number}"
        assert aside.read_bytes() == b"no database %d" % number * 100


def test_a_ledger_whose_damage_has_no_readable_name_is_put_aside_too(tmp_path: Path) -> None:
    """Reliability R10: SQLite quotes the damaged bytes, and they are no text."""
    path = tmp_path / FILE
    with closing(sqlite3.connect(path)) as db:
        db.executescript("CREATE TABLE secret (x)")
    data = path.read_bytes().replace(b"tablesecretsecret", b"table\xa7ecret\xa7ecret")
    path.write_bytes(data.replace(b"TABLE secret (x)", b"TABLE \xa7ecret (("))
    with opened(str(tmp_path)) as ledger:
        talk(ledger, 1)
    assert (tmp_path / f"{FILE}.damaged1").exists()


def test_a_ledger_of_a_newer_ltm_is_left_alone(tmp_path: Path) -> None:
    with opened(str(tmp_path)) as ledger:
        talk(ledger, 1)
        ledger._db.execute("PRAGMA user_version = 99")
    with pytest.raises(StorageFailed, match="newer"), opened(str(tmp_path)):
        pass
