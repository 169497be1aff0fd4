"""What a person is told when something is off: what happened, to what, and what to type next."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from ltm.cli import demo
from tests.cli.runner import Ltm
from tests.sessions.writing import Transcript


def refused(ltm: Ltm, *words: str, code: int = 2) -> str:
    """Run `ltm`, expect it to refuse without a word on stdout, and give back what it says."""
    done = ltm.run(*words, stdin="")
    assert done.returncode == code, done.stderr
    assert done.stdout == ""
    assert done.stderr.startswith("ltm: ")
    return done.stderr


@pytest.mark.parametrize("words", [("",), ("  ", ""), ("", "--json"), ("", "--kind", "fact")])
def test_a_question_without_words_is_wrong_usage(ltm: Ltm, words: tuple[str, ...]) -> None:
    assert "ltm recall WORDS" in refused(ltm, "recall", *words)


def test_a_state_is_one_that_the_kind_has(ltm: Ltm) -> None:
    assert "open, resolved" in refused(ltm, "remember", "x", "--kind", "issue", "--state", "odd")
    assert "has no state" in refused(ltm, "remember", "x", "--kind", "fact", "--state", "open")
    made = ltm.json("remember", "Login fails", "--kind", "issue", "--state", "Open")
    assert ltm.json("show", made["id"])["state"] == "open"
    assert "open, resolved" in refused(ltm, "edit", made["id"], "--state", "done")
    assert ltm.json("edit", made["id"], "--state", "resolved")["state"] == "resolved"
    assert "has no state" in refused(ltm, "edit", made["id"], "-k", "fact", "--state", "open")
    assert ltm.json("edit", made["id"], "--kind", "fact", "--state", "")["state"] == ""


def test_an_empty_list_says_whether_nothing_is_there_or_nothing_fits(ltm: Ltm) -> None:
    for command in ("list", "graph"):
        assert "ltm remember" in ltm.run(command).stderr
    ltm.ok("remember", "The staging server runs on port 8080")
    for words in (("list", "--tag", "odd"), ("list", "--offset", "9"), ("graph", "-k", "issue")):
        assert ltm.run(*words).stderr.startswith("No memory fits.")


def test_a_project_that_is_a_file_is_not_said_to_be_missing(ltm: Ltm) -> None:
    file = ltm.project / "notes.txt"
    file.write_text("x")
    assert f"{file}: is not a folder" in refused(ltm, "list", "--project", str(file), code=1)
    gone = ltm.project / "gone"
    assert f"{gone}: there is no such folder" in refused(
        ltm, "list", "--project", str(gone), code=1
    )


def test_what_asks_first_says_what_it_would_do_where_no_one_can_answer(ltm: Ltm) -> None:
    made = ltm.json("remember", "The staging server runs on port 8080")
    said = refused(ltm, "forget", made["id"], "--purge")
    assert "Erase 'The staging server runs on port 8080' for good?" in said
    assert "--yes" in said
    assert "Clear all session notes" in refused(ltm, "sessions", "clear")
    done = ltm.run("uninstall", "--purge-memories", stdin="")
    assert (done.returncode, done.stdout) == (2, "")
    assert "--yes" in done.stderr
    assert Path(made["path"]).exists()


def test_an_editor_is_not_opened_where_no_one_could_use_it(ltm: Ltm) -> None:
    made = ltm.json("remember", "The staging server runs on port 8080")
    assert "--content" in refused(ltm, "edit", made["id"])


def test_reading_all_sessions_says_where_it_looked_when_there_are_none(ltm: Ltm) -> None:
    done = ltm.run("capture", "--all")
    assert str(ltm.home / ".claude" / "projects") in done.stderr
    moved = ltm.run("capture", "--all", CLAUDE_CONFIG_DIR=str(ltm.home / "elsewhere"))
    assert str(ltm.home / "elsewhere" / "projects") in moved.stderr
    folder = refused(ltm, "capture", str(ltm.project), code=1)
    assert f"{ltm.project}: is a folder" in folder
    assert "ltm capture --all" in folder


def test_taking_an_option_back_needs_its_name_and_nothing_else(ltm: Ltm) -> None:
    assert "--unset max_memories" in refused(ltm, "config", "--unset")
    refused(ltm, "config", "--unset", "max_memories", "7")


def test_options_are_printed_as_they_are_typed(ltm: Ltm) -> None:
    assert ltm.ok("config", "auto_tag") == "true\n"
    assert ltm.ok("config", "auto_tag", "false") == "false\n"
    assert ltm.json("config", "auto_tag") == {"name": "auto_tag", "value": False}
    tiers = ltm.ok("config", "kinds.preference.tiers").strip()
    assert ltm.ok("config", "kinds.preference.tiers", tiers).strip() == tiers


def test_sharing_names_what_to_commit_and_says_so_where_there_is_no_git(ltm: Ltm) -> None:
    assert "git init" in ltm.run("init").stderr
    subprocess.run(["git", "init", "-q"], cwd=ltm.project, check=True)
    assert "git add .claude/ltm && git commit" in ltm.run("init").stderr
    assert "git add .claude/ltm CLAUDE.md &&" in ltm.run("init", "--claude-md").stderr


def test_achievements_say_that_a_folder_is_not_a_repository(ltm: Ltm) -> None:
    said = refused(ltm, "achievements", code=1)
    assert f"{ltm.project}: is not a git repository" in said
    assert "fatal" not in said


def test_nothing_found_tells_of_memories_that_no_one_said_they_trust(ltm: Ltm) -> None:
    subprocess.run(["git", "init", "-q"], cwd=ltm.project, check=True)
    ltm.ok("init")
    ltm.ok("remember", "The staging server runs on port 8080")
    assert "ltm trust" not in ltm.run("recall", "zebra").stderr
    ltm.ok("trust", "--forget")
    for command in ("recall", "ask"):
        assert "1 memory that came with this repository" in ltm.run(command, "staging").stderr


def test_memories_that_wait_take_two_lines_each_however_they_are_written(ltm: Ltm) -> None:
    folder = ltm.home / "notes"
    folder.mkdir()
    (folder / "a.md").write_text("# Ports\n\nfirst line\n\n- second line\n")
    ltm.ok("import", str(folder), "--from", "markdown", "--quarantine")
    lines = ltm.ok("approve").splitlines()
    assert len(lines) == 2
    assert "first line - second line" in lines[0]


def test_options_before_a_command_below_sessions_are_not_swallowed(ltm: Ltm) -> None:
    said = refused(ltm, "sessions", "--json", "summary")
    assert "options come after 'ltm sessions summary'" in said
    assert ltm.json("sessions", "summary") == {"notes": []}


def test_more_hits_are_promised_only_where_a_larger_limit_shows_them(ltm: Ltm) -> None:
    ltm.ok("capture", str(Path(demo.__file__).with_name("demo.jsonl")))
    question = ("recall", "what did we decide about retries")
    assert "see more with --limit" in ltm.run(*question, "--limit", "2").stderr
    found = ltm.json(*question, "--limit", "40")
    assert len(found["hits"]) < found["total"] < 40
    many = ltm.run(*question, "--limit", "40")
    assert "--limit" not in many.stderr
    assert "ltm timeline --around" in many.stderr


def test_days_in_the_wrong_order_are_said_to_be(ltm: Ltm) -> None:
    words = ("timeline", "--since", "2026-05-01", "--until", "2026-04-01")
    assert "--until is before --since" in refused(ltm, *words)
    ltm.ok("timeline", "--since", "2026-05-01", "--until", "2026-05-01")


def test_the_status_of_a_new_project_says_how_to_begin_with_old_sessions(ltm: Ltm) -> None:
    assert "ltm capture --all" in ltm.ok("status")
    log = Transcript(ltm.home / "s1.jsonl", "s1")
    log.user("remember that the parser needs care", cwd=str(ltm.project))
    ltm.ok("capture", str(log.path))
    assert "sessions  1; 1 searchable word for word" in ltm.ok("status")


def into(ltm: Ltm, words: str, rest: str) -> tuple[int, str]:
    """Run `ltm` in a shell with this behind it; how it ended and what it said on stderr."""
    done = subprocess.run(
        ["bash", "-c", f"'{sys.executable}' -m ltm {words} {rest}; exit ${{PIPESTATUS[0]}}"],
        cwd=ltm.project,
        env={
            "PATH": os.environ["PATH"],
            "HOME": str(ltm.home),
            "LTM_HOME": str(ltm.home / ".ltm"),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stderr


@pytest.mark.parametrize("words", ["config", "export", "recall port", "list --json"])
def test_a_reader_that_has_seen_enough_is_not_an_error(ltm: Ltm, words: str) -> None:
    ltm.ok("remember", "The staging server runs on port 8080. " + "It never sleeps. " * 4000)
    assert into(ltm, words, "| exec 0<&-") == (0, "")


def test_ctrl_c_while_something_is_loaded_shows_no_traceback(ltm: Ltm) -> None:
    hasty = (
        "import builtins, sys\n"
        "from ltm.cli.main import main\n"
        "load = builtins.__import__\n"
        "def interrupted(name, *more):\n"
        "    if name == 'click':\n"
        "        raise KeyboardInterrupt\n"
        "    return load(name, *more)\n"
        "builtins.__import__ = interrupted\n"
        "sys.argv = ['ltm', 'list']\n"
        "main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", hasty],
        cwd=ltm.project,
        env={"HOME": str(ltm.home), "LTM_HOME": str(ltm.home / ".ltm")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "ltm: stopped\n")


def test_an_output_that_was_closed_is_not_an_error(ltm: Ltm) -> None:
    ltm.ok("remember", "The staging server runs on port 8080")
    assert into(ltm, "list", ">&-") == (0, "")
    assert into(ltm, "list", "2>&-") == (0, "")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="only Linux has a device that is full")
def test_an_output_that_takes_nothing_is_named_as_that(ltm: Ltm) -> None:
    ltm.ok("remember", "The staging server runs on port 8080")
    for words in ("list", "list --json", "recall port"):
        code, said = into(ltm, words, "> /dev/full")
        assert (code, len(said.splitlines())) == (1, 1), said
        assert said.startswith("ltm: the answer could not be written: ")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="only Linux has a device that is full")
@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("doctor", 0),
        ("--version", 0),
        ("remember 'Builds run on two cores only'", 0),
        ("recall 'nothing of it'", 0),
        ("show mem_nothing", 1),
        ("config store nope", 2),
        ("nonsense", 2),
    ],
)
def test_messages_that_cannot_be_written_leave_the_exit_code_as_it_is(
    ltm: Ltm, words: str, code: int
) -> None:
    """Python itself leaves with 120, unless PYTHONUNBUFFERED is set, which hides it."""
    assert into(ltm, words, "2> /dev/full")[0] == code


def test_purging_all_memories_leaves_no_word_of_what_was_corrected(ltm: Ltm) -> None:
    log = Transcript(ltm.home / "s1.jsonl", "s1")
    log.user("install it", cwd=str(ltm.project))
    log.says("npm install")
    log.user("no, use pnpm instead of npm")
    ltm.ok("friction", str(log.path), "--out", str(ltm.home / "out"))
    assert (ltm.home / ".ltm" / "friction.db").exists()
    ltm.ok("uninstall", "--purge-memories", "--yes")
    assert not (ltm.home / ".ltm").exists()


# -- at a terminal -------------------------------------------------------------------------------


def at_terminal(ltm: Ltm, columns: int, *words: str) -> list[str]:
    """The lines a person sees in a terminal of so many columns."""
    pytest.importorskip("pty")
    said = ltm.on_a_terminal(*words, COLUMNS=str(columns))
    plain = re.sub(r"\x1b\[[0-9;]*m", "", said.decode())
    return [line.rstrip() for line in plain.splitlines()]


@pytest.mark.parametrize("columns", [30, 60, 80, 200])
def test_ids_and_names_stay_whole_on_a_terminal_of_any_width(ltm: Ltm, columns: int) -> None:
    long = "The staging server of the payments team runs on port 8080 and never sleeps 日本語"
    made = ltm.json("remember", long, "--kind", "preference", "--pin")
    for words in (("list",), ("timeline",)):
        lines = at_terminal(ltm, columns, *words)
        assert any(made["id"][-8:] in line for line in lines)
        assert max(map(len, lines)) <= columns
        assert "never" in " ".join(lines)
    lines = at_terminal(ltm, columns, "config")
    assert any("max_memories" in line for line in lines)
    shown = "".join(lines).replace(" ", "") if columns < 60 else "\n".join(lines)
    assert "friction.thresholds.intervention_predictability" in shown


def test_a_list_is_a_table_where_there_is_room_and_rows_of_lines_where_not(ltm: Ltm) -> None:
    ltm.ok("remember", "The staging server of the payments team runs on port 8080")
    wide, narrow = at_terminal(ltm, 80, "list"), at_terminal(ltm, 50, "list")
    assert wide[0].split() == ["id", "kind", "impact", "phase", "uses", "age", "title"]
    assert wide[1].split()[1:3] == ["fact", "medium"]
    assert narrow[0] == "id · kind · impact · phase · uses · age · title"
    assert narrow[2].startswith("    The staging server of the payments team runs")


def test_a_pipe_gets_whole_ids_and_one_row_a_line(ltm: Ltm) -> None:
    made = ltm.json("remember", "The staging server runs on port 8080")
    (line,) = ltm.ok("list", COLUMNS="20").splitlines()
    assert line.split("\t")[0] == made["id"]
