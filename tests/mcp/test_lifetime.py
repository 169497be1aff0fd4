"""The server ends with its client, whichever way that goes, and leaves no process behind."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.mcp.wire import INITIALIZE, PATIENCE, Wire, environment

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals and parents as POSIX has them")


def test_it_ends_when_its_input_ends(tmp_path: Path) -> None:
    with Wire(tmp_path, tmp_path) as wire:
        wire.initialize()
        assert wire.close() == 0


def test_it_ends_when_there_never_was_a_client(tmp_path: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "ltm", "mcp"],
        cwd=tmp_path,
        env=environment(tmp_path),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, b"", b"")


def test_it_ends_when_no_one_reads_its_answers(tmp_path: Path) -> None:
    server = subprocess.Popen(
        [sys.executable, "-m", "ltm", "mcp"],
        cwd=tmp_path,
        env=environment(tmp_path),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert server.stdin
    assert server.stdout
    assert server.stderr
    with server.stdin, server.stderr:
        hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": INITIALIZE}
        server.stdin.write(json.dumps(hello).encode() + b"\n")
        server.stdin.flush()
        assert server.stdout.readline()
        server.stdout.close()
        server.stdin.write(b'{"jsonrpc": "2.0", "id": 2, "method": "ping"}\n')
        server.stdin.flush()
        assert server.wait(PATIENCE) == 0
        assert server.stderr.read() == b""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("when", ["idle", "before the handshake"])
def test_it_ends_at_a_signal_while_its_input_stays_open(
    tmp_path: Path, number: signal.Signals, when: str
) -> None:
    with Wire(tmp_path, tmp_path) as wire:
        if when == "idle":
            wire.initialize()
            wire.call("store_memory", content="It is here.")
        else:
            assert wire.ask("ping")["result"] == {}
        wire.process.send_signal(number)
        assert wire.process.wait(PATIENCE) == 0
        assert "Traceback" not in wire.errors()


CLIENT = """
import json, subprocess, sys
# The server's stderr is a pipe of the test's: it ends when the server does.
server = subprocess.Popen(
    [sys.executable, "-m", "ltm", "mcp"],
    stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=int(sys.argv[1]),
)
# A child that outlives us and holds the server's input open, so that it never ends.
holder = subprocess.Popen(
    [sys.executable, "-c", "import sys; sys.stdin.read()"],
    stdin=0, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    pass_fds=[server.stdin.fileno()],
)
server.stdin.write(json.dumps({
    "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"}}}).encode() + b"\\n")
server.stdin.flush()
server.stdout.readline()
print("ready", flush=True)
server.wait()
"""


def test_it_ends_when_its_client_is_killed_even_if_someone_holds_the_pipe(tmp_path: Path) -> None:
    alive, told = os.pipe()
    client = subprocess.Popen(
        [sys.executable, "-c", CLIENT, str(told)],
        cwd=tmp_path,
        env=environment(tmp_path),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        pass_fds=[told],
    )
    try:
        os.close(told)
        assert client.stdin
        assert client.stdout
        assert client.stdout.readline() == b"ready\n"
        client.send_signal(signal.SIGKILL)
        client.wait(PATIENCE)
        # The holder still runs: it reads from us, and we have said nothing yet.
        readable, _, _ = select.select([alive], [], [], PATIENCE)
        assert readable, "the server outlived its client"
        assert os.read(alive, 1) == b""
    finally:
        assert client.stdin
        assert client.stdout
        client.stdin.close()
        client.stdout.close()
        os.close(alive)
