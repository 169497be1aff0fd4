"""Whether two memories say the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltm.kinds import Kinds
from ltm.text.similarity import (
    COMMON_WORDS,
    alike,
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


def test_one_and_many_are_one_matter_and_a_class_is_no_plural() -> None:
    assert phrases("fix the tests") == phrases("fix the test")
    assert "class" in phrases("rename class Foo")
    assert not alike(phrases("rename class Foo"), phrases("rename clas Foo Bar Baz"))
    assert phrases("use gas") != phrases("use ga")  # too short to be a plural
