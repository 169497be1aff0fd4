"""What was said, from an event to a purge: a file a project, kept by itself, gone for good."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from ltm.history.db import Passages
from ltm.history.ingest import keep_session
from ltm.project.layout import places
from ltm.state.session_log import SessionLog
from ltm.store.project import OpenProject
from ltm.text.terms import query_terms
from ltm.worker.learning import begin
from tests.cli.runner import Ltm
from tests.sessions.writing import Transcript
from tests.worker.test_drain import Desk

SECRET = "zanzibarquokka"


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def said_in(path: str, session: str) -> list[str]:
    """What is kept of a session in a project's file."""
    passages = Passages(path, readonly=True)
    try:
        return [each.text for each in passages.of_session(session)]
    finally:
        passages.close()


def file_of(folder: Path, home: str) -> str:
    """The file that a project's sessions are kept in."""
    return places(str(folder), environ={"LTM_HOME": home, "HOME": home}).sessions_db


def holds(folder: Path, text: str) -> list[Path]:
    """The files below a folder that hold a text, in any spelling a word is indexed by."""
    return [
        path for path in folder.rglob("*") if path.is_file() and text.encode() in path.read_bytes()
    ]


# -- after events ------------------------------------------------------------------------------


@pytest.mark.parametrize("event", ["Stop", "PreCompact", "SessionEnd"])
def test_what_was_said_is_kept_after_an_event(desk: Desk, event: str) -> None:
    transcript = desk.transcript("s1")
    transcript.user("why does the login fail?")
    desk.tell("SessionStart", source="startup")
    desk.tell(event)
    assert desk.drain().errors == 0
    path = file_of(desk.hooks.project, desk.home)
    assert said_in(path, "s1") == ["why does the login fail?"]
    transcript.says("The cookie changed.")
    desk.tell(event)
    desk.drain()
    assert said_in(path, "s1") == ["why does the login fail?", "The cookie changed."]


def test_a_session_that_died_is_kept_when_the_next_begins(desk: Desk) -> None:
    desk.transcript("s1").user("why does the login fail?")
    desk.tell("SessionStart", "s1")
    desk.drain()
    path = file_of(desk.hooks.project, desk.home)
    assert said_in(path, "s1") == []
    desk.tell("SessionStart", "s2")
    desk.drain()
    assert said_in(path, "s1") == ["why does the login fail?"]


def test_a_file_that_cannot_be_written_holds_nothing_else_up(desk: Desk) -> None:
    """Memories are learned, the event is done with, and the words are kept once they can be."""
    path = Path(file_of(desk.hooks.project, desk.home))
    path.mkdir(parents=True)
    transcript = desk.transcript("s1")
    transcript.user("always use tabs in this project")
    desk.tell("SessionStart")
    desk.tell("Stop")
    desk.tell("SessionEnd")
    desk.drain()
    assert desk.waiting() == []
    memories = list((path.parent / "memories").glob("*.md"))
    assert [b"tabs" in each.read_bytes() for each in memories] == [True]
    path.rmdir()
    desk.tell("SessionEnd")
    desk.drain()
    assert said_in(str(path), "s1") == ["always use tabs in this project"]


def test_nothing_is_kept_where_it_is_switched_off(desk: Desk) -> None:
    Path(desk.home).mkdir(parents=True, exist_ok=True)
    Path(desk.home, "config.toml").write_text("[sessions]\nkeep = false\n")
    desk.transcript("s1").user("why does the login fail?")
    desk.tell("SessionStart")
    desk.tell("SessionEnd")
    desk.drain()
    assert not os.path.exists(file_of(desk.hooks.project, desk.home))


def test_the_end_of_a_session_lets_old_ones_go(desk: Desk) -> None:
    Path(desk.home).mkdir(parents=True, exist_ok=True)
    path = file_of(desk.hooks.project, desk.home)
    old = desk.transcript("old")
    old.user("said long ago", timestamp="2020-01-01T00:00:00.000Z")
    desk.transcript("s1").user("said just now", timestamp="2999-01-01T00:00:00.000Z")
    for session in ("old", "s1"):
        desk.tell("SessionStart", session)
        desk.tell("SessionEnd", session)
    desk.drain()
    assert said_in(path, "old") == ["said long ago"]
    Path(desk.home, "config.toml").write_text("[sessions]\ndays = 30\n")
    desk.tell("SessionEnd", "s1")
    desk.drain()
    assert said_in(path, "old") == []
    assert said_in(path, "s1") == ["said just now"]


# -- by hand -----------------------------------------------------------------------------------


def written(ltm: Ltm, name: str = "one", *texts: str) -> Transcript:
    transcript = Transcript(ltm.home / f"{name}.jsonl", name)
    for text in texts or ("remember that the mirror lives in northern Oslo", "and why?"):
        transcript.user(text)
    return transcript


def captured(ltm: Ltm, *transcripts: Transcript, **more: Any) -> Any:
    return ltm.json("capture", *(str(each.path) for each in transcripts), **more)


def test_capturing_keeps_the_words_and_capturing_again_adds_none(ltm: Ltm) -> None:
    transcript = written(ltm)
    assert captured(ltm, transcript)["passages"] == 2
    assert captured(ltm, transcript)["passages"] == 0
    assert ltm.json("status")["said"]["passages"] == 2
    assert ltm.json("stats")["said"]["sessions"] == 1
    (session,) = ltm.json("sessions")["sessions"]
    assert session["title"].startswith("remember that the mirror")
    assert session["passages"] == 2


def test_purging_a_memory_purges_what_was_said_about_it(ltm: Ltm) -> None:
    transcript = written(ltm, "one", f"remember that the staging mirror is {SECRET} for now")
    transcript.says(f"Noted: for now the staging mirror is {SECRET}.")
    transcript.user("thank you very much")
    (memory,) = captured(ltm, transcript)["added"]
    assert holds(ltm.home / ".ltm", SECRET)
    purged = ltm.json("forget", memory, "--purge", "--yes")
    assert (purged["status"], purged["passages"]) == ("purged", 2)
    assert holds(ltm.home / ".ltm", SECRET) == []
    assert ltm.json("status")["said"]["passages"] == 1
    captured(ltm, transcript)
    assert holds(ltm.home / ".ltm", SECRET) == []


def test_who_purges_is_told_that_the_client_still_has_it(ltm: Ltm) -> None:
    transcript = written(ltm)
    (memory,) = captured(ltm, transcript)["added"]
    done = ltm.run("forget", memory, "--purge", "--yes")
    assert str(transcript.path) in done.stderr


def test_a_list_of_sessions_does_not_tell_what_was_forgotten(ltm: Ltm) -> None:
    (memory,) = captured(ltm, written(ltm))["added"]
    for words in ((), ("--all",)):
        (session,) = ltm.json("sessions", *words)["sessions"]
        assert "mirror" in session["title"]
    ltm.json("forget", memory)
    for words in ((), ("--all",)):
        (session,) = ltm.json("sessions", *words)["sessions"]
        assert (session["title"], session["passages"]) == ("", 2)
    ltm.json("restore", memory)
    (session,) = ltm.json("sessions")["sessions"]
    assert "mirror" in session["title"]


def test_forgetting_alone_leaves_the_words(ltm: Ltm) -> None:
    (memory,) = captured(ltm, written(ltm))["added"]
    ltm.json("forget", memory)
    assert ltm.json("status")["said"]["passages"] == 2


def test_a_purged_session_is_gone_and_does_not_come_back(ltm: Ltm) -> None:
    transcript = written(ltm, "one", f"the password is {SECRET}", "what now?")
    captured(ltm, transcript, written(ltm, "two"))
    done = ltm.json("sessions", "--purge", "one", "--yes")
    assert done == {"id": "one", "status": "purged", "passages": 2}
    assert holds(ltm.home / ".ltm", SECRET) == []
    transcript.user("and one more thing")
    assert captured(ltm, transcript)["passages"] == 0
    assert ltm.json("status")["said"]["sessions"] == 1


def test_purging_a_session_no_one_knows_says_so(ltm: Ltm) -> None:
    done = ltm.run("sessions", "--purge", "nope", "--yes")
    assert done.returncode == 1
    assert "ltm sessions" in done.stderr


def test_purging_a_session_asks_first(ltm: Ltm) -> None:
    captured(ltm, written(ltm))
    done = ltm.run("sessions", "--purge", "one")
    assert done.returncode == 2
    assert ltm.json("status")["said"]["passages"] == 2


def test_the_doctor_puts_a_damaged_file_aside_and_keeps_it(ltm: Ltm) -> None:
    captured(ltm, written(ltm))
    path = Path(ltm.json("status")["said"]["path"])
    data = path.read_bytes()
    path.write_bytes(data[:4096] + b"\xff" * 4096 + data[8192:])
    found = ltm.run("doctor")
    assert found.returncode == 1
    assert str(path) in found.stdout
    ltm.ok("doctor", "--fix")
    assert path.with_name("sessions.db.damaged1").exists()
    ltm.ok("doctor")
    assert captured(ltm, written(ltm, "two", "something new"))["passages"] == 1


def test_a_damaged_file_does_not_hinder_a_command(ltm: Ltm) -> None:
    captured(ltm, written(ltm))
    path = Path(ltm.json("status")["said"]["path"])
    path.write_bytes(b"no database at all" * 500)
    assert ltm.json("status")["said"]["passages"] == 0
    assert ltm.json("recall", "mirror Oslo")["hits"] != []
    assert captured(ltm, written(ltm, "one"))["passages"] == 2  # from the transcript, once more


# -- isolation ---------------------------------------------------------------------------------


def test_no_project_finds_what_was_said_in_another(tmp_path: Path) -> None:
    """50 projects, 0 hits from another: each has a file of its own."""
    home, moment = tmp_path / "home", datetime(2026, 11, 16, tzinfo=UTC)
    environ = {"LTM_HOME": str(home), "HOME": str(tmp_path)}
    folders = [tmp_path / f"{number}" / "app" for number in range(50)]
    log = SessionLog(str(home / "state.db"))
    for number, folder in enumerate(folders):
        folder.mkdir(parents=True)
        transcript = Transcript(tmp_path / f"s{number}.jsonl", f"s{number}")
        transcript.user(f"the shared question about canary{number}")
        where = places(str(folder), environ=environ)
        session = begin(
            log, str(transcript.path), f"s{number}", where.project.id, str(folder), "2026-11-15"
        )
        with OpenProject(str(folder), environ=environ) as project:
            assert keep_session(project, session, moment) == 1
    log.close()
    leaks = 0
    for number, folder in enumerate(folders):
        passages = Passages(places(str(folder), environ=environ).sessions_db)
        for asked in ("shared question", *(f"canary{other}" for other in range(50))):
            words = query_terms(asked)
            sessions = [each.session for each in passages.find(words, 100).candidates]
            sessions += [view.session for view in passages.find_views(words, 100)]
            leaks += sum(session != f"s{number}" for session in sessions)
        assert [header.id for header in passages.sessions()] == [f"s{number}"]
        passages.close()
    assert leaks == 0
