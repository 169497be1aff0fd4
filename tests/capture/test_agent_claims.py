"""What the agent states at the end of a task: the cause it found; no reports, no guesses."""

from __future__ import annotations

import pytest

from ltm.capture.statements import cause_in
from ltm.text.judge import judge


@pytest.mark.parametrize(
    "said",
    [
        "The cause was ORDER BY without a tie-breaker, so rows with one timestamp swapped places.",
        "Root cause: the cookie was set for another domain, so the browser dropped it.",
        "It turned out that the cache is shared between all workers, which is why it was stale.",
    ],
)
def test_the_sentence_that_names_the_cause_is_found(said: str) -> None:
    assert cause_in(f"I looked at the logs. {said} The tests pass now.", judge()) in said + "."


@pytest.mark.parametrize(
    "said",
    [
        "Let me look at the logs.",
        "All 42 tests pass now.",
        "I used the Edit tool to change three files.",
        "Is it the cookie of the other domain?",
        "",
    ],
)
def test_reports_announcements_and_questions_name_none(said: str) -> None:
    assert cause_in(said, judge()) == ""
