"""The twins of the hooks: what the server answers and keeps is what the hook prints and keeps."""

from __future__ import annotations

import json
import os
import re
import resource
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from shutil import rmtree

import pytest

from ltm.http.app import LATE, LATE_AT_END, is_late
from ltm.spool import events
from tests.hook.runner import Hooks
from tests.hook.test_hook import EVENTS, SECRET
from tests.http.runner import Server, files_with, nobody_drains
from tests.http.test_sh import SCRIPT

ROUTES = {
    "SessionStart": "session_start",
    "UserPromptSubmit": "user_prompt_submit",
    "PreCompact": "pre_compact",
    "Stop": "stop",
    "SubagentStart": "subagent_start",
    "SubagentStop": "subagent_stop",
    "PostToolUse": "post_tool_use",
    "PostToolUseFailure": "post_tool_use_failure",
    "SessionEnd": "session_end",
}
KEY = "ltm-event"


@pytest.fixture
def hooks(tmp_path: Path) -> Hooks:
    return Hooks(tmp_path)


@pytest.fixture
def server(hooks: Hooks) -> Iterator[Server]:
    with nobody_drains(hooks), Server(hooks) as running:
        yield running


def key_of(moment: float) -> str:
    return f"{int(moment * 1e9):020d}-0000042-00000000"


def test_the_table_of_this_test_is_complete() -> None:
    assert set(ROUTES) == set(EVENTS)


def test_the_server_says_and_keeps_exactly_what_the_hook_does(hooks: Hooks) -> None:
    hooks.remember("Use port 8082", "Never deploy on Fridays")
    (hooks.home / "config.toml").write_text(
        "[inject]\nsubagents = true\n[recall]\nper_prompt = true\n"
    )
    with nobody_drains(hooks), Server(hooks) as server:
        said = 0
        for event, route in ROUTES.items():
            payload = hooks.payload(
                event,
                source="startup",
                reason="other",
                trigger="auto",
                prompt="which port is it?",
                agent_id="a1",
                agent_type="Explore",
                tool_name="Bash",
                tool_response={"success": False},
            )
            rmtree(hooks.home / "told", ignore_errors=True)  # each says it as the first
            ran = hooks.send(json.dumps(payload).encode())
            rmtree(hooks.home / "told", ignore_errors=True)
            answer = server.tell(route, payload)
            assert answer.body == ran.out.encode()
            assert answer.status == (200 if ran.out else 204)
            said += answer.status == 200
            by_hook, by_server = hooks.waiting()[-2:]
            assert by_hook == by_server
            assert by_hook["event"] == event
        assert said == 3  # the start of a session, of a sub-agent, and a prompt


def test_an_event_is_kept_before_it_is_answered(hooks: Hooks, server: Server) -> None:
    for number in range(20):
        hooks.session = f"session-{number}"
        assert server.tell("stop", hooks.payload("Stop")).status == 204
        assert hooks.waiting()[-1]["session"] == hooks.session


def test_the_route_says_which_event_it_is(hooks: Hooks, server: Server) -> None:
    payload = hooks.payload("Stop")
    del payload["hook_event_name"]
    server.tell("session_end", payload)
    server.tell("pre_compact", hooks.payload("Stop"))
    assert [each["event"] for each in hooks.waiting()] == ["SessionEnd", "PreCompact"]


def test_what_is_not_an_event_is_neither_kept_nor_an_error(hooks: Hooks, server: Server) -> None:
    odd = (b"", b"null", b"[]", b"{", b'"text"', b"\xff\xfe", b"{}", b'{"session_id": 7}')
    for body in odd:
        answer = server.tell("stop", body)
        assert (answer.status, answer.body) == (204, b""), body
    assert hooks.waiting() == []


def test_no_prompt_input_or_output_reaches_the_disk(hooks: Hooks, server: Server) -> None:
    for event, route in ROUTES.items():
        secrets = {"prompt": SECRET, "tool_input": {"command": SECRET}, "tool_response": SECRET}
        assert server.tell(route, hooks.payload(event, agent_type="x", **secrets)).status == 204
    assert len(hooks.waiting()) == len(ROUTES)
    assert files_with(hooks.top, SECRET.encode()) == []


def test_a_path_of_any_bytes_is_kept_as_it_is(hooks: Hooks, server: Server) -> None:
    folder = os.fsencode(hooks.project) + b"/\xff"
    os.mkdir(folder)
    server.tell("stop", b'{"session_id":"s1","cwd":"' + folder + b'"}')
    assert os.fsencode(str(hooks.waiting()[0]["cwd"])) == folder


def test_a_session_in_a_folder_that_is_not_here_belongs_to_the_project_named(hooks: Hooks) -> None:
    """In a container the project lies elsewhere than where the client sees it."""
    mounted = hooks.top / "mounted"
    mounted.mkdir()
    with nobody_drains(hooks), Server(hooks, "--project", str(mounted)) as server:
        server.tell("stop", {"session_id": "s1", "cwd": "/somebody/elses/project"})
        server.tell("stop", {"session_id": "s2"})
        server.tell("stop", {"session_id": "s3", "cwd": str(hooks.project)})
    folders = [each["cwd"] for each in hooks.waiting()]
    assert folders == [str(mounted), str(mounted), str(hooks.project)]


def test_an_event_that_finds_no_room_is_given_back(hooks: Hooks) -> None:
    hooks.home.mkdir(mode=0o700)
    (hooks.home / "spool").write_text("in the way")
    with Server(hooks) as server:
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (0, 0))  # on no disk
        answer = server.tell("stop", hooks.payload("Stop"))
        assert (answer.status, answer.body) == (503, b"")


def test_events_that_come_together_are_each_kept_once(hooks: Hooks, server: Server) -> None:
    key = key_of(time.time() + 60)
    with ThreadPoolExecutor(40) as wires:
        many = [wires.submit(server.tell, "stop", {"session_id": f"s{n}"}) for n in range(200)]
        same = [
            wires.submit(server.tell, "stop", {"session_id": "same"}, (KEY, key)) for _ in range(20)
        ]
        late = wires.submit(
            server.tell, "stop", {"session_id": "late"}, (KEY, key_of(time.time() - 5))
        )
        odd = [wires.submit(server.tell, "stop", b"{") for _ in range(20)]
    assert {each.result().status for each in (*many, *same, *odd)} == {204}
    assert late.result().status == 408
    kept = [str(each["session"]) for each in hooks.waiting()]
    assert sorted(kept) == sorted([*(f"s{n}" for n in range(200)), "same"])


def test_events_that_come_together_find_the_second_place(hooks: Hooks) -> None:
    hooks.home.mkdir(mode=0o700)
    (hooks.home / "spool").write_text("in the way")
    with nobody_drains(hooks), Server(hooks) as server, ThreadPoolExecutor(20) as wires:
        told = [wires.submit(server.tell, "stop", {"session_id": f"s{n}"}) for n in range(60)]
        assert {each.result().status for each in told} == {204}
    kept = sorted(str(each["session"]) for each in hooks.waiting())
    assert kept == sorted(f"s{n}" for n in range(60))


# -- keys ----------------------------------------------------------------------------------------


def test_an_event_is_kept_under_the_key_its_hook_gave_it(hooks: Hooks, server: Server) -> None:
    key = key_of(time.time() + 60)  # not late, however slow this machine is
    for _ in range(2):
        assert server.tell("stop", hooks.payload("Stop"), (KEY, key)).status == 204
    assert [each for each, _ in events.waiting(str(hooks.home), hooks.environ)] == [key]


def test_an_event_whose_hook_has_given_up_is_left_to_it(hooks: Hooks, server: Server) -> None:
    answer = server.tell("stop", hooks.payload("Stop"), (KEY, key_of(time.time() - 5)))
    assert (answer.status, answer.body) == (408, b"")
    assert hooks.waiting() == []


def test_a_key_that_is_none_is_refused(hooks: Hooks, server: Server) -> None:
    for key in ("x", "../../../etc/passwd", "1-2-3", key_of(time.time()) + "/../x"):
        answer = server.tell("stop", hooks.payload("Stop"), (KEY, key))
        assert (answer.status, answer.body) == (400, b""), key
    assert hooks.waiting() == []


def test_lateness_allows_for_clocks_that_know_whole_seconds_only() -> None:
    exact, whole = "00000000100500000000-0000001-00000000", "00000000100000000000-0000001-00000000"
    assert not is_late("Stop", exact, 100.4 + LATE)
    assert is_late("Stop", exact, 100.6 + LATE)
    assert not is_late("Stop", whole, 100.8 + LATE)
    assert is_late("Stop", whole, 101.1 + LATE)
    assert not is_late("SessionEnd", exact, 100.4 + LATE_AT_END)
    assert is_late("SessionEnd", exact, 100.6 + LATE_AT_END)


def test_the_server_knows_how_long_a_hook_waits() -> None:
    text = Path(SCRIPT).read_text()
    found = re.findall(r"patience=(\S+) limit=(\S+)", text)
    waits = [round(float(proof) + float(answer), 3) for proof, answer in found]
    assert waits[:2] == [LATE, LATE_AT_END]
    assert max(waits) == LATE
