"""A question is read for its words, whose words it is after, its files and its failures."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltm.core.question import MOST_WORDS, understood

TODAY = date(2026, 11, 15)


def test_a_compound_counts_as_one_word_however_many_parts_it_has() -> None:
    asked = understood("which database does ecommerce-api-gateway use", TODAY)
    assert asked.weights["databas"] == 1.0
    parts = ("ecommerce_api_gateway", "ecommerc", "api", "gatewai")
    assert sum(asked.weights[part] for part in parts) == pytest.approx(1.0)
    assert asked.weights["ecommerce_api_gateway"] == 0.5


def test_parts_of_a_compound_are_left_out_only_where_its_whole_is_known() -> None:
    asked = understood("the cache of ecommerce-api", TODAY)
    assert asked.wholes(lambda word: True) == ["cach", "ecommerce_api"]
    assert "ecommerc" in asked.wholes(lambda word: False)


def test_words_everybody_uses_count_only_when_there_are_no_others() -> None:
    assert "what" not in understood("what is the cache", TODAY).weights
    assert understood("what was that", TODAY).weights


@pytest.mark.parametrize(
    ("question", "role"),
    [
        ("what did you recommend for retries?", "assistant"),
        ("you mentioned a library for dates", "assistant"),
        ("can you remind me of the command", "assistant"),
        ("what is my preferred logger?", "user"),
        ("why did we choose redis", "user"),
        ("which port does the server use", ""),
    ],
)
def test_a_question_says_whose_words_it_is_after(question: str, role: str) -> None:
    assert understood(question, TODAY).role == role


@pytest.mark.parametrize(
    ("question", "paths"),
    [
        ("why did src/app/pay.py change?", ("src/app/pay.py",)),
        ("what is in `config.toml`, and ./run.sh?", ("config.toml", "./run.sh")),
        ("how did we fix it. Really", ()),
        ("version 1.2 of it", ()),
    ],
)
def test_files_are_found_in_a_question(question: str, paths: tuple[str, ...]) -> None:
    assert understood(question, TODAY).paths == paths


@pytest.mark.parametrize(
    ("question", "failing"),
    [
        ("TypeError: x is not a function", True),
        ("how did we fix the failing test", True),
        ("connection refused on 5432", True),
        ("which port do we use", False),
    ],
)
def test_a_failure_is_told_from_other_questions(question: str, failing: bool) -> None:
    assert understood(question, TODAY).failing is failing


@given(st.text(max_size=500))
def test_any_text_is_a_question(text: str) -> None:
    asked = understood(text, TODAY)
    assert len(asked.weights) <= MOST_WORDS
    assert all(0 < weight <= 1 for weight in asked.weights.values())


def test_marks_that_are_no_words_count_for_nothing() -> None:
    asked = understood("why … does — retry ??? fail", TODAY)
    assert set(asked.weights) == set(understood("why does retry fail", TODAY).weights)
    assert understood("… — ???", TODAY).weights == {}
