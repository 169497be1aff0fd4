"""Whoever trusts a repository is told what its team knows, in the first session of a new tree."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ltm import __version__
from ltm.hook import answer
from ltm.spool import hook_log
from tests.cli.runner import Ltm
from tests.hook.runner import PROGRAM, Hooks
from tests.security.strangers import session_start

pytestmark = pytest.mark.skipif(os.name == "nt", reason="hooks start other programs as POSIX does")


PATIENT_HOOK = f"""
import sys
sys.path.insert(0, {str(PROGRAM.parents[2])!r})
from ltm.hook import program
program.DEADLINE = 60.0
program.main()
"""
"""The hook, with so much time that it ends for no other reason, however busy the machine is."""


@pytest.fixture
def clone(ltm: Ltm, tmp_path: Path) -> Path:
    """A repository whose team shares a memory, as somebody new has it: with no index."""
    subprocess.run(["git", "init", "-q", "."], cwd=ltm.project, check=True)
    ltm.ok("init")
    ltm.ok("remember", "We chose PostgreSQL because two workers write at once")
    folder = tmp_path / "clone"
    shutil.copytree(ltm.project, folder, ignore=shutil.ignore_patterns("index.db*"))
    return folder


def told(clone: Path, home: Path) -> str:
    """What the hook says when a session begins, in a home where nothing happened yet."""
    return session_start(Ltm(home, clone), clone)


def trust(clone: Path, home: Path) -> None:
    """The person said so in another work tree, where an index was made: not in this one."""
    Ltm(home, clone).ok("trust")
    for index in (clone / ".claude" / "ltm").glob("index.db*"):
        index.unlink()


def note(home: Path, python: str) -> None:
    (home / ".ltm").mkdir(parents=True, exist_ok=True)
    noted = json.dumps({"python": python, "version": __version__})
    (home / ".ltm" / "runtime.json").write_text(noted)


def test_memories_that_no_index_knows_are_told_where_ltm_is_installed(
    clone: Path, tmp_path: Path
) -> None:
    home = tmp_path / "newcomer"
    note(home, sys.executable)
    trust(clone, home)

    # A machine busy with other things may take longer than a hook waits; the next time it is ready.
    answers = [told(clone, home) for _ in range(3)]

    assert "PostgreSQL" in answers[-1]


def test_without_an_answer_to_whom_to_trust_nothing_of_it_is_told(
    clone: Path, tmp_path: Path
) -> None:
    home = tmp_path / "stranger"
    note(home, sys.executable)

    assert all("PostgreSQL" not in told(clone, home) for _ in range(2))


def test_a_broken_python_is_not_believed(clone: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken-python"
    broken.write_text("#!/bin/sh\necho '{\"text\": 3'\nexit 1\n")
    broken.chmod(0o755)
    home = tmp_path / "unlucky"
    trust(clone, home)
    (home / ".ltm" / "runtime.json").unlink(missing_ok=True)
    note(home, str(broken))

    assert told(clone, home) == ""


def test_a_first_session_that_runs_out_of_time_says_so_and_leaves_a_line_in_the_log(
    clone: Path, tmp_path: Path
) -> None:
    slow = tmp_path / "slow-python"
    slow.write_text("#!/bin/sh\nexec sleep 5\n")
    slow.chmod(0o755)
    home = tmp_path / "patient"
    trust(clone, home)
    (home / ".ltm" / "runtime.json").unlink(missing_ok=True)
    note(home, str(slow))

    hooks = Hooks(tmp_path, env={"HOME": str(home)})
    message = json.dumps(hooks.payload("SessionStart", source="startup", cwd=str(clone))).encode()
    command = [sys.executable, "-I", "-S", "-c", PATIENT_HOOK]
    said = json.loads(hooks.send(message, command=command).out)
    assert list(said) == ["systemMessage"]
    assert "this session starts without its memories" in said["systemMessage"]
    logged = hook_log.last(str(home / ".ltm"))
    # On a machine that is busy the hook's own time may be up before that of the reading.
    causes = (f"the first reading of {clone} took more than", "time was up before it was done")
    (cause,) = (each for each in causes if f"SessionStart: TimeoutError {each}" in logged)

    ltm = Ltm(home, clone)
    ltm.ok("setup")
    assert cause[:20] in ltm.run("doctor").stdout


def test_a_server_keeps_no_dead_process_of_those_it_did_not_wait_for(tmp_path: Path) -> None:
    """Each first look at a tree left one behind, for as long as `ltm serve` ran."""
    (python := tmp_path / "python").write_text("#!/bin/sh\necho '{}'\n")
    python.chmod(0o755)
    note(tmp_path, str(python))
    home = str(tmp_path / ".ltm")
    for _ in range(3):
        answer._first_look(home, str(tmp_path))
    left = set(answer.CHILDREN)
    for child in left:
        os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
    answer._reap()
    for child in left:
        with pytest.raises(ChildProcessError):
            os.waitpid(child, os.WNOHANG)
    assert not answer.CHILDREN
