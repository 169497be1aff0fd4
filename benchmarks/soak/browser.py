"""Row S2, a hostile page in a real browser: `python -m benchmarks.soak.browser`.

Chromium opens a page of another site, which tries everything a page can against `ltm serve`:
requests that need no permission (text, forms, pictures, frames, sockets), to each name of this
machine, and reading the answers; then the page's own name is made to lead to our server (DNS
rebinding). Nothing may change and not a byte may be read. A server without a guard stands beside
ours, to show that the page does reach what it aims at. Needs `chromium`.
"""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from ltm.spool import events
from tests.faults.scene import Scene
from tests.figures import count
from tests.hook.runner import Hooks
from tests.http.runner import Server

HOSTS = ("127.0.0.1", "localhost", "0.0.0.0", "evil.test")
PATHS = ("/health", "/hook/session_start", "/hook/stop", "/hook/session_end", "/mcp")
_EVIL = "evil.test"
_READ = re.compile(r'<pre id="read">(.*?)</pre>', re.DOTALL)

_PAGE = """<!doctype html><title>a page</title><pre id="read"></pre><script>
const targets = %s, message = %s, read = [];
const wait = (work) => Promise.race([work, new Promise((done) => setTimeout(done, 3000))]);
async function attack(url) {
  for (const type of ["text/plain", "application/json", "application/x-www-form-urlencoded"])
    for (const mode of ["no-cors", "cors"]) {
      const options = {method: "POST", mode, body: message, headers: {"Content-Type": type}};
      try {
        const answer = await wait(fetch(url, options));
        const text = answer ? await answer.text() : "";
        if (text) read.push([url, mode, text]);
      } catch (error) {}
    }
  try {
    const answer = await wait(fetch(url));
    const text = answer ? await answer.text() : "";
    if (text) read.push([url, "get", text]);
  } catch (error) {}
  navigator.sendBeacon(url, message);
  new Image().src = url;
  const frame = document.createElement("iframe");
  frame.name = "f" + Math.random();
  frame.src = url;
  document.body.append(frame);
  const form = document.createElement("form");
  Object.assign(form, {action: url, method: "POST", enctype: "text/plain", target: frame.name});
  const field = document.createElement("input");
  Object.assign(field, {name: message, value: ""});
  form.append(field);
  document.body.append(form);
  form.submit();
  await wait(new Promise((done) => {
    try {
      const socket = new WebSocket(url.replace("http", "ws"));
      socket.onmessage = (heard) => { read.push([url, "socket", String(heard.data)]); done(); };
      socket.onclose = socket.onerror = done;
    } catch (error) { done(); }
  }));
}
Promise.all(targets.map(attack)).then(() => {
  document.getElementById("read").textContent = JSON.stringify(read);
  document.title = "done";
});
</script>"""


@contextmanager
def serving(handler: type[BaseHTTPRequestHandler]) -> Iterator[int]:
    """A server on this machine; its port."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()


def page_at(targets: list[str], message: str) -> type[BaseHTTPRequestHandler]:
    """What serves the hostile page."""

    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write((_PAGE % (json.dumps(targets), json.dumps(message))).encode())

        def log_message(self, *_: Any) -> None:
            pass

    return Page


def open_door(heard: list[str]) -> type[BaseHTTPRequestHandler]:
    """A server that answers everybody: what ours would be without its guard."""

    class Open(BaseHTTPRequestHandler):
        def answer(self) -> None:
            heard.append(f"{self.command} {self.path}")
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            self.send_response(200)
            self.send_header("Access-Control-Allow-Origin", "*")
            self.end_headers()
            with suppress(BrokenPipeError):  # a page that has gone on does not listen
                self.wfile.write(b"a secret")

        do_GET = do_POST = do_OPTIONS = answer

        def log_message(self, *_: Any) -> None:
            pass

    return Open


def browse(url: str, profile: Path) -> str:
    """What a real browser makes of a page once its scripts are done."""
    done = subprocess.run(
        [
            "chromium",
            *("--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run"),
            *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
            f"--user-data-dir={profile}",
            f"--host-resolver-rules=MAP {_EVIL} 127.0.0.1",
            *("--virtual-time-budget=60000", "--timeout=90000", "--dump-dom", url),
        ],
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    return done.stdout


def attack(port: int, message: str, profile: Path) -> list[Any]:
    """Let the page try everything against a port; what it could read."""
    targets = [f"http://{host}:{port}{path}" for host in HOSTS for path in PATHS]
    with serving(page_at(targets, message)) as site:
        shown = browse(f"http://{_EVIL}:{site}/", profile)
    found = _READ.search(shown)
    assert found is not None, shown[:500]
    read: list[Any] = json.loads(html.unescape(found[1]))
    return read


def run(top: Path) -> dict[str, int]:
    """Attack an open server, then ours."""
    hooks = Hooks(top / "world")
    message = json.dumps(hooks.payload("SessionStart", source="startup"))
    heard: list[str] = []
    with serving(open_door(heard)) as port:
        read_there = attack(port, message, top / "profile")
    with Server(hooks) as server:
        read = attack(server.port, message, top / "profile")
        rebound = browse(f"http://{_EVIL}:{server.port}/health", top / "profile")
        working = server.tell("stop", hooks.payload("Stop")).status  # it was there all the time
        told = [events.load(path) for _, path in events.waiting(str(hooks.home), hooks.environ)]
    strange = [each for each in told if each.get("event") != "Stop"]
    scene = Scene(hooks.user_home)
    return {
        "targets": len(HOSTS) * len(PATHS),
        "open_server_requests": len(heard),
        "open_server_answers_read": len(read_there),
        "answers_read": len(read) + ("status" in rebound),
        "state_changes": len(strange) + sum(1 for _ in scene.top.rglob("memories/*.md")),
        "own_client_refused": int(working >= 400),
    }


def main() -> None:
    """Attack, print, and fail if the page got anything."""
    if not shutil.which("chromium"):
        sys.exit("chromium is not installed, and only a real browser tells what a page can do")
    with tempfile.TemporaryDirectory(prefix="ltm-browser-") as folder:
        figures = run(Path(folder))
    count("S2", **figures)
    print(figures)
    reached = figures["open_server_requests"] and figures["open_server_answers_read"]
    wrong = ("answers_read", "state_changes", "own_client_refused")
    sys.exit(not reached or any(figures[name] for name in wrong))


if __name__ == "__main__":
    main()
