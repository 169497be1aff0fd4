"""Whether two memories say the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltm.kinds import Kinds
from ltm.text.similarity import (
    COMMON_WORDS,
    SAME_ERROR,
    alike,
    bare_error,
    error_likeness,
    error_signs,
    jaccard,
    most_typical,
    phrases,
    says_something,
    tokens_of,
)

SETS = st.frozensets(st.sampled_from("abcdefgh"))


def test_the_documented_pair_is_a_duplicate() -> None:
    """traps 2.4 #6: the example of the design is exactly 0.6 and was called a duplicate."""
    one = tokens_of("Using Next.js app router")
    other = tokens_of("Project uses Next.js app router")
    assert one == {"nextjs", "app", "router"}
    assert other == {"project", "uses", "nextjs", "app", "router"}
    assert jaccard(one, other) == 0.6
    by_words = [kind for kind in Kinds() if kind.duplicate < 1]
    assert all(jaccard(one, other) >= kind.duplicate for kind in by_words)
    # What happened twice happened twice: only the very same words are one episode.
    assert [kind.name for kind in Kinds() if kind not in by_words] == ["episode"]


def test_words_are_lower_case_joined_over_punctuation_and_longer_than_two() -> None:
    assert tokens_of("The CI/CD of user_store.py is OK, isn't it?") == {
        "cicd",
        "userstorepy",
        "isnt",
    }


def test_there_are_48_stop_words_and_no_negation_among_them() -> None:
    assert len(COMMON_WORDS) == 48
    assert not COMMON_WORDS & {"not", "never", "without", "only", "none"}
    assert tokens_of("use tabs") != tokens_of("not use tabs")


@pytest.mark.parametrize(
    "text", ["数据库迁移", "データベース", "Привет мир", "ภาษาไทย", "हिन्दी", "猫"]
)
def test_no_language_is_left_with_nothing_to_compare(text: str) -> None:
    assert tokens_of(text)
    assert jaccard(tokens_of(text), tokens_of(text)) == 1.0


def test_accents_and_curly_apostrophes_do_not_make_a_difference() -> None:
    assert tokens_of("Café doesn’t open") == tokens_of("cafe doesn't open")


def test_similar_chinese_sentences_are_closer_than_unrelated_ones() -> None:
    base = tokens_of("数据库迁移之前必须先备份")
    near = tokens_of("数据库迁移之前一定要先备份")
    far = tokens_of("登录页面的按钮颜色改成蓝色")
    assert jaccard(base, near) > 0.4 > jaccard(base, far)


def test_two_texts_without_words_have_nothing_in_common() -> None:
    assert jaccard(tokens_of(""), tokens_of("!?")) == 0.0


@given(SETS, SETS)
def test_similarity_is_symmetric_and_between_0_and_1(a: frozenset[str], b: frozenset[str]) -> None:
    assert jaccard(a, b) == jaccard(b, a)
    assert 0.0 <= jaccard(a, b) <= 1.0
    assert (jaccard(a, b) == 1.0) == (a == b != frozenset())
    assert (jaccard(a, b) == 0.0) == (not a & b)


@given(st.text())
def test_any_text_has_tokens_without_blanks(text: str) -> None:
    assert all(token and token.split() == [token] for token in tokens_of(text))


@given(st.text(alphabet=st.characters(max_codepoint=127)))
def test_ascii_tokens_are_letters_and_digits(text: str) -> None:
    assert all(t.isalnum() and len(t) > 2 and t not in COMMON_WORDS for t in tokens_of(text))


# -- when two utterances are about the same thing


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("no, use pnpm not npm", "please use pnpm instead of npm"),
        ("don't add comments to the code", "No! stop adding comments. I said don't add comments"),
        ("wrong, run the migrations first", "you must run migrations first"),
        ("不要 使用 npm 安装", "不要使用 npm"),
        ("nein, bitte keine Umlaute löschen", "keine Umlaute löschen!"),
    ],
)
def test_the_same_wish_in_other_words_is_the_same(one: str, two: str) -> None:
    assert alike(phrases(one), phrases(two))


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("no, use pnpm", "no, fix the login test"),
        ("the test is wrong", "wrong branch, test that later"),
        ("use pnpm not npm", "use npm not pnpm"),
        ("no", "no"),
        ("", "anything at all"),
    ],
)
def test_other_wishes_are_not(one: str, two: str) -> None:
    assert not alike(phrases(one), phrases(two))


def test_a_bare_no_says_nothing() -> None:
    assert not says_something("no, stop!!")
    assert not says_something("still wrong")
    assert says_something("no, use pnpm")


def test_the_most_typical_text_is_one_that_was_said() -> None:
    texts = ["no, use pnpm", "use pnpm to install things in this repository", "the weather is nice"]
    assert most_typical(texts) == "no, use pnpm"
    assert most_typical([]) == ""


def test_one_and_many_are_one_matter_and_a_class_is_not_a_plural() -> None:
    assert phrases("fix the tests") == phrases("fix the test")
    assert "class" in phrases("rename class Foo")
    assert not alike(phrases("rename class Foo"), phrases("rename clas Foo Bar Baz"))
    assert phrases("use gas") != phrases("use ga")  # too short to be a plural


def same_error(asked: str, known: str) -> bool:
    return error_likeness([error_signs(asked)], known) >= SAME_ERROR


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
    assert same_error(asked, known)
    if "\n" not in known:  # a name stands for the whole of a message, and not the other way round
        assert same_error(known, asked)


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
    assert not same_error(asked, known)


@given(st.text(max_size=300), st.text(max_size=300))
def test_any_two_texts_can_be_compared(one: str, other: str) -> None:
    assert 0.0 <= error_likeness([error_signs(one)], other) <= 1.0


@given(st.integers(1, 99_999), st.integers(1, 99_999))
def test_a_number_never_makes_an_error_another(one: int, other: int) -> None:
    form = "worker {} died at line {} of 0x{:x}: broken pipe in consumer"
    assert error_signs(form.format(one, one, one)) == error_signs(form.format(other, other, other))


@pytest.mark.parametrize("folders", ["", "src/", "/home/ada/app/src/", "C:\\work\\app\\", "../x/"])
def test_the_folders_of_a_path_are_no_part_of_an_error(folders: str) -> None:
    assert bare_error(f"{folders}db.py:12: no such column") == "db.py: : no such column"


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
def test_what_changes_is_not_part_of_an_error(changing: str) -> None:
    assert bare_error(f"worker {changing} vanished") == "worker vanished"


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
    assert error_likeness([error_signs(asked)], KNOWN) == pytest.approx(like)


def test_the_name_of_an_error_alone_is_nearly_the_error() -> None:
    known = "connect ETIMEDOUT alpha bravo charlie delta"
    assert error_likeness([error_signs("ETIMEDOUT")], known) == 0.9
    # A word of fewer than eight letters is no name, nor is one among others that are not there.
    assert error_likeness([error_signs("connect")], known) == pytest.approx(1 / 6)
    assert error_likeness([error_signs("ETIMEDOUT zulu")], known) == pytest.approx(0.95 / 6)


def test_the_best_of_the_first_sixty_lines_counts_and_of_a_line_its_beginning() -> None:
    def at(line: int) -> float:
        return error_likeness([error_signs(KNOWN)], "\n" * (line - 1) + KNOWN)

    assert (at(1), at(60), at(61)) == (1.0, 1.0, 0.0)
    assert (
        error_likeness([error_signs("zulu"), error_signs(KNOWN)], f"nothing\n{KNOWN}\nmore") == 1.0
    )
    assert error_likeness([], KNOWN) == 0.0
    assert bare_error("x" * 399 + "yz") == "x" * 399 + "y"
