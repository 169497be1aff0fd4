"""A memory file as a document: what is read, what is refused, and that no byte moves by itself."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from ltm.errors import BadFile
from ltm.vault import frontmatter
from ltm.vault.fields import FIELDS, ORDER, Value
from ltm.vault.frontmatter import Document, parse
from tests.vault.strategies import letters, texts, titles, word_lists, words

HAND_WRITTEN = """\
---
# kept by hand
id: mem_abc12345
title:   "Use WAL"   # because of readers
mood: sunny
tags:
  - sqlite   # the database
  - wal

impact: HIGH
nested: {a: [1, 2], b: {c: d}}
notes: |
  two
  lines

status: active
---
# Body

text
"""


def read(text: str | bytes) -> Document:
    return parse(text.encode() if isinstance(text, str) else text, "m.md")


def test_a_parsed_file_is_written_back_byte_for_byte() -> None:
    assert read(HAND_WRITTEN).to_bytes() == HAND_WRITTEN.encode()


def test_every_scalar_is_the_text_that_was_typed() -> None:
    """reliability §0 item 8: safe_load makes False, 1.1, an int and a ValueError of these."""
    typed = ["no", "on", "1.10", "2026-02-30", "12:30:45", "~", "null", "0x1F", "1e3", "TRUE"]
    front = "".join(f"k{place}: {text}\n" for place, text in enumerate(typed))
    assert list(read(f"---\n{front}---\n").fields.values()) == typed


def test_lists_are_read_in_either_style() -> None:
    document = read("---\ntags: [a, 'b c', \"d\"]\nlinks:\n- x\n- y\nsupersedes: []\n---\n")
    assert document.fields == {"tags": ("a", "b c", "d"), "links": ("x", "y"), "supersedes": ()}


def test_the_line_of_each_key_is_known() -> None:
    lines = read(HAND_WRITTEN).lines
    assert lines["id"] == 3
    assert lines["tags"] == 6
    assert lines["status"] == 16


def test_a_change_touches_only_the_lines_of_its_key() -> None:
    changed = read(HAND_WRITTEN).with_fields({"impact": "low"}).to_bytes().decode()
    assert changed == HAND_WRITTEN.replace("impact: HIGH", "impact: low")


def test_a_changed_value_keeps_the_comment_behind_it() -> None:
    changed = read(HAND_WRITTEN).with_fields({"title": "Use FULL"}).to_bytes().decode()
    assert "title: Use FULL   # because of readers\n" in changed


def test_a_changed_block_list_becomes_one_line() -> None:
    changed = read(HAND_WRITTEN).with_fields({"tags": ("a", "b")}).to_bytes().decode()
    assert "\nmood: sunny\ntags: [a, b]\n\nimpact: HIGH\n" in changed


def test_none_removes_a_key_and_leaves_the_lines_around_it() -> None:
    changed = read(HAND_WRITTEN).with_fields({"impact": None}).to_bytes().decode()
    assert changed == HAND_WRITTEN.replace("impact: HIGH\n", "")


def test_a_new_key_goes_behind_the_known_key_before_it() -> None:
    document = read("---\nid: mem_abc12345\nstatus: active\nmood: sunny\n---\nx")
    changed = document.with_fields({"impact": "low", "reason": "why", "own": "z"})
    keys = [entry.key for entry in changed.entries]
    assert keys == ["id", "impact", "status", "reason", "mood", "own"]


def test_unknown_keys_of_any_shape_survive_a_change_in_place() -> None:
    changed = read(HAND_WRITTEN).with_fields({"title": "x", "impact": None, "reason": "y"})
    text = changed.to_bytes().decode()
    for kept in ("# kept by hand\n", "mood: sunny\n", "nested: {a: [1, 2], b: {c: d}}\n"):
        assert kept in text
    assert "notes: |\n  two\n  lines\n\nstatus" in text


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("final", ["", "\n"])
def test_line_ends_byte_order_mark_and_a_missing_last_newline_survive(
    ending: str, bom: bytes, final: str
) -> None:
    text = f"---\nid: mem_abc12345\nimpact: low\n---\n\none\ntwo{final}"
    data = bom + text.replace("\n", ending).encode()
    document = read(data)
    assert document.to_bytes() == data
    assert document.body == f"\none\ntwo{final}"
    changed = document.with_fields({"impact": "high", "tags": ("a",)}).to_bytes()
    wanted = text.replace("impact: low", "tags: [a]\nimpact: high")
    assert changed == bom + wanted.replace("\n", ending).encode()


def test_a_file_of_mixed_line_ends_keeps_each_of_them() -> None:
    data = b"---\r\nid: mem_abc12345\nimpact: low\r\n---\n\r\none\ntwo\r\n"
    changed = read(data).with_fields({"impact": "high"}).to_bytes()
    assert changed == data.replace(b"impact: low", b"impact: high")


def test_a_body_is_added_below_a_front_matter_that_ends_the_file() -> None:
    document = read("---\nid: mem_abc12345\n---")
    assert document.to_bytes() == b"---\nid: mem_abc12345\n---"
    assert document.with_fields({}, "text\n").to_bytes().endswith(b"\n---\ntext\n")


def test_a_setext_heading_is_not_a_conflict() -> None:
    body = "\nTitle\n=======\n\n> quote\n\n<<<<<<< alone\n\n>>>>>>> nested quote\n"
    assert read(f"---\nid: mem_abc12345\n---\n{body}").body == body


def test_a_key_that_stands_twice_is_settled_by_its_rule() -> None:
    """reliability §0 item 4: git's union merge leaves a key once per side."""
    document = read(
        "---\ntags: [a, b]\ntags: [b, c]\ncreated: 2026-01-02\ncreated: 2026-01-01T00:00:00Z\n"
        "updated: 2026-03-01\nupdated: 2026-02-01\nphase: 2\nphase: 1\nstatus: forgotten\n"
        "status: active\nimpact: high\nimpact: low\nobservations: 3\nobservations: 5\n"
        "confidence: 0.4\nconfidence: 0.9\npinned: true\npinned: false\ntitle: one\ntitle: two\n"
        "trust: tool\ntrust: user\nown: x\nown: y\n---\n"
    )
    assert document.fields == {
        "tags": ("a", "b", "c"),
        "created": "2026-01-01T00:00:00Z",
        "updated": "2026-03-01",
        "phase": "1",
        "status": "forgotten",
        "impact": "high",
        "observations": "5",
        "confidence": "0.4",
        "pinned": "true",
        "title": "two",
        "trust": "tool",
        "own": "y",
    }
    assert document.alternates == {"title": ("one",), "own": ("x",)}


def test_a_repeated_key_is_left_once_when_it_is_changed() -> None:
    changed = read("---\nid: mem_abc12345\ntitle: one\ntitle: two\n---\n").with_fields(
        {"title": "3"}
    )
    assert changed.to_bytes() == b'---\nid: mem_abc12345\ntitle: "3"\n---\n'


def test_a_value_no_one_can_measure_never_wins() -> None:
    document = read("---\nimpact: high\nimpact: whatever\nconfidence: x\nconfidence: 0.3\n---\n")
    assert document.fields == {"impact": "high", "confidence": "0.3"}


@given(words | texts)
def test_a_scalar_reads_back_the_same_in_any_yaml_reader(text: str) -> None:
    """traps 2.1 #14: a title with quotes and a colon was cut, and "123" became a number."""
    line = f"key: {frontmatter.scalar(text)}\n"
    assert "\n" not in line[:-1]
    assert frontmatter.yaml_keys(line)[0].value == text
    assert yaml.safe_load(line) == {"key": text}


@given(word_lists)
def test_a_list_reads_back_the_same_in_any_yaml_reader(parts: tuple[str, ...]) -> None:
    line = f"key: {frontmatter.flow(parts)}\n"
    assert "\n" not in line[:-1]
    assert frontmatter.yaml_keys(line)[0].value == parts
    assert yaml.safe_load(line) == {"key": list(parts)}


_values = st.one_of(words, word_lists)
_changes = st.dictionaries(
    st.sampled_from([field.key for field in FIELDS] + ["own", "mood", "nested"]),
    st.one_of(st.none(), _values),
    max_size=6,
)


@given(_changes, st.one_of(st.none(), texts), st.sampled_from(["\n", "\r\n"]))
def test_a_change_reads_back_as_asked_and_leaves_the_rest(
    changes: dict[str, Value | None], body: str | None, ending: str
) -> None:
    before = read(HAND_WRITTEN.replace("\n", ending))
    if body is not None and "<<<<<<<" in body:
        return  # the codec escapes such bodies; a document takes them as they are
    after = before.with_fields(changes, body)
    again = read(after.to_bytes())
    wanted = {k: v for k, v in {**before.fields, **changes}.items() if v is not None}
    assert again.fields == after.fields == wanted
    assert again.body == (before.body if body is None else body)
    kept = [entry for entry in before.entries if entry.key not in changes]
    assert [entry for entry in again.entries if entry in kept] == kept


@given(titles, st.text(letters, max_size=40))
def test_whatever_is_parsed_is_written_back_exactly(title: str, body: str) -> None:
    data = f"---\nid: mem_abc12345\ntitle: {title}\n---\n{body}".encode()
    try:
        document = parse(data, "m.md")
    except BadFile:
        return
    assert document.to_bytes() == data


_tails = st.sampled_from(["", "", "  ", "  # why", " #", "#", ","])
_hand = st.sampled_from(
    ["it's", "a, b [c]", "http://x:1/y#z", "1.10", "'a ''b'' c'", "[a, 'b', c d]"]
)
_typed = st.one_of(words.map(frontmatter.scalar), word_lists.map(frontmatter.flow), _hand)
_odd = st.one_of(
    words,
    words.map(lambda text: "'" + text.replace("'", "''") + "'"),
    st.lists(words | words.map(frontmatter.quoted), max_size=3).map(lambda e: f"[{', '.join(e)}]"),
    st.sampled_from(["[a,b ,]", "[@a]", "[a: b]", '"\\ud800"', '"\\x41"', "", "-", "a:"]),
)
_line = st.builds("{}: {}{}".format, st.sampled_from(["id", "title", "own-key"]), _typed, _tails)
_odd_line = st.one_of(
    st.builds("{}:{}{}".format, st.sampled_from(["a", "a b", '"a"', "é", ""]), _tails, _odd),
    st.builds("title: {}{}".format, _odd, _tails),
    st.builds("{}- {}".format, st.sampled_from(["", "  "]), _odd),
    st.sampled_from(["...", "  further: in", "? x", "\ta: b"]),
    words,
)
_list = st.builds(
    "tags:{}\n{}".format,
    _tails,
    st.builds(
        lambda indent, items: "\n".join(f"{indent}- {item}" for item in items),
        st.sampled_from(["", "  "]),
        st.lists(words.map(frontmatter.scalar) | _hand, min_size=1, max_size=3),
    ),
)
_between = st.sampled_from(["", "   ", "# a comment", "  # further in"])
_front = st.lists(st.one_of(_line, _line, _list, _between), max_size=5) | st.lists(
    st.one_of(_line, _list, _odd_line, _odd_line), max_size=4
)


@pytest.mark.parametrize("loader", ["C", "Python"])
@given(lines=_front, ending=st.sampled_from(["\n", "\r\n"]))
def test_what_is_read_without_pyyaml_is_what_pyyaml_reads(
    loader: str, lines: list[str], ending: str
) -> None:
    text = "\n".join([*lines, ""]).replace("\n", ending)
    plain = frontmatter.plain_keys(text)
    if plain is None or frontmatter.UNFIT.search(text):
        return
    with pytest.MonkeyPatch.context() as patch:
        if loader == "Python":
            patch.delattr(yaml, "CBaseLoader", raising=False)
        assert plain == frontmatter.pyyaml_keys(text)


@given(st.dictionaries(st.sampled_from([*ORDER, "mood"]), words | texts | word_lists, max_size=8))
def test_what_ltm_writes_is_read_without_pyyaml(fields: dict[str, Value]) -> None:
    written = Document().with_fields(fields)
    found = frontmatter.plain_keys("".join(entry.raw for entry in written.entries))
    assert found is not None
    assert {each.key: each.value for each in found} == fields


@pytest.mark.parametrize(
    "front",
    [
        "id: mem_1\ntags:\n  - sqlite   # the database\n  - 'w a l'\n\nimpact: HIGH  # really\n",
        "# by hand\ntitle: It's 5 o'clock - tea, [biscuits] & more\n",
        'source: https://example.org/a#b\npinned:\nnote: "tab\\there"\r\n',
    ],
)
def test_plain_edits_by_hand_need_no_pyyaml(front: str) -> None:
    assert frontmatter.plain_keys(front) == frontmatter.pyyaml_keys(front)
