"""What users said becomes evidence: their words only, once each, gathered by matter."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ltm.friction.analysis import learn, project_finder
from ltm.friction.ruleset import rules
from ltm.state.corrections import Ledger, Rule, opened
from tests.friction.samples import NOW, Talk, heard, talk

P = "p"


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with opened(str(tmp_path / "home")) as found:
        yield found


def session(folder: Path, number: int, *corrections: str) -> Talk:
    """A session with these words of the user after some work."""
    made = talk(folder, f"{number:08d}-2222-4333-8444-555555555555")
    made.user(f"please add page {number} to the shop")
    made.runs("npm test", "green")
    for text in corrections:
        made.user(text)
        made.says("I see.")
    return made


def learned(ledger: Ledger, folder: Path) -> list[Rule]:
    found = heard(folder)
    learn(ledger, (each.heard for each in found.sessions), rules(), lambda cwd: P)
    return ledger.rules(P, NOW)


def test_what_is_said_in_five_sessions_is_believed(ledger: Ledger, tmp_path: Path) -> None:
    said = [
        "no, use pnpm and not npm",
        "No! Please use pnpm instead of npm",
        "no, we use pnpm here, not npm",
        "don't use npm, use pnpm",
        "stop using npm. Use pnpm!",
    ]
    for number, text in enumerate(said):
        session(tmp_path / "in", number, text)
    (rule,) = learned(ledger, tmp_path / "in")
    assert (rule.observations, rule.tier, rule.status) == (5, "high", "observing")
    assert rule.statement in said


def test_a_second_run_changes_nothing(ledger: Ledger, tmp_path: Path) -> None:
    """traps 2.2 #11: running it again is no new evidence."""
    session(tmp_path / "in", 1, "no, use pnpm and not npm")
    first = learned(ledger, tmp_path / "in")
    assert learned(ledger, tmp_path / "in") == first
    assert len(ledger.evidence(P)) == 1


def test_the_same_in_one_session_is_one_observation(ledger: Ledger, tmp_path: Path) -> None:
    session(tmp_path / "in", 1, *["no, use pnpm and not npm"] * 6)
    (rule,) = learned(ledger, tmp_path / "in")
    assert (rule.observations, rule.messages, rule.tier) == (1, 6, "low")


def test_a_fork_read_later_is_not_a_new_observation(ledger: Ledger, tmp_path: Path) -> None:
    one = session(tmp_path / "in", 1, "no, use pnpm and not npm")
    learned(ledger, tmp_path / "in")
    text = one.path.read_text()
    one.path.unlink()
    # The fork begins with a message of its own, so its first message is another one.
    fork = talk(tmp_path / "in", "00000009-2222-4333-8444-555555555555")
    fork.user("go on with the pages")
    fork.raw(text.encode())
    fork.user("no, use pnpm and not npm!", uuid="ffffffff-0000")
    (rule,) = learned(ledger, tmp_path / "in")
    assert (rule.observations, rule.messages) == (1, 2)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("no, don't add docstrings to tests", "no, add docstrings to tests"),
        ("no, use 2 spaces in yaml files", "no, use 4 spaces in yaml files"),
    ],
)
def test_a_correction_never_strengthens_what_it_denies(
    ledger: Ledger, tmp_path: Path, one: str, other: str
) -> None:
    for number in range(3):
        session(tmp_path / "in", number, one)
    for number in range(3, 7):
        session(tmp_path / "in", number, other)
    found = learned(ledger, tmp_path / "in")
    assert sorted(rule.observations for rule in found) == [3, 4]


def test_other_matters_are_other_rules(ledger: Ledger, tmp_path: Path) -> None:
    session(tmp_path / "in", 1, "no, use pnpm and not npm", "stop adding comments to the code")
    session(tmp_path / "in", 2, "no, don't add comments to the code")
    found = learned(ledger, tmp_path / "in")
    assert [(rule.id, rule.observations) for rule in found] == [("ag-002", 2), ("ag-001", 1)]


@pytest.mark.parametrize("text", ["no", "no, stop!", "still wrong", "wtf"])
def test_words_that_name_nothing_teach_nothing(ledger: Ledger, tmp_path: Path, text: str) -> None:
    for number in range(6):
        session(tmp_path / "in", number, text)
    assert learned(ledger, tmp_path / "in") == []


def test_failures_and_stashes_are_never_evidence(ledger: Ledger, tmp_path: Path) -> None:
    """friction on 253 real sessions: 15 false preferences, all from exit codes and /stash."""
    for number in range(8):
        made = session(tmp_path / "in", number)
        for _ in range(4):
            made.runs("make test", "Exit code 1\nuse pnpm and not npm", error=True)
        made.says("Done, use pnpm and not npm.")
        made.user("/stash use pnpm and not npm")
    assert learned(ledger, tmp_path / "in") == []


def test_every_rule_rests_on_words_of_the_user(ledger: Ledger, tmp_path: Path) -> None:
    said = ["no, use pnpm and not npm", "wrong folder, put it into src/pages"]
    for number in range(6):
        made = session(tmp_path / "in", number, *said)
        made.stopped("2026-11-15T10:40:00Z")
        made.says("I go on.", timestamp="2026-11-15T10:40:05Z")
        made.stopped("2026-11-15T10:40:20Z")
        made.user("did you push?", timestamp="2026-11-15T10:40:30Z")
    for rule in learned(ledger, tmp_path / "in"):
        assert rule.statement in said
        assert {each.statement for each in ledger.evidence(P, rule.id)} <= set(said)


def test_what_is_wanted_after_two_stops_is_evidence(ledger: Ledger, tmp_path: Path) -> None:
    made = session(tmp_path / "in", 1)
    made.stopped("2026-11-15T10:40:00Z")
    made.says("I go on.", timestamp="2026-11-15T10:40:05Z")
    made.stopped("2026-11-15T10:40:20Z")
    made.user("use the existing helper instead", timestamp="2026-11-15T10:40:30Z")
    (rule,) = learned(ledger, tmp_path / "in")
    assert rule.statement == "use the existing helper instead"
    assert [each.signal for each in ledger.evidence(P)] == ["interrupt_cascade"]


def test_secrets_do_not_reach_the_ledger(ledger: Ledger, tmp_path: Path) -> None:
    secret = "sk-ant-api03-" + "a1B2c3D4" * 12
    session(tmp_path / "in", 1, f"no, use the key {secret} for the shop")
    learned(ledger, tmp_path / "in")
    assert "a1B2c3D4" not in ledger.evidence(P)[0].statement
    assert b"a1B2c3D4" not in Path(ledger.path).read_bytes()


def test_a_folder_that_is_gone_counts_for_the_project_at_hand(tmp_path: Path) -> None:
    there = tmp_path / "other"
    there.mkdir()
    project_of = project_finder(str(tmp_path / "here"), str(tmp_path / "home"), "own")
    assert project_of("/gone/long/ago") == "own"
    assert project_of("") == "own"
    assert project_of(str(there)) not in ("own", "")
