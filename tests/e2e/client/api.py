"""The Messages API on loopback: it answers the client from a script and keeps every request.

Each run of the client gets a channel, a base URL of its own on the same server, so that two
sessions at once never take each other's replies. Imports: deadline, reply, request, script, stream.
"""

from __future__ import annotations

import http.server
import json
import threading
from pathlib import Path
from typing import Any

from .deadline import PATIENCE, wait_until
from .reply import Reply
from .request import Kind, Request
from .script import Script
from .stream import error_body, frames, message

SECRET_HEADERS = ("x-api-key", "authorization", "cookie")


class Channel:
    """One client's line to the model: its script, and what it asked so far."""

    def __init__(self, base_url: str, script: Script, log: Path) -> None:
        self.base_url = base_url
        self.script = script
        self.closed = threading.Event()
        self._log = log
        self._lock = threading.Lock()
        self._requests: list[Request] = []
        self._held = 0

    @property
    def requests(self) -> list[Request]:
        """Every request so far."""
        with self._lock:
            return list(self._requests)

    def of_kind(self, *kinds: Kind) -> list[Request]:
        """The requests of these kinds so far."""
        return [request for request in self.requests if request.kind in kinds]

    def wait_held(self, timeout: float = PATIENCE) -> None:
        """Wait until the client has got the first half of a reply with `hold`."""
        wait_until(lambda: self._held, "a held reply to be under way", timeout)

    def take(self, method: str, path: str, headers: dict[str, str], raw: bytes) -> Request:
        """Keep a request that has come in."""
        try:
            body: Any = json.loads(raw) if raw else None
        except ValueError:
            body = raw.decode("utf-8", "replace")
        with self._lock:
            number = len(self._requests) + 1
            request = Request(number, method, path, headers, body, len(raw))
            self._requests.append(request)
        return request

    def hold(self, reply: Reply) -> bool:
        """Stop in mid-answer until the test lets it go on; False when the session is over."""
        if reply.hold is None:
            return True
        self._held += 1
        while not reply.hold.wait(0.05):
            if self.closed.is_set():
                return False
        self._held -= 1
        return True

    def write_log(self, request: Request, reply: Reply | None) -> None:
        """Append the exchange to the session's log, for the one who reads a failure."""
        headers = {k: v for k, v in request.headers.items() if k not in SECRET_HEADERS}
        entry = {
            "number": request.number,
            "kind": request.kind,
            "request": [request.method, request.path, headers, request.body],
            "reply": repr(reply),
        }
        with self._lock, self._log.open("a", encoding="utf-8") as log:
            log.write(json.dumps(entry) + "\n")


class ScriptedApi:
    """The server. `open` makes a channel for one run of the client."""

    def __init__(self) -> None:
        self._channels: list[Channel] = []
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _handler(self._channels))
        self._server.daemon_threads = True
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True
        )
        self._thread.start()

    def open(self, script: Script, log: Path) -> Channel:
        """A new channel with its own base URL."""
        url = f"http://127.0.0.1:{self._server.server_address[1]}/{len(self._channels)}"
        channel = Channel(url, script, log)
        self._channels.append(channel)
        return channel

    def close(self) -> None:
        """Stop answering, held replies included."""
        for channel in self._channels:
            channel.closed.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def _handler(channels: list[Channel]) -> type[http.server.BaseHTTPRequestHandler]:
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: Any) -> None:
            pass

        def answer(self) -> None:
            raw = self.rfile.read(int(self.headers.get("content-length") or 0))
            number, _, path = self.path[1:].partition("/")
            if not number.isdigit() or int(number) >= len(channels):
                self.send_json({}, 404)
                return
            channel = channels[int(number)]
            headers = {key.lower(): value for key, value in self.headers.items()}
            request = channel.take(self.command, f"/{path}", headers, raw)
            asks_model = request.kind not in ("count_tokens", "other")
            reply = channel.script.answer(request) if asks_model else None
            channel.write_log(request, reply)
            try:
                if reply:
                    self.send_reply(channel, request, reply)
                else:
                    self.send_json({"input_tokens": max(1, request.size // 4)})
            except ConnectionError:
                self.close_connection = True  # a client that was killed or interrupted

        do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = do_PATCH = answer

        def send_reply(self, channel: Channel, request: Request, reply: Reply) -> None:
            if reply.status != 200:
                self.send_json(error_body(reply), reply.status)
                return
            whole = message(reply, request)
            if not request.body.get("stream"):
                self.send_json(whole)
                return
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.send_header("connection", "close")
            self.end_headers()
            self.close_connection = True
            for frame, midway in frames(whole):
                self.wfile.write(frame)
                self.wfile.flush()
                if midway and not channel.hold(reply):
                    return

        def send_json(self, body: Any, status: int = 200) -> None:
            data = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(data)

    return Handler
