"""The figures of a session, counted from what its transcript says."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from ltm.sessions import stats
from ltm.sessions.stats import Tally
from ltm.sessions.transcript import read
from ltm.state.session_log import SessionLog
from tests.sessions.writing import Transcript


def tally(transcript: Transcript) -> Tally:
    counted = Tally()
    counted.add(read(str(transcript.path)))
    return counted


@pytest.fixture
def transcript(tmp_path: Path) -> Transcript:
    return Transcript(tmp_path / "t.jsonl")


def test_an_empty_session_was_easy(transcript: Transcript) -> None:
    counted = tally(transcript)
    assert (counted.tools, counted.difficulty, counted.first, counted.last) == (0, 0.0, "", "")


def test_successes_failures_and_compactions_make_the_difficulty(transcript: Transcript) -> None:
    """Traps 2.1 #3: a compaction adds 0.2, not 0.04."""
    for n in range(10):
        transcript.result("error in the text", f"t{n}", error=n < 4)
    transcript.compacted()
    counted = tally(transcript)
    assert (counted.ok, counted.failed, counted.compactions, counted.tools) == (6, 4, 1, 10)
    assert counted.difficulty == pytest.approx(0.5 * 0.4 + 0.3 * 10 / 50 + 0.2)


def test_refused_calls_and_calls_without_a_result_count_as_nothing(transcript: Transcript) -> None:
    transcript.calls("Bash", command="sleep 60")
    transcript.result(
        "The user doesn't want to proceed", error=True, about="User rejected tool use"
    )
    assert tally(transcript).tools == 0


def test_the_first_and_last_moment_whatever_the_order_of_lines(transcript: Transcript) -> None:
    transcript.user("b", timestamp="2026-11-15T10:00:05.000Z")
    transcript.user("a", timestamp="2026-11-15T10:00:01.000Z")
    transcript.user("c", timestamp=None)
    counted = tally(transcript)
    assert (counted.first[-7:], counted.last[-7:]) == ("01.000Z", "05.000Z")


def test_the_session_log_counts_what_the_whole_transcript_says(
    transcript: Transcript, tmp_path: Path
) -> None:
    """Lines that cannot count are not parsed for it; none that counts may be among them."""
    at = datetime(2026, 11, 15, tzinfo=UTC)
    log = SessionLog(str(tmp_path / "state.db"))
    with log.transaction():
        log.begin("s", "p", "/p", str(transcript.path), at)
    for n in range(12):
        transcript.user(f"what does tool_result mean? ({n})")
        transcript.calls("Bash", f"t{n}", command="make test")
        transcript.result([{"type": "text", "text": "out"}], f"t{n}", error=n % 3 == 0)
        if n % 4 == 0:
            transcript.compacted()
        session = log.get("s")
        assert session is not None
        stats.update(log, session, at)
    session, counted = log.get("s"), tally(transcript)
    log.close()
    assert session is not None
    assert (session.ok, session.failed, session.compactions) == (8, 4, 3)
    assert (counted.ok, counted.failed, counted.compactions) == (8, 4, 3)
