"""`ltm stats` answers what people ask: is it growing, is it used, what did it save me?"""

from __future__ import annotations

import json
from datetime import timedelta

from ltm.model import iso, now
from ltm.state.corrections import Conversation, RuleEvidence, opened
from tests.cli.runner import Ltm

PORT = "The staging server runs on port 8080"
CHOICE = "We chose Postgres over Redis because jobs must survive a crash"


def session(ltm: Ltm, name: str) -> None:
    """A session that starts, is told what is known, and is noted."""
    event = {
        "session_id": name,
        "cwd": str(ltm.project),
        "hook_event_name": "SessionStart",
        "source": "startup",
        "transcript_path": str(ltm.home / f"{name}.jsonl"),
    }
    ltm.ok("hook", stdin=json.dumps(event))
    ltm.ok("drain")


def test_growth_use_and_what_is_told_and_never_looked_up(ltm: Ltm) -> None:
    port, choice = (ltm.json("remember", text)["id"] for text in (PORT, CHOICE))
    forgotten = ltm.json("remember", "Invoices are numbered by year")["id"]
    ltm.ok("forget", forgotten)
    session(ltm, "s1")
    session(ltm, "s2")
    for _ in range(3):
        ltm.ok("recall", "Postgres")

    figures = ltm.json("stats")

    assert len(figures["weeks"]) == 12
    assert figures["weeks"][-1] | {"start": ""} == {"start": "", "added": 3, "sessions": 2}
    assert sum(week["added"] for week in figures["weeks"][:-1]) == 0
    assert (figures["active"], figures["used"], figures["used_lately"]) == (2, 1, 1)
    assert figures["most_used"] == [{"id": choice, "uses": 3}]
    assert figures["told_never_used"] == [{"id": port, "sessions": 2}]
    assert figures["next_session"]["memories"] == 2
    assert figures["next_session"]["tokens"] == ltm.json("inject")["tokens"]
    shown = ltm.ok("stats")
    assert "1 of 2 were found or opened" in shown
    assert f"2 sessions  {port}" in shown
    assert "relationship" not in shown, "what there is none of is not listed"


def test_corrections_that_were_not_needed_again_are_counted(ltm: Ltm) -> None:
    """Needed in each of 4 conversations before it was a memory, and in 1 of 5 since: 4 saved."""
    ltm.ok("remember", PORT)
    project, begun = ltm.json("status")["project"]["id"], now() - timedelta(days=20)
    with opened(str(ltm.home / ".ltm")) as ledger:
        for day in range(9):
            name, at = f"c{day}", iso(begun + timedelta(days=day))
            needed = [
                RuleEvidence(project, name, name, f"m{day}", at, "user_correction", 8.0, "No.", "r")
            ]
            known = Conversation(project, name, name, at)
            ledger.note([known], needed if day < 4 or day == 6 else [])
        ledger.promoted(project, "r", "mem_x", begun + timedelta(days=3, hours=1))

    assert ltm.json("stats")["corrections"] == {
        "rules": 1,
        "needed_before": [[4, 4]],
        "needed_since": [[1, 5]],
        "saved": 4,
    }
    assert "1 rule learned, about 4 corrections saved" in ltm.ok("stats")


def test_where_nothing_is_kept_nothing_is_counted(ltm: Ltm) -> None:
    assert ltm.run("stats").stderr.startswith("Nothing here yet.")
    assert ltm.json("stats")["active"] == 0
    assert not list(ltm.home.rglob("friction.db"))
