"""Two errors are the same whatever numbers, places and moments stand in them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltm.text.same_error import SAME, bare, likeness, signs


def alike(asked: str, known: str) -> bool:
    return likeness([signs(asked)], known) >= SAME


@pytest.mark.parametrize(
    ("asked", "known"),
    [
        ("connect ECONNREFUSED 127.0.0.1:5432", "Error: connect ECONNREFUSED 10.0.0.7:5433"),
        ("ECONNREFUSED", "Error: connect ECONNREFUSED 10.0.0.7:5433\n    at TCPConnectWrap"),
        (
            "/home/ada/app/src/db.py:12: OperationalError: no such column: users.email",
            "src/db.py:340: OperationalError: no such column: users.email",
        ),
        (
            "E   TypeError: unsupported operand type(s) for +: 'int' and 'str'",
            "Traceback (most recent call last):\n  File 'a.py', line 3\n"
            "TypeError: unsupported operand type(s) for +: 'int' and 'str'",
        ),
        (
            "panic: runtime error: invalid memory address or nil pointer dereference [0xc000123]",
            "panic: runtime error: invalid memory address or nil pointer dereference [0xc00ffff]",
        ),
        (
            "2026-11-15T10:00:01Z ERROR deadlock detected on relation 16384",
            "2025-01-02T03:04:05Z ERROR deadlock detected on relation 99",
        ),
    ],
)
def test_what_changes_from_time_to_time_does_not_matter(asked: str, known: str) -> None:
    assert alike(asked, known)
    if "\n" not in known:  # a name stands for the whole of a message, and not the other way round
        assert alike(known, asked)


@pytest.mark.parametrize(
    ("asked", "known"),
    [
        ("ModuleNotFoundError: No module named 'numpy'", "SyntaxError: invalid syntax"),
        ("error: exit code 1", "error: exit code 2"),
        ("TypeError: x is not a function", "ENOSPC: no space left on device, write"),
        ("permission denied (publickey)", "fatal: not a git repository"),
        ("KeyError: 'user_id'", "KeyError: 'invoice_total'"),
    ],
)
def test_other_errors_are_other_errors(asked: str, known: str) -> None:
    assert not alike(asked, known)


@given(st.text(max_size=300), st.text(max_size=300))
def test_any_two_texts_can_be_compared(one: str, other: str) -> None:
    assert 0.0 <= likeness([signs(one)], other) <= 1.0


@given(st.integers(1, 99_999), st.integers(1, 99_999))
def test_a_number_never_makes_an_error_another(one: int, other: int) -> None:
    form = "worker {} died at line {} of 0x{:x}: broken pipe in consumer"
    assert signs(form.format(one, one, one)) == signs(form.format(other, other, other))


@pytest.mark.parametrize("folders", ["", "src/", "/home/ada/app/src/", "C:\\work\\app\\", "../x/"])
def test_the_folders_of_a_path_are_no_part_of_an_error(folders: str) -> None:
    assert bare(f"{folders}db.py:12: no such column") == "db.py: : no such column"


@pytest.mark.parametrize(
    "changing",
    [
        "123e4567-e89b-12d3-a456-426614174000",
        "2026-03-01T12:00:00.123Z",
        "2026-03-01 12:00",
        "2026-03-01",
        "12:00:00",
        "0xdeadbeef",
        "d34db33f",
        "10.0.0.7:5432",
        "192.168.0.1",
        "line 12",
        "pid 4711",
        "12.5ms",
        "\x1b[31m",
    ],
)
def test_what_changes_is_no_part_of_an_error(changing: str) -> None:
    assert bare(f"worker {changing} vanished") == "worker vanished"


KNOWN = "alpha bravo charlie delta echo foxtrot"


@pytest.mark.parametrize(
    ("asked", "like"),
    [
        (KNOWN, 1.0),
        ("alpha bravo", 2 / 6),  # too little to stand for the whole
        ("alpha bravo charlie", 0.95),  # three signs of it are enough
        ("alpha bravo charlie zulu", 0.95 * 3 / 4),
        ("alpha bravo yankee zulu", 0.95 * 2 / 4),
        (f"{KNOWN} golf hotel", 0.95),
        ("zulu", 0.0),
        ("", 0.0),
    ],
)
def test_how_like_they_are_is_the_share_of_common_signs(asked: str, like: float) -> None:
    assert likeness([signs(asked)], KNOWN) == pytest.approx(like)


def test_the_name_of_an_error_alone_is_nearly_the_error() -> None:
    known = "connect ETIMEDOUT alpha bravo charlie delta"
    assert likeness([signs("ETIMEDOUT")], known) == 0.9
    # A word of fewer than eight letters is no name, nor is one among others that are not there.
    assert likeness([signs("connect")], known) == pytest.approx(1 / 6)
    assert likeness([signs("ETIMEDOUT zulu")], known) == pytest.approx(0.95 / 6)


def test_the_best_of_the_first_sixty_lines_counts_and_of_a_line_its_beginning() -> None:
    def at(line: int) -> float:
        return likeness([signs(KNOWN)], "\n" * (line - 1) + KNOWN)

    assert (at(1), at(60), at(61)) == (1.0, 1.0, 0.0)
    assert likeness([signs("zulu"), signs(KNOWN)], f"nothing\n{KNOWN}\nmore") == 1.0
    assert likeness([], KNOWN) == 0.0
    assert bare("x" * 399 + "yz") == "x" * 399 + "y"
