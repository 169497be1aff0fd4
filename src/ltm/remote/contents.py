"""What is in a remote, and which vault and project of this machine each part of it is.

    ltm.json                                 what marks a repository as a remote of LTM
    purged                                   ids of memories that are gone for good, one a line
    agents/<agent>/{memories,archives}/*.md
    agents/<agent>/projects/<key>/{memories,archives}/*.md
    projects/<key>/project.json              by what the project is known: name, remotes, commits
    projects/<key>/{memories,archives}/*.md

Nothing else goes in: no database, key, token, option, session, note, stash or candidate, and no
path of a machine. A project's key is the same on all machines and need not be its id here. It is
made from the project's own git remote; a project without one has a key that only its machine makes,
and another machine is told by a person that a folder is that project (`join`). A project that names
the remote of one that is known, but holds none of its commits, waits: it may be a forgery.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from time import time
from typing import Any

from ltm.config.options import agent_name
from ltm.errors import Refused, WrongUsage
from ltm.files.atomic import (
    failed,
    is_device,
    make_folder,
    names_in,
    read_plain,
    remove_file,
    write_file,
)
from ltm.project.identity import Record, id_of_remote, introduce, is_same, lead, records
from ltm.record import NamedTuple
from ltm.vault.vault import Vault

FOLDER = "remote"
SETTINGS = "settings.json"
MARK = "ltm.json"
PURGED = "purged"
DUE = "due"
README = "README.md"
PROJECT = "project.json"
PARTS = ("memories", "archives")
FORMAT = 1

_README = """\
# The memories of one person, on all machines

LTM keeps this repository in step with the machines of one person. It holds what their agents
remember, in plain Markdown: keep it private. Correct files here if you like; the machines take it
over. `ltm help remote` says what it is.
"""
_KEY = re.compile(r"[a-z0-9][a-z0-9-]{0,79}\Z")
_MEMORY_ID = re.compile(r"mem_[0-9a-z][0-9a-z_-]{0,80}\Z")
_MOST_COMMITS = 64
_LONGEST_NAME = 250
_SPACING = 600.0
"""Seconds between two looks at the remote within a session."""


class FilePlace(NamedTuple):
    """Where in a remote a file of a vault is."""

    vault: str
    """The path of its vault: `agents/anna`, `projects/shop-1a2b`, `agents/anna/projects/…`."""
    part: str
    name: str

    @property
    def path(self) -> str:
        return f"{self.vault}/{self.part}/{self.name}"


def place_of(path: str) -> FilePlace | None:
    """Where a file of a vault is; None for any other file, and for a name that is not safe."""
    words = path.split("/")
    if len(words) < 4 or words[-2] not in PARTS or not is_safe(words[-1]):
        return None
    vault = words[:-2]
    agent = vault[1] if vault[0] == "agents" else ""
    if agent and not _is_agent(agent):
        return None
    rest = vault[2:] if agent else vault
    if not (agent and not rest) and not (
        len(rest) == 2 and rest[0] == "projects" and _KEY.match(rest[1])
    ):
        return None
    return FilePlace("/".join(vault), words[-2], words[-1])


def is_safe(name: str) -> bool:
    """Whether a file of this name may be in a vault, on every system."""
    return (
        name.endswith(".md")
        and not name.startswith(".")
        and len(os.fsencode(name)) <= _LONGEST_NAME
        and not any(char in name for char in '\\/:*?"<>|')
        and all(ord(char) >= 32 for char in name)
        and not is_device(name)
    )


def _is_agent(name: str) -> bool:
    try:
        return agent_name(name) == name
    except WrongUsage:
        return False


@dataclass
class Settings:
    """What this machine knows of its remote."""

    home: str
    address: str
    machine: str
    """What tells this machine from the person's others."""
    keys: dict[str, str] = field(default_factory=dict)
    """The keys of projects, by their ids here."""
    joined: dict[str, str] = field(default_factory=dict)
    """Keys that gave way to another one, when a person said that both are one project."""

    @property
    def folder(self) -> str:
        return os.path.join(self.home, FOLDER)

    def save(self) -> None:
        make_folder(self.folder)
        kept = {
            "address": self.address,
            "machine": self.machine,
            "keys": self.keys,
            "joined": self.joined,
        }
        write_file(os.path.join(self.folder, SETTINGS), _json(kept))


def load_settings(home: str) -> Settings | None:
    """The remote of a home; None when it has none."""
    path = os.path.join(home, FOLDER, SETTINGS)
    try:
        found = settings_in(home, read_plain(path, follow=False))
    except FileNotFoundError:
        return None
    except OSError:
        found = settings_in(home, b"")
    if not (found.address and found.machine):
        raise Refused(
            "the settings of the remote cannot be read",
            path=path,
            hint="delete that file, then add the remote again",
        )
    return found


def settings_in(home: str, data: bytes) -> Settings:
    """Settings by their file; what makes no sense in that is left out."""
    found = _object(data)
    address, machine = (
        each if isinstance(each := found.get(name), str) else "" for name in ("address", "machine")
    )
    return Settings(home, address, machine, _texts(found, "keys"), _texts(found, "joined"))


def is_set_up(home: str) -> bool:
    """Whether a home has a remote, by one look at a file."""
    return os.path.exists(os.path.join(home, FOLDER, SETTINGS))


def mark_due(home: str, *, spaced: bool = False) -> None:
    """Note that a session began or ended, so that the background asks the remote.

    With `spaced` only when it was not asked for a while.
    """
    path = os.path.join(home, FOLDER, DUE)
    if not is_set_up(home) or (spaced and time() - _written(f"{path}.last") < _SPACING):
        return
    write_file(path, b"")


def is_due(home: str) -> bool:
    """Whether the background has to ask the remote. Costs one look where there is none."""
    return os.path.exists(os.path.join(home, FOLDER, DUE)) and is_set_up(home)


def clear_due(home: str) -> None:
    """Note that the remote is being asked now."""
    path = os.path.join(home, FOLDER, DUE)
    try:
        os.replace(path, f"{path}.last")
        os.utime(f"{path}.last")
    except OSError:
        remove_file(path)


def _written(path: str) -> float:
    try:
        return os.stat(path).st_mtime
    except OSError:
        return 0.0


def _texts(found: Mapping[str, Any], name: str) -> dict[str, str]:
    value = found.get(name)
    value = value if isinstance(value, dict) else {}
    return {key: each for key, each in value.items() if isinstance(each, str)}


# -- purged memories -------------------------------------------------------------------------------


def note_purged(home: str, names: Mapping[str, str]) -> bool:
    """Note that memories were purged here, by their ids and the names of their files, so that they
    leave the remote and other machines too.

    Whether there is a remote. They wait in a file until the remote's history is without them.
    """
    if not is_set_up(home):
        return False
    _write_purged(home, {**purged_here(home), **names})
    return True


def purged_here(home: str) -> dict[str, str]:
    """Memories that were purged here and may still be in the remote's history."""
    try:
        data = read_plain(os.path.join(home, FOLDER, PURGED), follow=False)
    except OSError:
        return {}
    lines = data.decode(errors="replace").splitlines()
    return {words[0]: words[2] for line in lines if (words := line.partition("\t"))[0]}


def forget_purged(home: str, done: Collection[str]) -> None:
    """Note that the remote's history is without these."""
    left = {each: name for each, name in purged_here(home).items() if each not in done}
    _write_purged(home, left)


def _write_purged(home: str, names: Mapping[str, str]) -> None:
    lines = "".join(f"{each}\t{name}\n" for each, name in sorted(names.items()))
    write_file(os.path.join(home, FOLDER, PURGED), lines.encode())


def ids_in(data: bytes) -> set[str]:
    lines = data.decode(errors="replace").splitlines()
    return {line.strip() for line in lines if _MEMORY_ID.match(line.strip())}


def as_lines(ids: set[str]) -> bytes:
    return "".join(f"{each}\n" for each in sorted(ids)).encode()


# -- projects --------------------------------------------------------------------------------------


class SharedProject(NamedTuple):
    """A project as a remote knows it."""

    key: str
    name: str
    remotes: tuple[str, ...] = ()
    commits: tuple[str, ...] = ()
    same_as: str = ""

    def to_bytes(self) -> bytes:
        if self.same_as:
            return _json({"same_as": self.same_as})
        return _json(
            {"name": self.name, "remotes": list(self.remotes), "commits": list(self.commits)}
        )


def project_path(key: str) -> str:
    """Where the file is that says what a project is known by."""
    return f"projects/{key}/{PROJECT}"


def key_of_path(path: str) -> str:
    """The key of the project whose file this is; '' for any other file."""
    words = path.split("/")
    is_one = len(words) == 3 and words[0] == "projects" and words[2] == PROJECT
    return words[1] if is_one and _KEY.match(words[1]) else ""


def project_in(key: str, data: bytes) -> SharedProject:
    """A project by its file; what makes no sense in that is left out."""
    found = _object(data)

    def texts(name: str) -> tuple[str, ...]:
        value = found.get(name)
        value = value if isinstance(value, list) else []
        return tuple(each for each in value if isinstance(each, str))

    same, name = found.get("same_as"), found.get("name")
    return SharedProject(
        key,
        name if isinstance(name, str) and name else key,
        texts("remotes"),
        texts("commits"),
        same if isinstance(same, str) and _KEY.match(same) and same != key else "",
    )


def together(one: SharedProject, other: SharedProject) -> SharedProject:
    """Everything two machines know about a project's identity, as one value."""
    return SharedProject(
        one.key,
        one.name,
        tuple(dict.fromkeys((*one.remotes, *other.remotes))),
        tuple(dict.fromkeys((*one.commits, *other.commits)))[:_MOST_COMMITS],
        one.same_as or other.same_as,
    )


def as_shared(key: str, known: Record) -> SharedProject:
    """The identity of a project, without what only this machine understands."""
    name = known.raw.get("name")
    return SharedProject(
        key,
        name if isinstance(name, str) and name else known.id,
        _portable(known.remotes),
        tuple((known.commits or ())[:_MOST_COMMITS]),
    )


def _portable(remotes: Sequence[str]) -> tuple[str, ...]:
    return tuple(each for each in remotes if not each.startswith("file:"))


def link(settings: Settings, theirs: Mapping[str, SharedProject]) -> list[Record]:
    """Find out which project here is which of the remote, and note it.

    The projects are given back that wait, because nothing proves what they say to be.
    """
    before = dict(settings.keys)
    here = records(settings.home)
    folders = {each.id: each.folders for each in here}
    for project_id, key in before.items():
        known = theirs.get(key)
        if known is None or known.same_as not in theirs:
            continue
        ids = {key: each for each, key in settings.keys.items()}
        other = ids.get(known.same_as, "")
        if other and folders.get(project_id) and not folders.get(other):
            take_over(settings, other, project_id, known.same_as)
        elif other:
            take_over(settings, project_id, other, known.same_as)
        else:
            settings.keys[project_id] = known.same_as
    waiting: list[Record] = []
    for each in here:
        if each.id in settings.keys:
            continue
        taken = set(settings.keys.values())
        near = [
            one
            for one in theirs.values()
            if set(one.remotes) & set(each.remotes) and one.key not in taken
        ]
        proven = [one.key for one in near if is_same(each, one.remotes, one.commits)]
        if proven:
            settings.keys[each.id] = proven[0]
        elif near:
            waiting.append(each)
        elif _has_files(project_vault(settings.home, each.id)):
            settings.keys[each.id] = _new_key(settings, each, taken | theirs.keys())
    known_here = {each.id for each in here}
    for project_id, key in settings.keys.items():
        if project_id not in known_here and (lost := theirs.get(key)) is not None:
            introduce(settings.home, project_id, lost.name, lost.remotes, lost.commits)
    for key, theirs_only in theirs.items():
        is_free = key not in settings.keys.values() and key not in known_here
        if is_free and not theirs_only.same_as:
            about = theirs_only.name, theirs_only.remotes, theirs_only.commits
            if introduce(settings.home, key, *about):
                settings.keys[key] = key
    if settings.keys != before:
        settings.save()
    return waiting


def take_over(settings: Settings, orphan: str, project_id: str, key: str) -> None:
    """Make a project of other machines part of one that has a folder here.

    Its files are copied before anything else, so that at no moment they seem to be removed.
    """
    source, target = (project_vault(settings.home, each) for each in (orphan, project_id))
    for part in PARTS:
        make_folder(os.path.join(target.folder, part))
        for name in names_in(os.path.join(source.folder, part)):
            path = os.path.join(target.folder, part, name)
            if name.endswith(".md") and not os.path.lexists(path):
                try:
                    data = read_plain(os.path.join(source.folder, part, name), follow=False)
                except OSError as error:
                    raise failed(error, "copy the file", path) from error
                write_file(path, data)
    lead(settings.home, orphan, project_id)
    del settings.keys[orphan]
    settings.keys[project_id] = key
    settings.save()
    for part in PARTS:
        shutil.rmtree(os.path.join(source.folder, part), ignore_errors=True)


def _new_key(settings: Settings, known: Record, taken: Collection[str]) -> str:
    remotes = _portable(known.remotes)
    key = id_of_remote(remotes[0]) if remotes else ""
    if key and key not in taken:
        return key
    # Two machines may have different projects in folders of one name.
    mixed = hashlib.sha256(f"{known.id}\0{settings.machine}".encode()).hexdigest()[:10]
    return f"{known.id.rpartition('-')[0] or 'project'}-{mixed}"


# -- vaults ----------------------------------------------------------------------------------------


def project_vault(home: str, project_id: str) -> Vault:
    """The vault of a project outside its repository."""
    return Vault("private", os.path.join(home, "projects", project_id))


def vault_here(settings: Settings, path: str) -> Vault | None:
    """The vault of this machine at a path of the remote; None for a project that waits."""
    ids = {key: project_id for project_id, key in settings.keys.items()}
    words = path.split("/")
    agent = words[1] if words[0] == "agents" else ""
    key = words[-1] if words[-2] == "projects" else ""
    if key and key not in ids:
        return None
    if not key:
        return Vault("agent", os.path.join(settings.home, "agents", agent))
    if not agent:
        return project_vault(settings.home, ids[key])
    return Vault("own", os.path.join(settings.home, "agents", agent, "projects", ids[key]))


def vaults_here(settings: Settings) -> Iterator[tuple[str, Vault]]:
    """Every vault of this machine that belongs in the remote, with its path there."""
    for project_id, key in sorted(settings.keys.items()):
        yield f"projects/{key}", project_vault(settings.home, project_id)
    agents = os.path.join(settings.home, "agents")
    for name in sorted(filter(_is_agent, names_in(agents))):
        yield f"agents/{name}", Vault("agent", os.path.join(agents, name))
        for project_id in sorted(names_in(os.path.join(agents, name, "projects"))):
            if key := settings.keys.get(project_id, ""):
                folder = os.path.join(agents, name, "projects", project_id)
                yield f"agents/{name}/projects/{key}", Vault("own", folder)


def _has_files(vault: Vault) -> bool:
    return any(name.endswith(".md") for name in names_in(vault.memories))


def basic_files() -> dict[str, bytes]:
    """The files every remote has."""
    return {MARK: _json({"format": FORMAT}), README: _README.encode()}


def format_of(data: bytes) -> int:
    """The format a remote is in; 0 when it is not one of LTM."""
    number = _object(data).get("format")
    return number if isinstance(number, int) else 0


def _object(data: bytes) -> dict[str, Any]:
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _json(value: object) -> bytes:
    return (json.dumps(value, indent=2, sort_keys=True) + "\n").encode("ascii")
