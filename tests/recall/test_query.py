"""A question is read for its words, whose words it is after, its files and its failures."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltm.recall.query import MOST_WORDS, understood

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


def test_of_a_whole_text_the_first_words_count() -> None:
    words = [f"z{chr(97 + n // 26)}{chr(97 + n % 26)}q" for n in range(200)]
    asked = understood(" ".join(words), TODAY)
    assert list(asked.weights) == list(understood(" ".join(words[:64]), TODAY).weights)
    assert len(asked.weights) == 64
    # A compound at the edge brings no more parts than there is room for.
    edge = understood(" ".join([*words[:63], "src/app/pay.py"]), TODAY)
    assert len(edge.weights) == 64
    assert "src_app_pay_py" in edge.weights


def test_a_word_that_stands_alone_as_well_counts_fully() -> None:
    asked = understood("the api of ecommerce-api", TODAY)
    assert asked.weights["api"] == 1.0
    assert asked.weights["ecommerc"] == 0.25
    assert understood("ecommerce-api and the api", TODAY).weights["api"] == 1.0


def test_at_most_four_files_are_looked_for_each_once() -> None:
    asked = understood("a.py b.py a.py c.py d.py e.py", TODAY)
    assert asked.paths == ("a.py", "b.py", "c.py", "d.py")


@pytest.mark.parametrize(
    "said",
    [
        "said",
        "say",
        "told",
        "tell",
        "recommended",
        "suggested",
        "mentioned",
        "gave",
        "gives",
        "provided",
        "listed",
        "explained",
        "described",
        "shared",
        "proposed",
        "wrote",
        "writes",
        "showed",
        "answered",
    ],
)
def test_whatever_the_agent_did_with_words_is_asked_of_it(said: str) -> None:
    assert understood(f"what have you {said} about it", TODAY).role == "assistant"
    assert understood(f"the thing you {said}", TODAY).role == "assistant"


@pytest.mark.parametrize("name", ["answer", "advice", "suggestion", "recommendation", "plan"])
def test_what_is_the_agents_own_is_asked_of_it(name: str) -> None:
    assert understood(f"where is your {name}", TODAY).role == "assistant"


@pytest.mark.parametrize("word", ["I", "I'm", "I've", "I'd", "my", "me", "mine", "myself", "we"])
def test_what_is_the_users_own_is_asked_of_the_user(word: str) -> None:
    assert understood(f"where did {word} put it", TODAY).role == "user"


@pytest.mark.parametrize(
    "word",
    [
        "errors",
        "exception",
        "traceback",
        "errno",
        "fatal",
        "panic",
        "fails",
        "failed",
        "failing",
        "failure",
        "failures",
        "crashed",
        "refused",
        "denied",
        "cannot",
        "undefined",
        "unresolved",
        "ValueError",
    ],
)
def test_each_word_of_trouble_is_one(word: str) -> None:
    assert understood(f"the {word} again", TODAY).failing
    assert not understood("the failsafe worked", TODAY).failing
