"""The bare git repository that stands between the vaults and the person's remote.

It lies in `<home>/remote/repository.git` and has no work tree: files go into it and come out of it
as bytes, so that git never writes a memory, and a filter or a checkout is never run. It is derived
from the vaults and the remote: deleted, it is made again.
"""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from platform import node
from time import time

from ltm.errors import LtmError, NotFound, Refused, StorageFailed
from ltm.files.atomic import make_folder, read_plain, remove_file, write_file
from ltm.project.git_command import run_bare, run_network

BRANCH = "refs/heads/main"
FETCHED = "refs/ltm/fetched"
SECONDS = 120.0
"""How long git may take to talk to the remote."""

_CONFIG = b"""\
[core]
\trepositoryformatversion = 0
\tbare = true
\tlogAllRefUpdates = false
\tsharedRepository = 0600
\tfsync = committed
[gc]
\tautoDetach = false
"""
_NEW = "refs/ltm/new"
_PLAIN = (b"100644", b"100755")
_REPLACES = "Replaces: "
_REPLACED = re.compile(rf"{_REPLACES}(?P<commit>[0-9a-f]{{40}})\Z")
_LONGEST = 300
_MISSING_BRANCH = b"couldn't find remote ref"
_REFUSALS = (
    "No space left",
    "Disk quota exceeded",
    "Read-only file system",
    "Permission denied",
    "Input/output error",
    "Too many open files",
    "Cannot allocate memory",
    "out of memory",
)
"""What git says when the machine refuses, and nothing is wrong with the repository."""

_MAKE = "make an empty private repository there first"
_LOGIN = "git has no login for it: try 'git ls-remote ADDRESS' by hand"
_ADVICE = (
    ("'remote-gcrypt' is not a git command", "install git-remote-gcrypt"),
    (
        "gpg: decryption failed",
        "import the key that your other machine encrypts with: gpg --import FILE; or, if it has a"
        " passphrase, let gpg-agent know it: gpg --decrypt of any file asks for it",
    ),
    (
        "gpg: signing failed",
        "gpg-agent must know the passphrase, since nothing is asked here: 'gpg --sign' of any file"
        " asks for it",
    ),
    ("no default secret key", "gpg has no key: make one with 'gpg --generate-key', or import it"),
    ("gpg: error reading key", "gpg does not have the key that git's gcrypt.participants names"),
    ("permission denied (publickey", "ssh has no key for it: try 'ssh -T HOST' by hand"),
    ("host key verification failed", "connect once by hand, so that ssh knows the host: ssh HOST"),
    ("could not read username", _LOGIN),
    ("could not read password", _LOGIN),
    ("unable to get password from user", _LOGIN),  # as newer ones put it
    ("authentication failed", "the login is refused: try 'git ls-remote ADDRESS' by hand"),
    ("dubious ownership", "say that you trust it: git config --global --add safe.directory FOLDER"),
    ("does not appear to be a git repository", _MAKE),
    ("repository not found", "make an empty private repository there first, or check your login"),
    ("could not resolve host", "there is no network, or the host's name is wrong"),
)


class Unreachable(LtmError):
    """The remote could not be asked. Nothing is lost: memories wait here."""


class Damaged(StorageFailed):
    """The repository next to the vaults cannot be used; it holds nothing of its own."""


class NotTaken(LtmError):
    """The remote did not take what was sent."""


class BareRepository:
    """The repository next to the vaults, and its remote."""

    def __init__(self, path: str, address: str) -> None:
        self.path = path
        self.address = address

    def prepare(self) -> None:
        """Make it if it is not there, with the settings it must have."""
        config = os.path.join(self.path, "config")
        if not os.path.isfile(os.path.join(self.path, "HEAD")):
            make_folder(self.path)
            self._run("init", "-q", "--bare", "--shared=0600", "--template=")
        try:
            settings = read_plain(config, follow=False)
        except OSError:
            settings = b""
        if settings != _CONFIG:
            write_file(config, _CONFIG)
        # What a killed git left behind would be in the way of every later one.
        for folder, _, names in os.walk(self.path):
            for name in names:
                if name.endswith(".lock") or name.startswith("tmp_"):
                    remove_file(os.path.join(folder, name))

    # -- what is in it ---------------------------------------------------------------------------

    def commit_of(self, ref: str) -> str:
        """The commit a ref is at; '' when there is none."""
        found = self._run("for-each-ref", "--format=%(objectname)", ref).split()
        return found[0].decode() if found else ""

    def tree(self, commit: str) -> dict[str, str]:
        """The plain files of a commit, with the name of what is in each."""
        if not commit:
            return {}
        files: dict[str, str] = {}
        for entry in self._run("ls-tree", "-r", "-z", "--full-tree", commit).split(b"\0")[:-1]:
            about, _, path = entry.partition(b"\t")
            mode, _, name = about.split(b" ")
            if mode in _PLAIN:
                files[os.fsdecode(path)] = name.decode()
        return files

    def read(self, names: Iterable[str]) -> dict[str, bytes]:
        wanted = list(dict.fromkeys(names))
        if not wanted:
            return {}
        data = self._run("cat-file", "--batch", given="\n".join(wanted).encode() + b"\n")
        found: dict[str, bytes] = {}
        at = 0
        for name in wanted:
            end = data.index(b"\n", at)
            fields = data[at:end].split()
            if len(fields) != 3:
                raise self._damaged(f"{name} is missing")
            size = int(fields[2])
            found[name] = data[end + 1 : end + 1 + size]
            at = end + 2 + size
        return found

    def common(self, one: str, other: str) -> str:
        """The commit from which two went on; '' when they share none."""
        return self._run("merge-base", one, other, none=1).decode().strip()

    def replaced(self, commit: str) -> str | None:
        """The commit whose history was replaced by the one a commit has; None when it was not."""
        roots = self._run("rev-list", "--max-parents=0", commit).decode().split()
        for text in self.read(roots).values():
            for line in text.decode(errors="replace").splitlines():
                if match := _REPLACED.match(line):
                    return match["commit"]
        return None

    def has(self, commit: str) -> bool:
        found = self._run("cat-file", "--batch-check", given=f"{commit}\n".encode())
        return b" commit " in found

    def has_path_with(self, text: str) -> bool:
        """Whether any file of any commit has a text in its path."""
        return text.encode() in self._run("rev-list", "--objects", "--all")

    # -- changing it -----------------------------------------------------------------------------

    def commit(
        self, files: Mapping[str, str | bytes], parents: Sequence[str], why: str, replaces: str = ""
    ) -> str:
        """A commit of exactly these files: their bytes, or the name of what is here already."""
        before = self.tree(parents[0]) if parents else {}
        message = f"{why}\n" + (f"\n{_REPLACES}{replaces}\n" if replaces else "")
        who = re.sub(r"[^\w.-]", "-", node()) or "a machine"
        lines = [
            f"commit {_NEW}\n".encode(),
            f"committer LTM on {who} <ltm@localhost> {int(time())} +0000\n".encode(),
            _data(message.encode()),
        ]
        lines += [f"from {parent}\n".encode() for parent in parents[:1]]
        lines += [f"merge {parent}\n".encode() for parent in parents[1:]]
        for path in sorted(before.keys() - files.keys()):
            lines.append(b"D " + _quoted(path) + b"\n")
        for path, what in sorted(files.items()):
            if isinstance(what, bytes):
                lines.append(b"M 100644 inline " + _quoted(path) + b"\n" + _data(what))
            elif before.get(path) != what:
                lines.append(f"M 100644 {what} ".encode() + _quoted(path) + b"\n")
        self._run(
            "fast-import", "--quiet", "--force", "--done", given=b"".join([*lines, b"done\n"])
        )
        return self.commit_of(_NEW)

    def move(self, refs: Mapping[str, str]) -> None:
        """Point refs at commits, all or none; '' takes one away."""
        lines = [
            f"update {ref} {commit}" if commit else f"delete {ref}" for ref, commit in refs.items()
        ]
        self._run("update-ref", "--stdin", given="\n".join(lines).encode() + b"\n")

    def tidy(self, *, drop: bool = False) -> None:
        """Pack what has grown; with `drop`, also delete for good what no ref leads to."""
        if drop:
            if self.commit_of(_NEW):
                self.move({_NEW: ""})
            self._run("gc", "--quiet", "--prune=now")
        else:
            self._run("gc", "--quiet", "--auto")

    # -- the remote ------------------------------------------------------------------------------

    def fetch(self) -> str:
        """The commit the remote is at, with all that belongs to it; '' when it has none yet."""
        done = self._ask(
            "fetch",
            "--no-tags",
            "--no-write-fetch-head",
            "--force",
            *self._at(f"{BRANCH}:{FETCHED}"),
        )
        if done.returncode and _MISSING_BRANCH in done.stderr:
            return ""
        if done.returncode:
            raise self._unreachable(done)
        return self.commit_of(FETCHED)

    def branches(self) -> list[str]:
        """All that the remote has, by name."""
        done = self._ask("ls-remote", *self._at())
        if done.returncode:
            raise self._unreachable(done)
        lines = done.stdout.decode(errors="replace").splitlines()
        return [line.partition("\t")[2] for line in lines]

    def is_public(self, address: str) -> bool:
        """Whether anyone can read a repository, without a login."""
        try:
            done = run_network(
                self.path,
                "ls-remote",
                "--",
                address,
                protocols=("https", "http"),
                seconds=SECONDS,
                anonymous=True,
            )
        except (OSError, subprocess.TimeoutExpired):
            return False
        return done.returncode == 0

    def push(self, commit: str, over: str, *, replace: bool = False) -> None:
        """Put the remote at a commit, if it still is `over`; with `replace`, whatever it had."""
        lease = (f"--force-with-lease={BRANCH}:{over}",) if replace else ()
        options = ("--porcelain", "--no-verify", *lease)
        done = self._ask("push", *options, *self._at(f"{commit}:{BRANCH}"))
        if done.returncode == 0:
            return
        lines = done.stdout.decode(errors="replace").splitlines()
        refused = [line for line in lines if line.startswith("!")]
        if not refused:
            raise self._unreachable(done)
        reason = refused[0].rpartition("\t")[2]
        raise NotTaken(f"the remote did not take it: {reason}", path=self.address)

    def _at(self, *words: str) -> tuple[str, ...]:
        return ("--", self.address, *words)

    def _ask(self, command: str, *words: str) -> subprocess.CompletedProcess[bytes]:
        folder = _plain(self.address)
        if os.path.isabs(folder) and not os.path.isdir(folder):
            # Asked here, because git-remote-gcrypt would make it.
            raise Unreachable(
                "could not be reached: there is no such folder",
                path=self.address,
                hint=f"attach the disk it is on, or make it: {_making(folder)}",
            )
        try:
            return run_network(
                self.path, command, *words, protocols=protocols(self.address), seconds=SECONDS
            )
        except FileNotFoundError as error:
            raise _no_git(error) from error
        except subprocess.TimeoutExpired as error:
            raise Unreachable(
                f"the remote did not answer within {SECONDS:.0f} seconds",
                path=self.address,
                hint="it is tried again with the next session, or with: ltm remote now",
            ) from error

    def _unreachable(self, done: subprocess.CompletedProcess[bytes]) -> LtmError:
        said = done.stderr.decode(errors="replace")
        lines = [line for line in said.splitlines() if line.strip()]
        words = ("fatal:", "error:", "ERROR:", "ssh:", "git@", "Host key", "Permission")
        telling = [line for line in lines if line.startswith(words) or "denied" in line] or lines
        reason = (telling or [f"git ended with {done.returncode}"])[0]
        if self.path in said and not any(refusal in said for refusal in _REFUSALS):
            return self._damaged(reason[:_LONGEST])
        lines = [line for line in lines if not line.startswith("gcrypt:")]  # says what it does
        known = ((line, text) for word, text in _ADVICE for line in lines if word in line.lower())
        reason, hint = next(known, (reason, ""))
        host, folder = host_of(self.address), _plain(self.address)
        if hint == _MAKE and not host:
            hint = f"make it: {_making(folder)}"
        for name, value in (("ADDRESS", self.address), ("HOST", host), ("FOLDER", folder)):
            hint = hint.replace(name, shlex.quote(value))
        return Unreachable(
            f"could not be reached: {reason.removeprefix('fatal: ')[:_LONGEST]}",
            path=self.address,
            hint=hint,
        )

    def _run(self, command: str, *words: str, given: bytes = b"", none: int = 0) -> bytes:
        """What a command says; `none` is how it ends where there is nothing to say."""
        try:
            done = run_bare(self.path, command, *words, given=given)
        except FileNotFoundError as error:
            raise _no_git(error) from error
        if done.returncode in (0, none):
            return done.stdout
        said = done.stderr.decode(errors="replace").strip()
        reason = (said.splitlines() or [f"{command} ended with {done.returncode}"])[0][:_LONGEST]
        if done.returncode < 0 or any(refusal in said for refusal in _REFUSALS):
            hint = "check the disk and the room on it, then type: ltm remote now"
            raise StorageFailed(f"git did not finish: {reason}", path=self.path, hint=hint)
        raise self._damaged(reason)

    def _damaged(self, reason: str) -> Damaged:
        return Damaged(
            f"git could not use it: {reason}",
            path=self.path,
            hint="it holds nothing of its own: delete that folder, then type: ltm remote now",
        )


def _making(folder: str) -> str:
    return f"git init --bare -b {BRANCH.rpartition('/')[2]} {shlex.quote(folder)}"


def _no_git(error: OSError) -> NotFound:
    return NotFound(f"git does not run: {error.strerror}", hint="install git")


def blob_name(data: bytes) -> str:
    """The name git gives to what is in a file."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def _data(data: bytes) -> bytes:
    return b"data %d\n" % len(data) + data + b"\n"


def _quoted(path: str) -> bytes:
    escaped = os.fsencode(path).replace(b"\\", b"\\\\").replace(b'"', b'\\"')
    return b'"' + escaped.replace(b"\n", b"\\n") + b'"'


# -- addresses -------------------------------------------------------------------------------------

_HOSTS = ("github.com", "gitlab.com", "codeberg.org", "bitbucket.org")
_LOCAL_HOSTS = ("127.0.0.1", "localhost", "[::1]")
_SSH_FORM = re.compile(r"(?:[\w.+-]+@)?(?P<host>[\w.-]+|\[[0-9a-f:]+\]):(?!//)(?P<path>.+)\Z")
_CRYPT = "gcrypt::"


def checked_address(text: str, here: str) -> str:
    """An address as git understands it from anywhere; refused where git would run a program."""
    address = text.strip()
    plain = _plain(address)
    scheme = plain.partition("://")[0].lower() if "://" in plain else ""
    if not plain or plain.startswith("-") or any(ord(char) < 32 for char in address):
        raise Refused(f"'{text}' is not the address of a git repository", hint=_EXAMPLE)
    if "::" in plain and not scheme and not plain.startswith("["):
        raise Refused(f"'{text}' names a program, and none is started", hint=_EXAMPLE)
    if scheme == "http" and host_of(plain) in _LOCAL_HOSTS:
        return address
    if scheme in ("ssh", "https"):
        if re.match(r"https://[^/@]*:[^/@]*@", plain):
            raise Refused(
                "the address holds a password, which would stand in a file",
                hint="leave it out and let git's credential helper keep it",
            )
        return address
    if scheme == "file":
        return address
    if scheme:
        raise Refused(
            f"'{scheme}' does not protect what is sent", path=text, hint="use ssh or https"
        )
    if _SSH_FORM.match(plain) and not os.path.exists(os.path.join(here, plain)):
        return address
    path = os.path.abspath(os.path.join(here, os.path.expanduser(plain)))
    return address[: len(address) - len(plain)] + path


_EXAMPLE = "such as: ltm remote add git@github.com:YOU/memories.git"


def protocols(address: str) -> tuple[str, ...]:
    """The protocols git may use for an address."""
    plain = _plain(address)
    crypt = ("gcrypt",) if plain != address else ()
    if plain.startswith(("file://", "/")) or (os.name == "nt" and plain[1:2] == ":"):
        return (*crypt, "file")
    if plain.startswith("http://"):
        return (*crypt, "http")
    return (*crypt, "ssh", "https")  # the person's own settings may exchange one for the other


def _plain(address: str) -> str:
    return address.removeprefix(_CRYPT)


def host_of(address: str) -> str:
    """The host of an address; '' for a folder."""
    plain = _plain(address)
    if "://" in plain:
        authority = plain.partition("://")[2].partition("/")[0].rpartition("@")[2]
        return re.sub(r":\d+\Z", "", authority).lower()
    match = None if plain.startswith("/") else _SSH_FORM.match(plain)
    return match["host"].lower() if match else ""


def open_address(address: str) -> str:
    """Where anyone could read the repository of an address if it were public; '' if unknown."""
    if address.startswith(("https://", "http://")):
        return address
    host = host_of(address)
    if host not in _HOSTS or is_encrypted(address):
        return ""
    match = _SSH_FORM.match(address)
    path = match["path"] if match else address.partition("://")[2].partition("/")[2]
    return f"https://{host}/{path.lstrip('/')}"


def is_encrypted(address: str) -> bool:
    """Whether git-remote-gcrypt encrypts what is sent to an address."""
    return address.startswith(_CRYPT)
