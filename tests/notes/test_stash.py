"""Stashes: the right session from the command line, and files that nothing overwrites."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltm.errors import Refused, WrongUsage
from ltm.notes.stash import Stashes, file_name
from ltm.project.layout import places
from ltm.state.session_log import SessionLog
from tests.cli.runner import Ltm
from tests.sessions.writing import Transcript


def session(ltm: Ltm, name: str, goal: str, *, ended: bool = False, known: bool = True) -> Path:
    """A session of the project, in the log or not, with a transcript."""
    transcript = Transcript(ltm.home / f"{name}.jsonl", name)
    transcript.user(goal)
    transcript.says("Looked into it, nothing to be done so far.")
    home = ltm.home / ".ltm"
    if known:
        environ = {"HOME": str(ltm.home), "LTM_HOME": str(home)}
        log = SessionLog(str(home / "state.db"))
        at = datetime.now(UTC)
        project = places(str(ltm.project), environ=environ).project.id
        with log.transaction():
            log.begin(name, project, str(ltm.project), str(transcript.path), at)
            if ended:
                log.end(name, "exit", at)
        log.close()
    return transcript.path


def test_the_session_that_goes_on_is_stashed_and_the_others_are_not(ltm: Ltm) -> None:
    session(ltm, "old", "Write the docs for the parser.", ended=True)
    session(ltm, "current", "Fix the login test today.")
    done = ltm.json("stash", "login")
    assert done["session"] == "current"
    text = Path(done["path"]).read_text()
    assert "Fix the login test today." in text
    assert done["path"] == str(ltm.project / ".claude/stash/login.md")


def test_the_clients_own_word_decides_which_session_it_is(ltm: Ltm) -> None:
    session(ltm, "one", "Write the docs for the parser.")
    session(ltm, "two", "Fix the login test today.")
    done = ltm.json("stash", CLAUDE_CODE_SESSION_ID="one")
    assert done["session"] == "one"


def test_without_a_name_it_is_named_after_what_was_asked(ltm: Ltm) -> None:
    session(ltm, "one", "Fix the login test today.")
    assert ltm.json("stash")["name"].endswith("fix-the-login-test-today")


def test_a_session_is_found_by_the_beginning_of_its_id(ltm: Ltm) -> None:
    session(ltm, "abc-1", "Write the docs for the parser.")
    session(ltm, "abd-2", "Fix the login test today.")
    assert ltm.json("stash", "--session", "abc")["session"] == "abc-1"
    assert "sessions begin with ab" in ltm.run("stash", "--session", "ab").stderr
    missing = ltm.run("stash", "--session", "zzz")
    assert (missing.returncode, "ltm sessions" in missing.stderr) == (1, True)


def test_a_session_the_log_has_not_heard_of_yet_is_found_where_the_client_keeps_it(
    ltm: Ltm,
) -> None:
    path = session(ltm, "new-one", "Fix the login test today.", known=False)
    folder = ltm.home / ".claude" / "projects" / "-p"
    folder.mkdir(parents=True)
    path.rename(folder / path.name)
    assert ltm.json("stash", "x", "--session", "new-one")["session"] == "new-one"
    assert ltm.json("stash", "y", CLAUDE_CODE_SESSION_ID="new-one")["session"] == "new-one"


def test_without_a_session_the_error_says_what_to_type(ltm: Ltm) -> None:
    done = ltm.run("stash", "login")
    assert done.returncode == 1
    assert "--transcript FILE" in done.stderr
    assert not (ltm.project / ".claude").exists()


def test_a_transcript_no_one_told_us_of_can_be_named(ltm: Ltm) -> None:
    path = session(ltm, "strange", "Fix the login test today.", known=False)
    assert ltm.json("stash", "x", "--transcript", str(path))["session"] == "strange"
    gone = ltm.run("stash", "x", "--transcript", str(path) + ".gone")
    assert gone.returncode == 1


def test_an_empty_transcript_is_not_a_session(ltm: Ltm) -> None:
    path = ltm.home / "empty.jsonl"
    path.write_text("not json\n")
    done = ltm.run("stash", "x", "--transcript", str(path))
    assert (done.returncode, "nothing in this session" in done.stderr) == (1, True)


def test_a_taken_name_is_never_overwritten_and_it_says_so(ltm: Ltm) -> None:
    session(ltm, "one", "Fix the login test today.")
    ltm.ok("stash", "login")
    before = (ltm.project / ".claude/stash/login.md").read_bytes()
    done = ltm.run("stash", "login")
    assert "The name login is taken, so it is login-2" in done.stderr
    assert (ltm.project / ".claude/stash/login.md").read_bytes() == before
    assert ltm.json("stash", "login")["renamed"] is True


@pytest.mark.parametrize(
    "name", ["../../evil", "/etc/cron.d/x", "..\\..\\evil", "-n", "$(touch x)"]
)
def test_a_hostile_name_stays_in_the_folder(ltm: Ltm, name: str) -> None:
    session(ltm, "one", "Fix the login test today.")
    done = ltm.run("stash", "--", name)
    assert done.returncode == 0, done.stderr
    made = {path.parent for path in ltm.project.rglob("*.md")}
    assert made == {ltm.project / ".claude/stash"}
    assert sorted(os.listdir(ltm.project)) == [".claude"]


def test_the_list_shows_what_waits_and_five_are_worth_a_word(ltm: Ltm) -> None:
    session(ltm, "one", "Fix the login test today.")
    for number in range(4):
        assert "stashes to make memories of" not in ltm.run("stash", f"s{number}").stderr
    last = ltm.run("stash", "s4")
    assert "5 stashes to make memories of: ltm consolidate --all" in last.stderr
    listed = ltm.json("stash", "--list")
    assert (listed["waiting"], len(listed["stashes"])) == (5, 5)
    assert "5 stashes to make" in ltm.run("status").stderr
    assert "5 stashes wait" in ltm.ok("inject")


def test_from_a_folder_below_it_goes_to_the_top_of_the_project(ltm: Ltm) -> None:
    """traps 2.5 #9: not wherever the process happens to run."""
    subprocess.run(["git", "init", "-q", str(ltm.project)], check=True)
    session(ltm, "one", "Fix the login test today.")
    below = ltm.project / "src" / "deep"
    below.mkdir(parents=True)
    done = ltm.json("stash", "x", cwd=below)
    assert done["path"] == str(ltm.project / ".claude/stash/x.md")


def test_it_says_so_when_git_would_take_a_stash_along(ltm: Ltm) -> None:
    subprocess.run(["git", "init", "-q", str(ltm.project)], check=True)
    session(ltm, "one", "Fix the login test today.")
    assert "git does not ignore it" not in ltm.run("stash", "x").stderr
    (ltm.project / ".claude/stash/.gitignore").write_text("!*\n")
    assert "git does not ignore it" in ltm.run("stash", "y").stderr


def test_an_empty_list_says_how_to_begin(ltm: Ltm) -> None:
    done = ltm.run("stash", "--list")
    assert (done.returncode, done.stdout) == (0, "")
    assert "ltm stash" in done.stderr


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


def test_pipes_and_huge_files_in_the_folder_hurt_no_one(stashes: Stashes) -> None:
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
