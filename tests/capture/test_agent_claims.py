"""What the agent states at the end of a task: causes, traps and choices; no guesses."""

from __future__ import annotations

import pytest

from ltm.capture.agent_claims import cause_in, diagnosis_in, lessons
from tests.capture.samples import BY_AGENT


@pytest.mark.parametrize(
    ("said", "kind", "text"),
    [
        (
            "Fixed. Root cause: the cookie was set for another domain.",
            "gotcha",
            "The cookie was set for another domain.",
        ),
        (
            "It turned out that the cache is shared between all workers.",
            "gotcha",
            "The cache is shared between all workers.",
        ),
        (
            "**Key takeaway:** `TZ` must be set before the import.",
            "gotcha",
            "`TZ` must be set before the import.",
        ),
        (
            "What I learned: the loader sorts its input by name first.",
            "gotcha",
            "The loader sorts its input by name first.",
        ),
        (
            "- Cause: one lock for all. Splitting it removes the wait.",
            "gotcha",
            "One lock for all. Splitting it removes the wait.",
        ),
        (
            "I chose a queue over a thread because jobs must survive a restart.",
            "decision",
            "I chose a queue over a thread because jobs must survive a restart.",
        ),
        (
            "Design decision: keep the parser strict, since errors are found early.",
            "decision",
            "Keep the parser strict because errors are found early.",
        ),
    ],
)
def test_lessons_are_heard(said: str, kind: str, text: str) -> None:
    (found,) = lessons(said, BY_AGENT)
    assert (found.kind, found.text) == (kind, text)


def test_a_list_of_choices_gives_those_with_a_reason() -> None:
    said = (
        "Done. What I decided on the way:\n\n"
        "- Names are cut at 40 characters, because the printer wraps there.\n"
        "- Blue buttons.\n"
    )
    (found,) = lessons(said, BY_AGENT)
    assert (found.kind, found.reason) == ("decision", "the printer wraps there")


@pytest.mark.parametrize(
    "said",
    [
        "All 42 tests pass now.",
        "The root cause might be the cookie, but I am not sure.",
        "It turns out I need to look at more files. Let me check.",
        "Is the root cause the cookie of the other domain?",
        "I used the Edit tool to change three files.",
        "The problem was fixed in the last commit by you.",
        "```\nRoot cause: pasted text of a log that says so\n```",
        "Added `login.ts`, updated the tests and the docs.",
    ],
)
def test_reports_guesses_and_questions_are_not(said: str) -> None:
    assert list(lessons(said, BY_AGENT)) == []


def test_the_cause_of_a_failure_is_found_in_what_the_agent_says_on_the_way() -> None:
    assert cause_in("I see the issue - the format of the file is wrong.") == (
        "The format of the file is wrong."
    )
    assert cause_in("The problem is that two workers share a file.") == "Two workers share a file."
    assert cause_in("Let me look at the logs.") == ""


def test_a_diagnosis_explains_and_neither_reports_nor_announces() -> None:
    assert diagnosis_in("The layer is missing in the build. I'll add it.") == (
        "The layer is missing in the build."
    )
    assert diagnosis_in("Now I run the tests. I'll wait.") == ""
