"""Which project a folder belongs to, so that its memories follow it and no one else's do.

A project is known by its git remote, else by the place of its repository, else by its folder. That
gives the id by itself in most cases, and work trees, clones and subfolders agree on it. What the
present state cannot tell (it was renamed, its remote changed) is in a small record per project,
`<home>/projects/<id>/project.json`, written when something is first stored:

    {"id", "name", "root", "remotes": […], "folders": [{"path", "dev", "ino", "born"}]}

or `{"same_as": "<id>"}` where an id leads to a project known by another one. Rules, in order:

1. The record at the id computed from the remote decides: same remote, same project.
2. The record at the id computed from the place decides if its folder is still that folder.
3. A record that knows this remote: the same project under a former or second address.
4. A record that knows this very folder (inode and moment of birth, `folders.is_still`): it was
   renamed, moved, or its remote was added, changed or removed.
5. A record that knows this path, if neither side has a remote and the recorded folder has not been
   seen elsewhere: it was restored from a backup, or made anew in a container.
6. Otherwise it is a new project.

Why this is safe when inode numbers are used again: no rule trusts a bare inode across paths. Rule 4
asks for the moment of birth as well, which a new folder cannot share with the deleted one, and a
disk that keeps no such moment gives no match. Rule 2 does accept path, device and inode alone, but
only for a place whose record never had a remote; there rule 5 would say the same. A different
repository cloned to an old path has another remote (rule 1) and another birth (rule 4), and rule 5
does not apply to it. Imports the standard library and `storage`'s small readers, because hooks
use it too; `identify` only reads, and never in a way that can hang or raise.
"""

import os
import sys
from typing import Any, NamedTuple

from ltm.storage.claudeltm import is_store
from ltm.storage.folders import inode, is_in_place, is_still, lives_beside, look_at
from ltm.storage.projectrecord import Record, every, grown, load, save
from ltm.storage.repository import find, local_name, resolve_remote, upward

_SLUG = frozenset("abcdefghijklmnopqrstuvwxyz0123456789")


class Project(NamedTuple):
    """Who a folder belongs to."""

    id: str
    root: str
    """The folder shown to people: the top of the work tree, or the folder itself without git."""
    name: str
    common_dir: str = ""
    """The git folder all work trees share; '' without git."""
    remote: str = ""
    """The remote as `host/path` (or `file:/path`), without any login; '' when there is none."""


def identify(start: str, home: str) -> Project:
    """The project a folder belongs to, with the records under `home` (LTM_HOME) to help."""
    seen = _look(start)
    return Project(
        id=_decide(seen, os.path.join(home, "projects")),
        root=seen.root,
        name=seen.name,
        common_dir=seen.common_dir,
        remote=seen.remote,
    )


def record(project: Project, home: str) -> None:
    """Remember by what this project can be known again. Call it whenever something is stored.

    It costs one read when nothing changed. Writers take turns, and each adds what it sees to what
    is there, so two processes at once lose nothing.
    """
    from ltm.storage.durable import make_folder
    from ltm.storage.lock import Lock

    projects = os.path.join(home, "projects")
    seen = _look(project.root)
    natural = _make_id(seen.name, seen.key)

    def addition() -> dict[str, Any] | None:
        return grown(
            load(projects, project.id),
            project_id=project.id,
            name=project.name,
            root=seen.root,
            remote=seen.remote,
            proofs=list(seen.folders),
        )

    if addition() is None and (natural == project.id or load(projects, natural)):
        return
    make_folder(projects)
    with Lock(os.path.join(projects, ".lock")):
        content = addition()
        if content is not None:
            save(projects, content["id"], content)
        if natural != project.id and not load(projects, natural):
            save(projects, natural, {"same_as": project.id})


class _Seen(NamedTuple):
    """What a folder says about itself, before any record is asked."""

    root: str
    common_dir: str
    remote: str
    key: str
    """What the id is made from: the remote, else the place."""
    folders: tuple[str, ...]
    """Folders that prove it: its own, then those of the repositories it was cloned from here."""

    @property
    def name(self) -> str:
        return os.path.basename(self.key).removesuffix(".git") or "project"

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
    repository = find(start)
    if repository is None or not repository.common_dir:
        root = _initialised_above(start) if repository is None else repository.work_tree
        return _Seen(root, "", "", local_name(root), (root,))
    remote, trail = resolve_remote(repository)
    return _Seen(
        root=repository.work_tree or repository.common_dir,
        common_dir=repository.common_dir,
        remote=remote,
        key=remote or local_name(repository.common_dir),
        folders=trail,
    )


def as_path(text: str) -> str:
    """A text from a client's message without what no path can hold and every call trips over."""
    text = text.replace("\0", "")
    try:
        os.fsencode(text)
    except UnicodeEncodeError:
        return text.encode("ascii", "replace").decode("ascii")
    return text


def _initialised_above(start: str) -> str:
    """Without git: the nearest parent where `ltm init` was run, else the folder itself."""
    for folder in upward(start):
        vault = os.path.join(folder, ".claude", "ltm")
        if folder != start and os.path.isdir(vault) and not is_store(vault):
            return folder
    return start


def _decide(seen: _Seen, projects: str) -> str:
    """The id, by the rules at the top of this module."""
    natural = _make_id(seen.name, seen.key)
    here = load(projects, natural)
    if here and (seen.remote or _is_its_place(here, seen)):
        return here.id
    others = list(every(projects))
    for known in others:
        if seen.remote and seen.remote in known.remotes:
            return known.id
    inodes = {inode(path) for path in seen.own}
    for known in others:
        # Asking the disk about every folder of every record would take far longer than this.
        candidates = [folder for folder in known.folders if folder.ino in inodes]
        if any(is_still(folder, path) for folder in candidates for path in seen.own):
            return known.id
    if seen.remote:
        return natural
    for known in others:
        if not known.remotes and _may_be_restored(known, seen):
            return known.id
    return _make_id(seen.name, f"{seen.key}\0{_mark(seen)}") if here else natural


def _is_its_place(known: Record, seen: _Seen) -> bool:
    if seen.key in known.remotes:
        return True  # a local clone recorded it: this is the place that clone came from
    return any(
        # Most often nothing changed, and the cheap question says so.
        (not known.remotes and is_in_place(folder, path)) or is_still(folder, path)
        for folder in known.folders
        for path in seen.own
    )


def _may_be_restored(known: Record, seen: _Seen) -> bool:
    there = [folder for folder in known.folders if local_name(folder.path) == seen.key]
    return bool(there) and not any(lives_beside(folder) for folder in there)


def _mark(seen: _Seen) -> str:
    """Tells a folder from the one that stood in its place before and is another project now."""
    folder = look_at(seen.folders[0])
    return f"{folder.ino}:{folder.born}" if folder else ""


def _make_id(name: str, key: str) -> str:
    words = "".join(letter if letter in _SLUG else " " for letter in name.lower()).split()
    slug = "-".join(words)[:40].strip("-") or "project"
    return f"{slug}-{_sha256(os.fsencode(key))[:10]}"


def _sha256(data: bytes) -> str:
    """The hash as `hashlib` gives it, which loads OpenSSL first: 3 of the 60 ms of a question."""
    from importlib import import_module

    try:
        module = import_module("_sha2" if sys.version_info >= (3, 12) else "_sha256")
    except ImportError:
        module = import_module("hashlib")
    return str(module.sha256(data).hexdigest())
