"""Arguments and results, for any text and any value."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltm.errors import WrongUsage
from ltm.inject.render import units
from ltm.mcp.call import MOST, cut, fitted, quoted
from ltm.mcp.tools import TOOLS, Tool, checked
from ltm.text.display import visible

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=6,
)
TEXTS = st.text(
    st.sampled_from("a\n\t \r\x1b\u2028\u202e>[]</Ж\U0001f30a\U000e0041\ud800"), max_size=400
)


@given(text=TEXTS, times=st.integers(1, 60), most=st.integers(100, 3_000))
def test_a_quotation_marks_every_line_loses_nothing_and_ends(
    text: str, times: int, most: int
) -> None:
    whole = text * times
    offset, shown = 0, []
    while True:
        quotation, end = quoted(whole, offset, most)
        assert units(quotation) <= most
        lines = quotation.split("\n")
        assert all(line.startswith("> ") for line in lines)
        shown += [line[2:] for line in lines]
        if end >= len(whole):
            break
        assert end > offset
        offset = end
    plain = "".join(shown).replace("\\r", "")
    expected = visible(whole, keep_newlines=True).replace("\n", "").replace("\\r", "")
    assert plain == expected


@given(st.text(max_size=50).map(lambda text: text * 400))
def test_no_result_is_longer_than_a_client_shows(text: str) -> None:
    assert units(cut(text)) < 10_000


@given(
    blocks=st.lists(st.text("ab\U0001f30a", min_size=1, max_size=900), min_size=1, max_size=60),
    head=st.text("x", max_size=500),
)
def test_a_list_shows_what_fits_and_tells_the_number_shown(blocks: list[str], head: str) -> None:
    text = fitted(head, blocks, lambda shown: f"shown {shown}")
    assert units(text) <= MOST
    shown = int(text.rpartition("shown ")[2])
    assert 1 <= shown <= len(blocks)
    assert "\n".join(blocks[:shown]) in text
    if shown < len(blocks):
        assert units(text) + units(blocks[shown]) + 30 > MOST


@given(tool=st.sampled_from(TOOLS), data=st.data())
def test_arguments_are_accepted_in_their_type_or_refused_by_name(
    tool: Tool, data: st.DataObject
) -> None:
    names = [*tool.properties, *tool.aliases, "something"]
    sent = data.draw(st.dictionaries(st.sampled_from(names), VALUES, max_size=4))
    refusal = None
    accepted: dict[str, Any] = {}
    try:
        accepted = checked(tool, sent)
    except WrongUsage as error:
        refusal = error
    if refusal is not None:
        assert any(name in str(refusal) for name in (*sent, *tool.required))
        assert refusal.hint
        return
    assert accepted.keys() <= tool.properties.keys()
    assert set(tool.required) <= accepted.keys()
    for name, value in accepted.items():
        wanted = tool.properties[name]["type"]
        assert fits(value, wanted), (name, value)


def fits(value: Any, wanted: str) -> bool:
    """Whether a value is of a JSON Schema type, said a second way."""
    return {
        "string": isinstance(value, str),
        "integer": type(value) is int,
        "number": type(value) is int or (type(value) is float and math.isfinite(value)),
        "boolean": type(value) is bool,
        "array": isinstance(value, list) and all(isinstance(each, str) for each in value),
    }[wanted]


def test_null_counts_as_not_given_and_a_whole_float_as_a_number() -> None:
    recall = next(tool for tool in TOOLS if tool.name == "recall")
    assert checked(recall, {"query": "x", "limit": None}) == {"query": "x"}
    assert checked(recall, {"query": "x", "limit": 3.0}) == {"query": "x", "limit": 3}
    for limit in (3.5, True, math.nan, math.inf, 0, 51, "3"):
        with pytest.raises(WrongUsage, match="limit"):
            checked(recall, {"query": "x", "limit": limit})
