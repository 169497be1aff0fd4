"""What a machine remembers about use, sessions and active days."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from ltm.errors import StorageFailed
from ltm.model import Usage
from ltm.spool import session_text
from ltm.state.usage import State, open_log
from tests.stores import begin

DAY = timedelta(days=1)
MONDAY = datetime(2026, 11, 16, 9, tzinfo=UTC)


@pytest.fixture
def state(tmp_path: Path) -> Iterator[State]:
    opened = State(str(tmp_path / "state.db"))
    yield opened
    opened.close()


def work(state: State, days: int, project: str = "p", *, start: datetime = MONDAY) -> None:
    """One session of a project on each of so many days."""
    for n in range(days):
        at = start + n * DAY
        begin(state, f"{project} {at.isoformat()}", project, at)


def usage(state: State, memory: str, project: str = "p") -> Usage:
    return state.usage([memory], project).get(memory, Usage())


def test_a_session_counts_once_however_often_it_is_resumed(state: State) -> None:
    """traps 2.1 #5: resume, clear and compact are not new sessions."""
    for n in range(3):
        begin(state, "same", "p", MONDAY + timedelta(hours=n))
    begin(state, "other", "p", MONDAY)
    assert state.sessions("p") == 2
    assert state.sessions("q") == 0


def test_a_day_counts_once_and_a_resumed_session_makes_its_day_active(state: State) -> None:
    for at in (MONDAY, MONDAY + timedelta(hours=2), MONDAY + DAY):
        begin(state, "same", "p", at)
    assert (state.sessions("p"), state.active_days_since("p", MONDAY - DAY)) == (1, 2)


def test_days_are_counted_in_utc(state: State) -> None:
    late = datetime.fromisoformat("2026-11-16T23:30:00-05:00")
    begin(state, "s", "p", late)
    assert state.active_days_since("p", datetime(2026, 11, 16, tzinfo=UTC)) == 1
    assert state.active_days_since("p", late) == 0


@pytest.mark.parametrize(("after", "days"), [(-1, 5), (0, 4), (3, 1), (4, 0), (400, 0)])
def test_active_days_since_a_moment_are_those_after_its_day(
    state: State, after: int, days: int
) -> None:
    work(state, 5)
    work(state, 9, "another")
    assert state.active_days_since("p", MONDAY + after * DAY) == days


def test_a_paused_project_does_not_grow_older(state: State) -> None:
    work(state, 2)
    state.seen(["m"])
    work(state, 1, start=MONDAY + 300 * DAY)
    assert usage(state, "m").idle_days == 1


def test_time_begins_for_a_memory_when_it_is_first_seen(state: State) -> None:
    """traps 2.1 #15: an old memory pulled from a teammate is not the first to die."""
    work(state, 50)
    state.seen([], "p")  # as at the end of every session
    assert state.usage(["m"], "p") == {}
    state.seen(["m"], "p")
    state.seen(["m"], "p")
    assert usage(state, "m") == Usage(last_session=50)
    work(state, 3, start=MONDAY + 50 * DAY)
    state.seen(["m", "late"], "p")
    assert usage(state, "m") == Usage(last_session=50, sessions_since=3, idle_days=3, known_days=3)
    # It may have been there since the look before, but it was not idle while it was unknown.
    assert usage(state, "late") == Usage(last_session=50, sessions_since=3)


def test_a_use_is_counted_and_makes_a_memory_fresh(state: State) -> None:
    state.seen(["m"])
    work(state, 4)
    state.used(["m", "new"], MONDAY + 3 * DAY)
    assert usage(state, "m") == Usage(1, 4, MONDAY + 3 * DAY, uses_since=1, known_days=4)
    assert usage(state, "new") == Usage(1, 4, MONDAY + 3 * DAY, uses_since=1)
    work(state, 1, start=MONDAY + 4 * DAY)
    assert usage(state, "m").sessions_since == usage(state, "m").idle_days == 1


def test_a_change_of_phase_starts_the_idle_time_again_and_is_not_a_use(state: State) -> None:
    """traps 2.1 #8: what upkeep does to a memory earns it nothing."""
    state.used(["m"], MONDAY)
    work(state, 4)
    assert usage(state, "m").uses_since == 1
    state.stepped("m")
    assert usage(state, "m") == Usage(1, 0, MONDAY, sessions_since=4, idle_days=0, known_days=4)
    state.used(["m"], MONDAY)
    assert usage(state, "m").uses_since == 1
    state.stepped("never seen")
    assert usage(state, "never seen") == Usage(last_session=4)


def test_a_memory_used_in_one_project_is_fresh_in_another(state: State) -> None:
    state.seen(["shared by both"])
    work(state, 5, "p")
    work(state, 2, "q")
    state.used(["shared by both"], MONDAY)
    work(state, 1, "q", start=MONDAY + 9 * DAY)
    assert usage(state, "shared by both", "p").idle_days == 0
    assert usage(state, "shared by both", "q").idle_days == 1
    assert usage(state, "shared by both", "q").sessions_since == 1
    assert usage(state, "shared by both", "q").last_session == state.sessions("q") - 1


def test_a_clock_set_back_makes_nothing_younger_or_older_than_it_is(state: State) -> None:
    work(state, 3, start=MONDAY + 1000 * DAY)
    state.seen([], "p")
    state.seen(["m"], "p")
    work(state, 2)
    assert usage(state, "m").idle_days == usage(state, "m").sessions_since == 2


def test_a_batch_is_taken_once_in_a_session_from_each_vault(state: State) -> None:
    assert not state.batch_taken("p", "private")
    state.take_batch("p", "private")
    assert state.batch_taken("p", "private")
    assert not state.batch_taken("p", "agent")
    assert not state.batch_taken("q", "private")
    work(state, 1, "q")
    assert state.batch_taken("p", "private")
    work(state, 1)
    assert not state.batch_taken("p", "private")
    state.take_batch("p", "private")
    assert state.batch_taken("p", "private")


def test_what_was_purged_is_forgotten_here_too(state: State) -> None:
    state.used(["m"], MONDAY)
    state.forget("m")
    assert state.usage(["m"], "p") == {}


@pytest.mark.parametrize("used", [True, False])
def test_texts_kept_ready_that_may_quote_what_was_purged_are_gone_too(
    state: State, tmp_path: Path, used: bool
) -> None:
    if used:
        state.used(["m"], MONDAY)
    session_text.save(str(tmp_path), "/p", {}, "what was purged", {})
    state.forget("m")
    assert os.listdir(tmp_path / "briefs") == []


def test_asking_makes_no_file(state: State) -> None:
    assert state.usage(["m"], "p") == {}
    assert state.sessions("p") == 0
    assert state.active_days_since("p", MONDAY) == 0
    assert not state.batch_taken("p", "private")
    state.forget("m")
    assert not Path(state.path).exists()


def test_a_broken_database_is_an_empty_one(state: State) -> None:
    Path(state.path).write_bytes(b"this is not a database, and long enough to look at" * 99)
    assert state.usage(["m"], "p") == {}
    state.used(["m"], MONDAY)
    assert usage(state, "m").uses == 1


def test_many_memories_are_looked_up_at_once(state: State) -> None:
    ids = [f"m{n}" for n in range(1201)]
    state.seen(ids)
    assert state.usage(ids, "p").keys() == set(ids)


def test_where_nothing_can_be_kept_nothing_is_counted_and_no_one_is_hurt(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    state = State(str(tmp_path / "file" / "state.db"))
    state.used(["mem_a"], MONDAY)
    state.seen(["mem_a"])
    state.stepped("mem_a")
    state.forget("mem_a")
    state.take_batch("p", "private")
    assert state.usage(["mem_a"], "p") == {}
    assert state.used_again() == []
    assert (state.sessions("p"), state.active_days_since("p", MONDAY)) == (0, 0)
    assert not state.batch_taken("p", "private")
    state.close()


def test_damage_that_shows_to_a_question_is_not_a_use_at_all(state: State) -> None:
    state.used(["mem_a"], MONDAY)
    state._open().execute("DROP TABLE usage")
    state._open().execute("DROP TABLE days")
    assert state.usage(["mem_a"], "p") == {}
    assert state.used_again() == []
    assert state.active_days_since("p", MONDAY) == 0
    state.forget("mem_a")
    state.used(["mem_a"], MONDAY)


def test_who_only_looks_sees_and_makes_nothing(state: State, tmp_path: Path) -> None:
    looking = State(str(tmp_path / "none.db"), readonly=True)
    assert looking.usage(["mem_a"], "p") == {}
    looking.used(["mem_a"], MONDAY)
    assert not (tmp_path / "none.db").exists()
    state.used(["mem_a"], MONDAY)
    state.close()
    looking = State(state.path, readonly=True)
    assert looking.usage(["mem_a"], "p")["mem_a"].uses == 1
    looking.used(["mem_a"], MONDAY)
    assert looking.usage(["mem_a"], "p")["mem_a"].uses == 1
    looking.close()


def test_a_log_that_would_only_pretend_to_remember_is_refused(tmp_path: Path) -> None:
    os.mkdir(tmp_path / "state.db")
    with pytest.raises(StorageFailed, match="cannot be written"):
        open_log(str(tmp_path / "state.db"))
    log = open_log(str(tmp_path / "deep" / "state.db"))
    assert log.execute("PRAGMA synchronous").fetchone() == (2,), "kept also after a power cut"
    log.close()
