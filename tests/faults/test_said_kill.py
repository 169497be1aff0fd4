"""kill -9 while a session is kept word for word: nothing twice, nothing lost (reliability R1)."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

from ltm.history.db import Passages
from ltm.history.passage import Passage
from ltm.project.layout import places
from tests.faults.tracing import Starter
from tests.sessions.writing import Transcript

POINTS = 12


class Desk:
    """A home, a project and a transcript under one folder."""

    def __init__(self, top: Path) -> None:
        self.top = top
        self.project = top / "project"
        self.env = {"PATH": os.environ["PATH"], "HOME": str(top), "LTM_HOME": str(top / "home")}
        self.project.mkdir(parents=True)
        self.transcript = Transcript(top / "one.jsonl", "one")
        for number in range(40):
            self.transcript.user(f"question {number} about the release")
            self.transcript.says(f"answer {number}: " + "because of the tests. " * 30)

    @property
    def words(self) -> list[str]:
        return ["capture", str(self.transcript.path), "--json"]

    def said(self) -> list[Passage]:
        where = places(str(self.project), environ=self.env)
        passages = Passages(where.sessions_db)
        try:
            assert passages.problem is None
            return passages.of_session("one")
        finally:
            passages.close()


def test_a_capture_that_is_killed_anywhere_and_said_again_keeps_every_word_once(
    starter: Starter, tmp_path: Path
) -> None:
    clean = Desk(tmp_path / "clean")
    ended = starter.run(clean.words, clean.project, clean.env)
    assert ended.status == 0, ended.err
    assert json.loads(ended.out)["passages"] == 80
    wanted = clean.said()
    writes = ended.calls["pwrite64"]
    points = {round(1 + (writes - 1) * step / (POINTS - 1)) for step in range(POINTS)}
    killed = 0
    for point in sorted(points):
        desk = Desk(tmp_path / f"at{point}")
        ended = starter.run(
            desk.words, desk.project, desk.env, inject=f"pwrite64:signal=KILL:when={point}"
        )
        killed += ended.status == -9
        left = desk.said()
        assert left in ([], wanted), f"killed at write {point}"
        again = starter.run(desk.words, desk.project, desk.env, traced=False)
        assert again.status == 0, again.err
        assert desk.said() == wanted, f"killed at write {point}"
        shutil.rmtree(desk.top)
    assert killed >= POINTS // 2
