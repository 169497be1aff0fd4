"""The address of a git remote in one spelling, whatever protocol and login it was written with.

Owns `normalise` and the question whether an address is a path on this machine. Pure text: no file
is touched. Imports the standard library only, because hooks use it too.
"""

from __future__ import annotations

import os

# Forges that treat `Org/Repo` and `org/repo` as one; elsewhere the case of a path counts.
_CASELESS = frozenset({"github.com", "gitlab.com", "bitbucket.org"})
# The names under which forges offer ssh on the port that firewalls leave open.
_SAME_HOST = {
    "www.github.com": "github.com",
    "ssh.github.com": "github.com",
    "altssh.gitlab.com": "gitlab.com",
    "altssh.bitbucket.org": "bitbucket.org",
}
_USUAL_PORTS = frozenset({"", "22", "80", "443", "9418"})


def local_path(address: str) -> str | None:
    """The path an address names on this machine, or None when it names another machine."""
    address = _without_helper(address.strip())
    if address.lower().startswith("file://"):
        host, slash, path = address[7:].partition("/")
        if host.lower() not in ("", "localhost") or not slash:
            return None
        if "%" in path:
            from urllib.parse import unquote

            path = unquote(path, errors="surrogateescape")
        return path if os.name == "nt" else "/" + path
    if not address or "://" in address:
        return None
    if os.name == "nt" and address[1:2] == ":":
        return address
    # A colon before the first slash is what makes git think of `host:path`.
    return address if ":" not in address.partition("/")[0] else None


def normalise(address: str) -> str:
    """`host/path` of a remote on another machine: no protocol, login, `.git` or stray slash."""
    address = _without_helper(address.strip())
    _, marker, rest = address.partition("://")
    if marker:
        authority, _, path = rest.partition("/")
        path = path.partition("?")[0].partition("#")[0]
        host, port = _host_and_port(authority.rpartition("@")[2])
    else:
        host, port, path = _short_form(address)
    host = host.rpartition("@")[2].lower().rstrip(".")
    host = _SAME_HOST.get(host, host)
    path = "/".join(part for part in path.split("/") if part)
    path = path.removesuffix(".git").rstrip("/")
    if host in _CASELESS:
        path, port = path.lower(), ""
    if not host:
        return ""
    if not port.isdigit():  # what else may stand there can be a login
        port = ""
    return f"{host}{'' if port in _USUAL_PORTS else ':' + port}/{path}"


def _short_form(address: str) -> tuple[str, str, str]:
    """Host, port and path of `user@host:path`, the form without a protocol."""
    login, at, rest = address.partition("/")[0].rpartition("@")
    # `user:password@host:path` is not valid for git, but a password must not be kept even so.
    if at and ":" in rest:
        address = address[len(login) + 1 :]
    elif "@" in address.partition(":")[0]:
        address = address.partition("@")[2]
    if address.startswith("["):
        inside, _, path = address[1:].partition("]")
        host, port = (inside, "") if inside.count(":") > 1 else _host_and_port(inside)
        return host, port, path.removeprefix(":")
    host, _, path = address.partition(":")
    return host, "", path


def _host_and_port(authority: str) -> tuple[str, str]:
    if authority.startswith("["):
        host, _, tail = authority[1:].partition("]")
        return host, tail.removeprefix(":")
    host, _, port = authority.partition(":")
    return host, port


def _without_helper(address: str) -> str:
    """`gcrypt::git@host:path` names the helper git talks through, then the address proper."""
    helper, marker, rest = address.partition("::")
    return rest if marker and helper.isidentifier() else address
