"""Which transcripts are read, and that copies of a conversation are one."""

from __future__ import annotations

import gzip
import json
import os
import shutil
from pathlib import Path

import pytest

from ltm.errors import NotFound
from ltm.friction.sources import find, group
from tests.friction.samples import Talk, heard, only, signals, talk

A = "aaaaaaaa-2222-4333-8444-555555555555"
B = "bbbbbbbb-2222-4333-8444-555555555555"


def corrected(folder: Path, name: str = A) -> Talk:
    """A session in which the user corrects the agent once."""
    session = talk(folder, name)
    session.user("please add a page for orders")
    session.says("It is there.")
    session.user("no, use pnpm and not npm")
    return session


def fork(session: Talk, name: str) -> Talk:
    """The same conversation again under another id, as a client that forks writes it."""
    copy = session.path.with_name(f"{name}.jsonl")
    lines = [json.loads(line) for line in session.path.read_text().splitlines()]
    copy.write_text("".join(json.dumps({**line, "sessionId": name}) + "\n" for line in lines))
    return Talk(copy, name)


class TestForks:
    def test_a_forked_conversation_counts_once(self, tmp_path: Path) -> None:
        """traps 2.2 #8: union by message uuid."""
        session = corrected(tmp_path)
        other = fork(session, B)
        other.user("no, that's the wrong page", uuid="00000000-aaaa")
        found = heard(tmp_path)
        assert found.summary["sessions_analyzed"] == 1
        assert found.summary["input"]["forks"] == 1
        names = [signal.name for signal in found.sessions[0].heard.signals]
        assert names.count("user_correction") == 2

    @pytest.mark.parametrize("classic", [False, True])
    def test_whichever_copy_is_read_first(self, tmp_path: Path, classic: bool) -> None:
        session = corrected(tmp_path)
        other = fork(session, B)
        counts = []
        for older, newer in ((session, other), (other, session)):
            os.utime(older.path, (1, 1))
            os.utime(newer.path, (2, 2))
            (scored,) = heard(tmp_path, classic=classic).sessions
            counts.append([signal.name for signal in scored.heard.signals])
        assert counts[0] == counts[1]

    def test_what_many_files_share_is_not_a_message(self, tmp_path: Path) -> None:
        """Boilerplate with one uuid must not make one conversation of everything."""
        for number in range(13):
            session = talk(tmp_path, f"{number:08d}-2222-4333-8444-555555555555")
            session.user("hello to all of them", uuid="shared-by-everybody")
        assert heard(tmp_path).summary["sessions_analyzed"] == 13

    def test_short_uuids_name_nothing(self, tmp_path: Path) -> None:
        for name in (A, B):
            session = talk(tmp_path, name)
            session.user("please add a page", uuid="u1")
            session.user("and another page", uuid="u1")
        found = heard(tmp_path)
        assert [each.heard.turns for each in found.sessions] == [2, 2]


class TestFinding:
    def test_a_file_a_folder_and_a_folder_of_projects(self, tmp_path: Path) -> None:
        session = corrected(tmp_path / "-home-dev-shop")
        for path in (session.path, session.path.parent, tmp_path):
            assert find([str(path)]) == [str(session.path)]

    def test_indexes_sub_agents_folders_and_other_files_are_no_transcripts(
        self, tmp_path: Path
    ) -> None:
        session = corrected(tmp_path)
        (tmp_path / "sessions-index.jsonl").write_text("{}\n")
        (tmp_path / "notes.txt").write_text("no")
        corrected(tmp_path / A / "subagents", "agent-1")
        (tmp_path / "folder.jsonl").mkdir()
        assert find([str(tmp_path)]) == [str(session.path)]

    def test_a_path_that_leads_nowhere_is_an_error(self, tmp_path: Path) -> None:
        """traps 2.2 #9: a missing folder never falls through to an old analysis."""
        with pytest.raises(NotFound, match="no such"):
            find([str(tmp_path / "missing")])

    def test_packed_transcripts_are_read(self, tmp_path: Path) -> None:
        session = corrected(tmp_path)
        with gzip.open(f"{session.path}.gz", "wb") as file:
            file.write(session.path.read_bytes())
        session.path.unlink()
        assert signals(tmp_path)["user_correction"] == 1
        assert only(tmp_path).heard.session == A

    def test_a_sub_agents_transcript_is_not_a_session(self, tmp_path: Path) -> None:
        session = talk(tmp_path)
        session.user("no, do it like that", isSidechain=True)
        found = heard(tmp_path)
        assert found.summary["sessions_analyzed"] == 0
        assert found.summary["input"]["without_messages"] == 1


class TestBrokenInput:
    @pytest.mark.parametrize("classic", [False, True])
    def test_bad_lines_are_skipped_and_counted(self, tmp_path: Path, classic: bool) -> None:
        """traps 2.2 #9: one malformed line does not drop the session."""
        session = corrected(tmp_path)
        session.raw(b'{"type":"user","mess\n\xff\xfe\nnull\n[1]\n')
        session.user("no, that's wrong")
        found = heard(tmp_path, classic=classic)
        assert found.summary["input"]["bad_lines"] == 2
        assert found.sessions[0].heard.turns == 3

    def test_a_file_that_cannot_be_read_is_told_and_the_rest_is_read(self, tmp_path: Path) -> None:
        corrected(tmp_path)
        (tmp_path / "broken.jsonl.gz").write_bytes(b"this is no archive")
        os.symlink(tmp_path / "nowhere", tmp_path / "link.jsonl")
        found = heard(tmp_path)
        assert found.summary["sessions_analyzed"] == 1
        assert found.summary["input"]["unreadable_files"] == 2

    def test_a_huge_line_is_passed_over(self, tmp_path: Path) -> None:
        session = corrected(tmp_path)
        session.raw(b'{"type":"user","x":"' + b"x" * (9 * 1024 * 1024) + b'"}\n')
        session.user("no, that's wrong")
        found = heard(tmp_path)
        assert found.summary["input"]["bad_lines"] == 1
        names = [signal.name for signal in found.sessions[0].heard.signals]
        assert names.count("user_correction") == 2

    def test_entries_of_any_shape_are_borne(self, tmp_path: Path) -> None:
        session = corrected(tmp_path)
        for odd in (
            {"type": "user", "message": None},
            {"type": "user", "message": {"content": [None, 3, {"type": "tool_result"}]}},
            {"type": "assistant", "message": {"content": [{"type": "tool_use", "input": [1]}]}},
            {"type": "user", "timestamp": 5, "uuid": 7, "message": {"content": "no, wrong"}},
            {"type": "progress", "data": {"message": {"type": "user", "message": 3}}},
            {"type": "user", "timestamp": "tomorrow", "message": {"content": "stop"}},
        ):
            session.raw(json.dumps(odd).encode() + b"\n")
        for classic in (False, True):
            assert heard(tmp_path, classic=classic).summary["sessions_analyzed"] == 1

    @pytest.mark.parametrize("classic", [False, True])
    def test_entries_with_nothing_but_their_words_are_a_session(
        self, tmp_path: Path, classic: bool
    ) -> None:
        path = tmp_path / "bare.jsonl"
        said = ["add a page", "no, use pnpm", "/stash"]
        texts = [{"type": "user", "message": {"content": text}} for text in said]
        texts.insert(1, {"type": "assistant", "message": {"content": "I ran npm."}})
        path.write_text("".join(json.dumps(text) + "\n" for text in texts))
        found = heard(path, classic=classic)
        assert [each.quality for each in found.sessions] == ["BAD"]
        assert found.sessions[0].heard.turns == 3

    def test_names_of_one_folder_in_two_places_stay_apart(self, tmp_path: Path) -> None:
        """traps 2.2 #9: no short names that collide, the folder from the events, UTC."""
        for name, cwd in ((A, "/one/shop"), (B, "/two/shop")):
            session = talk(tmp_path, name)
            session.add(
                "user",
                message={"role": "user", "content": "hello there"},
                cwd=cwd,
                timestamp="2026-11-15T23:30:00+02:00",
            )
        found = heard(tmp_path)
        assert set(found.summary["by_project"]) == {"/one/shop", "/two/shop"}
        assert found.sessions[0].heard.name == f"/one/shop/1115-2130-{A}"


def test_grouping_reads_files_larger_than_a_chunk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ltm.friction.sources._CHUNK", 512)
    session = corrected(tmp_path)
    shutil.copy(session.path, tmp_path / f"{B}.jsonl")
    assert len(group(find([str(tmp_path)])).conversations) == 1
