"""A client that speaks raw JSON-RPC lines with a real `ltm mcp` process."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

from tests import forking

PATIENCE = 120
"""Seconds after which a test gives up on a process; nothing is measured with it."""

INITIALIZE: dict[str, Any] = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}


def environment(home: Path, **more: str) -> dict[str, str]:
    """The environment of a person who has nothing set up but this home."""
    own = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "LTM_HOME": str(home / ".ltm"),
        "TMPDIR": str(home),
    }
    return {**own, **more}


class Wire:
    """A running server and the two pipes to it."""

    def __init__(
        self,
        project: Path,
        home: Path,
        *,
        args: tuple[str, ...] = (),
        python: tuple[str, ...] = (),
        env: dict[str, str] | None = None,
        command: tuple[str, ...] = (),
    ) -> None:
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the wire
        how: dict[str, Any] = {
            "cwd": project,
            "env": environment(home, **(env or {})),
            "stdin": subprocess.PIPE,
            "stdout": subprocess.PIPE,
            "stderr": self._errors,
        }
        self.process: subprocess.Popen[bytes]
        if python or command:
            program = command or (sys.executable, *python, "-m", "ltm", "mcp", *args)
            self.process = subprocess.Popen(program, **how)
        else:
            self.process = forking.start(("mcp", *args), **how)
        self._lines: queue.Queue[bytes] = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self._last = 0
        self._early: dict[Any, dict[str, Any]] = {}
        self.roots: list[str] = []
        """What this client answers when it is asked for its roots."""

    def __enter__(self) -> Wire:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
        self._errors.close()

    def initialize(self, capabilities: dict[str, Any] | None = None) -> dict[str, Any]:
        """Shake hands; the server's answer."""
        answer = self.ask("initialize", {**INITIALIZE, "capabilities": capabilities or {}})
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        result: dict[str, Any] = answer["result"]
        return result

    def close(self) -> int:
        """Close the server's input, as a client does that ends; the server's exit code."""
        assert self.process.stdin
        assert self.process.stdout
        if not self.process.stdin.closed:
            try:
                self.process.stdin.close()
            except BrokenPipeError:
                pass
        code = self.process.wait(PATIENCE)
        self._reader.join(PATIENCE)
        self.process.stdout.close()
        return code

    def errors(self) -> str:
        """What the server wrote to stderr so far."""
        self._errors.seek(0)
        return self._errors.read().decode()

    def raw(self, data: bytes) -> None:
        """Write bytes as they are."""
        assert self.process.stdin
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, message: dict[str, Any]) -> None:
        """Write one message."""
        self.raw(json.dumps(message).encode() + b"\n")

    def start(self, method: str, params: dict[str, Any] | None = None) -> int:
        """Send a request without waiting; its id."""
        self._last += 1
        message: dict[str, Any] = {"jsonrpc": "2.0", "id": self._last, "method": method}
        self.send(message | ({} if params is None else {"params": params}))
        return self._last

    def receive(self) -> dict[str, Any]:
        """The next message of the server."""
        line = self._lines.get(timeout=PATIENCE)
        assert line, f"the server ended: {self.errors()}"
        message: dict[str, Any] = json.loads(line)
        return message

    def answer(self, number: int) -> dict[str, Any]:
        """The answer to a request, whatever came before it."""
        while number not in self._early:
            message = self.receive()
            if message.get("method") == "roots/list":
                roots = [{"uri": uri} for uri in self.roots]
                self.send({"jsonrpc": "2.0", "id": message["id"], "result": {"roots": roots}})
                continue
            self._early[message.get("id")] = message
        return self._early.pop(number)

    def is_answered(self, number: int) -> bool:
        """Whether the answer to a request came in while waiting for others."""
        return number in self._early

    def ask(self, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        """Send a request and wait for its answer."""
        return self.answer(self.start(method, params))

    def result(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        """The whole result of a tool."""
        answer = self.ask("tools/call", {"name": tool, "arguments": arguments})
        assert "result" in answer, answer
        result: dict[str, Any] = answer["result"]
        return result

    def call(self, tool: str, /, **arguments: Any) -> str:
        """The text of a tool's result, which must not be an error."""
        result = self.result(tool, **arguments)
        text: str = result["content"][0]["text"]
        assert not result.get("isError"), text
        return text

    def error(self, tool: str, /, **arguments: Any) -> str:
        """The text of a tool's error."""
        result = self.result(tool, **arguments)
        text: str = result["content"][0]["text"]
        assert result["isError"] is True, text
        return text

    def _read(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self._lines.put(line)
        self._lines.put(b"")
