"""What a model's failures cost: time, and nothing else (reliability R18).

Each way of failing meets a session that has something to say, read in the background as after any
session. Nothing it said is stored, `ltm status` shows why, and once the model works all is there.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from ltm.capture.model_extract import Replaceable
from tests.capture.test_model_extract import BAD, Desk, talk
from tests.figures import count
from tests.llm.scripted import Reply, ScriptedApi
from tests.worker.test_models import ANSWER, FOUND
from tests.worker.test_models import Desk as Person


@pytest.fixture
def api() -> Iterator[ScriptedApi]:
    with ScriptedApi() as running:
        yield running


FAILURES = {**BAD, "hang": Reply(ANSWER)}


@pytest.mark.parametrize("name", FAILURES)
def test_a_failure_is_shown_and_loses_nothing(tmp_path: Path, api: ScriptedApi, name: str) -> None:
    person = Person(tmp_path, api)
    person.switch_on(timeout="2" if name == "hang" else "60")
    person.transcript()
    over = threading.Event()
    waits = Reply(ANSWER, before=lambda: over.wait(60))
    api.say(*[waits if name == "hang" else FAILURES[name]] * 3)
    done = person.drain("SessionStart", "Stop", "SessionEnd")
    over.set()
    shown = person.status()
    false = [text for text in person.contents() if text == FOUND or "postgres" in text]
    api._replies.clear()
    person.wait_no_more()
    api.say(ANSWER)
    person.drain()
    found = FOUND in person.contents()
    count(
        "R18",
        failures_tried=1,
        failures_not_shown=int(not shown["error"] or shown["waiting"] != 1),
        events_lost=3 - done["events"] + int(not found),
        stored_from_failures=len(false),
    )
    assert (done["events"], done["errors"], false, found) == (3, 0, [], True)
    assert (shown["waiting"], bool(shown["error"])) == (1, True)
    assert person.status()["waiting"] == 0


def test_one_run_over_many_sessions_replaces_no_more_than_one_over_one(
    tmp_path: Path, api: ScriptedApi
) -> None:
    """A fifth of the memories, whether a model finds its reasons in one session or in five."""
    names = [f"part{number}" for number in range(10)]
    desk = Desk(tmp_path, api)
    for name in names:
        text = f"The {name} module belongs to team {name} and is written in go"
        desk.remember(text, kind="fact")
    replaceable = Replaceable()
    replaced: list[str] = []
    for name in names[:5]:
        talk(desk, f"The {name} module is written in rust since spring.")
        old = f"The {name} module belongs to team {name} and is written in go"
        new = f"The {name} module is written in rust since spring."
        entry = {"kind": "fact", "content": new, "supersedes_content": old}
        api.say(json.dumps([entry]))
        replaced += desk.hear(replaceable=replaceable).superseded
    count("R18", memories_at_stake=10, changed_by_a_ruinous_model=len(replaced))
    assert len(replaced) == 2
    desk.models.close()
    desk.log.close()
    desk.store.close()
