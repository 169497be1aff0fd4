"""Whether two memories say the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltm.kinds import Kinds
from ltm.text.similarity import COMMON_WORDS, jaccard, tokens_of

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
