"""What is purged from the ledger leaves no word; what it does not know it does not keep."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ltm.errors import NotFound
from ltm.state.corrections import FILE, Conversation, Ledger, RuleEvidence, opened

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
