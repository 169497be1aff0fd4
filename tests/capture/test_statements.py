"""Which statements of a message are kept, which are only likely, and that they are whole."""

from __future__ import annotations

import pytest

from ltm.capture.decide import Certainty
from ltm.capture.statements import asked_for, points_back
from ltm.text.judge import judge
from tests.capture.samples import agent, heard, says, texts, user

PLAIN = [
    "error handling goes through Result, we don't throw",
    "never use floats for money in this code base",
    "siempre usa pnpm, nunca npm",
]
SHORT = [
    "we moved from Jenkins to GitHub Actions because the runners kept dying",
    "let's go with Redis then, Postgres LISTEN was too flaky",
    "we deploy with nomad not k8s btw",
    "our API always answers with snake_case keys",
    "we use pnpm here",
    "I prefer early returns",
    "Always run make fmt before committing",
    "Never commit to main",
    "the staging DB is on port 5433",
    "the invoices API is rate limited to 10 req/s",
    "pls always use uv to run python",
    "billing belongs to Marta's team",
    "from now on answer in English",
    "dont ever touch the legacy folder",
    "Wir nehmen immer 4 Leerzeichen",
    "Bitte keine Emojis in Commits",
    "on utilise toujours black pour le formatage",
    "コミットメッセージは英語で書いてください",
]
ORDINARY = [
    "rename this to x",
    "can you run the tests again?",
    "thanks, looks good",
    "why is the build red?",
    "I think the cache is broken",
    "fix the login page please",
    "ok, push it",
    "let me think about it",
    "site it is",
    "kannst du das nochmal laufen lassen",
    "merci, c'est bon",
    "¿por qué falla el test?",
    "继续",
    "",
]


@pytest.mark.parametrize("said", PLAIN)
def test_a_plain_statement_alone_in_a_message_is_kept(said: str) -> None:
    assert [each.tier for each in says(said)] == [Certainty.SURE]


@pytest.mark.parametrize("said", SHORT)
def test_a_short_one_is_at_least_likely(said: str) -> None:
    assert len(says(said)) == 1


@pytest.mark.parametrize("said", ORDINARY)
def test_orders_for_now_questions_and_thanks_are_not(said: str) -> None:
    assert says(said) == []


@pytest.mark.parametrize(
    "said",
    [
        "Never understood that guy",
        "I'd prefer coffee over playwright rn",
        "No more like blood",
        "maybe we should use kafka",
        "do that for every new file from now on",
        "Keep it until Friday, marketing still builds the landing page with it.",
        "部長は「英語は必ず短く」と言うんですが、これくらいなら怒られませんよね。",
        "Never trust the printer on floor two lol",
        "always blame the intern, haha",
        "sempre o cache né, impressionante",
        "nunca confíes en Nico jajaja",
        "絶対に月曜のコードは信じるなｗ",
    ],
)
def test_what_only_sounds_like_a_rule_is_never_sure(said: str) -> None:
    assert Certainty.SURE not in [each.tier for each in says(said)]


@pytest.mark.parametrize(
    ("said", "what"),
    [
        ("Remember that tests need docker.", "tests need docker."),
        ("please keep in mind: the API is frozen", "the API is frozen"),
        ("The release is on Friday, keep that in mind.", "The release is on Friday"),
        ("Merke dir: immer rebasen", "immer rebasen"),
        ("recuerda que usamos pnpm", "usamos pnpm"),
        ("запомни: порт 5433", "порт 5433"),
        ("记住：提交前跑测试", "提交前跑测试"),
        ("do you remember the port?", ""),
        ("remember the port", ""),
        ("I remember when we used npm", ""),
        ("keep it short please", ""),
    ],
)
def test_what_is_asked_to_be_remembered_is_sure(said: str, what: str) -> None:
    assert asked_for(said) == what
    assert not what or [each.tier for each in says(said)] == [Certainty.SURE]


def test_thanks_before_a_statement_are_no_part_of_it() -> None:
    found = says(
        "ありがとうございます。ちなみに1ページの上限は200件です。それ以上は受け取れません。"
    )
    assert found
    assert not [each for each in found if "ありがとう" in each.text]


def test_a_request_can_point_back() -> None:
    assert points_back("Remember that.")
    assert not points_back("Remember that tests need docker.")
    (found,) = says("The wobble of the plotter is 0.3. Please remember this.")
    assert (found.text, found.tier) == ("The wobble of the plotter is 0.3.", Certainty.SURE)


def test_a_statement_that_leans_on_what_is_not_there_is_only_likely() -> None:
    (found,) = says("They always run before the deploy, never after it.")
    assert found.tier is Certainty.LIKELY


def test_a_sentence_takes_along_the_one_it_leans_on() -> None:
    (found,) = says("Never restart the worker by hand. It drains itself.")
    assert found.text == "Never restart the worker by hand. It drains itself."


def test_an_order_stands_by_itself_after_what_is_asked_to_be_remembered() -> None:
    port = "the staging port is 8081 because 8080 belongs to the proxy"
    rule = "Always use 2 spaces in YAML files."
    kept = texts(says(f"Remember that {port}. {rule}"))
    assert len(kept) == 2
    assert port in kept[0].lower()
    assert kept[1] == rule


def test_what_is_said_otherwise_later_is_kept_in_its_last_form_only() -> None:
    found = heard(
        user("hello"),
        agent("Hello."),
        user("We always deploy with Helm."),
        agent("Noted."),
        user("Wait, no: we never deploy with Helm."),
    )
    assert [text for text in texts(found) if "Helm" in text] == ["We never deploy with Helm."]


def test_a_preference_the_other_way_round_is_its_last_form() -> None:
    found = heard(
        user("hello"),
        agent("Hello."),
        user("I prefer tabs over spaces in all files."),
        agent("Noted."),
        user("Wait. I prefer spaces over tabs in all files."),
    )
    assert texts(found) == ["I prefer spaces over tabs in all files."]


def test_a_likely_one_tells_how_probable_it_is() -> None:
    likely, sure = judge().tiers["user"]
    (found,) = says("billing belongs to Marta's team")
    assert likely <= found.weight
    assert 0 < likely < sure < 1


def test_a_document_gives_nothing_sure_but_what_is_asked_for() -> None:
    rule = "Always use tabs in every file of the project. "
    found = says(f"{rule * 60}\n\nRemember that the port is 5433.")
    assert [each.text for each in found if each.tier is Certainty.SURE] == ["The port is 5433."]
