"""A session in lines and chunks."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from ltm.sessions.digest import DigestLine, chunks, digest
from ltm.sessions.turns import Aside, AssistantText, Commit, ToolResult, ToolUse, Turn, UserText


def test_every_turn_that_says_something_is_one_line() -> None:
    turns: list[Turn] = [
        UserText(text="fix\nthe  test", line=1),
        Aside(what="reminder", text="not said by anybody", line=2),
        AssistantText(text="x" * 900, line=3),
        ToolUse(id="1", tool="Edit", input={"file_path": "src/a.py"}, line=4),
        ToolUse(id="2", tool="Bash", input={"command": "npm test " + "y" * 900}, line=5),
        ToolUse(id="3", tool="Think", line=6),
        ToolResult(id="2", text="fine", line=7),
        ToolResult(id="2", text="boom", failed=True, line=8),
        Commit(hash="0123456789ab", branch="main", subject="Add it", line=9),
    ]
    lines = list(digest(turns))
    assert [line.line for line in lines] == [1, 3, 4, 5, 6, 8, 9]
    assert lines[0].text == "USER: fix the test"
    assert len(lines[1].text) <= 510
    assert lines[2].text == "TOOL [Edit]: src/a.py"
    assert len(lines[3].text) <= 215
    assert lines[4].text == "TOOL [Think]"
    assert lines[5].text == "ERROR: boom"
    assert lines[6].text == "COMMIT 01234567: Add it"


@given(st.lists(st.integers(1, 700), max_size=60))
def test_chunks_hold_every_line_and_never_more_than_they_may(lengths: list[int]) -> None:
    lines = [DigestLine("a" * length, number) for number, length in enumerate(lengths)]
    found = list(chunks(lines, size=1000, overlap=200))
    assert all(len(chunk.text) <= 1000 for chunk in found)
    covered = {number for chunk in found for number in range(chunk.first, chunk.last + 1)}
    assert covered == {line.line for line in lines}
    for before, after in pairwise(found):
        shared = range(after.first, before.last + 1)
        assert sum(len(lines[number].text) + 1 for number in shared) <= 200
        assert after.last > before.last


def test_chunks_overlap_by_whole_turns() -> None:
    lines = [DigestLine("a" * 90, number) for number in range(30)]
    one, two, *_ = chunks(lines, size=1000, overlap=200)
    assert (one.first, one.last) == (0, 9)
    assert two.first == 8
