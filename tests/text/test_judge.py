"""The judge: what counts as a word, why it says what it says, and where its weights come from."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltm.text.judge import SCALE, UNIT, WEIGHTS, Judge, grams, judge, unpacked, weights, words

ROOT = Path(__file__).parent.parent.parent


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Use tabs, please!", ["use", "tabs", ",", "please", "!"]),
        ("see src/app/main.py", ["see", "<path>"]),
        ("run `make fmt` on v1.2", ["run", "<code>", "on", "<number>"]),
        ("port 5433 of my_db", ["port", "<number>", "of", "<name>"]),
        ("the API at https://x.y/z", ["the", "<name>", "api", "at", "<url>"]),
        ("don’t", ["don't"]),
        ("用空格？", ["用空", "空格", "?"]),
    ],
)
def test_words_count_by_what_they_are(text: str, expected: list[str]) -> None:
    assert list(words(text)) == expected


def test_words_count_alone_in_pairs_in_threes_and_by_their_beginning() -> None:
    found = grams("we always deploy")
    assert {"^ we", "we", "we always", "we always deploy", "alwa*"} <= {*found}
    assert len(found) == len({*found})


_SENTENCES = st.lists(
    st.sampled_from(
        ["we", "always,", "Deploy", "`a b`", "no?!", "don’t", "x.py", "HTTP", "用空格", "é"]
    )
    | st.text(max_size=9)
).map(" ".join)


@given(_SENTENCES)
def test_a_text_is_worth_what_its_n_grams_weigh(text: str) -> None:
    rows = {gram: [place % 7 - 3, 2 - place % 5] for place, gram in enumerate(grams(text))}
    found = [rows[gram] for gram in grams(text)]
    share = SCALE / UNIT / math.sqrt(len(found))
    one, other = (share * sum(each) for each in zip(*found, strict=True))
    first = {gram: [row[0]] for gram, row in rows.items()}
    yes = Judge({"heads": {"a": {"classes": ["k"], "bias": [0.5], "rows": first}}, "tiers": {}})
    both = {"classes": ["j", "k"], "bias": [0.0, 0.0], "rows": rows}
    kind, sure = Judge({"heads": {"a": both}, "tiers": {}}).best("a", text)
    assert yes.worth("a", text, []) == pytest.approx(1 / (1 + math.exp(-0.5 - one)))
    assert sure == pytest.approx(1 / (1 + math.exp(-abs(one - other))))
    assert kind == "j" or one <= other


def test_it_says_which_words_counted_most() -> None:
    assert "never" in judge()["kind"].telling("never commit to main", "preference")
    assert judge()["kind"].telling("", "preference") == ()


def test_the_weights_are_small_and_complete() -> None:
    assert WEIGHTS.stat().st_size <= 125_000
    data = unpacked(weights())
    assert {*data["heads"]} == {"user", "agent", "joins", "kind", "impact", "scope"}
    for head in data["heads"].values():
        assert all(len(row) == len(head["classes"]) for row in head["rows"].values())


def test_what_has_no_known_word_is_judged_by_where_it_stands_alone() -> None:
    model = Judge(
        {
            "heads": {"user": {"classes": ["keep"], "bias": [0], "rows": {"@last": [100]}}},
            "tiers": {},
        }
    )
    assert model.worth("user", "zzz", []) == 0.5
    assert model.worth("user", "zzz", ["@last"]) > 0.7


@given(st.text(max_size=300))
def test_any_text_is_judged(text: str) -> None:
    assert 0 <= judge().worth("user", text, []) <= 1
    assert judge().best("kind", text)[0]


@pytest.mark.parametrize("part", ["a", "a.", "`", "以后", "always, ", "A=b/", "x_y ", "?!"])
def test_a_hostile_text_costs_no_more_than_its_beginning(part: str) -> None:
    text = part * (1_000_000 // len(part))
    assert words(text) == words(text[:1_000])
    assert judge().worth("user", text, []) == judge().worth("user", text[:1_000], [])


def test_those_not_trained_on_are_judged_well_enough() -> None:
    """What `python -m training.capture` measured, each author by a model of the others."""
    measured = json.loads((ROOT / "training" / "figures.json").read_text("utf-8"))
    assert measured["precision of sure"] >= 0.90
    assert measured["recall of sure and likely"] >= 0.70
    assert measured["empty sessions with a memory"] <= 1 / 20
    assert measured["stand-alone statements at least likely"] >= 0.85
    assert measured["kind"] >= 0.5


@pytest.mark.slow
def test_training_again_gives_the_same_bytes() -> None:
    pytest.importorskip("numpy")
    from training.capture import Material, as_text, heads

    made = as_text(heads(Material.read()), judge().tiers)
    assert made == weights()
