"""How many of something, in words."""

from __future__ import annotations

import pytest

from ltm.text.display import counted


@pytest.mark.parametrize(
    ("number", "one", "many", "said"),
    [
        (1, "memory", "", "1 memory"),
        (3, "memory", "", "3 memories"),
        (0, "memory", "", "0 memories"),
        (1, "session", "", "1 session"),
        (2, "session", "", "2 sessions"),
        (1, "private memory", "", "1 private memory"),
        (2, "private memory", "", "2 private memories"),
        (2, "active day", "", "2 active days"),
        (1, "child", "children", "1 child"),
        (2, "child", "children", "2 children"),
        (1_200, "turn", "", "1,200 turns"),
    ],
)
def test_one_of_something_is_never_told_in_the_plural(
    number: int, one: str, many: str, said: str
) -> None:
    assert counted(number, one, many) == said
