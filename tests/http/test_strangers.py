"""Who is at the port, and who keeps it busy: a stranger after a kill (reliability S21), clients
that never finish, and a server without a handle left (S22)."""

from __future__ import annotations

import os
import shutil
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from ltm.http import address
from tests.figures import count, worst
from tests.hook.test_hook import EVENTS
from tests.http.runner import PATIENCE, Server, door, nobody_drains, until
from tests.http.test_sh import ShHooks

ALL = os.environ.get("LTM_FAULTS") == "all"
FIRED = EVENTS if ALL else ("SessionStart", "UserPromptSubmit", "SessionEnd")

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc and sh")

PROMPT = "the prompt that only the server may see"
FIELDS = {"source": "startup", "agent_id": "a1", "agent_type": "Explore"}


@pytest.fixture
def hooks(tmp_path: Path) -> ShHooks:
    return ShHooks(tmp_path)


# -- a stranger at the port of a server that was killed ------------------------------------------

OK = b"HTTP/1.1 200 OK\r\nltm-proof: %b\r\nContent-Length: 3\r\n\r\n{}\n"
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
ELSEWHERE = (
    b"HTTP/1.1 307 Go\r\nLocation: http://127.0.0.1:%d/hook/stop\r\nContent-Length: 0\r\n\r\n"
)


def challenge_of(heard: bytes) -> bytes:
    head = heard.lower().partition(b"ltm-challenge: ")[2]
    return heard[len(heard) - len(head) :].partition(b"\r\n")[0] if head else b"none"


STRANGERS: dict[str, Callable[[bytes], bytes]] = {
    "says nothing": lambda heard: b"",
    "says yes to all": lambda heard: OK % b"x",
    "has no proof": lambda heard: b"HTTP/1.1 204 No Content\r\n\r\n",
    "gives the challenge back": lambda heard: OK % challenge_of(heard),
    "asks for more": lambda heard: CONTINUE + OK % b"x",
    "is no server": lambda heard: b"220 mail.example.com ESMTP\r\n",
    "sends on": lambda heard: ELSEWHERE % 9,
}


@pytest.mark.parametrize("name", STRANGERS)
def test_a_stranger_at_the_port_of_a_killed_server_learns_nothing(
    hooks: ShHooks, name: str
) -> None:
    heard: list[bytes] = []

    def meet(wire: socket.socket) -> None:
        with wire, suppress(OSError):
            wire.settimeout(5)
            heard.append(wire.recv(65536))
            answer = STRANGERS[name](heard[-1])
            if answer:
                wire.sendall(answer)
            while more := wire.recv(65536):
                heard.append(more)

    hooks.remember("Use port 8082")
    with nobody_drains(hooks), Server(hooks) as server:
        server.process.kill()
        server.process.wait(PATIENCE)
        with door(meet, server.port):
            for event in FIRED:
                assert hooks.fire(event, prompt=PROMPT, **FIELDS).out == ""
            with Server(hooks) as second:  # it looks whether the first is still there
                assert second.port != server.port
        assert len(hooks.waiting()) >= len(FIRED)
    said = b"".join(heard)
    assert said
    secrets = [server.noted["token"], server.noted["proof"], PROMPT, hooks.session]
    leaked = [each for each in (*secrets, str(hooks.project)) if each.encode() in said]
    count("S21", strangers=1, events=len(FIRED), bytes_heard=len(said), leaked=len(leaked))
    assert leaked == []


def test_what_a_stranger_hears_opens_nothing_at_the_next_server(hooks: ShHooks) -> None:
    with Server(hooks) as first:
        first.process.kill()
        first.process.wait(PATIENCE)
    with Server(hooks) as second:
        asked = [("LTM-Challenge", first.noted["challenge"])]
        assert second.ask("GET", "/proof", asked).status == 401
        own = [("LTM-Challenge", second.noted["challenge"])]
        assert second.ask("GET", "/proof", own).header("ltm-proof") == second.noted["proof"]
        assert second.ask("GET", "/health", own).status == 401


# -- clients that never finish -------------------------------------------------------------------


def handles(server: Server) -> int:
    return len(os.listdir(f"/proc/{server.process.pid}/fd"))


def processor_s(server: Server) -> float:
    fields = Path(f"/proc/{server.process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def limit(server: Server, most: int) -> None:
    import resource

    hard = resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE)[1]
    resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, (most, hard))


def is_well(server: Server) -> bool:
    return server.ask("GET", "/health", [server.authorized]).status == 200


def beginnings(server: Server) -> Iterator[bytes]:
    """What slow clients have said so far."""
    name, value = server.authorized
    head = f"POST /hook/stop HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n{name}: {value}\r\n"
    whole = f"{head}Content-Type: application/json\r\nContent-Length: 100\r\n\r\n"
    second = (
        f"GET /health HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n{name}: {value}\r\n\r\nGET /"
    )
    while True:
        yield b""
        yield b"G"
        yield f"{head}X-Slow: ".encode()
        yield f"{whole}{{".encode()
        yield second.encode()


@pytest.mark.skipif(not shutil.which("prlimit"), reason="needs prlimit")
def test_slow_clients_are_ended_and_keep_no_other_waiting(hooks: ShHooks) -> None:
    with Server(hooks, handles=128) as server, ExitStack() as wires:
        assert is_well(server)
        idle = handles(server)
        slow: list[socket.socket] = []
        for _, begun in zip(range(300), beginnings(server), strict=False):
            wire = wires.enter_context(socket.create_connection(("127.0.0.1", server.port), 60))
            with suppress(OSError):  # it may have had to give way already
                wire.sendall(begun)
            slow.append(wire)
            if not len(slow) % 30:
                assert is_well(server)
        over = threading.Event()

        def drip() -> None:
            while not over.wait(0.5):
                for wire in slow:
                    with suppress(OSError):
                        wire.sendall(b"x")

        dripping = threading.Thread(target=drip)
        dripping.start()
        try:
            until(lambda: is_well(server) and handles(server) <= idle + 2)
        finally:
            over.set()
            dripping.join()
        assert is_well(server)
        count("S22", slow_clients=len(slow), slow_clients_left=max(0, handles(server) - idle - 2))
        code, said = server.end()
        worst("S22", log_lines=len(said.splitlines()))
        assert (code, len(said.splitlines()) <= 1) == (0, True)


def test_without_a_handle_it_waits_quietly_and_goes_on_when_there_are_some(
    hooks: ShHooks,
) -> None:
    with Server(hooks) as server, ExitStack() as wires:
        assert is_well(server)
        until(lambda: handles(server) <= 10)  # its own, and no client
        limit(server, handles(server))
        for _ in range(20):
            wire = socket.create_connection(("127.0.0.1", server.port), 60)
            wires.enter_context(wire).sendall(b"G")
        before = processor_s(server)
        over = threading.Event()
        over.wait(4)
        used = processor_s(server) - before
        assert server.process.poll() is None
        limit(server, 1024)
        assert is_well(server)
        code, said = server.end()
        count("S22", times_without_a_handle=1)
        worst("S22", log_lines=len(said.splitlines()), processor_share=round(used / 4, 3))
        assert code == 0
        assert said.splitlines() == [
            "no client can be accepted for the moment: Too many open files"
        ]


def test_requests_that_are_none_fill_no_log(hooks: ShHooks) -> None:
    with Server(hooks) as server:
        for _ in range(50):
            with socket.create_connection(("127.0.0.1", server.port), 60) as wire:
                wire.sendall(b"nonsense\r\n\r\n")
                assert wire.recv(100)
        assert is_well(server)
        assert server.end() == (0, "")


def test_a_note_without_a_challenge_names_no_server(hooks: ShHooks) -> None:
    """A server of a former version, which could not prove anything before it was told all."""
    with Server(hooks) as server:
        text = (hooks.home / address.FILE).read_text()
        (hooks.home / address.FILE).write_text(text.replace('"challenge"', '"former"'))
        assert address.load(str(hooks.home)) is None
        assert hooks.fire("UserPromptSubmit", prompt=PROMPT).out == ""
        assert is_well(server)
