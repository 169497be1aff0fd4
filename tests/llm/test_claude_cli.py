"""`claude -p`, with a stand-in for the client: how it is called, and how it is ended."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from ltm.clients.wire import GUARD as HOOKS_GUARD
from ltm.errors import BadAnswer, ModelBusy, ModelFailed
from ltm.llm.backend import GUARD, Answer
from ltm.llm.claude_cli import Claude
from tests.llm.scripted import StandIn

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the stand-in is a script")


class Desk:
    """A user with a program `claude`."""

    def __init__(self, top: Path) -> None:
        self.home = top / "home"
        self.home.mkdir()
        self.claude = StandIn(top / "bin")
        self.environ = {"PATH": str(self.claude.folder), "HOME": str(top)}

    def ask(self, prompt: str = "a prompt", timeout: float = 30.0, model: str = "") -> Answer:
        backend = Claude(str(self.home), self.environ, model)
        return backend.ask("be brief", prompt, most=900, timeout=timeout)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_the_answer_is_what_the_client_printed_with_all_tokens_counted(desk: Desk) -> None:
    desk.claude.say("It is.")
    assert desk.ask() == Answer("It is.", 300)


def test_the_client_runs_bare_and_what_it_is_asked_stands_on_no_command_line(desk: Desk) -> None:
    desk.ask("a prompt with <private words>")
    (call,) = desk.claude.calls
    assert call["stdin"] == "a prompt with <private words>"
    assert not any("private words" in word for word in call["argv"])
    assert set(call["argv"]) >= {
        "--print",
        "--no-session-persistence",
        "--safe-mode",
        "--strict-mcp-config",
        "--tools=",
        "--model=haiku",
    }
    assert call["cwd"] == str(desk.home)


def test_the_client_is_told_that_it_is_ours_and_how_much_it_may_say(desk: Desk) -> None:
    """Peers: 579 child sessions, because a tool's own calls woke up its hooks."""
    desk.environ |= {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": "s", "MINE": "kept"}
    desk.ask()
    (call,) = desk.claude.calls
    assert call["env"][GUARD] == "1"
    assert call["env"]["CLAUDE_CODE_MAX_OUTPUT_TOKENS"] == "900"
    assert call["env"]["CLAUDE_CODE_MAX_RETRIES"] == "0"
    assert call["env"]["CLAUDE_CODE_SESSION_KIND"] == "daemon-worker"
    assert call["env"]["MINE"] == "kept"
    assert not {"CLAUDECODE", "CLAUDE_CODE_SESSION_ID"} & call["env"].keys()
    assert GUARD == HOOKS_GUARD


def test_another_model_is_the_users_to_name(desk: Desk) -> None:
    desk.ask(model="sonnet")
    assert "--model=sonnet" in desk.claude.calls[0]["argv"]


def test_a_user_who_is_not_logged_in_is_told_so(desk: Desk) -> None:
    """Reliability A2: an error text taken for an answer, 430 times of 438."""
    desk.claude.say({"failed": True, "text": "Not logged in · Please run /login"})
    with pytest.raises(ModelFailed, match="Not logged in") as caught:
        desk.ask()
    assert not isinstance(caught.value, ModelBusy)


@pytest.mark.parametrize("status", [429, 500, 529])
def test_a_client_that_met_a_busy_server_may_do_better_later(desk: Desk, status: int) -> None:
    desk.claude.say({"failed": True, "status": status, "text": "API Error"})
    with pytest.raises(ModelBusy):
        desk.ask()


def test_without_the_client_it_is_said_what_to_do(desk: Desk) -> None:
    desk.environ["PATH"] = str(desk.home)
    with pytest.raises(ModelFailed, match="no program 'claude'") as caught:
        desk.ask()
    assert "llm.backend api" in caught.value.hint


def test_a_client_installed_in_the_usual_place_is_found_without_a_path(
    desk: Desk, tmp_path: Path
) -> None:
    desk.environ["PATH"] = str(desk.home)
    usual = StandIn(tmp_path / ".local" / "bin")
    usual.say("found")
    assert desk.ask().text == "found"


def test_a_client_too_old_for_our_flags_says_which(desk: Desk) -> None:
    desk.claude.say({"python": "sys.exit(\"error: unknown option '--safe-mode'\")"})
    with pytest.raises(ModelFailed, match=r"ended with 1: error: unknown option '--safe-mode'"):
        desk.ask()


@pytest.mark.parametrize("raw", ["", "plain words", "[]", '{"result": "x"}', '{"result": 5'])
def test_what_is_not_a_result_is_a_bad_answer(desk: Desk, raw: str) -> None:
    desk.claude.say({"raw": raw})
    with pytest.raises(BadAnswer):
        desk.ask()


def test_ten_megabytes_are_not_read_and_their_writer_is_ended(desk: Desk) -> None:
    """Reliability R18."""
    desk.claude.say({"python": "while True: sys.stdout.write('x' * 1_000_000)"})
    with pytest.raises(BadAnswer, match="printed more than"):
        desk.ask()


@pytest.mark.parametrize("manner", ["", "signal.signal(signal.SIGTERM, signal.SIG_IGN)"])
def test_a_client_that_hangs_is_ended_with_all_it_started(desk: Desk, manner: str) -> None:
    """Reliability R18. It is asked to end first, and made to if it does not."""
    program = (
        "import signal, subprocess, time\n"
        f"{manner}\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        "with open(os.path.join(here, 'pids'), 'w') as file:\n"
        "    file.write(f'{os.getpid()} {child.pid}')\n"
        "time.sleep(600)\n"
    )
    pids = desk.claude.folder / "pids"
    for seconds in (1, 5, 30):  # a busy machine may need longer until both of them run
        desk.claude.say({"python": program})
        with pytest.raises(ModelFailed, match=f"no answer within {seconds} seconds") as caught:
            desk.ask(timeout=seconds)
        assert caught.value.cost is None
        if pids.exists() and pids.read_text():
            break
    for pid in map(int, pids.read_text().split()):
        assert _is_gone(pid)


def _is_gone(pid: int) -> bool:
    """Whether a process that was killed is gone, at the latest after a moment."""
    deadline = time.monotonic() + 20
    while _is_running(pid):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def _is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def test_a_client_that_ends_without_listening_hangs_no_one(desk: Desk) -> None:
    silent = desk.claude.folder / "claude"
    silent.write_text("#!/bin/sh\nexit 3\n")
    with pytest.raises(ModelFailed, match="ended with 3"):
        desk.ask("x" * 5_000_000)
