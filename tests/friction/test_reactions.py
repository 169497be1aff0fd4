"""Which words of a user are a reaction."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltm.friction.signals import is_correction, is_curse, is_pasted


@pytest.mark.parametrize(
    "text",
    [
        "no",
        "No.",
        "nope, the other one",
        "no, use pnpm and not npm",
        "No I meant the staging database",
        "no that's the wrong table",
        "no don't touch the migrations",
        "wrong",
        "wrong file, I meant the one in src",
        "that's wrong, the price is net",
        "That's not what I asked for",
        "this is not what I want",
        "that is still wrong",
        "don't add comments",
        "Do not commit this yet",
        "it didn't work",
        "didn't work, same error",
        "that doesn't work",
        "stop",
        "Stop adding docstrings everywhere",
        "revert that",
        "undo your last change",
        "still broken",
        "it's still failing",
        "still the same error",
        "I said no docstrings",
        "I told you to use uv",
        "i already told you to run the linter",
        "not what I meant",
        "not like that",
        "why did you delete the file again",
        "you forgot the tests",
        "you keep adding comments",
        "ugh, no, the other branch",
        "hmm no. use the old one",
        "ok no, leave it as it was",
        "wait, that's wrong",
        "still did not do it",
        "undo changes in the makefile",
        "why did you remove the check",
    ],
)
def test_a_correction_is_heard(text: str) -> None:
    assert is_correction(text)


@pytest.mark.parametrize(
    "text",
    [
        "no rush",
        "No problem, go on",
        "no worries",
        "no need to test that",
        "there is no problem with it",
        "no idea, you decide",
        "no such file or directory",
        "No module named x",
        "no more questions, go ahead",
        "now add the tests",
        "nothing else",
        "note that the price is net",
        "no, that's fine",
        "No errors now, thanks",
        "don't worry about the tests",
        "don't know, you choose",
        "I don't see the page",
        "stop the server and start it again",
        "stop hook is noisy, what is it?",
        "revert commit abc123 in the release branch",
        "that's great",
        "that's not a problem",
        "this is not urgent",
        "it works",
        "still a few things to do",
        "you can go on",
        "I said hello to the team",
        "notice the wrong way it is done there",
        "undoubtedly good",
        "wrongly placed imports exist in x.py, sort them",
        "Why did you choose postgres?",
        "don't we have a folder for that?",
        "no links",
        "",
        "   ",
    ],
)
def test_what_only_looks_like_one_is_not(text: str) -> None:
    """traps 2.2 #4, 4.1: "no rush" → no negation."""
    assert not is_correction(text)


@pytest.mark.parametrize("text", ["no", "no, the second one", "don't do it", "nope", "stop"])
def test_a_no_to_a_question_is_an_answer(text: str) -> None:
    assert is_correction(text)
    assert not is_correction(text, asked=True)


def test_what_is_forbidden_is_a_correction_only_if_it_was_done() -> None:
    def did() -> str:
        return "I set engines.vscode to ^1.75 and ran git commit -m x"

    assert is_correction("don't bump engines without asking", did=did)
    assert is_correction("do not commit this", did=did)
    assert not is_correction("don't push yet", did=did)
    assert not is_correction("and dont run the migrations on the shared database", did=did)
    assert not is_correction("don't do that with this", did=did)
    assert is_correction("no, use pnpm", did=did)


def test_a_question_does_not_excuse_what_was_done() -> None:
    assert is_correction("that's not what I asked for", asked=True)


@pytest.mark.parametrize(
    "text",
    ["fuck", "what the fuck", "shit, again", "damn it", "wtf is that", "why the fuck do you keep"],
)
def test_a_curse_is_heard(text: str) -> None:
    assert is_curse(text)


@pytest.mark.parametrize(
    "text",
    [
        "damn, that's good",
        "holy shit this works",
        "fuck yeah, nice",
        "shiitake mushrooms",
        "the damnation page",
        "please translate the following text of a novel and keep its tone " * 3 + "the damn dog",
    ],
)
def test_a_curse_that_is_none_is_not(text: str) -> None:
    assert not is_curse(text.replace("keep its", "mind its"))


def test_a_curse_in_a_long_text_counts_if_it_is_addressed() -> None:
    long = "The page of orders shows the wrong price in all lists and in all mails. " * 3
    assert is_curse(long + "Why the fuck again?")
    assert not is_curse(long + "The customer wrote: damn expensive. " + long)


@pytest.mark.parametrize(
    "text",
    [
        "$ npm test\nfail",
        "user@host:~/shop$ make\nno",
        ">>> 1/0",
        "Traceback (most recent call last):",
        "2026-11-15 10:00:00 ERROR no",
        "npm ERR! no",
        "TypeError: x is not a function",
        "diff --git a/x b/x",
        "```\nno, wrong\n```",
    ],
)
def test_output_is_seen_as_pasted(text: str) -> None:
    """traps 2.2 #7: terminal pastes."""
    assert is_pasted(text)


@pytest.mark.parametrize("text", ["no, use pnpm", "please fix this:\nTypeError: x", "I paid $ 5"])
def test_own_words_are_not(text: str) -> None:
    assert not is_pasted(text)


@given(st.text(max_size=300))
def test_any_text_can_be_asked_about(text: str) -> None:
    assert is_correction(text) in (True, False)
    assert is_curse(text) in (True, False)
    assert is_pasted(text) in (True, False)


@pytest.mark.parametrize(
    "text", ["no " * 30_000, " " * 100_000, "it " + "still " * 20_000, "-" * 50_000]
)
def test_hostile_texts_are_looked_at_in_bounded_time(text: str) -> None:
    """Quadratic patterns would take minutes here."""
    is_correction(text)
    is_curse(text)
    is_pasted(text)
