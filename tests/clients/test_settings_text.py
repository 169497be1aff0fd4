"""A foreign JSON file is changed only where it must be, and back to the byte."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltm.clients import settings_text
from ltm.clients.settings_text import Unreadable, look, value_of

SCALARS = st.none() | st.booleans() | st.integers() | st.text(max_size=8)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=12,
)
OBJECTS = st.dictionaries(st.text(max_size=4), VALUES, max_size=4)
WAYS = st.sampled_from(
    (
        ("newest",),
        ("in", "newest"),
        ("deep", "er", "newest"),
        ("deep", "newest"),
        ("nowhere", "newest"),
    )
)
LAYOUTS = st.sampled_from((None, 0, 1, 2, 4, "\t"))


def laid_out(value: Any, indent: Any, windows: bool, end: str = "") -> str:
    text = json.dumps(value, indent=indent, ensure_ascii=False) + end
    return text.replace("\n", "\r\n") if windows else text


def at(value: Any, steps: tuple[str, ...]) -> Any:
    for step in steps:
        value = value.get(step) if isinstance(value, dict) else None
    return value


@given(OBJECTS, LAYOUTS, st.booleans())
def test_reading_gives_what_json_gives(value: dict[str, Any], indent: Any, windows: bool) -> None:
    text = laid_out(value, indent, windows)

    node = look(text, ())

    assert value_of(text, "json") == value
    assert node is not None
    assert all(text[m.start : m.end] for m in node.children.values())


@given(OBJECTS, OBJECTS, WAYS, VALUES, LAYOUTS, st.booleans(), st.sampled_from(("", "\n", " \n\n")))
def test_what_was_put_in_is_there_next_to_the_rest_and_comes_out_to_the_byte(
    outer: dict[str, Any],
    inner: dict[str, Any],
    steps: tuple[str, ...],
    new: Any,
    indent: Any,
    windows: bool,
    end: str,
) -> None:
    value = {**outer, "in": inner, "deep": {"er": inner}}
    text = laid_out(value, indent, windows, end)

    after, inserted = settings_text.insert(text, steps, new)

    assert at(json.loads(after), steps) == new
    assert settings_text.take_back(after, inserted) == text
    without = settings_text.remove(after, steps)
    if steps[0] == "nowhere":
        without = settings_text.remove_if_empty(without, ("nowhere",))
    assert json.loads(without) == value


@given(st.lists(VALUES, max_size=4), VALUES, LAYOUTS, st.booleans())
def test_an_item_put_into_a_list_comes_out_again(
    items: list[Any], new: Any, indent: Any, windows: bool
) -> None:
    text = laid_out({"a": {"list": items}, "z": 1}, indent, windows)

    after, inserted = settings_text.append(text, ("a", "list"), {"ours": new})

    assert json.loads(after)["a"]["list"] == [*items, {"ours": new}]
    assert settings_text.take_back(after, inserted) == text
    without = settings_text.remove_items(
        after, ("a", "list"), lambda i: isinstance(i, dict) and "ours" in i
    )
    assert json.loads(without)["a"]["list"] == [
        i for i in items if not (isinstance(i, dict) and "ours" in i)
    ]


@given(st.lists(st.integers(), min_size=1, max_size=6), st.sets(st.integers()), LAYOUTS)
def test_any_items_can_be_taken_out_of_a_list(
    items: list[int], unwanted: set[int], indent: Any
) -> None:
    text = laid_out({"list": items}, indent, windows=False)

    after = settings_text.remove_items(text, ("list",), lambda item: item in unwanted)

    assert json.loads(after)["list"] == [item for item in items if item not in unwanted]


def test_a_new_member_looks_like_its_neighbours() -> None:
    text = '{\n    "model": "opus",\n    "hooks": {\n        "Stop": []\n    }\n}\n'

    after, _ = settings_text.insert(text, ("hooks", "PreCompact"), [{"a": 1}])

    assert after == (
        '{\n    "model": "opus",\n    "hooks": {\n        "Stop": [],\n'
        '        "PreCompact": [\n            {\n                "a": 1\n            }\n'
        "        ]\n    }\n}\n"
    )


def test_a_member_between_others_goes_with_its_line_only() -> None:
    text = '{\n  "a": 1,\n  "b": {\n    "x": 1\n  },\n  "c": 3\n}\n'

    assert settings_text.remove(text, ("b",)) == '{\n  "a": 1,\n  "c": 3\n}\n'
    assert settings_text.remove(text, ("c",)) == '{\n  "a": 1,\n  "b": {\n    "x": 1\n  }\n}\n'
    assert settings_text.remove(text, ("missing", "b")) == text


COMMENTED = """\
{
  // the servers I like
  "servers": {
    "one": { "command": "a" }, // the first, really
    /* and */ "two": { "command": "b" } // the last
  },
}
"""


def test_comments_stay_where_a_client_allows_them() -> None:
    after, inserted = settings_text.insert(COMMENTED, ("servers", "ltm"), {"c": 1}, "jsonc")

    assert '"two": { "command": "b" }, // the last\n    "ltm": {' in after
    assert value_of(after, "jsonc")["servers"]["ltm"] == {"c": 1}
    assert settings_text.take_back(after, inserted) == COMMENTED
    assert settings_text.remove(after, ("servers", "ltm"), "jsonc").count("//") == 3
    again = settings_text.remove(after, ("servers", "ltm"), "jsonc")
    assert list(value_of(again, "jsonc")["servers"]) == ["one", "two"]


@pytest.mark.parametrize("key", ["one", "two"])
def test_a_member_goes_and_the_comments_around_it_stay(key: str) -> None:
    after = settings_text.remove(COMMENTED, ("servers", key), "jsonc")

    left = value_of(after, "jsonc")["servers"]
    assert list(left) == [other for other in ("one", "two") if other != key]
    assert "the servers I like" in after


def test_a_trailing_comma_is_used_and_not_doubled() -> None:
    text = '{\n  "a": 1, // why\n}\n'

    after, inserted = settings_text.insert(text, ("b",), 2, "jsonc")

    assert value_of(after, "jsonc") == {"a": 1, "b": 2}
    assert ",," not in after
    assert settings_text.take_back(after, inserted) == text


@pytest.mark.parametrize("text", ["", "  \n", "\ufeff"])
def test_a_file_with_nothing_in_it_becomes_an_object(text: str) -> None:
    after, inserted = settings_text.insert(text, ("a", "b"), 1)

    assert json.loads(after.lstrip("\ufeff")) == {"a": {"b": 1}}
    assert settings_text.take_back(after, inserted) == text


@pytest.mark.parametrize(
    ("text", "line", "why"),
    [
        ('{\n "a": 1,\n}', 3, "missing before"),
        ('{"a": 1} x', 1, "behind the end"),
        ('{\n\n "a" 1}', 3, "':'"),
        ('{"a": tru}', 1, "misspelt"),
        ('{"a": "b}', 1, "no end"),
        ('{"a": 1, "a": 2}', 1, "twice"),
        ('{"a": 01}', 1, "','"),
        ("{'a': 1}", 1, "key"),
        ("[" * 500, 1, "deeply"),
        ('{"a": 1 // no\n}', 1, "','"),
        ("[1]", 1, "no object"),
    ],
)
def test_what_is_not_json_is_refused_with_its_line(text: str, line: int, why: str) -> None:
    with pytest.raises(Unreadable, match=why) as caught:
        settings_text.insert(text, ("new",), 1)

    assert caught.value.line == line


def test_an_empty_object_goes_and_one_with_a_comment_stays() -> None:
    assert settings_text.remove_if_empty('{"a": {}, "b": 1}', ("a",)) == '{"b": 1}'
    assert settings_text.remove_if_empty('{"a": {"x": 1}}', ("a",)) == '{"a": {"x": 1}}'
    kept = '{"a": { /* mine */ }}'
    assert settings_text.remove_if_empty(kept, ("a",), "jsonc") == kept
