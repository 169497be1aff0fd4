"""The numbers of upkeep, checked against the worked examples that the documentation shows."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltm import policy
from ltm.decisions import contradicted, reinforced
from ltm.kinds import Kinds
from ltm.model import Impact, Memory, Source
from ltm.policy import Limits

PAGE = Path(__file__).parents[2] / "docs" / "concepts" / "upkeep.md"
KINDS = Kinds()
NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)


def rows(*header: str) -> list[Sequence[str]]:
    """The rows of the one table on the page with this header."""
    found: list[Sequence[str]] = []
    inside = False
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        cells = tuple(cell.strip() for cell in line.strip().strip("|").split("|"))
        if cells == header:
            assert not found, "two tables have this header"
            inside = True
        elif not line.startswith("|"):
            inside = False
        elif inside and not set(line) <= set("|-"):
            found.append(cells)
    assert found, f"the page has no table {header}"
    return found


def aged(kind: str, days: float, **fields: object) -> Memory:
    """A memory that was made and confirmed so many days before now."""
    then = NOW - timedelta(days=days)
    values: dict[str, object] = {"created": then, "updated": NOW, "confirmed": then, **fields}
    return Memory(id="mem_1", kind=kind, title="t", summary="s", content="", **values)  # type: ignore[arg-type]


@pytest.mark.parametrize("row", rows("difficulty", "sessions since", "uses", "priority"))
def test_priority_is_as_documented(row: Sequence[str]) -> None:
    difficulty, since, uses, expected = row
    assert policy.priority(float(difficulty), int(since), int(uses)) == pytest.approx(
        float(expected)
    )


@pytest.mark.parametrize("row", rows("failures", "successes", "compacted", "difficulty"))
def test_difficulty_is_as_documented(row: Sequence[str]) -> None:
    """traps 2.1 #3: a compacted session adds 0.2, not 0.04, and the most is 1."""
    failures, successes, compacted, expected = row
    found = policy.difficulty(int(failures), int(successes), compacted == "yes")
    assert found == pytest.approx(float(expected))


@pytest.mark.parametrize(
    "row", rows("kind", "confidence in the file", "days", "confidence", "shown")
)
def test_confidence_is_as_documented(row: Sequence[str]) -> None:
    """traps 2.4 #14: below 0.3 is hidden, exactly 0.3 is shown."""
    name, given_confidence, days, expected, shown = row
    memory = aged(name, float(days), confidence=float(given_confidence))
    assert policy.confidence(memory, KINDS[name], NOW) == float(expected)
    assert policy.is_hidden(memory, KINDS[name], NOW) is (shown == "no")


@pytest.mark.parametrize("row", rows("observations", "tier"))
def test_tiers_are_as_documented(row: Sequence[str]) -> None:
    """traps 2.2 #12: two observations are low, whatever an example says."""
    observations, expected = row
    assert policy.tier(int(observations), KINDS["preference"]) == expected


@pytest.mark.parametrize("row", rows("impact", "idle active days", "fades"))
def test_allowances_are_as_documented(row: Sequence[str]) -> None:
    impact, days, fades = row
    allowance = policy.idle_allowance(Impact(impact), Limits())
    assert (allowance is not None and int(days) > allowance) is (fades == "yes")


def test_allowances_follow_the_options() -> None:
    limits = Limits(low_days=2, medium_days=3, high_days=4)
    assert [policy.idle_allowance(impact, limits) for impact in Impact] == [2, 3, 4, None]


@given(
    st.floats(allow_nan=False),
    st.integers(-(10**6), 10**6),
    st.integers(-(10**6), 10**6),
)
def test_priority_stays_between_0_and_1(difficulty: float, since: int, uses: int) -> None:
    assert 0.0 <= policy.priority(difficulty, since, uses) <= 1.0


@given(st.floats(0, 1), st.integers(0, 999), st.integers(0, 999))
def test_priority_rises_with_use_and_falls_with_time(
    difficulty: float, since: int, uses: int
) -> None:
    here = policy.priority(difficulty, since, uses)
    assert policy.priority(difficulty, since + 1, uses) < here
    assert policy.priority(difficulty, since, uses + 1) >= here
    assert policy.priority(difficulty + 0.01, since, uses) >= here


@given(st.integers(-5, 10**6), st.integers(-5, 10**6), st.booleans())
def test_difficulty_stays_between_0_and_1(failures: int, successes: int, compacted: bool) -> None:
    assert 0.0 <= policy.difficulty(failures, successes, compacted) <= 1.0


@given(st.floats(0, 1), st.floats(-400, 400), st.sampled_from([kind.name for kind in KINDS]))
def test_confidence_never_grows_with_age(given_confidence: float, days: float, kind: str) -> None:
    row = KINDS[kind]
    younger = policy.confidence(aged(row.name, days, confidence=given_confidence), row, NOW)
    older = policy.confidence(aged(row.name, days + 1, confidence=given_confidence), row, NOW)
    assert 0.0 <= older <= younger <= 1.0


def test_an_edit_does_not_renew_confidence_and_a_confirmation_does() -> None:
    """traps 2.4 #14: decay counts from created and confirmed, never from updated."""
    stale = aged("progress", 6, updated=NOW)
    assert policy.is_hidden(stale, KINDS["progress"], NOW)
    confirmed = aged("progress", 6, confirmed=NOW)
    assert policy.confidence(confirmed, KINDS["progress"], NOW) == 1.0


@pytest.mark.parametrize("fields", [{"pinned": True}, {"impact": Impact.CRITICAL}])
def test_pinned_and_critical_memories_do_not_age(fields: dict[str, object]) -> None:
    memory = aged("progress", 400, confidence=0.8, **fields)
    assert policy.confidence(memory, KINDS["progress"], NOW) == 0.8


def test_a_memory_confirmed_before_it_was_made_counts_from_its_making() -> None:
    memory = aged("progress", 2, confirmed=NOW - timedelta(days=300))
    assert policy.confidence(memory, KINDS["progress"], NOW) == pytest.approx(1 - 2 / 7)


def test_contradiction_age_and_repetition_are_kept_apart() -> None:
    """traps 2.6 #7: one number called confidence stood for all three."""
    memory = aged("context", 15, observations=2)
    older, denied = memory, contradicted(memory, ["mem_other"], NOW)
    again = reinforced(memory, Source(), NOW)
    assert [each.confidence for each in (older, denied, again)] == [1.0, 0.6, 1.0]
    assert [each.observations for each in (older, denied, again)] == [2, 2, 3]
    found = [policy.confidence(each, KINDS["context"], NOW) for each in (older, denied, again)]
    assert found == [0.5, 0.3, 1.0]


def test_a_kind_without_tiers_has_none() -> None:
    assert policy.tier(9, KINDS["fact"]) == ""


@pytest.mark.parametrize(
    ("state", "days", "over"),
    [("resolved", 14, False), ("resolved", 14.1, True), ("open", 400, False), ("", 400, False)],
)
def test_an_issue_is_over_14_days_after_it_was_resolved(
    state: str, days: float, over: bool
) -> None:
    memory = aged("issue", 500, state=state, updated=NOW - timedelta(days=days))
    assert policy.is_over(memory, KINDS["issue"], NOW) is over
    assert policy.is_hidden(memory, KINDS["issue"], NOW) is over


def test_a_kind_without_states_is_never_over() -> None:
    memory = aged("fact", 500, state="resolved", updated=NOW - timedelta(days=500))
    assert not policy.is_over(memory, KINDS["fact"], NOW)


@pytest.mark.parametrize(
    ("fields", "spared"),
    [({}, False), ({"pinned": True}, True), ({"impact": Impact.CRITICAL}, True)],
)
def test_pinned_and_critical_memories_are_spared(fields: dict[str, object], spared: bool) -> None:
    assert policy.is_spared(aged("fact", 0, **fields)) is spared


def test_loading_the_policy_loads_nothing_heavy() -> None:
    """It runs at the start of every session, so it must not bring a database or a parser along."""
    code = "import sys, ltm.policy; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert not {"sqlite3", "yaml", "json", "click", "asyncio", "importlib.metadata"} & set(loaded)
