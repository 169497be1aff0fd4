"""The hook in sh as a client runs it: an answer or nothing, exit 0, and no event lost.

Each state of the world is a real one: a server, none, one that is stopped, a listener that never
answers, one that lies. How long the hook takes in each is measured by benchmarks/http_hooks.py.
Reliability finding 5 and S13; traps 2.1 #12 (without a server, hooks did nothing).
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ltm.clients.wire import understand
from ltm.http import address
from ltm.spool import events
from ltm.worker.drain import drain
from tests.hook.runner import Hooks, Ran
from tests.hook.test_hook import EVENTS, SECRET
from tests.hook.test_worlds import mounted, run_mount
from tests.http.runner import PATIENCE, Server, files_with, listener, nobody_drains, until

SCRIPT = str(files("ltm.http").joinpath("ltm-hook.sh"))
ROOT = Path(__file__).parents[2]
SHELLS = {
    "dash": ["dash"],
    "bash": ["bash", "--posix"],
    "busybox": ["busybox", "sh"],
    "sh": ["sh"],
}
TOOLS = ("sh", "cat", "sleep", "date", "head", "awk", "dd", "mv", "rm", "mkdir", "find", "id")

pytestmark = pytest.mark.skipif(os.name == "nt", reason="there is no sh")


class ShHooks(Hooks):
    """A session whose hooks are the script."""

    shell = SHELLS["sh"]
    event = ""

    def command(self) -> list[str]:
        return [*self.shell, SCRIPT, self.event]

    def fire(self, event: str, **fields: Any) -> Ran:
        self.event = event
        return super().fire(event, **fields)

    def drained(self) -> int:
        """How many events a drain finds, now that the world is right."""
        return drain(str(self.home), environ=self.environ, settle=0.0).events


@pytest.fixture
def hooks(tmp_path: Path) -> ShHooks:
    return ShHooks(tmp_path)


@pytest.fixture
def server(hooks: ShHooks) -> Iterator[Server]:
    hooks.remember("Use port 8082")
    with nobody_drains(hooks), Server(hooks) as started:
        yield started


def note(hooks: Hooks, **fields: object) -> None:
    """A server's note, right but for these fields."""
    server = address.here("127.0.0.1", 9)
    hooks.home.mkdir(mode=0o700, exist_ok=True)
    address.note(str(hooks.home), server)
    path = hooks.home / address.FILE
    noted = {**json.loads(path.read_text()), **fields}
    path.write_text(json.dumps(noted, separators=(",", ":")) + "\n")


def only_these(hooks: Hooks, *tools: str) -> str:
    """A folder with nothing but some tools, to be a PATH."""
    folder = hooks.top / "bin"
    folder.mkdir()
    for tool in tools:
        found = shutil.which(tool)
        assert found, tool
        (folder / tool).symlink_to(found)
    return str(folder)


# -- the script itself ---------------------------------------------------------------------------


@pytest.mark.skipif(not shutil.which("shellcheck"), reason="needs shellcheck")
def test_shellcheck_finds_nothing() -> None:
    done = subprocess.run(
        ["shellcheck", "-s", "sh", SCRIPT], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.parametrize("shell", SHELLS)
def test_every_shell_can_do_it(hooks: ShHooks, shell: str) -> None:
    if not shutil.which(SHELLS[shell][0]):
        pytest.skip(f"needs {shell}")
    hooks.shell = SHELLS[shell]
    hooks.remember("Use port 8082")
    with nobody_drains(hooks), Server(hooks) as server:
        assert "Use port 8082" in hooks.fire("SessionStart", source="startup").told
        assert hooks.fire("Stop").out == ""
        server.end()
        assert hooks.fire("SessionEnd", reason="other").out == ""
        kept = [(each["event"], each["cwd"]) for each in hooks.waiting()]
    assert kept == [(event, str(hooks.project)) for event in ("SessionStart", "Stop", "SessionEnd")]


@pytest.mark.slow
def test_it_is_in_the_wheel_and_can_be_run(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        entry = archive.getinfo("ltm/http/ltm-hook.sh")
        assert archive.read(entry) == Path(SCRIPT).read_bytes()
    assert (entry.external_attr >> 16) & 0o111 == 0o111


# -- with a server -------------------------------------------------------------------------------


def test_it_prints_what_the_server_answers(hooks: ShHooks, server: Server) -> None:
    direct = server.tell("session_start", hooks.payload("SessionStart", source="startup"))
    ran = hooks.fire("SessionStart", source="startup")
    assert ran.out.encode() == direct.body
    assert "Use port 8082" in ran.told
    assert len(hooks.waiting()) == 2


@pytest.mark.parametrize("running_server", [True, False])
def test_every_event_is_kept_as_the_hook_in_python_keeps_it(
    hooks: ShHooks, running_server: bool
) -> None:
    python = Hooks(hooks.top / "python")
    with nobody_drains(hooks):
        server = Server(hooks) if running_server else None
        for event in EVENTS:
            payload = hooks.payload(
                event,
                source="clear",
                reason="other",
                trigger="auto",
                agent_id="a1",
                agent_type="Explore",
                agent_transcript_path="/x/agent.jsonl",
                tool_name="Bash",
                tool_input={"cwd": "/not/this", "session_id": "nor-this"},
            )
            hooks.event = event
            assert hooks.send(json.dumps(payload).encode()) == Ran(0, "", "")
            python.send(json.dumps(payload).encode())
        if server:
            server.end()
    expected = python.waiting()
    assert len(expected) == len(EVENTS)
    for ours, theirs in zip(hooks.waiting(), expected, strict=True):
        # Without a server it passes on all of its few fields, whatever the event.
        assert {**theirs, **ours} == {**ours, **theirs} == ours
        if running_server:
            assert ours == theirs


def test_the_event_names_of_routes_are_understood_too(hooks: ShHooks) -> None:
    hooks.event = "session_end"
    hooks.send(b'{"session_id":"s1"}')
    assert [each["event"] for each in hooks.waiting()] == ["SessionEnd"]


@pytest.mark.parametrize("event", ["", "Nonsense", "PreToolUse", "../stop", "$(touch x)"])
def test_an_event_that_ltm_does_not_know_is_not_an_error(hooks: ShHooks, event: str) -> None:
    hooks.event = event
    assert hooks.send(b'{"session_id":"s1"}') == Ran(0, "", "")
    assert hooks.waiting() == []
    assert not (hooks.project / "x").exists()


def test_a_client_that_we_started_ourselves_is_not_heard(hooks: ShHooks) -> None:
    hooks.env["LTM_INSIDE"] = "1"
    assert hooks.fire("Stop").out == ""
    del hooks.env["LTM_INSIDE"]
    assert hooks.waiting() == []


def test_the_note_may_lie_elsewhere(hooks: ShHooks, server: Server) -> None:
    """A container's home need not be the client's."""
    moved = hooks.top / "volume" / "server.json"
    moved.parent.mkdir()
    (hooks.home / address.FILE).rename(moved)
    hooks.env["LTM_SERVER_JSON"] = str(moved)
    assert "Use port 8082" in hooks.fire("SessionStart", source="startup").told


def test_no_setting_of_the_user_leads_the_request_elsewhere(hooks: ShHooks, server: Server) -> None:
    with listener(None) as port:
        elsewhere = f"http://127.0.0.1:{port}"
        stolen = hooks.top / "stolen"
        (hooks.user_home / ".curlrc").write_text(f'proxy = "{elsewhere}"\noutput = "{stolen}"\n')
        hooks.env |= dict.fromkeys(("http_proxy", "all_proxy", "ALL_PROXY"), elsewhere)
        assert "Use port 8082" in hooks.fire("SessionStart", source="startup").told


def test_neither_token_nor_message_stands_where_other_users_can_see_it(
    hooks: ShHooks, server: Server
) -> None:
    """What a program is called with, and its environment, are in the list of processes."""
    folder = Path(only_these(hooks, *TOOLS))
    seen = hooks.top / "seen"
    for tool in (*TOOLS[1:], "curl"):
        real = shutil.which(tool)
        (folder / tool).unlink(missing_ok=True)
        (folder / tool).write_text(
            f'#!/bin/sh\n{{ echo "$0 $*"; /usr/bin/env; }} >>{seen}\nexec {real} "$@"\n'
        )
        (folder / tool).chmod(0o755)
    hooks.env["PATH"] = str(folder)
    assert "Use port 8082" in hooks.fire("SessionStart", source="startup", model=SECRET).told
    (hooks.home / address.FILE).unlink()
    hooks.fire("Stop", last_assistant_message=SECRET)
    text = seen.read_text()
    assert "/curl -q" in text
    assert "/awk " in text
    assert server.noted["token"] not in text
    assert SECRET not in text


# -- without one ---------------------------------------------------------------------------------


def test_without_a_server_the_event_waits(hooks: ShHooks) -> None:
    """Traps 2.1 #12."""
    assert hooks.fire("Stop").out == ""
    assert hooks.drained() == 1


def test_a_server_that_is_gone_is_not_asked(hooks: ShHooks, server: Server) -> None:
    server.process.kill()
    server.process.wait(PATIENCE)
    assert hooks.fire("SessionStart", source="startup").out == ""
    assert len(hooks.waiting()) == 1


def test_a_stopped_server_costs_no_event_and_makes_none_two(hooks: ShHooks, server: Server) -> None:
    """Reliability finding 5. When it goes on, it finds a request whose hook has given up."""
    server.process.send_signal(signal.SIGSTOP)
    assert hooks.fire("Stop").out == ""
    (kept,) = hooks.waiting()
    assert kept["event"] == "Stop"
    (_, path), *_ = events.waiting(str(hooks.home), hooks.environ)
    events.remove([path])  # as if it had been drained meanwhile
    server.process.send_signal(signal.SIGCONT)
    # Requests are taken in the order they came: after this one, the old one was dealt with.
    assert server.tell("session_end", hooks.payload("SessionEnd")).status == 204
    until(lambda: hooks.waiting())
    assert [each["event"] for each in hooks.waiting()] == ["SessionEnd"]


def test_a_program_that_never_answers_is_left_alone(hooks: ShHooks) -> None:
    with listener(None) as port:
        note(hooks, port=port)
        assert hooks.fire("SessionStart", source="startup").out == ""
    assert hooks.drained() == 1


HOOK_ANSWER = b'{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"lie"}}\n'
GARBAGE = {
    "nothing": b"",
    "no HTTP": b"220 mail.example.com ESMTP\r\n",
    "not ours": b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}",
    "an answer without proof": b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b"
    % (len(HOOK_ANSWER), HOOK_ANSWER),
    "a wrong proof": b"HTTP/1.1 200 OK\r\nltm-proof: x\r\nContent-Length: %d\r\n\r\n%b"
    % (len(HOOK_ANSWER), HOOK_ANSWER),
    "an answer cut off": b"HTTP/1.1 200 OK\r\nltm-proof: PROOF\r\nContent-Length: 500\r\n\r\n{",
    "proof in the body": b"HTTP/1.1 200 OK\r\n\r\n\r\nltm-proof: PROOF\r\n\r\n" + HOOK_ANSWER,
    "an error": b"HTTP/1.1 500 Oh\r\nltm-proof: PROOF\r\nContent-Length: 2\r\n\r\n{}",
    "another place": b"HTTP/1.1 307 Go\r\nltm-proof: PROOF\r\nLocation: http://127.0.0.1:9/\r\n"
    b"Content-Length: 0\r\n\r\n",
    "without end": b"HTTP/1.1 200 OK\r\nltm-proof: PROOF\r\n\r\n" + b"." * 3_000_000,
    "control characters": b"HTTP/1.1 200 OK\r\n\r\n\x1b]0;title\x07\0\0",
}


@pytest.mark.parametrize("name", GARBAGE)
def test_an_answer_that_is_none_is_not_passed_on(hooks: ShHooks, name: str) -> None:
    with listener(GARBAGE[name].replace(b"PROOF", b"the-proof")) as port:
        note(hooks, port=port, proof="the-proof")
        assert hooks.fire("SessionStart", source="startup").out == ""
    assert hooks.drained() == 1


def test_the_true_proof_is_what_makes_an_answer_one(hooks: ShHooks) -> None:
    """The check of the test before: but for the proof, the lies would be believed."""
    said = GARBAGE["a wrong proof"].replace(b"ltm-proof: x", b"ltm-proof: the-proof")
    with listener(said) as port:
        note(hooks, port=port, proof="the-proof")
        assert hooks.fire("SessionStart", source="startup").out.encode() == HOOK_ANSWER
    assert hooks.waiting() == []


def test_a_wrong_token_costs_no_event(hooks: ShHooks, server: Server) -> None:
    note(hooks, port=server.port, proof=server.noted["proof"])
    assert hooks.fire("SessionStart", source="startup").out == ""
    assert len(hooks.waiting()) == 1


@pytest.mark.parametrize(
    "text",
    ["", "{}", "\n", '{"host":"127.0.0.1"}\n', '{"host":"$(touch x)","port":"`touch x`"}\n', "\0"],
)
def test_a_note_that_is_none_costs_no_event(hooks: ShHooks, text: str) -> None:
    hooks.home.mkdir(mode=0o700)
    (hooks.home / address.FILE).write_text(text)
    assert hooks.fire("Stop").out == ""
    assert not (hooks.project / "x").exists()
    assert hooks.drained() == 1


def test_a_note_that_is_a_pipe_does_not_hold_it_up(hooks: ShHooks) -> None:
    hooks.home.mkdir(mode=0o700)
    os.mkfifo(hooks.home / address.FILE)
    assert hooks.fire("Stop").out == ""
    assert len(hooks.waiting()) == 1


def test_without_curl_the_event_waits(hooks: ShHooks, server: Server) -> None:
    hooks.env["PATH"] = only_these(hooks, *TOOLS)
    assert hooks.fire("SessionStart", source="startup").out == ""
    assert len(hooks.waiting()) == 1


def test_without_any_tool_at_all_it_still_ends_well(hooks: ShHooks) -> None:
    shell = shutil.which("sh")
    assert shell
    hooks.shell = [shell]
    hooks.env["PATH"] = "/nonexistent"
    assert hooks.fire("Stop").out == ""


def test_a_server_that_has_no_room_leaves_the_event_to_the_hook(hooks: ShHooks) -> None:
    hooks.home.mkdir(mode=0o700)
    (hooks.home / "spool").write_text("in the way")
    with Server(hooks) as server:
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (0, 0))  # on no disk
        hooks.fire("Stop")
        (kept,) = hooks.waiting()
    assert kept["home"] == str(hooks.home)


# -- homes ---------------------------------------------------------------------------------------


def test_a_home_that_cannot_be_written_costs_no_event(hooks: ShHooks) -> None:
    hooks.home.write_text("in the way")
    hooks.fire("Stop")
    hooks.home.unlink()
    (kept,) = hooks.waiting()
    assert kept["home"] == str(hooks.home)
    assert hooks.drained() == 1


def test_a_read_only_home_costs_no_event(hooks: ShHooks) -> None:
    (hooks.home / "spool").mkdir(parents=True, mode=0o700)
    if os.getuid() == 0:
        with mounted(["--bind", str(hooks.home)], hooks.home):
            run_mount(["-o", "remount,ro,bind", str(hooks.home)])
            hooks.fire("Stop")
    else:
        (hooks.home / "spool").chmod(0o500)
        hooks.fire("Stop")
        (hooks.home / "spool").chmod(0o700)
    (kept,) = hooks.waiting()
    assert kept["home"] == str(hooks.home)
    assert hooks.drained() == 1


def test_a_full_disk_costs_no_event_and_leaves_no_half_of_one(hooks: ShHooks) -> None:
    hooks.home.mkdir(mode=0o700)
    with mounted(["-t", "tmpfs", "-o", "size=64k", "tmpfs"], hooks.home):
        (hooks.home / "spool").mkdir(mode=0o700)
        with (hooks.home / "filler").open("wb", buffering=0) as file:
            try:
                while True:
                    file.write(b"x" * 4096)
            except OSError:
                pass
        hooks.fire("Stop")
        assert list((hooks.home / "spool").iterdir()) == []
        assert hooks.waiting()[0]["home"] == str(hooks.home)
    assert hooks.drained() == 1


@pytest.mark.parametrize("home", ["", "some/where", "~nobody/x"])
def test_without_a_home_the_event_waits_for_any(hooks: ShHooks, home: str) -> None:
    hooks.env |= {"LTM_HOME": home} if home else {"HOME": ""}
    hooks.fire("Stop")
    hooks.env.clear()
    (kept,) = hooks.waiting()
    assert kept["home"] == ""
    assert hooks.drained() == 1


@pytest.mark.parametrize("given", ["~/.ltm", "{}/user/.ltm///", "{}/user/../user/.ltm"])
def test_a_home_may_be_written_in_other_ways(hooks: ShHooks, given: str) -> None:
    hooks.env["LTM_HOME"] = given.format(hooks.top)
    hooks.fire("Stop")
    hooks.env.clear()
    assert hooks.drained() == 1


def test_a_strange_home_that_cannot_be_written_costs_no_event(hooks: ShHooks) -> None:
    hooks.env["LTM_HOME"] = str(hooks.top / 'a "b\\c')
    Path(hooks.env["LTM_HOME"]).write_text("in the way")
    hooks.fire("Stop")
    (kept,) = [events.load(path) for _, path in events.waiting("/any", hooks.environ)]
    assert kept["home"] == ""


@pytest.mark.parametrize("bad", ["link", "open to all", "a file"])
def test_a_second_place_that_is_not_the_users_alone_is_not_used(hooks: ShHooks, bad: str) -> None:
    hooks.home.write_text("in the way")
    place = hooks.top / "tmp" / f"ltm-spool-{os.getuid()}"
    other = hooks.top / "other"
    other.mkdir(mode=0o700)
    if bad == "link":
        place.symlink_to(other)
    elif bad == "a file":
        place.write_text("")
    else:
        place.mkdir()
        place.chmod(0o777)
    hooks.fire("Stop")
    assert list(other.iterdir()) == []
    assert not place.is_dir() or list(place.iterdir()) == []
    runtime = hooks.top / "runtime"
    runtime.mkdir()
    hooks.env["XDG_RUNTIME_DIR"] = str(runtime)
    hooks.fire("Stop")
    assert len(list(runtime.rglob("*.json"))) == 1


def test_what_it_writes_is_the_users_alone(hooks: ShHooks) -> None:
    """Reliability S9."""
    command = ["sh", "-c", f'umask 0; exec sh {SCRIPT} "$0"', "Stop"]
    assert hooks.send(b'{"session_id":"s1"}', command=command).rc == 0
    modes = {path.stat().st_mode & 0o777 for path in hooks.home.rglob("*") if path.is_file()}
    assert modes == {0o600}
    assert (hooks.home.stat().st_mode | (hooks.home / "spool").stat().st_mode) & 0o777 == 0o700


def test_a_spool_that_is_not_drained_does_not_grow_without_end(hooks: ShHooks) -> None:
    folder = hooks.home / "spool"
    folder.mkdir(parents=True, mode=0o700)
    for number in range(events.MOST):
        (folder / f"{number:020d}-0000001-00000000.Stop.json").touch()
    hooks.fire("Stop")
    assert len(list(folder.iterdir())) == events.MOST


# -- messages ------------------------------------------------------------------------------------


def test_no_prompt_input_or_output_reaches_the_disk(hooks: ShHooks) -> None:
    for event in EVENTS:
        hooks.fire(
            event,
            prompt=SECRET,
            tool_input={"command": SECRET, "session_id": SECRET, "cwd": SECRET},
            tool_response={"stdout": SECRET},
            error=SECRET,
            last_assistant_message=f'", "cwd": "{SECRET}',
            agent_type="Explore",
        )
    assert len(hooks.waiting()) == len(EVENTS)
    assert files_with(hooks.top, SECRET.encode()) == []


def test_what_is_not_a_path_is_left_out(hooks: ShHooks) -> None:
    for odd in ("x" * 4_097, "a\0b", "", 7, None, ["/x"], {"cwd": "/x"}):
        hooks.fire("Stop", cwd=odd)
        assert "cwd" not in hooks.waiting()[-1], odd
    hooks.fire("Stop", cwd="x" * 4_096)
    assert hooks.waiting()[-1]["cwd"] == "x" * 4_096


def test_a_sub_agent_that_is_none_is_not_heard(hooks: ShHooks) -> None:
    """The client's own summariser ends like one, and has no type."""
    hooks.fire("SubagentStop", agent_id="a1")
    assert hooks.waiting() == []
    hooks.fire("SubagentStop", agent_id="a1", agent_type="Explore")
    assert len(hooks.waiting()) == 1


def test_a_message_longer_than_the_server_takes_is_kept(hooks: ShHooks, server: Server) -> None:
    hooks.fire("PostToolUse", tool_name="Read", tool_response="x" * 2_000_000)
    (kept,) = hooks.waiting()
    assert (kept["tool"], kept["cwd"]) == ("Read", str(hooks.project))


def test_a_message_whose_sender_never_closes_the_pipe_is_heard(hooks: ShHooks) -> None:
    for event, fields in (("Stop", {}), ("SessionEnd", {"reason": "other"})):
        hooks.event = event
        with hooks.running() as running:
            running.say(json.dumps(hooks.payload(event, **fields)).encode())
            assert running.answer() == Ran(0, "", "")
    assert [each["event"] for each in hooks.waiting()] == ["Stop", "SessionEnd"]


def test_a_signal_to_the_clients_group_costs_no_event(hooks: ShHooks) -> None:
    """As when a person ends the client with Ctrl-C."""
    hooks.event = "SessionEnd"
    with hooks.running(start_new_session=True) as running:
        pid = running.process.pid
        # Once it reads its message it has told the system what it does about signals.
        until(lambda: "cat" in commands_of(pid))
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            os.killpg(pid, number)
        running.say(json.dumps(hooks.payload("SessionEnd")).encode())
        running.close()
        assert running.answer().rc == 0
    assert [each["event"] for each in hooks.waiting()] == ["SessionEnd"]


def commands_of(group: int) -> set[str]:
    """The names of the programs in a group of processes."""
    found = set()
    for name in os.listdir("/proc"):
        try:
            if name.isdigit() and os.getpgid(int(name)) == group:
                found.add(Path(f"/proc/{name}/comm").read_text().strip())
        except (OSError, ProcessLookupError):
            continue
    return found


def test_a_hundred_at_once_lose_nothing(hooks: ShHooks, server: Server, tmp_path: Path) -> None:
    """Some of them find the server busy and keep the event themselves; each is there once."""
    hooks.event = "Stop"
    started = []
    for number in range(100):
        hooks.session = f"session-{number}"
        said = tmp_path / f"payload-{number}.json"
        said.write_text(json.dumps(hooks.payload("Stop")))
        # From a file: a busy machine may not let us write to a pipe before the hook gives up on it.
        with said.open("rb") as payload:
            process = subprocess.Popen(hooks.command(), stdin=payload, env=hooks.environ)
        started.append(process)
    assert {process.wait(PATIENCE) for process in started} == {0}
    sessions = sorted(str(each["session"]) for each in hooks.waiting())
    assert sessions == sorted(f"session-{number}" for number in range(100))


TEXTS = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=40
) | st.sampled_from(['a"b', "a\\", "\\\\", '\\"', "a\nb\tc", "jürgen/日本 🙂", "{[,:]}", "$(x)`y`"])
NAMES = st.sampled_from(["session_id", "cwd", "transcript_path", "tool_name", "reason", "source"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXTS | st.just("a\0b"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS | NAMES, inner, max_size=3),
    max_leaves=8,
)
PAYLOADS = st.dictionaries(NAMES | TEXTS, VALUES, max_size=8)


@settings(max_examples=60)
@given(payload=PAYLOADS, session=TEXTS, spaced=st.booleans(), raw=st.booleans())
def test_what_it_keeps_of_any_message_is_what_python_reads_in_it(
    tmp_path_factory: pytest.TempPathFactory,
    payload: dict[str, object],
    session: str,
    spaced: bool,
    raw: bool,
) -> None:
    hooks = ShHooks(tmp_path_factory.mktemp("any"))
    message = {**payload, "session_id": session, "hook_event_name": "SessionEnd"}
    indent = 2 if spaced else None
    hooks.event = "SessionEnd"
    hooks.send(json.dumps(message, indent=indent, ensure_ascii=not raw).encode())
    (kept,) = hooks.waiting()
    expected = understand(message)
    assert expected is not None
    assert {name: kept.get(name) for name in expected} == expected
    extra = {name: value for name, value in kept.items() if name not in expected}
    assert set(extra) <= {"source", "tool", "trigger", "agent", "agent_type", "agent_transcript"}
