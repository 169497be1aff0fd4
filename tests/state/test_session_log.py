"""The log of sessions: figures that add up, places that are kept, nothing done twice."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from ltm.errors import StorageFailed
from ltm.state.session_log import DONE, SessionLog
from ltm.state.usage import State

AT = datetime(2026, 11, 15, 12, tzinfo=UTC)


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "home" / "state.db")


@pytest.fixture
def log(path: str) -> Iterator[SessionLog]:
    opened = SessionLog(path)
    yield opened
    opened.close()


def begin(log: SessionLog, session: str, project: str = "p", transcript: str = "") -> None:
    log.begin(session, project, f"/{project}", transcript, AT)


def test_a_session_is_counted_once_however_often_it_goes_on(log: SessionLog) -> None:
    """Traps 2.1 #5: resume, clear and compact must not make one session several."""
    for session in ("a", "a", "b", "a"):
        begin(log, session)
    begin(log, "c", "other")
    assert [(each.id, each.number) for each in log.sessions("p")] == [("b", 2), ("a", 1)]
    assert [each.number for each in log.sessions("other")] == [1]
    assert len(log.sessions()) == 3


def test_it_is_the_same_count_that_memories_age_by(log: SessionLog, path: str) -> None:
    begin(log, "a")
    begin(log, "b")
    assert State(path).sessions("p") == 2


def test_a_sessions_first_project_and_folder_stay(log: SessionLog) -> None:
    log.begin("a", "p", "/p", "", AT)
    log.begin("a", "q", "/q", "/t.jsonl", AT)
    log.begin("a", "q", "", "", AT)
    session = log.get("a")
    assert session is not None
    assert (session.project, session.cwd, session.transcript) == ("p", "/p", "/t.jsonl")


def test_a_path_of_any_bytes_comes_back_as_it_was(log: SessionLog) -> None:
    odd = b"/caf\xe9".decode("utf-8", "surrogateescape")
    log.begin("a", "p", odd, odd, AT)
    log.keep_cursor("a", "r", odd, "here")
    session = log.get("a")
    assert session is not None
    assert (session.cwd, session.transcript, log.cursor("a", "r", odd)) == (odd, odd, "here")


def test_an_end_of_an_unknown_session_makes_none(log: SessionLog) -> None:
    log.end("ghost", "other", AT)
    assert log.get("ghost") is None


def test_a_session_that_ended_can_go_on(log: SessionLog) -> None:
    begin(log, "a")
    log.end("a", "clear", AT)
    session = log.get("a")
    assert session is not None
    assert (session.ended, session.reason) == ("2026-11-15T12:00:00Z", "clear")
    begin(log, "a")
    assert log.sessions()[0].ended
    log.reopen("a", AT)
    assert not log.sessions()[0].ended


def test_figures_add_up_and_make_the_difficulty(log: SessionLog) -> None:
    begin(log, "a")
    log.count("a", 3, 1, 0)
    log.count("a", 3, 3, 1)
    session = log.get("a")
    assert session is not None
    assert (session.ok, session.failed, session.compactions) == (6, 4, 1)
    assert session.difficulty == pytest.approx(0.5 * 0.4 + 0.3 * 10 / 50 + 0.2)


def test_live_events_agree_with_the_transcript_and_do_not_add_to_it(log: SessionLog) -> None:
    begin(log, "a")
    for _ in range(3):
        log.count_live("a", ok=1)
    log.count_live("a", failed=1, compactions=1)
    assert (log.sessions()[0].ok, log.sessions()[0].failed) == (3, 1)
    log.count("a", 3, 1, 1)
    session = log.sessions()[0]
    assert (session.ok, session.failed, session.compactions) == (3, 1, 1)


def test_each_reader_has_its_own_place_and_messages(log: SessionLog) -> None:
    log.keep_cursor("a", "figures", "/t", "here")
    assert log.cursor("a", "figures", "/t") == "here"
    assert log.cursor("a", "capture", "/t") == ""
    assert log.cursor("a", "figures", "/other") == ""
    figures, capture = log.turns_read("figures", AT), log.turns_read("capture", AT)
    assert [figures.is_new("u1"), figures.is_new("u1"), capture.is_new("u1")] == [
        True,
        False,
        True,
    ]


def test_many_messages_are_noted_and_asked_for_at_once(log: SessionLog) -> None:
    capture = log.turns_read("capture", AT)
    assert capture.known(["a", "b"]) == set()
    with log.transaction():
        capture.note(["a", "c", "a"])
        capture.note(["c"])
    assert capture.known(["a", "b", "c", "a"]) == {"a", "c"}
    assert capture.known([]) == log.turns_read("figures", AT).known(["a"]) == set()
    assert [capture.has("a"), capture.has("b")] == [True, False]


def test_messages_are_remembered_as_long_as_they_can_come_again(log: SessionLog) -> None:
    old = AT - timedelta(days=100)
    assert log.turns_read("r", old).is_new("old")
    assert log.turns_read("r", AT).is_new("new")
    log.prune(AT)
    assert log.turns_read("r", AT).is_new("old")
    assert not log.turns_read("r", AT).is_new("new")


def test_a_transaction_that_fails_leaves_nothing(log: SessionLog) -> None:
    begin(log, "a")

    def change() -> None:
        with log.transaction():
            log.count("a", 1, 1, 1)
            log.turns_read("r", AT).is_new("u")
            log.note_progress("k", 1, 0)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        change()
    assert (log.sessions()[0].ok, log.progress("k")) == (0, (0, 0))
    assert log.turns_read("r", AT).is_new("u")


def test_an_event_is_as_far_as_it_was_noted(log: SessionLog) -> None:
    assert log.progress("k") == (0, 0)
    log.note_progress("k", 2, 1)
    assert log.progress("k") == (2, 1)
    log.finish_events(["k", "other"])
    assert log.progress("k") == log.progress("other") == (DONE, 0)


def test_an_event_that_is_done_is_known_for_an_hour_and_one_that_is_not_for_longer(
    log: SessionLog,
) -> None:
    done, begun = (f"{int(AT.timestamp() * 1e9):020d}-{name}" for name in ("done", "begun"))
    log.finish_events([done])
    log.note_progress(begun, 1, 2)
    log.prune(AT + timedelta(minutes=59))
    assert (log.progress(done), log.progress(begun)) == ((DONE, 0), (1, 2))
    log.prune(AT + timedelta(minutes=61))
    assert (log.progress(done), log.progress(begun)) == ((0, 0), (1, 2))
    log.prune(AT + timedelta(days=61))
    assert log.progress(begun) == (0, 0)


def test_it_survives_being_closed(log: SessionLog, path: str) -> None:
    begin(log, "a")
    log.close()
    again = SessionLog(path)
    assert [session.id for session in again.sessions()] == ["a"]
    again.close()


def test_a_disk_that_cannot_be_written_is_an_error_and_no_copy_in_memory(tmp_path: Path) -> None:
    """What a copy in memory notes is lost, and the event it came from would be deleted."""
    (tmp_path / "state.db").mkdir()
    with pytest.raises(StorageFailed):
        SessionLog(str(tmp_path / "state.db"))
