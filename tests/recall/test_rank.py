"""A question is read for what it asks by; each kind of evidence moves a passage as it should."""

from __future__ import annotations

import math
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltm.history.search import PassageMatch
from ltm.recall.rank import MOST_WORDS, Ranking, Signals, understood
from ltm.text.bm25 import rarity
from ltm.text.terms import terms

TODAY = date(2026, 11, 15)


def seen(row: int, text: str, session: str = "", role: str = "user", day: str = "") -> PassageMatch:
    """A passage with its terms, in a session of its own unless one is named."""
    words = " ".join(terms(text))
    return PassageMatch(row, session or f"s{row}", 1, 0, role, day, 0.0, words, text.endswith("?"))


def rank(question: str, *passages: PassageMatch, **signals: dict[object, float]) -> Ranking:
    asked = understood(question, TODAY)
    rarities = {
        word: rarity(sum(f" {word} " in f" {each.words} " for each in passages), len(passages))
        for word in asked.weights
    }
    found = Signals(**signals)  # type: ignore[arg-type]
    return Ranking(asked, {each.row: each for each in passages}, rarities, found, TODAY)


def order(ranking: Ranking) -> list[int]:
    return list(ranking.scores)


def test_the_passage_with_more_of_the_words_is_first() -> None:
    found = rank(
        "redis cache timeout",
        seen(1, "we spoke of redis"),
        seen(10, "the redis cache has a timeout of five seconds"),
        seen(20, "the cache is cold"),
    )
    assert order(found)[0] == 10
    assert found.words(10)[0] == ["redi", "cach", "timeout"]


def test_a_rare_word_counts_more_than_a_common_one() -> None:
    common = [seen(10 * n, "the server is slow and the server is loud") for n in range(2, 9)]
    found = rank("server idempotency", seen(1, "an idempotency key"), *common)
    assert order(found)[0] == 1


def test_an_answer_without_the_words_is_found_by_what_was_said_before_it() -> None:
    found = rank(
        "how many retries does the uploader make",
        seen(1, "how many retries should the uploader make", "one"),
        seen(2, "five, with a pause that doubles", "one"),
        seen(9, "lunch is at noon", "other"),
    )
    assert order(found) == [1, 2, 9]
    assert found.words(2) == ([], ["mani", "retri", "upload", "make"])


def test_what_stands_next_to_it_in_another_session_lends_nothing() -> None:
    found = rank("uploader retries", seen(1, "uploader retries", "one"), seen(2, "five", "two"))
    assert found.words(2) == ([], [])


def test_nearness_in_meaning_decides_between_equal_words() -> None:
    passages = (seen(1, "the cache"), seen(5, "the cache"))
    assert order(rank("cache", *passages, likeness={1: 0.6, 5: 0.1}))[0] == 1
    assert order(rank("cache", *passages, likeness={1: 0.1, 5: 0.6}))[0] == 5


def test_a_session_that_is_about_it_lends_to_its_passages() -> None:
    passages = (seen(1, "the cache", "about caches"), seen(5, "the cache", "about lunch"))
    assert order(rank("cache", *passages))[0] == 5
    assert order(rank("cache", *passages, sessions={"about caches": 4.0}))[0] == 1
    assert order(rank("cache", *passages, users={"about caches": 4.0}))[0] == 1


def test_the_time_a_question_names_counts_and_does_not_exclude() -> None:
    march = seen(1, "retries are capped at five", day="2026-03-10")
    later = seen(5, "retries are capped at seven", day="2026-10-10")
    assert order(rank("what did we decide about retries in March", march, later)) == [1, 5]
    assert order(rank("what did we decide about retries", march, later)) == [5, 1]


def test_a_passage_that_names_the_file_or_has_the_error_comes_first() -> None:
    passages = (seen(1, "we changed pay.py"), seen(5, "we changed pay.py"))
    assert order(rank("why did pay.py change", *passages))[0] == 5
    assert order(rank("why did pay.py change", *passages, files={1: "pay.py"}))[0] == 1  # type: ignore[dict-item]
    assert order(rank("why did pay.py change", *passages, errors={1: 3.0}))[0] == 1


def test_who_is_asked_about_speaks_first() -> None:
    user, agent = seen(1, "use a lock", role="user"), seen(5, "use a lock", role="assistant")
    assert order(rank("why did I use a lock", user, agent))[0] == 1
    assert order(rank("you suggested to use a lock", user, agent))[0] == 5


def test_who_is_named_in_a_question_speaks_first() -> None:
    others = [seen(10 * n, f"Caroline: and Melanie, number {n}") for n in range(2, 9)]
    named = seen(1, "Melanie: I painted the lake")
    found = rank("what did Melanie paint", named, seen(5, "Caroline: Melanie, paint!"), *others)
    assert order(found)[0] == 1
    assert found.signals(1)["speaker"]


def test_a_word_that_hardly_anything_opens_with_is_not_a_speaker() -> None:
    others = [seen(10 * n, f"we paint, number {n}") for n in range(2, 14)]
    found = rank("paint the lake", seen(1, "paint"), *others)
    assert not found.signals(1)["speaker"]


def test_of_equals_the_newer_is_first_and_age_decides_nothing_else() -> None:
    old = seen(1, "the redis cache timeout", day="2025-01-01")
    new = seen(5, "the redis cache timeout", day="2026-11-14")
    beside = seen(9, "the redis server", day="2026-11-15")
    assert order(rank("redis cache timeout", old, new, beside)) == [5, 1, 9]


def test_every_signal_is_a_share_and_the_score_is_their_sum() -> None:
    found = rank("in March: cache", seen(1, "the cache", day="2026-03-02"), likeness={1: 0.4})
    assert all(0 <= share <= 1 for share in found.signals(1).values())
    assert {name for name, share in found.signals(1).items() if share == 1} == {
        *("own", "around", "likeness", "time"),
    }


@given(
    st.text(max_size=80),
    st.lists(st.tuples(st.text(max_size=60), st.sampled_from("ab")), max_size=12),
)
def test_any_question_ranks_any_texts(question: str, texts: list[tuple[str, str]]) -> None:
    found = rank(question, *[seen(n, text, session) for n, (text, session) in enumerate(texts, 1)])
    assert sorted(found.scores) == list(range(1, len(texts) + 1))
    assert list(found.scores.values()) == sorted(found.scores.values(), reverse=True)


def test_the_score_is_the_sum_of_all_shares_by_their_weights() -> None:
    """The weights of the documentation: whoever changes one changes what people find first."""
    passage = seen(1, "cache: it is in pay.py", "one", "user", "2026-10-16")
    found = rank(
        "in October: why did I change the cache",
        passage,
        likeness={1: 0.6},
        sessions={"one": 3.0},
        users={"one": 2.0},
        files={1: "pay.py"},  # type: ignore[dict-item]
        errors={1: 0.7},
    )
    assert found.signals(1) == {
        **{"own": 1.0, "around": 1.0, "likeness": 1.0, "error": 1.0, "file": 1.0},
        **{"session": 1.0, "user": 1.0, "time": 1.0, "recent": 0.5, "voice": True},
        **{"following": 0.0, "answer": 0.0},
        "speaker": True,
    }
    words, halves, quarters = 0.5 + 0.5, 4 * 0.5, 4 * 0.25
    assert found.scores[1] == pytest.approx(words + halves + quarters + 0.1 * 0.5)


def test_each_signal_alone_counts_by_its_weight() -> None:
    passages = (seen(1, "quiet"), seen(5, "quiet"))
    nothing = rank("unheard of", *passages)
    assert nothing.scores == {5: 0.0, 1: 0.0}
    weights = {
        "likeness": ({1: 0.3, 5: 0.15}, 0.5),
        "errors": ({1: 8.0, 5: 4.0}, 0.5),
        "sessions": ({"s1": 2.0, "s5": 1.0}, 0.25),
        "users": ({"s1": 2.0, "s5": 1.0}, 0.25),
    }
    for name, (values, weight) in weights.items():
        found = rank("unheard of", *passages, **{name: values})  # type: ignore[arg-type]
        assert found.scores == {1: weight, 5: weight / 2}, name


def test_what_speaks_against_a_passage_takes_nothing_from_it() -> None:
    found = rank("unheard of", seen(1, "quiet"), seen(5, "quiet"), likeness={1: 0.5, 5: -0.5})
    assert found.scores == {1: 0.5, 5: 0.0}
    assert rank("unheard of", seen(1, "quiet"), likeness={1: -0.5}).scores == {1: 0.0}


def test_half_of_what_is_new_is_left_after_thirty_days_and_tomorrow_is_not_newer() -> None:
    days = ("2026-11-15", "2026-10-16", "2026-09-16", "2026-12-24", "")
    passages = [seen(10 * n, "quiet", day=day) for n, day in enumerate(days, 1)]
    found = rank("unheard of", *passages)
    shares = [found.signals(each.row)["recent"] for each in passages]
    assert shares == [1.0, 0.5, 0.25, 1.0, 0.0]
    assert found.scores[10] == pytest.approx(0.1)


def test_a_word_next_to_a_passage_counts_half_and_two_away_a_quarter() -> None:
    """Worked out by hand for passages of one term: the length grows as the words do."""
    found = rank(
        "cache",
        *[seen(row, "cache" if row == 3 else "quiet", "one") for row in range(1, 7)],
        seen(20, "cache", "other"),
    )
    near = {row: found.signals(row)["around"] for row in (1, 2, 3, 4, 5, 6)}
    assert near[6] == 0.0  # three away
    assert near[3] < 1.0 == found.signals(20)["around"]  # whose words are all about it
    # Of a length of 1 with what is beside it: 1.75 at the edge, 2.25 next to it, 2.5 inside.
    usual = (1.75 + 2.25 + 2.5 + 2.5 + 2.25 + 1.75 + 1) / 7

    def saturated(count: float, length: float) -> float:
        return count / (count + 1.2 * (0.25 + 0.75 * length / usual))

    best = saturated(1, 1)
    assert near[3] == pytest.approx(saturated(1, 2.5) / best)
    assert near[2] == pytest.approx(saturated(0.5, 2.25) / best)
    assert near[4] == pytest.approx(saturated(0.5, 2.5) / best)
    assert near[1] == pytest.approx(saturated(0.25, 1.75) / best)
    assert near[5] == pytest.approx(saturated(0.25, 2.25) / best)


def test_a_speaker_is_one_that_a_tenth_of_the_passages_open_with() -> None:
    def others(count: int) -> list[PassageMatch]:
        return [seen(10 * n, f"we paint, number {n}") for n in range(2, 2 + count)]

    named = seen(1, "Melanie: I painted the lake")
    assert rank("what did Melanie paint", named, *others(9)).signals(1)["speaker"]
    assert not rank("what did Melanie paint", named, *others(10)).signals(1)["speaker"]


def test_a_word_tells_the_more_the_fewer_have_it() -> None:
    assert rarity(1, 10) == pytest.approx(math.log(1 + 9.5 / 1.5))
    assert rarity(4, 10) == pytest.approx(math.log(1 + 6.5 / 4.5))
    assert rarity(12, 10) == pytest.approx(math.log(1 + 0.5 / 12.5))  # counted at another moment
    assert rarity(0, 10) > rarity(1, 10) > rarity(10, 10) > 0


def test_an_answer_comes_before_the_question_that_was_answered() -> None:
    passages = (
        seen(1, "how many retries does the uploader make?", "one"),
        seen(2, "the uploader makes five retries", "one", "assistant"),
        seen(9, "the uploader is slow", "other"),
    )
    found = rank("how many retries does the uploader make", *passages)
    assert order(found)[0] == 2
    assert found.signals(2)["following"] == 1.0
    # Where the user's own words are asked for, the agent's answer gains nothing.
    assert rank("what did I ask of the uploader", *passages).signals(2)["following"] == 0.0


@pytest.mark.parametrize(
    ("question", "plain", "fitting"),
    [
        ("when did the deploy break", "the deploy broke", "the deploy broke yesterday"),
        ("how many workers does the deploy use", "deploy workers", "deploy workers: 12"),
        ("which port does the deploy use", "the deploy port", "the deploy port 8443"),
        ("how often does the deploy run", "the deploy runs", "the deploy runs twice"),
    ],
)
def test_an_answer_has_the_time_or_the_number_that_is_asked_for(
    question: str, plain: str, fitting: str
) -> None:
    found = rank(question, seen(1, fitting), seen(5, plain), seen(9, plain), seen(12, plain))
    assert found.signals(1)["answer"] == 0.75  # three of four have none
    assert order(found)[0] == 1
    others = rank("what happens when the deploy breaks", seen(1, fitting), seen(5, plain))
    assert others.signals(1)["answer"] == 0.0
    assert rank(question).scores == {}


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
    assert [*understood("warum haben wir 502", TODAY).weights] == ["502"]
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
