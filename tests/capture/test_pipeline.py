"""From a transcript to memories: nothing twice, nothing lost, nothing secret."""

from __future__ import annotations

import gc
import subprocess
import sys
from collections.abc import Collection
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ltm.capture.extract import Listener
from ltm.capture.pipeline import READER, Captured, capture
from ltm.decisions import Forget
from ltm.errors import LtmError
from ltm.model import Filter, Status, Trust
from ltm.sessions.turns import ToolResult, Turn
from ltm.state.session_log import SessionLog
from ltm.store.open import HOLDS as HOLDS_OF
from tests.sessions.writing import Transcript
from tests.stores import file_store

NOW = datetime(2026, 11, 16, tzinfo=UTC)
WANTED = {
    "Always use tabs in this project",
    "We chose SQLite over Postgres because there is nothing to run",
    "The test database has no address",
}


def written(path: Path, session: str = "one") -> Transcript:
    """A session that teaches three things."""
    transcript = Transcript(path, session)
    transcript.user("fix the tests. remember: always use tabs in this project.")
    transcript.calls("Bash", "b1", command="make test")
    transcript.result("Exit code 1\nerror: connection refused", "b1", error=True)
    transcript.says("The test database has no address.")
    transcript.calls("Edit", "e1", file_path="/p/conf/test.toml", old_string="a", new_string="b")
    transcript.result("ok", "e1")
    transcript.calls("Bash", "b2", command="make test")
    transcript.result("ok", "b2", error=False)
    transcript.says("The tests pass.")
    transcript.user("we chose SQLite over Postgres because there is nothing to run")
    transcript.says("Understood.")
    return transcript


HOLDS = {
    "tools": set[Trust](),
    "agent": {Trust.ASSISTANT},
    "all": {Trust.ASSISTANT, Trust.USER},
}


@pytest.mark.parametrize("value", sorted(HOLDS))
def test_whose_words_wait_for_approval_is_an_option(tmp_path: Path, value: str) -> None:
    place = Place(tmp_path)
    place.hold = HOLDS_OF[value]
    for _ in range(2):  # said again, it waits as before, and once
        place.capture(written(tmp_path / "a.jsonl"))
        place.capture(written(tmp_path / "b.jsonl", "two"), "two")
        store = file_store(tmp_path / "store")
        kept = store.list(Filter(statuses=(Status.ACTIVE, Status.QUARANTINED))).items
        waits = {each.memory.source.trust for each in kept if each.memory.status != Status.ACTIVE}
        assert waits == HOLDS[value]
        assert len({each.memory.title for each in kept}) == len(kept)


class Place:
    """A store and a session log in a folder."""

    hold: Collection[Trust] = (Trust.TOOL,)

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def capture(self, transcript: Transcript, session: str = "one") -> Captured:
        log = SessionLog(str(self.folder / "log.db"))
        try:
            store = file_store(self.folder / "store")
            store.hold = self.hold
            return capture(store, log, session, str(transcript.path), now=NOW)
        finally:
            log.close()

    def titles(self, *statuses: Status) -> list[str]:
        store = file_store(self.folder / "store")
        wanted = Filter(statuses=statuses or (Status.ACTIVE,))
        return sorted(each.memory.title for each in store.list(wanted).items)

    def files(self) -> dict[str, bytes]:
        """Every memory file with its bytes."""
        return {
            str(path.relative_to(self.folder)): path.read_bytes()
            for path in self.folder.rglob("*.md")
        }

    def holds(self, text: str) -> list[str]:
        """The files of any kind that hold a text."""
        return [
            str(path)
            for path in self.folder.rglob("*")
            if path.is_file() and text.encode() in path.read_bytes()
        ]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path / "home")


@pytest.fixture
def transcript(tmp_path: Path) -> Transcript:
    return written(tmp_path / "one.jsonl")


def test_a_session_leaves_its_memories(place: Place, transcript: Transcript) -> None:
    done = place.capture(transcript)
    assert set(place.titles()) == WANTED
    assert len(done.added) == 3
    store = file_store(place.folder / "store")
    by_title = {each.memory.title: each.memory for each in store.list(Filter()).items}
    order = by_title["Always use tabs in this project"]
    assert (order.source.trust, order.source.session, order.source.lines) == (
        Trust.USER,
        "one",
        "1",
    )
    assert order.created == datetime(2026, 11, 15, 10, 0, 1, tzinfo=UTC)
    assert (
        by_title["We chose SQLite over Postgres because there is nothing to run"].reason
        == "there is nothing to run"
    )


def test_capturing_the_same_again_changes_nothing(place: Place, transcript: Transcript) -> None:
    place.capture(transcript)
    before = place.files()
    again = place.capture(transcript)
    assert (again.turns, again.added, again.reinforced, again.superseded) == (0, [], [], [])
    assert place.files() == before


def test_not_even_after_everything_about_the_reading_was_lost(
    place: Place, transcript: Transcript
) -> None:
    place.capture(transcript)
    before = place.files()
    for path in place.folder.rglob("*.db*"):
        path.unlink()
    again = place.capture(transcript)
    assert (again.added, again.reinforced, again.superseded) == ([], [], [])
    assert place.files() == before


@pytest.mark.parametrize("at_once", [True, False])
def test_what_is_taken_back_gives_way_to_what_is_said_instead(
    tmp_path: Path, place: Place, at_once: bool
) -> None:
    one = Transcript(tmp_path / "one.jsonl", "one")
    for said in (
        "Move the mails into the queue.",
        "Decision: retries happen in the consumer, not in NATS.",
        "Hmm no, scratch that, let NATS redeliver with max_deliver 5.",
    ):
        one.user(said)
        one.says("Done.")
        if not at_once:
            place.capture(one)
    place.capture(one)
    assert place.titles() == ["Let NATS redeliver with max_deliver 5"]


def test_what_was_forgotten_does_not_come_back(place: Place, transcript: Transcript) -> None:
    place.capture(transcript)
    store = file_store(place.folder / "store")
    (tabs,) = [each.memory.id for each in store.list(Filter()).items if "tabs" in each.memory.title]
    store.apply(Forget(tabs))
    for path in place.folder.rglob("log.db*"):
        path.unlink()
    place.capture(transcript)
    assert set(place.titles()) == WANTED - {"Always use tabs in this project"}


def test_a_session_is_read_on_where_it_was_left(place: Place, transcript: Transcript) -> None:
    """traps 2.4 #2: fewer than three new lines were skipped, and never read."""
    place.capture(transcript)
    transcript.user("remember that the mirror is in Oslo")
    done = place.capture(transcript)
    assert done.turns == 1
    assert place.titles() == sorted({*WANTED, "The mirror is in Oslo"})


def test_in_stretches_it_gives_the_same_as_at_once(tmp_path: Path, place: Place) -> None:
    whole = written(tmp_path / "whole.jsonl")
    growing = Transcript(tmp_path / "growing.jsonl", "one")
    for line in whole.path.read_bytes().splitlines(keepends=True):
        growing.raw(line)
        place.capture(growing)
    assert set(place.titles()) == WANTED


def test_a_line_that_is_still_being_written_waits(place: Place, transcript: Transcript) -> None:
    place.capture(transcript)
    line = transcript.path.read_bytes().splitlines(keepends=True)[0]
    late = line.replace(b"always use tabs", b"never use emojis").replace(b"-000001", b"-000099")
    transcript.raw(late[:60])
    assert place.capture(transcript).turns == 0
    transcript.raw(late[60:])
    assert len(place.capture(transcript).added) == 1


def test_a_disk_that_refuses_loses_nothing(place: Place, transcript: Transcript) -> None:
    """traps 2.4 #1: the cursor moved on although nothing was kept."""
    blocked = place.folder / "store" / "project"
    blocked.parent.mkdir(parents=True)
    blocked.write_text("a file where the vault should be")
    with pytest.raises((LtmError, OSError)):
        place.capture(transcript)
    log = SessionLog(str(place.folder / "log.db"))
    assert log.cursor("one", READER, str(transcript.path)) == ""
    log.close()
    blocked.unlink()
    assert len(place.capture(transcript).added) == 3


def test_a_fork_repeats_nothing(place: Place, transcript: Transcript, tmp_path: Path) -> None:
    place.capture(transcript)
    fork = Transcript(tmp_path / "fork.jsonl", "one")
    fork.raw(transcript.path.read_bytes())
    fork.user("remember that the mirror is in Oslo", uuid="of-the-fork")
    before = place.files()
    done = place.capture(fork, "two")
    assert [len(done.added), done.reinforced] == [1, []]
    assert before.items() <= place.files().items()


def test_the_same_said_in_another_session_counts_as_seen_again(
    place: Place, transcript: Transcript, tmp_path: Path
) -> None:
    place.capture(transcript)
    other = Transcript(tmp_path / "two.jsonl", "two")
    other.user("remember: always use tabs in this project")
    done = place.capture(other, "two")
    assert (done.added, len(done.reinforced)) == ([], 1)
    assert set(place.titles()) == WANTED


CRASHING = """
import os, sys
from datetime import UTC, datetime
from pathlib import Path
from ltm.capture.pipeline import capture
from ltm.state.session_log import SessionLog
from tests.stores import file_store

class Dying(SessionLog):
    def keep_cursor(self, *given):
        os._exit(9)

home, transcript = sys.argv[1:]
log = Dying(os.path.join(home, "log.db"))
now = datetime(2026, 11, 16, tzinfo=UTC)
capture(file_store(Path(home) / "store"), log, "one", transcript, now=now)
"""

CAPTURING = """
import os, sys
from datetime import UTC, datetime
from pathlib import Path
from ltm.capture.pipeline import capture
from ltm.state.session_log import SessionLog
from tests.stores import file_store

home, transcript, session = sys.argv[1:]
log = SessionLog(os.path.join(home, "log.db"))
now = datetime(2026, 11, 16, tzinfo=UTC)
sys.stdin.read()
capture(file_store(Path(home) / "store"), log, session, transcript, now=now)
"""


def test_a_crash_after_keeping_and_before_noting_adds_nothing_twice(
    place: Place, transcript: Transcript
) -> None:
    place.folder.mkdir()
    command = [sys.executable, "-c", CRASHING, str(place.folder), str(transcript.path)]
    assert subprocess.run(command, check=False).returncode == 9
    before = place.files()
    assert set(place.titles()) == WANTED
    done = place.capture(transcript)
    assert (done.turns > 0, done.added, done.reinforced, done.superseded) == (True, [], [], [])
    assert place.files() == before


PLACES = (
    ("the mirror is in Oslo", "backups go to Bern", "Ana owns billing", "logs live on heron"),
    ("staging sleeps at night", "the vpn drops often", "Wu reviews mobile", "CI has two cores"),
    ("prices are in cents", "dates are local", "Kim wrote the parser", "mail goes out hourly"),
    ("the bucket is public", "queues hold a week", "Max left in May", "keys rotate in June"),
)


def test_sessions_captured_at_once_lose_nothing(place: Place, tmp_path: Path) -> None:
    place.folder.mkdir()
    running = []
    for number in range(4):
        session = f"s{number}"
        transcript = Transcript(tmp_path / f"{session}.jsonl", session)
        for place_of in PLACES[number]:
            transcript.user(f"remember that {place_of}")
        command = [sys.executable, "-c", CAPTURING, str(place.folder), str(transcript.path)]
        running.append(subprocess.Popen([*command, session], stdin=subprocess.PIPE))
    for process in running:  # all of them wait for this, so that they begin together
        assert process.stdin is not None
        process.stdin.close()
    assert [process.wait() for process in running] == [0] * 4
    assert len(place.titles()) == 16


TOKEN = "ghp_" + "a1B2" * 9


def test_no_secret_reaches_the_disk(place: Place, tmp_path: Path) -> None:
    transcript = Transcript(tmp_path / "secret.jsonl", "one")
    transcript.user(f"remember that the deploy token is {TOKEN}")
    transcript.user("always use the <private>plum pudding</private> account in this project")
    transcript.calls("Bash", "b1", command=f"TOKEN={TOKEN} make test")
    transcript.result(f"Exit code 1\nerror: connection refused for {TOKEN}", "b1", error=True)
    place.capture(transcript)  # what is still failing is kept for the next stretch
    assert place.holds(TOKEN) == []
    transcript.says(f"The token {TOKEN} is sent to the wrong host.")
    transcript.calls("Edit", "e1", file_path="/p/a.toml", old_string=f'k="{TOKEN}"', new_string="k")
    place.capture(transcript)  # and so is a call that waits for its result
    assert place.holds(TOKEN) == []
    transcript.result("ok", "e1")
    transcript.calls("Bash", "b2", command=f"TOKEN={TOKEN} make test")
    transcript.result("ok", "b2", error=False)
    transcript.calls("Bash", "g1", command=f"git commit -m 'feat: use {TOKEN} for uploads'")
    transcript.result(f"[main abc1234] feat: use {TOKEN} for uploads", "g1")
    transcript.says(f"Done. Root cause: the token {TOKEN} was sent to the wrong host.")
    place.capture(transcript)
    assert len(place.titles(*Status)) >= 4
    assert place.holds(TOKEN) == []
    assert place.holds(TOKEN[:16]) == []
    assert place.holds("plum pudding") == []


def test_one_large_message_at_a_time_is_held(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reliability R17: a result may have megabytes, and a session thousands of them."""
    transcript = Transcript(tmp_path / "t.jsonl")
    for n in range(50):
        transcript.calls("Read", f"t{n}", file_path="/p/a.py")
        transcript.result("x" * 300_000, f"t{n}")
    alive: list[int] = []
    hear = Listener.hear

    def results() -> int:
        return sum(isinstance(each, ToolResult) for each in gc.get_objects())

    def counting(listener: Listener, turns: list[Turn]) -> None:
        hear(listener, turns)
        if len(alive) % 10 == 9:  # looking at every object takes its time
            alive.append(results() - before)
        else:
            alive.append(0)

    monkeypatch.setattr(Listener, "hear", counting)
    gc.collect()
    before = results()  # others may still hold some of theirs
    assert Place(tmp_path / "place").capture(transcript).turns == 100
    assert 0 < max(alive) <= 4
