"""Lines are shared out by weight, completely, and never beyond what there is."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ltm.inject.memory_md import share_out

sections = st.lists(st.tuples(st.integers(0, 80), st.integers(0, 30)), max_size=12)


def test_each_has_its_share_and_what_one_does_not_need_goes_to_the_others() -> None:
    assert share_out([100, 100], [25, 15], 40, 0) == [25, 15]
    assert share_out([10, 100], [25, 15], 40, 0) == [10, 30]
    assert share_out([3, 4], [25, 15], 40, 0) == [3, 4]


def test_when_all_shares_do_not_fit_every_one_shrinks_alike() -> None:
    assert share_out([100, 100, 100], [40, 20, 20], 20, 0) == [10, 5, 5]


def test_a_heading_costs_lines_too() -> None:
    assert share_out([9, 9], [10, 10], 7, 2) == [2, 1]
    assert share_out([9, 9], [10, 10], 2, 2) == [0, 0]


def test_a_section_without_weight_gets_nothing() -> None:
    assert share_out([5, 5], [0, 1], 9, 0) == [0, 5]


@given(sections, st.integers(-5, 200), st.integers(0, 3))
def test_no_line_is_given_twice_and_none_is_wasted(
    wanted: list[tuple[int, int]], room: int, opening: int
) -> None:
    needs, weights = [need for need, _ in wanted], [weight for _, weight in wanted]
    given_lines = share_out(needs, weights, room, opening)
    spent = sum(lines + opening for lines in given_lines if lines)
    assert spent <= max(0, room)
    assert all(lines <= need for lines, need in zip(given_lines, needs, strict=True))
    for lines, need, weight in zip(given_lines, needs, weights, strict=True):
        if weight and lines < need:
            assert room - spent < (1 if lines else 1 + opening)


@given(sections, st.integers(0, 200))
def test_no_one_has_more_than_a_share_while_another_waits_for_one(
    wanted: list[tuple[int, int]], room: int
) -> None:
    needs, weights = [need for need, _ in wanted], [weight for _, weight in wanted]
    given_lines = share_out(needs, weights, room, 0)
    rows = list(zip(given_lines, needs, weights, strict=True))
    if any(lines > weight for lines, _, weight in rows):
        assert all(lines >= min(need, weight) for lines, need, weight in rows)
