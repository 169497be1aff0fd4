"""What models cost and what they have yet to read: counted for all processes, never lost."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from ltm.errors import StorageFailed
from ltm.state.model_log import GIVEN_UP, PAUSES, ModelLog, Spent, Unheard, spent_and_waiting

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture
def log(tmp_path: Path) -> ModelLog:
    return ModelLog(str(tmp_path / "state.db"))


def take(log: ModelLog, at: datetime = NOON, tokens: int = 100, calls: int = 3) -> bool:
    return log.reserve(at, tokens, calls_cap=calls, tokens_cap=1_000)


class TestSpend:
    def test_a_day_gives_as_many_calls_as_its_cap_and_the_next_day_begins_again(
        self, log: ModelLog
    ) -> None:
        assert [take(log) for _ in range(4)] == [True, True, True, False]
        assert log.spent(NOON) == Spent(3, 300)
        assert take(log, NOON + timedelta(days=1))
        assert log.spent(NOON) == Spent(3, 300)

    def test_a_call_that_could_cost_more_than_is_left_is_not_made(self, log: ModelLog) -> None:
        assert take(log, tokens=900)
        assert not take(log, tokens=101)
        assert take(log, tokens=100)

    def test_a_cap_of_nothing_allows_nothing(self, log: ModelLog) -> None:
        assert not take(log, calls=0)
        assert log.spent(NOON) == Spent()

    def test_what_a_call_really_cost_takes_the_place_of_what_was_reserved(
        self, log: ModelLog
    ) -> None:
        take(log, tokens=700)
        log.settle(NOON, 700, 40)
        assert log.spent(NOON) == Spent(1, 40)
        assert take(log, tokens=960)

    def test_a_day_is_the_same_for_all_time_zones(self, log: ModelLog) -> None:
        take(log)
        far = NOON.astimezone(datetime.strptime("+1130", "%z").tzinfo)
        assert log.spent(far) == log.spent(NOON) == Spent(1, 100)

    def test_processes_that_ask_at_the_same_time_never_take_more_than_the_cap(
        self, tmp_path: Path
    ) -> None:
        """Peers: hundreds of background calls at night, because nobody counted them together."""
        path = str(tmp_path / "state.db")
        ModelLog(path).close()
        program = (
            "import sys\n"
            "from datetime import UTC, datetime\n"
            "from ltm.state.model_log import ModelLog\n"
            "log = ModelLog(sys.argv[1])\n"
            "at = datetime(2026, 3, 1, 12, tzinfo=UTC)\n"
            "sys.stdin.read()\n"
            "print(sum(log.reserve(at, 7, calls_cap=25, tokens_cap=10_000) for _ in range(20)))\n"
        )
        running = [
            subprocess.Popen(
                [sys.executable, "-c", program, path],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
            )
            for _ in range(4)
        ]
        for process in running:
            assert process.stdin
            process.stdin.close()
        taken = []
        for process in running:
            with process:
                assert process.stdout
                taken.append(int(process.stdout.read()))
        assert sum(taken) == 25
        assert ModelLog(path).spent(NOON) == Spent(25, 175)

    def test_where_nothing_can_be_counted_there_is_no_log(self, tmp_path: Path) -> None:
        (tmp_path / "state.db").mkdir()
        with pytest.raises(StorageFailed):
            ModelLog(str(tmp_path / "state.db"))

    def test_looking_at_the_spend_makes_no_database(self, tmp_path: Path) -> None:
        assert spent_and_waiting(str(tmp_path / "state.db"), NOON) == (Spent(), [])
        assert list(tmp_path.iterdir()) == []


class TestUnheard:
    def only(self, log: ModelLog) -> Unheard:
        (note,) = log.unheard()
        return note

    def test_what_is_noted_is_due_at_once_and_once(self, log: ModelLog) -> None:
        log.note_unheard("s1")
        log.note_unheard("s1")
        assert [note.session for note in log.due(NOON)] == ["s1"]
        log.forget_unheard(self.only(log))
        assert log.unheard() == []

    def test_what_no_one_tried_yet_has_no_past(self, log: ModelLog) -> None:
        log.note_unheard("s")
        assert log.unheard() == [Unheard("s")]
        (noted,) = log.unheard()
        assert (noted.cursor, noted.lines, noted.error) == ("", "", "")
        assert (noted.tries, noted.not_before, noted.given_up) == (0, 0, False)

    def test_every_failure_makes_it_wait_longer_until_it_is_given_up(self, log: ModelLog) -> None:
        log.note_unheard("s1")
        at = NOON
        for pause in PAUSES:
            note = self.only(log)
            assert not note.given_up
            log.note_failure(note, at, "no network", all_wait=False)
            assert log.due(at + timedelta(seconds=pause - 1)) == []
            at += timedelta(seconds=pause)
        assert log.due(at) == []
        assert (self.only(log).given_up, self.only(log).error) == (True, "no network")

    def test_an_event_gives_what_was_given_up_one_more_chance(self, log: ModelLog) -> None:
        self.give_up(log, "s1")
        log.note_unheard("s1")
        assert log.due(NOON)
        log.note_failure(self.only(log), NOON, "still no network", all_wait=False)
        assert self.only(log).given_up

    def test_an_event_does_not_shorten_the_wait_after_a_failure(self, log: ModelLog) -> None:
        log.note_unheard("s1")
        log.note_failure(self.only(log), NOON, "overloaded", all_wait=False)
        log.note_unheard("s1")
        assert log.due(NOON) == []

    def test_when_no_model_can_be_asked_all_others_wait_too(self, log: ModelLog) -> None:
        for session in ("s1", "s2"):
            log.note_unheard(session)
        log.note_failure(log.due(NOON)[0], NOON, "no login", all_wait=True)
        assert log.due(NOON) == []
        assert sorted(note.tries for note in log.unheard()) == [0, 1]

    def test_an_answer_takes_up_what_was_given_up_for_want_of_one(self, log: ModelLog) -> None:
        self.give_up(log, "s1")
        log.set_aside(Unheard("s3", "cursor", "3-9"), "nonsense")
        log.note_progress("s2")
        assert [note.session for note in log.due(NOON)] == ["s1"]
        assert [note.given_up for note in log.unheard() if note.cursor] == [True]

    def test_a_part_set_aside_stands_next_to_its_session(self, log: ModelLog) -> None:
        log.note_unheard("s1")
        log.set_aside(Unheard("s1", "cursor", "3-9"), "nonsense")
        assert [(note.lines, note.given_up) for note in log.unheard()] == [
            ("", False),
            ("3-9", True),
        ]

    def test_a_clock_that_is_set_back_keeps_nothing_waiting_for_years(self, log: ModelLog) -> None:
        """Reliability R19."""
        log.note_unheard("s1")
        log.note_failure(self.only(log), NOON, "overloaded", all_wait=False)
        assert log.due(NOON - timedelta(days=800))

    def give_up(self, log: ModelLog, session: str) -> None:
        log.note_unheard(session)
        for _ in range(GIVEN_UP):
            log.note_failure(self.only(log), NOON, "no network", all_wait=False)
