"""Stashes as files: names that lead nowhere, nothing overwritten, what waits and what is done."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltm.errors import Refused, WrongUsage
from ltm.notes.stash_files import Stashes, file_name


@pytest.fixture
def stashes(tmp_path: Path) -> Stashes:
    (tmp_path / "project").mkdir()
    return Stashes(str(tmp_path / "project"), str(tmp_path / "private"))


@given(st.text(max_size=200))
def test_no_name_leads_out_of_the_folder(text: str) -> None:
    try:
        name = file_name(text)
    except WrongUsage:
        return
    assert os.path.basename(name) == name
    assert not name.startswith((".", "-"))
    assert len((name + ".md").encode()) <= 255
    assert "\0" not in name
    assert file_name(name) == name


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        ("../../etc/passwd", "etc-passwd"),
        ("login fix", "login-fix"),
        ("login.md", "login"),
        (".hidden", "hidden"),
        ("a/b\\c", "a-b-c"),
        ("CON", "stash-CON"),
        ("naïve-日本", "naïve-日本"),
        ("-rf", "rf"),
    ],
)
def test_a_name_is_made_safe(typed: str, kept: str) -> None:
    assert file_name(typed) == kept


@pytest.mark.parametrize("typed", ["", "..", "/", "---", "\x00"])
def test_a_name_of_nothing_is_refused(typed: str) -> None:
    with pytest.raises(WrongUsage):
        file_name(typed)


def test_a_name_that_is_taken_gets_a_number_and_the_first_file_stays(stashes: Stashes) -> None:
    first = stashes.put("login", "one")
    second = stashes.put("Login", "two")  # one file on disks that do not tell them apart
    third = stashes.put("login", "three")
    assert [first.name, second.name, third.name] == ["login", "Login-2", "login-3"]
    assert Path(first.path).read_text() == "one"


def test_a_link_in_the_place_of_a_stash_is_neither_followed_nor_replaced(
    stashes: Stashes, tmp_path: Path
) -> None:
    victim = tmp_path / "victim"
    victim.write_text("mine")
    os.makedirs(stashes.folder)
    os.symlink(victim, os.path.join(stashes.folder, "login.md"))
    put = stashes.put("login", "one")
    assert put.name == "login-2"
    assert victim.read_text() == "mine"
    assert [each.name for each in stashes.every()] == ["login-2"]
    assert [os.path.basename(path) for path, _ in stashes.problems] == ["login.md"]


@pytest.mark.parametrize("link", [".claude", ".claude/stash"])
def test_a_folder_that_leads_out_of_the_project_is_refused(
    stashes: Stashes, tmp_path: Path, link: str
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    place = tmp_path / "project" / link
    place.parent.mkdir(exist_ok=True)
    place.symlink_to(outside)
    with pytest.raises(Refused):
        stashes.put("login", "one")
    assert list(outside.rglob("*.md")) == []
    assert stashes.every() == []


def test_git_leaves_stashes_out(stashes: Stashes, tmp_path: Path) -> None:
    """traps 2.2 #15: a stash may hold anything somebody said, so it is this machine's own."""
    project = tmp_path / "project"
    subprocess.run(["git", "init", "-q", str(project)], check=True)
    stashes.put("login", "one")
    status = subprocess.run(
        ["git", "-C", str(project), "status", "--porcelain", "-uall"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert status.stdout == ""


def test_a_stash_waits_until_it_is_marked_and_again_when_it_is_edited(stashes: Stashes) -> None:
    """traps 2.2 #13: the manifest holds path and hash."""
    stashes.put("one", "text one")
    stashes.put("two", "text two")
    assert stashes.waiting() == 2
    stashes.mark(stashes.every()[0])
    assert [each.processed for each in stashes.every()] == [True, False]
    Path(stashes.every()[0].path).write_text("text one, edited")
    first = stashes.every()[0]
    assert (first.processed, first.ours) == (False, "edited")


def test_a_file_that_came_with_the_repository_is_not_ours(stashes: Stashes) -> None:
    os.makedirs(stashes.folder)
    Path(stashes.folder, "theirs.md").write_text("# Hello")
    stashes.put("mine", "text")
    assert {each.name: each.ours for each in stashes.every()} == {"mine": "written", "theirs": ""}
    stashes.mark(stashes.every()[1])
    assert {each.name: each.ours for each in stashes.every()} == {"mine": "written", "theirs": ""}


def test_a_manifest_that_is_nonsense_loses_no_stash(stashes: Stashes) -> None:
    stashes.put("one", "text")
    for broken in ("", "[]", '{"a": 1}', "{" * 100_000, json.dumps({stashes.folder: []})):
        Path(stashes.manifest).write_text(broken)
        assert [each.name for each in stashes.every()] == ["one"]
        assert stashes.waiting() == 1
    stashes.put("two", "text")
    assert [each.ours for each in stashes.every()] == ["", "written"]


def test_pipes_and_huge_files_in_the_folder_hurt_nobody(stashes: Stashes) -> None:
    stashes.put("one", "text")
    os.mkfifo(os.path.join(stashes.folder, "pipe.md"))
    with open(os.path.join(stashes.folder, "huge.md"), "wb") as file:
        file.truncate(1 << 30)
    assert [each.name for each in stashes.every()] == ["one"]
    assert len(stashes.problems) == 2


def test_two_processes_that_stash_under_one_name_both_keep_theirs(
    stashes: Stashes, tmp_path: Path
) -> None:
    program = (
        "import sys\nfrom ltm.notes.stash import Stashes\n"
        "for n in range(10): Stashes(sys.argv[1], sys.argv[2]).put('same', f'{sys.argv[3]} {n}')"
    )
    words = [str(tmp_path / "project"), str(tmp_path / "private")]
    running = [subprocess.Popen([sys.executable, "-c", program, *words, who]) for who in ("a", "b")]
    assert [each.wait() for each in running] == [0, 0]
    texts = {each.text for each in stashes.every()}
    assert texts == {f"{who} {n}" for who in "ab" for n in range(10)}
    assert {each.ours for each in stashes.every()} == {"written"}


def test_lines_that_must_not_be_kept_are_dropped_and_what_was_done_stays_done(
    stashes: Stashes,
) -> None:
    stashes.put("done", "keep this\ndrop this\ndrop that\n")
    stashes.put("waits", "keep this\n")
    (done,) = [each for each in stashes.every() if each.name == "done"]
    stashes.mark(done)
    assert stashes.rewrite(lambda line: not line.startswith("drop")) == 2
    after = {each.name: each for each in stashes.every()}
    assert after["done"].text.endswith("keep this\n")
    assert "drop" not in after["done"].text
    assert [each.name for each in stashes.every() if each.processed] == ["done"]
    assert after["done"].ours == done.ours
    assert stashes.rewrite(lambda line: not line.startswith("drop")) == 0


def test_a_stash_that_came_with_the_repository_is_marked_and_rewritten_before_we_kept_anything(
    stashes: Stashes,
) -> None:
    """Purging failed in a project of which nothing private was kept yet: it had no lock."""
    os.makedirs(stashes.folder)
    Path(stashes.folder, "theirs.md").write_text("keep this\ndrop this\n")
    assert stashes.rewrite(lambda line: not line.startswith("drop")) == 1
    (theirs,) = stashes.every()
    assert (theirs.text, theirs.ours, theirs.processed) == ("keep this\n", "", False)


def test_a_stash_can_be_marked_where_nothing_private_was_kept_yet(stashes: Stashes) -> None:
    os.makedirs(stashes.folder)
    Path(stashes.folder, "theirs.md").write_text("# Hello")
    stashes.mark(stashes.every()[0])
    assert stashes.waiting() == 0
    assert "stashes.json" in os.listdir(os.path.dirname(stashes.manifest))


def test_where_nothing_was_stashed_there_is_nothing_and_nothing_is_made(stashes: Stashes) -> None:
    assert stashes.every() == []
    assert stashes.problems == []
    assert not os.path.exists(stashes.folder)
