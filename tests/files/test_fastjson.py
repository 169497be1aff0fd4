"""JSON for hooks: what `json` reads and writes, and as much as there is of a cut-off message."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltm.files import fastjson

values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.text(),
    lambda inner: st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(st.text(), values, max_size=6))
def test_what_is_written_is_read_back_by_both(value: dict[str, Any]) -> None:
    text = fastjson.write(value)
    assert text.isascii()
    assert json.loads(text) == value
    assert fastjson.read_object(text) == value


@given(anything, st.sampled_from([None, 2]), st.booleans())
def test_a_whole_value_is_read_as_json_reads_it(
    value: Any, indent: int | None, ascii_only: bool
) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    assert fastjson.read(text) == value


@pytest.mark.parametrize("text", ["", "{", '{"a": 1', '{"a": 1}}', "[1] 2", "nothing", '"a\nb"'])
def test_anything_but_one_value_is_a_value_error(text: str) -> None:
    for read in (json.loads, fastjson.read):
        with pytest.raises(ValueError, match=r"."):
            read(text)


def test_a_value_nested_without_end_is_a_value_error() -> None:
    with pytest.raises(ValueError, match="not a JSON value"):
        fastjson.read("[" * 200_000)


@given(st.dictionaries(st.text(), anything, max_size=6), st.sampled_from([None, 2]))
def test_it_reads_what_json_writes(value: dict[str, Any], indent: int | None) -> None:
    text = json.dumps(value, indent=indent)
    assert fastjson.read_object(text) == value
    assert fastjson.is_whole(text)


@given(st.dictionaries(st.text(), anything, min_size=1, max_size=6), st.data())
def test_a_message_that_is_cut_off_tells_what_came_before(
    value: dict[str, Any], data: st.DataObject
) -> None:
    text = json.dumps(value)
    cut = text[: data.draw(st.integers(0, len(text) - 1))]
    found = fastjson.read_object(cut)
    whole = list(value.items())
    # A number may end early and still be one; every pair before the last one is exact.
    assert list(found)[:-1] == [key for key, _ in whole][: max(0, len(found) - 1)]
    assert all(found[key] == value[key] for key in list(found)[:-1])
    assert not fastjson.is_whole(cut)


@pytest.mark.parametrize(
    "text", ["", "  ", "[]", "7", "null", '"x"', "{", "nonsense", '{"a"', "{1:2}"]
)
def test_anything_else_than_an_object_is_an_empty_one(text: str) -> None:
    assert fastjson.read_object(text) == {}


def test_a_text_nested_beyond_reason_is_not_an_error() -> None:
    assert fastjson.read_object('{"a": 1, "b": ' + "[" * 200_000) == {"a": 1}


def test_a_path_that_is_not_utf8_survives() -> None:
    path = b"/tmp/caf\xe9".decode("utf-8", "surrogateescape")
    assert fastjson.read_object(fastjson.write({"cwd": path})) == {"cwd": path}


def test_what_cannot_be_written_is_refused() -> None:
    with pytest.raises(TypeError):
        fastjson.write({"a": [1]})


def test_malformed_input_is_not_an_error_in_a_process_that_never_loaded_json() -> None:
    """Without `json` in memory the C scanner cannot raise its own error."""
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); from ltm.files import fastjson as q;"
        "assert 'json' not in sys.modules;"
        'print(q.read_object(\'{"a": 1, "b": "cut\'), q.is_whole(\'{"a": nope}\'))'
    )
    root = fastjson.__file__.removesuffix("/ltm/files/fastjson.py")
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code, root], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "{'a': 1} False"


def test_another_python_reads_and_writes_the_same() -> None:
    """Where the scanner of CPython is missing, that of the standard library is taken."""
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); sys.modules['_json'] = None;"
        "from ltm.files import fastjson as q;"
        'print(q.read_object(\'{"a": 1, "b": "cut\'), q.is_whole(\'{"a": nope}\'),'
        ' q.write({"ä": True}))'
    )
    root = fastjson.__file__.removesuffix("/ltm/files/fastjson.py")
    done = subprocess.run(
        [sys.executable, "-c", code, root], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == r"""{'a': 1} False {"\u00e4":true}"""
