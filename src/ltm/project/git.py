"""A folder's git repository, its remote and its commits, read from files; git is never run.

A hook has no time for a process, and git may refuse, ask or not be there. A folder may hold files
that others wrote, so a `.git` that names the git folder of another place is believed only if that
names the place in return, and a bare repository inside of a work tree is part of that.

A remote's address can be copied; the name of a commit is known only to those who have the history.
What is borrowed from elsewhere (alternates, links) is not held: a repository could borrow from any
other on this machine.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from itertools import islice

from ltm.files.atomic import LIMIT, is_inside, read_plain
from ltm.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import BinaryIO

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
_MAX_HOPS = 5  # from a local clone to the one it was cloned from


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
        target = _target(folder, dot_git)
        return _seen_from(folder, target) if _is_git_dir(target) else Repository(folder, "")
    if _is_git_dir(folder):
        common_dir = _common_dir(folder)
        if common_dir == folder or _is_of_work_tree(folder, common_dir):
            inside = os.path.basename(common_dir) == ".git"
            return Repository(os.path.dirname(common_dir) if inside else "", common_dir)
    return None


def _target(folder: str, dot_git: str) -> str:
    """The git folder that a `.git` file names; '' if it names none."""
    text = _text(dot_git, 64 * 1024)
    is_link = text.startswith("gitdir: ") and "\0" not in text
    return os.path.join(folder, text[len("gitdir: ") :].rstrip("\r\n")) if is_link else ""


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
        holds_home = home == folder or home.startswith(folder.rstrip(os.sep) + os.sep)
        if folder == start or not (holds_home or _is_open_to_all(folder)):
            yield folder
        parent = os.path.dirname(folder)
        if parent == folder:
            return
        folder = parent


def _is_open_to_all(folder: str) -> bool:
    try:
        return os.stat(folder).st_mode & 0o1002 == 0o1002
    except OSError:
        return False


def head_file(folder: str) -> str:
    """The file that names the branch checked out in a work tree; '' without git."""
    dot_git = os.path.join(folder, ".git")
    git_dir = dot_git if os.path.isdir(dot_git) else _target(folder, dot_git)
    return os.path.join(git_dir, "HEAD") if git_dir else ""


def recent_branches(folder: str, since: float) -> tuple[str, ...]:
    """The branch checked out in a work tree, then those it had since a moment, the latest first.

    Git's own log of checkouts is read as far as its last `_LOG` bytes go.
    """
    head = head_file(folder)
    names: dict[str, None] = {}
    text = _text(head) if head else ""
    log = _tail(os.path.join(os.path.dirname(head), "logs", "HEAD")) if text else ""
    if text.startswith(_ON_BRANCH):
        names[text[len(_ON_BRANCH) :].strip()] = None
    for line in reversed(log.split("\n")):
        moved = re.search(_CHECKOUT, line) if "checkout" in line else None
        if moved and float(moved[1]) >= since:
            names |= dict.fromkeys((moved[3], moved[2]))
    return tuple(each for each in names if not _is_hash(each))


_ON_BRANCH = "ref: refs/heads/"
_CHECKOUT = r"> (\d+) [+-]\d{4}\tcheckout: moving from (\S+) to (\S+)\Z"
_LOG = 32 * 1024


def _tail(path: str) -> str:
    """The end of a file; nothing where there is none."""
    try:
        with open(path, "rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - _LOG))
            return os.fsdecode(file.read(_LOG))
    except OSError:
        return ""


def _is_hash(name: str) -> bool:
    return len(name) >= 7 and not name.strip("0123456789abcdef")


def settings(common_dir: str) -> list[tuple[str, str, str]]:
    """A repository's own settings as (section, key, value), such as `remote.origin`, `url`, ….

    What cannot be read or understood is left out; included files are not followed.
    """
    return list(_parse(_text(os.path.join(common_dir, "config"))))


def resolve_remote(repository: Repository) -> tuple[str, tuple[str, ...]]:
    """The remote in its one spelling, and the common dirs of the repositories on the way to it.

    A remote that is a path leads to another repository here, whose remote then counts: so a local
    clone of a clone of a public repository is known by the public address. Without any address
    the last repository on the way is the remote (`file:/path`), and a repository that has no
    remote at all has ''. Repositories that point at each other in a ring agree on one of them.
    """
    trail = [last := repository.common_dir]
    here = repository
    for _ in range(_MAX_HOPS):
        addresses: dict[str, str] = {}
        for section, key, value in settings(here.common_dir):
            if section.startswith("remote.") and key == "url" and value:
                addresses.setdefault(section[len("remote.") :], value)
        address = addresses.get("origin") or next(iter(addresses.values()), "")
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
            last = min(trail[trail.index(found.common_dir) :])
            break
        trail.append(last := found.common_dir)
        here = found
    return "" if last == repository.common_dir else local_name(last), tuple(trail)


def local_name(path: str) -> str:
    """A place on this machine as a name: a repository is named by its work tree's folder."""
    return "file:" + (path.removesuffix(os.sep + ".git") or os.sep)


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
    shared = _text(os.path.join(git_dir, "commondir")).rstrip("\r\n")
    if not shared:
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
        back = _text(os.path.join(git_dir, "gitdir")).rstrip("\r\n")
        place = os.path.join(folder, ".git")
        return bool(back) and _leads_back(os.path.join(git_dir, back), place)
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


def _text(path: str, limit: int = LIMIT) -> str:
    try:
        return os.fsdecode(read_plain(path, limit=limit))
    except (OSError, ValueError):
        return ""


_SECTION = r'\[\s*([-.\w]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\]'
_KEY = r"([A-Za-z][-A-Za-z0-9]*)[ \t]*(=?)[ \t]*"
_ESCAPED = r"\\(.)"
_ESCAPES = {"n": "\n", "t": "\t", "b": "\b"}


def _parse(text: str) -> Iterator[tuple[str, str, str]]:
    section = ""
    lines = iter(text.replace("\0", "").split("\n"))
    for line in lines:
        line = line.strip()
        head = re.match(_SECTION, line)
        if head:
            section = head[1].lower()
            if head[2] is not None:
                section += "." + re.sub(_ESCAPED, r"\1", head[2])
            line = line[head.end() :].lstrip()
        key = re.match(_KEY, line)
        if section and key:
            yield section, key[1].lower(), _value(line[key.end() :], lines) if key[2] else "true"


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


# -- commits --------------------------------------------------------------------------------------


_HEADS = ("main", "master")
_REFS = (
    "HEAD",
    "refs/remotes/origin/HEAD",
    *(f"{folder}/{name}" for folder in ("refs/heads", "refs/remotes/origin") for name in _HEADS),
)
_HEX = frozenset("0123456789abcdef")
_LENGTHS = (40, 64)  # SHA-1 and SHA-256
_PACKED = 16 * 1024 * 1024  # bytes of packed branches that are read
_LOOSE = 1024 * 1024  # bytes of a commit, packed
_MOST_PACKS = 400  # entries of the folder they are in
_MOST_DELTAS = 500  # from an object in a pack to the one it was made from
_MAGIC = b"\xfftOc\0\0\0\x02"
_HEAD = len(_MAGIC) + 256 * 4
_COMMIT, _BY_OFFSET, _BY_NAME = 1, 6, 7


def branch_commits(common_dir: str) -> list[str]:
    """The commits at which a repository's usual branches stand, here and at its origin."""
    packed: dict[str, str] = {}
    for line in _text(os.path.join(common_dir, "packed-refs"), _PACKED).splitlines():
        commit, blank, name = line.partition(" ")
        if blank and _is_name(commit):
            packed[name] = commit
    found = (_resolved(common_dir, packed, name) for name in _REFS)
    return [commit for commit in dict.fromkeys(found) if commit]


def holds(common_dir: str, commits: Iterable[str]) -> bool:
    """Whether any of these commits is among a repository's own objects."""
    names = [commit for commit in commits if _is_name(commit)]
    if not names:
        return False
    if any(_is_loose(common_dir, name) for name in names):
        return True
    packed = [bytes.fromhex(name) for name in names]
    return any(_is_packed(path, packed) for path in _pack_indexes(common_dir))


def share_history(one: str, other: str) -> bool:
    """Whether one of two repositories holds a commit at which the other stands."""
    return holds(one, branch_commits(other)) or any(
        holds(one, [commit]) and holds(other, [commit]) for commit in branch_commits(one)
    )


def _resolved(common_dir: str, packed: dict[str, str], name: str) -> str:
    for _ in range(3):
        try:
            text = os.fsdecode(read_plain(os.path.join(common_dir, name), limit=4096)).strip()
        except (OSError, ValueError):
            return packed.get(name, "")
        if not text.startswith("ref: refs/"):
            return text if _is_name(text) else ""
        name = text[len("ref: ") :]
        if ".." in name:
            return ""
    return ""


def _is_name(text: str) -> bool:
    return len(text) in _LENGTHS and _HEX.issuperset(text) and text.strip("0") != ""


def _is_loose(common_dir: str, name: str) -> bool:
    path = os.path.join(common_dir, "objects", name[:2], name[2:])
    if not is_inside(path, common_dir):
        return False
    try:
        data = read_plain(path, limit=_LOOSE)
    except OSError:
        return False
    import zlib

    try:
        return zlib.decompressobj().decompress(data, 16).startswith(b"commit ")
    except zlib.error:
        return False


def _pack_indexes(common_dir: str) -> Iterator[str]:
    folder = os.path.join(common_dir, "objects", "pack")
    if not is_inside(folder, common_dir):
        return
    try:
        with os.scandir(folder) as entries:
            for entry in islice(entries, _MOST_PACKS):
                if entry.name.endswith(".idx") and entry.is_file(follow_symlinks=False):
                    yield entry.path
    except OSError:
        return


def _is_packed(path: str, names: list[bytes]) -> bool:
    """Whether a commit of one of these names is in a pack, by the pack's index."""
    pack = f"{path.removesuffix('.idx')}.pack"
    if os.path.islink(pack) or not os.path.isfile(pack):
        return False
    try:
        with open(path, "rb", buffering=0) as index, open(pack, "rb", buffering=0) as objects:
            return any(
                _is_commit(index, objects, offset, len(name))
                for name in names
                if (offset := _offset(index, name)) is not None
            )
    except OSError:
        return False


def _offset(index: BinaryIO, name: bytes) -> int | None:
    """Where an object begins in the pack of an index, in which names stand in order."""
    index.seek(0)
    head = index.read(_HEAD)
    if not head.startswith(_MAGIC) or len(head) < _HEAD:
        return None

    def end(first: int) -> int:
        at = len(_MAGIC) + 4 * first
        return int.from_bytes(head[at : at + 4], "big")

    low, high, size = end(name[0] - 1) if name[0] else 0, end(name[0]), end(255)
    while low < high:
        middle = (low + high) // 2
        there = _read(index, _HEAD + middle * len(name), len(name))
        if there == name:
            checks = _HEAD + size * len(name)
            offsets = checks + size * 4
            offset = int.from_bytes(_read(index, offsets + middle * 4, 4), "big")
            if offset >> 31:
                large = offsets + size * 4 + (offset & 0x7FFFFFFF) * 8
                offset = int.from_bytes(_read(index, large, 8), "big")
            return offset
        low, high = (middle + 1, high) if there < name else (low, middle)
    return None


def _is_commit(index: BinaryIO, objects: BinaryIO, offset: int, length: int) -> bool:
    """What an object is; one kept as a difference is what that was made from."""
    for _ in range(_MOST_DELTAS):
        head = _read(objects, offset, 64)
        kind = (head[0] >> 4) & 7 if head else 0
        if kind not in (_BY_OFFSET, _BY_NAME):
            return kind == _COMMIT
        at = 1 + next((n for n, byte in enumerate(head) if byte < 0x80), len(head))
        if kind == _BY_NAME:
            found = _offset(index, head[at : at + length])
        else:
            back = 0
            for n, byte in enumerate(head[at:]):
                back = ((back + bool(n)) << 7) | (byte & 0x7F)
                if byte < 0x80:
                    break
            found = offset - back if 0 < back <= offset else None
        if found is None:
            return False
        offset = found
    return False


def _read(file: BinaryIO, at: int, size: int) -> bytes:
    file.seek(at)
    return file.read(size)
