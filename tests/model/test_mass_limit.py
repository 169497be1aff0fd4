"""How many memories may go at once: the figures a person is told, and where the line is."""

from __future__ import annotations

import pytest

from ltm.model import Scope
from ltm.policy import Mass, masses


@pytest.mark.parametrize(
    ("leaving", "active", "held"),
    [
        *((10, 10, False), (11, 11, True), (11, 36, True), (11, 37, False), (30, 100, False)),
        *((31, 100, True), (300, 1000, False), (301, 1000, True)),
    ],
)
def test_ten_may_always_go_and_of_more_three_in_ten(leaving: int, active: int, held: bool) -> None:
    assert bool(masses({Scope.AGENT: leaving}, {Scope.AGENT: active})) is held


def test_each_scope_is_judged_by_its_own_memories() -> None:
    active = {Scope.PROJECT: 1000, Scope.AGENT: 20}
    assert masses({Scope.PROJECT: 20, Scope.AGENT: 20}, active) == (Mass(Scope.AGENT, 20, 20),)
    # What is not counted at all is nothing, so that more than a few of it are a mass.
    assert masses({Scope.AGENT: 11}, {}) == (Mass(Scope.AGENT, 11, 0),)


def test_a_mass_is_told_in_words_and_in_fields() -> None:
    mass = Mass(Scope.PROJECT, 40, 50)
    assert str(mass) == "40 of 50 active memories of scope project"
    assert mass.as_record() == {"scope": "project", "leaving": 40, "active": 50}
