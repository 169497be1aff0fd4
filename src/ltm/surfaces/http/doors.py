"""Where the server listens, and under which names it may be called.

Owns the rule that only this machine is served unless a person says otherwise, and the list of
names a browser may have used to get here: a page that made a foreign name lead to this machine
(DNS rebinding) still sends the foreign name.
"""

from __future__ import annotations

import socket
from dataclasses import dataclass
from ipaddress import ip_address

from ltm.core.errors import Refused, WrongUsage

_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_HTTP = 80  # the one port that a browser leaves out of the name


@dataclass(frozen=True, slots=True)
class Doors:
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
    # Said to be TCP, or asyncio does not switch off the delay of small packets (40 ms an answer).
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


def doors_of(listening: socket.socket) -> Doors:
    """The names under which a socket may be called: this machine's own, and its very address."""
    host, port = address_of(listening)
    names = dict.fromkeys((*_LOOPBACK, bracketed(host)))
    hosts = [f"{name}:{port}" for name in names]
    if port == _HTTP:
        hosts += names
    return Doors(tuple(hosts), tuple(f"http://{each}" for each in hosts))


def bracketed(host: str) -> str:
    """A host as it stands in an address."""
    return f"[{host}]" if ":" in host else host
