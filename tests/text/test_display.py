"""Text made safe to show."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltm.text.display import one_line, visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m"),
        ("\x1b]0;title\x07", "\\x1b]0;title\\x07"),
        ("\x9b2J", "\\x9b2J"),
        ("a\x00b\x7f", "a\\x00b\\x7f"),
        ("a\rb\bc", "a\\rb\\x08c"),
        ("admin\u202etxt.exe", "admin\\u202etxt.exe"),
        ("\u2066hidden\u2069", "\\u2066hidden\\u2069"),
        ("a\u2028b\u2029c", "a\\u2028b\\u2029c"),
        ("x\U000e0041\U000e007f", "x\\U000e0041\\U000e007f"),
        ("lone \udc80", "lone \\udc80"),
        ("one\ntwo\tthree", "one\\ntwo\\tthree"),
    ],
)
def test_what_steers_a_terminal_or_hides_is_shown_as_an_escape(text: str, shown: str) -> None:
    assert visible(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "plain",
        "naïve café",
        "数据库 データ 데이터",
        "สวัสดี हिन्दी مرحبا",
        "🚀 👩‍💻 🇩🇪 ❤️",
        "→ ⚠ ├──",
        "\\x1b",
    ],
)
def test_ordinary_writing_of_any_language_stays(text: str) -> None:
    assert visible(text) == text
    assert visible(text, keep_newlines=True) == text


def test_line_ends_and_tabs_stay_where_they_are_wanted() -> None:
    assert visible("a\r\nb\n\tc\rd", keep_newlines=True) == "a\nb\n\tc\\rd"


def test_one_line_has_single_blanks_and_no_escape_sequences() -> None:
    assert one_line("  a\r\n\r\n b\t\tc \x1b[2J ") == "a b c \\x1b[2J"


@given(st.text())
def test_nothing_dangerous_comes_through(text: str) -> None:
    for shown in (visible(text), one_line(text)):
        assert all(char == " " or char.isprintable() or ord(char) > 0x9F for char in shown)
        assert not set(shown) & set("\x1b\x9b\u202e\u2066\u2028\n\t\r")
        shown.encode()  # raises on what no terminal could be sent
        assert len(shown.splitlines()) <= 1


@given(st.text())
def test_showing_twice_changes_nothing_more(text: str) -> None:
    assert visible(visible(text)) == visible(text)
    assert one_line(one_line(text)) == one_line(text)
    kept = visible(text, keep_newlines=True)
    assert visible(kept, keep_newlines=True) == kept


def test_nothing_printable_is_ever_hidden() -> None:
    """A text that is printable throughout is shown unread, so nothing printable may need a look."""
    printable = "".join(filter(str.isprintable, map(chr, range(sys.maxunicode + 1))))
    assert visible(printable) == printable
    assert visible(f"\n{printable}") == f"\\n{printable}"
