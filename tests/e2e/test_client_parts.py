"""The harness's parts, where no client is needed to see them work."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from .client import Client, ClientMissing, Request
from .client.binary import SMALLEST_CLIENT, find, labels, required
from .client.context import injections
from .client.deadline import DeadlineError, wait_until
from .client.install import install
from .client.records import hook_runs, mcp_calls, read_jsonl
from .client.screen import Screen
from .client.staging import TAP, stage
from .client.tap import LOG_VARIABLE
from .conftest import client_or_outcome


def put_client(cache: Path, label: str, place: str) -> Path:
    binary = cache / label / "node_modules" / place
    binary.parent.mkdir(parents=True)
    binary.touch(mode=0o755)
    os.truncate(binary, SMALLEST_CLIENT)
    return binary


@pytest.mark.parametrize(
    "place", ["@anthropic-ai/claude-code-linux-x64/claude", ".bin/claude"], ids=["native", "bin"]
)
def test_an_installed_client_is_found_in_the_cache(tmp_path: Path, place: str) -> None:
    binary = put_client(tmp_path, "latest", place)

    assert find("latest", {"LTM_E2E_CACHE": str(tmp_path)}) == Client("latest", binary)


def test_a_failed_download_leaves_the_installed_client_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    npm = tmp_path / "bin" / "npm"
    npm.parent.mkdir()
    npm.write_text('#!/bin/sh\ntouch "$6/half"\necho no network >&2\nexit 1\n')
    npm.chmod(0o755)
    monkeypatch.setenv("PATH", str(npm.parent), prepend=os.pathsep)
    environ = {"LTM_E2E_CACHE": str(tmp_path / "cache")}
    binary = put_client(tmp_path / "cache", "latest", ".bin/claude")

    with pytest.raises(ClientMissing, match="no network"):
        install("latest", environ)

    assert find("latest", environ).binary == binary
    assert [path.name for path in (tmp_path / "cache").iterdir()] == ["latest"]


def test_a_named_binary_is_used_alone() -> None:
    environ = {"LTM_E2E_CLAUDE": sys.executable}

    assert labels(environ) == ("given",)
    assert find("given", environ).binary == Path(sys.executable)
    assert labels({}) == ("2.1.197", "latest")


def test_without_a_client_a_test_is_skipped_and_told_how_to_get_one(tmp_path: Path) -> None:
    environ = {"LTM_E2E_CACHE": str(tmp_path)}

    with pytest.raises(pytest.skip.Exception, match=r"python -m tests\.e2e\.client\.install"):
        client_or_outcome("latest", environ)


@pytest.mark.parametrize(
    "more", [{"CI": "true"}, {"LTM_E2E_REQUIRED": "1"}], ids=["ci", "required"]
)
def test_where_the_client_must_be_its_absence_is_a_failure(
    tmp_path: Path, more: dict[str, str]
) -> None:
    with pytest.raises(pytest.fail.Exception, match="no client latest"):
        client_or_outcome("latest", {"LTM_E2E_CACHE": str(tmp_path), **more})


def test_a_named_binary_that_is_not_there_is_always_a_failure(tmp_path: Path) -> None:
    with pytest.raises(pytest.fail.Exception, match="names no program"):
        client_or_outcome("given", {"LTM_E2E_CLAUDE": str(tmp_path / "nothing")})


def test_a_ci_variable_that_says_no_requires_nothing() -> None:
    assert not required({"CI": "false", "LTM_E2E_REQUIRED": "0"})


def test_the_screen_follows_movements_and_erasures_cut_anywhere() -> None:
    output = "one\r\ntwo\x1b[1;2HNE\x1b[K\x1b[2;1H\x1b[31mTWO\x1b[0m"
    output += "\x1b]0;title\x07\r\nthree\x1b[2D\x1b[J"
    whole, cut = Screen(4, 10), Screen(4, 10)

    whole.feed(output)
    for char in output:
        cut.feed(char)

    assert whole.text() == cut.text() == "oNE\nTWO\nthr"


def test_the_screen_scrolls_and_wraps() -> None:
    screen = Screen(2, 4)

    screen.feed("first\r\nx")

    assert screen.text() == "t\nx"


def test_the_input_box_is_what_lies_between_the_last_rules() -> None:
    rule = "─" * 30
    screen = Screen(8, 30)

    screen.feed(f"❯ said before\r\n{rule}\r\n❯ typed now\r\n{rule}\r\n  esc to interrupt")

    assert screen.prompt() == "typed now"
    assert screen.footer().strip() == "esc to interrupt"


def test_a_screen_without_a_box_has_no_prompt() -> None:
    screen = Screen()
    screen.feed("Do you want to proceed?")

    assert screen.prompt() is None


@pytest.mark.parametrize(
    ("role", "text"),
    [
        ("system", "SessionStart hook additional context: A\n\nB\n\nThe following skills are"),
        (
            "user",
            "<system-reminder>\nSessionStart hook additional context: A\n\nB\n</system-reminder>",
        ),
        ("system", "SessionStart:startup hook success: A\n\nB"),
    ],
    ids=["message", "reminder", "stdout"],
)
def test_what_a_hook_injected_is_cut_out_of_the_clients_message(role: str, text: str) -> None:
    content = [{"type": "text", "text": text}]
    body = {"messages": [{"role": role, "content": content}], "tools": [{"name": "Bash"}]}
    request = Request(1, "POST", "/v1/messages", {}, body, 0)

    assert [i.text for i in injections([request, request], "SessionStart")] == ["A\n\nB"]


def run_tap(log: Path, *args: str, said: str) -> subprocess.CompletedProcess[str]:
    env = {LOG_VARIABLE: str(log), "PATH": os.environ["PATH"]}
    command = [*TAP, *args]
    return subprocess.run(command, input=said, env=env, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    "form",
    [
        ("--", "cat; echo oops >&2; exit 7"),
        ("--exec", "--", "sh", "-c", "cat; echo oops >&2; exit 7"),
    ],
    ids=["shell", "exec"],
)
def test_a_recorded_hook_behaves_as_without_the_recorder(
    tmp_path: Path, form: tuple[str, ...]
) -> None:
    log = tmp_path / "log"
    done = run_tap(log, "hook", "Stop", *form, said='{"a": 1}')

    assert (done.stdout, done.stderr, done.returncode) == ('{"a": 1}', "oops\n", 7)
    (run,) = hook_runs(read_jsonl(log), "Stop")
    assert (run.payload, run.stdout, run.stderr, run.rc) == ({"a": 1}, '{"a": 1}', "oops\n", 7)


def test_a_killed_hook_is_known_by_its_missing_end(tmp_path: Path) -> None:
    log = tmp_path / "log"
    command = [*TAP, "hook", "Stop", "--", "cat; exec sleep 60"]
    env = {LOG_VARIABLE: str(log), "PATH": os.environ["PATH"]}
    with subprocess.Popen(
        command, env=env, stdin=subprocess.DEVNULL, start_new_session=True
    ) as process:
        wait_until(lambda: hook_runs(read_jsonl(log)), "the hook to start")
        os.killpg(process.pid, signal.SIGKILL)

    assert [run.rc for run in hook_runs(read_jsonl(log))] == [None]


def test_calls_of_an_mcp_server_are_paired_with_their_answers(tmp_path: Path) -> None:
    log = tmp_path / "log"
    server = (
        "import json, sys\n"
        "for line in sys.stdin:\n"
        "    asked = json.loads(line)\n"
        "    answer = {'content': [{'type': 'text', 'text': 'pong'}], 'isError': True}\n"
        "    print(json.dumps({'id': asked['id'], 'result': answer}), flush=True)\n"
    )
    asked = {"id": 5, "method": "tools/call", "params": {"name": "ping", "arguments": {"x": 1}}}

    done = run_tap(
        log, "mcp", "srv", "--", sys.executable, "-c", server, said=json.dumps(asked) + "\n"
    )

    assert json.loads(done.stdout)["id"] == 5
    (call,) = mcp_calls(read_jsonl(log), "ping")
    assert (call.server, call.arguments, call.text, call.failed) == ("srv", {"x": 1}, "pong", True)


@pytest.mark.parametrize("inline", [True, False], ids=["in the manifest", "in its own file"])
def test_recorders_are_put_around_hooks_wherever_the_plugin_keeps_them(
    tmp_path: Path, inline: bool
) -> None:
    hooks = {"Stop": [{"hooks": [{"type": "command", "command": "echo $HOME"}]}]}
    files: dict[str, Any] = {
        ".claude-plugin/plugin.json": {"name": "p", "hooks": hooks if inline else "./own.json"},
        "own.json": {"hooks": hooks},
    }
    for name, data in files.items():
        (tmp_path / "p" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "p" / name).write_text(json.dumps(data))

    staged = stage(tmp_path / "p", tmp_path / "stage")

    place = ".claude-plugin/plugin.json" if inline else "own.json"
    table = json.loads((staged.folder / place).read_text())["hooks"]
    command = table["Stop"][0]["hooks"][0]["command"]
    env = {LOG_VARIABLE: str(tmp_path / "log"), "HOME": "/h", "PATH": os.environ["PATH"]}
    said = subprocess.run(
        ["sh", "-c", command], input="{}", env=env, capture_output=True, text=True, check=True
    )
    assert said.stdout == "/h\n"
    assert [run.event for run in hook_runs(read_jsonl(tmp_path / "log"))] == ["Stop"]


def test_waiting_ends_at_its_deadline_and_says_what_for() -> None:
    with pytest.raises(DeadlineError, match="for a miracle\nstill nothing"):
        wait_until(lambda: False, "a miracle", timeout=0, state=lambda: "still nothing")
