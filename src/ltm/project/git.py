"""The git repository a folder belongs to and its remote, read from files; git is never run.

A hook has no time for a process, and git may refuse, ask or not be there. This module knows as much
of git's layout as it takes: `.git` folders and files, work trees, submodules, bare repositories and
the `remote` settings of a repository. A folder may hold files that others wrote, so a `.git` that
names the git folder of another place is believed only if that git folder names the place in return,
and a bare repository inside of a work tree is a part of that work tree. `normalise` gives a
remote's address one spelling, whatever protocol and login it was written with.
"""

import os
import re
from collections.abc import Iterator
from typing import NamedTuple

from ltm.files.atomic import read_plain

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


_MAX_HOPS = 5


class Repository(NamedTuple):
    """A git repository as seen from one of its work trees."""

    work_tree: str
    """The folder that holds `.git`; '' in a bare repository."""
    common_dir: str
    """The real path of the folder all work trees share; '' when `.git` leads nowhere."""
    elsewhere: str = ""
    """The git folder of another place, where `.git` names one that does not know this folder."""


def at(folder: str) -> Repository | None:
    """The repository whose top this very folder is, or None."""
    dot_git = os.path.join(folder, ".git")
    if os.path.isdir(dot_git):
        if _is_git_dir(dot_git):
            return _seen_from(folder, dot_git)
    elif os.path.lexists(dot_git):
        # A `.git` file that leads nowhere still marks a top: git does not look further up either.
        target = _gitfile_target(folder, dot_git)
        return _seen_from(folder, target) if _is_git_dir(target) else Repository(folder, "")
    if _is_git_dir(folder):
        common_dir = _common_dir(folder)
        if common_dir == folder or _is_of_work_tree(folder, common_dir):
            inside = os.path.basename(common_dir) == ".git"
            return Repository(os.path.dirname(common_dir) if inside else "", common_dir)
    return None


def find(start: str) -> Repository | None:
    """The repository a folder (a real path) belongs to, or None.

    A clone can hold a bare repository among its files, with any settings: it is part of the clone.
    """
    bare: Repository | None = None
    for folder in upward(start):
        found = at(folder)
        if found is not None and found.work_tree:
            return found
        bare = bare or found
    return bare


def upward(start: str) -> Iterator[str]:
    """A folder and those of its parents that may speak for it.

    The user's home and what is above it may not: a dotfiles repository in the home folder would
    make one project of everything below. Nor may a folder where anyone can plant a `.git`, such
    as /tmp.
    """
    home = os.path.realpath(os.path.expanduser("~"))
    folder = start
    while True:
        if folder == start or not (_holds_path(folder, home) or _is_open_to_all(folder)):
            yield folder
        parent = os.path.dirname(folder)
        if parent == folder:
            return
        folder = parent


def _holds_path(folder: str, path: str) -> bool:
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def _is_open_to_all(folder: str) -> bool:
    try:
        return os.stat(folder).st_mode & 0o1002 == 0o1002
    except OSError:
        return False


def settings(common_dir: str) -> list[tuple[str, str, str]]:
    """A repository's own settings as (section, key, value), such as `remote.origin`, `url`, ….

    What cannot be read or understood is left out; included files are not followed.
    """
    try:
        text = os.fsdecode(read_plain(os.path.join(common_dir, "config")))
    except OSError:
        return []
    return list(_parse(text))


def remote_address(common_dir: str) -> str:
    """The address of `origin`, else of the first remote, as written there; '' without any."""
    addresses: dict[str, str] = {}
    for section, key, value in settings(common_dir):
        if section.startswith("remote.") and key == "url" and value:
            addresses.setdefault(section[len("remote.") :], value)
    return addresses.get("origin") or next(iter(addresses.values()), "")


def resolve_remote(repository: Repository) -> tuple[str, tuple[str, ...]]:
    """The remote in its one spelling, and the common dirs of the repositories asked on the way.

    A remote that is a path leads to another repository here, whose remote then counts: so a local
    clone of a clone of a public repository is known by the public address. Without any address
    the last repository on the way is the remote (`file:/path`), and a repository that has no
    remote at all has ''. Repositories that point at each other in a ring agree on one of them.
    """
    trail = [repository.common_dir]
    here = repository
    for _ in range(_MAX_HOPS):
        address = remote_address(here.common_dir)
        if not address:
            break
        path = local_path(address)
        if path is None:
            return normalise(address), tuple(trail)
        path = os.path.join(here.work_tree or here.common_dir, path)
        found = _at_address(path)
        if found is None:
            return local_name(os.path.realpath(path)), tuple(trail)
        if found.common_dir in trail:
            ring = trail[trail.index(found.common_dir) :]
            return _unless_own(min(ring), repository), tuple(trail)
        trail.append(found.common_dir)
        here = found
    return _unless_own(trail[-1], repository), tuple(trail)


def local_name(path: str) -> str:
    """A place on this machine as a name: a repository is named by its work tree's folder."""
    return "file:" + (path.removesuffix(os.sep + ".git") or os.sep)


def _unless_own(common_dir: str, repository: Repository) -> str:
    return "" if common_dir == repository.common_dir else local_name(common_dir)


def _at_address(path: str) -> Repository | None:
    """The repository a local address names: git also tries the name with `.git` behind it."""
    if path.startswith(("//", "\\\\")):
        return None  # another machine's share: looking could take as long as the network wants
    for candidate in (path, path.rstrip("/") + ".git"):
        found = at(os.path.realpath(candidate))
        if found is not None and found.common_dir:
            return found
    return None


def _is_git_dir(path: str) -> bool:
    if not path or not os.path.lexists(os.path.join(path, "HEAD")):
        return False
    if os.path.isdir(os.path.join(path, "objects")):
        return os.path.isdir(os.path.join(path, "refs"))
    return os.path.isfile(os.path.join(path, "commondir"))


def _common_dir(git_dir: str) -> str:
    """The folder shared by all work trees: where `commondir` points, else the git dir itself."""
    try:
        shared = os.fsdecode(read_plain(os.path.join(git_dir, "commondir"))).rstrip("\r\n")
    except OSError:
        return os.path.realpath(git_dir)
    if "\0" in shared:
        return ""
    common_dir = os.path.realpath(os.path.join(git_dir, shared))
    return common_dir if _is_git_dir(common_dir) else ""


def _seen_from(folder: str, git_dir: str) -> Repository:
    common_dir = _common_dir(git_dir)
    if not common_dir or _is_git_dir_of(folder, os.path.realpath(git_dir), common_dir):
        return Repository(folder, common_dir)
    return Repository(folder, "", common_dir)


def _is_git_dir_of(folder: str, git_dir: str, common_dir: str) -> bool:
    """Whether a git folder is that of this work tree: it lies in it, or names it in return.

    What it names may be gone: then the work tree was moved by hand.
    """
    if git_dir != common_dir:
        if not _is_of_work_tree(git_dir, common_dir):
            return False
        try:
            back = os.fsdecode(read_plain(os.path.join(git_dir, "gitdir"))).rstrip("\r\n")
        except OSError:
            return False
        return _leads_back(os.path.join(git_dir, back), os.path.join(folder, ".git"))
    if git_dir.startswith(folder.rstrip(os.sep) + os.sep):
        return True
    own = {key: value for section, key, value in settings(git_dir) if section == "core"}
    if own.get("worktree"):
        return _leads_back(os.path.join(git_dir, own["worktree"]), folder)
    # What `git init --separate-git-dir` makes; a bare repository has no work tree.
    return os.path.basename(git_dir) != ".git" and own.get("bare", "").lower() != "true"


def _is_of_work_tree(git_dir: str, common_dir: str) -> bool:
    """Whether git made this folder for a further work tree: only those lead to another one."""
    return bool(common_dir) and os.path.dirname(git_dir) == os.path.join(common_dir, "worktrees")


def _leads_back(path: str, place: str) -> bool:
    path = path.replace("\0", "")
    return not os.path.lexists(path) or os.path.realpath(path) == os.path.realpath(place)


def _gitfile_target(folder: str, dot_git: str) -> str:
    try:
        text = os.fsdecode(read_plain(dot_git, limit=64 * 1024))
    except OSError:
        return ""
    if not text.startswith("gitdir: ") or "\0" in text:
        return ""
    return os.path.join(folder, text[len("gitdir: ") :].rstrip("\r\n"))


_SECTION = re.compile(r'\[\s*([-.\w]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\]')
_KEY = re.compile(r"([A-Za-z][-A-Za-z0-9]*)[ \t]*(=?)[ \t]*")
_ESCAPED = re.compile(r"\\(.)")


def _parse(text: str) -> Iterator[tuple[str, str, str]]:
    section = ""
    lines = iter(text.replace("\0", "").split("\n"))
    for line in lines:
        line = line.strip()
        head = _SECTION.match(line)
        if head:
            section = head[1].lower()
            if head[2] is not None:
                section += "." + _ESCAPED.sub(r"\1", head[2])
            line = line[head.end() :].lstrip()
        key = _KEY.match(line)
        if section and key:
            yield section, key[1].lower(), _value(line[key.end() :], lines) if key[2] else "true"


_ESCAPES = {"n": "\n", "t": "\t", "b": "\b"}


def _value(text: str, following: Iterator[str]) -> str:
    """A setting's value without its quotes, escapes and comment; a last backslash continues it."""
    value: list[str] = []
    quoted = False
    kept = 0  # how much survives the trimming of spaces outside quotes
    characters = iter(text)
    while character := next(characters, ""):
        if character == '"':
            quoted = not quoted
            kept = len(value)
            continue
        if character in "#;" and not quoted:
            break
        if character == "\\":
            escaped = next(characters, "")
            if not escaped:
                characters = iter(next(following, "").rstrip("\r"))
                continue
            character = _ESCAPES.get(escaped, escaped)
        value.append(character)
        if quoted or not character.isspace():
            kept = len(value)
    return "".join(value[:kept])
