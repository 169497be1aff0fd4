"""When two utterances are about the same thing."""

from __future__ import annotations

import pytest

from ltm.text.similarity import alike, common, most_typical, phrases, says_something


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


def test_common_phrases_are_shared_by_at_least_two() -> None:
    texts = ["use pnpm", "use pnpm now", "delete branches"]
    assert common(texts) == ["use pnpm", "pnpm", "use"]
    assert common([*texts, "pnpm"]) == ["pnpm", "use pnpm", "use"]
    assert common(texts, most=2) == ["use pnpm", "pnpm"]
    many = " ".join(f"word{chr(97 + n)}" for n in range(12))
    assert len(common([many, many])) == 10


def test_one_and_many_are_one_matter_and_a_class_is_no_plural() -> None:
    assert phrases("fix the tests") == phrases("fix the test")
    assert "class" in phrases("rename class Foo")
    assert not alike(phrases("rename class Foo"), phrases("rename clas Foo Bar Baz"))
    assert phrases("use gas") != phrases("use ga")  # too short to be a plural
