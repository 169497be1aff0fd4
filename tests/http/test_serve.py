"""One server per home: it says where it is as long as it runs, and leaves nothing behind.

Reliability S4, S9; traps 2.1 #12 (a note that is never removed, or removed by another server) and
#17 (listening to the whole network without a token).
"""

from __future__ import annotations

import json
import os
import signal
import socket
import stat
from pathlib import Path

import pytest

from ltm.http import address
from ltm.http.address import bind
from tests.hook.runner import Hooks
from tests.http.runner import JSON, PATIENCE, Server, listener, nobody_drains, until


@pytest.fixture
def hooks(tmp_path: Path) -> Hooks:
    return Hooks(tmp_path)


def note(hooks: Hooks) -> Path:
    return hooks.home / address.FILE


def attempt(hooks: Hooks, *args: str) -> tuple[int, str]:
    """Start a server that is expected to refuse; its exit code and its words."""
    done = hooks.ltm("serve", *args)
    assert done.stdout == ""
    return done.returncode, done.stderr


# -- the note ------------------------------------------------------------------------------------


def test_the_note_says_where_the_server_is_and_who(hooks: Hooks) -> None:
    with Server(hooks) as server:
        noted = server.noted
        assert set(noted) == {"host", "port", "token", "challenge", "proof", "pid", "started_at"}
        assert (noted["host"], noted["pid"]) == ("127.0.0.1", server.process.pid)
        assert len(noted["token"]) >= 32
        assert len({noted["token"], noted["challenge"], noted["proof"]}) == 3
        assert server.ask("GET", "/health", [server.authorized]).status == 200


def test_what_is_printed_holds_no_secret(hooks: Hooks) -> None:
    with Server(hooks) as server:
        said = json.dumps(server.told)
        assert server.noted["token"] not in said
        assert server.noted["proof"] not in said
        assert server.told["port"] == server.port


@pytest.mark.parametrize("umask", [0o000, 0o022])
def test_everything_is_the_users_alone_whatever_the_umask(hooks: Hooks, umask: int) -> None:
    """Reliability S9."""
    with Server(hooks, umask=umask):
        assert stat.S_IMODE(hooks.home.stat().st_mode) == 0o700
        for path in hooks.home.iterdir():
            assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_the_note_is_gone_with_the_server(hooks: Hooks, number: int) -> None:
    """Traps 2.1 #12."""
    with Server(hooks) as server:
        assert server.end(number) == (0, "")
        assert not note(hooks).exists()


def test_a_note_that_is_another_servers_by_now_stays(hooks: Hooks) -> None:
    """Traps 2.1 #12."""
    with Server(hooks) as server:
        text = note(hooks).read_text().replace(server.noted["token"], "another")
        note(hooks).write_text(text)
        server.end()
        assert note(hooks).read_text() == text


def test_a_server_ends_though_a_client_has_not_said_all(hooks: Hooks) -> None:
    with Server(hooks) as server, socket.create_connection(("127.0.0.1", server.port)) as wire:
        name, value = server.authorized
        wire.sendall(
            f"POST /hook/stop HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n{name}: {value}\r\n"
            f"{JSON[0]}: {JSON[1]}\r\nContent-Length: 100\r\n\r\n{{".encode()
        )
        assert server.end()[0] == 0
        assert not note(hooks).exists()


# -- one at a time -------------------------------------------------------------------------------


def test_a_second_server_is_refused_and_the_first_stays_as_it_is(hooks: Hooks) -> None:
    """Traps 2.1 #12."""
    with Server(hooks) as first:
        code, said = attempt(hooks)
        assert code == 1
        assert f"http://127.0.0.1:{first.port}" in said
        assert f"kill {first.process.pid}" in said
        assert json.loads(note(hooks).read_text()) == first.noted
        assert first.ask("GET", "/health", [first.authorized]).status == 200


def test_a_second_server_is_told_when_the_first_does_not_answer(hooks: Hooks) -> None:
    with Server(hooks) as first:
        first.process.send_signal(signal.SIGSTOP)
        try:
            code, said = attempt(hooks)
        finally:
            first.process.send_signal(signal.SIGCONT)
        assert code == 1
        assert "does not answer" in said
        assert first.ask("GET", "/health", [first.authorized]).status == 200


def test_the_note_of_a_killed_server_is_taken_over(hooks: Hooks) -> None:
    with Server(hooks) as first:
        first.process.kill()
        first.process.wait(PATIENCE)
        assert note(hooks).exists()
        with Server(hooks) as second:
            assert second.noted["token"] != first.noted["token"]
            assert second.ask("GET", "/health", [first.authorized]).status == 401
            assert second.end()[0] == 0
        assert not note(hooks).exists()


def test_another_program_at_a_dead_servers_port_is_not_taken_for_it(hooks: Hooks) -> None:
    with Server(hooks) as first:
        first.process.kill()
        first.process.wait(PATIENCE)
        body = b'{"status":"ok"}'
        answer = b"HTTP/1.1 200 OK\r\nltm-proof: guessed\r\nContent-Length: %d\r\n\r\n" % len(body)
        with listener(answer + body, first.port), Server(hooks) as second:
            assert second.port != first.port


def test_a_live_server_that_the_lock_does_not_know_is_left_alone(hooks: Hooks) -> None:
    """As on a disk that is shared with another machine, where locks do not reach."""
    with Server(hooks) as first:
        (hooks.home / "server.lock").unlink()
        code, said = attempt(hooks)
        assert code == 1
        assert "runs already" in said
        assert json.loads(note(hooks).read_text()) == first.noted


@pytest.mark.parametrize("text", ["", "{", "[]", '{"host":1}', "\xff", '{"port":1,"pid":1}'])
def test_a_note_that_is_none_names_no_server(hooks: Hooks, text: str) -> None:
    hooks.home.mkdir(mode=0o700)
    note(hooks).write_text(text, encoding="latin-1")
    assert address.load(str(hooks.home)) is None


def test_a_note_that_is_none_is_taken_over(hooks: Hooks) -> None:
    hooks.home.mkdir(mode=0o700)
    note(hooks).write_text("{")
    with Server(hooks) as server:
        assert server.ask("GET", "/health", [server.authorized]).status == 200


# -- where it listens ----------------------------------------------------------------------------


def listening(pid: int) -> set[str]:
    """The addresses at which a process listens, as the kernel tells them."""
    inodes = set()
    for name in os.listdir(f"/proc/{pid}/fd"):
        try:
            inodes.add(os.readlink(f"/proc/{pid}/fd/{name}"))
        except FileNotFoundError:
            continue
    found = set()
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        for line in Path(table).read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and f"socket:[{fields[9]}]" in inodes:
                found.add(fields[1].partition(":")[0])
    return found


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="needs Linux's /proc")
def test_it_listens_to_this_machine_only(hooks: Hooks) -> None:
    """Reliability S4, traps 2.1 #17."""
    with Server(hooks) as server:
        assert listening(server.process.pid) == {"0100007F"}


def test_answers_are_not_held_back_to_be_sent_together() -> None:
    """The loop switches that delay off only where a socket says that it is TCP."""
    with bind("127.0.0.1", 0, allow_remote=False) as made:
        assert made.proto == socket.IPPROTO_TCP


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1"])
def test_an_address_for_everybody_needs_a_word_of_its_own(hooks: Hooks, host: str) -> None:
    """Traps 2.1 #17."""
    code, said = attempt(hooks, "--host", host)
    assert code == 2
    assert "--allow-remote" in said
    assert not note(hooks).exists()


def test_a_name_is_not_an_address(hooks: Hooks) -> None:
    code, said = attempt(hooks, "--host", "example.com")
    assert code == 2
    assert "not an address" in said


def test_in_a_container_it_may_listen_to_all_and_still_answers_to_this_machines_names_only(
    hooks: Hooks,
) -> None:
    with Server(hooks, "--host", "0.0.0.0", "--allow-remote") as server:
        assert server.noted["host"] == "127.0.0.1"
        assert server.ask("GET", "/health", [server.authorized]).status == 200
        assert server.ask("GET", "/health").status == 401
        for host in (f"0.0.0.0:{server.port}", f"evil.test:{server.port}"):
            assert server.ask("GET", "/health", [server.authorized], host=host).status == 403


def test_the_port_is_the_one_asked_for_and_a_taken_one_is_said_to_be(hooks: Hooks) -> None:
    with Server(hooks) as server:
        other = Hooks(hooks.top / "other")
        code, said = attempt(other, "--port", str(server.port))
        assert code == 1
        assert str(server.port) in said
        assert "--port" in said
        server.end()
        with Server(other, "--port", str(server.port)) as second:
            assert second.port == server.port


# -- as a server that runs for weeks -------------------------------------------------------------


def test_it_drains_what_hooks_left(hooks: Hooks) -> None:
    with Server(hooks) as server:
        assert server.tell("session_start", hooks.payload("SessionStart")).status == 204
        until(lambda: not hooks.waiting())


def test_the_session_that_started_it_is_not_the_one_it_serves(hooks: Hooks) -> None:
    elsewhere = hooks.top / "elsewhere"
    elsewhere.mkdir()
    with Server(
        hooks, CLAUDE_PROJECT_DIR=str(elsewhere), CLAUDE_CODE_SESSION_ID="session-9"
    ) as server:
        server.call("tools/call", name="store_memory", arguments={"content": "Use port 8082"})
        (kept,) = hooks.home.rglob("memories/*.md")
        assert "session-9" not in kept.read_text()
        assert kept.parent.parent.name.startswith("project-")


def test_memory_over_mcp_is_stored_and_found_again(hooks: Hooks) -> None:
    with Server(hooks) as server:
        names = {each["name"] for each in server.call("tools/list")["tools"]}
        assert {"store_memory", "recall", "forget"} <= names
        server.call("tools/call", name="store_memory", arguments={"content": "Use port 8082"})
        found = server.call("tools/call", name="recall", arguments={"query": "which port"})
        assert "Use port 8082" in found["content"][0]["text"]


def test_mcp_opens_no_stream_that_stays(hooks: Hooks) -> None:
    with Server(hooks) as server:
        accept = ("Accept", "text/event-stream")
        assert server.ask("GET", "/mcp", [server.authorized, accept]).status == 405
        assert server.ask("DELETE", "/mcp", [server.authorized]).status == 405


def test_the_project_of_mcp_is_the_one_named(hooks: Hooks) -> None:
    named = hooks.top / "named"
    named.mkdir()
    with Server(hooks, "--project", str(named)) as server:
        server.call("tools/call", name="store_memory", arguments={"content": "Use port 8082"})
        (kept,) = hooks.home.rglob("memories/*.md")
        assert kept.parent.parent.name.startswith("named-")


def test_a_server_and_the_command_line_work_on_the_same_memories(hooks: Hooks) -> None:
    with Server(hooks) as server, nobody_drains(hooks):
        hooks.remember("Use port 8082")
        found = server.call("tools/call", name="recall", arguments={"query": "port"})
        assert "Use port 8082" in found["content"][0]["text"]


# -- asking whether it runs ----------------------------------------------------------------------


def test_check_passes_only_while_the_server_of_the_note_answers(hooks: Hooks) -> None:
    code, said = attempt(hooks, "--check")
    assert code == 1
    assert "no server runs for this home" in said
    with Server(hooks) as server:
        done = hooks.ltm("serve", "--check", "--json")
        assert (done.returncode, done.stderr) == (0, "")
        assert json.loads(done.stdout)["pid"] == server.process.pid
        server.process.kill()
        server.process.wait()
        code, said = attempt(hooks, "--check")
        assert (code, "does not answer" in said) == (1, True)
        with listener(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", server.port):
            code, said = attempt(hooks, "--check")
            assert (code, "does not answer" in said) == (1, True), "a stranger proves nothing"
