"""What was said is kept by a second process, or without it: the same, and once."""

from __future__ import annotations

import gzip
import os
from contextlib import closing
from pathlib import Path

import pytest

from ltm.history.db import Passages
from ltm.project.layout import Places, places
from ltm.state.session_log import Session, SessionLog
from ltm.worker import parallel
from ltm.worker.parallel import Beside
from ltm.worker.steps import begin
from tests.sessions.writing import Transcript


def _named(path: str) -> str:
    return Path(path).name.partition(".")[0]


class Desk:
    """A project with transcripts of a few sessions."""

    def __init__(self, top: Path) -> None:
        self.top = top
        (top / "project").mkdir()
        self.where: Places = places(str(top / "project"))
        self.paths: list[str] = []

    def write(self, session: str, packed: bool = False) -> None:
        transcript = Transcript(self.top / f"{session}.jsonl", session)
        for number in range(5):
            transcript.user(f"Please look at word{number} of {session} once more.")
        path = transcript.path
        if packed:
            path = path.with_suffix(".jsonl.gz")
            path.write_bytes(gzip.compress(transcript.path.read_bytes()))
            transcript.path.unlink()
        self.paths.append(str(path))

    def sessions(self) -> list[Session]:
        with closing(SessionLog(self.where.state_db)) as log:
            return [
                begin(log, path, _named(path), "p", str(self.top), "2026-01-01")
                for path in self.paths
            ]

    def keep(self, using: Beside) -> int:
        for session, path in zip(self.sessions(), self.paths, strict=True):
            using.keep(session, self.where, path)
        return using.kept()

    def said(self, session: str) -> list[str]:
        with closing(Passages(self.where.sessions_db)) as passages:
            return [each.text for each in passages.of_session(session)]


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    monkeypatch.setenv("LTM_HOME", str(tmp_path / "home"))
    desk = Desk(tmp_path)
    for name, packed in (("one", False), ("two", True), ("three", False)):
        desk.write(name, packed)
    return desk


@pytest.mark.parametrize("least", [0, parallel.LEAST])
def test_it_is_kept_once_and_with_its_own_transcript(
    desk: Desk, least: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parallel, "LEAST", least)
    with Beside(desk.paths) as using:
        assert (using._process is not None) == (least == 0)
        added = desk.keep(using)
    assert added == sum(len(desk.said(each)) for each in ("one", "two", "three")) > 0
    assert any("word3 of two" in each for each in desk.said("two"))
    with Beside(desk.paths) as using:
        assert desk.keep(using) == 0
    with closing(Passages(desk.where.sessions_db)) as passages:
        header = passages.header("two")
    assert header is not None
    assert header.transcript.endswith("two.jsonl.gz")


def test_what_a_second_process_did_not_do_is_done_here(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parallel, "LEAST", 0)
    with Beside(desk.paths) as using:
        assert using._process is not None
        using._process.kill()
        using._process.wait()
        added = desk.keep(using)
    assert added == sum(len(desk.said(each)) for each in ("one", "two", "three")) > 0


def test_without_a_second_process_all_of_it_is_done_here(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parallel, "LEAST", 0)
    monkeypatch.setattr("sys.executable", os.devnull)
    with Beside(desk.paths) as using:
        assert desk.keep(using) > 0
    assert desk.said("three")


def test_however_many_answers_it_has_nobody_waits_for_them_to_be_read(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pipe took some ten thousand of them; then both processes waited for each other."""
    monkeypatch.setattr(parallel, "LEAST", 0)
    (said := desk.top / "said").write_text("0\n" * 60_000)
    monkeypatch.setattr("sys.executable", str(desk.top / "python"))
    (desk.top / "python").write_text(f"#!/bin/sh\ncat '{said}'\nexec cat > /dev/null\n")
    (desk.top / "python").chmod(0o755)
    with Beside(desk.paths) as using:
        assert using._process is not None
        assert desk.keep(using) == 0
    assert desk.said("one") == [], "all were answered, so nothing is left to do here"


def test_a_transcript_that_is_gone_by_now_is_no_obstacle(desk: Desk) -> None:
    with Beside([*desk.paths, str(desk.top / "gone.jsonl")]) as using:
        assert desk.keep(using) > 0


def test_who_is_interrupted_leaves_nobody_behind(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parallel, "LEAST", 0)
    with pytest.raises(KeyboardInterrupt), Beside(desk.paths) as using:  # noqa: PT012
        process = using._process
        raise KeyboardInterrupt
    assert process is not None
    assert process.poll() is not None
