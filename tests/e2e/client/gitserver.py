"""A git server on loopback (smart HTTP through `git http-backend`).

A plugin from a *directory* marketplace runs in place; from a git marketplace the client runs its
own cached copy, as it does for users. Both ways want a test. Imports: the standard library.
"""

from __future__ import annotations

import http.server
import os
import subprocess
import threading
from pathlib import Path
from typing import Any

GIT_ENV = {
    "PATH": os.environ.get("PATH", os.defpath),
    "HOME": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "e2e",
    "GIT_AUTHOR_EMAIL": "e2e@localhost",
    "GIT_COMMITTER_NAME": "e2e",
    "GIT_COMMITTER_EMAIL": "e2e@localhost",
}


def git(folder: Path, *args: str) -> str:
    """Run git in `folder`, away from the machine's own git configuration."""
    done = subprocess.run(
        ["git", *args], cwd=folder, env=GIT_ENV, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"git {' '.join(args)} in {folder} failed: {done.stderr.strip()}")
    return done.stdout


def commit_all(folder: Path, message: str) -> None:
    """Commit everything in `folder`, which becomes a repository if it is none."""
    if not (folder / ".git").exists():
        git(folder, "init", "-q", "-b", "main")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "--allow-empty", "-m", message)


class GitServer:
    """Serves the repositories below `root`."""

    def __init__(self, root: Path) -> None:
        root.mkdir(parents=True, exist_ok=True)
        self.root = root
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _handler(root))
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True
        )
        self._thread.start()

    def publish(self, work_tree: Path, name: str, message: str = "publish") -> str:
        """Commit `work_tree`, push it to NAME.git and return the address to clone from."""
        commit_all(work_tree, message)
        bare = self.root / f"{name}.git"
        if not bare.exists():
            git(self.root, "init", "-q", "--bare", "-b", "main", str(bare))
            git(bare, "config", "uploadpack.allowFilter", "true")
        git(work_tree, "push", "-q", "-f", str(bare), "HEAD:main")
        return f"http://127.0.0.1:{self._server.server_address[1]}/{name}.git"

    def close(self) -> None:
        """Stop serving."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def _handler(root: Path) -> type[http.server.BaseHTTPRequestHandler]:
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: Any) -> None:
            pass

        def body(self) -> bytes:
            if self.headers.get("transfer-encoding") != "chunked":
                return self.rfile.read(int(self.headers.get("content-length") or 0))
            whole = b""
            while size := int(self.rfile.readline().strip() or b"0", 16):
                whole += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
            return whole

        def answer(self) -> None:
            path, _, query = self.path.partition("?")
            body = self.body()
            env = {
                **GIT_ENV,
                "GIT_PROJECT_ROOT": str(root),
                "GIT_HTTP_EXPORT_ALL": "1",
                "GIT_PROTOCOL": self.headers.get("git-protocol", ""),
                "PATH_INFO": path,
                "QUERY_STRING": query,
                "REQUEST_METHOD": self.command,
                "REMOTE_ADDR": "127.0.0.1",
                "CONTENT_TYPE": self.headers.get("content-type", ""),
                "CONTENT_LENGTH": str(len(body)),
                "HTTP_CONTENT_ENCODING": self.headers.get("content-encoding", ""),
            }
            backend = ["git", "http-backend"]
            out = subprocess.run(backend, input=body, env=env, capture_output=True, check=True)
            head, _, content = out.stdout.partition(b"\r\n\r\n")
            headers = dict(line.split(": ", 1) for line in head.decode("latin-1").split("\r\n"))
            self.send_response(int(headers.pop("Status", "200").split()[0]))
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = answer

    return Handler
