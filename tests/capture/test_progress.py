"""Where the work stands: what is left, in the agent's words, its task list, or the user's."""

from __future__ import annotations

import pytest

from ltm.capture.statements import from_tasks, from_words, is_complete
from ltm.sessions.turns import ToolUse
from tests.capture.samples import BY_AGENT, agent, heard, user


@pytest.mark.parametrize(
    ("said", "left"),
    [
        ("Done.\n\n## Next steps\n- Write docs\n- Add tests", "Next: Write docs; Add tests."),
        ("**Remaining:**\n1. Deploy it to staging", "Next: Deploy it to staging."),
        ("### Next Steps\nThe remaining tasks are:\n- one more page", "Next: one more page."),
        ("Moved all tables. Remaining: the backfill of May.", "Next: the backfill of May."),
        ("The parser works. Next step is the printer.", "Next: the printer."),
        ("Not done yet: the button is hidden.", "Next: the button is hidden."),
        ("- Next: the walk is single-threaded.", "Next: the walk is single-threaded."),
    ],
)
def test_what_the_agent_names_as_left_to_do(said: str, left: str) -> None:
    (found,) = from_words(said, BY_AGENT)
    assert (found.kind, found.text) == ("progress", left)


@pytest.mark.parametrize(
    "said",
    [
        "All done, nothing is left.",
        "Next steps:\n- Let me know if you want more",
        "Next: shall I add tests?",
        "I'll look at the next file.",
        "Remaining files were not changed.",
        "",
    ],
)
def test_offers_and_finished_work_leave_nothing(said: str) -> None:
    assert list(from_words(said, BY_AGENT)) == []


def test_a_task_list_counts_when_some_of_it_is_done_and_some_is_not() -> None:
    def tasks(*states: str) -> ToolUse:
        todos = [{"content": f"task {n}", "status": s} for n, s in enumerate(states)]
        return ToolUse(id="1", tool="TodoWrite", input={"todos": todos})

    (found,) = from_tasks(tasks("completed", "in_progress", "pending"), BY_AGENT)
    assert found.text == "Done: task 0.\n\nNext: task 1; task 2."
    assert list(from_tasks(tasks("completed", "completed"), BY_AGENT)) == []
    assert list(from_tasks(tasks("pending"), BY_AGENT)) == []
    assert list(from_tasks(ToolUse(id="1", tool="TodoWrite", input={"todos": 3}), BY_AGENT)) == []


def test_only_where_the_work_stands_last_counts() -> None:
    found = heard(
        user("go"),
        agent("One is done. Remaining: two and three."),
        user("go on"),
        agent("Two is done. Remaining: only number three."),
        user("bye"),
    )
    assert [each.text for each in found] == ["Next: only number three."]


def test_what_was_left_is_gone_when_all_is_done() -> None:
    left = agent("Remaining: the last page.")
    assert (
        heard(user("go"), left, user("go on"), agent("All done. It is pushed."), user("ok")) == []
    )
    assert len(heard(user("go"), left, user("did you push?"), agent("Yes."), user("ok"))) == 1


def test_whether_all_is_done() -> None:
    assert is_complete("All done. The epic is pushed.")
    assert is_complete("The whole epic is complete.")
    assert not is_complete("The page is done, the rest is not.")
