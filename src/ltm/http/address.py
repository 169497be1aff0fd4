"""Where the server listens, under which names it may be called, and the note it leaves for hooks.

Only this machine is served unless a person says otherwise. A page that made a foreign name lead to
this machine (DNS rebinding) still sends the foreign name, so the names are a list. The note,
`<home>/server.json`, says where the server is and holds the secrets that prove both sides. Hooks in
sh read it too, with no tool but the shell: it is one line, and the values hold letters, digits,
dots, colons, dashes and underscores only.
"""

from __future__ import annotations

import os
import secrets
import socket
from dataclasses import asdict, dataclass
from hmac import compare_digest
from http.client import HTTPConnection, HTTPException
from ipaddress import ip_address

from ltm.errors import LtmError, Refused, WrongUsage
from ltm.files.atomic import read_plain, remove_file, write_file
from ltm.files.fastjson import read_object, write
from ltm.model import iso, now

_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_HTTP = 80  # the one port that a browser leaves out of the name


@dataclass(frozen=True, slots=True)
class AllowedNames:
    """What a request may name as the server it is for, and as the page it comes from."""

    hosts: tuple[str, ...]
    origins: tuple[str, ...]


def bind(host: str, port: int, *, allow_remote: bool) -> socket.socket:
    """A socket at this address, not listening yet; port 0 is any that is free."""
    address = "127.0.0.1" if host == "localhost" else host
    try:
        ip = ip_address(address)
    except ValueError:
        raise WrongUsage(
            f"'{host}' is not an address", hint="give an IP address such as 127.0.0.1"
        ) from None
    if not ip.is_loopback and not allow_remote:
        raise WrongUsage(
            f"{host} can be reached from other machines",
            hint="leave --host out; inside a container, add --allow-remote",
        )
    family = socket.AF_INET6 if ip.version == 6 else socket.AF_INET
    # Named as TCP, or asyncio does not switch off the delay of small packets (40 ms an answer).
    made = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        # Without this a server could not be started again while old connections fade away.
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((address, port))
    except OSError as error:
        made.close()
        raise Refused(
            f"cannot listen on {host} port {port}: {error.strerror}",
            hint="choose another --port; 0 takes any that is free",
        ) from error
    return made


def address_of(listening: socket.socket) -> tuple[str, int]:
    """The host and port under which this machine reaches a socket."""
    host, port = listening.getsockname()[:2]
    return ("127.0.0.1" if ip_address(host).is_unspecified else str(host)), int(port)


def allowed_names(listening: socket.socket) -> AllowedNames:
    """The names under which a socket may be called: this machine's own, and its very address."""
    host, port = address_of(listening)
    names = dict.fromkeys((*_LOOPBACK, _bracketed(host)))
    hosts = [f"{name}:{port}" for name in names]
    if port == _HTTP:
        hosts += names
    return AllowedNames(tuple(hosts), tuple(f"http://{each}" for each in hosts))


def _bracketed(host: str) -> str:
    """A host as it stands in an address."""
    return f"[{host}]" if ":" in host else host


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
        return f"http://{_bracketed(self.host)}:{self.port}"


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


def is_well(server: Running) -> bool:
    """Whether this very server is there and answers a client that has the token."""
    if not answers(server):
        return False
    connection = HTTPConnection(server.host, server.port, timeout=_PATIENCE)
    try:
        connection.request("GET", "/health", headers={"Authorization": f"Bearer {server.token}"})
        return connection.getresponse().status == 200
    except (OSError, HTTPException, ValueError):
        return False
    finally:
        connection.close()


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
