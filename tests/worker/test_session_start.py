"""What one session leaves behind is what the next is told, and what it was told is known after."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.worker.test_candidates import Person

GOAL = "Fix the login of the shop, it fails since Monday."


@pytest.fixture
def person(tmp_path: Path) -> Person:
    return Person(tmp_path)


def test_the_next_session_is_told_where_the_last_one_stopped(person: Person) -> None:
    transcript = person.transcript("s1")
    transcript.user(GOAL)
    transcript.calls("Edit", "t1", file_path=f"{person.hooks.project}/login.py", old_string="a")
    transcript.result("The file has been updated.", "t1")
    transcript.calls("Bash", "t2", command="pytest tests/test_login.py")
    transcript.result("Exit code 1\nError: expected 200, got 500", "t2", error=True)
    transcript.says("The cookie is set now, but the redirect still answers with a 500.")
    person.tell("SessionStart", "s1", source="startup")
    person.tell("SessionEnd", "s1")
    assert person.drain().errors == 0
    person.hooks.remember("login.py reads the cookie twice")
    first = person.told("s2")
    lines = first.split("\n")
    at = next(n for n, line in enumerate(lines) if line.startswith("## Where the last session"))
    assert lines[at + 1] == f"- Asked: {GOAL}"
    assert lines[at + 2] == "- Still failing: `pytest tests/test_login.py`."
    assert "redirect still answers" not in first  # the agent's words may be a page's
    assert "## About the files and branches of the last days" in lines
    assert person.ltm("inject")["text"] == first
    person.ltm("sessions", "--purge", "s1")
    assert "redirect" not in person.told("s3")
    assert person.holding("redirect still answers") == []


def test_what_a_session_was_told_is_known_and_does_not_fade(person: Person) -> None:
    person.hooks.remember("Use port 8082")
    text = person.told("s1")
    [name] = person.ltm("inject")["shown"]
    assert person.ltm("sessions", "told", "s1") == {
        "session": "s1",
        "texts": [],
        "memories": [name],
    }
    transcript = person.transcript("s1")
    added = {"type": "hook_additional_context", "content": [text], "hookEvent": "SessionStart"}
    transcript.add("attachment", attachment=added)
    person.tell("SessionStart", "s1", source="compact")
    assert person.drain().errors == 0
    [found] = person.ltm("sessions", "told", "s1")["texts"]
    assert (found["event"], found["text"]) == ("SessionStart", text)


def test_a_text_kept_ready_ends_when_a_file_it_speaks_of_comes_or_goes(person: Person) -> None:
    file = person.hooks.project / "src" / "a.py"
    file.parent.mkdir()
    file.write_text("x")
    person.hooks.remember("The lock of src/a.py is taken first")
    assert "gone since" not in person.told("s1")
    file.unlink()
    assert "(? src/a.py gone since " in person.told("s2")
    file.write_text("another text, which makes no difference")
    assert "gone since" not in person.told("s3")
