"""A model whose answers a test writes: the Messages API on loopback, a stand-in for `claude`."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any


@dataclass(frozen=True)
class Reply:
    """One answer: a text, an error, or bytes as they are; after `before` has returned."""

    text: str = ""
    status: int = 200
    body: bytes | None = None
    headers: dict[str, str] = field(default_factory=dict)
    usage: dict[str, Any] | None = field(
        default_factory=lambda: {"input_tokens": 100, "output_tokens": 20}
    )
    before: Callable[[], object] = lambda: None

    def data(self) -> bytes:
        if self.body is not None:
            return self.body
        if self.status != 200:
            about = {"type": "scripted_error", "message": self.text or "scripted"}
            return json.dumps({"type": "error", "error": about}).encode()
        message: dict[str, Any] = {
            "type": "message",
            "content": [{"type": "text", "text": self.text}],
        }
        if self.usage is not None:
            message["usage"] = self.usage
        return json.dumps(message).encode()


class ScriptedApi:
    """A server that gives the replies it was told, in order, then `[]`, and keeps what it got."""

    def __init__(self, *replies: Reply | str) -> None:
        self.requests: list[dict[str, Any]] = []
        self._replies = [Reply(each) if isinstance(each, str) else each for each in replies]
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        )
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def prompts(self) -> list[str]:
        """What the user's part of each request said."""
        return [request["body"]["messages"][0]["content"] for request in self.requests]

    def say(self, *replies: Reply | str) -> None:
        """Give these next."""
        self._replies += [Reply(each) if isinstance(each, str) else each for each in replies]

    def __enter__(self) -> ScriptedApi:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        api = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_: Any) -> None:
                pass

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                headers = {key.lower(): value for key, value in self.headers.items()}
                api.requests.append(
                    {"path": self.path, "headers": headers, "body": json.loads(body)}
                )
                reply = api._replies.pop(0) if api._replies else Reply("[]")
                reply.before()
                try:
                    self.send_response(reply.status)
                    for name, value in reply.headers.items():
                        self.send_header(name, value)
                    self.end_headers()
                    self.wfile.write(reply.data())
                except OSError:
                    pass  # it did not wait for the whole

        return Handler


_STAND_IN = """\
#!{python} -IS
import json, os, sys
here = os.path.dirname(os.path.abspath(__file__))
told = sys.stdin.read()
with open(os.path.join(here, "calls.jsonl"), "a") as log:
    call = {{"argv": sys.argv[1:], "env": dict(os.environ), "cwd": os.getcwd(), "stdin": told}}
    log.write(json.dumps(call) + "\\n")
with open(os.path.join(here, "replies.json")) as file:
    replies = json.load(file)
reply = replies.pop(0) if replies else {{"text": "[]"}}
with open(os.path.join(here, "replies.json"), "w") as file:
    json.dump(replies, file)
exec(reply.get("python", ""))
if "raw" in reply:
    sys.stdout.write(reply["raw"])
    sys.exit(reply.get("code", 0))
print(json.dumps({{
    "type": "result", "subtype": "success", "is_error": reply.get("failed", False),
    "api_error_status": reply.get("status"), "result": reply.get("text", ""),
    "usage": {{"input_tokens": 200, "output_tokens": 30, "cache_read_input_tokens": 70}},
}}))
sys.exit(1 if reply.get("failed") else 0)
"""


class StandIn:
    """A program `claude` that prints what a test wrote, and keeps how it was called."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        program = folder / "claude"
        program.write_text(_STAND_IN.format(python=sys.executable))
        program.chmod(0o755)
        self.say()

    def say(self, *replies: str | dict[str, Any]) -> None:
        """Give these next, instead of what was to be given."""
        whole = [{"text": each} if isinstance(each, str) else each for each in replies]
        (self.folder / "replies.json").write_text(json.dumps(whole))

    @property
    def calls(self) -> list[dict[str, Any]]:
        path = self.folder / "calls.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
