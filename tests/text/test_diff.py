"""Two texts and their difference, word by word."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltm.text.diff import word_diff


@pytest.mark.parametrize(
    ("before", "after", "parts"),
    [
        ("a clock ahead", "a clock behind", ["same:a clock ", "removed:ahead", "added:behind"]),
        ("same", "same", ["same:same"]),
        ("", "new", ["added:new"]),
        ("old", "", ["removed:old"]),
        ("port 8080.", "port 8081.", ["same:port ", "removed:8080", "added:8081", "same:."]),
        (
            "at most 5,000.",
            "at most 3,000.",
            ["same:at most ", "removed:5,000", "added:3,000", "same:."],
        ),
    ],
)
def test_words_are_compared(before: str, after: str, parts: list[str]) -> None:
    assert [f"{each.how}:{each.text}" for each in word_diff(before, after)] == parts


@given(st.text(), st.text())
def test_both_texts_are_in_it(before: str, after: str) -> None:
    found = word_diff(before, after)
    assert "".join(each.text for each in found if each.how != "added") == before
    assert "".join(each.text for each in found if each.how != "removed") == after


def test_long_texts_are_compared_by_lines() -> None:
    lines = [f"line {number} says nothing new\n" for number in range(5_000)]
    found = word_diff("".join(lines), "".join([*lines[:10], "another\n", *lines[10:]]))
    assert [each.text for each in found if each.how == "added"] == ["another\n"]
