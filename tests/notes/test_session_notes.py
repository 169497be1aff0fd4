"""Session notes: written once a session, edited by people, folded by month, searched, cleared."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from ltm.notes.session_notes import SessionNotes
from ltm.spool import events
from tests.cli.runner import Ltm
from tests.sessions.writing import Transcript, about_the_login

CHOICE = "we chose signed cookies over tokens because the proxy drops long headers"
NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)


class Desk:
    """A person with a project whose sessions the hooks tell of."""

    def __init__(self, ltm: Ltm) -> None:
        self.ltm = ltm
        self.home = ltm.home / ".ltm"
        self.environ = {"HOME": str(ltm.home), "LTM_HOME": str(self.home)}

    def session(self, name: str, *said: str, end: bool = True) -> Transcript:
        transcript = about_the_login(self.ltm.home / f"{name}.jsonl", name, *said)
        for event in ("SessionStart", "Stop", *(("SessionEnd",) if end else ())):
            self.tell(event, name)
        self.drain()
        return transcript

    def tell(self, event: str, name: str) -> None:
        record = {
            "event": event,
            "session": name,
            "cwd": str(self.ltm.project),
            "transcript": str(self.ltm.home / f"{name}.jsonl"),
        }
        events.put(str(self.home), record, self.environ)

    def drain(self) -> None:
        self.ltm.ok("drain")

    def notes(self) -> list[Path]:
        return sorted(self.home.glob("projects/*/sessions/2*.md"))

    @property
    def private(self) -> Path:
        return next(path for path in self.home.glob("projects/*") if path.is_dir())

    def memories(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.ltm.json("list", "--status", "all")["memories"]
        return found


@pytest.fixture
def desk(ltm: Ltm) -> Desk:
    return Desk(ltm)


def test_a_session_that_ends_leaves_a_note_in_the_known_format(desk: Desk) -> None:
    desk.session("one", CHOICE)
    (path,) = desk.notes()
    text = path.read_text()
    assert path.name == "2026-11-15_1000.md"
    assert text.startswith("# Session 2026-11-15_1000\n\n## Summary\n- Fix the login of the shop")
    assert "signed cookies over tokens: the proxy drops long headers" in text
    assert "\n## Patterns\n" in text
    assert path.stat().st_mode & 0o777 == 0o600
    assert not (desk.ltm.project / ".claude").exists()


def test_a_stop_leaves_none_and_a_session_that_died_gets_its_note_at_the_next_start(
    desk: Desk,
) -> None:
    """traps 2.5 #1 and #7: not at every turn, once a session."""
    desk.session("one", CHOICE, end=False)
    assert desk.notes() == []
    desk.tell("SessionStart", "two")
    desk.drain()
    assert len(desk.notes()) == 1


def test_a_session_that_goes_on_has_one_note_that_grows(desk: Desk) -> None:
    transcript = desk.session("one", "fine, thanks a lot")
    transcript.user(CHOICE)
    transcript.says("Noted, cookies it is.")
    desk.tell("SessionEnd", "one")
    desk.drain()
    (path,) = desk.notes()
    assert "signed cookies" in path.read_text()


def test_two_sessions_of_one_minute_have_two_notes(desk: Desk) -> None:
    desk.session("one", CHOICE)
    desk.session("two", "remember that the staging database is wiped every night")
    assert [path.name for path in desk.notes()] == [
        "2026-11-15_1000.md",
        "2026-11-15_1000_2.md",
    ]


def test_a_note_someone_edited_is_theirs(desk: Desk) -> None:
    transcript = desk.session("one", CHOICE)
    (path,) = desk.notes()
    path.write_text(path.read_text().replace("Fix the login", "Repaired the login"))
    edited = path.read_bytes()
    transcript.user("Now deploy the shop to staging please.")
    desk.tell("SessionEnd", "one")
    desk.drain()
    assert path.read_bytes() == edited
    assert "You edited" in desk.ltm.run("sessions", "note", "one").stderr


def test_facts_of_a_persons_note_become_memories_once(desk: Desk) -> None:
    """traps 2.5 #5: idempotent, URLs stay whole, no reason needed, [WIP] is no placeholder."""
    desk.session("one", "fine, thanks a lot")
    (path,) = desk.notes()
    path.write_text(
        "# Session 2026-11-15_1000\n\n## Summary\n[What was accomplished]\n\n## Decisions\n"
        "- Use http://localhost:8080 as the mirror: it is near\n"
        "- Keep the parser pure\n- [WIP] Move to the new queue: it is faster\n"
        "### Details\n- Names are singular in all tables: one style\n- [Decision]\n\n"
        "## Patterns\n- Every handler returns a result object\n\n"
        "## Issues\n- The import of large files is slow\n- JSON editing fails: resolved\n"
    )
    first = desk.ltm.json("sessions", "facts")
    kept = {each["title"]: each for each in desk.memories()}
    assert len(first["added"]) == 7
    assert kept["Use http://localhost:8080 as the mirror: it is near"]["reason"] == "it is near"
    assert "Keep the parser pure" in kept
    states = {each["title"]: each["state"] for each in kept.values() if each["kind"] == "issue"}
    assert sorted(states.values()) == ["open", "resolved"]
    for _ in range(3):
        again = desk.ltm.json("sessions", "facts")
        assert (again["added"], again["reinforced"], again["known"]) == ([], [], 7)
    assert {each["observations"] for each in desk.memories()} == {1}


def test_what_ltm_wrote_itself_is_not_evidence_again(desk: Desk) -> None:
    desk.session("one", CHOICE)
    before = desk.memories()
    assert desk.ltm.json("sessions", "facts")["added"] == []
    assert desk.memories() == before


def test_notes_are_found_by_words_archived_ones_too(desk: Desk) -> None:
    desk.session("one", CHOICE)
    desk.session("two", "remember that the staging database is wiped every night")
    notes = SessionNotes(str(desk.private))
    notes.compress(datetime(2027, 3, 1, tzinfo=UTC))
    assert desk.notes() == []
    found = desk.ltm.json("sessions", "search", "staging", "database")
    assert [each["session"] for each in found["notes"]] == ["two"]
    assert any("wiped" in line for line in found["notes"][0]["lines"])
    assert desk.ltm.json("sessions", "search", "zanzibar")["notes"] == []


def test_the_list_of_sessions_works_as_before(desk: Desk) -> None:
    desk.session("one", CHOICE)
    assert [each["id"] for each in desk.ltm.json("sessions")["sessions"]] == ["one"]
    assert "one" in desk.ltm.ok("sessions", "-n", "3")


def test_the_summary_holds_a_line_for_each_of_the_latest(desk: Desk) -> None:
    desk.session("one", CHOICE)
    text = (desk.private / "sessions" / "summary.md").read_text()
    assert "- 2026-11-15 1000: Fix the login of the shop" in text
    assert desk.ltm.json("sessions", "summary")["notes"][0]["name"] == "2026-11-15_1000"


def test_clearing_asks_and_can_be_undone(desk: Desk) -> None:
    """traps 2.5 #11: no rm -rf."""
    desk.session("one", CHOICE)
    before = desk.notes()[0].read_bytes()
    assert desk.ltm.run("sessions", "clear").returncode == 2
    assert len(desk.notes()) == 1
    memories = len(desk.memories())
    assert desk.ltm.json("sessions", "clear", "--yes") == {"cleared": 1}
    assert desk.notes() == []
    assert len(desk.memories()) == memories
    assert desk.ltm.json("sessions", "clear", "--undo") == {"restored": 1}
    assert desk.notes()[0].read_bytes() == before
    assert desk.ltm.run("sessions", "clear", "--undo").returncode == 1


def test_what_was_cleared_is_not_written_again_by_itself(desk: Desk) -> None:
    desk.session("one", CHOICE)
    desk.ltm.ok("sessions", "clear", "--yes")
    desk.tell("SessionEnd", "one")
    desk.drain()
    assert desk.notes() == []


def test_a_purged_memory_is_in_no_note_and_no_stash(desk: Desk) -> None:
    transcript = desk.session("one", CHOICE)
    desk.ltm.ok("stash", "x", "--transcript", str(transcript.path))
    (memory,) = [each for each in desk.memories() if each["kind"] == "decision"]
    desk.ltm.ok("forget", memory["id"], "--purge", "--yes")
    for path in (*desk.home.rglob("*.md"), *desk.ltm.project.rglob("*.md")):
        assert "signed cookies" not in path.read_text(), path


def test_a_purged_session_has_no_note_and_gets_none_again(desk: Desk) -> None:
    transcript = desk.session("one", CHOICE)
    desk.session("two", "remember that the staging database is wiped every night")
    desk.ltm.ok("sessions", "--purge", "one", "--yes")
    assert ["wiped" in path.read_text() for path in desk.notes()] == [True]
    transcript.user("One more thing to do for the shop today.")
    desk.tell("SessionEnd", "one")
    desk.drain()
    assert len(desk.notes()) == 1


@pytest.mark.parametrize("way", ["fresh", "archived", "cleared", "from another project"])
def test_no_byte_of_a_purged_session_is_left_in_notes_and_summaries(
    desk: Desk, way: str, tmp_path: Path
) -> None:
    """The summary used to keep its line until the next session ended, a cleared one for good."""
    project = desk.ltm.project
    for name, page in (("one", "zanzibarquokka"), ("two", "front")):
        transcript = Transcript(desk.ltm.home / f"{name}.jsonl", name)
        transcript.user(f"Have a look at the {page} page of the shop.")
        transcript.says("It looks fine.")
        for event in ("SessionStart", "SessionEnd"):
            desk.tell(event, name)
    desk.drain()
    assert "zanzibarquokka" in (desk.private / "sessions" / "summary.md").read_text()
    if way == "archived":
        SessionNotes(str(desk.private)).compress(datetime.now(UTC) + timedelta(days=400))
    elif way == "cleared":
        desk.ltm.ok("sessions", "clear", "--yes")
    elif way == "from another project":
        desk.ltm.project = tmp_path / "elsewhere"
        desk.ltm.project.mkdir()

    desk.ltm.ok("sessions", "--purge", "one", "--yes")

    for path in (path for path in desk.home.rglob("*") if path.is_file()):
        assert b"zanzibarquokka" not in path.read_bytes(), path
    if way == "cleared":
        desk.ltm.ok("sessions", "clear", "--undo")
    else:
        assert "front page" in (desk.private / "sessions" / "summary.md").read_text()
    assert "front page" in desk.ltm.ok("sessions", "search", "front page", cwd=project)


def test_decisions_patterns_and_issues_are_added_by_hand_too(desk: Desk) -> None:
    """The three commands of the older tool are kinds here, its words included."""
    for kind in ("decision", "decisions", "pattern", "patterns", "issue", "issues"):
        done = desk.ltm.json("remember", f"Something about {kind} number one", "--kind", kind)
        assert done["kind"] == kind.removesuffix("s")
    resolved = desk.ltm.json("remember", "It broke", "--kind", "issue", "--state", "resolved")
    assert desk.ltm.json("show", resolved["id"])["state"] == "resolved"


# -- files -----------------------------------------------------------------------------------------


def written(notes: SessionNotes, day: datetime, session: str, text: str) -> None:
    notes.write(
        session, day.isoformat(), lambda name: f"# Session {name}\n\n## Summary\n- {text}\n"
    )


def test_notes_of_thirty_days_and_more_fold_into_their_months(tmp_path: Path) -> None:
    """traps 2.5 #8: thirty days count as old."""
    notes = SessionNotes(str(tmp_path))
    for days in (0, 29, 30, 31, 70):
        written(notes, NOW - timedelta(days=days), f"s{days}", f"text {days}")
    assert len(notes.compress(NOW)) == 3
    assert [each.session for each in notes.every()] == ["s0", "s29"]
    archived = [each for each in notes.every(archived=True) if each.archived]
    assert {each.session for each in archived} == {"s30", "s31", "s70"}
    assert sorted(path.name for path in (tmp_path / "sessions/archive").iterdir()) == [
        "2026-09.md",
        "2026-10.md",
    ]
    before = (tmp_path / "sessions/archive/2026-10.md").read_bytes()
    assert notes.compress(NOW) == []
    assert (tmp_path / "sessions/archive/2026-10.md").read_bytes() == before


def test_a_fold_that_was_cut_short_is_finished_and_doubles_nothing(tmp_path: Path) -> None:
    """traps 2.5 #8: the archive is written, the notes are still there."""
    notes = SessionNotes(str(tmp_path))
    day = NOW - timedelta(days=40)
    written(notes, day, "one", "text one")
    written(notes, day, "two", "text two")
    left = {each.path: Path(each.path).read_bytes() for each in notes.every()}
    notes.compress(NOW)
    whole = (tmp_path / "sessions/archive/2026-10.md").read_bytes()
    for path, data in left.items():
        Path(path).write_bytes(data)
    notes.compress(NOW)
    assert (tmp_path / "sessions/archive/2026-10.md").read_bytes() == whole
    assert list(notes.every()) == []


def test_a_note_with_the_marks_of_an_archive_in_it_splits_nothing(tmp_path: Path) -> None:
    notes = SessionNotes(str(tmp_path))
    day = NOW - timedelta(days=40)
    written(notes, day, "x --> <!-- note 2020-01-01_0000 -->\n", "a <!-- note y --> in a line")
    notes.compress(NOW)
    assert len(list(notes.every(archived=True))) == 1


def test_an_archived_or_cleared_session_is_not_noted_again(tmp_path: Path) -> None:
    notes = SessionNotes(str(tmp_path))
    written(notes, NOW - timedelta(days=40), "one", "text")
    notes.compress(NOW)
    written(notes, NOW - timedelta(days=40), "one", "text, again")
    assert list(notes.every()) == []
    notes.clear(NOW)
    written(notes, NOW, "one", "text, again")
    assert list(notes.every()) == []


def test_undo_overwrites_nothing_that_came_since(tmp_path: Path) -> None:
    notes = SessionNotes(str(tmp_path))
    written(notes, NOW, "one", "old")
    notes.clear(NOW)
    written(notes, NOW, "two", "new")
    notes.undo()
    assert {each.session: each.name[15:] for each in notes.every()} == {"two": "", "one": "_2"}


def test_two_processes_note_sessions_of_one_minute_side_by_side(tmp_path: Path) -> None:
    program = (
        "import sys\nfrom ltm.notes.session_notes import SessionNotes\n"
        "for n in range(10):\n    SessionNotes(sys.argv[1]).write(f'{sys.argv[2]}{n}',"
        " '2026-11-15T10:00:00Z', lambda name: f'# {name}\\n')"
    )
    running = [
        subprocess.Popen([sys.executable, "-c", program, str(tmp_path), who]) for who in "ab"
    ]
    assert [each.wait() for each in running] == [0, 0]
    names = {each.session for each in SessionNotes(str(tmp_path)).every()}
    assert names == {f"{who}{n}" for who in "ab" for n in range(10)}


def test_strange_files_in_the_folder_hurt_no_one(tmp_path: Path) -> None:
    folder = tmp_path / "sessions"
    folder.mkdir()
    os.mkfifo(folder / "2026-01-01_0000.md")
    (folder / "2026-01-02_0000.md").symlink_to("/etc/passwd")
    (folder / "2026-01-03_0000.md").write_bytes(b"\xff\xfe not text")
    (folder / "README.md").write_text("mine")
    notes = SessionNotes(str(tmp_path))
    assert [each.name for each in notes.every()] == ["2026-01-03_0000"]
    notes.compress(NOW)
    assert (folder / "README.md").read_text() == "mine"
