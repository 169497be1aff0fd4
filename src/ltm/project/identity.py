"""Which project a folder belongs to, so that its memories follow it and no other project's do.

A project is known by its git remote, else by the place of its repository, else by its folder; work
trees, clones and subfolders agree on that id. What the present state cannot tell (it was renamed,
its remote changed) is in `<home>/projects/<id>/project.json`, written when something is first
stored, or `{"same_as": "<id>"}` where an id leads to a project known by another one. Rules, in
order:

1. The record at the id computed from the remote, for a repository that is part of it.

2. The record at the id computed from the place, if its folder is still that folder.

3. A record that knows this remote, under the same condition.

4. A record that knows this very folder (inode and moment of birth, `is_still`): it was renamed,
moved, or its remote was changed.

5. A record that knows this path, if neither side has a remote and the recorded folder has not been
seen elsewhere: it was restored from a backup, or made again in a container.

6. Otherwise it is a new project.

An address stands in a file that anyone can write, so it is a claim. It holds for a git folder that
the record knows, for one that holds a commit the record noted, and for one that shares history with
a git folder of the record that is still there; a local clone whose origin has no record must share
history with that origin. A claim that does not hold leaves a project of its own, known by its
place, until a person says otherwise (`join`). A record from before commits were noted, of which no
folder is left, is believed by its remote. Who has a copy of a whole history has the project.

Inode numbers are used again, so no rule trusts a bare inode across paths. Rule 4 asks for the
moment of birth as well, which is new in every copy; a disk that keeps none gives no match. Rule 2
accepts path, device and inode alone for a place whose record never had a remote.

`identify` only reads, and never in a way that can hang or raise: hooks use it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from ltm.files.atomic import inode, make_folder, names_in, read_plain, write_file
from ltm.files.fastjson import read
from ltm.files.lock import Lock
from ltm.project.git import (
    Repository,
    at,
    branch_commits,
    find,
    holds,
    local_name,
    resolve_remote,
    share_history,
    upward,
)
from ltm.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_MAX_COMPARED = 8  # folders of a record whose history is looked at
_MAX_NEIGHBOURS = 2000  # a look around must stay quick, also in a folder that holds everything
_MAX_LINKS = 5
_MAX_FOLDERS = 64
_MAX_COMMITS = 64
_SLUG = frozenset("abcdefghijklmnopqrstuvwxyz0123456789")
_ID_LETTERS = _SLUG | {"-"}


class Project(NamedTuple):
    id: str
    root: str
    """The folder shown to people: the top of the work tree, or the folder itself without git."""
    name: str
    common_dir: str = ""
    """The git folder all work trees share; '' without git."""
    remote: str = ""
    """The remote as `host/path` (or `file:/path`), without any login; '' when there is none."""
    claimed: str = ""
    """The id of another project that it says to be, and is not as far as this machine knows."""


class Folder(NamedTuple):
    """A folder as it was when it was last recorded."""

    path: str
    dev: int
    ino: int
    born: int
    """Nanoseconds since 1970; 0 when unknown."""


class Record(NamedTuple):
    """A project as `project.json` knows it."""

    id: str
    remotes: tuple[str, ...]
    folders: tuple[Folder, ...]
    raw: dict[str, Any]
    commits: tuple[str, ...] | None = None
    """Commits its repositories held; None in a record from before they were noted."""


def identify(start: str, home: str) -> Project:
    """The project a folder belongs to, with the records under `home` (LTM_HOME) to help."""
    project_id, seen, claimed = _decide(_look(start), os.path.join(home, "projects"))
    return Project(project_id, seen.root, seen.name, seen.common_dir, seen.remote, claimed)


def record(project: Project, home: str) -> None:
    """Record by what this project can be known again. Call it whenever something is stored.

    It costs one read when nothing changed. Writers take turns, and each adds what it sees to what
    is there, so two processes at once lose nothing.
    """
    projects = os.path.join(home, "projects")
    seen = _look(project.root)
    if project.claimed:
        seen = seen.alone
    natural = _make_id(seen.name, seen.key)
    if _grown(projects, project.id, project.name, seen) is None and (
        natural == project.id or _load(projects, natural)
    ):
        return
    make_folder(projects)
    with Lock(os.path.join(projects, ".lock")):
        _save(projects, _grown(projects, project.id, project.name, seen))
        if natural != project.id and not _load(projects, natural):
            _save(projects, {"same_as": project.id}, natural)


def join(project: Project, home: str) -> str:
    """Make a folder part of the project that it says to be; give back that project's name."""
    projects = os.path.join(home, "projects")
    proof = project.common_dir or project.root
    seen = _Seen(project.root, project.common_dir, "", local_name(proof), (proof,))
    make_folder(projects)
    with Lock(os.path.join(projects, ".lock")):
        _save(projects, _grown(projects, project.claimed, project.name, seen))
    return name_of(project.claimed, home)


def known(home: str) -> list[Project]:
    """The projects that are recorded and whose folder is there, by their names."""
    found = []
    for each in _every_record(os.path.join(home, "projects")):
        root, name = each.raw.get("root"), each.raw.get("name")
        if isinstance(root, str) and os.path.isdir(root):
            found.append(Project(each.id, root, str(name or each.id)))
    return sorted(found, key=lambda project: (project.name.casefold(), project.id))


def name_of(project_id: str, home: str) -> str:
    known = _load(os.path.join(home, "projects"), project_id)
    name = known.raw.get("name") if known else None
    return name if isinstance(name, str) and name else project_id


def records(home: str) -> list[Record]:
    return list(_every_record(os.path.join(home, "projects")))


def id_of_remote(remote: str) -> str:
    """The id of a project that is known by its remote: the same on every machine."""
    return _make_id(os.path.basename(remote), remote)


def is_same(known: Record, remotes: Iterable[str], commits: Sequence[str]) -> bool:
    """Whether a project here is the one that another machine of this person knows by these.

    The address alone is a claim, as everywhere: a folder that is still there must hold one of the
    commits.
    """
    if not set(known.remotes) & set(remotes):
        return False
    left = [folder.path for folder in known.folders if _is_there(folder, folder.path)]
    return (
        not left
        or not commits
        or bool(set(known.commits or ()) & set(commits))
        or any(holds(path, commits) for path in left)
    )


def introduce(
    home: str, project_id: str, name: str, remotes: Sequence[str], commits: Sequence[str]
) -> bool:
    """Record a project that another machine knows and no folder here belongs to yet.

    False when there is one of that id.
    """
    projects = os.path.join(home, "projects")
    make_folder(projects)
    with Lock(os.path.join(projects, ".lock")):
        if _read_json(projects, project_id) is not None:
            return False
        known = {"id": project_id, "name": name, "root": "", "remotes": list(remotes)}
        _save(projects, {**known, "folders": [], "commits": list(commits)})
    return True


def lead(home: str, project_id: str, to: str) -> None:
    """Let an id lead to the project of another one from now on."""
    projects = os.path.join(home, "projects")
    with Lock(os.path.join(projects, ".lock")):
        _save(projects, {"same_as": to}, project_id)


def as_path(text: str) -> str:
    """A text from a client's message without what no path can hold and every call trips over."""
    text = text.replace("\0", "")
    try:
        os.fsencode(text)
    except UnicodeEncodeError:
        return text.encode("ascii", "replace").decode("ascii")
    return text


# -- the rules -------------------------------------------------------------------------------------


class _Seen(NamedTuple):
    """What a folder says about itself, before any record is asked."""

    root: str
    common_dir: str
    remote: str
    key: str
    """What the id is made from: the remote, else the place."""
    folders: tuple[str, ...]
    """Folders that prove it: its own, then those of the repositories it was cloned from here."""
    elsewhere: str = ""
    """The git folder of another place that it names as its own."""

    @property
    def name(self) -> str:
        return os.path.basename(self.key).removesuffix(".git") or "project"

    @property
    def alone(self) -> _Seen:
        """The same, known by its place only."""
        own = self.folders[:1]
        return self._replace(remote="", key=local_name(own[0]), folders=own)

    @property
    def own(self) -> tuple[str, ...]:
        """Where its own folder may be recorded: before `git init` it was the root itself."""
        if self.folders[0] == os.path.join(self.root, ".git"):
            return (self.folders[0], self.root)
        return self.folders[:1]


def _look(start: str) -> _Seen:
    start = os.path.realpath(as_path(start))
    if os.path.isfile(start):
        start = os.path.dirname(start)
    if repository := find(start):
        return _look_at(repository)
    root = start
    for folder in upward(start):  # the nearest parent where `ltm init` was run
        vault = os.path.join(folder, ".claude", "ltm")
        if folder != start and os.path.isdir(vault) and not is_claude_ltm_store(vault):
            root = folder
            break
    return _Seen(root, "", "", local_name(root), (root,))


def _look_at(repository: Repository) -> _Seen:
    root, common_dir = repository.work_tree or repository.common_dir, repository.common_dir
    if not common_dir:
        return _Seen(root, "", "", local_name(root), (root,), repository.elsewhere)
    remote, trail = resolve_remote(repository)
    return _Seen(root, common_dir, remote, remote or local_name(common_dir), trail)


def _decide(seen: _Seen, projects: str) -> tuple[str, _Seen, str]:
    """A project's id, what is believed of what its folder says about itself, and the id it claims
    without proof, by the rules at the top of this module."""
    claimed = ""
    if seen.remote:
        natural = _make_id(seen.name, seen.key)
        claims = [here] if (here := _load(projects, natural)) else []
        if here and _is_part(here, seen):
            return _rightful(here, seen, projects).id, seen, ""
        claims += (known for known in _every_record(projects) if seen.remote in known.remotes)
        for known in claims:
            if (here is None or known.id != here.id) and _is_part(known, seen):
                return _rightful(known, seen, projects).id, seen, ""
        # A local clone without a record belongs to its origin here if they share history.
        own, origin = seen.folders[0], seen.folders[-1]
        if claims or not (
            own == origin or not branch_commits(origin) or share_history(own, origin)
        ):
            claimed = claims[0].id if claims else natural
            seen = seen.alone
    elif seen.elsewhere:
        repository = at(seen.elsewhere)
        # What it leads to may lead on, and in a ring.
        other = _look_at(repository)._replace(elsewhere="") if repository else None
        owner = _load(projects, _decide(other, projects)[0]) if other else None
        if owner and _knows(owner, seen.root):
            return owner.id, seen, ""
        claimed = owner.id if owner else ""
    found = _known_by_place(seen, projects)
    return found, seen, claimed if claimed != found else ""


def _rightful(found: Record, seen: _Seen, projects: str) -> Record:
    """The record a repository has memories under already, where the one that answers to its remote
    came from another machine and knows no folder yet."""
    if found.folders:
        return found
    own = seen.folders[0]
    others = (each for each in _every_record(projects) if each.folders and _knows(each, own))
    return next(others, found)


def _known_by_place(seen: _Seen, projects: str) -> str:
    """The id where no record answers to the remote, or there is none."""
    natural = _make_id(seen.name, seen.key)
    here = None if seen.remote else _load(projects, natural)
    # A local clone recorded this place: it is the one that clone came from.
    if here and (seen.key in here.remotes or _is_its_place(here, seen)):
        return here.id
    others = list(_every_record(projects))
    inodes = {inode(path) for path in seen.own}
    for known in others:
        # Asking the disk about every folder of every record would take far longer than this.
        candidates = [folder for folder in known.folders if folder.ino in inodes]
        if any(is_still(folder, path) for folder in candidates for path in seen.own):
            return known.id
    if seen.remote:
        return natural
    for known in others:
        there = [folder for folder in known.folders if local_name(folder.path) == seen.key]
        if there and not known.remotes and not any(map(lives_next_to, there)):
            return known.id  # restored from a backup
    if not here:
        return natural
    folder = look_at(seen.folders[0])  # another project stood in this place before
    return _make_id(seen.name, f"{seen.key}\0" + (f"{folder.ino}:{folder.born}" if folder else ""))


def _is_part(known: Record, seen: _Seen) -> bool:
    """Whether a repository that names a record's remote is one of that project."""
    own = seen.folders[0]
    if _knows(known, own):
        return True
    left = [folder.path for folder in known.folders if _is_there(folder, folder.path)]
    if known.commits is None and not left:
        return True
    return holds(own, known.commits or ()) or any(
        share_history(own, path) for path in left[-_MAX_COMPARED:]
    )


def _knows(known: Record, path: str) -> bool:
    """Whether a record knows the very folder at a path."""
    number = inode(path)
    return any(_is_there(folder, path) for folder in known.folders if folder.ino == number)


def _is_there(folder: Folder, path: str) -> bool:
    """Whether a recorded folder is at a path; where no disk keeps births, its number must do."""
    return is_still(folder, path) if folder.born else is_in_place(folder, path)


def _is_its_place(known: Record, seen: _Seen) -> bool:
    return any(
        # Most often nothing changed, and the cheap question says so.
        (not known.remotes and is_in_place(folder, path)) or is_still(folder, path)
        for folder in known.folders
        for path in seen.own
    )


def _make_id(name: str, key: str) -> str:
    words = "".join(letter if letter in _SLUG else " " for letter in name.lower()).split()
    slug = "-".join(words)[:40].strip("-") or "project"
    # `hashlib` gives the same hash and loads OpenSSL first: 3 of the 60 ms of a question.
    try:
        if sys.version_info >= (3, 12):
            from _sha2 import sha256
        else:
            from _sha256 import sha256  # type: ignore[import-not-found]
    except ImportError:
        from hashlib import sha256
    return f"{slug}-{sha256(os.fsencode(key)).hexdigest()[:10]}"


# -- project.json ----------------------------------------------------------------------------------


def _load(projects: str, project_id: str) -> Record | None:
    """The record at an id, following `same_as`; None when there is none that makes sense."""
    for _ in range(_MAX_LINKS):
        raw = _read_json(projects, project_id)
        if raw is None:
            return None
        target = raw.get("same_as")
        if target is None:
            return _as_record(project_id, raw)
        if not (isinstance(target, str) and target and _ID_LETTERS.issuperset(target)):
            return None
        project_id = target
    return None


def _every_record(projects: str) -> Iterator[Record]:
    """All records there are, in the order of their ids; those that only lead elsewhere are not."""
    for project_id in sorted(names_in(projects)):
        raw = _read_json(projects, project_id)
        if raw is not None and "same_as" not in raw:
            yield _as_record(project_id, raw)


def _read_json(projects: str, project_id: str) -> dict[str, Any] | None:
    try:
        data = read_plain(os.path.join(projects, project_id, "project.json"))
        value = read(data.decode().strip())
    except (OSError, ValueError):
        return None
    return value if isinstance(value, dict) else None


def _as_record(project_id: str, raw: dict[str, Any]) -> Record:
    """A record with whatever in it makes sense: a damaged entry costs that entry only."""

    def entries(key: str) -> list[Any]:
        return found if isinstance(found := raw.get(key), list) else []

    commits = tuple(commit for commit in entries("commits") if isinstance(commit, str))
    return Record(
        id=project_id,
        remotes=tuple(remote for remote in entries("remotes") if isinstance(remote, str)),
        folders=tuple(
            Folder(entry["path"], entry["dev"], entry["ino"], entry["born"])
            for entry in entries("folders")
            if isinstance(entry, dict)
            and isinstance(entry.get("path"), str)
            and all(isinstance(entry.get(key), int) for key in ("dev", "ino", "born"))
        ),
        raw=raw,
        commits=commits if isinstance(raw.get("commits"), list) else None,
    )


def _grown(projects: str, project_id: str, name: str, seen: _Seen) -> dict[str, Any] | None:
    """The record at an id with what is seen now; None when it holds all of it already."""
    known = _load(projects, project_id)
    remotes = list(known.remotes) if known else []
    folders = list(known.folders) if known else []
    if seen.remote and seen.remote not in remotes:
        remotes.append(seen.remote)
    commits = list(known.commits or ()) if known else []
    if not commits or not any(folder.path == seen.folders[0] for folder in folders):
        commits += [each for each in branch_commits(seen.folders[0]) if each not in commits]
    moved = False
    for path in seen.folders:
        now = look_at(path)
        if now is None or now in folders:
            continue
        # The same folder at another path has moved: its old place is free for another project.
        moved = moved or any(is_still(folder, path) for folder in folders)
        folders = [folder for folder in folders if not is_still(folder, path)]
        folders.append(now)
    if seen.root not in seen.folders:
        # `git init` made a repository of a plain folder. From now on the repository is the proof:
        # the folder may well be emptied and hold a clone of something else one day.
        folders = [folder for folder in folders if folder.path != seen.root]
    old = known.raw if known else {}
    stays = isinstance(old.get("root"), str) and os.path.isdir(old["root"]) and not moved
    new = {
        **old,
        "id": known.id if known else project_id,
        "name": old.get("name", name),
        "root": old["root"] if stays else seen.root,
        "remotes": remotes,
        "folders": [folder._asdict() for folder in folders[-_MAX_FOLDERS:]],
        "commits": commits[-_MAX_COMMITS:],
    }
    return new if new != old else None


def _save(projects: str, content: dict[str, Any] | None, project_id: str = "") -> None:
    """Put a record in place, durably. Call it with the lock on `projects` held."""
    import json  # slow to load, and hooks save nothing

    if content is None:
        return
    folder = os.path.join(projects, project_id or content["id"])
    make_folder(folder)
    # ASCII, so that paths which are not valid UTF-8 come back as they were.
    text = json.dumps(content, indent=2, ensure_ascii=True) + "\n"
    write_file(os.path.join(folder, "project.json"), text.encode("ascii"))


# -- telling whether a folder is still the same ----------------------------------------------------


def look_at(path: str) -> Folder | None:
    """The folder at a path as it is now, or None when there is none."""
    info = _stat(path)
    return Folder(path, info.st_dev, info.st_ino, _born(path, info)) if info else None


def is_still(known: Folder, path: str) -> bool:
    """Whether the folder at `path` is the recorded one, wherever that was then."""
    if not known.born:
        return False
    info = _stat(path)
    return (
        info is not None
        and info.st_ino == known.ino
        # A disk may come back under another device number after a restart, at the same path.
        and (info.st_dev == known.dev or path == known.path)
        and _born(path, info) == known.born
    )


def is_in_place(known: Folder, path: str) -> bool:
    """Whether the recorded path and inode are those at `path`: no proof, but no sign of change."""
    info = _stat(path) if known.path == path else None
    return info is not None and (info.st_dev, info.st_ino) == (known.dev, known.ino)


def lives_next_to(known: Folder) -> bool:
    """Whether the recorded folder is still there, under another name next to its old place."""
    top, tail = known.path, ""
    if os.path.basename(top) == ".git":
        top, tail = os.path.split(top)
    try:
        with os.scandir(os.path.dirname(top)) as neighbours:
            paths = [
                entry.path
                for entry in islice(neighbours, _MAX_NEIGHBOURS)
                if entry.is_dir(follow_symlinks=False)
            ]
    except OSError:
        return False
    paths = [os.path.join(path, tail) if tail else path for path in paths if path != top]
    return any(is_still(known, path) for path in paths)


_AT_FDCWD, _STATX_BTIME, _BTIME_OFFSET = -100, 0x800, 0x50


def _stat(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)
    except (OSError, ValueError):
        return None


def _born(path: str, info: os.stat_result) -> int:
    """When a folder came to be, as well as it can be known."""
    if os.path.lexists(os.path.join(path, "HEAD")):
        # git writes `description` into a new repository and never again: every file system has it.
        try:
            return os.stat(os.path.join(path, "description")).st_mtime_ns
        except OSError:
            pass  # it was deleted: the disk may know
    birth = getattr(info, "st_birthtime", None)
    if birth is not None:
        return int(birth * 1_000_000_000)
    if os.name == "nt":
        return info.st_ctime_ns
    try:  # Linux keeps the moment of birth, but `os.stat` does not show it; `statx` does
        import ctypes
        import struct

        buffer = ctypes.create_string_buffer(256)
        failed = ctypes.CDLL(None).statx(_AT_FDCWD, os.fsencode(path), 0, _STATX_BTIME, buffer)
    except (ImportError, OSError, AttributeError):
        return 0
    (mask,) = struct.unpack_from("=I", buffer, 0)
    if failed or not mask & _STATX_BTIME:
        return 0
    seconds, nanoseconds = struct.unpack_from("=qI", buffer, _BTIME_OFFSET)
    return int(seconds) * 1_000_000_000 + int(nanoseconds)


# -- telling claude-ltm's `.claude/ltm` from a vault -----------------------------------------------


_MOST_FILES = 200  # looked at to tell what a folder is; that tool keeps a hundred


def is_claude_ltm_store(folder: str) -> bool:
    """Whether a folder holds what claude-ltm keeps, and nothing that `ltm` made there."""
    if os.path.lexists(os.path.join(folder, "config.toml")):
        return False  # `ltm init` was run here
    files: list[str] = []
    for part in ("memories", "archives"):
        inner = os.path.join(folder, part)
        names = sorted(name for name in names_in(inner) if name.endswith(".md"))
        files += [os.path.join(inner, name) for name in names]
    theirs = False
    for path in files[:_MOST_FILES]:
        topic, ours = _claude_ltm_keys(_read_or_nothing(path))
        if ours:
            return False
        theirs = theirs or topic
    if files:
        return theirs
    index = _read_or_nothing(os.path.join(folder, "index.json"))
    return index.lstrip().startswith(b"{") and b'"memories"' in index


def is_claude_ltm_memory(head: bytes) -> bool:
    """Whether a file that begins like this is a memory of claude-ltm."""
    return _claude_ltm_keys(head) == (True, False)


def _claude_ltm_keys(data: bytes) -> tuple[bool, bool]:
    """Whether front matter has claude-ltm's `topic`, and whether it has a key that only LTM has."""
    front = data.replace(b"\r\n", b"\n").split(b"\n---", 1)[0].split(b"\n")
    return (
        any(line.startswith(b"topic:") for line in front),
        any(line.startswith((b"kind:", b"legacy_id:")) for line in front),
    )


def _read_or_nothing(path: str) -> bytes:
    try:
        return read_plain(path, follow=False)
    except OSError:
        return b""
