"""The server's stand-in for the first minute: answers the client until the real one can be started.

A client that starts a server wants an answer at once, and building an environment takes longer. So
this says hello in the server's name, offers one tool that tells how the building goes, and when the
server can run, starts it, passes every message on in both directions and tells the client to ask
for the tools again. Standard library only, and any Python from 3.8.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading

from ltm.clients.environment import outdated, ready, state
from ltm.surfaces.bare import LISTS, answer, understood, written
from ltm.surfaces.mcp.instructions import INSTRUCTIONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import IO, Any

_INTERVAL = 0.5
_TOOL = {
    "name": "ltm_status",
    "description": "Long-term memory is still being set up; this says how far it is.",
    "inputSchema": {"type": "object", "properties": {}},
    "annotations": {"readOnlyHint": True},
}
_HELLO = "stand-in"


def stand_in(data: str, root: str) -> int:
    """Serve on stdin and stdout until the client goes."""
    return _StandIn(data, root).run()


class _StandIn:
    def __init__(self, data: str, root: str) -> None:
        self._data = data
        self._root = root
        self._server: subprocess.Popen[bytes] | None = None
        self._hello: dict[str, Any] | None = None
        self._in_turn = threading.Lock()  # a message is ours or the server's, never half of each
        self._out = threading.Lock()

    def run(self) -> int:
        parent = os.getppid()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: os._exit(0))  # the server sees that we are gone
        for work in (self._wait_for_server, lambda: self._end_with(parent)):
            threading.Thread(target=work, daemon=True).start()
        for line in iter(sys.stdin.buffer.readline, b""):
            with self._in_turn:
                if self._server is None:
                    self._answer(line)
                elif not _wrote(self._server.stdin, line):
                    break
        if self._server is not None and self._server.stdin:
            self._server.stdin.close()
            try:
                self._server.wait(2.0)
            except subprocess.TimeoutExpired:
                self._server.kill()
        return 0

    def _answer(self, line: bytes) -> None:
        request = understood(line)
        if request is None:
            return
        if request["method"] == "initialize":
            self._hello = request
        if request["method"] != "tools/call":
            self._say(answer(request, tools=(_TOOL,), instructions=INSTRUCTIONS))
            return
        params = request.get("params")
        known = isinstance(params, dict) and params.get("name") == _TOOL["name"]
        content = [{"type": "text", "text": self._how_far()}]
        result = {"content": content, "isError": not known}
        self._say({"jsonrpc": "2.0", "id": request["id"], "result": result})

    def _how_far(self) -> str:
        said = state(self._data).get("message", "LTM is being set up: about half a minute, once")
        return (
            f"{said}. What is remembered was told at the start of the session; searching and"
            " storing follow when this is done."
        )

    def _wait_for_server(self) -> None:
        pause = threading.Event()
        python = ""
        while not python:
            pause.wait(_INTERVAL)
            if self._hello and state(self._data).get("state") == "ready":
                # The code may have changed while it was built.
                python = ready(self._data, self._root) or outdated(self._data)
        server = subprocess.Popen(
            [python, "-I", "-m", "ltm", "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert server.stdout
        assert self._hello
        _wrote(server.stdin, written({**self._hello, "id": _HELLO}))
        while _HELLO not in str(_read(server.stdout).get("id")):
            if server.poll() is not None:
                os._exit(1)  # the client starts us again when it needs us
        _wrote(server.stdin, written({"jsonrpc": "2.0", "method": "notifications/initialized"}))
        with self._in_turn:
            self._server = server
        for name in LISTS:
            self._say({"jsonrpc": "2.0", "method": f"notifications/{name}/list_changed"})
        for line in iter(server.stdout.readline, b""):
            self._pass(line)
        os._exit(server.wait())

    def _say(self, message: dict[str, Any]) -> None:
        self._pass(written(message))

    def _pass(self, line: bytes) -> None:
        with self._out:
            _wrote(sys.stdout.buffer, line)

    def _end_with(self, parent: int) -> None:
        pause = threading.Event()
        while os.getppid() == parent:
            pause.wait(1.0)
        os._exit(0)


def _read(stream: IO[bytes]) -> dict[str, Any]:
    try:
        message = json.loads(stream.readline() or b"{}")
    except ValueError:
        return {}
    return message if isinstance(message, dict) else {}


def _wrote(stream: IO[bytes] | None, line: bytes) -> bool:
    try:
        assert stream
        stream.write(line)
        stream.flush()
    except (OSError, ValueError):
        return False
    return True
