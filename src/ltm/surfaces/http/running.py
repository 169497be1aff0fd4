"""The note a running server leaves for hooks: where it is, and the secrets that prove both sides.

Owns `<home>/server.json`. Hooks in sh read it too, with no tool but the shell: it is one line, and
the values hold letters, digits, dots, colons, dashes and underscores only.
"""

from __future__ import annotations

import os
import secrets
from dataclasses import asdict, dataclass
from hmac import compare_digest
from http.client import HTTPConnection, HTTPException

from ltm.core.errors import LtmError
from ltm.core.model import iso, now
from ltm.core.quickjson import read_object, write
from ltm.storage.durable import remove_file, write_file
from ltm.storage.plainfile import read_plain
from ltm.surfaces.http.doors import bracketed

FILE = "server.json"
_PATIENCE = 1.0  # seconds a server has to show that it is there


@dataclass(frozen=True, slots=True)
class Running:
    """A server that runs, or ran."""

    host: str
    port: int
    token: str
    """What every request must carry."""
    challenge: str
    """What a client sends first, and alone: a stranger at the port of a server that was killed gets
    it too, but it opens nothing, and ended with that server."""
    proof: str
    """What the server answers to it, and with every other answer."""
    pid: int
    started_at: str

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://{bracketed(self.host)}:{self.port}"


def here(host: str, port: int) -> Running:
    """A server in this process, with secrets of its own."""
    token, challenge, proof = (secrets.token_urlsafe(32) for _ in range(3))
    return Running(host, port, token, challenge, proof, os.getpid(), iso(now()))


def load(home: str) -> Running | None:
    """The server that is noted, whether it still runs or not."""
    try:
        found = read_object(read_plain(os.path.join(home, FILE), follow=False).decode("ascii"))
    except (OSError, ValueError):
        return None
    texts = [found.get(name) for name in ("host", "token", "challenge", "proof", "started_at")]
    port, pid = found.get("port"), found.get("pid")
    if not all(isinstance(each, str) for each in texts):
        return None
    if not isinstance(port, int) or not isinstance(pid, int):
        return None
    host, token, challenge, proof, started_at = map(str, texts)
    return Running(host, port, token, challenge, proof, pid, started_at)


def note(home: str, server: Running) -> None:
    """Note a server that answers from now on; only this user can read it."""
    write_file(os.path.join(home, FILE), f"{write(asdict(server))}\n".encode("ascii"))


def remove(home: str, server: Running) -> None:
    """Take the note away, unless it is another server's by now. Never raises: we are leaving."""
    noted = load(home)
    if noted is not None and noted.token == server.token:
        try:
            remove_file(os.path.join(home, FILE))
        except LtmError:
            pass


def answers(server: Running) -> bool:
    """Whether this very server is there and answers."""
    connection = HTTPConnection(server.host, server.port, timeout=_PATIENCE)
    try:
        connection.request("GET", "/proof", headers={"LTM-Challenge": server.challenge})
        answer = connection.getresponse()
        proof = answer.headers.get("ltm-proof", "")
        return answer.status == 204 and compare_digest(proof.encode(), server.proof.encode())
    except (OSError, HTTPException, ValueError):
        return False
    finally:
        connection.close()
