"""What is kept about a project so that it is known again: one small JSON file each.

Owns the shape of `<home>/projects/<id>/project.json`, reading it without trusting it, and adding to
it. What the entries prove is `project`'s business. Standard library and `storage` only; the modules
that write are imported when something is written.
"""

import os
from collections.abc import Iterator
from typing import Any, NamedTuple

from ltm.core.quickjson import read
from ltm.storage.folders import Folder, is_still, look_at
from ltm.storage.plainfile import read_plain

_MAX_LINKS = 5
_MAX_FOLDERS = 64
_MAX_COMMITS = 64
_ID_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-")


class Record(NamedTuple):
    """A project as `project.json` knows it."""

    id: str
    remotes: tuple[str, ...]
    folders: tuple[Folder, ...]
    raw: dict[str, Any]
    commits: tuple[str, ...] | None = None
    """Commits its repositories held; None in a record from before they were noted."""


def load(projects: str, project_id: str) -> Record | None:
    """The record at an id, following `same_as`; None when there is none that makes sense."""
    for _ in range(_MAX_LINKS):
        raw = _read_json(os.path.join(projects, project_id, "project.json"))
        if raw is None:
            return None
        target = raw.get("same_as")
        if target is None:
            return _as_record(project_id, raw)
        if not _is_id(target):
            return None
        project_id = target
    return None


def every(projects: str) -> Iterator[Record]:
    """All records there are, in the order of their ids; those that only lead elsewhere are not."""
    try:
        ids = sorted(os.listdir(projects))
    except OSError:
        return
    for project_id in ids:
        raw = _read_json(os.path.join(projects, project_id, "project.json"))
        if raw is not None and "same_as" not in raw:
            yield _as_record(project_id, raw)


def _read_json(path: str) -> dict[str, Any] | None:
    try:
        value = read(read_plain(path).decode().strip())
    except (OSError, ValueError):
        return None
    return value if isinstance(value, dict) else None


def _as_record(project_id: str, raw: dict[str, Any]) -> Record:
    """A record with whatever in it makes sense: a damaged entry costs that entry only."""
    remotes = raw.get("remotes")
    folders = raw.get("folders")
    commits = raw.get("commits")
    return Record(
        id=project_id,
        remotes=tuple(
            remote
            for remote in (remotes if isinstance(remotes, list) else ())
            if isinstance(remote, str)
        ),
        folders=tuple(
            Folder(entry["path"], entry["dev"], entry["ino"], entry["born"])
            for entry in (folders if isinstance(folders, list) else ())
            if isinstance(entry, dict)
            and isinstance(entry.get("path"), str)
            and all(isinstance(entry.get(key), int) for key in ("dev", "ino", "born"))
        ),
        raw=raw,
        commits=tuple(commit for commit in commits if isinstance(commit, str))
        if isinstance(commits, list)
        else None,
    )


def _is_id(text: object) -> bool:
    return isinstance(text, str) and text != "" and _ID_LETTERS.issuperset(text)


def grown(
    known: Record | None, *, project_id: str, name: str, root: str, remote: str, proofs: list[str]
) -> dict[str, Any] | None:
    """The record with what is seen now added to it; None when it holds all of it already."""
    remotes = list(known.remotes) if known else []
    folders = list(known.folders) if known else []
    if remote and remote not in remotes:
        remotes.append(remote)
    commits = list(known.commits or ()) if known else []
    if not commits or not any(folder.path == proofs[0] for folder in folders):
        from ltm.storage.commits import named

        commits += [commit for commit in named(proofs[0]) if commit not in commits]
    moved = False
    for path in proofs:
        now = look_at(path)
        if now is None or now in folders:
            continue
        # The same folder at another path has moved: its old place is free for another project.
        moved = moved or any(is_still(folder, path) for folder in folders)
        folders = [folder for folder in folders if not is_still(folder, path)]
        folders.append(now)
    if root not in proofs:
        # `git init` made a repository of a plain folder. From now on the repository is the proof:
        # the folder may well be emptied and hold a clone of something else one day.
        folders = [folder for folder in folders if folder.path != root]
    old = known.raw if known else {}
    stays = isinstance(old.get("root"), str) and os.path.isdir(old["root"]) and not moved
    new = {
        **old,
        "id": known.id if known else project_id,
        "name": old.get("name", name),
        "root": old["root"] if stays else root,
        "remotes": remotes,
        "folders": [
            {"path": folder.path, "dev": folder.dev, "ino": folder.ino, "born": folder.born}
            for folder in folders[-_MAX_FOLDERS:]
        ],
        "commits": commits[-_MAX_COMMITS:],
    }
    return new if new != old else None


def save(projects: str, project_id: str, content: dict[str, Any]) -> None:
    """Put a record in place, durably. Call it with the lock on `projects` held."""
    import json

    from ltm.storage.durable import make_folder, write_file

    folder = os.path.join(projects, project_id)
    make_folder(folder)
    # ASCII, so that paths which are no valid UTF-8 come back as they were.
    text = json.dumps(content, indent=2, ensure_ascii=True) + "\n"
    write_file(os.path.join(folder, "project.json"), text.encode("ascii"))
