"""Reading a growing file again and again: every message once, whatever happens to the file."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltm.sessions import sources as lines_module
from ltm.sessions.transcript import Cursor, Lines, Recent, Unknown, all_transcripts, cursor_of, read
from ltm.sessions.turns import UserText
from tests.sessions.writing import Transcript


@pytest.fixture
def transcript(tmp_path: Path) -> Transcript:
    return Transcript(tmp_path / "t.jsonl")


class Reader:
    """Somebody who reads a file now and then, and remembers what a drain remembers."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.cursor = Cursor()
        self.seen = Recent()
        self.unreadable = 0

    def texts(self) -> list[str]:
        reading = read(str(self.path), self.cursor, self.seen)
        found = [turn.text for turn in reading if isinstance(turn, UserText)]
        self.cursor = cursor_of(reading.cursor.text())
        self.unreadable = reading.unreadable
        return found


def test_what_was_read_is_not_read_again(transcript: Transcript) -> None:
    reader = Reader(transcript.path)
    transcript.user("one")
    assert reader.texts() == ["one"]
    assert reader.texts() == []
    transcript.user("two")
    assert reader.texts() == ["two"]
    assert reader.cursor.line == 2


def test_a_half_written_line_is_read_once_when_it_is_complete(transcript: Transcript) -> None:
    reader = Reader(transcript.path)
    transcript.user("one")
    transcript.user("two")
    data = transcript.path.read_bytes()
    for cut in range(len(data) - 40, len(data) - 1, 7):
        transcript.path.write_bytes(data[:cut])
        again = Reader(transcript.path)
        assert again.texts() == ["one"]
        transcript.path.write_bytes(data)
        assert again.texts() == ["two"]
    assert reader.texts() == ["one", "two"]


def test_a_last_line_without_an_end_is_read_once(transcript: Transcript) -> None:
    transcript.user("one")
    transcript.path.write_bytes(transcript.path.read_bytes().rstrip(b"\n"))
    reader = Reader(transcript.path)
    assert reader.texts() == ["one"]
    transcript.raw(b"\n")
    assert reader.texts() == []
    transcript.user("two")
    assert reader.texts() == ["two"]
    assert reader.cursor.line == 2


def test_a_file_that_was_truncated_and_written_again_is_read_from_its_start(
    transcript: Transcript,
) -> None:
    reader = Reader(transcript.path)
    for n in range(5):
        transcript.user(f"old {n}")
    assert len(reader.texts()) == 5
    transcript.path.write_bytes(b"")
    assert reader.texts() == []
    Transcript(transcript.path, session="other").user("new")
    assert reader.texts() == ["new"]


def test_a_file_replaced_by_another_is_read_from_its_start(
    transcript: Transcript, tmp_path: Path
) -> None:
    reader = Reader(transcript.path)
    transcript.user("old")
    assert reader.texts() == ["old"]
    other = Transcript(tmp_path / "other.jsonl", session="other")
    other.user("new")
    other.user("newer")
    os.replace(other.path, transcript.path)
    assert reader.texts() == ["new", "newer"]


def test_other_contents_of_the_same_size_and_inode_are_read(transcript: Transcript) -> None:
    reader = Reader(transcript.path)
    transcript.user("one")
    assert reader.texts() == ["one"]
    data = transcript.path.read_bytes()
    inode = transcript.path.stat().st_ino
    with transcript.path.open("r+b") as file:
        file.write(data.replace(b"one", b"two").replace(b"-000001", b"-000009"))
    assert (transcript.path.stat().st_ino, transcript.path.stat().st_size) == (inode, len(data))
    assert reader.texts() == ["two"]


def test_a_file_rewritten_without_one_message_gives_only_what_is_new(
    transcript: Transcript,
) -> None:
    reader = Reader(transcript.path)
    for n in range(4):
        transcript.user(f"message {n}")
    assert len(reader.texts()) == 4
    kept = transcript.path.read_bytes().splitlines(keepends=True)
    transcript.path.write_bytes(b"".join(kept[:1] + kept[2:]))
    transcript.user("after")
    assert reader.texts() == ["after"]


def test_a_copy_of_the_same_file_is_read_on(transcript: Transcript, tmp_path: Path) -> None:
    reader = Reader(transcript.path)
    transcript.user("one")
    assert reader.texts() == ["one"]
    (tmp_path / "copy").write_bytes(transcript.path.read_bytes())
    os.replace(tmp_path / "copy", transcript.path)
    transcript.user("two")
    cursor = reader.cursor
    assert reader.texts() == ["two"]
    assert reader.cursor.line == cursor.line + 1


def test_a_fork_repeats_a_conversation_and_only_its_own_part_is_new(
    transcript: Transcript, tmp_path: Path
) -> None:
    """Traps 2.2 #8. A fork's file holds the whole conversation again, under the same uuids."""
    reader = Reader(transcript.path)
    transcript.user("one")
    transcript.user("two")
    assert reader.texts() == ["one", "two"]
    fork = tmp_path / "fork.jsonl"
    text = transcript.path.read_text().replace(
        f'"sessionId": "{transcript.session}"', '"sessionId": "forked"'
    )
    fork.write_text(text)
    Transcript(fork, session="forked").user("three")
    forked = Reader(fork)
    forked.seen = reader.seen
    assert forked.texts() == ["three"]


def test_the_same_uuid_twice_in_a_file_is_one_message(transcript: Transcript) -> None:
    transcript.user("one", uuid="u1")
    transcript.user("one", uuid="u1")
    transcript.user("two", uuid="u2")
    assert Reader(transcript.path).texts() == ["one", "two"]


def test_bad_lines_cost_only_themselves(transcript: Transcript) -> None:
    """Traps 2.2 #9: one malformed line must not drop the session."""
    transcript.user("one")
    transcript.raw(b'{"type":"user","message":\n')
    transcript.raw(b"\0\0\0\0\n\n   \n[1, 2]\n" + b"[" * 100_000 + b"\n")
    transcript.user("two")
    reader = Reader(transcript.path)
    assert reader.texts() == ["one", "two"]
    assert reader.unreadable == 3


def test_broken_characters_cost_only_themselves(transcript: Transcript) -> None:
    transcript.user("caf#")
    transcript.path.write_bytes(transcript.path.read_bytes().replace(b"#", b"\xe9\x00"))
    assert Reader(transcript.path).texts() == ["caf\ufffd\x00"]


def test_a_line_too_long_to_be_true_is_passed_over(
    transcript: Transcript, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines_module, "LONGEST", 5_000)
    monkeypatch.setattr(lines_module, "_CHUNK", 1_000)
    transcript.user("one")
    transcript.user("x" * 20_000)
    transcript.user("two")
    reader = Reader(transcript.path)
    assert reader.texts() == ["one", "two"]
    assert (reader.unreadable, reader.cursor.line) == (1, 3)
    transcript.user("y" * 20_000)
    assert reader.texts() == []
    transcript.user("three")
    assert reader.texts() == ["three"]
    assert reader.cursor.line == 5


@pytest.mark.parametrize("place", ["missing", "folder", "pipe", "null"])
def test_what_is_not_a_plain_file_has_no_turns_and_keeps_the_cursor(
    tmp_path: Path, place: str
) -> None:
    path = tmp_path / place
    if place == "folder":
        path.mkdir()
    elif place == "pipe":
        os.mkfifo(path)
    elif place == "null":
        path = Path("\0")
    cursor = Cursor(7, 1, "a", "b")
    reading = read(str(path), cursor)
    assert list(reading) == []
    assert reading.cursor == cursor


@pytest.mark.parametrize("text", ["", "nonsense", "[]", '{"offset": -1}', '{"offset": "x"}'])
def test_a_damaged_cursor_is_the_beginning(text: str) -> None:
    assert cursor_of(text) == Cursor()


def test_between_two_messages_the_cursor_is_exact(transcript: Transcript) -> None:
    for n in range(10):
        transcript.user(f"message {n}")
    reading = read(str(transcript.path))
    messages = reading.messages()
    assert sum(len(next(messages)) for _ in range(4)) == 4
    rest = read(str(transcript.path), reading.cursor)
    assert next(turn.text for turn in rest if isinstance(turn, UserText)) == "message 4"


@given(
    st.lists(st.sampled_from([b"{}", b"", b"  ", b'{"a": 1}', b"x" * 40]), max_size=12), st.data()
)
def test_any_pauses_give_the_same_lines_and_numbers(
    tmp_path_factory: pytest.TempPathFactory, parts: list[bytes], data: st.DataObject
) -> None:
    whole = b"".join(part + b"\n" for part in parts)
    path = tmp_path_factory.mktemp("lines") / "f"
    path.write_bytes(whole)
    expected = [(n, part) for n, part in enumerate(parts, start=1) if part.strip()]
    found: list[tuple[int, bytes]] = []
    cursor = Cursor()
    pauses = data.draw(st.lists(st.integers(0, len(whole)), max_size=5))
    for end in (*sorted(pauses), len(whole)):
        path.write_bytes(whole[:end])
        lines = Lines(str(path), cursor)
        found += [(lines.number, line) for line in lines]
        cursor = lines.cursor
    assert found == expected


def test_the_cursor_is_exact_after_every_message_though_lines_are_read_ahead(
    transcript: Transcript,
) -> None:
    """A reader that stops or dies anywhere goes on with the very next message."""
    for n in range(450):  # more than are read ahead
        transcript.user(f"say {n}")
        transcript.raw(b'{"type":"progress"}\n')
    reading = read(str(transcript.path))
    for n, turns in enumerate(reading.messages()):
        assert reading.cursor.line == 2 * n + 1 == turns[0].line
        if n % 50 == 0 or n > 440:
            rest = read(str(transcript.path), cursor_of(reading.cursor.text()))
            assert len(list(rest)) == 449 - n
    assert reading.cursor.line == 900


class Noted:
    """What a reader has kept, and how often it was looked at."""

    def __init__(self) -> None:
        self.uuids: set[str] = set()
        self.looks = 0

    def known(self, uuids: Sequence[str]) -> set[str]:
        self.looks += 1
        return self.uuids & set(uuids)


def test_what_is_known_is_asked_for_many_messages_at_once(transcript: Transcript) -> None:
    for n in range(1_000):
        transcript.user(f"say {n}")
    noted = Noted()
    noted.uuids = {turn.uuid for turn in read(str(transcript.path)) if turn.line % 3 == 0}
    found = [turn.line for turn in read(str(transcript.path), None, Unknown(noted.known))]
    assert found == [n for n in range(1, 1_001) if n % 3]
    assert noted.looks < 10


@given(st.lists(st.integers(0, 8), max_size=30), st.sets(st.integers(0, 30)))
def test_a_repeated_message_is_new_once_whenever_what_was_met_is_noted(
    tmp_path_factory: pytest.TempPathFactory, uuids: list[int], settled: set[int]
) -> None:
    """What is read ahead may be noted before its repetition is handed out."""
    transcript = Transcript(tmp_path_factory.mktemp("repeated") / "t.jsonl")
    for uuid in uuids:
        transcript.user("say", uuid=str(uuid))
    noted = Noted()
    unread = Unknown(noted.known)
    found: list[str] = []
    for place, turns in enumerate(read(str(transcript.path), None, unread).messages()):
        found.append(turns[0].uuid)
        if place in settled:
            noted.uuids |= set(unread.met)
            unread.forget()
    assert found == [str(uuid) for uuid in dict.fromkeys(uuids)]


def test_the_messages_remembered_in_memory_are_bounded() -> None:
    recent = Recent(most=10)
    assert all(recent.is_new(str(n)) for n in range(100))
    assert not recent.is_new("99")
    assert recent.is_new("5")


@pytest.mark.slow
def test_a_hundred_megabytes_and_a_giant_line_fit_in_little_memory(tmp_path: Path) -> None:
    """Reliability R17: bounded memory, and a 64 MB line is passed over."""
    transcript = Transcript(tmp_path / "t.jsonl")
    transcript.calls("Bash", command="cat")
    transcript.result("x" * 3_000, error=False)
    part = transcript.path.read_bytes()
    with transcript.path.open("wb") as file:
        for _ in range(100 * 1024 * 1024 // len(part) // 2):
            file.write(part)
        for _ in range(64):
            file.write(b"y" * 1024 * 1024)
        file.write(b"\n" + part)
    code = (
        "import resource, sys; from ltm.sessions.transcript import read\n"
        "class All:\n    def is_new(self, uuid): return True\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "reading = read(sys.argv[1], seen=All())\n"
        "count = sum(1 for _ in reading)\n"
        "after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "print(count, reading.unreadable, (after - before) // 1024)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(transcript.path)],
        capture_output=True,
        text=True,
        check=True,
    )
    count, unreadable, grown = map(int, done.stdout.split())
    assert count == 2 * (100 * 1024 * 1024 // len(part) // 2) + 2
    assert unreadable == 1
    assert grown < 60


def test_without_a_home_no_folder_below_us_is_taken_for_the_clients(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A repository may bring a `.claude/projects` along, and it is nobody's word."""
    (tmp_path / ".claude" / "projects" / "p").mkdir(parents=True)
    (tmp_path / ".claude" / "projects" / "p" / "s.jsonl").write_text("{}\n")
    monkeypatch.chdir(tmp_path)
    assert all_transcripts({}) == []
    assert len(all_transcripts({"HOME": str(tmp_path)})) == 1
