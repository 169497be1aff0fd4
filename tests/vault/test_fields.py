"""One value out of several for a key: by the rule of its field, and no word is lost unsaid."""

from __future__ import annotations

import pytest

from ltm.vault.fields import BY_KEY, items, merge3, settle, union


def test_a_list_is_read_from_either_form_without_blanks() -> None:
    assert items(" a, b ,,c ") == ("a", "b", "c")
    assert items(("a", "b")) == ("a", "b")
    assert items(None) == items("") == ()
    assert union(("a", "b"), ("b", "c")) == ("a", "b", "c")


def test_a_list_where_a_text_belongs_is_left_for_the_reader_of_the_key_to_tell() -> None:
    assert settle(("a title", ("a", "list")), BY_KEY["title"]) == (("a", "list"), ())
    assert settle((("a", "list"), "a title"), BY_KEY["title"]) == ("a title", ())
    assert settle(("one", "two"), BY_KEY["tags"]) == (("one", "two"), ())


def test_what_people_wrote_is_told_when_it_loses_and_what_we_wrote_is_not() -> None:
    assert settle(("one", "two", "", "one"), BY_KEY["title"])[1] in (("one",), ("two",))
    assert settle(("2", "3"), BY_KEY["version"]) == ("3", ())
    chosen, lost = settle(("calm", "wild"), None)  # a key nobody knows
    assert {chosen, *lost} == {"calm", "wild"}


@pytest.mark.parametrize(
    ("base", "older", "newer", "merged"),
    [
        ("3", "5", "4", "6"),
        ("3", "3", "9", "9"),
        ("9", "3", "3", "1"),  # never less than once
        ("3", "many", "4", "4"),  # what is no count is not added to
    ],
)
def test_counts_that_both_sides_added_to_are_added(
    base: str, older: str, newer: str, merged: str
) -> None:
    assert merge3(BY_KEY["observations"], base, older, newer) == merged


def test_the_side_that_changed_a_value_wins_and_what_one_removed_stays_removed() -> None:
    title, tags = BY_KEY["title"], BY_KEY["tags"]
    assert merge3(title, "was", "was", "new") == "new"
    assert merge3(title, "was", "new", "was") == "new"
    assert merge3(title, "was", "was", None) == ""
    assert merge3(title, "was", None, "was") == ""
    assert merge3(tags, ("a", "b"), ("a",), ("a", "b", "c")) == ("a", "c")
    assert merge3(tags, None, ("a",), ("b",)) == ("a", "b")
