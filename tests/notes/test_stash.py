"""`ltm stash`: the right session, from the command line."""

from __future__ import annotations

import os
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

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


def test_a_transcript_nobody_told_us_of_can_be_named(ltm: Ltm) -> None:
    path = session(ltm, "strange", "Fix the login test today.", known=False)
    assert ltm.json("stash", "x", "--transcript", str(path))["session"] == "strange"
    gone = ltm.run("stash", "x", "--transcript", str(path) + ".gone")
    assert gone.returncode == 1


def test_an_empty_transcript_is_no_session(ltm: Ltm) -> None:
    path = ltm.home / "empty.jsonl"
    path.write_text("not json\n")
    done = ltm.run("stash", "x", "--transcript", str(path))
    assert (done.returncode, "nothing in this session" in done.stderr) == (1, True)


def test_a_taken_name_is_never_overwritten_and_it_says_so(ltm: Ltm) -> None:
    session(ltm, "one", "Fix the login test today.")
    ltm.ok("stash", "login")
    before = (ltm.project / ".claude/stash/login.md").read_bytes()
    done = ltm.run("stash", "login")
    assert "login is taken, so this one is login-2" in done.stderr
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
        assert "wait to be remembered" not in ltm.run("stash", f"s{number}").stderr
    last = ltm.run("stash", "s4")
    assert "5 stashes wait to be remembered: ltm consolidate --all" in last.stderr
    listed = ltm.json("stash", "--list")
    assert (listed["waiting"], len(listed["stashes"])) == (5, 5)
    assert "5 stashes wait" in ltm.run("status").stderr
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
    assert "git does not leave it out" not in ltm.run("stash", "x").stderr
    (ltm.project / ".claude/stash/.gitignore").write_text("!*\n")
    assert "git does not leave it out" in ltm.run("stash", "y").stderr


def test_an_empty_list_says_how_to_begin(ltm: Ltm) -> None:
    done = ltm.run("stash", "--list")
    assert (done.returncode, done.stdout) == (0, "")
    assert "ltm stash" in done.stderr
