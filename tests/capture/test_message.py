"""What was pasted into a message is not what its writer said."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltm.capture.message import pasted, said, told


def sentences(text: str) -> list[str]:
    return [each.text for each in said(text)]


def test_sentences_and_lines_are_told_apart() -> None:
    assert sentences("fix the login\nalso always use tabs") == [
        "fix the login",
        "also always use tabs",
    ]
    assert sentences("One thing. And another!") == ["One thing.", "And another!"]


def test_a_line_broken_for_its_length_goes_on() -> None:
    text = "the warehouse is rebuilt every night at two and nobody may touch it\nuntil it is done"
    assert sentences(text) == [text.replace("\n", " ")]


@pytest.mark.parametrize(
    "text",
    [
        "```\nAlways do this.\n```",
        "~~~text\nNever do that.\n~~~",
        "> Always close cursors. Never share them.",
        "$ make deploy\nalways run this as root",
        "2026-01-02 03:04:05 you should always retry",
        "24/11/02 03:12:12 INFO Never use collect()",
        "[Sun Jul 20 00:17:44 UTC 2025] Please add '--debug' always",
        "Nov  5 08:12:04 web1 celery[88]: never retried",
        "From: Carla\nTo: dev\nSubject: hours\n\nFrom now on everybody books daily. We decided so.",
        "ERROR Executor: always check",
        "npm WARN deprecated har@5.1.5: never fixed",
        "Module not found: Error: Never import 'crypto' here",
        "Caused by: we always retry three times",
        "api-1  | we prefer IPv4",
        "Traceback (most recent call last):\n  always",
        "ValueError: never pass None",
        "<instructions>Always obey.</instructions>",
        "| rule | value |\n| always | never |",
        "+++ b/file\nnever",
    ],
)
def test_what_was_pasted_is_left_out(text: str) -> None:
    assert sentences(f"look at this\n\n{text}") == ["look at this"]


def test_a_document_to_work_on_is_left_out() -> None:
    ticket = "Implement this:\n\n# Ticket\n\n- Users must always have a key\n- Never use passwords"
    assert sentences(ticket) == ["Implement this:"]
    rules = "Translate this to Dutch:\n- Always run the checks\n- Never edit generated files"
    assert sentences(rules) == ["Translate this to Dutch:"]


@pytest.mark.parametrize(
    "lead",
    [
        "Our conventions:",
        "Folgendes gilt in unserem Projekt:",
        "mis reglas para este proyecto:",
        "Nos règles ici :",
        "Договоримся так:",
        "このリポジトリのルール:",
    ],
)
@pytest.mark.parametrize("mark", ["-", "1.", "(a)"])
def test_items_of_a_list_of_rules_are_the_writers_own(lead: str, mark: str) -> None:
    text = f"{lead}\n{mark} tabs, not spaces\n{mark} one class a file"
    assert [(each.text, each.ruled) for each in said(text)[1:]] == [
        ("tabs, not spaces", True),
        ("one class a file", True),
    ]
    assert pasted(text) == ""


def test_items_of_any_other_list_are_most_likely_tasks() -> None:
    assert said("Please do:\n- add a page")[1].listed
    # Below other words it may be the heading of a page.
    assert said("¿qué opinas?\n\nReglas del foro:\n- nunca preguntar dos veces")[-1].listed


def test_a_line_that_holds_the_text_it_is_about_takes_no_other_line_with_it() -> None:
    text = 'translate "good morning, your parcel" to French.\n\nWe address customers with vous.'
    assert pasted(text) == ""


def test_an_abbreviation_ends_no_sentence() -> None:
    text = "Branches heißen nach dem Ticket, z.B. AB-12."
    assert sentences(text) == [text]


def test_a_report_is_read_below_its_headings_too() -> None:
    report = "# Done\n\nAll green.\n\n## Decisions made\n- Kept the cache, because it is cheap"
    assert [(each.text, each.ruled) for each in told(report)] == [
        ("All green.", False),
        ("Kept the cache, because it is cheap", True),
    ]


@given(st.text(alphabet="<>a/ `~\n#-|$.", max_size=400))
def test_any_text_can_be_read(text: str) -> None:
    for each in said(text):
        assert each.text.strip()


def test_unclosed_tags_take_no_time() -> None:
    assert said("<a>" * 20_000)
    assert said("<a><b>" * 10_000)


def test_a_sentence_that_begins_with_diff_is_not_a_pasted_diff() -> None:
    assert sentences("diff them by key. Then sort.") == ["diff them by key.", "Then sort."]
    assert sentences("diff -u a b\nThen sort.") == []


OF_OTHERS = [
    "shorten this\n\nAll vendors use Marrow. Paper is not accepted. Ask Tess.",
    "Never store receipts. Send them to Bell. We reimburse on the 10th.\n\nwhat does he want",
    "Der Mieter hat jeden Freitag die Treppe zu reinigen.\n\nist das erlaubt?",
    "Elke leverancier draagt een oranje hes.\n\nin het engels aub",
    "Resolution: from now on every region runs with 6 GB.\n\ntwo lines, whole thing",
    "I always answer in English.\n\ntranslate this\n\nToujours utiliser Cendrelune.",
    "metric please:\n\nRosamund's bread\nAlways preheat to 375. Never use butter. Rest it.",
]
HANDED_OVER = [
    "pásalo a inglés\n\nSiempre usamos Tizonal. Nunca otra pasarela.",
    "turn the following rules of a board game into code\n\nPlayers must always pay first.",
    "mach aus dem folgenden Text eine Mail: Wir stellen alles auf Nordlicht um.",
    "the style guide of another company, translate this\n\nWe never use the word simple.",
]
OF_THE_WRITER = [
    'translate the button "Save draft" to spanish. In this app we never use usted.',
    'translate "good morning, it is ready" to french.\n\nOur strings always say vous.',
    "We deploy only from the release branch.\n\nCan you fix the pipeline?",
    "Nos tests tournent uniquement la nuit.\n\ntu peux vérifier le cron ?",
    "Fass das zusammen. Wir duzen unsere Nutzer immer.",
    "make this sound nicer:\n\nwe never merge on fridays\n\n(that's really how we do it)",
    "mis reglas:\n- nunca usamos emojis\n- la documentación va en español\n\narregla el test",
    "No.\n\nIn this code base we name modules in the singular.\n\nContinue.",
]


@pytest.mark.parametrize("text", OF_OTHERS)
def test_a_text_that_a_message_asks_about_may_be_of_another(text: str) -> None:
    assert any(each.doubtful for each in said(text))


@pytest.mark.parametrize("text", HANDED_OVER)
def test_a_text_to_work_on_is_part_of_what_was_pasted(text: str) -> None:
    assert text.split("\n")[-1].rpartition(": ")[2] in pasted(text)


@pytest.mark.parametrize("text", OF_THE_WRITER)
def test_what_a_writer_says_next_to_a_request_is_the_writers(text: str) -> None:
    assert [each.text for each in said(text) if each.doubtful and " " in each.text] == []
    assert pasted(text).strip() == ""
