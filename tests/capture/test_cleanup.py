"""Statements are told apart from the small words around them, and slips of the keyboard mended."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltm.capture.message import joined, opening, tidy, with_reason


@pytest.mark.parametrize(
    ("typed", "plain"),
    [
        ("ok so from now on, always use pnpm please", "Always use pnpm."),
        ("btw the api listens on 8080", "The api listens on 8080."),
        ("and please: keep the tests small, thanks!", "Keep the tests small."),
        ("no, use tabs", "Use tabs."),
        ("no keep rsync for now", "Keep rsync for now."),
        ("no we stay with Go", "We stay with Go."),
        ("Great. We use tabs.", "We use tabs."),
        ("One further request: use tabs", "Use tabs."),
        ("Danke dir! Noch was: immer mit Tests", "Immer mit Tests."),
        ("Grazie mille, e rispondimi in italiano", "Rispondimi in italiano."),
        ("dale, pero ojo: los datos no salen", "Los datos no salen."),
        ("Bonjour, les montants sont hors taxes", "Les montants sont hors taxes."),
        ("aha, u nas testy chodzą na Firefoksie", "U nas testy chodzą na Firefoksie."),
        ("ちなみに1ページの上限は200件です。", "1ページの上限は200件です。"),
        ("助かりました、お疲れさまです。", ""),
        ("谢谢，以后用中文", "以后用中文"),
        ("`make check` runs everything", "`make check` runs everything."),
        ("camelCase everywhere", "camelCase everywhere."),
        ("iOS 15 is the minimum", "iOS 15 is the minimum."),
    ],
)
def test_greetings_fillers_and_thanks_go(typed: str, plain: str) -> None:
    assert tidy(typed) == plain


@pytest.mark.parametrize(
    "typed",
    [
        "no malloc after init",
        "no keep-alive on the proxy",
        "no keep alive on the proxy",
        "no weak references",
        "no do while loops",
        "no IT tickets from here",
        "no I/O in tests",
        "now we deploy from main",
        "right clicks open the menu",
        "good names are short",
        "works councils need two weeks",
        "note files are in docs/notes",
        "unknown plus a guard is ok",
        "the default is right",
        "hola-world is our demo",
        "salut app is in /srv",
        "attention heads are pruned",
        "merci paul est en congé",
    ],
)
def test_a_small_word_that_carries_the_meaning_stays(typed: str) -> None:
    """Losing the "no" of "no malloc" would turn a rule into its opposite."""
    assert tidy(typed).rstrip(".").lower() == typed.lower()


def test_a_reason_is_told_from_what_it_is_for() -> None:
    assert with_reason("Use bun because it is faster.") == ("Use bun", "it is faster")
    assert with_reason("We left Redis due to cost.") == ("We left Redis", "cost")
    assert with_reason("It broke because of that.") == ("It broke because of that.", "")
    assert with_reason("It works since yesterday.") == ("It works since yesterday.", "")


def test_sentences_are_joined_with_their_stops() -> None:
    assert joined("One", "", "Two!", "Three.") == "One. Two! Three."


@given(st.text(max_size=300))
def test_tidying_twice_changes_nothing_more(text: str) -> None:
    once = tidy(text)
    assert tidy(once) == once


@given(st.text(max_size=300), st.integers(1, 100))
def test_an_opening_is_never_longer_than_asked_and_never_ends_in_half_a_word(
    text: str, most: int
) -> None:
    head = opening(text, most)
    assert len(head) <= most or head == text
    assert text.startswith(head)
    if len(head) < len(text) and head:
        assert text[len(head)] in " \n"
