"""Preferences by counting: made of users' words, promoted, demoted, never counted twice."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ltm.decisions import Forget
from ltm.friction import promotion as preferences
from ltm.friction.promotion import PreferenceChange, Reword, wordings
from ltm.kinds import Kinds
from ltm.model import Filter, Memory, Phase, Status, iso
from ltm.state.corrections import Conversation, Ledger, RuleEvidence, opened
from ltm.store.file_store import FileStore
from tests.stores import file_store, make

START = datetime(2026, 3, 1, tzinfo=UTC)
P = "project"
PNPM = "no, use pnpm here"


def day(number: int) -> datetime:
    return START + timedelta(days=number)


class Desk:
    """A store and a ledger."""

    def __init__(self, store: FileStore, ledger: Ledger) -> None:
        self.store = store
        self.ledger = ledger

    def talk(self, number: int, text: str = PNPM, rule: str = "ag-001") -> None:
        """A conversation on a day in which a user had to say something; '' for nothing."""
        name = f"c{number}-{rule}"
        seen = RuleEvidence(
            P, name, name, f"m-{name}", iso(day(number)), "user_correction", 8.0, text, rule
        )
        self.ledger.note([Conversation(P, name, name, iso(day(number)))], [seen] if text else [])

    def reflect(self, at: int, reword: Reword | None = None) -> list[PreferenceChange]:
        steps = preferences.plan(self.store, self.ledger, P, day(at), reword)
        return preferences.apply(self.store, self.ledger, P, steps, day(at))

    def all(self, *statuses: Status) -> list[Memory]:
        found = self.store.list(Filter(statuses=statuses or (Status.ACTIVE,))).items
        return [each.memory for each in found]

    def only(self) -> Memory:
        (memory,) = self.all()
        return memory

    def status(self, at: int, rule: str = "ag-001") -> str:
        return {each.id: each.status for each in self.ledger.rules(P, day(at))}[rule]


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with opened(str(tmp_path / "home")) as ledger:
        store = file_store(tmp_path / "store")
        yield Desk(store, ledger)
        store.close()


@pytest.mark.parametrize(
    ("seen", "tier"),
    [(1, "low"), (2, "low"), (3, "medium"), (4, "medium"), (5, "high"), (6, "high")],
)
def test_a_tier_follows_from_the_count(desk: Desk, seen: int, tier: str) -> None:
    """traps 2.2 #12: two observations are low, whatever an example says."""
    for number in range(seen):
        desk.talk(number)
    (step,) = desk.reflect(10)
    assert (step.action, step.tier, step.after) == ("added", tier, seen)
    assert desk.only().observations == seen
    assert desk.only().content == "Use pnpm here."
    assert (desk.only().confidence >= 0.7) is (tier == "high")  # below it is told with a doubt


def test_doing_it_again_changes_nothing(desk: Desk) -> None:
    """traps 2.2 #11: promotion by repetition."""
    for number in range(6):
        desk.talk(number)
    desk.reflect(10)
    before = desk.all(*Status)
    for _ in range(3):
        for number in range(6):
            desk.talk(number)  # the same messages once more
        assert desk.reflect(11) == []
    assert desk.all(*Status) == before


def test_more_evidence_promotes_step_by_step(desk: Desk) -> None:
    actions = []
    for number in range(6):
        desk.talk(number)
        actions += [(step.action, step.after) for step in desk.reflect(number)]
    assert actions == [
        ("added", 1),
        ("counted", 2),
        ("promoted", 3),
        ("counted", 4),
        ("promoted", 5),
        ("counted", 6),
    ]


def test_a_firm_preference_is_in_the_ledger_and_its_effect_can_be_told(desk: Desk) -> None:
    for number in range(5):
        desk.talk(number)
        assert desk.status(number) == "observing"
        desk.reflect(number)
    assert desk.status(5) == "hot"
    for number in range(6, 10):
        desk.talk(number, "", "none")
    (effect,) = desk.ledger.effect(P, day(10))
    assert effect.rule.memory == desk.only().id
    assert (effect.before.seen, effect.after.seen, effect.verdict) == (5, 0, "stopped")


def test_the_contrary_said_later_demotes_and_at_last_archives(desk: Desk) -> None:
    for number in range(5):
        desk.talk(number, "no, add docstrings to public functions")
    desk.reflect(5)
    assert desk.status(5) == "hot"
    for number in range(6, 9):
        desk.talk(number, "no, don't add docstrings to public functions", "ag-002")
    steps = {step.rule: step for step in desk.reflect(9)}
    assert (steps["ag-001"].action, steps["ag-001"].after) == ("demoted", 2)
    assert (steps["ag-002"].action, steps["ag-002"].tier) == ("added", "medium")
    assert desk.status(9) == "observing"
    for number in range(10, 13):
        desk.talk(number, "no, don't add docstrings to public functions", "ag-002")
    assert {step.rule: step.action for step in desk.reflect(13)}["ag-001"] == "archived"
    assert desk.reflect(14) == []
    shown = [each.content for each in desk.all() if each.phase is not Phase.ARCHIVED]
    assert shown == ["Don't add docstrings to public functions."]


def test_a_guess_no_one_needed_for_weeks_expires_and_a_firm_one_stays(desk: Desk) -> None:
    """One that works is needed no more: that must not be its end."""
    for number in range(5):
        desk.talk(number)
    desk.talk(1, "no, keep commit messages short", "ag-002")
    desk.reflect(6)
    steps = desk.reflect(100)
    assert [(step.rule, step.action) for step in steps] == [("ag-002", "archived")]
    assert desk.reflect(101) == []
    assert desk.status(101) == "hot"
    desk.talk(102, "no, keep commit messages short", "ag-002")
    assert [step.action for step in desk.reflect(103)] == ["restored"]
    assert [step.action for step in desk.reflect(104)] == ["counted"]
    assert desk.reflect(105) == []


def test_what_a_person_forgot_is_never_made_again(desk: Desk) -> None:
    for number in range(5):
        desk.talk(number)
    desk.reflect(5)
    desk.store.apply(Forget(desk.only().id))
    assert [step.action for step in desk.reflect(6)] == ["rejected"]
    for number in range(6, 12):
        desk.talk(number)
    assert desk.reflect(13) == []
    assert desk.all() == []
    assert desk.status(13) == "rejected"


def test_a_preference_the_user_stated_gains_the_count_and_no_second_memory(desk: Desk) -> None:
    desk.store.create(
        make("Use pnpm here", "Use pnpm here.", kind="preference", summary="Use pnpm here.")
    )
    for number in range(5):
        desk.talk(number)
    (step,) = desk.reflect(6)
    assert (step.action, step.before, step.after) == ("promoted", 1, 5)
    assert desk.only().observations == 5
    assert desk.reflect(7) == []


def test_what_the_user_stated_is_never_lowered_by_counting(desk: Desk) -> None:
    desk.store.create(
        make(
            "Use pnpm here",
            "Use pnpm here.",
            kind="preference",
            summary="Use pnpm here.",
            observations=7,
        )
    )
    desk.talk(1)
    desk.reflect(100)
    assert desk.only().observations == 7


def test_words_that_mean_nothing_by_themselves_become_no_memory(desk: Desk) -> None:
    """friction.md 1.2.5: fifteen false preferences came of signals nobody's words supported."""
    for number, text in enumerate(["undo that", "still broken", "wrong", "why?", "no!", "stop it"]):
        desk.talk(number, text)
    assert desk.reflect(10) == []
    assert desk.all() == []


def test_a_preference_that_was_told_and_did_not_help_gets_other_words(desk: Desk) -> None:
    for number in range(5):
        desk.talk(number)
    desk.talk(5, "Always install packages with pnpm, npm breaks the lock file")
    desk.reflect(6)
    first = desk.only()
    desk.talk(7)
    desk.talk(8)
    (step,) = desk.reflect(9)
    assert step.action == "reworded"
    second = desk.only()
    assert second.supersedes == (first.id,)
    assert second.content != first.content
    assert second.observations == first.observations + 2
    assert desk.reflect(10) == []


def test_a_model_may_word_it_and_counts_nothing(desk: Desk) -> None:
    for number in range(5):
        desk.talk(number)
    desk.reflect(6, lambda statements: "Use pnpm, never npm.")
    assert (desk.only().content, desk.only().observations) == ("Use pnpm, never npm.", 5)
    assert desk.reflect(7, lambda statements: "Something else.") == []


def test_wordings_keep_the_order_and_drop_the_complaint() -> None:
    said = [
        "no, use pnpm",
        "nope. that's not what I asked, keep commit messages short",
        "I told you to run the tests with -x",
        "no tabs in Markdown please",
        "undo that",
    ]
    assert set(wordings(said, Kinds())) == {
        "Use pnpm.",
        "Keep commit messages short.",
        "Run the tests with -x.",
        "No tabs in Markdown.",
    }


@settings(max_examples=25)
@given(order=st.lists(st.integers(0, 6), min_size=1, max_size=20))
def test_whatever_the_order_and_repetition_the_count_is_that_of_conversations(
    order: list[int], tmp_path_factory: pytest.TempPathFactory
) -> None:
    top = tmp_path_factory.mktemp("count")
    with opened(str(top / "home")) as ledger:
        store = file_store(top / "store")
        desk = Desk(store, ledger)
        for number in order:
            desk.talk(number)
            desk.reflect(8)
        assert desk.only().observations == len(set(order))
        store.close()
