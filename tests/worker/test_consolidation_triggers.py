"""Repetitions are merged while sessions run: every ten captures, or with many memories."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from ltm.config.config import load
from ltm.model import Filter, Status
from ltm.project.layout import Places, places
from ltm.state.session_log import SessionLog
from ltm.store.file_store import FileStore
from ltm.store.open import open_files
from ltm.store.project import OpenProject
from ltm.upkeep.consolidate import LEAST, MANY, OFTEN
from ltm.worker.learning import begin, learn_from
from tests.sessions.writing import Transcript
from tests.stores import make

SAME = "Uploads above ten megabytes are refused by the proxy in front"
SUBJECTS = (
    *("alpha", "bravo", "charlie", "delta", "echo", "foxtrot"),
    *("golf", "hotel", "india", "juliet", "kilo", "lima"),
)


class Desk:
    """A project with five memories of which two say the same, and sessions that teach something."""

    def __init__(self, top: Path) -> None:
        self.top = top
        (top / "project").mkdir()
        self.environ = {"HOME": str(top), "LTM_HOME": str(top / "home")}
        self.where: Places = places(str(top / "project"), environ=self.environ)
        store = self.open()
        for place, subject in enumerate((*SUBJECTS[: LEAST - 2], "x", "y")):
            text = SAME if subject in "xy" else f"The {subject} service has part {place} of it"
            store.create(make(text, text, summary=text))
        store.close()

    def open(self) -> FileStore:
        return open_files(self.where, load(self.where.home))

    def capture(self, number: int, text: str) -> None:
        """A session is heard at the end of a turn."""
        transcript = Transcript(self.top / f"s{number}.jsonl", f"s{number}")
        transcript.user(text)
        transcript.says("Understood.")
        log = SessionLog(self.where.state_db)
        try:
            session = begin(
                log,
                str(transcript.path),
                f"s{number}",
                self.where.project.id,
                str(self.top / "project"),
                "2026-11-15T10:00:00Z",
            )
            with OpenProject(session.cwd, environ=self.environ, log=log) as project:
                learn_from(project, session, datetime.now(UTC))
        finally:
            log.close()

    def repetitions(self) -> int:
        """How many memories in force say the same."""
        store = self.open()
        try:
            found = store.list(Filter(statuses=(Status.ACTIVE,))).items
            return sum(each.memory.content.startswith(SAME) for each in found)
        finally:
            store.close()


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_every_tenth_capture_merges_what_says_the_same(desk: Desk) -> None:
    for number in range(OFTEN - 1):
        desk.capture(number, f"remember that the {SUBJECTS[number]} queue has port 90{number}")
    assert desk.repetitions() == 2
    desk.capture(OFTEN, f"remember that the {SUBJECTS[OFTEN]} queue has port 9099")
    assert desk.repetitions() == 1


def test_a_capture_that_taught_nothing_does_not_count(desk: Desk) -> None:
    for number in range(OFTEN + 2):
        desk.capture(number, "ok")
    assert desk.repetitions() == 2


def test_with_many_memories_every_capture_looks(desk: Desk) -> None:
    store = desk.open()
    for number in range(MANY):
        text = f"Machine {number * 7919} lives in rack {number * 104729} since {1900 + number}"
        store.create(make(text, text, summary=text))
    store.close()
    desk.capture(1, "remember that the kilo queue has port 9099")
    assert desk.repetitions() == 1
