"""A file that is not ours changes between its marks and nowhere else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltm.errors import Refused
from ltm.files.block import (
    END,
    NOTE,
    START,
    find_block,
    import_block,
    import_line,
    is_ours,
    place_block,
    problems,
    with_block,
    without_block,
)

NEW = f"{START}\n## Project memory\n- costs $& and $' [abc123]\n{END}"
S, E = START.encode(), END.encode()


def test_without_marks_nothing_is_written() -> None:
    """Marks in the file are the consent."""
    for existing in (b"", b"# Mine\n", b"use <!-- MEMORY:START --> to opt in\n", b"\xff\xfe\x00"):
        assert with_block(existing, NEW) is None
        assert problems(existing, "CLAUDE.md") == ()


@pytest.mark.parametrize("eol", [b"\n", b"\r\n"])
@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("end", [b"", b"\n", b"\n\n  trailing  "])
@pytest.mark.parametrize("old", [b"", b"old\n", b"- $& and `x`\n```\nno end of code\n"])
def test_everything_outside_the_marks_stays_byte_for_byte(
    eol: bytes, bom: bytes, end: bytes, old: bytes
) -> None:
    """traps 2.4 #5: `$&` in a memory, line ends, no final newline."""
    before = bom + b"# Mine\n\n  indented\ttext \xff\xfe\n".replace(b"\n", eol)
    after = end.replace(b"\n", eol)
    existing = before + S + eol + old.replace(b"\n", eol) + E + after
    expected = before + NEW.encode().replace(b"\n", eol) + after
    assert with_block(existing, NEW) == expected
    assert with_block(expected, NEW) == expected
    assert problems(existing, "CLAUDE.md") == ()


def test_marks_at_the_very_beginning_after_a_byte_order_mark_are_found() -> None:
    existing = b"\xef\xbb\xbf" + S + b"\n" + E
    assert with_block(existing, NEW) == b"\xef\xbb\xbf" + NEW.encode()


def test_marks_with_other_spacing_are_marks_too() -> None:
    existing = b"a\n  <!--MEMORY:START-->\nold\n<!--  MEMORY:END  -->  \nb\n"
    assert with_block(existing, NEW) == b"a\n  " + NEW.encode() + b"  \nb\n"


def test_marks_in_a_code_block_are_an_example_and_no_consent() -> None:
    example = b"```html\n" + S + b"\n" + E + b"\n```\n"
    assert with_block(example, NEW) is None
    both = example + b"\n" + S + b"\n" + E + b"\n"
    assert with_block(both, NEW) == example + b"\n" + NEW.encode() + b"\n"


def test_of_two_blocks_the_first_is_ours_and_the_second_is_reported() -> None:
    second = b"\nmine\n" + S + b"\nkeep this\n" + E + b"\n"
    existing = S + b"\nold\n" + E + second
    assert with_block(existing, NEW) == NEW.encode() + second
    found = problems(existing, "CLAUDE.md")
    assert [(problem.path, problem.line) for problem in found] == [
        ("CLAUDE.md", 5),
        ("CLAUDE.md", 7),
    ]
    assert "only the first block is written" in found[0].message


@pytest.mark.parametrize(
    ("marks", "lines"),
    [
        ([S], [1]),
        ([E], [1]),
        ([E, S], [1, 3]),
        ([S, S, E], [1, 3, 5]),
        ([S, S, E, E], [1, 3, 5, 7]),
        ([E, E], [1, 3]),
    ],
)
def test_marks_that_make_no_pair_leave_the_file_as_it_is_and_are_reported(
    marks: list[bytes], lines: list[int]
) -> None:
    existing = b"\ntext\n".join(marks)
    assert with_block(existing, NEW) == existing
    assert place_block(existing, NEW) == existing
    assert without_block(existing) == existing
    found = problems(existing, "CLAUDE.md")
    assert [problem.line for problem in found] == lines
    assert all("no partner" in problem.message for problem in found)


def test_a_stray_end_next_to_a_pair_is_reported_and_kept() -> None:
    existing = E + b"\n" + S + b"\n" + E + b"\n"
    assert with_block(existing, NEW) == E + b"\n" + NEW.encode() + b"\n"
    assert [problem.line for problem in problems(existing, "x")] == [1]


file_parts = st.sampled_from(
    [
        b"# Title",
        b"text",
        b"\r\n",
        b"\n",
        b"\r",
        b"```",
        b"~~~",
        b"- $&",
        b"\xff",
        b"  ",
        S,
        E,
        b"`",
    ]
)
files = st.lists(file_parts, max_size=12).map(b"".join)


@given(files)
def test_writing_twice_is_writing_once(existing: bytes) -> None:
    once = with_block(existing, NEW)
    if once is not None:
        assert with_block(once, NEW) == once


@given(files)
def test_only_one_stretch_of_any_file_changes(existing: bytes) -> None:
    changed = with_block(existing, NEW)
    if changed is None or changed == existing:
        return
    written = NEW.encode() if NEW.encode() in changed else NEW.encode().replace(b"\n", b"\r\n")
    before, _, after = changed.partition(written)
    assert existing.startswith(before)
    assert existing.endswith(after)
    middle = existing[len(before) : len(existing) - len(after)]
    assert middle.startswith(S)
    assert middle.endswith(E)
    assert middle.count(S) == 1


@given(files.filter(lambda data: S not in data and E not in data and b"\xff" not in data))
def test_taking_out_a_block_that_was_placed_gives_the_former_bytes(existing: bytes) -> None:
    placed = place_block(existing, NEW)
    assert placed.startswith(existing)
    if with_block(existing + b"\n" + S + b"\n" + E, NEW) is None:
        return  # an unclosed code block swallows the marks
    assert without_block(placed) == existing
    assert with_block(placed, NEW) == placed


def test_a_new_block_goes_to_the_end_on_a_line_of_its_own() -> None:
    assert place_block(b"", NEW) == NEW.encode() + b"\n"
    assert place_block(b"# Mine", NEW) == b"# Mine\n" + NEW.encode() + b"\n"
    assert place_block(b"# Mine\n", NEW) == b"# Mine\n\n" + NEW.encode() + b"\n"
    windows = NEW.encode().replace(b"\n", b"\r\n")
    assert place_block(b"# Mine\r\n", NEW) == b"# Mine\r\n\r\n" + windows + b"\r\n"


def test_a_file_in_another_encoding_is_refused() -> None:
    for existing in ("# Mine\n".encode("utf-16"), "größer\n".encode("latin-1")):
        with pytest.raises(Refused, match="not UTF-8"):
            place_block(existing, NEW)


def test_the_import_line_names_the_file_from_where_it_stands() -> None:
    """traps 2.2 #10: a bare @MEMORY.md loads nothing."""
    vault = "/repo/.claude/ltm/MEMORY.md"
    assert import_line(vault, "/repo/CLAUDE.md") == "@.claude/ltm/MEMORY.md"
    assert import_line(vault, "/repo/.claude/CLAUDE.md") == "@ltm/MEMORY.md"
    assert import_line("/my repo/a b/MEMORY.md", "/my repo/CLAUDE.md") == "@a\\ b/MEMORY.md"
    assert import_block("@x") == f"{START}\n@x\n{END}"


@pytest.mark.parametrize(
    ("text", "empty", "ours"),
    [
        ("", True, False),
        (" \n\t", True, False),
        ("- a fact", False, False),
        ("# P\nas the notes from earlier sessions, kept by ltm: say", False, False),
        (f"## Project memory\n{NOTE}\n- a fact [abc123]", False, True),
        (f"typed above\n## Project memory\n{NOTE}", False, True),
        ("## Project memory\nNotes from earlier sessions, kept by ltm:\nreference", False, True),
    ],
)
@pytest.mark.parametrize("eol", ["\n", "\r\n"])
def test_a_block_says_itself_whether_ltm_wrote_it(
    text: str, empty: bool, ours: bool, eol: str
) -> None:
    """Also the blocks of former versions, and what a formatter that wraps lines made of one."""
    existing = f"before\n{START}\n{text}\n{END}\nafter\n".replace("\n", eol).encode()
    found = find_block(existing)
    assert found is not None
    assert (found.line, found.is_empty, is_ours(found.data)) == (2, empty, ours)
    assert existing[found.begin :].startswith(found.data)
