"""The states a server can be in, times every event, for the hook that asks one (reliability R12).

No server, none that answers, one that is stopped, lies, drips, or is another program: the hook ends
with 0, says nothing or valid JSON, and a drain afterwards finds every event. CI tries the three
events that differ most, LTM_FAULTS=all every one.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

from ltm.http import address
from tests.figures import count
from tests.hook.test_hook import EVENTS
from tests.hook.test_worlds import judged
from tests.http.runner import PATIENCE, Server, door, listener, nobody_drains
from tests.http.test_sh import ShHooks, note, only_these

ALL = os.environ.get("LTM_FAULTS") == "all"
FIRED = EVENTS if ALL else ("SessionStart", "Stop", "SessionEnd")

pytestmark = pytest.mark.skipif(os.name == "nt", reason="there is no sh")


@pytest.fixture
def hooks(tmp_path: Path) -> ShHooks:
    made = ShHooks(tmp_path)
    made.remember("Use port 8082")
    return made


# -- states: each is there while it is entered ---------------------------------------------------


@contextmanager
def no_server(hooks: ShHooks) -> Iterator[None]:
    yield


@contextmanager
def a_refused_port(hooks: ShHooks) -> Iterator[None]:
    with socket.create_server(("127.0.0.1", 0)) as door:
        port = door.getsockname()[1]
    note(hooks, port=port)
    yield


@contextmanager
def a_stale_note(hooks: ShHooks) -> Iterator[None]:
    """Of a server that was killed and could not take its note back."""
    with Server(hooks) as server:
        server.process.kill()
        server.process.wait(PATIENCE)
        yield


@contextmanager
def a_stopped_server(hooks: ShHooks) -> Iterator[None]:
    with nobody_drains(hooks), Server(hooks) as server:
        server.process.send_signal(signal.SIGSTOP)
        yield
        server.process.kill()


@contextmanager
def a_wrong_token(hooks: ShHooks) -> Iterator[None]:
    with nobody_drains(hooks), Server(hooks) as server:
        note(hooks, port=server.port, proof=server.noted["proof"], token="wrong")
        yield


@contextmanager
def no_curl(hooks: ShHooks) -> Iterator[None]:
    with nobody_drains(hooks), Server(hooks):
        tools = ("sh", "cat", "sleep", "date", "head", "awk", "dd", "mv", "rm", "mkdir", "find")
        hooks.env["PATH"] = only_these(hooks, *tools, "id")
        yield
        del hooks.env["PATH"]
        shutil.rmtree(hooks.top / "bin")


def answering(answer: bytes | None) -> Callable[[ShHooks], object]:
    """A program at the port that says this to all, or nothing ever."""

    @contextmanager
    def world(hooks: ShHooks) -> Iterator[None]:
        with listener(answer) as port:
            note(hooks, port=port, proof="the-proof")
            yield

    return world


@contextmanager
def one_byte_a_second(hooks: ShHooks) -> Iterator[None]:
    over = threading.Event()

    def drip(wire: socket.socket) -> None:
        with wire:
            for byte in b"HTTP/1.1 200 OK\r\nltm-proof: the-proof\r\n\r\n{}":
                try:
                    wire.sendall(bytes([byte]))
                except OSError:
                    return
                if over.wait(1):
                    return

    def meet(wire: socket.socket) -> None:
        threading.Thread(target=drip, args=(wire,), daemon=True).start()

    with door(meet) as port:
        note(hooks, port=port, proof="the-proof")
        yield
        over.set()


PROVEN = b"HTTP/1.1 %b\r\nltm-proof: the-proof\r\nContent-Length: %d\r\n\r\n%b"
WORLDS: dict[str, Callable[[ShHooks], object]] = {
    "no server": no_server,
    "a refused port": a_refused_port,
    "a stale note": a_stale_note,
    "a stopped server": a_stopped_server,
    "a server that never answers": answering(None),
    "garbage": answering(b"\x16\x03\x01\xff\0garbage \x1b[2J\r\n\r\n"),
    "an error": answering(PROVEN % (b"500 Oh", 2, b"{}")),
    "ten megabytes": answering(PROVEN % (b"200 OK", 10_000_000, b"." * 10_000_000)),
    "one byte a second": one_byte_a_second,
    "a foreign process at the port": answering(b"220 mail.example.com ESMTP\r\n"),
    "a wrong token": a_wrong_token,
    "no curl": no_curl,
}


@pytest.mark.parametrize("name", WORLDS)
def test_a_session_never_notices_what_became_of_the_server(hooks: ShHooks, name: str) -> None:
    with WORLDS[name](hooks):  # type: ignore[attr-defined]
        for event in FIRED:
            fields = {"agent_id": "a", "agent_type": "b", "source": "startup"}
            ran = judged(event, partial(hooks.fire, event, **fields))
            assert (ran.rc, ran.err) == (0, ""), event
            assert ran.told == "" or event == "SessionStart"
    kept = [str(record["event"]) for record in hooks.waiting()]
    (hooks.home / address.FILE).unlink(missing_ok=True)
    drained = hooks.drained()
    count("R12", worlds=1, events_lost=len(FIRED) - drained)
    assert (sorted(kept), drained) == (sorted(FIRED), len(FIRED))
