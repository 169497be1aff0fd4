"""People speak to agents in their own language, and are heard."""

from __future__ import annotations

import pytest

from ltm.capture.cues_languages import spoken_in
from tests.capture.samples import says


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("Merke dir: der Testserver wird jede Nacht gelöscht.", "fact"),
        ("Bitte immer erst die Tests laufen lassen.", "preference"),
        ("Wir haben uns für Vue entschieden, weil das Team es kennt.", "decision"),
        ("Ich bevorzuge kurze Funktionen.", "preference"),
        ("onthoud dat de server elke nacht herstart", "fact"),
        ("recuerda que el servidor de pruebas se reinicia cada noche", "fact"),
        ("usa siempre tabuladores, nunca espacios", "preference"),
        ("hemos decidido usar Redis porque ya lo tenemos", "decision"),
        ("prefiro que os comentários sejam em inglês", "preference"),
        ("Toujours lancer les tests avant de pousser.", "preference"),
        ("je préfère les petites fonctions", "preference"),
        ("abbiamo deciso di usare Kotlin perché è più sicuro", "decision"),
        ("zawsze uruchamiaj testy przed commitem", "preference"),
        ("Всегда запускай тесты перед коммитом.", "preference"),
        ("Запомни: сервер обновляется по ночам.", "fact"),
        ("记住：测试服务器每天晚上重启。", "fact"),
        ("提交信息一律用英文。", "preference"),
        ("我们决定用 PostgreSQL，因为需要事务。", "decision"),
        ("コミットの前に必ずテストを実行してください。", "preference"),
        ("항상 커밋 전에 테스트를 실행해 주세요.", "preference"),
    ],
)
def test_what_lasts_is_heard_in_many_languages(said: str, kind: str) -> None:
    found = says(said)
    assert [each.kind for each in found] == [kind]


@pytest.mark.parametrize(
    "said",
    [
        "Warum bricht der Test immer ab?",
        "Der Druck bricht immer ab, das geht nicht.",
        "¿por qué siempre falla los lunes?",
        "pourquoi ça plante toujours ?",
        "这个脚本为什么总是这么慢？",
        "还是一样的错误，你总是改来改去",
        "先不要急于改动先找出原因",
        "Почему здесь такая ошибка",
        "現在の技術スタックを洗い出してください。",
        "crie um servidor para os testes",
        "Füge bitte einen Knopf hinzu.",
    ],
)
def test_tasks_questions_and_complaints_give_nothing_in_any(said: str) -> None:
    assert says(said) == []


def test_a_reason_is_told_in_any_language_and_the_text_stays_as_it_was_said() -> None:
    (found,) = says("Wir haben uns für Vue entschieden, weil das Team es kennt.")
    assert found.reason == "das Team es kennt"
    assert found.text == "Wir haben uns für Vue entschieden, weil das Team es kennt."


@pytest.mark.parametrize(
    "said",
    ["we come from a solo project and it was fun", "Use the old car, no want to die", "fix it"],
)
def test_english_is_not_taken_for_another_language(said: str) -> None:
    assert spoken_in(said) is None


def test_what_is_said_and_then_asked_to_be_remembered_is_remembered() -> None:
    (found,) = says("Alle CronJobs bekommen bei uns Forbid, merk dir das bitte.")
    assert found.text == "Alle CronJobs bekommen bei uns Forbid."
    (found,) = says("The gateway drops headers over 8 kB, please remember that.")
    assert found.text == "The gateway drops headers over 8 kB."


def test_facts_in_other_languages_are_heard_and_complaints_are_not() -> None:
    (found,) = says("Die Zeitzone im Cluster ist UTC.")
    assert found.kind == "fact"
    (found,) = says("Auf den Geräten läuft Python 3.9.")
    assert found.kind == "fact"
    assert says("Die Seite ist leer.") == []
    assert says("Die Zeitzone im Cluster ist UTC.", answers=False) == []


def test_an_english_sentence_with_a_foreign_looking_word_stays_english() -> None:
    assert says("Time to release 3.2.0.") == []
